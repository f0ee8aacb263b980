"""Control groups: which groups a process is in, what a group counts, and which limits it sets this process.

Sources: cgroups(7), the kernel's admin-guide/cgroup-v1/cpuacct.rst and memory.rst, and admin-guide/cgroup-v2.rst.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from assay.host.mounts import Mount, parse_mounts
from assay.model.node import NodeFiles

PROC = Path("/proc")
SELF = PROC / "self"
NO_LIMIT_BYTES = 1 << 62
"""From here on: version 1 says "no limit" as the largest multiple of a page in 63 bits."""


class ControlGroup(NamedTuple):
    """A group's directory, and the version of the interface there."""

    version: int
    directory: Path


def group_of(node: NodeFiles, pid: int, controller: str) -> ControlGroup | None:
    """Return a process' group for a controller; None where it is this process' group too, or can't be seen.

    A group of version 2 counts processor time whether or not the controller is handed down to it; memory only if it is.
    """
    with suppress(OSError, ValueError):
        for name, group in _entered(node, pid):
            if name in {controller, ""}:
                node.names(group.directory)
                return group
    return None


def entered_groups(node: NodeFiles, pid: int) -> list[ControlGroup]:
    """List the groups, of all hierarchies, that a process is in and this process is not; version 1 comes first."""
    groups: list[ControlGroup] = []
    with suppress(OSError, ValueError):
        groups.extend(group for _, group in _entered(node, pid))
    return groups


def _entered(node: NodeFiles, pid: int) -> Iterator[tuple[str, ControlGroup]]:
    """The same with the controller of each, which is '' in version 2."""
    theirs, ours = (group_paths(node.read(PROC / process / "cgroup")) for process in (str(pid), "self"))
    for mount in group_mounts(node.read(PROC / "self" / "mountinfo")):
        version, root = (1 if mount.file_system == "cgroup" else 2), mount.root.rstrip("/")
        for name in mount.options.split(",") if version == 1 else [""]:
            path = theirs.get(name)
            if path is not None and path != ours.get(name) and path.startswith(root):
                yield name, ControlGroup(version, Path(mount.point) / path.removeprefix(root).strip("/"))


def busy_s(node: NodeFiles, group: ControlGroup) -> float | None:
    """Return the seconds of processor time of all processes that were ever in the group; None where it has no count."""
    with suppress(OSError, ValueError):
        if group.version == 1:
            return int(node.read(group.directory / "cpuacct.usage")) / 1e9
        usage = flat(node.read(group.directory / "cpu.stat")).get("usage_usec")
        return None if usage is None else usage / 1e6
    return None


def flat(text: str) -> Mapping[str, int]:
    """Parse lines of the form `name number`."""
    fields = text.split()
    return {name: int(value) for name, value in zip(fields[::2], fields[1::2], strict=False)}


def group_paths(cgroup: str) -> dict[str, str]:
    """Return a process' group for each controller (proc(5), cgroup: `4:memory:/path`); version 2 has the name ''."""
    paths = {}
    for line in cgroup.splitlines():
        _, controllers, path = line.split(":", 2)
        paths.update(dict.fromkeys(controllers.split(","), path))
    return paths


def group_mounts(mountinfo: str) -> list[Mount]:
    """Return the mounts of control groups, version 1 first."""
    mounts = [mount for mount in parse_mounts(mountinfo) if mount.file_system in {"cgroup", "cgroup2"}]
    return sorted(mounts, key=lambda mount: mount.file_system)


def groups_seen(process: Path) -> tuple[dict[str, str], list[Mount]]:
    """Return a process' group for each controller, and the mounts of groups; both may be empty."""
    try:
        cgroup, mountinfo = (
            (process / name).read_text(encoding="utf-8", errors="surrogateescape") for name in ("cgroup", "mountinfo")
        )
    except OSError:  # no control groups in this kernel, or a sandbox that shows none
        return {}, []
    return group_paths(cgroup), group_mounts(mountinfo)


