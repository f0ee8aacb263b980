"""Processor time and resident memory of each group of processes, from /proc/PID/stat (proc(5)).

Groups are the daemons, `emulator`, `assay`, the NodeManager's `containers` together, Assay's `clients`, and, at marks
only, the kernel's own threads. A process' time is exact (the scheduler's clock) where the machine's is told by ticks.
What the machine was busy with besides, `other`, is the machine's total without the groups: everything else that runs on
it, and the errors of both. Resident memory counts what processes share once for each; at marks `proportional_bytes`
divides it among them.
"""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from assay.model.doubt import Doubt
from assay.model.probe import Scene
from assay.probe.control_group import ControlGroup, busy_s, group_of
from assay.probe.cpu import STAT, TICKS_PER_S, MachineTicks, busy_ticks, differences
from assay.probe.families import CONTAINERS, Families
from assay.probe.process_stat import PROC, Ticks, kernel_threads
from assay.probe.ticking import Moment, Quantity

MIB = 1 << 20
DOUBTED_SHARE, DOUBTED_S = 0.05, 1.0
"""By how much sums may differ: both, since in a short part a few ticks are a large share."""


class ProcessProbe:
    """Groups of processes on a machine with so many cores; `proc` and `stat` are the kernel's, but in tests."""

    name = "processes"

    def __init__(self, cores: int, proc: Path = PROC, stat: Path = STAT) -> None:
        self._cores, self._proc, self._stat = cores, proc, stat
        self._families: Families | None = None
        self._rates = Rates(cores)
        self._resident = Resident()
        self._balance: Balance | None = None
        self._cluster: Cluster | None = None
        self._doubts: list[Doubt] = []

    def begin(self, scene: Scene) -> None:
        """See `ticking.Instrument.begin`."""
        self._families = Families(scene, self._proc)
        self._cluster = Cluster(scene, self._proc)
        groups, _ = self._look(self._families)
        self._balance = Balance(self._stat, self._proc, _sum(groups))

    def tick(self, now: Moment) -> Mapping[str, float]:
        """Time in percent of all cores, and resident MiB, by group and by container."""
        assert self._families is not None and self._balance is not None  # noqa: S101, PT018 - for the type checker
        groups, containers = self._look(self._families)
        values = self._resident.take(self._families)
        busy_ticks_gone = self._balance.look(_sum(groups))
        return values | self._rates.take(now, groups, containers, busy_ticks_gone)

    def _look(self, families: Families) -> tuple[dict[str, Ticks], dict[str, int]]:
        families.look()
        containers: dict[str, int] = defaultdict(int)
        for member in families.members.values():
            if member.container is not None:
                containers[member.container] += member.ticks
        return {group: account.told for group, account in families.accounts.items()}, containers

    def totals(self) -> Mapping[Quantity, float]:
        """Seconds by group, and memory; what else the machine did is a difference that no group measured."""
        assert self._families is not None and self._balance is not None and self._cluster is not None  # noqa: S101, PT018
        groups = {group: account.told for group, account in self._families.accounts.items()}
        found = self._resident.totals(self._families)
        for group, ticks in groups.items():
            found[Quantity(group, "user_s")] = ticks.user / TICKS_PER_S
            found[Quantity(group, "system_s")] = ticks.system / TICKS_PER_S
        found |= self._balance.totals(self._doubts)
        return found | self._cluster.totals(groups, self._doubts)

    def doubts(self) -> tuple[Doubt, ...]:
        """Watched processes that ended, and sums that don't fit."""
        gone = () if self._families is None else dict.fromkeys(self._families.gone)
        return (*self._doubts, *(_ended(group) for group in gone))

    def end(self) -> None:
        """See `ticking.Instrument.end`."""
        if self._families is not None:
            self._families.close()
        if self._balance is not None:
            self._balance.close()


class Rates:
    """Time by group and container as shares of all cores: differences of one tick and the one before."""

    def __init__(self, cores: int) -> None:
        self._cores = cores
        self._then: Moment | None = None
        self._groups: Mapping[str, Ticks] = {}
        self._containers: Mapping[str, int] = {}

    def take(
        self, now: Moment, groups: Mapping[str, Ticks], containers: Mapping[str, int], busy: int
    ) -> dict[str, float]:
        """Percent of all cores since the last tick; none at the first, or when no time has passed."""
        interval_s = 0.0 if self._then is None else now.clock_s - self._then.clock_s
        before, self._groups, self._then = self._groups, groups, now
        containers_before, self._containers = self._containers, containers
        if interval_s <= 0:
            return {}
        percent = 100 / (interval_s * self._cores * TICKS_PER_S)
        values = {}
        left = busy
        for group, ticks in groups.items():
            user, system = ticks.user - before[group].user, ticks.system - before[group].system
            left -= user + system
            values[f"{group}/user_percent"] = round(user * percent, 2)
            values[f"{group}/system_percent"] = round(system * percent, 2)
        values["other/busy_percent"] = round(max(0, left) * percent, 2)
        for name, count in containers.items():
            values[f"{name}/busy_percent"] = round(max(0, count - containers_before.get(name, 0)) * percent, 2)
        return values


