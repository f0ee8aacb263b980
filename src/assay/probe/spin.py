"""How fast the processors are just before the jobs: all do the same short work at the same time.

The first work is arithmetic, one call of a C library (PBKDF2, RFC 8018) within the processor's registers: it shows the
clock rate. The second looks up numbers at random places of a memory larger than caches usually are: it shows what
others on the host take of those and of the memory. Neither needs Python's lock, and no drive has a part in them. So
they may explain why two equal trials differ; see docs/explanation/statistics.md.
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

NAME, PROCESSORS = "spin", "processors"
ITERATIONS, LOOKS = 500_000, 16_000_000
"""Each about 0.12 s on a processor of 2023."""
MEMORY_BYTES, LOOKS_AT_ONCE = 64 << 20, 500_000
PATIENCE_S = 5.0


class Spin(NamedTuple):
    """Seconds that one processor took for some work, and the processor time that it got meanwhile."""

    elapsed_s: float
    busy_s: float


def spin(iterations: int = ITERATIONS, looks: int = LOOKS) -> list[Amount]:
    """Means over all processors that this process may use, and the slowest one's time; of the part `staging`.

    Raises RuntimeError where there is no thread for each of them.
    """
    figures = {}
    for name, seen in (("", spins(iterations)), ("memory_", memory_spins(looks))):
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


def memory_spins(looks: int) -> Sequence[Spin]:
    """About so many looks at random places of one memory, by each processor, all at once."""
    import numpy as np

    memory = np.arange(MEMORY_BYTES // 8)
    places = np.random.default_rng(1).integers(0, len(memory), LOOKS_AT_ONCE)

    def begin() -> Callable[[], object]:
        seen = np.zeros_like(places)
        return lambda: [memory.take(places, out=seen, mode="clip") for _ in range(max(1, looks // LOOKS_AT_ONCE))]

    return _on_each(begin)


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
