"""Sums of what tshark prints of captured packets.

Bytes are those of IP packets, headers included: the frame's length on the wire without that of Ethernet, which the
loopback interface has too. A packet is what the interface gets, as large as segmentation makes it; acknowledgements
count, and a segment that is sent again counts again.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from assay.probe.flows import Count, Flow

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
        self._sums: dict[Flow, Count] = {}
        self._rest = b""
        self.strange_lines = 0
        self.fence = 0
        self.at_fence: Mapping[Flow, Count] = {}

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

    def sums(self) -> dict[Flow, Count]:
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

    def _flows(self, packet: Line) -> Iterable[Flow]:
        """Both, where a listening port talks to a listening port."""
        if packet.receiver_port in self._ports:
            yield Flow(packet.sender, packet.receiver, packet.receiver_port, to_server=True)
        if packet.sender_port in self._ports:
            yield Flow(packet.sender, packet.receiver, packet.sender_port, to_server=False)
