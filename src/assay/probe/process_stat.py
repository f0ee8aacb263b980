"""What the kernel tells of one process.

The open file belongs to the process, not to its number: after its end it tells nothing, whoever has the number then.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from assay.model.node import Node

PROC = Path("/proc")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# proc(5) counts fields from 1; here from 0, and the first two (number, name) are cut off with the name's bracket.
_PARENT, _USER, _SYSTEM, _CHILDREN_USER, _CHILDREN_SYSTEM, _RESIDENT = 1, 11, 12, 13, 14, 21
_KTHREADD = 2
_ENOUGH_BYTES = 1024


class Ticks(NamedTuple):
    """Processor time in clock ticks."""

    user: int = 0
    system: int = 0

    def plus(self, other: "Ticks") -> "Ticks":
        """Add both."""
        return Ticks(self.user + other.user, self.system + other.system)


class ProcessStat(NamedTuple):
    """One reading. `own_ticks` is the process' time, all threads; `reaped` that of its ended and waited-for children.

    `reaped` has what these had reaped themselves, so that no time of theirs is lost. A process that has ended and that
    nobody has waited for yet still tells its time.
    """

    parent: int
    own_ticks: Ticks
    reaped: Ticks
    resident_bytes: int


def parse_stat(text: str) -> ProcessStat:
    """Raises ValueError when the text is no line of /proc/PID/stat. A process' name may hold blanks and brackets."""
    fields = text[text.rfind(")") + 1 :].split(None, _RESIDENT + 1)
    if len(fields) <= _RESIDENT:
        raise ValueError(f"/proc/PID/stat says {text[:60]!r}")
    return ProcessStat(
        parent=int(fields[_PARENT]),
        own_ticks=Ticks(int(fields[_USER]), int(fields[_SYSTEM])),
        reaped=Ticks(int(fields[_CHILDREN_USER]), int(fields[_CHILDREN_SYSTEM])),
        resident_bytes=int(fields[_RESIDENT]) * PAGE_BYTES,
    )


def stat_of(node: Node, pid: int) -> ProcessStat:
    """Read a process' stat once. Raises OSError or ValueError where it has ended."""
    return parse_stat(node.read(PROC / str(pid) / "stat"))


class OpenProcess:
    """A process whose stat file is open. Raises OSError when it has ended before that."""

    def __init__(self, node: Node, pid: int) -> None:
        self.pid = pid
        self._node = node
        self._file = node.open(PROC / str(pid) / "stat")
        self.close = self._file.close

    def read(self) -> ProcessStat | None:
        """Read it as it is now; None where the process has ended."""
        try:
            return parse_stat(self._file.read(_ENOUGH_BYTES))
        except (OSError, ValueError):  # an ended one says "no such process", or nothing
            return None

    def proportional_bytes(self) -> int | None:
        """Resident memory in which a page that several share counts in parts (PSS of smaps_rollup); None if not told.

        The kernel walks all pages for it, milliseconds for a large process: not for every tick.
        """
        with suppress(OSError, ValueError, IndexError):
            for line in self._node.read(PROC / str(self.pid) / "smaps_rollup").splitlines():
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
        return None


def all_pids(node: Node) -> list[int]:
    """The numbers of all processes, kernel threads too."""
    return [int(name) for name in node.names(PROC) if name.isdigit()]


def kernel_ticks(node: Node) -> dict[int, int]:
    """The time of the kernel's own threads by number, which are kthreadd's (2) children.

    It looks at every process, a file each: not for every sample.
    """
    ticks = {}
    for pid in all_pids(node):
        with suppress(OSError, ValueError):
            stat = stat_of(node, pid)
            if _KTHREADD in (pid, stat.parent):
                ticks[pid] = sum(stat.own_ticks)
    return ticks
