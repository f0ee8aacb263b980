"""The doubts of the block trace."""

from collections.abc import Iterator
from pathlib import Path

from assay.model.doubt import Doubt, doubt_kind
from assay.model.record import Part
from assay.model.signature import ACCESS_ROLES, FLUSH_KIND, Requests
from assay.model.trial import Role

UNKNOWN_SHARE = 0.2
"""More bytes than this that belonged to no known file are doubted."""


TRACE_ESTIMATED = doubt_kind(
    "trace-estimated",
    "medium",
    when="a medium's requests were not observed singly",
    why="its I/O signature is estimated from the device's counters: no sizes, no order, few roles",
    cure="see the reason; use a medium on a block device of its own",
    instrument="block-trace",
)


def estimated(medium: str, reason: str, cure: str) -> Doubt:
    """There are only counters."""
    return TRACE_ESTIMATED.doubt(
        f"the requests of medium {medium!r} were not observed singly: {reason}", medium, cure=cure
    )


TRACE_DROPPED = doubt_kind(
    "trace-dropped",
    "medium",
    when="some of a medium's requests are missing from its log",
    why="its I/O signature covers the other requests only",
    cure="check whether the disk that holds the log is full or very busy",
    instrument="block-trace",
)


def dropped(medium: str, requests: int, kept: int) -> Doubt:
    """The log had no room for some."""
    return TRACE_DROPPED.doubt(
        f"{requests} of {requests + kept} requests of medium {medium!r} are missing from its log", medium
    )


def events_lost(events: int) -> Doubt:
    """The kernel's buffers ran over."""
    return TRACE_DROPPED.doubt(
        f"the kernel dropped {events} block events",
        why="requests are missing from the I/O signature, or their latencies are",
        cure="leave Assay a share of a core: bound the cluster with a limit on its cpus",
    )


TRACE_MISSING = doubt_kind(
    "trace-missing",
    "medium",
    when="a medium's log can't be read",
    why="the I/O signature lacks this medium, or estimates it",
    cure="build the drive emulator anew: setup/prepare emulator",
    instrument="block-trace",
)


def log_unreadable(medium: str, reason: str) -> Doubt:
    """No log after all."""
    return TRACE_MISSING.doubt(f"the log of medium {medium!r} can't be read: {reason}", medium)


TRACE_INCOMPLETE = doubt_kind(
    "trace-incomplete",
    "medium",
    when="a medium's log was not complete when the trial ended",
    why="the last requests may be missing from the I/O signature",
    cure="check whether the emulator died, and run the trial again",
    instrument="block-trace",
)


def log_short(medium: str) -> Doubt:
    """The emulator did not write down all that it answered."""
    return TRACE_INCOMPLETE.doubt(f"the log of medium {medium!r} was not complete when the trial ended", medium)


TRACE_SHARES_DEVICE = doubt_kind(
    "trace-shares-device",
    "medium",
    when="several media are on one device",
    why="requests without a file count for one of them alone, and depths are of each medium's own requests",
    cure="give each medium a device of its own, or make them one medium",
    instrument="block-trace",
)


def share_device(medium: str, first: str, device: Path) -> Doubt:
    """A request has only one place."""
    return TRACE_SHARES_DEVICE.doubt(
        f"media {medium!r} and {first!r} are both on {device}: a request counts for the medium that holds its file",
        medium,
    )


TRACE_FILES_LATE = doubt_kind(
    "trace-files-late",
    "trial",
    when="the addresses of files could not be read at the end of an interval",
    why="requests of new files may count as `other`, and input as output",
    cure="find the device that hangs (dmesg)",
    instrument="block-trace",
)


def files_hang(part: Part) -> Doubt:
    """FIEMAP waits for a device."""
    return TRACE_FILES_LATE.doubt(f"the addresses of files could not be read at the end of {part!r}")


TRACE_FILES_UNMAPPED = doubt_kind(
    "trace-files-unmapped",
    "medium",
    when="a file system does not show the addresses of its files",
    why="its requests count as one role, or as `other`, including the file system's own",
    cure="use a medium with ext4 or xfs directly on its device",
    instrument="block-trace",
)


def files_unmapped(medium: str, reason: str, role: Role | None) -> Doubt:
    """No roles by place."""
    instead = f"all its requests count as {role}, the only role it serves" if role else "all its requests are `other`"
    return TRACE_FILES_UNMAPPED.doubt(
        f"the addresses of files on medium {medium!r} are not known: {reason}",
        medium,
        why=f"{instead}, the file system's own among them",
    )


TRACE_ROLES_UNKNOWN = doubt_kind(
    "trace-roles-unknown",
    "medium",
    when="more than 20 % of a medium's bytes have no role",
    why=("they belong to the file system itself, to other users of the disk, or to files that existed only briefly"),
    cure="give the medium a disk of its own; requests of very short-lived files can't be assigned",
    instrument="block-trace",
)


def of_unknown_files(requests: Requests) -> Iterator[Doubt]:
    """A large share belonged to no file that was seen."""
    data = requests.kind < FLUSH_KIND
    total = int(requests.bytes[data].sum())
    other = int(requests.bytes[data & (requests.role == ACCESS_ROLES.index("other"))].sum())
    if total and other > UNKNOWN_SHARE * total and len(set(requests.role.tolist())) > 1:
        yield TRACE_ROLES_UNKNOWN.doubt(
            f"{100 * other / total:.0f} % of the bytes on medium {requests.medium!r} have no role",
            requests.medium,
        )


def thread_hangs(name: str) -> Doubt:
    """It did not end."""
    return TRACE_INCOMPLETE.doubt(
        f"the {name} did not end with the trial",
        why=(
            "the last requests may be missing from the I/O signature or count as `other`, and parts that were not over "
            "when it hung have no totals by role"
        ),
        cure="look for a device that hangs (dmesg)",
    )


def thread_died(what: str, error: Exception) -> Doubt:
    """It ended early."""
    return TRACE_INCOMPLETE.doubt(
        f"the {what} stopped: {type(error).__name__}: {error}",
        why=(
            "requests after that are missing from the I/O signature or count as `other`, and parts that were not over "
            "have no totals by role"
        ),
        cure="run the trial again; if it stops again, report what it says",
    )
