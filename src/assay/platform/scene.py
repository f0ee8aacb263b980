"""What there is to be measured in a trial: the daemons, the media's disks, the ports, put together for the probes.

Ports that nobody needs to know beforehand are left to the kernel (`configuration.Ports`), so that only the logs tell
them. The lines are those of Hadoop 3's DataXceiverServer and IPC server (DataNode), ShuffleHandler, HttpServer2,
DatanodeHttpServer, ResourceLocalizationService and ResourceTrackerService; a line that another version words otherwise
leaves its port out.
"""

import os
import re
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from assay.host.mounts import Mount, mount_of, mounts
from assay.media.directory import disk_facts
from assay.model.errors import AssayError
from assay.model.medium import Medium, Watchable
from assay.model.platform import Layout, RunningCluster
from assay.model.probe import Scene, WatchedDisk, WatchedProcess
from assay.platform.configuration import read_site

_CONFIGURED = {
    "fs.defaultFS": "hdfs rpc",
    "dfs.namenode.http-address": "web",
    "yarn.resourcemanager.address": "yarn rpc",
    "yarn.resourcemanager.scheduler.address": "yarn rpc",
    "yarn.resourcemanager.resource-tracker.address": "yarn rpc",
    "yarn.resourcemanager.webapp.address": "web",
    "mapreduce.jobhistory.address": "yarn rpc",
    "mapreduce.jobhistory.webapp.address": "web",
}
_LOGGED = (
    (re.compile(r"Opened streaming server at \S*:(\d+)"), "hdfs data"),
    (re.compile(r"Opened IPC server at \S*:(\d+)"), "hdfs rpc"),
    (re.compile(r"mapreduce_shuffle listening on port (\d+)"), "shuffle"),
    (re.compile(r"Localizer started on port (\d+)"), "yarn rpc"),
    (re.compile(r"registered with capability.*assigned nodeId \S*:(\d+)"), "yarn rpc"),
    (re.compile(r"Jetty bound to port (\d+)"), "web"),
    (re.compile(r"Listening HTTP traffic on \S*:(\d+)"), "web"),
)


def listening_ports(running: RunningCluster) -> Mapping[str, tuple[int, ...]]:
    """Ports by purpose: `hdfs data`, `hdfs rpc`, `shuffle`, `yarn rpc`, `web`; each port once."""
    found: dict[str, dict[int, None]] = {}
    site = read_site(running.conf_dir)
    for name, purpose in _CONFIGURED.items():
        port = site.get(name, "").rpartition(":")[2].strip("/")
        if port.isdigit() and port != "0":
            found.setdefault(purpose, {})[int(port)] = None
    for daemon in (daemon for node in running.nodes for daemon in node.daemons):
        try:
            log = daemon.log.read_text(errors="replace")
        except OSError:
            continue
        for pattern, purpose in _LOGGED:
            found.setdefault(purpose, {}).update(dict.fromkeys(map(int, pattern.findall(log))))
    return {purpose: tuple(ports) for purpose, ports in found.items()}


SYS = Path("/sys")
SWAPS = Path("/proc/swaps")


def build_scene(running: RunningCluster, layout: Layout, media: Sequence[Medium]) -> Scene:
    """A running embedded cluster on this machine, its media, and Assay itself."""
    daemons = [WatchedProcess(group=daemon.role, pid=daemon.pid) for node in running.nodes for daemon in node.daemons]
    below = [process for medium in media if isinstance(medium, Watchable) for process in medium.watched_processes()]
    disks = with_sharing([disk for medium in media if (disk := _disk(medium, layout)) is not None], layout)
    ports = {}
    with suppress(AssayError, OSError):
        ports = dict(listening_ports(running))
    return Scene(
        processes=(*daemons, *below, WatchedProcess(group="assay", pid=os.getpid())),
        node_manager=next((one.pid for one in daemons if one.group == "nodemanager"), None),
        disks=disks,
        layout=layout,
        ports=ports,
        nodes=tuple(node.name for node in running.nodes),
    )


def _disk(medium: Medium, layout: Layout) -> WatchedDisk | None:
    """A medium as probes see it; None for one that none of the cluster's directories lies on."""
    if isinstance(medium, Watchable):
        return medium.watched_disk()
    name = medium.spec.name
    directories = [one.path for one in layout.data if one.medium == name]
    directories += [one.path for one in layout.local if one.medium == name]
    # The cluster makes its directories itself: the medium's own is above them.
    place = next((above for path in directories for above in (path, *path.parents) if above.is_dir()), None)
    if place is None:
        return None
    if medium.spec.kind == "memory":
        return WatchedDisk(medium=name, kind="memory", place=place)
    try:
        mount = mount_of(place)
    except (OSError, ValueError):
        return WatchedDisk(medium=name, kind="directory", place=place)
    return WatchedDisk(
        medium=name, kind="directory", place=place, device=block_device(mount),
        rotational=disk_facts(mount.device_number)["rotational"] == "yes",
    )  # fmt: skip


def with_sharing(
    disks: Sequence[WatchedDisk], layout: Layout, everything: Sequence[Mount] | None = None, swaps: Path = SWAPS
) -> tuple[WatchedDisk, ...]:
    """Each disk with whether others use its device too, as far as this machine tells.

    Others are: another medium, the trial's own logs and names (`neutral`), the system's root, another mount of the same
    file system, swap. Programs that write to the same mount can't be told, nor can what a host above this one does.
    """
    mounted = mounts() if everything is None else everything
    busy = {_number_of(layout.neutral), *_swapped_to(swaps)}
    told = []
    for disk in disks:
        number = _number_of(disk.place)
        points = {mount.point for mount in mounted if mount.device_number == number}
        beside = [other for other in disks if other is not disk and disk.device and other.device == disk.device]
        shared = disk.kind == "directory" and (bool(beside) or number in busy or "/" in points or len(points) > 1)
        told.append(disk.model_copy(update={"shared": shared}))
    return tuple(told)


def _number_of(place: Path) -> str:
    """The number of the device that a path, or what is there above it, lies on; empty when that can't be told."""
    with suppress(OSError):
        here = next(above for above in (place, *place.parents) if above.exists()).stat()
        number = here.st_rdev if stat.S_ISBLK(here.st_mode) else here.st_dev
        return f"{os.major(number)}:{os.minor(number)}"
    return ""


def _swapped_to(swaps: Path) -> set[str]:
    """Devices that hold swap, themselves or in a file (proc(5))."""
    with suppress(OSError):
        return {_number_of(Path(line.split()[0])) for line in swaps.read_text().splitlines()[1:] if line.strip()}
    return set()


def block_device(mount: Mount, sys: Path = SYS) -> Path | None:
    """The device in /dev that a mount lies on, a partition where it is one; None where there is none (overlay, NFS).

    By its number in sysfs, since the source's name may be an alias (/dev/root). btrfs gives its mounts numbers of no
    device: then the source counts, which is one of its devices.
    """
    named = sys / "dev" / "block" / mount.device_number / "uevent"
    with suppress(OSError):
        for line in named.read_text().splitlines():
            if line.startswith("DEVNAME="):
                return Path("/dev") / line.removeprefix("DEVNAME=")
    return Path(mount.source) if mount.source.startswith("/dev/") and Path(mount.source).is_block_device() else None
