"""TCP traffic with known listening ports counted from a capture of packets, as tshark reads them.

`dumpcap` captures the headers on the loopback interface, which carries all traffic of this host with itself, also to
its other addresses, and each packet once; `tshark` reads them as they come and prints a line for each. Nothing is
written to a disk. Sources: dumpcap(1), tshark(1), pcap-filter(7). What is counted is told in `tally`.

What was captured is seen a fraction of a second later. So that a mark is exact, `read` sends a datagram to itself,
which is captured too: all that passed before it has been counted when it is seen.
"""

import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from assay.model.doubt import Doubt
from assay.probe.children import Children
from assay.probe.flows import Count, Flow, FlowsError
from assay.probe.tally import FENCES, Tally
from assay.probe.tshark import Pipeline, find_tools

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


class Capture:
    """A `flows.FlowCounter` by dumpcap and tshark."""

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

    def read(self) -> dict[Flow, Count]:
        """See `flows.FlowCounter.read`; waits until tshark has seen all that has passed."""
        self._wait_for_fence(PATIENCE_S)
        with self._seen:
            return dict(self._tally.at_fence)

    def glance(self) -> dict[Flow, Count]:
        """See `flows.FlowCounter.glance`."""
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

    def not_counted(self, reason: str) -> Doubt:
        """See `flows.FlowCounter.not_counted`."""
        return Doubt(
            kind="network-capture-missing",
            what=f"no packets were captured: {reason}",
            why="traffic has no figures by pair of nodes and purpose, and nothing stands in for them",
            cure="install tshark (Debian, Ubuntu: apt-get install tshark) and run as root or in the group wireshark; "
            "or count in the kernel, with `probes: default`",
        )

    def not_read(self, reasons: Sequence[str]) -> Doubt:
        """See `flows.FlowCounter.not_read`."""
        return Doubt(
            kind="network-purposes-lost",
            what=f"the capture could not be read at {len(reasons)} ends of parts: {reasons[0]}",
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

    def _send_fence(self, own: socket.socket) -> None:
        try:
            own.sendto(bytes(self._fence), own.getsockname())
            with suppress(BlockingIOError):
                own.recv(FENCES)
        except OSError as error:
            raise FlowsError(f"a datagram to oneself could not be sent: {error}") from None

    def _end(self) -> str:
        """Why there is no capture any more."""
        words = "" if self._pipeline is None else self._pipeline.complaints()
        told = " ".join(line.strip() for line in words.splitlines() if line.strip() and not _USUAL.match(line))
        return f"the capture ended: {told[:200] or 'nobody says why'}"


def capturing(children: Children, environment: Mapping[str, str]) -> Callable[[Iterable[int]], Capture]:
    """Makes captures by this machine's programs, whose processor time `children` counts."""

    def start(packets: str) -> Pipeline:
        pipeline = Pipeline(find_tools(), packets, environment)
        children.watch(pipeline.busy_s)
        return pipeline

    return lambda ports: Capture(ports, start)


def capture_filter(ports: Iterable[int], fence_port: int) -> str:
    """What dumpcap lets through, in the language of pcap-filter(7)."""
    listening = " or ".join(f"port {port}" for port in ports)
    return f"(tcp and ({listening})) or (udp and src port {fence_port} and dst port {fence_port})"


def _lost(complaints: str) -> list[Doubt]:
    """Of dumpcap's last words: what the kernel had no room for, or dumpcap no time."""
    found = [(int(received), int(dropped)) for received, dropped in LOST.findall(complaints)]
    if not found:
        return [_unknown_loss()]
    received, dropped = (sum(column) for column in zip(*found, strict=True))
    if not dropped:
        return []
    return [
        Doubt(
            kind="network-packets-dropped",
            what=f"the capture lost {dropped} of {received + dropped} packets",
            why="bytes and packets by purpose are too small by what these held, and in which part can't be told",
            cure="leave Assay a share of a core, or count in the kernel, with `probes: default`",
        )
    ]


def _unknown_loss() -> Doubt:
    return Doubt(
        kind="network-packets-dropped",
        what="how many packets the capture lost is not known: dumpcap did not tell at its end",
        why="bytes and packets by purpose may be too small",
        cure="run the trial again; if it happens again, count in the kernel, with `probes: default`",
    )


def _strange(lines: int) -> list[Doubt]:
    if not lines:
        return []
    return [
        Doubt(
            kind="network-packets-unread",
            what=f"tshark printed {lines} lines that tell nothing of a TCP packet",
            why="bytes and packets by purpose are too small by what these packets held",
            cure="look whether this version of tshark reads such traffic: tshark -i lo",
        )
    ]
