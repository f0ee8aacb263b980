"""Bounds on the memory and the cores of a whole cluster, page cache included, through the kernel's control groups.

A group is made in version 1 or version 2 of the kernel's interface, whichever has the controller on this machine, under
a name that carries the lease's id. Processes enter it before they become a daemon, so that whatever they start and
every page they read or write counts from the first. Clients of the cluster and Assay itself stay outside, as on a
machine of their own.

Sources: cgroups(7), the kernel's admin-guide/cgroup-v1/memory.rst, scheduler/sched-bwc.rst, admin-guide/cgroup-v2.rst.
"""

from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path

from assay.host.control_groups import NO_LIMIT_BYTES, SELF, Hierarchy, find_hierarchy, words
from assay.host.files import whole_number_in
from assay.host.lease import Lease
from assay.host.machine import machine_bytes, usable_processors
from assay.model.cluster import EmbeddedSpec
from assay.model.errors import AssayError, BadInputError
from assay.model.limits import LimitUse
from assay.model.naming import bytes_text
from assay.model.trial import memory_level
from assay.platform.dilation import slowed
from assay.platform.page_cache_budget import LEAST_BUDGET_BYTES, PageCacheBudget


def possible_parents(controller: str, hierarchy: Hierarchy) -> list[Path]:
    """List where a group may be made, best first: at the top, but within any limit that holds for this process already.

    In version 2 a group with processes of its own has no groups below it but at the very top: not in our own.
    """
    above = hierarchy.groups()
    if hierarchy.version == 2 and len(above) > 1:
        above = above[1:]
    limited = next((at for at, group in enumerate(above) if _is_limited(controller, group)), len(above) - 1)
    return above[limited:]


def _is_limited(controller: str, group: Path) -> bool:
    if controller == "cpu":
        quota = words(group / "cpu.max")[:1] or words(group / "cpu.cfs_quota_us")
        return quota not in ([], ["max"], ["-1"])
    limit = words(group / "memory.max") or words(group / "memory.limit_in_bytes")
    return limit not in ([], ["max"]) and int(limit[0]) < NO_LIMIT_BYTES


_PERIOD_US = 100_000
_LEAST_CPUS = 0.01  # the kernel takes no quota below a millisecond
_BURST_US = 10_000
"""Of processor time that a scale model's node may take at once, whatever the dilation is. The shorter a node's turns
are, the more of them it spends on filling the processor's caches again: equal work would take more processor time."""
_LONGEST_PERIOD_US = 1_000_000
_LEAVE_OUT = {"memory": "leave the memory limit out", "cpu": "leave the cpus limit out"}
# The shell enters and then becomes the command: same process id, and no Python code between fork and exec.
_ENTER = (
    "/bin/sh", "-c", 'until [ "$1" = -- ]; do echo 0 >"$1" || exit 97; shift; done; shift; exec "$@"', "assay-limits",
)  # fmt: skip


