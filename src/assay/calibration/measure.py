"""Measuring one ground point by point within a budget of seconds.

A ground is a directory (a test file is laid out in it once), or a block device as a whole, or both. What can't be
measured there is left out and said in a doubt.
"""

import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from assay.calibration.fio import Limit, Meter, Stretch
from assay.calibration.grid import buffered_accesses, direct_accesses, weight, zone_accesses
from assay.calibration.knee import find_knee, read_rates
from assay.calibration.laying import LaidOut, direct_in, laid_out, write_out
from assay.model.base import Frozen
from assay.model.calibration import Access, Form, Knee, Point
from assay.model.doubt import Doubt
from assay.model.progress import Progress

_LAYOUT_SHARE = 0.15
# What a fio process costs beyond the time it measures.
_START_S = 0.4
_LEAST_POINT_S = 0.3
_RAMP_SHARE, _SLOW_RAMP_SHARE = 0.2, 0.5
_CACHE_SHARE = 0.8


class Ground(Frozen):
    """Where to measure.

    `device` is read as a whole for what needs long seeks; with `may_overwrite` it is the whole ground, and is written
    to. `settle` is called before each access: caches written out, as after idleness. `write_cache_bytes` is what a fast
    write cache takes, where that is known: sequential writes end before it is full.
    """

    directory: Path | None = None
    device: Path | None = None
    device_bytes: int = 0
    may_overwrite: bool = False
    rotational: bool = False
    write_cache_bytes: int = 0
    settle: Callable[[], object] = lambda: None


class Measured(Frozen):
    """What came of it; `file_bytes` is 0 without a test file."""

    points: tuple[Point, ...]
    doubts: tuple[Doubt, ...]
    file_bytes: int


def measure(ground: Ground, accesses: Sequence[Access], meter: Meter, seconds: float, progress: Progress) -> Measured:
    """Measure the accesses, each on the span it names. Raises BadInputError before anything is written."""
    ends = time.monotonic() + seconds
    points: list[Point] = []
    progress.detail("lay out the test file")
    with _file(ground, accesses, meter, seconds * _LAYOUT_SHARE) as file:
        for number, access in enumerate(accesses):
            later = sum(weight(one) for one in accesses[number:])
            share_s = (ends - time.monotonic()) * weight(access) / later
            progress.detail(f"{number + 1}/{len(accesses)} {describe(access)}")
            ground.settle()
            seconds_s = max(share_s - _START_S, _LEAST_POINT_S)
            limit = _timed(access, seconds_s, ground, number) or _sized(access, seconds_s, points, file, number)
            points.append(meter.measure(access, _stretch(access, ground, file), limit))
            if file is not None and access.fsync == "never" and access.direction == "write":
                write_out(file.stretch.path)
    file_bytes = file.stretch.span_bytes if file else 0
    return Measured(points=tuple(points), doubts=doubts_of(ground, accesses), file_bytes=file_bytes)


def plan_accesses(ground: Ground, form: Form) -> list[Access]:
    """The accesses that this ground allows.

    A directory on a rotating disk whose raw bytes may be read gets its random reads over the whole disk: seeks within a
    file of some GiB would be shorter than those of real use.
    """
    on_device: list[Access] = []
    if ground.may_overwrite:
        everything = [access.model_copy(update={"span": "device"}) for access in direct_accesses(form)]
        return [*(zone_accesses() if ground.rotational else ()), *everything]
    if ground.device is not None and ground.rotational:
        on_device = [
            access.model_copy(update={"span": "device"})
            for access in direct_accesses(form)
            if access.direction == "read"
            and ((access.pattern == "random" and access.block_bytes == 4096) or access.depth == 8)
        ]
        on_device += zone_accesses()
    direct = direct_accesses(form) if ground.directory and direct_in(ground.directory) else []
    return [*on_device, *direct, *buffered_accesses(form)]


def measure_knee(ground: Ground, meter: Meter, total_bytes: int, seconds: float) -> Knee | None:
    """Overwrite a block device from its beginning, past the write cache; at most `total_bytes` and `seconds`."""
    if ground.device is None or not ground.may_overwrite:
        raise ValueError("a knee is measured only on a device that may be overwritten")
    ground.settle()
    with tempfile.TemporaryDirectory(prefix="assay-knee-") as folder:
        stretch = Stretch(path=ground.device, span_bytes=ground.device_bytes)
        meter.write_through(stretch, total_bytes, seconds, Path(folder, "rate"))
        return find_knee(read_rates(Path(folder, "rate_bw.log")))