class Hierarchy(NamedTuple):
    """A controller's groups: the interface's version, where it is mounted, and this process' group."""

    version: int
    root: Path
    own_group: Path

    def groups(self) -> list[Path]:
        """Return this process' group and its parents, up to the top of what is mounted here."""
        above = [self.own_group, *self.own_group.parents]
        return above[: above.index(self.root) + 1]


def find_hierarchy(controller: str, process: Path = SELF) -> Hierarchy | None:
    """Find the groups of a controller; None where this machine has none."""
    paths, mounted_groups = groups_seen(process)
    for mount in mounted_groups:
        mounted = Path(mount.point)
        if mount.file_system == "cgroup" and controller in mount.options.split(","):
            return Hierarchy(
                version=1, root=mounted, own_group=group_below(mounted, mount.root, paths.get(controller, "/"))
            )
        if mount.file_system == "cgroup2" and controller in words(mounted / "cgroup.controllers"):
            return Hierarchy(version=2, root=mounted, own_group=group_below(mounted, mount.root, paths.get("", "/")))
    return None


def group_below(mounted: Path, root: str, path: str) -> Path:
    """Return a group's directory; a group outside of what is mounted here (in a container) counts as the top."""
    inside = path.removeprefix(root.rstrip("/")) if path.startswith(root) else "/"
    directory = mounted / inside.strip("/")
    return directory if directory.is_dir() else mounted


def words(file: Path) -> list[str]:
    """Return the words of one of the kernel's small files; none where the file does not exist."""
    try:
        return file.read_text(encoding="utf-8").split()
    except OSError:
        return []


def memory_limit_bytes(process: Path = SELF) -> int | None:
    """Return the memory limit of this process and its children, page cache included; None where nothing bounds it.

    It is the least limit of its group and of the group's parents. In version 1 the group also reports parents that
    can't be seen here, as in a container.
    """
    return min((limit for _, limit in _memory_limits(process)), default=None)


def memory_left_bytes(process: Path = SELF) -> int | None:
    """Return the memory that such limits leave now, counting page cache as free; None where nothing bounds it."""
    return min((max(0, limit - _used_bytes(group)) for group, limit in _memory_limits(process)), default=None)


def processor_quota(process: Path = SELF) -> float | None:
    """Return how many processors' time this process and its children may use; None where nothing bounds it."""
    hierarchy = find_hierarchy("cpu", process)
    quotas = []
    for group in hierarchy.groups() if hierarchy is not None else ():
        quota = words(group / "cpu.max") or [*words(group / "cpu.cfs_quota_us"), *words(group / "cpu.cfs_period_us")]
        if len(quota) == 2 and quota[0] not in {"max", "-1"}:
            quotas.append(int(quota[0]) / int(quota[1]))
    return min(quotas, default=None)


def _memory_limits(process: Path) -> list[tuple[Path, int]]:
    """List this process' group and its parents, as far as they have a limit, each with its limit."""
    hierarchy = find_hierarchy("memory", process)
    limits_by_group = []
    for group in hierarchy.groups() if hierarchy is not None else ():
        limits = [*words(group / "memory.max"), *words(group / "memory.high"), *words(group / "memory.limit_in_bytes")]
        known = [int(limit) for limit in limits if limit != "max"]
        if (around := _stat(group).get("hierarchical_memory_limit")) is not None:
            known.append(around)
        if known and min(known) < NO_LIMIT_BYTES:
            limits_by_group.append((group, min(known)))
    return limits_by_group


def _used_bytes(group: Path) -> int:
    """Return a group's memory without the page cache of files, which gives way to programs; that of tmpfs does not."""
    used = words(group / "memory.current") or words(group / "memory.usage_in_bytes")
    stat = _stat(group)
    files = ("inactive_file", "active_file")
    cache = sum(stat.get(f"total_{name}", stat.get(name, 0)) for name in files)  # `total_`: version 1, groups below too
    return max(0, int(used[0]) - cache) if used else 0


def _stat(group: Path) -> Mapping[str, int]:
    return flat(" ".join(words(group / "memory.stat")))
