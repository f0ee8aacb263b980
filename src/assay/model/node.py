"""Nodes: the hosts of a platform, and how anything is done on them."""

import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol


class Process(Protocol):
    """A process that was started on a node."""

    pid: int

    def poll(self) -> int | None:
        """Return its exit code (negative: the signal that ended it); None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end and return its exit code. Raises subprocess.TimeoutExpired."""


class OpenFile(Protocol):
    """A file of /proc or /sys that stays open, since opening it for each sample would cost most of the sample.

    It stays that of the process or device that it was opened for, whoever has the number or name later.
    """

    def read(self, most_bytes: int = 8192) -> str:
        """Read the file as it is now, about a page at most. Raises OSError, also once it has been closed."""

    def close(self) -> None:
        """Close it; again does nothing."""


class NodeFiles(Protocol):
    """The files of a host, such as those of /proc and /sys. Paths are those of that host."""

    def read(self, path: Path, last_bytes: int | None = None) -> str:
        """A file's text; of a long one its end. Raises OSError."""

    def open(self, path: Path) -> OpenFile:
        """Keep a file open. Raises OSError."""

    def names(self, path: Path) -> list[str]:
        """The names in a folder. Raises OSError."""

    def link(self, path: Path) -> str:
        """What a symbolic link names. Raises OSError."""


class ReadableNode(NodeFiles, Protocol):
    """A host of which at least files can be read."""

    name: str
    """What its daemons are called by and reached at: a host name or an address."""
    interfaces: Sequence[str]
    """The network interfaces that carry the cluster's traffic."""
    own_machine: bool
    """Whether its processors and memory are no other node's."""


class Node(ReadableNode, Protocol):
    """A host on which Assay does what it wants."""

    def start(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> Process:
        """Start a process in a session of its own, in the folder of its log, with all that it says in the log."""

    def command(self, command: Sequence[str]) -> Sequence[str]:
        """What to run on this machine so that a command runs on the node, with its input and output here."""

    def copy(self, source: Path, target: Path) -> None:
        """Copy a folder from this machine to the node, where `target` is not there yet."""

    def free_ports(self, count: int) -> list[int]:
        """Find distinct ports that nobody listens on now. Raises OSError where there are too few."""

    def connect(self, address: tuple[str, int], timeout_s: float | None = None) -> socket.socket:
        """A TCP connection from the node to a server, by the names that are known there. Raises OSError."""


Connect = Callable[[tuple[str, int], float | None], socket.socket]
"""How servers are reached: `Node.connect`, or `socket.create_connection` from this machine."""
