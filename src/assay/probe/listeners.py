"""Who listens on which port, and which addresses are this host's own, by the kernel's tables in /proc/net."""

import os
import re
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from pathlib import Path

from assay.model.probe import WatchedProcess

_LISTENING = "0A"
_LOCAL_ENTRY = re.compile(r"\|-- (\S+)\n\s+/32 host LOCAL")


def listening_groups(processes: Iterable[WatchedProcess], proc: Path = Path("/proc")) -> dict[int, str]:
    """The group of the process that listens on each TCP port; what can't be read is left out.

    By the sockets' inodes: /proc/PID/net/tcp and tcp6 (proc_pid_net(5)) against the links in /proc/PID/fd.
    """
    found: dict[int, str] = {}
    for process in processes:
        home = proc / str(process.pid)
        sockets = _listening_sockets(home / "net")
        for link in _links(home / "fd"):
            port = sockets.get(link)
            if port is not None:
                found.setdefault(port, process.group)
    return found


def own_addresses(net: Path = Path("/proc/net")) -> frozenset[str]:
    """The addresses of this host's interfaces (fib_trie and if_inet6), loopback's among them."""
    found = {"127.0.0.1", "::1", *_LOCAL_ENTRY.findall(_text(net / "fib_trie"))}
    for line in _text(net / "if_inet6").splitlines():
        found.add(str(ip_address(bytes.fromhex(line.split()[0]))))
    return frozenset(found)


def _listening_sockets(net: Path) -> Mapping[str, int]:
    """Port by `socket:[inode]`."""
    found = {}
    for line in [*_text(net / "tcp").splitlines()[1:], *_text(net / "tcp6").splitlines()[1:]]:
        fields = line.split()
        if len(fields) > 9 and fields[3] == _LISTENING:
            found[f"socket:[{fields[9]}]"] = int(fields[1].rpartition(":")[2], 16)
    return found


def _links(folder: Path) -> list[str]:
    try:
        return [_link(folder / name) for name in os.listdir(folder)]
    except OSError:  # it ended, or is another user's
        return []


def _link(file: Path) -> str:
    try:
        return str(file.readlink())
    except OSError:  # closed meanwhile
        return ""


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""
