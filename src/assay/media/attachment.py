"""An emulated drive from its backing file to a mounted file system, as nested scopes.

Each step gives back what it took, whatever happens in it or above it: the backing file's directory goes with the lease,
the emulator stops, the loop device is detached, the file system unmounted.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assay.lease import Lease
from assay.media.drive import Drive
from assay.media.file_system import LEAST_BYTES, Kind, make_file_system, mounted
from assay.media.profile import Profile
from assay.media.raw import Measuring, passive_drive
from assay.media.system import System
from assay.model.base import Frozen
from assay.model.errors import BadInputError

BLOCK_BYTES = 4096


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
        raise BadInputError(f"{size} bytes are too few: {file_system} needs {LEAST_BYTES[file_system]} at least")
    return size


@contextmanager
def attached_drive(
    wanted: Wanted, lease: Lease, emulator: Measuring, system: System
) -> Iterator[tuple[Attached, Drive]]:
    """The drive, empty, mounted and behaving as its profile says, for the time of a scope.

    Raises AssayError (BadInputError where the backing disk is too small) when a step fails; then nothing stays.
    """
    with passive_drive(wanted.profile, wanted.size_bytes, wanted.place, lease, emulator, system) as (device, drive):
        point = wanted.mount_point or drive.home / "mount"
        point.mkdir(exist_ok=True)
        make_file_system(device, wanted.file_system, system)
        cost = emulator.measure(device)
        with mounted(device, wanted.file_system, point, system):
            drive.begin(cost)
            yield Attached(home=drive.home, device=device, mount_point=point, path_cost=cost), drive
