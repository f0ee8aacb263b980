"""Which TCP ports processes listen on, and at which addresses, as /proc tells (proc_pid_net(5), proc_pid_fd(5))."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import NamedTuple

TABLES = ("tcp", "tcp6")
"""The files of a process' `net` that list sockets of TCP."""
_LISTENING = "0A"
_WORD_DIGITS = 8


class Address(NamedTuple):
    """Where a socket listens."""

    ip: IPv4Address | IPv6Address
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether other hosts can't reach it; also where IPv6 writes an address of IPv4."""
        mapped = self.ip.ipv4_mapped if isinstance(self.ip, IPv6Address) else None
        return (mapped or self.ip).is_loopback


class Listener(NamedTuple):
    """A process that listens."""

    pid: int
    address: Address


def listening_sockets(table: str) -> dict[str, Address]:
    """The addresses of the listening sockets in a table, by the sockets' names in /proc/PID/fd, `socket:[INODE]`."""
    sockets = {}
    for fields in map(str.split, table.splitlines()[1:]):
        if len(fields) > 9 and fields[3] == _LISTENING:
            digits, _, port = fields[1].rpartition(":")
            # Words of 32 bits, each in this machine's order.
            words = (digits[at : at + _WORD_DIGITS] for at in range(0, len(digits), _WORD_DIGITS))
            packed = b"".join(int(word, 16).to_bytes(4, sys.byteorder) for word in words)
            sockets[f"socket:[{fields[9]}]"] = Address(ip_address(packed), int(port, 16))
    return sockets


def listeners(pids: Iterable[int]) -> list[Listener]:
    """Where these processes listen in the network of this process.

    A process in a network of its own, one that is gone and one that can't be read listens nowhere.
    """
    this_network = _network("self")
    here = [pid for pid in pids if this_network and _network(pid) == this_network]
    sockets: dict[str, Address] = {}
    for table in TABLES:
        with suppress(OSError):
            sockets |= listening_sockets(Path("/proc/self/net", table).read_text(encoding="ascii"))
    return [Listener(pid, address) for pid in here for address in _of(pid, sockets)]


def _network(pid: int | str) -> str:
    with suppress(OSError):
        return os.readlink(f"/proc/{pid}/ns/net")  # noqa: PTH115 - `net:[NUMBER]`
    return ""


def _of(pid: int, sockets: dict[str, Address]) -> Iterator[Address]:
    folder = Path(f"/proc/{pid}/fd")
    with suppress(OSError):
        for name in os.listdir(folder):
            with suppress(OSError):  # closed meanwhile
                link = os.readlink(folder / name)  # noqa: PTH115 - `socket:[INODE]`
                if link in sockets:
                    yield sockets[link]
