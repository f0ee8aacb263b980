"""Processor time and resident memory of each group of processes, from /proc/PID/stat (proc(5)).

A watched process begins a group; what it starts belongs to the same, but jobs' containers are `containers`, and what
Assay starts, other than watched processes, `clients`. A descendant stays in its group though
its parent ends first. A process that ends leaves its time with the parent that waits for it, so that a group's time is
what its living processes tell of themselves and of the children that they have waited for.

Groups are the daemons, `emulator`, `assay`, `containers` together, Assay's `clients`, and, at marks only,
the kernel's own threads. A process' time is exact (the scheduler's clock) where the machine's is in ticks.
What the machine was busy with besides is `other`: the machine's total without the groups, which holds the errors of
both. Resident memory counts what processes share once for each; at marks `proportional_bytes` divides it among them.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress

from assay.host.control_groups import busy_s, group_of
from assay.model.doubt import Doubt, doubt_kind
from assay.model.node import Node
from assay.model.probe import CONTAINERS, Interval, Moment, ProbeKind, Quantity, Scene, Values
from assay.model.quantity import Kind
from assay.model.registry import PROBES
from assay.probe.cpu import STAT, TICKS_PER_S, busy_ticks, read_ticks, tick_gains
from assay.probe.process_stat import PROC, OpenProcess, ProcessStat, Ticks, all_pids, kernel_ticks, stat_of

NOTHING = Ticks()
# As scripts that start containers and tasks' JVMs name it in their command lines (ContainerId of Hadoop).
_CONTAINER = re.compile(r"container_(?:e\d+_)?\d+_\d+_\d+_\d+")
_CORE = re.compile(r"^cpu\d", re.MULTILINE)
_LOOKS_FOR_NAME = 4
_PATIENCE_LOOKS = 3
"""Looks for which a group's sum may be short before the rest is taken for lost: the JVM waits for a child at once."""


class Member:
    """A process of a group. `reaped_group` is the group of the children that it has waited for."""

    def __init__(self, process: OpenProcess, stat: ProcessStat, group: str, reaped_group: str) -> None:
        self.process = process
        self.stat = stat
        self.group = group
        self.reaped_group = reaped_group
        self.container: str | None = None
        self.looks_for_name = 0

    @property
    def resident_bytes(self) -> int:
        """Its memory; 0 between fork and exec, where a process shows its parent's memory."""
        unsure = self.group == CONTAINERS and self.container is None and self.looks_for_name < _LOOKS_FOR_NAME
        return 0 if unsure else self.stat.resident_bytes

    @property
    def ticks(self) -> int:
        """Its processor time, with that of the children it has waited for."""
        return sum(self.stat.own_ticks) + sum(self.stat.reaped)


class Account:
    """A group's time: never less than it was, whatever order its processes were read in."""

    def __init__(self) -> None:
        self.total = NOTHING
        self._left = NOTHING
        self._short_looks = 0

    def leave(self, ticks: Ticks, sign: int = 1) -> None:
        """Time of a process that ended and whose parent accounts for it in another group (or this one's, wrongly)."""
        self._left = self._left.plus(Ticks(sign * ticks.user, sign * ticks.system))

    def look(self, alive: Ticks) -> None:
        """Take in the time of the processes that live.

        It is short for a moment where a child's end was seen before its parent had waited for it.
        """
        sum_now = self._left.plus(alive)
        short = Ticks(max(0, self.total.user - sum_now.user), max(0, self.total.system - sum_now.system))
        self._short_looks = self._short_looks + 1 if any(short) else 0
        if self._short_looks >= _PATIENCE_LOOKS:  # nobody waited for it, or nobody of ours
            self.leave(short)
            self._short_looks = 0
        self.total = Ticks(max(self.total.user, sum_now.user), max(self.total.system, sum_now.system))


