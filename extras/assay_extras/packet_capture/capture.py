"""TCP traffic with known listening ports counted from a capture of packets, as tshark reads them.

`dumpcap` captures the headers on the interfaces that carry the cluster's traffic: on one machine the loopback
interface, which carries all of it, also to its other addresses, and each packet once; `tshark` reads them as they come
and prints a line for each. They are two processes, one reading what the other captures, without a file between them:
tshark alone would let dumpcap write all packets to a file in /tmp. It prints columns and not fields (`-T fields`):
these need each packet's whole tree, three times the processor time. What it would remember of each connection's
segments is turned off, since it would grow with the traffic. Sources: dumpcap(1), tshark(1), pcap-filter(7).

What was captured is seen a fraction of a second later. So that a mark is exact, `read` sends a datagram to itself,
which is captured too: all that passed before it has been counted when it is seen.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import IO, NamedTuple

from assay.model.doubt import Doubt, doubt_kind
from assay.model.probe import ProbeContext
from assay.node.local import LocalNode
from assay.probe.nftables import NETWORK_PURPOSES_LOST, Count, CountedFlow, FlowsError
from assay.probe.own_cost import content_of, memory_file
from assay.probe.process_stat import OpenProcess

ETHERNET_BYTES = 14
_UDP_BYTES = ETHERNET_BYTES + 20 + 8
FENCES = 1000
"""The highest number of a fence: it is a datagram's length."""


class Line(NamedTuple):
    """A packet as tshark prints it: its frame's length on the wire, and where it came from and went to."""

    frame_bytes: int
    sender: str
    sender_port: int
    receiver: str
    receiver_port: int

    @classmethod
    def parse(cls, line: bytes) -> "Line":
        """Raises ValueError when it is something else."""
        length, sender, sender_port, receiver, receiver_port = line.decode().split("\t")
        return cls(int(length), sender.strip(), int(sender_port), receiver.strip(), int(receiver_port))


class Tally:
    """Sums of what tshark prints, by flow; a snapshot is taken at each fence.

    A fence is a datagram from `fence_port` to itself, whose number is its payload's length.
    """

    def __init__(self, ports: Iterable[int], fence_port: int) -> None:
        self._ports = frozenset(ports)
        self._fence_port = fence_port
        self._sums: dict[CountedFlow, Count] = {}
        self._rest = b""
        self.strange_lines = 0
        self.fence = 0
        self.at_fence: Mapping[CountedFlow, Count] = {}

    def take(self, piece: bytes) -> None:
        """Count the lines that a piece of the output completes."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        fence = f"\t{self._fence_port}".encode()
        since = 0
        for index, line in enumerate(lines):
            if line.endswith(fence) and line.count(fence) > 1:
                self._add(lines[since:index])
                since = index + 1
                self.fence, self.at_fence = Line.parse(line).frame_bytes - _UDP_BYTES, self.sums()
        self._add(lines[since:])

    def sums(self) -> dict[CountedFlow, Count]:
        """All that was counted so far."""
        return dict(self._sums)

    def _add(self, lines: Sequence[bytes]) -> None:
        """Many lines are alike, and only different ones are looked into: tens of thousands may come in a second."""
        for line, times in Counter(lines).items():
            try:
                packet = Line.parse(line)
            except ValueError:
                self.strange_lines += times
                continue
            for flow in self._flows(packet):
                before = self._sums.get(flow, Count(0, 0))
                size = (packet.frame_bytes - ETHERNET_BYTES) * times
                self._sums[flow] = Count(before.bytes + size, before.packets + times)

    def _flows(self, packet: Line) -> Iterable[CountedFlow]:
        """Both, where a listening port talks to a listening port."""
        if packet.receiver_port in self._ports:
            yield CountedFlow(packet.sender, packet.receiver, packet.receiver_port, to_server=True)
        if packet.sender_port in self._ports:
            yield CountedFlow(packet.sender, packet.receiver, packet.sender_port, to_server=False)


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
    paths = {name: shutil.which(name, path=path) or shutil.which(name, path=path or PLACES) for name in Tools._fields}
    missing = [name for name, program in paths.items() if program is None]
    if missing:
        raise FileNotFoundError(f"there is no {' and no '.join(missing)} on this machine (package tshark)")
    return Tools(**{name: str(program) for name, program in paths.items()})


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

    def __init__(self, tools: Tools, packets: str, environment: Mapping[str, str], interfaces: Sequence[str]) -> None:
        # A user's own profile might turn off what is needed here.
        child_environment = {**environment, "WIRESHARK_CONFIG_DIR": os.devnull, "LC_ALL": "C"}
        self._files = [memory_file("dumpcap"), memory_file("tshark")]
        self._processes: list[subprocess.Popen[bytes]] = []
        self._open: list[OpenProcess] = []
        self._lines: IO[bytes] | None = None
        self._busy_s = 0.0
        try:
            captured = self._start(
                capture_command(tools.dumpcap, packets, interfaces), subprocess.DEVNULL, child_environment
            )
            with captured:
                self._lines = self._start(reading_command(tools.tshark), captured, child_environment)
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
            self._open.append(OpenProcess(LocalNode(), process.pid))
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
        ticks = sum(stat.own_ticks.user + stat.own_ticks.system for stat in stats)
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


PATIENCE_S = 4.0
"""How long a mark waits for tshark to see what has passed: less than the sampling thread is waited for."""

START_PATIENCE_S = 6.0
_ASK_AGAIN_S = 0.2
"""As long as the capture has not begun, datagrams pass it unseen; later one may be lost."""

LOST = re.compile(r"Packets received/dropped on interface '.*': (\d+)/(\d+) ")
"""What dumpcap prints at its end (dumpcap.c, report_packet_drops)."""

_USUAL = re.compile(r"Capturing on |File: |Packets |Running as user ")


Start = Callable[[str], Pipeline]
"""Starts the programs with a capture filter. Raises OSError when there are none or they can't be started."""


