"""What the token buckets of a node's interfaces have sent and what waits before them, as the kernel counts it.

By rtnetlink(7), since starting tc(8) several times a second on each of many nodes would take a processor's time that
is to be measured. A socket stays in the network that it was made in, so one made within a node serves from outside.
Sources: linux/rtnetlink.h, linux/pkt_sched.h, linux/gen_stats.h.
"""

import socket
import struct
from collections.abc import Iterator
from typing import NamedTuple

from assay.node.namespace import NamespaceNode

_REQUEST_DUMP = 0x301  # NLM_F_REQUEST | NLM_F_DUMP
_NEW, _GET, _DONE, _ERROR = 36, 38, 3, 2  # RTM_NEWQDISC, RTM_GETQDISC, NLMSG_DONE, NLMSG_ERROR
_KIND, _STATS = 1, 7  # TCA_KIND, TCA_STATS2
_BASIC, _QUEUE = 1, 3  # TCA_STATS_BASIC, TCA_STATS_QUEUE
_HEADER, _TC = struct.Struct("=IHHII"), struct.Struct("=BxxxiIII")
_PIECE = 1 << 16
TIMEOUT_S = 1.0


class LinkQueue(NamedTuple):
    """Bytes that were sent since the interface was made, and bytes that wait."""

    sent_bytes: int
    waiting_bytes: int


class Queues:
    """The token buckets of all interfaces of a node."""

    def __init__(self, node: NamespaceNode) -> None:
        """Raises OSError."""
        self._socket = node.inside(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE))
        self._socket.settimeout(TIMEOUT_S)

    def read(self) -> dict[int, LinkQueue]:
        """By the interface's number. Raises OSError."""
        request = _HEADER.pack(_HEADER.size + _TC.size, _GET, _REQUEST_DUMP, 1, 0) + _TC.pack(0, 0, 0, 0, 0)
        self._socket.send(request)
        queues: dict[int, LinkQueue] = {}
        while True:
            piece = self._socket.recv(_PIECE)
            for kind, body in messages(piece):
                if kind == _DONE:
                    return queues
                if kind == _ERROR:
                    raise OSError("the kernel does not tell of the queues")
                if kind == _NEW and (queue := bucket(body)) is not None:
                    queues[_TC.unpack_from(body)[1]] = queue

    def close(self) -> None:
        """Done with it."""
        self._socket.close()


def messages(piece: bytes) -> Iterator[tuple[int, bytes]]:
    """Each message's kind and body."""
    at = 0
    while at + _HEADER.size <= len(piece):
        size, kind, *_ = _HEADER.unpack_from(piece, at)
        if size < _HEADER.size:
            return
        yield kind, piece[at + _HEADER.size : at + size]
        at += (size + 3) & ~3


def bucket(body: bytes) -> LinkQueue | None:
    """Of a message about a queue, what a token bucket counts; None for any other kind of queue."""
    attributes = dict(_attributes(body[_TC.size :]))
    if attributes.get(_KIND, b"").rstrip(b"\0") != b"tbf" or _STATS not in attributes:
        return None
    stats = dict(_attributes(attributes[_STATS]))
    if _BASIC not in stats or _QUEUE not in stats:
        return None
    return LinkQueue(struct.unpack_from("=Q", stats[_BASIC])[0], struct.unpack_from("=II", stats[_QUEUE])[1])


def _attributes(body: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(body):
        size, kind = struct.unpack_from("=HH", body, at)
        if size < 4:
            return
        yield kind & 0x3FFF, body[at + 4 : at + size]
        at += (size + 3) & ~3
