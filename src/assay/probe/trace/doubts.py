"""The doubts of the block trace."""

from collections.abc import Iterator
from pathlib import Path

from assay.model.doubt import Doubt
from assay.model.record import Part
from assay.model.signature import ACCESS_ROLES, FLUSH_KIND, Requests
from assay.model.trial import Role

UNKNOWN_SHARE = 0.2
"""More bytes than this that belonged to no known file are doubted."""


def estimated(medium: str, reason: str, cure: str) -> Doubt:
    """There are only counters."""
    return Doubt(
        kind="trace-estimated",
        what=f"the requests of medium {medium!r} were not seen one by one: {reason}",
        why="its part of the I/O signature is estimated from the device's counters: no sizes, no order, few roles",
        cure=cure,
    )


def dropped(medium: str, requests: int, kept: int) -> Doubt:
    """The log had no room for some."""
    return Doubt(
        kind="trace-dropped",
        what=f"{requests} of {requests + kept} requests of medium {medium!r} are missing from its log",
        why="its part of the I/O signature is of the others only",
        cure="look whether the disk that holds the log is full or very busy",
    )


def events_lost(events: int) -> Doubt:
    """The kernel's buffers ran over."""
    return Doubt(
        kind="trace-dropped",
        what=f"the kernel had no room for {events} block events",
        why="requests are missing from the I/O signature, or their latencies are",
        cure="leave Assay a share of a core: bound the cluster with a limit on its cpus",
    )


def log_unreadable(medium: str, reason: str) -> Doubt:
    """No log after all."""
    return Doubt(
        kind="trace-missing",
        what=f"the log of medium {medium!r} can't be read: {reason}",
        why="the I/O signature has nothing of that medium, or an estimate",
        cure="build the drive emulator anew: setup/prepare emulator",
    )


def log_short(medium: str) -> Doubt:
    """The emulator did not write down all that it answered."""
    return Doubt(
        kind="trace-incomplete",
        what=f"the log of medium {medium!r} was not complete when the trial ended",
        why="the last requests may be missing from the I/O signature",
        cure="look whether the emulator died, and run the trial again",
    )


def share_device(medium: str, first: str, device: Path) -> Doubt:
    """A request has only one place."""
    return Doubt(
        kind="media-share-device",
        what=f"media {medium!r} and {first!r} both lie on {device}: a request counts for the one whose file it was of",
        why=f"what was of no file of a role is told of {first!r} alone, and depths are of each medium's own requests",
        cure="give each medium a device of its own, or make them one medium",
    )


def files_hang(part: Part) -> Doubt:
    """FIEMAP waits for a device."""
    return Doubt(
        kind="trace-files-late",
        what=f"the places of files could not be looked at when the part {part!r} ended",
        why="requests of files that were new then may count as `other`, and input as output",
        cure="look for a device that hangs (dmesg)",
    )


def files_unmapped(medium: str, reason: str, role: Role | None) -> Doubt:
    """No roles by place."""
    instead = f"all its requests count as {role}, the only role it serves" if role else "all its requests are `other`"
    return Doubt(
        kind="trace-files-unmapped",
        what=f"the places of files on medium {medium!r} can't be told: {reason}",
        why=f"{instead}, the file system's own among them",
        cure="use a medium with ext4 or xfs directly on its device",
    )


def of_unknown_files(requests: Requests) -> Iterator[Doubt]:
    """A large share belonged to no file that was seen."""
    data = requests.kind < FLUSH_KIND
    total = int(requests.bytes[data].sum())
    other = int(requests.bytes[data & (requests.role == ACCESS_ROLES.index("other"))].sum())
    if total and other > UNKNOWN_SHARE * total and len(set(requests.role.tolist())) > 1:
        yield Doubt(
            kind="trace-roles-unknown",
            what=f"{100 * other / total:.0f} % of the bytes on medium {requests.medium!r} were of no file of a role",
            why="they are the file system's own, others' on the same disk, or of files that came and went unseen",
            cure="give the medium a disk of its own; of very short-lived files nothing can be told",
        )


def thread_hangs(name: str) -> Doubt:
    """It did not end."""
    return Doubt(
        kind="trace-incomplete",
        what=f"the {name} did not end with the trial",
        why="the last requests may be missing from the I/O signature or count as `other`, and parts that were not over "
        "when it hung have no totals by role",
        cure="look for a device that hangs (dmesg)",
    )


def thread_died(what: str, error: Exception) -> Doubt:
    """It ended early."""
    return Doubt(
        kind="trace-incomplete",
        what=f"the {what} stopped: {type(error).__name__}: {error}",
        why="requests after that are missing from the I/O signature or count as `other`, and parts that were not over "
        "have no totals by role",
        cure="run the trial again; if it stops again, report what it says",
    )