NETWORK_CAPTURE_MISSING = doubt_kind(
    "network-capture-missing",
    "trial",
    when="no packets could be captured",
    why="the traffic has no figures by pair of nodes and purpose, and nothing replaces them",
    cure=(
        "install tshark (Debian, Ubuntu: apt-get install tshark) and run as root or in the group wireshark; or "
        "count in the kernel, with `probes: default`"
    ),
    instrument="network",
)


class Capture:
    """A `nftables.FlowCounter` by dumpcap and tshark."""

    has_stand_in = False

    def __init__(self, ports: Iterable[int], start: Start) -> None:
        self._ports = sorted(set(ports))
        self._start = start
        self._pipeline: Pipeline | None = None
        self._socket: socket.socket | None = None
        self._fence = 0
        self._seen = threading.Condition()
        self._tally = Tally((), 0)
        self._thread: threading.Thread | None = None
        self._over = False
        self._doubts: list[Doubt] = []

    def make(self) -> None:
        """Begin to capture; returns when packets are seen. Raises FlowsError."""
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.settimeout(0)
        self._socket.bind(("127.0.0.1", 0))
        port = self._socket.getsockname()[1]
        self._tally = Tally(self._ports, port)
        try:
            self._pipeline = self._start(capture_filter(self._ports, port))
            self._thread = threading.Thread(target=self._read_on, name="probe-capture", daemon=True)
            self._thread.start()
            self._wait_for_fence(START_PATIENCE_S)
        except (OSError, FlowsError) as error:
            self.remove()
            raise FlowsError(str(error)) from None

    def read(self) -> dict[CountedFlow, Count]:
        """See `nftables.FlowCounter.read`; waits until tshark has seen all that has passed."""
        self._wait_for_fence(PATIENCE_S)
        with self._seen:
            return dict(self._tally.at_fence)

    def glance(self) -> dict[CountedFlow, Count]:
        """See `nftables.FlowCounter.glance`."""
        with self._seen:
            if self._over:
                raise FlowsError(self._end())
            return self._tally.sums()

    def remove(self) -> None:
        """End the programs; what they lost is told now."""
        if self._pipeline is not None:
            pipeline, self._pipeline = self._pipeline, None
            pipeline.stop()
            if self._thread is not None:
                self._thread.join(PATIENCE_S)
            self._doubts += [*_lost(pipeline.complaints()), *_strange(self._tally.strange_lines)]
            pipeline.close()
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def doubt(self, reasons: Sequence[str], *, counted: bool) -> Doubt:
        """See `nftables.FlowCounter.doubt`."""
        if not counted:
            return NETWORK_CAPTURE_MISSING.doubt(f"no packets were captured: {reasons[0]}")
        return NETWORK_PURPOSES_LOST.doubt(
            f"the capture could not be read at {len(reasons)} ends of intervals: {reasons[0]}",
            why="the part that ended there and the one after it have no traffic by pair of nodes and purpose",
            cure="leave Assay a share of a core, or count in the kernel, with `probes: default`",
        )

    def doubts(self) -> tuple[Doubt, ...]:
        """What was lost, which dumpcap tells when it ends: so it is ended."""
        self.remove()
        return tuple(self._doubts)

    def _read_on(self) -> None:
        """The thread that reads what tshark prints, to its end."""
        pipeline = self._pipeline
        assert pipeline is not None  # noqa: S101 - made just before the thread
        try:
            for piece in pipeline.pieces():
                with self._seen:
                    self._tally.take(piece)
                    self._seen.notify_all()
        finally:
            with self._seen:
                self._over = True
                self._seen.notify_all()

    def _wait_for_fence(self, patience_s: float) -> None:
        """Send a fence until it is seen: the first ones may pass before the capture has begun."""
        self._fence = self._fence % FENCES + 1
        until_s, ask_s = time.monotonic() + patience_s, 0.0
        with self._seen:
            while self._tally.fence != self._fence:
                now_s = time.monotonic()
                if self._over or self._socket is None:
                    raise FlowsError(self._end())
                if now_s > until_s:
                    raise FlowsError(f"tshark was more than {patience_s:.0f} s behind")
                if now_s > ask_s:
                    self._send_fence(self._socket)
                    ask_s = now_s + (_ASK_AGAIN_S if not self._tally.fence else patience_s / 2)
                self._seen.wait(_ASK_AGAIN_S)

    def _send_fence(self, loopback: socket.socket) -> None:
        try:
            loopback.sendto(bytes(self._fence), loopback.getsockname())
            with suppress(BlockingIOError):
                loopback.recv(FENCES)
        except OSError as error:
            raise FlowsError(f"a datagram to oneself could not be sent: {error}") from None

    def _end(self) -> str:
        """Why there is no capture any more."""
        complaints = "" if self._pipeline is None else self._pipeline.complaints()
        reasons = " ".join(line.strip() for line in complaints.splitlines() if line.strip() and not _USUAL.match(line))
        return f"the capture ended: {reasons[:200] or 'nobody says why'}"


