"""Control groups: the one that a process is in, what it counts, and what it leaves this process.

Sources: cgroups(7), the kernel's admin-guide/cgroup-v1/cpuacct.rst and memory.rst, and admin-guide/cgroup-v2.rst.
"""

from collections.abc import Mapping
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
    """The group that a process is in, for a controller; None when it is this process' own too, or can't be seen.

    A group of version 2 counts processor time whether or not the controller is handed down to it; memory only if it is.
    """
    with suppress(OSError, ValueError):
        theirs, ours = (group_paths(node.read(PROC / process / "cgroup")) for process in (str(pid), "self"))
        for mount in group_mounts(node.read(PROC / "self" / "mountinfo")):
            name = controller if mount.file_system == "cgroup" else ""
            if name and name not in mount.options.split(","):
                continue
            path, root = theirs.get(name), mount.root.rstrip("/")
            if path is None or path == ours.get(name) or not path.startswith(root):
                continue
            directory = Path(mount.point) / path.removeprefix(root).strip("/")
            node.names(directory)
            return ControlGroup(1 if name else 2, directory)
    return None


def entered_groups(node: NodeFiles, pid: int) -> list[ControlGroup]:
    """All groups that a process is in and this one is not, of whatever hierarchy, version 1 first."""
    found = []
    with suppress(OSError, ValueError):
        theirs, ours = (group_paths(node.read(PROC / process / "cgroup")) for process in (str(pid), "self"))
        for mount in group_mounts(node.read(PROC / "self" / "mountinfo")):
            version, root = (1 if mount.file_system == "cgroup" else 2), mount.root.rstrip("/")
            for name in mount.options.split(",") if version == 1 else [""]:
                path = theirs.get(name)
                if path is not None and path != ours.get(name) and path.startswith(root):
                    found.append(ControlGroup(version, Path(mount.point) / path.removeprefix(root).strip("/")))
    return found


def busy_s(node: NodeFiles, group: ControlGroup) -> float | None:
    """Seconds of processor time of all that was ever in the group; None when it does not tell."""
    with suppress(OSError, ValueError):
        if group.version == 1:
            return int(node.read(group.directory / "cpuacct.usage")) / 1e9
        usage = flat(node.read(group.directory / "cpu.stat")).get("usage_usec")
        return None if usage is None else usage / 1e6
    return None


def flat(text: str) -> Mapping[str, int]:
    """Lines of `name number`."""
    words = text.split()
    return {name: int(value) for name, value in zip(words[::2], words[1::2], strict=False)}


def group_paths(cgroup: str) -> dict[str, str]:
    """A process' group by controller (proc(5), cgroup: `4:memory:/path`); version 2 has no controller's name."""
    paths = {}
    for line in cgroup.splitlines():
        _, controllers, path = line.split(":", 2)
        paths.update(dict.fromkeys(controllers.split(","), path))
    return paths


def group_mounts(mountinfo: str) -> list[Mount]:
    """Where groups are mounted, version 1 first."""
    found = [mount for mount in parse_mounts(mountinfo) if mount.file_system in {"cgroup", "cgroup2"}]
    return sorted(found, key=lambda mount: mount.file_system)


def groups_seen(process: Path = SELF) -> tuple[dict[str, str], list[Mount]]:
    """A process' group by controller, and where groups are mounted; nothing of either where the kernel has none."""
    try:
        cgroup, mountinfo = (
            (process / name).read_text(encoding="utf-8", errors="surrogateescape") for name in ("cgroup", "mountinfo")
        )
    except OSError:  # no control groups in this kernel, or a sandbox that shows none
        return {}, []
    return group_paths(cgroup), group_mounts(mountinfo)


class Hierarchy(NamedTuple):
    """Where a controller's groups are: the interface's version, where it is mounted, and this process' own group."""

    version: int
    root: Path
    own: Path

    def groups(self) -> list[Path]:
        """This process' own group and those around it, up to the top of what is seen here."""
        above = [self.own, *self.own.parents]
        return above[: above.index(self.root) + 1]


def find_hierarchy(controller: str, process: Path = SELF) -> Hierarchy | None:
    """Where the groups of a controller are; None when this machine has none."""
    paths, mounted_groups = groups_seen(process)
    for mount in mounted_groups:
        mounted = Path(mount.point)
        if mount.file_system == "cgroup" and controller in mount.options.split(","):
            return Hierarchy(version=1, root=mounted, own=group_below(mounted, mount.root, paths.get(controller, "/")))
        if mount.file_system == "cgroup2" and controller in words(mounted / "cgroup.controllers"):
            return Hierarchy(version=2, root=mounted, own=group_below(mounted, mount.root, paths.get("", "/")))
    return None


def group_below(mounted: Path, root: str, path: str) -> Path:
    """A group's directory; what lies outside of what is mounted here (a container's view) counts as the top."""
    inside = path.removeprefix(root.rstrip("/")) if path.startswith(root) else "/"
    directory = mounted / inside.strip("/")
    return directory if directory.is_dir() else mounted


def words(file: Path) -> list[str]:
    """The words of one of the kernel's small files; none when it is not there."""
    try:
        return file.read_text(encoding="utf-8").split()
    except OSError:
        return []


def memory_limit_bytes(process: Path = SELF) -> int | None:
    """What this process and all that it starts may have of memory, page cache included; None where nothing bounds it.

    The least limit of its own group and of those around it. In version 1 the own group also tells of those that are
    not seen here, as in a container.
    """
    return min((limit for _, limit in _memory_limits(process)), default=None)


def memory_left_bytes(process: Path = SELF) -> int | None:
    """What such limits leave now, the page cache counted as free; None where nothing bounds it."""
    return min((max(0, limit - _used_bytes(group)) for group, limit in _memory_limits(process)), default=None)


def processor_quota(process: Path = SELF) -> float | None:
    """Of how many processors this process and all that it starts may use the time; None where nothing bounds it."""
    hierarchy = find_hierarchy("cpu", process)
    found = []
    for group in hierarchy.groups() if hierarchy is not None else ():
        quota = words(group / "cpu.max") or [*words(group / "cpu.cfs_quota_us"), *words(group / "cpu.cfs_period_us")]
        if len(quota) == 2 and quota[0] not in {"max", "-1"}:
            found.append(int(quota[0]) / int(quota[1]))
    return min(found, default=None)


def _memory_limits(process: Path) -> list[tuple[Path, int]]:
    """Groups around this process with the limit of each that has one."""
    hierarchy = find_hierarchy("memory", process)
    found = []
    for group in hierarchy.groups() if hierarchy is not None else ():
        limits = [*words(group / "memory.max"), *words(group / "memory.high"), *words(group / "memory.limit_in_bytes")]
        known = [int(limit) for limit in limits if limit != "max"]
        if (around := _stat(group).get("hierarchical_memory_limit")) is not None:
            known.append(around)
        if known and min(known) < NO_LIMIT_BYTES:
            found.append((group, min(known)))
    return found


def _used_bytes(group: Path) -> int:
    """Without the page cache of files, which gives way to programs; that of tmpfs does not."""
    used = words(group / "memory.current") or words(group / "memory.usage_in_bytes")
    stat = _stat(group)
    files = ("inactive_file", "active_file")
    cache = sum(stat.get(f"total_{name}", stat.get(name, 0)) for name in files)  # `total_`: version 1, groups below too
    return max(0, int(used[0]) - cache) if used else 0


def _stat(group: Path) -> Mapping[str, int]:
    return flat(" ".join(words(group / "memory.stat")))
