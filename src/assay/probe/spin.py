"""How fast the processors are just before the jobs: all do the same short work at the same time.

The work is one call of a C library (PBKDF2, RFC 8018: hashing), without Python's lock and in the processor's own
caches: it shows the clock rate, what the host takes away, and what other programs take, and no drive has a part in it.
So it may explain why two equal trials differ; see docs/explanation/statistics.md.
"""

import hashlib
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from statistics import fmean
from threading import Barrier
from typing import NamedTuple

from assay.model.record import Amount

NAME, PROCESSORS = "spin", "processors"
ITERATIONS = 1_000_000
"""About 0.25 s on a processor of 2023."""
PATIENCE_S = 5.0


class Spin(NamedTuple):
    """Seconds that one processor took for the work, and the processor time that it got meanwhile."""

    elapsed_s: float
    busy_s: float


def spin(iterations: int = ITERATIONS) -> list[Amount]:
    """Means over all processors that this process may use, and the slowest one's time; of the part `staging`.

    Raises RuntimeError where there is no thread for each of them.
    """
    seen = spins(iterations)
    figures = {
        "elapsed_s": fmean(one.elapsed_s for one in seen),
        "slowest_s": max(one.elapsed_s for one in seen),
        "busy_s": fmean(one.busy_s for one in seen),
    }
    return [
        Amount(probe=NAME, subject=PROCESSORS, series=series, part="staging", value=value)
        for series, value in figures.items()
    ]


def spins(iterations: int) -> Sequence[Spin]:
    """Of each processor, all at once."""
    processors = sorted(os.sched_getaffinity(0))
    together = Barrier(len(processors))

    def work(processor: int) -> Spin:
        with suppress(OSError):  # it was taken away meanwhile: the kernel chooses another
            os.sched_setaffinity(0, {processor})  # of this thread alone
        together.wait(PATIENCE_S)
        began_s, began_busy_s = time.monotonic(), time.thread_time()
        hashlib.pbkdf2_hmac("sha256", b"spin", b"salt", iterations)
        return Spin(time.monotonic() - began_s, time.thread_time() - began_busy_s)

    with ThreadPoolExecutor(len(processors), NAME) as threads:
        return list(threads.map(work, processors))
