"""Which processes belong to which group, and the processor time of each group so far, none of it lost or counted twice.

A watched process begins a group; what it starts belongs to the same, but that what the NodeManager starts is
`containers` and what Assay starts, other than watched processes, is `clients`. A descendant stays in its group though
its parent ends first. A process that ends leaves its time with the parent that waits for it, so that a group's time is
what its living processes tell of themselves and of the children that they have waited for.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from assay.model.probe import Scene
from assay.probe.process_stat import PROC, OpenProcess, ProcessStat, Ticks, all_pids, parse_stat

CONTAINERS, CLIENTS, ASSAY = "containers", "clients", "assay"
NOTHING = Ticks()
# As the NodeManager's scripts and the tasks' JVMs name it in their command lines (ContainerId of Hadoop).
_CONTAINER = re.compile(rb"container_(?:e\d+_)?\d+_\d+_\d+_\d+")
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
        """Its memory; none for what may still be between fork and exec, where it shows its parent's as its own."""
        unsure = self.group == CONTAINERS and self.container is None and self.looks_for_name < _LOOKS_FOR_NAME
        return 0 if unsure else self.stat.resident_bytes

    @property
    def ticks(self) -> int:
        """All of its time, with that of the children it has waited for."""
        return sum(self.stat.own) + sum(self.stat.reaped)


class Account:
    """A group's time: never less than it was, whatever order its processes were read in."""

    def __init__(self) -> None:
        self.told = NOTHING
        self._left = NOTHING
        self._short_looks = 0

    def leave(self, ticks: Ticks, sign: int = 1) -> None:
        """Time of a process that ended and whose parent accounts for it in another group (or this one's, wrongly)."""
        self._left = self._left.plus(Ticks(sign * ticks.user, sign * ticks.system))

    def look(self, alive: Ticks) -> None:
        """Tell what was found: a child seen as gone before its parent was seen to have waited for it is short."""
        found = self._left.plus(alive)
        short = Ticks(max(0, self.told.user - found.user), max(0, self.told.system - found.system))
        self._short_looks = self._short_looks + 1 if any(short) else 0
        if self._short_looks >= _PATIENCE_LOOKS:  # nobody waited for it, or nobody of ours
            self.leave(short)
            self._short_looks = 0
        self.told = Ticks(max(self.told.user, found.user), max(self.told.system, found.system))


class Families:
    """All groups of a scene."""

    def __init__(self, scene: Scene, proc: Path = PROC) -> None:
        self._proc = proc
        self._reaped_group = {one.pid: one.group for one in scene.processes}
        self._reaped_group |= {one.pid: CLIENTS for one in scene.processes if one.group == ASSAY}
        self._reaped_group |= {} if scene.node_manager is None else {scene.node_manager: CONTAINERS}
        self.members: dict[int, Member] = {}
        self.gone: list[str] = []
        self._watched: set[int] = set()
        self._strangers: set[int] = set()
        groups = [*(one.group for one in scene.processes), *self._reaped_group.values()]
        self.accounts: dict[str, Account] = {group: Account() for group in groups}
        for one in scene.processes:
            self._watch(one.pid, one.group)

    def look(self) -> None:
        """Find what has begun and what has ended, and read all members."""
        listed = set(all_pids(self._proc))
        self._strangers &= listed
        self._adopt(listed - self._strangers - self.members.keys())
        for pid, member in list(self.members.items()):  # in the order of joining: parents before their children
            stat = member.process.read() if pid in listed else None
            if stat is None:
                self._end(member)
            else:
                member.stat = stat
        self._count()

    def close(self) -> None:
        """Close all files."""
        for member in self.members.values():
            member.process.close()
        self.members.clear()

    def _watch(self, pid: int, group: str) -> None:
        if not self._join(pid, group):
            self.gone.append(group)
        self._watched.add(pid)

    def _join(self, pid: int, group: str) -> bool:
        """Take a process in, unless it has ended."""
        try:
            process = OpenProcess(pid, self._proc)
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
        parents = dict(self._parents(new))
        while found := [pid for pid, parent in parents.items() if parent in self.members]:
            for pid in found:
                parent = self.members.get(parents.pop(pid))
                if parent is not None and self._join(pid, parent.reaped_group):
                    self.members[pid].container = parent.container
        self._strangers |= parents.keys()

    def _parents(self, pids: Iterable[int]) -> Iterable[tuple[int, int]]:
        for pid in pids:
            with suppress(OSError, ValueError):
                yield pid, parse_stat((self._proc / str(pid) / "stat").read_text(errors="replace")).parent

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
        self.accounts[member.group].leave(stat.own)
        self.accounts[member.reaped_group].leave(stat.reaped)
        if waiting is not None:
            self.accounts[waiting].leave(stat.own, -1)
            self.accounts[waiting].leave(stat.reaped, -1)

    def _count(self) -> None:
        sums = dict.fromkeys(self.accounts, NOTHING)
        for member in self.members.values():
            sums[member.group] = sums[member.group].plus(member.stat.own)
            sums[member.reaped_group] = sums[member.reaped_group].plus(member.stat.reaped)
            self._name(member)
        for group, account in self.accounts.items():
            account.look(sums[group])

    def _name(self, member: Member) -> None:
        """Find a container's name; between fork and exec a process still has its parent's command line."""
        if member.container is not None or member.group != CONTAINERS or member.looks_for_name >= _LOOKS_FOR_NAME:
            return
        member.looks_for_name += 1
        with suppress(OSError):
            found = _CONTAINER.search((self._proc / str(member.process.pid) / "cmdline").read_bytes())
            member.container = found[0].decode() if found else None
