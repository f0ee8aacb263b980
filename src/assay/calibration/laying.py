"""The test file of a directory: laid out once, shared by all accesses, removed at the end."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from assay.calibration.fio import Limit, Meter, Stretch, direct_works
from assay.model.calibration import Access
from assay.model.errors import BadInputError

LEAST_FILE_BYTES, MOST_FILE_BYTES = 256 << 20, 4 << 30
MOST_MEMORY_FILE_BYTES = 1 << 30
PREFIX = ".assay-calibration-"


class LaidOut(NamedTuple):
    """The file that all accesses to a directory share, and how fast it could be written."""

    stretch: Stretch
    layout_mb_s: float


def direct_in(directory: Path) -> bool:
    """Whether the directory's file system has direct I/O that means something (a tmpfs accepts and ignores it)."""
    try:
        with tempfile.NamedTemporaryFile(prefix=PREFIX, dir=directory) as file:
            return direct_works(Path(file.name)) and not _is_memory(directory)
    except OSError as error:
        raise _refused(directory, error) from None


def _is_memory(directory: Path) -> bool:
    """Whether it lies on a tmpfs (/proc/self/mountinfo; Python's statvfs doesn't tell a file system's kind)."""
    number = directory.stat().st_dev
    wanted = f"{os.major(number)}:{os.minor(number)}"
    lines = (line.partition(" - ") for line in Path("/proc/self/mountinfo").read_text().splitlines())
    return any(before.split()[2] == wanted and after.split()[0] == "tmpfs" for before, _, after in lines)


@contextmanager
def laid_out(directory: Path, meter: Meter, seconds: float) -> Iterator[LaidOut]:
    """A file of as many bytes as fit the time and the room, for the time of a scope.

    Raises BadInputError when the directory can't be written to or has too little room.
    """
    wanted = _file_bytes(directory)
    try:
        descriptor, name = tempfile.mkstemp(prefix=PREFIX, dir=directory)
    except OSError as error:
        raise _refused(directory, error) from None
    os.close(descriptor)
    file = Path(name)
    try:
        yield _lay_out(file, wanted, meter, seconds)
    finally:
        file.unlink(missing_ok=True)


def _lay_out(file: Path, wanted: int, meter: Meter, seconds: float) -> LaidOut:
    """Write the file really (reads of what was only allocated cost nothing) until it is whole or the time is over."""
    direct = direct_works(file)
    access = Access(direction="write", pattern="sequential", block_bytes=1 << 20, depth=8 if direct else 1)
    access = access.model_copy(update={"buffered": not direct})
    limit = Limit(seconds=max(seconds, 1.0), total_bytes=wanted)
    point = meter.measure(access, Stretch(path=file, span_bytes=wanted), limit)
    write_out(file)
    size = file.stat().st_size >> 20 << 20
    return LaidOut(Stretch(path=file, span_bytes=size), point.mb_s)


def _file_bytes(directory: Path) -> int:
    """As large as is useful, and never more than half of what is free."""
    numbers = os.statvfs(directory)
    free = numbers.f_bavail * numbers.f_frsize
    if free < 2 * LEAST_FILE_BYTES:
        raise BadInputError(
            f"{directory} has only {free >> 20} MiB free; calibrating it needs {2 * LEAST_FILE_BYTES >> 20} MiB"
        )
    most = MOST_MEMORY_FILE_BYTES if _is_memory(directory) else MOST_FILE_BYTES
    return min(most, free // 2) >> 20 << 20


def _refused(directory: Path, error: OSError) -> BadInputError:
    return BadInputError(f"{directory} can't be written to ({error.strerror}); change its mode or name another")


def write_out(file: Path) -> None:
    """fsync(2)."""
    descriptor = os.open(file, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
