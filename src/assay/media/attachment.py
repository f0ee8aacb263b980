"""An emulated drive from its backing file to a mounted file system, step by step.

Each step leaves with the caller's scope (an ExitStack) how to undo it, before or as soon as it has taken anything: the
file system is unmounted, the loop device detached, the emulator stopped; the backing file goes with the lease. A scope
that is let go of (`pop_all`) leaves the drive attached after this process ends.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from assay.lease import Lease
from assay.media.drive import Drive
from assay.media.file_system import LEAST_BYTES, Kind, make_file_system, mount
from assay.media.profile import Profile
from assay.media.raw import Measuring, attach_raw
from assay.media.system import System
from assay.model.base import Frozen
from assay.model.errors import BadInputError
from assay.model.probe import WatchedDisk

BLOCK_BYTES = 4096


class Wanted(Frozen):
    """What is to be attached: a drive, how much of it, its file system, and the directory its backing file goes to."""

    profile: Profile
    size_bytes: int
    file_system: Kind
    place: Path
    mount_point: Path | None = None


class Attached(NamedTuple):
    """A mounted emulated drive; `path_cost` is what `measure` told."""

    drive: Drive
    device: Path
    mount_point: Path
    path_cost: Mapping[str, Any]

    def watched(self, medium: str, *, rotational: bool, log: Path | None) -> WatchedDisk:
        """As probes see it."""
        return WatchedDisk(
            medium=medium, kind="emulated", place=self.mount_point, device=self.device, rotational=rotational, log=log
        )


def wanted_size(profile: Profile, size_bytes: int | None, file_system: Kind, capacity: int) -> int:
    """Bytes of the drive that are used, from its start. Raises BadInputError when they are too many or too few."""
    size = (size_bytes or capacity) // BLOCK_BYTES * BLOCK_BYTES
    if size > capacity:
        raise BadInputError(f"{size_bytes} bytes are more than the drive {profile.name} has ({capacity})")
    if size < LEAST_BYTES[file_system]:
        raise BadInputError(f"{size} bytes are too few: {file_system} needs {LEAST_BYTES[file_system]} at least")
    return size


def attach_drive(wanted: Wanted, lease: Lease, emulator: Measuring, system: System, scope: ExitStack) -> Attached:
    """The drive, empty, mounted and behaving as its profile says; it goes with the scope.

    Raises AssayError (BadInputError where the backing disk is too small) when a step fails; the scope undoes the rest.
    """
    device, drive = attach_raw(wanted.profile, wanted.size_bytes, wanted.place, lease, emulator, system, scope)
    point = wanted.mount_point or drive.home / "mount"
    point.mkdir(exist_ok=True)
    make_file_system(device, wanted.file_system, system)
    cost = emulator.measure(device, drive.home)
    mount(device, wanted.file_system, point, system, scope)
    drive.begin(cost)
    return Attached(drive=drive, device=device, mount_point=point, path_cost=cost)


def path_text(cost: Mapping[str, Any]) -> str:
    """`read 21 us + 0.12 ns/byte, write ...`."""
    lines = {name: line for name, line in cost.items() if isinstance(line, Mapping)}
    return ", ".join(
        f"{name} {line['base_ns'] / 1000:.0f} us + {line['ns_per_byte']:.2f} ns/byte" for name, line in lines.items()
    )
