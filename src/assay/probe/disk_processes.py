"""Which processes caused the disks' work: bytes by group, from /proc/PID/io (proc(5); CONFIG_TASK_IO_ACCOUNTING).

The kernel counts for a process what it fetched from storage itself and which pages it made dirty, on all media
together, whoever writes the pages out later; pages that were thrown away before that are its `cancelled` bytes. When a
process has ended and its parent has waited for it, its counts are added to the parent's (wait_task_zombie in
kernel/exit.c): so a process' counts contain those of its ended children, and a tree sums up whole. Containers are
therefore told as one with the NodeManager that starts them: once they have ended nothing tells the two apart. Of one
that was killed together with its parent nobody of ours inherits: what it was last seen with is kept.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from assay.model.doubt import Doubt, doubt_kind
from assay.model.probe import CannotMeasureError, Moment, ProbeKind, Quantity, Scene, now
from assay.model.registry import PROBES
from assay.probe.kernel_file import KernelFile
from assay.probe.process_stat import PROC, all_pids

CONTAINERS = "nodemanager and containers"
_FIELDS = ("read_bytes", "write_bytes", "cancelled_write_bytes")
LOOKS, PAUSE_S = 3, 0.01
"""How often a sum that is short is looked at again: the JVM waits for a child at once."""


class ProcessBytes(NamedTuple):
    """Bytes fetched from storage, made dirty in the page cache, and thrown away before they were written out."""

    read: int = 0
    written: int = 0
    cancelled: int = 0


def parse_io(text: str) -> ProcessBytes:
    """The content of /proc/PID/io. Raises ValueError when a field is missing."""
    fields = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    missing = [field for field in _FIELDS if field not in fields]
    if missing:
        raise ValueError(f"/proc/PID/io has no {missing[0]}")
    return ProcessBytes(*(int(fields[field]) for field in _FIELDS))


class _Process:
    """One watched process, its counts held open; the last ones that it told."""

    def __init__(self, group: str, pid: int, proc: Path) -> None:
        self.group, self.pid = group, pid
        self.last = ProcessBytes()
        self._file = KernelFile(proc / str(pid) / "io")
        self.close = self._file.close

    def read(self) -> None:
        """Look again; a process that has ended keeps what it told last."""
        try:
            self.last = parse_io(self._file.read())
        except (OSError, ValueError):
            self.close()


class DiskProcessesInstrument:
    """Bytes by group of processes; totals only. What a process did in its last half second may be missing."""

    name = "disk-processes"

    def __init__(self, proc: Path = PROC, pause: Callable[[float], None] = time.sleep) -> None:
        self._proc = proc
        self._pause = pause
        self._processes: list[_Process] = []
        self._node_managers: tuple[int, ...] = ()
        self._highest: dict[str, ProcessBytes] = {}
        self._orphaned: dict[str, ProcessBytes] = {}
        self._refused: dict[str, str] = {}

    def attach(self, scene: Scene) -> None:
        """Raises CannotMeasureError where no process' counts can be read."""
        self._node_managers = scene.node_managers
        for watched in scene.processes:
            group = CONTAINERS if watched.pid in scene.node_managers else watched.group
            try:
                process = _Process(group, watched.pid, self._proc)
                process.read()
                self._processes.append(process)
            except OSError as error:
                self._refused[group] = str(error)
        if self._refused and not self._processes:
            raise CannotMeasureError(
                f"no process' bytes can be read: {next(iter(self._refused.values()))}",
                "the record can't tell which processes caused the disks' work",
                "run as root, on a kernel with CONFIG_TASK_IO_ACCOUNTING",
            )

    def sample(self, _now: Moment) -> Mapping[str, float]:
        """No samples; processes that end later are remembered as they were."""
        for process in self._processes:
            process.read()
        return {}

    def totals(self) -> Mapping[Quantity, float]:
        """By group. A sum that is read while a child's counts move to its parent is short for a moment.

        What stays missing nobody inherited: it is added from then on, so that it hides nothing that comes later.
        """
        for look in range(LOOKS):
            if look:
                self._pause(PAUSE_S)
                self.sample(now())
            sums = self._sums()
            if not any(any(self._short(group, told)) for group, told in sums.items()):
                break
        for group, told in sums.items():
            short = self._short(group, told)
            if any(short):
                self._orphaned[group] = _added(self._orphaned.get(group, ProcessBytes()), short)
            self._highest[group] = _added(told, short)
        return {
            Quantity(group, series): value
            for group, told in self._highest.items()
            for series, value in zip(("read_bytes", "written_bytes", "cancelled_write_bytes"), told, strict=True)
        }

    def doubts(self) -> tuple[Doubt, ...]:
        """Groups whose counts could not be read, or not to the end."""
        doubts = []
        if self._refused and self._processes:
            reason = next(iter(self._refused.values()))
            doubts.append(
                DISK_PROCESSES_UNREAD.doubt(f"the bytes of {', '.join(self._refused)} could not be read: {reason}")
            )
        for group, lost in self._orphaned.items():
            what = f"{lost.read + lost.written} bytes of {group} were of processes that ended without their parents"
            doubts.append(DISK_PROCESSES_ORPHANED.doubt(what, group))
        return tuple(doubts)

    def close(self) -> None:
        """Close what was opened."""
        for process in self._processes:
            process.close()

    def _sums(self) -> dict[str, ProcessBytes]:
        sums = dict(self._orphaned)
        for process in self._processes:
            sums[process.group] = _added(sums.get(process.group, ProcessBytes()), process.last)
        if CONTAINERS in sums:
            for pid in descendants(self._node_managers, self._proc):
                sums[CONTAINERS] = _added(sums[CONTAINERS], self._now(pid))
        return sums

    def _short(self, group: str, told: ProcessBytes) -> ProcessBytes:
        highest = self._highest.get(group, ProcessBytes())
        return ProcessBytes(*(max(0, before - after) for before, after in zip(highest, told, strict=True)))

    def _now(self, pid: int) -> ProcessBytes:
        """Nothing for one that has ended since it was listed."""
        with suppress(OSError, ValueError):
            return parse_io((self._proc / str(pid) / "io").read_text())
        return ProcessBytes()


def descendants(pids: Iterable[int], proc: Path = PROC) -> Iterable[int]:
    """All processes below some, by the parents that /proc/PID/stat names."""
    children: dict[int, list[int]] = {}
    for pid in all_pids(proc):
        with suppress(OSError, ValueError, IndexError):
            stat = (proc / str(pid) / "stat").read_bytes()
            children.setdefault(int(stat[stat.rindex(b")") + 2 :].split()[1]), []).append(pid)
    found, left = [], [*pids]
    while left:
        below = children.get(left.pop(), [])
        found += below
        left += below
    return found


DISK_PROCESSES_UNREAD = doubt_kind(
    "disk-processes-unread",
    "instrument",
    when="this user may not read the bytes of some processes",
    why="these groups are missing from the table of bytes by process",
    cure="run as root",
    instrument="disk-processes",
)
DISK_PROCESSES_ORPHANED = doubt_kind(
    "disk-processes-orphaned",
    "trial",
    when="processes ended without their parents",
    why="their bytes are known only as at the end of the previous interval",
    cure="see the tasks' logs for killed processes",
    instrument="disk-processes",
)


def _added(one: ProcessBytes, other: ProcessBytes) -> ProcessBytes:
    return ProcessBytes(*map(sum, zip(one, other, strict=True)))


PROBES.add("disk-processes", ProbeKind(lambda _: DiskProcessesInstrument()), place=7)
