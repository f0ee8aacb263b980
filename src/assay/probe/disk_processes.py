"""Which processes caused the disks' work: bytes by group, from /proc/PID/io (proc(5); CONFIG_TASK_IO_ACCOUNTING).

The kernel counts for a process what it fetched from storage itself and which pages it made dirty, on all media
together, whoever writes the pages out later; pages that were thrown away before that are its `cancelled` bytes. When a
process has ended and its parent has waited for it, its counts are added to the parent's (wait_task_zombie in
kernel/exit.c): so a process' counts contain those of its ended children, and a tree sums up whole. Containers are
therefore one group with the daemon that starts them: once they have ended nothing distinguishes the two. The
counts of a process that was killed together with its parent go to no process of ours: its last ones are kept.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from assay.model.doubt import Doubt, doubt_kind
from assay.model.node import Node, OpenFile
from assay.model.probe import (
    CONTAINERS,
    CannotMeasureError,
    Moment,
    ProbeKind,
    Quantity,
    Scene,
    Values,
    WatchedProcess,
    now,
)
from assay.model.quantity import Kind
from assay.model.registry import PROBES
from assay.probe.process_stat import PROC, all_pids, stat_of

_SERIES = {"read_bytes": "read_bytes", "write_bytes": "written_bytes", "cancelled_write_bytes": "cancelled_write_bytes"}
LOOKS, PAUSE_S = 3, 0.01
"""How often a sum that is short is looked at again: the JVM waits for a child at once."""


def parse_io(text: str) -> Counter[str]:
    """Bytes by series from the content of /proc/PID/io. Raises ValueError when a field is missing."""
    fields = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    try:
        return Counter({series: int(fields[name]) for name, series in _SERIES.items()})
    except KeyError as error:
        raise ValueError(f"/proc/PID/io has no {error.args[0]}") from None


class DiskProcessesInstrument:
    """Bytes by group of processes; totals only. What a process did in its last half second may be missing."""

    name = "disk-processes"

    def __init__(self, node: Node, pause: Callable[[float], None] = time.sleep) -> None:
        self._node = node
        self._pause = pause
        self._files: dict[WatchedProcess, OpenFile] = {}
        self._last: dict[WatchedProcess, Counter[str]] = {}
        self._highest: dict[str, Counter[str]] = {}
        self._orphaned: dict[str, Counter[str]] = {}
        self._refused: dict[str, str] = {}

    def attach(self, scene: Scene) -> None:
        """Raises CannotMeasureError where no process' counts can be read."""
        for process in scene.processes:
            try:
                self._files[process] = self._node.open(PROC / str(process.pid) / "io")
            except OSError as error:
                self._refused[_group(process)] = str(error)
        if self._refused and not self._files:
            raise CannotMeasureError(
                f"no process' bytes can be read: {next(iter(self._refused.values()))}",
                "the record can't tell which processes caused the disks' work",
                "run as root, on a kernel with CONFIG_TASK_IO_ACCOUNTING",
            )
        self.sample(now())

    def sample(self, _now: Moment) -> Values:
        """No samples; processes that end later are remembered as they were."""
        for process, file in self._files.items():
            with suppress(OSError, ValueError):
                self._last[process] = parse_io(file.read())
        return {}

    def totals(self) -> Mapping[Quantity, float]:
        """Return the totals by group. While a child's counts move to its parent a sum is too small for a moment.

        What stays missing nobody inherited: it is added from then on, so that it hides nothing that comes later.
        """
        sums = self._sums()
        for _ in range(LOOKS - 1):
            if not any(self._short(sums).values()):
                break
            self._pause(PAUSE_S)
            self.sample(now())
            sums = self._sums()
        for group, short in self._short(sums).items():
            if short:
                self._orphaned[group] = self._orphaned.get(group, Counter()) + short
            self._highest[group] = sums[group] + short
        return {
            Quantity(group, series): counts[series]
            for group, counts in self._highest.items()
            for series in _SERIES.values()
        }

    def doubts(self) -> tuple[Doubt, ...]:
        doubts = []
        if self._refused and self._files:
            loss = f"the bytes of {', '.join(self._refused)} could not be read: {next(iter(self._refused.values()))}"
            doubts.append(DISK_PROCESSES_UNREAD.doubt(loss))
        for group, lost in self._orphaned.items():
            size = lost["read_bytes"] + lost["written_bytes"]
            loss = f"{size} bytes of {group} were of processes that ended without their parents"
            doubts.append(DISK_PROCESSES_ORPHANED.doubt(loss, group))
        return tuple(doubts)

    def close(self) -> None:
        for file in self._files.values():
            file.close()

    def _sums(self) -> dict[str, Counter[str]]:
        sums: dict[str, Counter[str]] = defaultdict(Counter, {group: +lost for group, lost in self._orphaned.items()})
        for process in self._files:
            sums[_group(process)] += self._last.get(process, Counter())
        for process in self._files:
            for pid in descendants(self._node, [process.pid]) if process.children == CONTAINERS else ():
                with suppress(OSError, ValueError):  # ended since it was listed
                    sums[_group(process)] += parse_io(self._node.read(PROC / str(pid) / "io"))
        return sums

    def _short(self, sums: Mapping[str, Counter[str]]) -> dict[str, Counter[str]]:
        return {group: self._highest.get(group, Counter()) - counts for group, counts in sums.items()}


def _group(process: WatchedProcess) -> str:
    return f"{process.group} and {CONTAINERS}" if process.children == CONTAINERS else process.group


def descendants(node: Node, pids: Iterable[int]) -> list[int]:
    """Find all descendants of some processes."""
    children: dict[int, list[int]] = {}
    for pid in all_pids(node):
        with suppress(OSError, ValueError):
            children.setdefault(stat_of(node, pid).parent, []).append(pid)
    tree = [*pids]
    roots = len(tree)
    for pid in tree:  # it grows meanwhile
        tree += children.get(pid, [])
    return tree[roots:]


DISK_PROCESSES_UNREAD = doubt_kind(
    "disk-processes-unread", "instrument", instrument="disk-processes",
    when="this user may not read the bytes of some processes",
    why="these groups are missing from the table of bytes by process",
    cure="run as root",
)  # fmt: skip
DISK_PROCESSES_ORPHANED = doubt_kind(
    "disk-processes-orphaned", "trial", instrument="disk-processes",
    when="processes ended without their parents",
    why="their bytes are known only as at the end of the previous interval",
    cure="see the tasks' logs for killed processes",
)  # fmt: skip

PROBES.add(
    "disk-processes",
    ProbeKind(
        lambda context: DiskProcessesInstrument(context.node), of_nodes=True,
        series=dict.fromkeys(_SERIES.values(), Kind.BYTES),
    ),
    place=7,
)  # fmt: skip