class ProcessGroups:
    """All groups of a scene."""

    def __init__(self, node: Node, scene: Scene) -> None:
        self._node = node
        self._reaped_group = {process.pid: process.children or process.group for process in scene.processes}
        self.members: dict[int, Member] = {}
        self.gone: list[str] = []
        self._watched: set[int] = set()
        self._strangers = set(scene.elsewhere)
        groups = [*(process.group for process in scene.processes), *self._reaped_group.values()]
        self.accounts: dict[str, Account] = {group: Account() for group in groups}
        for process in scene.processes:
            if not self._join(process.pid, process.group):
                self.gone.append(process.group)
            self._watched.add(process.pid)

    def look(self) -> Mapping[str, Ticks]:
        """Find what has begun and what has ended, and read all members; gives each group's time so far."""
        listed = set(all_pids(self._node))
        self._strangers &= listed
        self._adopt(listed - self._strangers - self.members.keys())
        for pid, member in list(self.members.items()):  # in the order of joining: parents before their children
            stat = member.process.read() if pid in listed else None
            if stat is None:
                self._end(member)
            else:
                member.stat = stat
        sums = dict.fromkeys(self.accounts, NOTHING)
        for member in self.members.values():
            sums[member.group] = sums[member.group].plus(member.stat.own_ticks)
            sums[member.reaped_group] = sums[member.reaped_group].plus(member.stat.reaped)
            self._name(member)
        for group, account in self.accounts.items():
            account.look(sums[group])
        return {group: account.total for group, account in self.accounts.items()}

    def close(self) -> None:
        for member in self.members.values():
            member.process.close()
        self.members.clear()

    def _join(self, pid: int, group: str) -> bool:
        """Take a process in, unless it has ended."""
        try:
            process = OpenProcess(self._node, pid)
        except OSError:
            return False
        stat = process.read()
        if stat is None:
            process.close()
            return False
        self.members[pid] = Member(process, stat, group, self._reaped_group.get(pid, group))
        return True

    def _adopt(self, new: set[int]) -> None:
        """Take in the descendants among processes that were not seen before; the others are strangers for ever."""
        parents = {}
        for pid in new:
            with suppress(OSError, ValueError):
                parents[pid] = stat_of(self._node, pid).parent
        while children := [pid for pid, parent in parents.items() if parent in self.members]:
            for pid in children:
                parent = self.members.get(parents.pop(pid))
                if parent is not None and self._join(pid, parent.reaped_group):
                    self.members[pid].container = parent.container
        self._strangers |= parents.keys()

    def _end(self, member: Member) -> None:
        """A process has ended: where its parent's waiting would put its time into another group, put that right."""
        stat, pid = member.stat, member.process.pid
        del self.members[pid]
        member.process.close()
        if pid in self._watched:
            self.gone.append(member.group)
        parent = self.members.get(stat.parent)
        waiting = parent.reaped_group if parent else None
        if waiting == member.group == member.reaped_group:
            return
        if waiting is None and pid not in self._watched:
            return  # its parent ended before it: what is short then is found by the account
        for group, ticks in ((member.group, stat.own_ticks), (member.reaped_group, stat.reaped)):
            self.accounts[group].leave(ticks)
            if waiting is not None:
                self.accounts[waiting].leave(ticks, -1)

    def _name(self, member: Member) -> None:
        """Find a container's name; between fork and exec a process still has its parent's command line."""
        if member.container is not None or member.group != CONTAINERS or member.looks_for_name >= _LOOKS_FOR_NAME:
            return
        member.looks_for_name += 1
        with suppress(OSError):
            name = _CONTAINER.search(self._node.read(PROC / str(member.process.pid) / "cmdline"))
            member.container = name[0] if name else None


DOUBTED_SHARE, DOUBTED_S = 0.05, 1.0
"""By how much sums may differ: both, since in a short part a few ticks are a large share."""