def describe(access: Access) -> str:
    """An access in few words, for people."""
    size = access.block_bytes
    block = f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"
    parts = [access.pattern, access.direction, block, f"depth {access.depth}"]
    parts += [f"{access.streams} streams"] if access.streams > 1 else []
    parts += ["buffered"] if access.buffered else []
    parts += [f"fsync {access.fsync}"] if access.fsync != "never" else []
    return " ".join(parts)


def doubts_of(ground: Ground, accesses: Sequence[Access]) -> tuple[Doubt, ...]:
    """What goes with the figures of this ground."""
    doubts = []
    if all(access.buffered for access in accesses) and ground.directory and not direct_in(ground.directory):
        doubts.append(
            Doubt(
                kind="no-direct-io",
                what="the medium's file system has no direct I/O, so everything went through the page cache",
                why="the figures are the page cache's and the medium's together",
                cure="take it as what programs get there; for a device alone calibrate a file system with O_DIRECT",
            )
        )
    short = [access for access in accesses if access.pattern == "random" and access.span == "file"]
    if ground.rotational and short and not any(access.span == "device" for access in accesses):
        doubts.append(
            Doubt(
                kind="short-seeks",
                what="random accesses were measured within one test file, as the raw disk can't be read",
                why="their seeks are shorter than over the whole disk, and so their rates higher",
                cure="run as root, so that the whole disk is read",
            )
        )
    return tuple(doubts)


def _file(
    ground: Ground, accesses: Sequence[Access], meter: Meter, seconds: float
) -> AbstractContextManager[LaidOut | None]:
    """The test file; none where all accesses are to the device."""
    if ground.directory is None or all(access.span == "device" for access in accesses):
        return nullcontext()
    return laid_out(ground.directory, meter, seconds)


def _stretch(access: Access, ground: Ground, file: LaidOut | None) -> Stretch:
    if access.span == "file" and file is not None:
        return file.stretch
    if ground.device is None:
        raise ValueError("an access to the whole device needs one")
    return Stretch(path=ground.device, span_bytes=ground.device_bytes, read_only=not ground.may_overwrite)


def _timed(access: Access, seconds: float, ground: Ground, number: int) -> Limit | None:
    """The limit of what runs for a time: direct accesses after a ramp, in which the device's cache fills.

    None for buffered writes, which are limited in bytes.
    """
    if not access.buffered:
        # A rotating disk takes hundreds of scattered writes into its cache before its true rate shows.
        slow = ground.rotational and access.direction == "write" and access.pattern == "random"
        ramp_s = seconds * (_SLOW_RAMP_SHARE if slow else _RAMP_SHARE)
        fills = access.direction == "write" and access.pattern == "sequential" and ground.write_cache_bytes
        total_bytes = int(ground.write_cache_bytes * _CACHE_SHARE) if fills else None
        return Limit(seconds=seconds - ramp_s, ramp_s=ramp_s, total_bytes=total_bytes, seed=number + 1)
    if access.direction == "read" or access.fsync == "each":
        return Limit(seconds=seconds, seed=number + 1)
    return None


def _sized(access: Access, seconds: float, before: Sequence[Point], file: LaidOut | None, number: int) -> Limit:
    """What is written to the page cache, and out at the end, ends by its bytes.

    Memory takes more in a second than a disk writes in a minute.
    """
    if file is None:
        raise ValueError("buffered writes need a test file")
    if access.pattern == "sequential":
        mb_s = file.layout_mb_s
    else:
        # With one fsync at the end the kernel writes in order: some times faster than with one after each block.
        written = [point for point in before if point.direction == "write" and point.pattern == access.pattern]
        mb_s = 2 * max((point.mb_s for point in written if point.fsync == "each"), default=1.0)
    total_bytes = min(int(mb_s * 1e6 * seconds), file.stretch.span_bytes)
    return Limit(seconds=seconds, total_bytes=max(total_bytes, access.block_bytes), seed=number + 1)
