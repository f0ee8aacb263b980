"""Processor time and resident memory of each group of processes, from /proc/PID/stat (proc(5)).

Groups are the daemons, `emulator`, `assay`, the NodeManager's `containers` together, Assay's `clients`, and, at marks
only, the kernel's own threads. A process' time is exact (the scheduler's clock) where the machine's is told by ticks.
What the machine was busy with besides is `other`: as the machine's total without the groups, which holds the errors of
both, and at marks by the clocks of the processes themselves. Resident memory counts what processes share once for each;
at marks `proportional_bytes` divides it among them.
"""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from assay.model.doubt import Doubt
from assay.model.probe import Scene
from assay.probe.balance import Balance, Cluster
from assay.probe.cpu import STAT, TICKS_PER_S
from assay.probe.families import CONTAINERS, Families
from assay.probe.process_stat import PROC, Ticks
from assay.probe.ticking import Interval, Moment, Quantity

MIB = 1 << 20


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
        self._balance = Balance(self._stat, self._proc, _sum(groups), self._families.members)

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
        found |= self._balance.totals(self._families.members, self._doubts)
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
    """Time by group and container as shares of all cores: differences of one tick and one before."""

    def __init__(self, cores: int) -> None:
        self._cores = cores
        self._interval = Interval()
        self._busy = 0
        self._groups: Mapping[str, Ticks] = {}
        self._containers: Mapping[str, int] = {}

    def take(
        self, now: Moment, groups: Mapping[str, Ticks], containers: Mapping[str, int], busy: int
    ) -> dict[str, float]:
        """Percent of all cores since it told some last; `busy` are the machine's ticks since the last time."""
        interval_s = self._interval.ended(now)
        self._busy += busy
        if interval_s is None:
            return {}
        before, self._groups = self._groups, groups
        containers_before, self._containers = self._containers, containers
        left, self._busy = self._busy, 0
        if not interval_s:
            return {}
        percent = 100 / (interval_s * self._cores * TICKS_PER_S)
        values = {}
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
            bytes_of[member.group] += member.resident_bytes
            if member.container is not None:
                containers[member.container] += member.resident_bytes
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


def _sum(groups: Mapping[str, Ticks]) -> int:
    return sum(sum(ticks) for ticks in groups.values())


def _ended(group: str) -> Doubt:
    return Doubt(
        kind="watched-process-ended",
        what=f"a process of {group} was gone before the trial's end, or at its beginning",
        why="its time and memory are known up to the last half second before its end only",
        cure="see its log for the reason",
    )
