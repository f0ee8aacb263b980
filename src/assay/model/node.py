"""Nodes: the hosts of a platform, and how anything is done on them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol


class Process(Protocol):
    """A process that was started on a node."""

    pid: int

    def poll(self) -> int | None:
        """Its exit code (negative: the signal that ended it); None while it runs."""
        ...

    def wait(self, timeout: float | None = None) -> int:
        """The same, once it has ended. Raises subprocess.TimeoutExpired."""
        ...


class Node(Protocol):
    """A host. Paths are those of that host."""

    name: str
    """What its daemons are called by and reached at: a host name or an address."""

    def start(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> Process:
        """Start a process in a session of its own, in the folder of its log, with all that it says in the log."""
        ...

    def read(self, path: Path, last_bytes: int | None = None) -> str:
        """A file's text, such as a log's or one of /proc; of a long one its end. Raises OSError."""
        ...

    def copy(self, source: Path, target: Path) -> None:
        """Copy a folder from this machine to the node, where `target` is not there yet."""
        ...

    def free_ports(self, count: int) -> list[int]:
        """So many distinct ports that nobody listens on now. Raises OSError when there are too few."""
        ...
