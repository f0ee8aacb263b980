"""How fast the processors are just before the jobs: all do the same short work at the same time.

The first work is arithmetic, one call of a C library (PBKDF2, RFC 8018) within the processor's registers: it shows the
clock rate. The second looks up numbers at random places of a memory of 64 MiB, nearly all of whose cache lines it
reads several times: it shows what others on the host take of caches and of the memory. The lookups don't depend on each
other, so many are under way at once: the time is of their throughput, not of the latency of one. Neither work needs
Python's lock, and no drive has a part in them. So they may explain why two equal trials differ; see
docs/explanation/statistics.md.
"""

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from statistics import fmean
from threading import Barrier
from typing import NamedTuple

from assay.model.record import Amount
from assay.model.signature import Array

NAME, PROCESSORS = "spin", "processors"
ITERATIONS, LOOKUPS = 500_000, 16_000_000
"""Each about 0.12 s on a processor of 2023."""
MEMORY_BYTES, NUMBER_BYTES, PASS_LOOKUPS = 64 << 20, 8, 500_000
SHIFT_BYTES = 997 * 64
"""By how much of the memory a pass of lookups is shifted against the one before: a number of whole cache lines."""
PATIENCE_S = 5.0


class Spin(NamedTuple):
    """Seconds that one processor took for some work, and the processor time that it got meanwhile."""

    elapsed_s: float
    busy_s: float


def spin(iterations: int = ITERATIONS, lookups: int = LOOKUPS) -> list[Amount]:
    """Means over all processors that this process may use, and the slowest one's time; of the part `staging`.

    Raises RuntimeError where there is no thread for each of them.
    """
    figures = {}
    for name, seen in (("", spins(iterations)), ("memory_", memory_spins(lookups))):
        figures[f"{name}elapsed_s"] = fmean(one.elapsed_s for one in seen)
        figures[f"{name}slowest_s"] = max(one.elapsed_s for one in seen)
        figures[f"{name}busy_s"] = fmean(one.busy_s for one in seen)
    return [
        Amount(probe=NAME, subject=PROCESSORS, series=series, part="staging", value=value)
        for series, value in figures.items()
    ]


def spins(iterations: int) -> Sequence[Spin]:
    """Arithmetic on each processor, all at once."""
    return _on_each(lambda: lambda: hashlib.pbkdf2_hmac("sha256", b"spin", b"salt", iterations))


def memory_spins(lookups: int) -> Sequence[Spin]:
    """About so many lookups at random places of one memory, by each processor, all at once."""
    import numpy as np

    places, passes = memory_passes(max(1, lookups // PASS_LOOKUPS))

    def begin() -> Callable[[], object]:
        read = np.zeros_like(places)
        return lambda: [memory.take(places, out=read, mode="clip") for memory in passes]

    return _on_each(begin)


def memory_passes(count: int) -> tuple[Array, list[Array]]:
    """Random places, and for each pass over them the part of one memory that they are in: each pass reads others."""
    import numpy as np

    memory = np.arange(MEMORY_BYTES // NUMBER_BYTES)
    shift = SHIFT_BYTES // NUMBER_BYTES
    places = np.random.default_rng(1).integers(0, len(memory) - (count - 1) * shift, PASS_LOOKUPS)
    return places, [memory[number * shift :] for number in range(count)]


def _on_each(begin: Callable[[], Callable[[], object]]) -> Sequence[Spin]:
    """What `begin` gives is timed."""
    processors = sorted(os.sched_getaffinity(0))
    together = Barrier(len(processors))

    def spin_on(processor: int) -> Spin:
        with suppress(OSError):  # it was taken away meanwhile: the kernel chooses another
            os.sched_setaffinity(0, {processor})  # of this thread alone
        work = begin()
        together.wait(PATIENCE_S)
        began_s, began_busy_s = time.monotonic(), time.thread_time()
        work()
        return Spin(time.monotonic() - began_s, time.thread_time() - began_busy_s)

    with ThreadPoolExecutor(len(processors), NAME) as threads:
        return list(threads.map(spin_on, processors))
