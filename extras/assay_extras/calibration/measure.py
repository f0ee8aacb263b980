"""Measures a medium point by point within a budget of seconds.

Blocks and depths span what Hadoop does: 4 KiB index reads to 1 MiB spills, one stream per task. The brief form varies
one thing at a time around four corners; the full form is the whole product. The named form has only what profiles have
names for.

The log is a series of rates; the knee is the one place at which two constant rates explain it best (least squares), as
in change-point detection with one change. A rise, or a fall of less than a sixth, is no knee.

A ground is a directory (a test file is laid out in it once), or a block device as a whole, or both. What can't be
measured there is left out and said in a doubt.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy
from pydantic import ValidationError

from assay.host.mounts import mount_of
from assay.model.base import Frozen
from assay.model.doubt import Doubt, doubt_kind
from assay.model.drive_profile import QueueSettings
from assay.model.errors import AssayError, BadInputError
from assay.model.fact import Fact
from assay.model.progress import Progress
from assay.node.devices import sysfs_name
from assay_extras.calibration.behaviour import PROBES_S, measure_behaviour
from assay_extras.calibration.calibration import AccessPattern, AccessPoint, Behaviour, Form, Knee
from assay_extras.calibration.fio import LOG_WINDOW_MS, Limit, Meter, Stretch, direct_works

_SECTOR_BYTES = 512


class BlockDevice(Frozen):
    """A block device as the kernel tells it (sysfs-block); `model` is empty where it has none."""

    path: Path
    bytes: int
    model: str
    rotational: bool

    @property
    def readable(self) -> bool:
        """Whether its raw bytes may be read: tried, since a container's root may have the right and not the device."""
        try:
            os.close(os.open(self.path, os.O_RDONLY | os.O_CLOEXEC))
        except OSError:
            return False
        return True