class Limits:
    """A cluster's control groups. They go with the lease, once all their processes are gone."""

    def __init__(
        self,
        memory_bytes: int | None,
        cpus: float | None,
        groups: Mapping[str, tuple[int, Path]],
        page_cache: PageCacheBudget | None = None,
        *,
        later: bool = False,
    ) -> None:
        """`groups` has the interface's version and the directory for each of `memory` and `cpu` that is bounded.

        With `later` the processors are bounded from `hold_processors` on, in periods of `short_period_us`.
        """
        self._memory_bytes = memory_bytes
        self._cpus = cpus
        self._groups = groups
        self.accounting: Sequence[Path] = ()
        """Groups that bound nothing, and are entered too."""
        self.page_cache = page_cache
        self._later = later

    def hold_processors(self) -> None:
        """Bound the processors of a scale model's node now that its daemons have started."""
        if self._later and self._cpus is not None:
            _bound("cpu", *self._groups["cpu"], self._cpus, short_period_us(self._cpus))

    def entering_processors(self, command: Sequence[str]) -> list[str]:
        """The command line of a client, which shares a scale model's processors with the node's daemons."""
        doors = [str(self._groups["cpu"][1] / "cgroup.procs")] if self._later else []
        return [*_ENTER, *doors, "--", *command] if doors else list(command)

    @property
    def any(self) -> bool:
        """Whether anything is bounded."""
        return bool(self._groups)

    def entering(self, command: Sequence[str]) -> list[str]:
        """The command line of a process that is inside from its start."""
        groups = (*(group for _, group in self._groups.values()), *self.accounting)
        doors = dict.fromkeys(str(group / "cgroup.procs") for group in groups)
        return [*_ENTER, *doors, "--", *command] if doors else list(command)

    def use(self) -> LimitUse:
        """What was used of the bounds so far; what this kernel does not tell is None."""
        peak, hits, kills, throttled_s = None, None, 0, None
        if "memory" in self._groups:
            version, group = self._groups["memory"]
            events = _flat(group / ("memory.oom_control" if version == 1 else "memory.events"))
            kills = events.get("oom_kill", 0)
            peak = whole_number_in(group / ("memory.max_usage_in_bytes" if version == 1 else "memory.peak"))
            hits = whole_number_in(group / "memory.failcnt") if version == 1 else events.get("max")
        if "cpu" in self._groups:
            version, group = self._groups["cpu"]
            name, per_s = ("throttled_time", 1e9) if version == 1 else ("throttled_usec", 1e6)
            throttled = _flat(group / "cpu.stat").get(name)
            throttled_s = None if throttled is None else throttled / per_s
        return LimitUse(
            interface=" and ".join(sorted({f"version {version}" for version, _ in self._groups.values()})) or None,
            memory_limit_bytes=self._memory_bytes, memory_peak_bytes=peak, memory_limit_hits=hits,
            out_of_memory_kills=kills, page_cache=self.page_cache and self.page_cache.use, cpus=self._cpus,
            throttled_s=throttled_s,
        )  # fmt: skip

    def failure(self) -> str | None:
        """Say in a sentence that the kernel ended a process because the memory was used up; None where it did not."""
        kills = self.use().out_of_memory_kills
        if not kills or self._memory_bytes is None:
            return None
        return (
            f"the cluster needed more than its memory limit of {bytes_text(self._memory_bytes)}, and the kernel ended "
            f"{kills} of its processes; give it more memory, or its jobs fewer or smaller containers"
        )


def used_together(uses: Sequence[LimitUse]) -> LimitUse | None:
    """What several nodes of equal bounds used: the highest peak, everything else added up; None for no node.

    The page cache's is that of the node where it was off its budget for longest.
    """
    if not uses:
        return None
    known = {
        name: [value for use in uses if (value := getattr(use, name)) is not None]
        for name in ("memory_peak_bytes", "memory_limit_hits", "throttled_s", "page_cache")
    }
    return uses[0].model_copy(
        update={
            "memory_peak_bytes": max(known["memory_peak_bytes"], default=None),
            "memory_limit_hits": sum(known["memory_limit_hits"]) if known["memory_limit_hits"] else None,
            "throttled_s": sum(known["throttled_s"]) if known["throttled_s"] else None,
            "out_of_memory_kills": sum(use.out_of_memory_kills for use in uses),
            "page_cache": max(known["page_cache"], key=lambda cache: cache.above_s + cache.below_s, default=None),
        }
    )


def make_limits(
    memory_bytes: int | None,
    cpus: float | None,
    lease: Lease,
    process: Path = SELF,
    page_cache_bytes: int | None = None,
    node: str = "",
    *,
    later: bool = False,
) -> Limits:
    """Make the groups of a node under a lease; without a bound there are none, and nothing is entered.

    Raises BadInputError when this machine or this user can't have them, and says what to do. `process` is this
    process' directory in /proc.
    """
    groups: dict[str, tuple[int, Path]] = {}
    # Whatever follows the page cache's budget starts from a bound that has no effect.
    memory_bound = machine_bytes() if memory_bytes is None and page_cache_bytes is not None else memory_bytes
    for controller, amount in (("memory", memory_bound), ("cpu", cpus)):
        if amount is not None:
            groups[controller] = _make(controller, lease, process, f"assay-{lease.id}{node and f'-{node}'}")
            if controller == "memory" or not later:
                _bound(controller, *groups[controller], amount)
    page_cache = None
    if page_cache_bytes is not None:
        page_cache = PageCacheBudget(*groups["memory"], page_cache_bytes, memory_bytes)
    return Limits(memory_bytes, cpus, groups, page_cache, later=later)


def short_period_us(cpus: float) -> int:
    """Return the period in which so many `cpus` are one burst: 10 ms of model time for one core, at most a second."""
    return min(_LONGEST_PERIOD_US, max(_BURST_US, ceil(_BURST_US / cpus)))


def check_limits(spec: EmbeddedSpec, state: Path) -> None:
    """Raises BadInputError when a cluster can't be bounded as asked on this machine: tried, and undone at once."""
    with Lease(state, "limits") as lease:
        limits_of(spec, lease).hold_processors()