class Remainder:
    """What the machine was busy with besides the groups, which took `groups` ticks so far.

    Raises OSError or ValueError when the machine's ticks can't be read.
    """

    def __init__(self, node: Node, groups: int) -> None:
        self._machine = node.open(STAT)
        self._node = node
        self._gains = tick_gains(read_ticks(self._machine))
        self._groups = groups
        self.left_ticks = self._reported_ticks = 0
        self._kernel = kernel_ticks(node)
        self._kernel_ticks = 0
        self.close = self._machine.close

    def look(self, groups: int) -> int:
        """The machine's other busy ticks so far; `groups` are those of all groups."""
        gained, _ = self._gains.add(read_ticks(self._machine))
        self.left_ticks += busy_ticks(gained) - (groups - self._groups)
        self._groups = groups
        return self.left_ticks

    def totals(self) -> dict[Quantity, float]:
        """What the kernel's own threads took (of those that live), and everything else since the last time."""
        before, self._kernel = self._kernel, kernel_ticks(self._node)
        kernel = max(0, sum(ticks - before.get(pid, 0) for pid, ticks in self._kernel.items()))
        self._kernel_ticks += kernel
        left, self._reported_ticks = self.left_ticks - self._reported_ticks - kernel, self.left_ticks
        return {
            Quantity("kernel", "system_s"): self._kernel_ticks / TICKS_PER_S,
            Quantity("other", "busy_s", basis="estimated", level=True): left / TICKS_PER_S,
        }


class ClusterProcesses:
    """The cluster's control group, where it has one that counts time: all that daemons and containers ever took."""

    def __init__(self, node: Node, scene: Scene) -> None:
        self._node = node
        groups = {process: group_of(node, process.pid, "cpuacct") for process in scene.processes}
        self._group = next(
            (group for process, group in groups.items() if group and process.children == CONTAINERS), None
        )
        self._inside = {CONTAINERS, *(process.group for process, group in groups.items() if group == self._group)}
        self._before: tuple[float, float] | None = None

    def totals(self, groups: Mapping[str, Ticks], doubts: list[Doubt]) -> dict[Quantity, float]:
        """Seconds of the control group; a Doubt when the groups inside took another sum since the last time."""
        exact_s = None if self._group is None else busy_s(self._node, self._group)
        if exact_s is None:
            return {}
        summed_s = sum(sum(ticks) for group, ticks in groups.items() if group in self._inside) / TICKS_PER_S
        if self._before is not None:
            exact, summed = exact_s - self._before[0], summed_s - self._before[1]
            if abs(exact - summed) > max(DOUBTED_SHARE * exact, DOUBTED_S):
                took = f"{exact:.1f} s by their control group, and {summed:.1f} s by process"
                doubts.append(CPU_GROUPS_INCOMPLETE.doubt(f"daemons and containers took {took}"))
        self._before = (exact_s, summed_s)
        return {Quantity("cluster", "control_group_s"): exact_s}


CPU_GROUPS_INCOMPLETE = doubt_kind(
    "cpu-groups-incomplete", "cluster", instrument="processes",
    when="processes took less processor time in sum than their control group shows",
    why="processes that no parent waited for left no trace, so the times by group are too small by this difference",
    cure="use the control group's figure for the cluster's total",
)  # fmt: skip

MIB = 1 << 20