def block_device(facts: Mapping[str, Fact], sys: Path = Path("/sys/class/block")) -> BlockDevice | None:
    """The device that a medium's facts name; None where the file system has none of its own (tmpfs, overlay, nfs)."""
    path = Path(str(facts.get("device", "")))
    if not path.is_absolute() or not path.exists():
        return None
    folder = sys / sysfs_name(path.resolve())
    try:
        sectors = int((folder / "size").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    disk = folder.resolve()
    if (disk / "partition").exists():
        disk = disk.parent
    model = disk / "device/model"
    return BlockDevice(
        path=path,
        bytes=sectors * _SECTOR_BYTES,
        model=model.read_text(encoding="utf-8").strip() if model.exists() else "",
        rotational=facts.get("rotational") is True,
    )


def queue_settings(device: Path) -> QueueSettings | None:
    """How the kernel treats a block device, a partition as its disk (sysfs-block); None where it does not tell."""
    folder = Path("/sys/class/block", sysfs_name(device.resolve())).resolve()
    folder = (folder.parent if (folder / "partition").exists() else folder) / "queue"
    settings: dict[str, str] = {}
    for name in QueueSettings.model_fields:
        with suppress(OSError):
            choices = (folder / name).read_text(encoding="utf-8").split()
            settings[name] = next((word.strip("[]") for word in choices if "[" in word), " ".join(choices))
    try:
        return QueueSettings.model_validate(settings)
    except ValidationError:
        return None


KIB, MIB = 1 << 10, 1 << 20
STREAM_BLOCK_BYTES = 128 * KIB

_NAMED_SEQUENTIAL, _NAMED_RANDOM = [(MIB, 8)], [(4 * KIB, 1), (4 * KIB, 32)]
_BRIEF_SEQUENTIAL = [(4 * KIB, 1), (4 * KIB, 32), (64 * KIB, 1), (MIB, 1), (MIB, 8)]
_BRIEF_RANDOM = [(4 * KIB, 1), (4 * KIB, 4), (4 * KIB, 32), (64 * KIB, 1), (64 * KIB, 32), (MIB, 1)]
_PRODUCT = list(product([4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB], [1, 2, 4, 8, 16, 32]))
_CORNERS = {
    "named": {"sequential": _NAMED_SEQUENTIAL, "random": _NAMED_RANDOM},
    "brief": {"sequential": _BRIEF_SEQUENTIAL, "random": _BRIEF_RANDOM},
    "full": {"sequential": _PRODUCT, "random": _PRODUCT},
}
_STREAMS = {"named": [1, 2, 4, 8], "brief": [1, 2, 4, 8], "full": [1, 2, 3, 4, 6, 8]}
# Of a disk's whole span: a rotating one is faster outside, where it begins, than inside. The first is in the corners.
_ZONES = [0.25, 0.5, 0.75, 0.97]


def direct_accesses(form: Form) -> list[AccessPattern]:
    """With O_DIRECT: the device itself. All reads before all writes, sequential before random."""
    return [
        _access(direction, pattern, block_bytes, depth=depth)
        for direction in ("read", "write")
        for pattern, corners in _CORNERS[form].items()
        for block_bytes, depth in corners
    ]


def zone_accesses() -> list[AccessPattern]:
    """Sequential reads along the span of a block device; with the one at its beginning they give its average."""
    return [
        _access("read", "sequential", MIB, depth=8, span="device", start_share=start_share) for start_share in _ZONES
    ]


def buffered_accesses(form: Form) -> list[AccessPattern]:
    """Through the page cache, as Hadoop does it. Those written without fsync show the memory, not the medium."""
    reads = [
        *(
            _access("read", "sequential", STREAM_BLOCK_BYTES, streams=streams, buffered=True)
            for streams in _STREAMS[form]
        ),
        _access("read", "random", 4 * KIB, buffered=True),
    ]
    if form == "named":
        return reads[:-1]
    logs = [_access("write", "sequential", block_bytes, buffered=True, fsync="each") for block_bytes in (4 * KIB, MIB)]
    writes = [
        _access("write", "random", 4 * KIB, buffered=True, fsync="each"),
        _access("write", "random", 4 * KIB, buffered=True, fsync="end"),
        *(
            _access("write", "sequential", MIB, streams=streams, buffered=True, fsync="end")
            for streams in _STREAMS[form]
        ),
        _access("write", "sequential", MIB, buffered=True),
    ]
    return [*reads, *logs, *writes]


def weight(access: AccessPattern) -> float:
    """How much more time than others an access deserves: those that have names in profiles are what is judged."""
    random_corner = access.pattern == "random" and access.block_bytes == 4 * KIB and access.depth in {1, 32}
    sequential_corner = access.pattern == "sequential" and access.block_bytes == MIB and access.depth == 8
    return 2.0 if (random_corner or sequential_corner) and not access.buffered else 1.0


def _access(direction: str, pattern: str, block_bytes: int, **rest: object) -> AccessPattern:
    return AccessPattern.model_validate(
        {"direction": direction, "pattern": pattern, "block_bytes": block_bytes, **rest}
    )


LEAST_FILE_BYTES, MOST_FILE_BYTES = 256 << 20, 4 << 30
MOST_MEMORY_FILE_BYTES = 1 << 30
PREFIX = ".assay-calibration-"


class LaidOut(NamedTuple):
    """The file that all accesses to a directory share, how fast it could be written, and where that fell."""

    stretch: Stretch
    layout_mb_s: float
    knee: Knee | None = None


def direct_in(directory: Path) -> bool:
    """Whether the directory's file system has direct I/O that means something (a tmpfs accepts and ignores it)."""
    try:
        with tempfile.NamedTemporaryFile(prefix=PREFIX, dir=directory) as file:
            return direct_works(Path(file.name)) and not _is_memory(directory)
    except OSError as error:
        raise _refused(directory, error) from None


def _is_memory(directory: Path) -> bool:
    """Whether it lies on a tmpfs (/proc/self/mountinfo; Python's statvfs doesn't tell a file system's kind)."""
    return mount_of(directory).file_system == "tmpfs"


@contextmanager
def laid_out(directory: Path, meter: Meter, seconds: float) -> Iterator[LaidOut]:
    """A file of as many bytes as fit the time and the room, for the time of a scope.

    Raises BadInputError when the directory can't be written to or has too little room.
    """
    file_bytes = _file_bytes(directory)
    try:
        descriptor, name = tempfile.mkstemp(prefix=PREFIX, dir=directory)
    except OSError as error:
        raise _refused(directory, error) from None
    os.close(descriptor)
    file = Path(name)
    try:
        yield _lay_out(file, file_bytes, meter, seconds)
    finally:
        file.unlink(missing_ok=True)


def _lay_out(file: Path, file_bytes: int, meter: Meter, seconds: float) -> LaidOut:
    """Write the file really (reads of what was only allocated cost nothing) until it is whole or the time is over."""
    with tempfile.TemporaryDirectory(prefix="assay-layout-") as folder:
        meter.write_through(
            Stretch(path=file, span_bytes=file_bytes), file_bytes, max(seconds, 1.0), Path(folder, "rate")
        )
        rates = read_rates(Path(folder, "rate_bw.log"))
    write_out(file)
    size = file.stat().st_size >> 20 << 20
    took_s = sum(window.seconds for window in rates)
    knee = find_knee(coarser(rates)) if direct_in(file.parent) else None
    large = knee is not None and knee.knee_bytes >= _LEAST_KNEE_BYTES
    return LaidOut(Stretch(path=file, span_bytes=size), size / 1e6 / took_s if took_s else 0.0, knee if large else None)


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


_LEAST_FALL = 1.2
_LEAST_KNEE_BYTES, _WINDOWS = 256 << 20, 10
_LEAST_SAMPLES = 10
_MARGIN = 3


class Window(NamedTuple):
    """A stretch of time and what was written in it."""

    seconds: float
    mb_s: float


def read_rates(log: Path) -> list[Window]:
    """Fio's bandwidth log: `end of window in ms, KiB/s, direction, block, offset, ...` per line.

    A window in which nothing was written has no line, and the next line is of its own window alone: a device that
    writes in bursts would seem to write at the rate of its bursts.
    """
    windows, last_ms = [], 0
    try:
        for line in log.read_text(encoding="utf-8").splitlines():
            end_ms, kib_s = (int(field) for field in line.split(",")[:2])
            if end_ms > last_ms:
                count = max(round((end_ms - last_ms) / LOG_WINDOW_MS), 1)
                seconds = (end_ms - last_ms) / count / 1e3
                windows += [Window(seconds, 0.0)] * (count - 1) + [Window(seconds, kib_s * 1024 / 1e6)]
                last_ms = end_ms
    except (OSError, ValueError) as error:
        raise AssayError(f"fio's bandwidth log {log} can't be read: {error}") from None
    return windows


def coarser(rates: Sequence[Window]) -> list[Window]:
    """Windows of half a second: a limit that is kept per tenth of one is no fall of the rate."""
    made: list[Window] = []
    for group in (rates[begin : begin + _WINDOWS] for begin in range(0, len(rates), _WINDOWS)):
        seconds = sum(window.seconds for window in group)
        made.append(Window(seconds, sum(window.seconds * window.mb_s for window in group) / seconds))
    return made


def find_knee(windows: Sequence[Window]) -> Knee | None:
    """The one fall of the rate; None where there is none."""
    if len(windows) < _LEAST_SAMPLES:
        return None
    rates = numpy.array([window.mb_s for window in windows])
    written = numpy.cumsum([window.mb_s * window.seconds * 1e6 for window in windows])
    splits = numpy.arange(_MARGIN, len(rates) - _MARGIN)
    best = int(min(splits, key=lambda split: _misfit(rates[:split]) + _misfit(rates[split:])))
    # Means, not medians: a window holds a handful of blocks, so that single rates are coarse.
    before, beyond = float(rates[:best].mean()), float(rates[best:].mean())
    if beyond <= 0 or before < _LEAST_FALL * beyond:
        return None
    return Knee(knee_bytes=int(written[best - 1]), before_mb_s=before, beyond_mb_s=beyond)


def _misfit(rates: "numpy.typing.NDArray[numpy.float64]") -> float:
    return float(((rates - rates.mean()) ** 2).sum())


_LAYOUT_SHARE, _BOTH_SHARE = 0.15, 0.12
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


class MeasuredMedium(Frozen):
    """What came of it; `file_bytes` is 0 without a test file."""

    points: tuple[AccessPoint, ...]
    doubts: tuple[Doubt, ...]
    file_bytes: int
    knee: Knee | None = None
    behaviour: Behaviour | None = None


def measure(
    ground: Ground, accesses: Sequence[AccessPattern], meter: Meter, seconds: float, progress: Progress
) -> MeasuredMedium:
    """Measure the accesses, each on the span it names. Raises BadInputError before anything is written.

    With direct accesses to a test file the medium's behaviour is measured, too.
    """
    behaves = any(access.span == "file" and not access.buffered for access in accesses)
    both_s = max(seconds - PROBES_S, 0.0) * _BOTH_SHARE
    ends = time.monotonic() + seconds - (both_s + min(PROBES_S, seconds / 3) if behaves else 0.0)
    points: list[AccessPoint] = []
    progress.detail("lay out the test file")
    with _file(ground, accesses, meter, seconds * _LAYOUT_SHARE) as file:
        for number, access in enumerate(accesses):
            later = sum(weight(access) for access in accesses[number:])
            share_s = (ends - time.monotonic()) * weight(access) / later
            progress.detail(f"{number + 1}/{len(accesses)} {describe(access)}")
            ground.settle()
            seconds_s = max(share_s - _START_S, _LEAST_POINT_S)
            limit = _timed(access, seconds_s, ground, number) or _sized(access, seconds_s, points, file, number)
            points.append(meter.measure(access, _stretch(access, ground, file), limit))
            if file is not None and access.fsync == "never" and access.direction == "write":
                write_out(file.stretch.path)
        behaviour = None
        if file is not None and behaves:
            progress.detail("both directions at once, and after idleness")
            behaviour = measure_behaviour(file.stretch, points, meter, both_s)
    return MeasuredMedium(
        points=tuple(points),
        doubts=doubts_of(ground, accesses),
        file_bytes=file.stretch.span_bytes if file else 0,
        knee=file.knee if file else None,
        behaviour=behaviour,
    )


def plan_accesses(ground: Ground, form: Form) -> list[AccessPattern]:
    """The accesses that this ground allows.

    A directory on a rotating disk whose raw bytes may be read gets its random reads over the whole disk: seeks within a
    file of some GiB would be shorter than those of real use.
    """
    on_device: list[AccessPattern] = []
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


def describe(access: AccessPattern) -> str:
    """An access in few words, for people."""
    size = access.block_bytes
    block = f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"
    parts = [access.pattern, access.direction, block, f"depth {access.depth}"]
    parts += [f"{access.streams} streams"] if access.streams > 1 else []
    parts += ["buffered"] if access.buffered else []
    parts += [f"fsync {access.fsync}"] if access.fsync != "never" else []
    return " ".join(parts)


NO_DIRECT_IO = doubt_kind(
    "no-direct-io",
    "calibration",
    when="the file system does not support direct I/O",
    why="the figures are those of the page cache and the medium together",
    cure=(
        "use them as the figures that programs get there; to measure the device alone, calibrate a file system "
        "with O_DIRECT"
    ),
)
SHORT_SEEKS = doubt_kind(
    "short-seeks",
    "calibration",
    when="a rotating disk's raw device can't be read",
    why="seeks are shorter than over the whole disk, so random rates are too high",
    cure="run as root, so that the whole disk is read",
)


def doubts_of(ground: Ground, accesses: Sequence[AccessPattern]) -> tuple[Doubt, ...]:
    """What goes with the figures of this ground."""
    doubts = []
    if all(access.buffered for access in accesses) and ground.directory and not direct_in(ground.directory):
        doubts.append(
            NO_DIRECT_IO.doubt(
                "the medium's file system does not support direct I/O, so everything went through the page cache"
            )
        )
    short = [access for access in accesses if access.pattern == "random" and access.span == "file"]
    if ground.rotational and short and not any(access.span == "device" for access in accesses):
        doubts.append(
            SHORT_SEEKS.doubt("random accesses were measured within one test file, as the raw disk can't be read")
        )
    return tuple(doubts)


def _file(
    ground: Ground, accesses: Sequence[AccessPattern], meter: Meter, seconds: float
) -> AbstractContextManager[LaidOut | None]:
    """The test file; none where all accesses are to the device."""
    if ground.directory is None or all(access.span == "device" for access in accesses):
        return nullcontext()
    return laid_out(ground.directory, meter, seconds)


def _stretch(access: AccessPattern, ground: Ground, file: LaidOut | None) -> Stretch:
    if access.span == "file" and file is not None:
        return file.stretch
    if ground.device is None:
        raise ValueError("an access to the whole device needs one")
    return Stretch(path=ground.device, span_bytes=ground.device_bytes, read_only=not ground.may_overwrite)


def _timed(access: AccessPattern, seconds: float, ground: Ground, number: int) -> Limit | None:
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


def _sized(
    access: AccessPattern, seconds: float, before: Sequence[AccessPoint], file: LaidOut | None, number: int
) -> Limit:
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
