"""Holds the page cache of a control group at a budget, whatever its processes need for themselves.

A bound on all of a group's memory leaves to the page cache what the JVMs don't take, which differs from phase to phase.
So the bound follows the processes: it is what the group uses apart from cached files that nobody maps, plus the budget.
Mapped files count as the processes' own need. In version 1 of the interface the bound is `memory.limit_in_bytes`, and
the kernel does not end a process that is faster than this thread (`memory.oom_control`): it pauses one that touches
memory of its own, and a system call that finds no memory fails (ENOMEM). In version 2 it is `memory.high`, which only
slows processes down.

It begins once the cluster is healthy, after what its daemons have cached until then is given back. The programs'
own files are cached by this process, outside of the group: the kernel takes pages that are mapped as readily as others
from a small group, and its processes then read nothing but their own code again and again.

Sources: the kernel's admin-guide/cgroup-v1/memory.rst and admin-guide/cgroup-v2.rst.
"""

import errno
import mmap
import os
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from assay.host.processors import bound_to, division
from assay.model.errors import BadInputError
from assay.model.limits import CacheUse

LEAST_BUDGET_BYTES = 32 << 20
"""The least with which a small TeraSort was seen to run. Of 16 MiB the pages in the buffers of sockets took all, and
processes were paused for minutes."""

_INTERVAL_S = 0.025
_FULL_INTERVAL_S = 0.01  # while it is in full use: what processes take until the next step is taken from the cache
_NICENESS = -10  # a step that comes late finds more taken
_SQUEEZE_S = 5.0  # at most, to bring the cache down to its budget before it counts
_NEAR = 0.1  # held means: within 10 % of the budget
_FULL_BYTES = 2 << 20  # so close to the bound the kernel reclaims: its counts per processor are that coarse


class _Files(NamedTuple):
    """The names of a version's files and of the fields of its memory.stat, with all groups below."""

    usage: str
    bound: str
    cached: str
    mapped: str
    shared: str
    no_bound: str


_FILES = {
    1: _Files(
        "memory.usage_in_bytes", "memory.limit_in_bytes", "total_cache", "total_mapped_file", "total_shmem", "-1"
    ),
    2: _Files("memory.current", "memory.high", "file", "file_mapped", "shmem", "max"),
}