class ProcessProbe:
    """Groups of processes on a node with so many cores."""

    name = "processes"

    def __init__(self, node: Node, cores: int | None = None) -> None:
        """`cores` are by default all cores of the node."""
        self._node, self._cores = node, cores
        self._processes: ProcessGroups | None = None
        self._peaks: dict[str, int] = {}
        self._interval = Interval[tuple[Mapping[str, Ticks], Mapping[str, int], int]]()
        self._remainder: Remainder | None = None
        self._cluster: ClusterProcesses | None = None
        self._doubts: list[Doubt] = []

    def attach(self, scene: Scene) -> None:
        self._processes = ProcessGroups(self._node, scene)
        self._cluster = ClusterProcesses(self._node, scene)
        self._cores = self._cores or len(_CORE.findall(self._node.read(STAT)))
        groups = self._processes.look()
        self._remainder = Remainder(self._node, sum(map(sum, groups.values())))

    def sample(self, now: Moment) -> Values:
        """Time in percent of all cores, and resident MiB, by group and by container."""
        assert self._processes and self._remainder  # noqa: S101, PT018 - for the type checker: attached by now
        groups = self._processes.look()
        left = self._remainder.look(sum(map(sum, groups.values())))
        containers: dict[str, int] = defaultdict(int)
        for member in self._processes.members.values():
            if member.container is not None:
                containers[member.container] += member.ticks
        values = self._resident_mib(self._processes)
        ended = self._interval.ended(now, (groups, containers, left))
        if ended is None:
            return values
        interval_s, (before, containers_before, left_before) = ended
        percent = 100 / (interval_s * (self._cores or 1) * TICKS_PER_S)
        for group, ticks in groups.items():
            values[group, "user_percent"] = round((ticks.user - before[group].user) * percent, 2)
            values[group, "system_percent"] = round((ticks.system - before[group].system) * percent, 2)
        if self._node.own_machine:
            values["other", "busy_percent"] = round(max(0, left - left_before) * percent, 2)
        for name, count in containers.items():
            values[name, "busy_percent"] = round(max(0, count - containers_before.get(name, 0)) * percent, 2)
        return values

    def _resident_mib(self, processes: ProcessGroups) -> dict[tuple[str, str], float]:
        """By group and by container, and how many containers there are; keeps the groups' peaks."""
        bytes_of: dict[str, int] = dict.fromkeys(processes.accounts, 0)
        containers: dict[str, int] = defaultdict(int)
        for member in processes.members.values():
            bytes_of[member.group] += member.resident_bytes
            if member.container is not None:
                containers[member.container] += member.resident_bytes
        for group, count in bytes_of.items():
            self._peaks[group] = max(self._peaks.get(group, 0), count)
        values = {(name, "resident_mib"): float(round(count / MIB)) for name, count in (bytes_of | containers).items()}
        if CONTAINERS in bytes_of:
            values[CONTAINERS, "live_count"] = len(containers)
        return values

    def totals(self) -> Mapping[Quantity, float]:
        """Seconds by group, and memory; what else the machine did is a difference that no group measured."""
        assert self._processes and self._remainder and self._cluster  # noqa: S101, PT018
        groups = {group: account.total for group, account in self._processes.accounts.items()}
        quantities: dict[Quantity, float] = {
            Quantity(group, "resident_peak_bytes", level=True): count for group, count in self._peaks.items()
        }
        self._peaks = {}
        shares: dict[str, int] = defaultdict(int)
        for member in self._processes.members.values():
            shares[member.group] += member.process.proportional_bytes() or 0
        for group, count in shares.items():
            if count:
                quantities[Quantity(group, "proportional_bytes", level=True)] = count
        for group, ticks in groups.items():
            quantities[Quantity(group, "user_s")] = ticks.user / TICKS_PER_S
            quantities[Quantity(group, "system_s")] = ticks.system / TICKS_PER_S
        if self._node.own_machine:
            quantities |= self._remainder.totals()
        return quantities | self._cluster.totals(groups, self._doubts)

    def doubts(self) -> tuple[Doubt, ...]:
        gone = () if self._processes is None else dict.fromkeys(self._processes.gone)
        event = "was gone before the trial's end, or at its beginning"
        ended = (WATCHED_PROCESS_ENDED.doubt(f"a process of {group} {event}", group) for group in gone)
        return (*self._doubts, *ended)

    def close(self) -> None:
        if self._processes is not None:
            self._processes.close()
        if self._remainder is not None:
            self._remainder.close()


WATCHED_PROCESS_ENDED = doubt_kind(
    "watched-process-ended", "cluster", instrument="processes",
    when="a daemon ended before the trial did",
    why="its time and memory are known only until half a second before its end",
    cure="see its log for the reason",
)  # fmt: skip

SERIES = {
    **dict.fromkeys(("user_s", "system_s", "busy_s", "control_group_s"), Kind.PROCESSOR_TIME),
    **dict.fromkeys(("user_percent", "system_percent", "busy_percent", "resident_mib", "live_count"), Kind.LEVEL),
    **dict.fromkeys(("resident_peak_bytes", "proportional_bytes"), Kind.LEVEL),
}
PROBES.add("processes", ProbeKind(lambda context: ProcessProbe(context.node), of_nodes=True, series=SERIES), place=3)
