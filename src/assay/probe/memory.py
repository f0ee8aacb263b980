"""Memory of the machine, and of the cluster where a control group bounds it: page cache, dirty pages, what is left.

Sources: /proc/meminfo and /proc/vmstat (proc(5)), memory.stat of the cluster's control group (admin-guide/cgroup-v1
and cgroup-v2). The page cache is of files on disks: without shared memory and tmpfs, which are apart.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from assay.host.control_groups import flat, group_of
from assay.model.doubt import Doubt, doubt_kind
from assay.model.node import NodeFiles, OpenFile
from assay.model.probe import (
    CONTAINERS,
    Chart,
    ChartPanel,
    ChartSeries,
    Moment,
    ProbeContext,
    ProbeKind,
    Quantity,
    Scene,
    Values,
)
from assay.model.quantity import Kind
from assay.model.registry import PROBES

MIB = 1 << 20
MEMINFO, VMSTAT = Path("/proc/meminfo"), Path("/proc/vmstat")
# memory.stat's names by version, in bytes; in version 1 with all groups below (`total_`), as version 2 always has it.
_GROUP_FIELDS = {
    1: {"page_cache": "total_cache", "shared": "total_shmem", "anonymous": "total_rss", "dirty": "total_dirty",
        "writeback": "total_writeback"},
    2: {"page_cache": "file", "shared": "shmem", "anonymous": "anon", "dirty": "file_dirty",
        "writeback": "file_writeback"},
}  # fmt: skip
_EVENTS = {"pgmajfault": "major_faults", "pswpin": "swapped_in_pages", "pswpout": "swapped_out_pages"}
_PEAKS = ("page_cache", "dirty", "writeback", "anonymous", "shared")


class MemoryProbe:
    """The machine's memory, and the cluster's."""

    name = "memory"

    def __init__(self, node: NodeFiles, *, sees_machine: bool = True) -> None:
        """`sees_machine` adds the machine's memory to that of the node's group."""
        self._sees_machine = sees_machine
        self._node = node
        self._meminfo: OpenFile | None = None
        self._group_stat: OpenFile | None = None
        self._version = 0
        self._peaks: dict[tuple[str, str], float] = {}
        self._least_available = float("inf")
        self._doubts: list[Doubt] = []

    def attach(self, scene: Scene) -> None:
        self._meminfo = self._node.open(MEMINFO)
        machine_bytes(self._meminfo.read())
        groups = (
            group_of(self._node, process.pid, "memory") for process in scene.processes if process.children == CONTAINERS
        )
        group = next(filter(None, groups), None)
        if group is not None:
            try:
                self._group_stat = self._node.open(group.directory / "memory.stat")
                self._version = group.version
            except OSError as error:
                problem = f"the cluster's control group does not show its memory: {error}"
                self._doubts.append(CLUSTER_MEMORY_UNTOLD.doubt(problem))

    def sample(self, _now: Moment) -> Values:
        assert self._meminfo is not None  # noqa: S101 - for the type checker: begun before it is ticked
        machine = machine_bytes(self._meminfo.read())
        if self._sees_machine:
            self._least_available = min(self._least_available, machine["available"])
        values: dict[tuple[str, str], float] = {}
        machine_values = machine if self._sees_machine else {}
        for subject, of, sizes in (("machine", "", machine_values), ("cluster", "cluster", self._cluster())):
            for name, count in sizes.items():
                values[of, f"{name}_mib"] = float(round(count / MIB, 1))
                if name in _PEAKS:
                    self._peaks[subject, name] = max(self._peaks.get((subject, name), 0), count)
        return values

    def totals(self) -> Mapping[Quantity, float]:
        """Peaks in the part that ends, and how often memory had to be read back from a disk."""
        quantities = {
            Quantity(subject, f"{name}_peak_bytes", level=True): count for (subject, name), count in self._peaks.items()
        }
        if self._least_available != float("inf"):
            quantities[Quantity("machine", "available_least_bytes", level=True)] = self._least_available
        self._peaks, self._least_available = {}, float("inf")
        if not self._sees_machine:
            return quantities
        with suppress(OSError, ValueError):
            events = flat(self._node.read(VMSTAT))
            quantities |= {
                Quantity("machine", f"{ours}_count"): events[name] for name, ours in _EVENTS.items() if name in events
            }
        return quantities

    def doubts(self) -> tuple[Doubt, ...]:
        return tuple(self._doubts)

    def close(self) -> None:
        for file in (self._meminfo, self._group_stat):
            if file is not None:
                file.close()

    def _cluster(self) -> dict[str, int]:
        """The group's figures; nothing where it has none, or has gone."""
        if self._group_stat is None:
            return {}
        try:
            return group_bytes(self._group_stat.read(), self._version)
        except (OSError, ValueError) as error:
            self._group_stat.close()
            self._group_stat = None
            problem = f"the cluster's control group no longer shows its memory: {error}"
            self._doubts.append(CLUSTER_MEMORY_LOST.doubt(problem))
            return {}


