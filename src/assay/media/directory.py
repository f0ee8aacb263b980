"""A directory on a mounted file system: the disk you have."""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from pydantic import Field

from assay.host.files import absolute, plain
from assay.host.mounts import Mount, mount_of
from assay.media.page_cache import CACHE_NOT_QUITE_COLD, forget_files, write_out
from assay.model.base import UserPath
from assay.model.doubt import Doubt, doubt_kind
from assay.model.errors import BadInputError
from assay.model.fact import Fact
from assay.model.installation import Holder, Installation
from assay.model.installed import kind_of
from assay.model.medium import UNKNOWN_DRIVE, Medium, MediumKind, Options, Space
from assay.model.probe import WatchedDisk
from assay.model.registry import MEDIA
from assay.model.trial import MediumSpec

NO_DISKS = ("tmpfs", "ramfs", "overlay", "nfs", "cifs", "smb", "fuse", "9p", "virtiofs")
SYS = Path("/sys")


class DirectoryOptions(Options):
    """A directory on a mounted file system."""

    path: UserPath | None = Field(
        default=None, description="its path; it must exist and be writable; by default the working directory."
    )


class DirectoryMedium:
    """Keeps its bytes in a fresh directory below a place the user names."""

    def __init__(self, spec: MediumSpec, lease: Holder, default: Path, node: str = "") -> None:
        self.spec = spec
        self.node = node
        self._lease = lease
        self._place = (kind_of(spec).options_of(spec).path or default).resolve()
        self._directory: Path | None = None

    def facts(self) -> Mapping[str, Fact]:
        """Place, device, file system, mount options, free bytes, and what the kernel knows of the drive."""
        mount = mount_of(self._place)
        return {
            "kind": self.spec.kind,
            "place": str(self._place),
            "device": mount.source,
            "file_system": mount.file_system,
            "mount_options": mount.options,
            "free_bytes": shutil.disk_usage(self._place).free,
            **disk_facts(mount.device_number),
        }

    def space(self) -> Space:
        """Free and total bytes. Raises BadInputError when the place is no directory that Hadoop can write to."""
        plain(self._place, f"medium {self.spec.name!r}:")
        if not self._place.is_dir():
            raise BadInputError(f"medium {self.spec.name!r}: {self._place} is not a directory; make it or name another")
        if not os.access(self._place, os.W_OK | os.X_OK):
            raise BadInputError(
                f"medium {self.spec.name!r}: {self._place} can't be written to; change its owner or mode"
            )
        usage = shutil.disk_usage(self._place)
        return Space(free_bytes=usage.free, total_bytes=usage.total, shared=self._place.stat().st_dev)

    @contextmanager
    def attached(self) -> Iterator[Path]:
        name = "-".join(filter(None, ("assay", self._lease.id, self.node, self.spec.name)))
        self._directory = self._lease.make_directory(self._place / name)
        yield self._directory

    def make_cold(self) -> tuple[Doubt, ...]:
        """Write out the file system and drop the page cache: all of it as root, else the files of this medium."""
        place = self._directory or self._place
        write_out(place)
        try:
            Path("/proc/sys/vm/drop_caches").write_text("3\n", encoding="utf-8")
        except OSError:
            forget_files(place)
            doubt = CACHE_NOT_QUITE_COLD.doubt(
                f"the page cache of {self.spec.name} was dropped file by file, without root",
                self.spec.name,
                why="directory entries and pages in use stay cached, so first reads may be faster than from a cold "
                "medium",
                cure="run as root, or compare only trials that were run this way",
            )
            return (doubt,)
        return ()

    def watched_disk(self, directories: Sequence[Path]) -> WatchedDisk | None:
        """The disk below the cluster's directories, which the cluster makes itself; None for none."""
        place = next((above for path in directories for above in (path, *path.parents) if above.is_dir()), None)
        if place is None:
            return None
        disk = WatchedDisk(medium=self.spec.name, place=place, node=self.node)
        with suppress(OSError, ValueError):
            mount = mount_of(place)
            rotational = disk_facts(mount.device_number)["rotational"] is True
            return disk.model_copy(update={"device": block_device(mount), "rotational": rotational})
        return disk