class Resident:
    """Resident memory by group, and each group's peak in a part of the trial."""

    def __init__(self) -> None:
        self._peaks: dict[str, int] = {}

    def take(self, families: Families) -> dict[str, float]:
        """MiB by group and by container, and how many containers there are."""
        bytes_of: dict[str, int] = dict.fromkeys(families.accounts, 0)
        containers: dict[str, int] = defaultdict(int)
        for member in families.members.values():
            bytes_of[member.group] += member.stat.resident_bytes
            if member.container is not None:
                containers[member.container] += member.stat.resident_bytes
        for group, count in bytes_of.items():
            self._peaks[group] = max(self._peaks.get(group, 0), count)
        values = {f"{name}/resident_mib": float(round(count / MIB)) for name, count in (bytes_of | containers).items()}
        if CONTAINERS in bytes_of:
            values[f"{CONTAINERS}/live_count"] = len(containers)
        return values

    def totals(self, families: Families) -> dict[Quantity, float]:
        """Each group's peak since the last time, and its share of memory now; peaks begin anew."""
        found: dict[Quantity, float] = {
            Quantity(group, "resident_peak_bytes", level=True): count for group, count in self._peaks.items()
        }
        self._peaks = {}
        shares: dict[str, int] = defaultdict(int)
        for member in families.members.values():
            shares[member.group] += member.process.proportional_bytes() or 0
        return found | {
            Quantity(group, "proportional_bytes", level=True): count for group, count in shares.items() if count
        }


class Balance:
    """What the machine was busy with besides the groups, which took `groups` ticks so far.

    Raises OSError or ValueError when the machine's ticks can't be read.
    """

    def __init__(self, stat: Path, proc: Path, groups: int) -> None:
        self._machine = MachineTicks(stat)
        self._proc = proc
        self._before = self._machine.read()
        self._threads = kernel_threads(proc)
        self._kernel = 0
        self._groups = groups
        self._left_ticks = self._busy_ticks = 0

    def look(self, groups: int) -> int:
        """The machine's busy ticks since the last look; `groups` are those of all groups so far."""
        now = self._machine.read()
        busy = busy_ticks(differences(self._before, now))
        self._before = now
        self._busy_ticks += busy
        self._left_ticks += busy - (groups - self._groups)
        self._groups = groups
        return busy

    def totals(self, doubts: list[Doubt]) -> dict[Quantity, float]:
        """Since the last time: what the kernel's own threads took (of those that live), and what is left of it all."""
        now = kernel_threads(self._proc)
        gone = sum(sum(ticks) - sum(self._threads.get(pid, Ticks())) for pid, ticks in now.items())
        self._threads = now
        self._kernel += max(0, gone)
        left_s = (self._left_ticks - max(0, gone)) / TICKS_PER_S
        busy = self._busy_ticks / TICKS_PER_S
        if left_s < -max(DOUBTED_SHARE * busy, DOUBTED_S):
            doubts.append(_too_much(busy - left_s, busy))
        self._left_ticks = self._busy_ticks = 0
        return {
            Quantity("kernel", "system_s"): self._kernel / TICKS_PER_S,
            Quantity("other", "busy_s", basis="estimated", level=True): left_s,
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


def _sum(groups: Mapping[str, Ticks]) -> int:
    return sum(sum(ticks) for ticks in groups.values())


def _ended(group: str) -> Doubt:
    return Doubt(
        kind="watched-process-ended",
        what=f"a process of {group} was gone before the trial's end, or at its beginning",
        why="its time and memory are known up to the last half second before its end only",
        cure="see its log for the reason",
    )


def _too_much(groups_s: float, busy_s_: float) -> Doubt:
    return Doubt(
        kind="cpu-groups-exceed-machine",
        what=f"groups of processes took {groups_s:.1f} s of processor time, the machine {busy_s_:.1f} s",
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