def machine_bytes(meminfo: str) -> dict[str, int]:
    """Bytes by what they are used for. Raises ValueError when /proc/meminfo lacks a line."""
    lines = (line.split() for line in meminfo.splitlines())
    kib = {fields[0]: int(fields[1]) for fields in lines if len(fields) >= 2}
    try:
        return {
            "available": kib["MemAvailable:"] * 1024,
            "page_cache": (kib["Cached:"] + kib["Buffers:"] - kib["Shmem:"]) * 1024,
            "shared": kib["Shmem:"] * 1024,
            "anonymous": kib["AnonPages:"] * 1024,
            "dirty": kib["Dirty:"] * 1024,
            "writeback": kib["Writeback:"] * 1024,
        }
    except KeyError as error:
        raise ValueError(f"/proc/meminfo has no line {error}") from None


def group_bytes(stat: str, version: int) -> dict[str, int]:
    """Bytes by what they are used for in a control group; what its kernel does not tell is left out."""
    fields = flat(stat)
    sizes = {ours: fields[name] for ours, name in _GROUP_FIELDS[version].items() if name in fields}
    if "page_cache" in sizes:
        sizes["page_cache"] -= sizes.get("shared", 0)
    return sizes


CLUSTER_MEMORY_UNTOLD = doubt_kind(
    "cluster-memory-untold", "cluster", instrument="memory",
    when="the cluster's control group does not show its memory",
    why="the cluster's page cache and dirty pages can't be separated from the machine's",
    cure="delegate the memory controller to that group (cgroup.subtree_control)",
)  # fmt: skip
CLUSTER_MEMORY_LOST = doubt_kind(
    "cluster-memory-lost", "cluster", instrument="memory",
    when="the cluster's control group stopped showing its memory",
    why="the cluster's page cache and dirty pages are known only until then",
    cure="don't touch the control groups named assay-... while a trial runs",
)  # fmt: skip

_CACHE = ChartSeries("page_cache_mib", "page cache", "sky", subject="cluster")
CACHE_CHART = Chart("page cache", (ChartPanel("page cache of the cluster, MiB", "MiB", "level", (_CACHE,)),))


def _memory(context: ProbeContext) -> MemoryProbe:
    return MemoryProbe(context.node, sees_machine=context.sees_machine)


SERIES = {
    **{f"{name}_mib": Kind.LEVEL for name in ("available", *_PEAKS)},
    **{f"{name}_peak_bytes": Kind.LEVEL for name in _PEAKS},
    "available_least_bytes": Kind.LEVEL,
    **{f"{name}_count": Kind.COUNT for name in _EVENTS.values()},
}
PROBES.add("memory", ProbeKind(_memory, (CACHE_CHART,), of_nodes=True, of_files=MemoryProbe, series=SERIES), place=4)
