"""What a medium's disk is to the kernel: which device its tracepoints name, and where on it the file system begins."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from assay.model.cluster import Layout
from assay.model.placement import Role
from assay.model.probe import WatchedDisk
from assay.probe.file_map import FileRole, Root

CLASS = Path("/sys/class/block")
SECTOR_BYTES = 512
LOCAL: FileRole = "intermediate"


class Place(NamedTuple):
    """A range of a whole disk: the disk's number as tracepoints write it, first byte, byte after the last."""

    disk: int
    begin: int
    end: int


def place_of(device: Path, folder: Path = CLASS) -> Place:
    """Of a partition or a whole disk. Raises OSError or ValueError where sysfs does not tell."""
    here = (folder / device.resolve().name).resolve()
    is_partition = (here / "partition").exists()
    begin = _number(here / "start") * SECTOR_BYTES if is_partition else 0
    major, minor = (here.parent if is_partition else here).joinpath("dev").read_text().strip().split(":")
    return Place(int(major) << 20 | int(minor), begin, begin + _number(here / "size") * SECTOR_BYTES)


def roots_of(layout: Layout, medium: str) -> tuple[Root, ...]:
    """The cluster's directories on a medium; those of job files, tagged ARCHIVE, serve no role."""
    data = [Root(one.path, "data") for one in layout.data if one.medium == medium and one.storage != "ARCHIVE"]
    return (*data, *(Root(one.path, LOCAL) for one in layout.local if one.medium == medium))


def single_role(layout: Layout, medium: str) -> Role | None:
    """The only role that a medium serves; None where it serves several.

    Input and output share their directories unless they are placed differently, which storage types tell.
    """
    apart = any(one.storage == "SSD" for one in layout.data)
    roles: set[Role] = {"intermediate" for one in layout.local if one.medium == medium}
    for one in layout.data:
        if one.medium == medium and one.storage != "ARCHIVE":
            if apart:
                roles.add("output" if one.storage == "SSD" else "input")
            else:
                roles |= {"input", "output"}
    return next(iter(roles)) if len(roles) == 1 else None


def unmapped(disk: WatchedDisk, roots: Sequence[Root]) -> str | None:
    """Why the places of a medium's files can't be told as places on its device; None when they can."""
    if disk.device is None:
        return "there is no block device of its own below it"
    if not roots:
        return "none of the cluster's directories lies on it"
    try:
        # btrfs, overlays and network file systems have numbers of no device, and places of their own making.
        if disk.place.stat().st_dev != disk.device.stat().st_rdev:
            return f"its file system does not lie on {disk.device} directly"
    except OSError as error:
        return str(error)
    return None


def _number(file: Path) -> int:
    return int(file.read_text())
