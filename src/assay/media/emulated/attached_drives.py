"""Attaches, lists and detaches emulated drives that outlive their command, or that crashed commands left behind."""

import re
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Literal

from assay.host.lease import Lease, leases, uninterrupted
from assay.host.mounts import below, check_no_strangers, let_go, loops, mounts
from assay.host.processes import end_processes, marked_processes
from assay.media.emulated.attachment import PURPOSE, shut_down
from assay.media.emulated.emulator import Drive
from assay.media.emulated.medium import EmulatedMedium
from assay.model.base import Frozen
from assay.model.errors import AssayError, BadInputError
from assay.model.installation import Installation

HOME = re.compile(rf"^(?P<home>/.*/assay-(?P<id>{PURPOSE}-[0-9a-f]{{12}}))/")
"""The directory, recognised by its name, in which a drive's backing file and mount points lie."""

YOUNG_S = 60.0

HANG_S = 4.0
"""How long a drive that should be alive may take to let go before its emulator is ended first."""


class AttachedDrive(Frozen):
    """An emulated drive on this machine.

    `state` is `attached` (the user did), `in use` (by a run), `left over` (its command was killed), `broken` (it stays
    attached, but its emulator is gone) or `foreign` (left over by a command whose leases are no longer there).
    """

    id: str
    state: Literal["attached", "in use", "left over", "broken", "foreign"]
    home: Path
    profile: str = ""
    device: str = ""
    mount_point: Path | None = None
    backing_bytes: int = 0


def attach(medium: EmulatedMedium, installation: Installation, mount_point: Path | None = None) -> AttachedDrive:
    """Attach a drive for good. Raises BadInputError before anything starts, AssayError after; then nothing stays."""
    medium.check()
    if mount_point is not None:
        if mount_point.is_symlink() or (mount_point.exists() and not mount_point.is_dir()):
            raise BadInputError(f"{mount_point} is not a directory; name an empty one, or one that is not there yet")
        if mount_point.is_dir() and any(mount_point.iterdir()):
            raise BadInputError(f"{mount_point} is not empty: what is in it would be hidden; name an empty directory")
        if not mount_point.exists() and not mount_point.parent.is_dir():
            raise BadInputError(f"{mount_point.parent} is not there; make it first, or name another directory")
    with ExitStack() as scope:
        lease = scope.enter_context(Lease(installation.state, PURPOSE))
        attached = medium.attach(lease, scope, mount_point)
        lease.note("profile", medium.profile.name)
        lease.note("device", str(attached.device))
        lease.note("mount_point", str(attached.mount_point))
        lease.keep()
        scope.pop_all()
    return _of_lease(lease)


def drives(installation: Installation) -> list[AttachedDrive]:
    """List all emulated drives on this machine, whoever attached them."""
    leased = [
        _of_lease(lease) for lease in leases(installation.state) if lease.purpose == PURPOSE and lease.directories
    ]
    known = {drive.home for drive in leased}
    return leased + [foreign for foreign in _foreign(installation) if foreign.home not in known]


def detach(drive: AttachedDrive, installation: Installation) -> dict[str, Any]:
    """Detach a drive, with its data, and return the last report of its emulator, which is empty where that was gone.

    Raises AssayError when something still uses it; at once, and nothing is touched, when somebody else's file system is
    mounted on it or below its home.
    """
    check_no_strangers([drive.home])
    report: dict[str, Any] = {}
    with suppress(AssayError):
        report = Drive(drive.home).ask("report", patience_s=HANG_S)
    with uninterrupted():
        hanging, devices = below([drive.home])
        for mount in hanging:
            for device in (loop.device for loop in devices if str(loop.device) == mount.source):
                shut_down(Path(mount.point), device)
        # While its emulator lives nothing waits for a dead device; one that hangs is ended first.
        with suppress(AssayError):
            let_go([drive.home], HANG_S)
        for lease in leases(installation.state):
            if lease.id == drive.id:
                lease.release()
        end_processes(lambda: marked_processes(drive.id), grace_s=0)
        let_go([drive.home])
        shutil.rmtree(drive.home, ignore_errors=True)
    return report


def named(name: str, everything: list[AttachedDrive]) -> AttachedDrive:
    """Find the drive with an id, a mount point or, if only one has it, a profile's name. Raises BadInputError."""
    matching = [drive for drive in everything if name in {drive.id, str(drive.mount_point or "")}]
    matching = matching or [drive for drive in everything if drive.profile == name and drive.state != "in use"]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise BadInputError(
            f"{name!r} is attached more than once; name one by its id: {', '.join(drive.id for drive in matching)}"
        )
    ids = ", ".join(drive.id for drive in everything) or "none at all"
    raise BadInputError(f"no drive {name!r} is attached; `assay media list` shows what is: {ids}")


def _of_lease(lease: Lease) -> AttachedDrive:
    home = lease.directories[0]
    state: Literal["attached", "in use", "left over", "broken"] = "in use"
    if lease.kept:
        state = "broken" if Drive(home).failure() else "attached"
    elif lease.stale:
        state = "left over"
    point = lease.details.get("mount_point")
    return AttachedDrive(
        id=lease.id, state=state, home=home, profile=lease.details.get("profile", ""),
        device=lease.details.get("device", ""), mount_point=Path(point) if point else None,
        backing_bytes=_taken(home),
    )  # fmt: skip


def _foreign(installation: Installation) -> Iterator[AttachedDrive]:
    """Find drives without a written lease by their mounts, loop devices and directories."""
    paths = [*(mount.point for mount in mounts()), *(str(loop.backing_file) for loop in loops())]
    paths += [f"{folder}/" for folder in (installation.parts / "work").resolve().glob(f"assay-{PURPOSE}-*")]
    homes = {Path(match["home"]): match["id"] for path in paths if (match := HOME.match(f"{path}/"))}
    for home, name in sorted(homes.items()):
        try:
            file = Path((home / "lease").read_text(encoding="utf-8").strip())
            is_leased = any(lease.kept or not lease.stale for lease in leases(file.parents[1]) if lease.id == file.stem)
        except OSError:  # too young to name its lease yet, perhaps
            is_leased = home.is_dir() and time.time() - home.stat().st_mtime < YOUNG_S
        if not is_leased:
            yield AttachedDrive(id=name, state="foreign", home=home, backing_bytes=_taken(home))


def _taken(home: Path) -> int:
    """Return the bytes that the sparse backing file takes of its disk."""
    try:
        return Drive(home).backing.stat().st_blocks * 512
    except OSError:
        return 0