def limits_of(spec: EmbeddedSpec, lease: Lease, node: str = "") -> Limits:
    """The limits of a cluster's node. Raises BadInputError when they are beyond the machine or can't be had.

    Of a scale model's node, whose dilation is a number here, the processors are bounded when it says so.
    """
    memory_bytes, cpus = spec.limit_memory_bytes, spec.limit_cpus
    if cpus is not None:
        cpus /= slowed(spec)
    there_bytes = machine_bytes()
    if memory_bytes is not None and memory_bytes > there_bytes:
        raise BadInputError(
            f"a memory limit of {memory_level(memory_bytes)} has no effect: this machine has "
            f"{bytes_text(there_bytes)}; ask for less, or leave the limit out",
            "memory",
        )
    cores = usable_processors()
    if cpus is not None and not _LEAST_CPUS <= cpus <= cores:
        raise BadInputError(f"a limit of {cpus:g} cpus is not possible: choose {_LEAST_CPUS} to {cores:g} here", "cpus")
    if spec.page_cache_bytes is not None and spec.page_cache_bytes < LEAST_BUDGET_BYTES:
        raise BadInputError(
            f"a page cache of {memory_level(spec.page_cache_bytes)} is too small for a cluster's jobs: give at least "
            f"{bytes_text(LEAST_BUDGET_BYTES)}",
            "page_cache",
        )
    most_bytes = there_bytes if memory_bytes is None else memory_bytes
    if spec.page_cache_bytes is not None and spec.page_cache_bytes >= most_bytes:
        bound = "this machine's memory" if memory_bytes is None else "`memory`, which bounds the page cache too"
        raise BadInputError(
            f"a page cache of {memory_level(spec.page_cache_bytes)} does not fit into {bytes_text(most_bytes)}, "
            f"{bound}; ask for less, or leave page_cache out",
            "page_cache",
        )
    return make_limits(
        memory_bytes, cpus, lease, page_cache_bytes=spec.page_cache_bytes, node=node, later=spec.dilation is not None
    )


def _make(controller: str, lease: Lease, process: Path, name: str) -> tuple[int, Path]:
    hierarchy = find_hierarchy(controller, process)
    if hierarchy is None:
        raise BadInputError(
            f"this machine has no control groups for {controller} (looked at mounts of cgroup and cgroup2); mount them,"
            f" or {_LEAVE_OUT[controller]}"
        )
    reason = ""
    # A process is in one group of version 2 only: the second controller joins the first.
    node_groups = [group for group in lease.groups if group.name == name]
    joined = [group.parent for group in node_groups if hierarchy.version == 2 and hierarchy.root in group.parents]
    for parent in joined or possible_parents(controller, hierarchy):
        group = parent / name
        try:
            switch = parent / "cgroup.subtree_control"
            if hierarchy.version == 2 and controller not in words(switch):
                switch.write_text(f"+{controller}", encoding="utf-8")  # groups below have the controller then
            if group not in lease.groups:
                lease.make_group(group)
        except OSError as error:
            reason = f"{parent}: {error.strerror or error}"
        else:
            return hierarchy.version, group
    raise BadInputError(
        f"the {controller} of a cluster can't be bounded here: no control group can be made ({reason}); run as root on "
        f"a machine (or in a container) that lets you make control groups, or {_LEAVE_OUT[controller]}"
    )


def _bound(controller: str, version: int, group: Path, amount: float, period_us: int = _PERIOD_US) -> None:
    """Page cache counts; swap is not used, or a bound would only move the work to the swap's disk.

    Within a group of version 1 no swappiness means never; an equal bound on memory and swap together would hide how
    often this one is met.
    """
    quota_us = round(amount * period_us)
    by_version: Mapping[tuple[str, int], Mapping[str, object]] = {
        ("memory", 1): {"memory.limit_in_bytes": amount, "memory.swappiness": 0},
        ("memory", 2): {"memory.max": amount, "memory.swap.max": 0},
        ("cpu", 1): {"cpu.cfs_period_us": period_us, "cpu.cfs_quota_us": quota_us},
        ("cpu", 2): {"cpu.max": f"{quota_us} {period_us}"},
    }
    for name, value in by_version[controller, version].items():
        file = group / name
        try:
            if name != "memory.swap.max" or file.exists():
                file.write_text(str(value), encoding="utf-8")
        except OSError as error:
            raise AssayError(f"the kernel did not take {value} in {file}: {error.strerror or error}") from error


def _flat(file: Path) -> dict[str, int]:
    """A file of lines `name number`."""
    fields = words(file)
    return {name: int(value) for name, value in zip(fields[::2], fields[1::2], strict=False)}