class PageCacheBudget:
    """Keeps the unmapped page cache of a group at a budget.

    `version` is that of the control groups' interface, `most_bytes` the bound of all of the group's memory (None: no
    bound). Raises BadInputError when the kernel lacks what is needed.
    """

    def __init__(self, version: int, group: Path, budget_bytes: int, most_bytes: int | None) -> None:
        self._names = _FILES[version]
        self._group = group
        self._budget = budget_bytes
        self._most = most_bytes
        self._last_bound = 0
        self._full = False
        self._outside: list[mmap.mmap] = []
        self._use = CacheUse(budget_bytes=budget_bytes)
        self._pauses = None if version == 2 else False  # whether the kernel pauses processes; None where it never does
        try:
            self._read()
            bound = group / self._names.bound
            bound.write_text(bound.read_text(encoding="utf-8"), encoding="utf-8")
            if self._pauses is not None:
                (group / "memory.oom_control").write_text("0", encoding="utf-8")
        except (OSError, ValueError, KeyError) as error:
            raise BadInputError(
                f"the page cache can't be held at a budget here: {group}: {error}; leave page_cache out"
            ) from error

    def keep_outside(self, files: Iterable[Path]) -> None:
        """Cache files on this process' account, before the group reads them, for as long as this object lives.

        They stay mapped here, so that they also survive when a medium's cache is dropped.
        """
        for file in files:
            with file.open("rb") as opened:
                if os.fstat(opened.fileno()).st_size:
                    self._outside.append(
                        mmap.mmap(opened.fileno(), 0, mmap.MAP_SHARED | mmap.MAP_POPULATE, mmap.PROT_READ)
                    )

    def hold(self) -> None:
        """Bring the cache down to its budget, then follow the group's use in a new thread until the group is gone."""
        ends = time.monotonic() + _SQUEEZE_S
        while self.step(0) > (1 + _NEAR) * self._budget and time.monotonic() < ends:
            time.sleep(_INTERVAL_S)
        self._use = CacheUse(budget_bytes=self._budget)
        threading.Thread(target=self._follow, name="probe-page-cache-budget", daemon=True).start()

    @property
    def use(self) -> CacheUse:
        """The use of the page cache so far."""
        return self._use

    def _read(self) -> tuple[int, int]:
        """Read the bytes that the group uses, and how many of them count against the budget.

        Mapped shared memory is subtracted twice, as the kernel does not count it apart; a cluster has less than 1 MiB.
        """
        usage = int((self._group / self._names.usage).read_text(encoding="utf-8"))
        lines = (line.split() for line in (self._group / "memory.stat").read_text(encoding="utf-8").splitlines())
        stat = {name: int(value) for name, value in lines}
        own_files = stat[self._names.mapped] + stat.get(self._names.shared, 0)
        return usage, max(stat[self._names.cached] - own_files, 0)

    def step(self, seconds: float) -> int:
        """Set the bound by the current use, `seconds` after the last step, and return the cached bytes."""
        usage, cached = self._read()
        wanted_bytes = usage - cached + self._budget
        bound = wanted_bytes if self._most is None else min(wanted_bytes, self._most)
        self._count(seconds, cached, bound, usage, wanted_bytes)
        # At the bound of all memory no more will come: there the kernel must end a process, not pause it.
        if self._pauses is not None and self._pauses != (bound == wanted_bytes):
            self._pauses = bound == wanted_bytes
            (self._group / "memory.oom_control").write_text(str(int(self._pauses)), encoding="utf-8")
        if bound != self._last_bound:
            try:
                (self._group / self._names.bound).write_text(str(bound), encoding="utf-8")
            except OSError as error:
                if error.errno != errno.EBUSY:  # less could be reclaimed than needed; the next step tries again
                    raise
            else:
                self._last_bound = bound
        return cached

    def _count(self, seconds: float, cached: int, bound: int, usage: int, wanted_bytes: int) -> None:
        """Count whether the budget was kept since the last step, where the cache was full enough to tell."""
        use = self._use
        above = cached > (1 + _NEAR) * self._budget
        self._full = above or usage >= self._last_bound - _FULL_BYTES
        unused = max(self._last_bound - usage, 0)
        lacking = self._full and cached + unused < (1 - _NEAR) * self._budget
        self._use = CacheUse(
            budget_bytes=self._budget,
            peak_bytes=max(use.peak_bytes, cached),
            held_s=use.held_s + seconds,
            full_s=use.full_s + seconds * self._full,
            above_s=use.above_s + seconds * above,
            below_s=use.below_s + seconds * lacking,
            squeezed_s=use.squeezed_s + seconds * (bound < wanted_bytes),
            longest_step_s=max(use.longest_step_s or 0.0, seconds),
        )

    def _follow(self) -> None:
        parts = division()
        with suppress(OSError):  # needs root, as control groups mostly do
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
        last = time.monotonic()
        try:
            with bound_to(parts and parts.instruments):
                while True:
                    time.sleep(_FULL_INTERVAL_S if self._full else _INTERVAL_S)
                    now = time.monotonic()
                    self.step(now - last)
                    last = now
        except Exception as error:
            if (self._group / "memory.stat").exists():  # else the group has gone with its cluster
                self._let_go()
                self._use = self._use.model_copy(update={"trouble": f"{type(error).__name__}: {error}"})

    def _let_go(self) -> None:
        """Bound the group as without a budget, so that nothing stays paused."""
        with suppress(OSError):
            bound = self._names.no_bound if self._most is None else str(self._most)
            (self._group / self._names.bound).write_text(bound, encoding="utf-8")
        with suppress(OSError):
            if self._pauses is not None:
                (self._group / "memory.oom_control").write_text("0", encoding="utf-8")