def capturing(context: ProbeContext) -> Callable[[Iterable[int]], Capture]:
    """Makes captures by this machine's programs, whose processor time `children` counts."""

    def start(packets: str) -> Pipeline:
        pipeline = Pipeline(find_tools(), packets, context.environment, context.node.interfaces)
        context.watch_child(pipeline.busy_s)
        return pipeline

    return lambda ports: Capture(ports, start)


def capture_filter(ports: Iterable[int], fence_port: int) -> str:
    """What dumpcap lets through, in the language of pcap-filter(7)."""
    listening = " or ".join(f"port {port}" for port in ports)
    return f"(tcp and ({listening})) or (udp and src port {fence_port} and dst port {fence_port})"


NETWORK_PACKETS_DROPPED = doubt_kind(
    "network-packets-dropped",
    "trial",
    when="the capture lost packets",
    why="bytes and packets by purpose are too small by the lost packets, in an unknown interval",
    cure="leave Assay a share of a core, or count in the kernel, with `probes: default`",
    instrument="network",
)


def _lost(complaints: str) -> list[Doubt]:
    """Of dumpcap's last words: what the kernel had no room for, or dumpcap no time."""
    reports = [(int(received), int(dropped)) for received, dropped in LOST.findall(complaints)]
    if not reports:
        return [_unknown_loss()]
    received, dropped = (sum(column) for column in zip(*reports, strict=True))
    if not dropped:
        return []
    return [NETWORK_PACKETS_DROPPED.doubt(f"the capture lost {dropped} of {received + dropped} packets")]


def _unknown_loss() -> Doubt:
    return NETWORK_PACKETS_DROPPED.doubt(
        "how many packets the capture lost is not known: dumpcap did not report it",
        why="bytes and packets by purpose may be too small",
        cure="run the trial again; if it happens again, count in the kernel, with `probes: default`",
    )


NETWORK_PACKETS_UNREAD = doubt_kind(
    "network-packets-unread",
    "trial",
    when="tshark printed lines that describe no packet",
    why="bytes and packets by purpose are too small by these packets",
    cure="check whether this version of tshark reads such traffic: tshark -i lo",
    instrument="network",
)


def _strange(lines: int) -> list[Doubt]:
    if not lines:
        return []
    return [NETWORK_PACKETS_UNREAD.doubt(f"tshark printed {lines} lines that describe no TCP packet")]
