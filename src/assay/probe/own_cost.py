"""The instrument's own cost: processor time of all threads that probe, memory, and the samples that are kept.

The sampling thread and all threads of this process whose names begin with `probe-` count, by their own clocks
(clock_gettime(2) with a thread's clock), and the probes' child processes (`nft`) by wait4(2). Memory that a probe takes
can't be told from Assay's own: told is by how much this process has grown since just before the probes began
(`estimated`). That is no bound: what a probe takes may fit into what Assay had free by then.
"""

import threading
import time
from collections.abc import Callable, Mapping

from assay.model.doubt import Doubt
from assay.model.probe import Scene
from assay.probe.process_stat import OpenProcess
from assay.probe.ticking import Moment, Quantity

PREFIX = "probe-"


def thread_clocks_s() -> dict[int, float]:
    """Seconds of processor time of each probing thread that lives, by its thread number."""
    found = {}
    for thread in threading.enumerate():
        if thread.name.startswith(PREFIX) and thread.native_id is not None:
            try:
                found[thread.native_id] = time.clock_gettime(_clock_of(thread.native_id))
            except OSError:  # ended meanwhile
                continue
    return found


def _clock_of(thread: int) -> int:
    """The clock of a thread of this process, as the C library makes it (MAKE_THREAD_CPUCLOCK, CPUCLOCK_SCHED).

    time.pthread_getcpuclockid may crash with a thread that has just ended; the kernel refuses this one then.
    """
    return (~thread << 3) | 0b110


class OwnCost:
    """Goes first among the instruments, so that the memory before them is known.

    `samples_bytes` tells what the samples take; `process` is this process; `children_s` tells the processor time of
    the probes' child processes.
    """

    name = "own-cost"

    def __init__(
        self, samples_bytes: Callable[[], int], process: OpenProcess,
        clocks_s: Callable[[], Mapping[int, float]] = thread_clocks_s,
        children_s: Callable[[], float] = lambda: 0.0,
    ) -> None:  # fmt: skip
        self._samples_bytes = samples_bytes
        self._process = process
        self._clocks_s = clocks_s
        self._children_s = children_s
        self._threads_s: dict[int, float] = {}
        self._first_bytes = self._peak_bytes = 0
        self._clock_s = 0.0

    def begin(self, _scene: Scene) -> None:
        """See `ticking.Instrument.begin`."""
        self._first_bytes = self._peak_bytes = self._resident_bytes()
        self._threads_s |= self._clocks_s()
        self._clock_s = time.monotonic()

    def tick(self, now: Moment) -> Mapping[str, float]:
        """Kept for the totals: the cost has no samples, which would only add to it."""
        self._clock_s = now.clock_s
        self._threads_s |= self._clocks_s()
        self._peak_bytes = max(self._peak_bytes, self._resident_bytes())
        return {}

    def totals(self) -> Mapping[Quantity, float]:
        """Seconds since the beginning, also of threads that have ended; bytes as they are, or were at most."""
        growth = max(0, self._peak_bytes - self._first_bytes)
        self._peak_bytes = self._resident_bytes()
        return {
            Quantity("trial", "elapsed_s"): self._clock_s,
            Quantity("probes", "busy_s"): sum(self._threads_s.values()) + self._children_s(),
            Quantity("probes", "samples_bytes", level=True): float(self._samples_bytes()),
            Quantity("probes", "resident_growth_bytes", basis="estimated", level=True): float(growth),
        }

    def doubts(self) -> tuple[Doubt, ...]:
        """None."""
        return ()

    def end(self) -> None:
        """See `ticking.Instrument.end`."""
        self._process.close()

    def _resident_bytes(self) -> int:
        stat = self._process.read()
        return 0 if stat is None else stat.resident_bytes