def block_device(mount: Mount, sys: Path = SYS) -> Path | None:
    """The device in /dev that a mount lies on, a partition where it is one; None where there is none (overlay, NFS).

    By its number in sysfs, since the source's name may be an alias (/dev/root). btrfs gives its mounts numbers of no
    device: then the source counts, which is one of its devices.
    """
    named = sys / "dev" / "block" / mount.device_number / "uevent"
    with suppress(OSError):
        for line in named.read_text(encoding="utf-8").splitlines():
            if line.startswith("DEVNAME="):
                return Path("/dev") / line.removeprefix("DEVNAME=")
    return Path(mount.source) if mount.source.startswith("/dev/") and Path(mount.source).is_block_device() else None


def disk_facts(device_number: str, sys: Path = SYS) -> dict[str, Fact]:
    """What sysfs tells of the drive that holds a file system (`major:minor`): model, rotational, scheduler, read-ahead.

    A partition has its disk's; a volume (device mapper, RAID) that of the first drive in it. What isn't told is
    `unknown`.
    """
    device = (sys / "dev/block" / device_number).resolve()
    if (device / "partition").exists():
        device = device.parent
    rotates, ahead_kb = (_setting(device / "queue" / name) for name in ("rotational", "read_ahead_kb"))
    return {
        "rotational": {"1": True, "0": False}.get(rotates, "unknown"),
        "drive": _model(device),
        "scheduler": next(
            (word.strip("[]") for word in _setting(device / "queue/scheduler").split() if "[" in word), "unknown"
        ),
        "read_ahead_kb": int(ahead_kb) if ahead_kb.isdecimal() else ahead_kb,
    }


def _model(device: Path) -> str:
    """The model that a drive gives itself; of a volume, that of the first drive in it."""
    below = sorted((device / "slaves").glob("*"))
    if below:
        first = below[0].resolve()
        return _model(first.parent if (first / "partition").exists() else first)
    return _setting(device / "device/model")


def _setting(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip() or "unknown"
    except OSError:
        return "unknown"


PlacedT = TypeVar("PlacedT", bound=DirectoryOptions)


class PlacedKind(MediumKind[PlacedT]):
    """A kind whose media lie in a directory, `path`."""

    def located(self, name: str, options: PlacedT, folder: Path, words: Sequence[str]) -> PlacedT:
        if options.path is None:
            return options
        place = plain(absolute(folder, options.path), f"medium {name!r}:")
        if place.exists() and not place.is_dir():
            raise BadInputError(f"medium {name!r}: {place} is not a directory; make it or name another")
        return options.model_copy(update={"path": place})

    def drive(self, spec: MediumSpec, facts: Mapping[str, Fact]) -> str:
        rotational = facts.get("rotational")
        return ("hard disk" if rotational else "SSD") if isinstance(rotational, bool) else UNKNOWN_DRIVE


MEDIUM_IS_NO_DISK = doubt_kind(
    "medium-is-no-disk",
    "medium",
    when="a directory medium is on tmpfs, overlay, NFS, FUSE or the like",
    why="its figures say nothing about a disk of this machine",
    cure="choose a path on a disk's own file system",
    severity=140,
)


class DirectoryKind(PlacedKind[DirectoryOptions]):
    """The disks you have."""

    title = "Directory"
    options = DirectoryOptions
    energy = "by busy time"

    def open(self, spec: MediumSpec, lease: Holder, installation: Installation, node: str = "") -> Medium:
        return DirectoryMedium(spec, lease, Path.cwd(), node)

    def described(self, spec: MediumSpec) -> str:
        return "a disk of the machine"

    def doubts(self, spec: MediumSpec, facts: Mapping[str, Fact]) -> tuple[Doubt, ...]:
        """One where it lies on something that is no disk of this machine."""
        file_system = str(facts.get("file_system", ""))
        if not file_system.startswith(NO_DISKS):
            return ()
        return (MEDIUM_IS_NO_DISK.doubt(f"{spec.name} is on {file_system}", spec.name),)


DIRECTORY = DirectoryKind("directory")
MEDIA.add(DIRECTORY.name, DIRECTORY, place=1)
