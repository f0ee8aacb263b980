"""A directory on a mounted file system: the disk you have."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from assay.host.lease import Lease
from assay.host.mounts import mount_of
from assay.media.emulated.attachment import forget_files, write_out
from assay.model.doubt import Doubt
from assay.model.errors import BadInputError
from assay.model.medium import Space
from assay.model.trial import MediumSpec


class DirectoryMedium:
    """Keeps its bytes in a fresh directory below a place the user names."""

    def __init__(self, spec: MediumSpec, lease: Lease, default: Path) -> None:
        self.spec = spec
        self._lease = lease
        self._place = (spec.path or default).resolve()
        self._directory: Path | None = None

    def facts(self) -> Mapping[str, str]:
        """Place, device, file system, mount options, free bytes, and what the kernel knows of the drive."""
        mount = mount_of(self._place)
        numbers = os.statvfs(self._place)
        return {
            "kind": self.spec.kind,
            "place": str(self._place),
            "device": mount.source,
            "file_system": mount.file_system,
            "mount_options": mount.options,
            "free_bytes": str(numbers.f_bavail * numbers.f_frsize),
            **disk_facts(mount.device_number),
        }

    def space(self) -> Space:
        """Free and total bytes. Raises BadInputError when the place is not a directory that can be written to."""
        if not self._place.is_dir():
            raise BadInputError(f"medium {self.spec.name!r}: {self._place} is not a directory; make it or name another")
        if not os.access(self._place, os.W_OK | os.X_OK):
            raise BadInputError(
                f"medium {self.spec.name!r}: {self._place} can't be written to; change its owner or mode"
            )
        numbers = os.statvfs(self._place)
        return Space(
            free_bytes=numbers.f_bavail * numbers.f_frsize, total_bytes=numbers.f_blocks * numbers.f_frsize,
            shared=self._place.stat().st_dev,
        )  # fmt: skip

    @contextmanager
    def attached(self) -> Iterator[Path]:
        """A fresh directory that the trial's lease removes."""
        self._directory = self._lease.make_directory(self._place / f"assay-{self._lease.id}-{self.spec.name}")
        yield self._directory

    def make_cold(self) -> tuple[Doubt, ...]:
        """Write out the file system and drop the page cache: all of it as root, else the files of this medium."""
        place = self._directory or self._place
        write_out(place)
        try:
            Path("/proc/sys/vm/drop_caches").write_text("3\n")
        except OSError:
            forget_files(place)
            return (_not_quite_cold(self.spec.name),)
        return ()


def disk_facts(device_number: str, sys: Path = Path("/sys")) -> dict[str, str]:
    """What sysfs tells of the drive that holds a file system (`major:minor`): model, rotational, scheduler, read-ahead.

    A partition has its disk's; a volume (device mapper, RAID) that of the first drive in it. What isn't told is
    `unknown`.
    """
    device = (sys / "dev/block" / device_number).resolve()
    if (device / "partition").exists():
        device = device.parent
    rotates = _setting(device / "queue/rotational")
    return {
        "rotational": {"1": "yes", "0": "no"}.get(rotates, "unknown"),
        "drive": _model(device),
        "scheduler": next(
            (word.strip("[]") for word in _setting(device / "queue/scheduler").split() if "[" in word), "unknown"
        ),
        "read_ahead_kb": _setting(device / "queue/read_ahead_kb"),
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
        return file.read_text().strip() or "unknown"
    except OSError:
        return "unknown"


def _not_quite_cold(medium: str) -> Doubt:
    return Doubt(
        kind="cache-not-quite-cold",
        what=f"the page cache of {medium} was dropped file by file, without root",
        why="directory entries and pages in use stay cached, so first reads may be faster than from a cold medium",
        cure="run as root, or compare only trials that were run this way",
    )
