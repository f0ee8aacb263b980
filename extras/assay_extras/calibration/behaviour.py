"""What rates alone don't tell of a medium: both directions at once, what an idle one does at once, and its latencies.

A device that is held to its limits by a kernel, a hypervisor or a cloud answers some requests quickly, and then none
until its limit allows more. So latency and rate are measured apart: requests follow each other without a pause after
idleness, and how far they get ahead of the rate that the medium keeps is its burst.
"""

import mmap
import os
import random
import statistics
import time
from collections.abc import Sequence
from typing import Literal

from assay.host.files import opened
from assay_extras.calibration.calibration import AccessPattern, AccessPoint, Behaviour, Burst
from assay_extras.calibration.fio import Limit, Meter, Stretch

BLOCK_BYTES, LONG_BYTES = 4096, 1 << 20
PROBE_S, IDLE_S = 0.8, 1.0
FLUSHES = 8
LEAST_BURST_MS = 15.0
"""A shorter one is the noise of a machine, not the doing of a limit."""
MOST_SHARE = 0.9
"""Of the time that a probe took: who is still ahead by then was never held back."""
PROBES_S = 4 * (PROBE_S + IDLE_S) + 1.0

Direction = Literal["read", "write"]


def measure_behaviour(stretch: Stretch, points: Sequence[AccessPoint], meter: Meter, seconds: float) -> Behaviour:
    """On a file that is laid out, with direct I/O; `points` are the rates that the medium keeps.

    Takes `seconds` and the probes' own time.
    """
    sequential = AccessPattern(direction="read", pattern="sequential", block_bytes=LONG_BYTES, depth=8)
    scattered = AccessPattern(direction="read", pattern="random", block_bytes=BLOCK_BYTES, depth=32)
    limit = Limit(seconds=max(seconds / 2 * 0.75, 0.5), ramp_s=seconds / 2 * 0.25)
    both = [meter.measure_both(access, stretch, limit) for access in (sequential, scattered)]
    short = {
        way: _probe(stretch, way, BLOCK_BYTES, _sustained_iops(points, way, "random")) for way in ("read", "write")
    }
    long = {
        way: _probe(stretch, way, LONG_BYTES, _sustained_iops(points, way, "sequential")) for way in ("read", "write")
    }
    bursts = {
        way: Burst(
            latency_us=short[way].latency_us,
            burst_ms=max(short[way].burst_ms, long[way].burst_ms),
        )
        for way in ("read", "write")
    }
    return Behaviour(
        sequential=both[0],
        random=both[1],
        read=bursts["read"],
        write=bursts["write"],
        long_read_us=long["read"].latency_us,
        flush_us=_flush_us(stretch),
    )


def _sustained_iops(points: Sequence[AccessPoint], direction: str, pattern: str) -> float:
    """Requests a second that the medium keeps, by the deepest direct measurement of this size."""
    size = BLOCK_BYTES if pattern == "random" else LONG_BYTES
    alike = [
        point for point in points if (point.direction, point.pattern, point.block_bytes) == (direction, pattern, size)
    ]
    return max((point.iops for point in alike if not point.buffered and not point.start_share), default=0.0)


def _probe(stretch: Stretch, direction: Direction, size: int, kept_per_s: float) -> Burst:
    """Requests one after the other for a moment, after idleness; short ones anywhere, long ones in order."""
    chance = random.Random(1)  # noqa: S311 - places to read
    count = stretch.span_bytes // size
    starts: list[float] = []
    ends: list[float] = []
    with (
        opened(stretch.path, (os.O_RDONLY if direction == "read" else os.O_RDWR) | os.O_DIRECT) as file,
        mmap.mmap(-1, size) as page,
    ):
        page.write(chance.randbytes(size))
        time.sleep(IDLE_S)
        began = time.perf_counter()
        while not ends or ends[-1] < PROBE_S:
            offset = (chance.randrange(count) if size == BLOCK_BYTES else len(ends) % count) * size
            starts.append(time.perf_counter() - began)
            if direction == "read":
                os.preadv(file, [page], offset)
            else:
                os.pwritev(file, [page], offset)
            ends.append(time.perf_counter() - began)
    return burst_of(starts, ends, kept_per_s)


def burst_of(starts: Sequence[float], ends: Sequence[float], kept_per_s: float) -> Burst:
    """How far a series of requests got ahead of a rate, and the median latency of those that got it there."""
    ahead = [number / kept_per_s - end if kept_per_s else 0.0 for number, end in enumerate(ends, 1)]
    furthest = max(range(len(ahead)), key=ahead.__getitem__)
    burst_ms = ahead[furthest] * 1000
    held_back = burst_ms >= LEAST_BURST_MS and ends[furthest] < MOST_SHARE * ends[-1]
    quick = furthest + 1 if held_back else len(ends)
    latencies = [end - start for start, end in zip(starts[:quick], ends[:quick], strict=True)]
    return Burst(latency_us=statistics.median(latencies) * 1e6, burst_ms=burst_ms if held_back else 0.0)


def _flush_us(stretch: Stretch) -> float:
    """The median time of fdatasync(2) after a direct write, which leaves only the device's own cache to write out."""
    took = []
    with opened(stretch.path, os.O_RDWR | os.O_DIRECT) as file, mmap.mmap(-1, BLOCK_BYTES) as page:
        for number in range(FLUSHES):
            os.pwritev(file, [page], number * BLOCK_BYTES)
            began = time.perf_counter()
            os.fdatasync(file)
            took.append(time.perf_counter() - began)
    return statistics.median(took) * 1e6
