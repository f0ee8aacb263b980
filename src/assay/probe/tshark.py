"""dumpcap and tshark as two processes, one reading what the other captures, without a file between them.

tshark alone would let dumpcap write all packets to a file in /tmp. It prints columns and not fields (`-T fields`):
these need each packet's whole tree, three times the processor time. What it would remember of each connection's
segments is turned off, since it would grow with the traffic.
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import IO, NamedTuple

from assay.probe.children import content_of, memory_file
from assay.probe.process_stat import OpenProcess

PLACES = "/usr/bin:/usr/sbin:/usr/local/bin:/usr/local/sbin"
SNAP_BYTES = 96
"""Holds the headers of Ethernet, IPv6 and TCP with time stamps (94 bytes)."""

BUFFER_MIB = 16
"""The kernel's buffer for packets that dumpcap has not taken yet: seconds at ten thousands of packets a second."""

_PIPE_BYTES = 1 << 20
_PAUSE_S = 0.05
_STOP_S = 3.0

_COLUMNS = 'gui.column.format:"length","%L","from","%us","port","%uS","to","%ud","port","%uD"'
_REMEMBERS = (
    "tcp.analyze_sequence_numbers", "tcp.calculate_timestamps", "tcp.desegment_tcp_streams",
    "tcp.relative_sequence_numbers", "ip.defragment",
)  # fmt: skip


class Tools(NamedTuple):
    """Where the programs are."""

    dumpcap: str
    tshark: str


def find_tools(path: str | None = None) -> Tools:
    """On the PATH, or where distributions put them. Raises FileNotFoundError with what is missing."""
    found = {name: shutil.which(name, path=path) or shutil.which(name, path=path or PLACES) for name in Tools._fields}
    missing = [name for name, place in found.items() if place is None]
    if missing:
        raise FileNotFoundError(f"there is no {' and no '.join(missing)} on this machine (package tshark)")
    return Tools(**{name: str(place) for name, place in found.items()})


def capture_command(dumpcap: str, packets: str, interfaces: Sequence[str]) -> list[str]:
    """Headers of the packets that a filter lets through, as a stream; other hosts' traffic is not asked for (-p)."""
    command = [dumpcap, "-q", "-p", "-s", str(SNAP_BYTES), "-B", str(BUFFER_MIB), "-y", "EN10MB", "-f", packets]
    for interface in interfaces:
        command += ["-i", interface]
    return [*command, "-w", "-"]


def reading_command(tshark: str) -> list[str]:
    """A line for each packet, at once: its length on the wire, sender, port, receiver, port, by tabulators."""
    off = [part for name in _REMEMBERS for part in ("-o", f"{name}:FALSE")]
    return [tshark, "-r", "-", "-l", "-n", "-Q", *off, "-o", _COLUMNS, "-T", "tabs"]


class Pipeline:
    """The two processes while they run. Raises OSError when they can't be started.

    `environment` is theirs: the mark in it is how what a killed run left is found.
    """

    def __init__(
        self, tools: Tools, packets: str, environment: Mapping[str, str], interfaces: Sequence[str] = ("lo",)
    ) -> None:
        # A user's own profile might turn off what is needed here.
        own = {**environment, "WIRESHARK_CONFIG_DIR": os.devnull, "LC_ALL": "C"}
        self._files = [memory_file("dumpcap"), memory_file("tshark")]
        self._processes: list[subprocess.Popen[bytes]] = []
        self._open: list[OpenProcess] = []
        self._lines: IO[bytes] | None = None
        self._busy_s = 0.0
        try:
            captured = self._start(capture_command(tools.dumpcap, packets, interfaces), subprocess.DEVNULL, own)
            with captured:
                self._lines = self._start(reading_command(tools.tshark), captured, own)
        except OSError:
            self.stop()
            self.close()
            raise

    def _start(self, command: Sequence[str], given: "IO[bytes] | int", environment: Mapping[str, str]) -> IO[bytes]:
        complained = self._files[len(self._processes)]
        process = subprocess.Popen(
            command, stdin=given, stdout=subprocess.PIPE, stderr=complained, env=environment, pipesize=_PIPE_BYTES,
            start_new_session=True,
        )  # fmt: skip
        self._processes.append(process)
        with suppress(OSError):  # it has ended already
            self._open.append(OpenProcess(process.pid))
        assert process.stdout is not None  # noqa: S101 - a pipe was asked for
        return process.stdout

    def pieces(self) -> Iterator[bytes]:
        """What tshark prints, until its end. A pause after each piece: thousands of lines take one turn, not each."""
        while self._lines is not None and (piece := os.read(self._lines.fileno(), _PIPE_BYTES)):
            yield piece
            time.sleep(_PAUSE_S)

    def busy_s(self) -> float:
        """Processor time of both so far; after their end as it was told last."""
        stats = [stat for process in self._open if (stat := process.read()) is not None]
        ticks = sum(stat.own.user + stat.own.system for stat in stats)
        self._busy_s = max(self._busy_s, ticks / os.sysconf("SC_CLK_TCK"))
        return self._busy_s

    def complaints(self) -> str:
        """What both said besides."""
        return "\n".join(content_of(file) for file in self._files)

    def stop(self) -> None:
        """Let dumpcap end, and tshark read what is left; what does not end in time is killed."""
        self.busy_s()
        for process in self._processes:
            if process is self._processes[0]:
                process.send_signal(signal.SIGINT)
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def close(self) -> None:
        """Close all files; after `stop`."""
        for process in self._open:
            process.close()
        self._open = []
        for file in (*self._files, *([] if self._lines is None else [self._lines])):
            file.close()
