"""Traffic of this host's network interfaces, by /proc/net/dev (proc_pid_net(5))."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_TOLD = re.compile(r"lo|(eth|en|ib|wl|bond)\w*")
"""Interfaces that traffic enters or leaves the host by; bridges and virtual pairs carry the same once more."""


class Interface(NamedTuple):
    """An interface's counters since it came up."""

    received_bytes: int
    received_packets: int
    sent_bytes: int
    sent_packets: int


def interfaces(dev: str) -> dict[str, Interface]:
    """The interfaces in /proc/net/dev that traffic enters or leaves the host by, and loopback."""
    found = {}
    for line in dev.splitlines():
        name, _, numbers = line.partition(":")
        fields = numbers.split()
        if len(fields) >= 16 and _TOLD.fullmatch(name.strip()):
            found[name.strip()] = Interface(int(fields[0]), int(fields[1]), int(fields[8]), int(fields[9]))
    return found


def rates(before: Mapping[str, Interface], now: Mapping[str, Interface], gone_s: float) -> Iterator[tuple[str, float]]:
    """Bytes a second of interfaces that were there before and did not begin anew."""
    for name, interface in now.items():
        old = before.get(name)
        if (
            old is not None
            and interface.received_bytes >= old.received_bytes
            and interface.sent_bytes >= old.sent_bytes
        ):
            yield f"{name}/received_bytes_per_s", round((interface.received_bytes - old.received_bytes) / gone_s)
            yield f"{name}/sent_bytes_per_s", round((interface.sent_bytes - old.sent_bytes) / gone_s)


def read_whole(file: int) -> str:
    """All of a file of /proc, which gives about a page at a time."""
    pieces: list[bytes] = []
    while piece := os.pread(file, 65536, sum(map(len, pieces))):
        pieces.append(piece)
    return b"".join(pieces).decode()
