"""An emulated drive from its backing file to a mounted file system, as nested scopes.

Each step gives back what it took, whatever happens in it or above it: the backing file's directory goes with the lease,
the emulator stops, the loop device is detached, the file system unmounted.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from assay.lease import Lease
from assay.media.drive import Drive, serving
from assay.media.file_system import LEAST_BYTES, Kind, make_file_system, mounted
from assay.media.loop import Queue, looped
from assay.media.profile import Profile
from assay.media.system import System
from assay.model.base import Frozen
from assay.model.errors import AssayError, BadInputError

BLOCK_BYTES = 4096
SATA_DEPTH, LOOP_DEPTH = 32, 128
"""Native command queueing's depth, and what a loop device gives its file at most."""

LEAST_FREE_BYTES = 256 << 20
"""What an empty file system's own structures may take of the backing disk."""


class Measuring(Protocol):
    """The emulator's program, as far as attaching needs it."""

    binary: Path

    def measure(self, device: Path) -> dict[str, Any]:
        """See `assay.media.emulator.Emulator.measure`."""
        ...


class Wanted(Frozen):
    """What is to be attached: a drive, how much of it, its file system, and the directory its backing file goes to."""

    profile: Profile
    size_bytes: int
    file_system: Kind
    place: Path
    mount_point: Path | None = None


class Attached(Frozen):
    """A mounted emulated drive. `home` is the drive's directory (see `Drive`), `path_cost` what `measure` told."""

    home: Path
    device: Path
    mount_point: Path
    path_cost: Mapping[str, Any]


def wanted_size(profile: Profile, size_bytes: int | None, file_system: Kind, capacity: int) -> int:
    """Bytes of the drive that are used, from its start. Raises BadInputError when they are too many or too few."""
    size = (size_bytes or capacity) // BLOCK_BYTES * BLOCK_BYTES
    if size > capacity:
        raise BadInputError(f"{size_bytes} bytes are more than the drive {profile.name} has ({capacity})")
    if size < LEAST_BYTES[file_system]:
        raise BadInputError(f"{size_bytes} bytes are too few: {file_system} needs {LEAST_BYTES[file_system]} at least")
    return size


def queue_of(profile: Profile) -> Queue:
    """As Debian's kernel treats such a drive: mq-deadline on SATA, no scheduler for NVMe, which has deeper queues."""
    depth = int(profile.values.get("queue_depth", SATA_DEPTH if profile.kind != "null" else LOOP_DEPTH))
    on_sata = profile.kind == "hdd" or depth <= SATA_DEPTH
    return Queue(
        rotational=profile.kind == "hdd",
        scheduler="mq-deadline" if on_sata else "none",
        depth=min(depth, LOOP_DEPTH),
    )


@contextmanager
def attached_drive(
    wanted: Wanted, lease: Lease, emulator: Measuring, system: System
) -> Iterator[tuple[Attached, Drive]]:
    """The drive, empty, mounted and behaving as its profile says, for the time of a scope.

    Raises AssayError (BadInputError where the backing disk is too small) when a step fails; then nothing stays.
    """
    drive = Drive(lease.make_directory(wanted.place / f"assay-{lease.id}"))
    _make_backing_file(drive, wanted)
    (drive.home / "profile.json").write_text(wanted.profile.for_emulator)
    point = wanted.mount_point or drive.home / "mount"
    point.mkdir(exist_ok=True)
    with (
        serving(emulator.binary, drive, lease.environment(os.environ), system),
        looped(drive.disk, queue_of(wanted.profile), system) as device,
    ):
        make_file_system(device, wanted.file_system, system)
        cost = emulator.measure(device)
        with mounted(device, wanted.file_system, point, system):
            drive.begin(cost)
            yield Attached(home=drive.home, device=device, mount_point=point, path_cost=cost), drive


def _make_backing_file(drive: Drive, wanted: Wanted) -> None:
    numbers = os.statvfs(drive.home)
    free = numbers.f_bavail * numbers.f_frsize
    if free < LEAST_FREE_BYTES:
        raise BadInputError(
            f"the disk below {wanted.place} is too small for the backing file of {wanted.profile.name}: "
            f"{free >> 20} MiB are free, and an empty drive may take {LEAST_FREE_BYTES >> 20} MiB; "
            "make room or name another place"
        )
    try:
        with drive.backing.open("xb") as file:
            file.truncate(wanted.size_bytes)
    except OSError as error:
        raise AssayError(
            f"a file of {wanted.size_bytes} bytes can't be made below {wanted.place} ({error.strerror}); "
            "name a place on another file system, or take a smaller size"
        ) from None
