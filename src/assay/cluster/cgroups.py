"""Where the kernel's control groups are on this machine, in version 1 or 2 of the interface, and where one may be made.

Sources: cgroups(7), and the kernel's admin-guide/cgroup-v1 and admin-guide/cgroup-v2.rst.
"""

from pathlib import Path
from typing import NamedTuple

SELF = Path("/proc/self")
# Version 1 says "no limit" as the largest multiple of a page in 63 bits.
_NO_LIMIT_BYTES = 1 << 62


class Hierarchy(NamedTuple):
    """Where a controller's groups are: the interface's version, where it is mounted, and this process' own group."""

    version: int
    root: Path
    own: Path


def find_hierarchy(controller: str, process: Path = SELF) -> Hierarchy | None:
    """Where the groups of a controller are; None when this machine has none."""
    paths = _own_paths(process)
    unified = None
    for line in (process / "mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        root, mount_point = before.split()[3:5]
        kind, _, options = after.split()[:3]
        mounted = Path(mount_point)
        if kind == "cgroup" and controller in options.split(","):
            return Hierarchy(version=1, root=mounted, own=_below(mounted, root, paths.get(controller, "/")))
        if kind == "cgroup2" and controller in words(mounted / "cgroup.controllers"):
            unified = Hierarchy(version=2, root=mounted, own=_below(mounted, root, paths.get("", "/")))
    return unified


def _own_paths(process: Path) -> dict[str, str]:
    """This process' group by controller (proc(5), cgroup: `4:memory:/path`); version 2 has no controller's name."""
    paths = {}
    for line in (process / "cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        paths.update(dict.fromkeys(controllers.split(","), path))
    return paths


def _below(mounted: Path, root: str, path: str) -> Path:
    """A group's directory; what lies outside of what is mounted here (a container's view) counts as the top."""
    inside = path.removeprefix(root.rstrip("/")) if path.startswith(root) else "/"
    found = mounted / inside.strip("/")
    return found if found.is_dir() else mounted


def possible_parents(controller: str, hierarchy: Hierarchy) -> list[Path]:
    """Where a group may be made, best first: at the top, but inside any limit that holds for this process already.

    In version 2 a group with processes of its own has no groups below it but at the very top: not in our own.
    """
    above = [hierarchy.own, *hierarchy.own.parents]
    above = above[: above.index(hierarchy.root) + 1]
    if hierarchy.version == 2 and len(above) > 1:
        above = above[1:]
    limited = next((at for at, group in enumerate(above) if _is_limited(controller, group)), len(above) - 1)
    return above[limited:]


def _is_limited(controller: str, group: Path) -> bool:
    if controller == "cpu":
        quota = words(group / "cpu.max")[:1] or words(group / "cpu.cfs_quota_us")
        return quota not in ([], ["max"], ["-1"])
    limit = words(group / "memory.max") or words(group / "memory.limit_in_bytes")
    return limit not in ([], ["max"]) and int(limit[0]) < _NO_LIMIT_BYTES


def hand_down(controller: str, parent: Path) -> None:
    """Let groups below have the controller (version 2)."""
    switch = parent / "cgroup.subtree_control"
    if controller not in words(switch):
        switch.write_text(f"+{controller}")


def words(file: Path) -> list[str]:
    """The words of one of the kernel's small files; none when it is not there."""
    try:
        return file.read_text().split()
    except OSError:
        return []
