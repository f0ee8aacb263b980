"""The control group that holds a whole cluster, where it has one of its own, and what the kernel counts for it.

Sources: the kernel's admin-guide/cgroup-v1/cpuacct.rst and memory.rst, and admin-guide/cgroup-v2.rst.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from assay.probe.process_stat import PROC


class ControlGroup(NamedTuple):
    """A group's directory, and the version of the interface there."""

    version: int
    directory: Path


def group_of(pid: int, controller: str, proc: Path = PROC) -> ControlGroup | None:
    """The group that a process is in, for a controller; None when it is this process' own too, or can't be seen.

    A group of version 2 counts processor time whether or not the controller is handed down to it; memory only if it is.
    """
    with suppress(OSError, ValueError):
        theirs, ours = _paths(proc / str(pid)), _paths(proc / "self")
        for mounted, kind, options, root in _mounts(proc / "self"):
            name = controller if kind == "cgroup" else ""
            if kind == "cgroup" and controller not in options:
                continue
            path = theirs.get(name)
            if path is None or path == ours.get(name) or not path.startswith(root):
                continue
            directory = mounted / path.removeprefix(root).strip("/")
            if directory.is_dir():
                return ControlGroup(1 if kind == "cgroup" else 2, directory)
    return None


def busy_s(group: ControlGroup) -> float | None:
    """Seconds of processor time of all that was ever in the group; None when it does not tell."""
    with suppress(OSError, ValueError):
        if group.version == 1:
            return int((group.directory / "cpuacct.usage").read_text()) / 1e9
        usage = flat((group.directory / "cpu.stat").read_text()).get("usage_usec")
        return None if usage is None else usage / 1e6
    return None


def flat(text: str) -> Mapping[str, int]:
    """Lines of `name number`."""
    words = text.split()
    return {name: int(value) for name, value in zip(words[::2], words[1::2], strict=False)}


def _paths(process: Path) -> dict[str, str]:
    """A process' group by controller (`4:memory:/path`); version 2 has no controller's name."""
    paths = {}
    for line in (process / "cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        paths.update(dict.fromkeys(controllers.split(","), path))
    return paths


def _mounts(process: Path) -> list[tuple[Path, str, list[str], str]]:
    """Where groups are mounted: place, kind, options, and the path of what is mounted there; version 1 first."""
    found = []
    for line in (process / "mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        root, place = before.split()[3:5]
        kind, _, options = after.split()[:3]
        if kind in ("cgroup", "cgroup2"):
            found.append((Path(place), kind, options.split(","), root.rstrip("/")))
    return sorted(found, key=lambda one: one[1])
