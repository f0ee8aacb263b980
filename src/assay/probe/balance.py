"""Whether processor time by group adds up: to the machine's, and to that of the cluster's control group."""

from collections.abc import Collection, Mapping
from pathlib import Path

from assay.model.doubt import Doubt
from assay.model.probe import Scene
from assay.probe.control_group import ControlGroup, busy_s, group_of
from assay.probe.cpu import TICKS_PER_S, MachineTicks, busy_ticks, differences
from assay.probe.families import CONTAINERS
from assay.probe.process_stat import Ticks, survey
from assay.probe.ticking import Quantity

DOUBTED_SHARE, DOUBTED_S = 0.05, 1.0
"""By how much sums may differ: both, since in a short part a few ticks are a large share."""


class Balance:
    """What the machine was busy with besides the groups, which took `groups` ticks so far.

    `other` is told twice: as what is left of the machine's time (`busy_s`), which adds up by its making, and as the
    time of all other processes by their own clocks (`seen_s`), at marks. The two prove each other. Raises OSError or
    ValueError when the machine's ticks can't be read.
    """

    def __init__(self, stat: Path, proc: Path, groups: int, members: Collection[int]) -> None:
        self._machine = MachineTicks(stat)
        self._proc = proc
        self._before = self._machine.read()
        self._groups = groups
        self._left_ticks = self._busy_ticks = 0
        self._seen = survey(proc)
        self._others = _without(self._seen.others, members)
        self._kernel_ticks = 0

    def look(self, groups: int) -> int:
        """The machine's busy ticks since the last look; `groups` are those of all groups so far."""
        now = self._machine.read()
        busy = busy_ticks(differences(self._before, now))
        self._before = now
        self._busy_ticks += busy
        self._left_ticks += busy - (groups - self._groups)
        self._groups = groups
        return busy

    def totals(self, members: Collection[int], doubts: list[Doubt]) -> dict[Quantity, float]:
        """Since the last time: what the kernel's own threads took (of those that live), and everything else.

        `members` are the processes of the groups. A Doubt when what was seen differs from what the machine tells.
        """
        now = survey(self._proc)
        kernel = sum(sum(ticks) - sum(self._seen.kernel.get(pid, Ticks())) for pid, ticks in now.kernel.items())
        others = _without(now.others, members)
        # A process that ended has left its time with the one that waited for it.
        seen = max(0, sum(map(sum, others.values())) - sum(map(sum, self._others.values())))
        self._seen, self._others = now, others
        self._kernel_ticks += max(0, kernel)
        left = self._left_ticks - max(0, kernel)
        busy_s, missing_s = self._busy_ticks / TICKS_PER_S, (left - seen) / TICKS_PER_S
        if abs(missing_s) > max(DOUBTED_SHARE * busy_s, DOUBTED_S):
            doubts.append(_not_added_up(busy_s - missing_s, busy_s))
        self._left_ticks = self._busy_ticks = 0
        return {
            Quantity("kernel", "system_s"): self._kernel_ticks / TICKS_PER_S,
            Quantity("other", "busy_s", basis="estimated", level=True): left / TICKS_PER_S,
            Quantity("other", "seen_s", level=True): seen / TICKS_PER_S,
        }

    def close(self) -> None:
        """Close the file."""
        self._machine.close()


class Cluster:
    """The cluster's control group, where it has one that counts time: all that daemons and containers ever took."""

    def __init__(self, scene: Scene, proc: Path) -> None:
        manager = scene.node_manager
        self._group: ControlGroup | None = None if manager is None else group_of(manager, "cpuacct", proc)
        self._inside = {CONTAINERS}
        if self._group is not None:
            self._inside |= {
                one.group for one in scene.processes if group_of(one.pid, "cpuacct", proc) == self._group
            }  # fmt: skip
        self._before: tuple[float, float] | None = None

    def totals(self, groups: Mapping[str, Ticks], doubts: list[Doubt]) -> dict[Quantity, float]:
        """Seconds of the control group; a Doubt when the groups inside took another sum since the last time."""
        exact_s = None if self._group is None else busy_s(self._group)
        if exact_s is None:
            return {}
        summed_s = sum(sum(ticks) for group, ticks in groups.items() if group in self._inside) / TICKS_PER_S
        if self._before is not None:
            exact, summed = exact_s - self._before[0], summed_s - self._before[1]
            if abs(exact - summed) > max(DOUBTED_SHARE * exact, DOUBTED_S):
                doubts.append(_not_all(exact, summed))
        self._before = (exact_s, summed_s)
        return {Quantity("cluster", "control_group_s"): exact_s}


def _without(ticks: Mapping[int, Ticks], members: Collection[int]) -> dict[int, Ticks]:
    return {pid: one for pid, one in ticks.items() if pid not in members}


def _not_added_up(seen_s: float, machine_s: float) -> Doubt:
    return Doubt(
        kind="cpu-not-added-up",
        what=f"all processes took {seen_s:.1f} s of processor time in a part, the machine {machine_s:.1f} s",
        why="time by group does not add up to the machine's, so shares of either are off by as much",
        cure="none: the kernel counts one by its clock and the other by samples; take longer trials",
    )


def _not_all(exact_s: float, summed_s: float) -> Doubt:
    return Doubt(
        kind="cpu-groups-incomplete",
        what=f"daemons and containers took {exact_s:.1f} s by their control group, and {summed_s:.1f} s by process",
        why="processes that nobody waited for left no trace, so time by group is off by as much",
        cure="take the control group's figure for the cluster's total",
    )
