"""Control groups: the one that a process is in, and what it counts.

Sources: cgroups(7), the kernel's admin-guide/cgroup-v1/cpuacct.rst and memory.rst, and admin-guide/cgroup-v2.rst.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from assay.host.mounts import Mount, parse_mounts
from assay.model.node import NodeFiles

PROC = Path("/proc")


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
