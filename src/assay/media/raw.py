"""An emulated drive as a block device, without a file system: what calibration measures and file systems lie on."""

import ctypes
import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from assay.lease import Lease
from assay.media.drive import Drive, serve
from assay.media.loop import Queue, attach_loop
from assay.media.profile import Profile
from assay.media.system import System
from assay.model.errors import AssayError, BadInputError

SATA_DEPTH, LOOP_DEPTH = 32, 128
"""Native command queueing's depth, and what a loop device gives its file at most."""

LEAST_FREE_BYTES = 256 << 20
"""What an empty file system's own structures may take of the backing disk."""


KEEP_SIZE, PUNCH_HOLE = 1, 2
"""FALLOC_FL_KEEP_SIZE and FALLOC_FL_PUNCH_HOLE (linux/falloc.h)."""

BLOCK_BYTES = 4096


class Measuring(Protocol):
    """The emulator's program, as far as attaching needs it."""

    binary: Path

    def measure(self, device: Path, home: Path) -> dict[str, Any]:
        """See `assay.media.emulator.Emulator.measure`."""
        ...


def queue_of(profile: Profile) -> Queue:
    """As Debian's kernel treats such a drive: mq-deadline on SATA, no scheduler for NVMe, which has deeper queues."""
    depth = int(profile.values.get("queue_depth", SATA_DEPTH if profile.kind != "null" else LOOP_DEPTH))
    on_sata = profile.kind == "hdd" or depth <= SATA_DEPTH
    return Queue(
        rotational=profile.kind == "hdd",
        scheduler="mq-deadline" if on_sata else "none",
        depth=min(depth, LOOP_DEPTH),
    )


class Raw(NamedTuple):
    """A block device, and the emulator behind it."""

    device: Path
    drive: Drive


def attach_raw(
    profile: Profile, size_bytes: int, place: Path, lease: Lease, emulator: Measuring, system: System, scope: ExitStack
) -> Raw:
    """An empty block device whose emulator answers at once until `begin`; both go with the scope.

    Raises BadInputError where the disk below `place` is too small, AssayError when a step fails; then nothing stays.
    """
    drive = Drive(lease.make_directory(place / f"assay-{lease.id}"))
    _make_backing_file(drive.backing, profile.name, size_bytes)
    (drive.home / "profile.json").write_text(profile.for_emulator)
    # Whose it is, for those who find it without knowing where its user keeps leases.
    (drive.home / "lease").write_text(str(lease.file))
    serve(emulator.binary, drive, lease.environment(os.environ), system, scope)
    return Raw(attach_loop(drive.disk, queue_of(profile), system, scope), drive)


@contextmanager
def raw_drive(
    profile: Profile, size_bytes: int, place: Path, lease: Lease, emulator: Measuring, system: System
) -> Iterator[tuple[Path, Drive]]:
    """A block device that behaves as the profile says, and its emulator, for the time of a scope."""
    with ExitStack() as scope:
        raw = attach_raw(profile, size_bytes, place, lease, emulator, system, scope)
        raw.drive.begin(emulator.measure(raw.device, raw.drive.home))
        yield raw


def _make_backing_file(file: Path, drive: str, size_bytes: int) -> None:
    """Sparse: it takes no room yet."""
    numbers = os.statvfs(file.parent)
    free = numbers.f_bavail * numbers.f_frsize
    if free < LEAST_FREE_BYTES:
        raise BadInputError(
            f"the disk below {file.parent.parent} is too small for the backing file of {drive}: {free >> 20} MiB are "
            f"free, and an empty drive may take {LEAST_FREE_BYTES >> 20} MiB; make room or name another place"
        )
    try:
        with file.open("xb") as made:
            made.truncate(size_bytes)
            holes = can_punch_holes(made.fileno())
    except OSError as error:
        raise AssayError(
            f"a file of {size_bytes} bytes can't be made below {file.parent.parent} ({error.strerror}); "
            "name a place on another file system, or take a smaller size"
        ) from None
    if not holes:
        raise BadInputError(
            f"the file system below {file.parent.parent} can't give back parts of a file, which what is deleted on "
            f"{drive} must; name a place on another one, such as ext4, xfs, btrfs or tmpfs"
        )


def can_punch_holes(descriptor: int) -> bool:
    """fallocate(2): whether the file system can free a range within a file. Tried on a file that is still empty."""
    libc = ctypes.CDLL(None, use_errno=True)
    start, length = ctypes.c_int64(0), ctypes.c_int64(BLOCK_BYTES)
    failed = libc.fallocate64(descriptor, PUNCH_HOLE | KEEP_SIZE, start, length)
    return not failed or ctypes.get_errno() not in {errno.EOPNOTSUPP, errno.ENOSYS}
