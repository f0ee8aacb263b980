"""What the kernel tells of one process, and of the control group that holds a whole cluster.

The open file belongs to the process, not to its number: after its end it tells nothing, whoever has the number then.

Sources: the kernel's admin-guide/cgroup-v1/cpuacct.rst and memory.rst, and admin-guide/cgroup-v2.rst.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from assay.probe.kernel_file import KernelFile

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
        """Both together."""
        return Ticks(self.user + other.user, self.system + other.system)


class ProcessStat(NamedTuple):
    """One reading. `own` is the process' time, all threads; `reaped` that of its ended and waited-for children.

    `reaped` has what these had reaped themselves, so that no time of theirs is lost. A process that has ended and that
    nobody has waited for yet still tells its time.
    """

    parent: int
    own: Ticks
    reaped: Ticks
    resident_bytes: int


def parse_stat(text: str) -> ProcessStat:
    """Raises ValueError when the text is no line of /proc/PID/stat. A process' name may hold blanks and brackets."""
    fields = text[text.rfind(")") + 1 :].split(None, _RESIDENT + 1)
    if len(fields) <= _RESIDENT:
        raise ValueError(f"/proc/PID/stat says {text[:60]!r}")
    return ProcessStat(
        parent=int(fields[_PARENT]),
        own=Ticks(int(fields[_USER]), int(fields[_SYSTEM])),
        reaped=Ticks(int(fields[_CHILDREN_USER]), int(fields[_CHILDREN_SYSTEM])),
        resident_bytes=int(fields[_RESIDENT]) * PAGE_BYTES,
    )


def stat_of(pid: int, proc: Path = PROC) -> ProcessStat:
    """One reading of a process that is not kept open. Raises OSError or ValueError when it has ended."""
    return parse_stat((proc / str(pid) / "stat").read_text(errors="replace"))


class OpenProcess:
    """A process whose stat file is open. Raises OSError when it has ended before that."""

    def __init__(self, pid: int, proc: Path = PROC) -> None:
        self.pid = pid
        self._proc = proc
        self._file = KernelFile(proc / str(pid) / "stat")
        self.close = self._file.close

    def read(self) -> ProcessStat | None:
        """As it is now; None when it has ended."""
        try:
            return parse_stat(self._file.read(_ENOUGH_BYTES))
        except (OSError, ValueError):  # an ended one says "no such process", or nothing
            return None

    def proportional_bytes(self) -> int | None:
        """Resident memory in which a page that several share counts in parts (PSS of smaps_rollup); None if not told.

        The kernel walks all pages for it, milliseconds for a large process: not for every tick.
        """
        with suppress(OSError, ValueError, IndexError):
            for line in (self._proc / str(self.pid) / "smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
        return None


def all_pids(proc: Path = PROC) -> list[int]:
    """The numbers of all processes, kernel threads too."""
    return [int(name) for name in os.listdir(proc) if name.isdigit()]


def kernel_ticks(proc: Path = PROC) -> dict[int, int]:
    """The time of the kernel's own threads by number, which are kthreadd's (2) children.

    It looks at every process, a file each: not for every sample.
    """
    found = {}
    for pid in all_pids(proc):
        with suppress(OSError, ValueError):
            seen = stat_of(pid, proc)
            if _KTHREADD in (pid, seen.parent):
                found[pid] = sum(seen.own)
    return found


class ControlGroup(NamedTuple):
    """A group's directory, and the version of the interface there."""

    version: int
    directory: Path


def group_of(pid: int, controller: str, proc: Path = PROC) -> ControlGroup | None:
    """The group that a process is in, for a controller; None when it is this process' own too, or can't be seen.

    A group of version 2 counts processor time whether or not the controller is handed down to it; memory only if it is.
    """
    with suppress(OSError, ValueError):
        theirs, ours = _paths(proc / str(pid)), _paths(proc / "self")
        for mounted, kind, options, root in _mounts(proc / "self"):
            name = controller if kind == "cgroup" else ""
            if kind == "cgroup" and controller not in options:
                continue
            path = theirs.get(name)
            if path is None or path == ours.get(name) or not path.startswith(root):
                continue
            directory = mounted / path.removeprefix(root).strip("/")
            if directory.is_dir():
                return ControlGroup(1 if kind == "cgroup" else 2, directory)
    return None


def busy_s(group: ControlGroup) -> float | None:
    """Seconds of processor time of all that was ever in the group; None when it does not tell."""
    with suppress(OSError, ValueError):
        if group.version == 1:
            return int((group.directory / "cpuacct.usage").read_text()) / 1e9
        usage = flat((group.directory / "cpu.stat").read_text()).get("usage_usec")
        return None if usage is None else usage / 1e6
    return None


def flat(text: str) -> Mapping[str, int]:
    """Lines of `name number`."""
    words = text.split()
    return {name: int(value) for name, value in zip(words[::2], words[1::2], strict=False)}


def _paths(process: Path) -> dict[str, str]:
    """A process' group by controller (`4:memory:/path`); version 2 has no controller's name."""
    paths = {}
    for line in (process / "cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        paths.update(dict.fromkeys(controllers.split(","), path))
    return paths


def _mounts(process: Path) -> list[tuple[Path, str, list[str], str]]:
    """Where groups are mounted: place, kind, options, and the path of what is mounted there; version 1 first."""
    found = []
    for line in (process / "mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        root, place = before.split()[3:5]
        kind, _, options = after.split()[:3]
        if kind in ("cgroup", "cgroup2"):
            found.append((Path(place), kind, options.split(","), root.rstrip("/")))
    return sorted(found, key=lambda one: one[1])
