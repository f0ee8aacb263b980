"""What there is to be measured in a trial: the daemons, the media's disks, the ports, put together for the probes.

Ports that nobody needs to know beforehand are left to the kernel, so that only the logs tell them; a line that another
version words otherwise leaves its port out.
"""

import os
import re
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from assay.host.mounts import Mount, mounts
from assay.model.errors import AssayError
from assay.model.layout import Layout
from assay.model.medium import Medium, Watchable
from assay.model.probe import CLIENTS, CountingDaemon, Scene, WatchedDisk, WatchedProcess
from assay.model.running_cluster import RunningCluster
from assay.model.service import DaemonKind

_AT_ONE_PORT = 4
"""Processes of jobs on a node that may listen one port after the other from that of a property on."""


def listening_ports(
    running: RunningCluster, kinds: Sequence[DaemonKind], job_ports: Mapping[str, str] = MappingProxyType({})
) -> Mapping[str, tuple[int, ...]]:
    """Ports by purpose, as the daemons' kinds name it, and `job_ports` by their properties; each port once."""
    by_purpose: dict[str, dict[int, None]] = {}
    for name, purpose in job_ports.items():
        first = running.properties.get(name, "")
        if first.isdigit() and int(first):
            further = range(int(first), int(first) + _AT_ONE_PORT)
            by_purpose.setdefault(purpose, {}).update(dict.fromkeys(further))
    for kind in kinds:
        for name, purpose in kind.ports.items():
            port = running.properties.get(name, "").rpartition(":")[2]
            if port.isdigit():
                by_purpose.setdefault(purpose, {})[int(port)] = None
        started = [(node.node, daemon) for node in running.nodes for daemon in node.daemons if daemon.role == kind.role]
        for node, daemon in started:
            with suppress(OSError):
                log = node.read(daemon.log)
                for pattern, purpose in kind.logged_ports.items():
                    by_purpose.setdefault(purpose, {}).update(dict.fromkeys(map(int, re.findall(pattern, log))))
    return {purpose: tuple(ports) for purpose, ports in by_purpose.items()}


SWAPS = Path("/proc/swaps")


def build_scene(
    running: RunningCluster, layout: Layout, media: Sequence[Medium], kinds: Sequence[DaemonKind],
    job_ports: Mapping[str, str] = MappingProxyType({}),
) -> Scene:  # fmt: skip
    """A running embedded cluster on this machine, its media, and Assay itself."""
    children = {kind.role: kind.children for kind in kinds}
    daemons = [
        WatchedProcess(group=daemon.role, pid=daemon.pid, children=children.get(daemon.role, ""), node=node.node.name)
        for node in running.nodes
        for daemon in node.daemons
    ]
    below = [process for medium in media if isinstance(medium, Watchable) for process in medium.watched_processes()]
    directories: dict[tuple[str, str], list[Path]] = {}
    for node, of_node in (layout.nodes or {"": layout}).items():
        for directory in of_node.directories:
            directories.setdefault((node, directory.medium), []).append(directory.path)
    watched = [medium.watched_disk(directories.get((medium.node, medium.spec.name), ())) for medium in media]
    disks = with_sharing([disk for disk in watched if disk is not None], layout)
    ports = {}
    with suppress(AssayError, OSError):
        ports = dict(listening_ports(running, kinds, job_ports))
    counters = {kind.role: kind.counters for kind in kinds if kind.counters is not None}
    counting = [
        CountingDaemon(daemon.role, node.node.name, daemon.log, counters[daemon.role])
        for node in running.nodes
        for daemon in node.daemons
        if daemon.role in counters
    ]
    return Scene(
        counting=tuple(counting),
        processes=(*daemons, *below, WatchedProcess(group="assay", pid=os.getpid(), children=CLIENTS)),
        disks=disks,
        layout=layout,
        ports=ports,
        copied=frozenset(kind.copied for kind in kinds if kind.copied),
        nodes=tuple(node.node for node in running.nodes),
    )


def with_sharing(
    disks: Sequence[WatchedDisk], layout: Layout, everything: Sequence[Mount] | None = None, swaps: Path = SWAPS
) -> tuple[WatchedDisk, ...]:
    """Each disk with whether others use its device too, as far as this machine tells.

    Others are: another medium, the trial's own logs and names (`neutral`), the system's root, another mount of the same
    file system, swap. Programs that write to the same mount can't be seen, nor can what a host above this one does.
    """
    mounted = mounts() if everything is None else everything
    busy = {_number_of(layout.neutral)}
    with suppress(OSError):  # devices that hold swap, themselves or in a file (proc(5))
        busy |= {
            _number_of(Path(line.split()[0]))
            for line in swaps.read_text(encoding="utf-8", errors="surrogateescape").splitlines()[1:]
            if line.strip()
        }
    marked = []
    for disk in disks:
        number = _number_of(disk.place)
        points = {mount.point for mount in mounted if mount.device_number == number}
        beside = [other for other in disks if other is not disk and disk.device and other.device == disk.device]
        others = bool(beside) or number in busy or "/" in points or len(points) > 1
        shared = others and not disk.own and not disk.in_memory
        marked.append(disk.model_copy(update={"shared": shared}))
    return tuple(marked)


def _number_of(path: Path) -> str:
    """The number of the device that a path, or what is there above it, lies on; empty when that can't be told."""
    with suppress(OSError):
        here = next(above for above in (path, *path.parents) if above.exists()).stat()
        number = here.st_rdev if stat.S_ISBLK(here.st_mode) else here.st_dev
        return f"{os.major(number)}:{os.minor(number)}"
    return ""
