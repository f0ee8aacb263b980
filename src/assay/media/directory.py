"""A directory on a mounted file system: the disk you have."""

import ctypes
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from assay.lease import Lease
from assay.model.doubt import Doubt
from assay.model.errors import BadInputError
from assay.model.medium import Space
from assay.model.trial import MediumSpec
from assay.mounts import mount_of


class DirectoryMedium:
    """Keeps its bytes in a fresh directory below a place the user names."""

    def __init__(self, spec: MediumSpec, lease: Lease, default: Path) -> None:
        self.spec = spec
        self._lease = lease
        self._place = (spec.path or default).resolve()
        self._directory: Path | None = None

    def facts(self) -> Mapping[str, str]:
        """Place, device, file system, mount options and whether the kernel thinks that it rotates."""
        mount = mount_of(self._place)
        return {
            "kind": self.spec.kind,
            "place": str(self._place),
            "device": mount.source,
            "file_system": mount.file_system,
            "mount_options": mount.options,
            "rotational": _rotational(mount.device_number),
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
        return Space(free_bytes=numbers.f_bavail * numbers.f_frsize, total_bytes=numbers.f_blocks * numbers.f_frsize)

    @contextmanager
    def attached(self) -> Iterator[Path]:
        """A fresh directory that the trial's lease removes."""
        self._directory = self._lease.make_directory(self._place / f"assay-{self._lease.id}")
        yield self._directory

    def make_cold(self) -> tuple[Doubt, ...]:
        """Write out the file system and drop the page cache: all of it as root, else the files of this medium."""
        place = self._directory or self._place
        _write_out(place)
        try:
            Path("/proc/sys/vm/drop_caches").write_text("3\n")
        except OSError:
            _drop_files(place)
            return (_not_quite_cold(self.spec.name),)
        return ()


def _rotational(device_number: str) -> str:
    """`yes`, `no` or `unknown`, from the block device's queue or, for a partition, its disk's."""
    device = Path(f"/sys/dev/block/{device_number}").resolve()
    for folder in (device, device.parent):
        try:
            return "yes" if (folder / "queue/rotational").read_text().strip() == "1" else "no"
        except OSError:
            continue
    return "unknown"


def _write_out(place: Path) -> None:
    """syncfs(2): write out this file system only, not all of the machine's."""
    descriptor = os.open(place, os.O_RDONLY)
    try:
        ctypes.CDLL(None, use_errno=True).syncfs(descriptor)
    finally:
        os.close(descriptor)


def _drop_files(place: Path) -> None:
    """posix_fadvise(2): ask the kernel to forget the clean pages of every file of the medium."""
    for folder, _, names in os.walk(place):
        for name in names:
            try:
                descriptor = os.open(Path(folder, name), os.O_RDONLY)
            except OSError:
                continue
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def _not_quite_cold(medium: str) -> Doubt:
    return Doubt(
        kind="cache-not-quite-cold",
        what=f"the page cache of {medium} was dropped file by file, without root",
        why="directory entries and pages in use stay cached, so first reads may be faster than from a cold medium",
        cure="run as root, or compare only trials that were run this way",
    )
