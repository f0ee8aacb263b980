"""Reserves processors for the drives' emulator and the probes, where there are enough.

On the machine that is imitated a drive takes no processor time. So of four processors and more a quarter, at most four,
are the instruments', and the cluster has the others: whole cores, since the two threads of a core slow each other.
"""

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

LEAST, SHARE, MOST = 4, 4, 4
CORE = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


class Division(NamedTuple):
    """The numbers of the cluster's and of the instruments' processors, as the kernel counts them."""

    cluster: frozenset[int]
    instruments: frozenset[int]


@cache
def division() -> Division | None:
    """Divide the processors that this process might use at the first call; None where there are too few."""
    return divided(os.sched_getaffinity(os.getpid()), _core)


def divided(processors: Collection[int], core_of: Callable[[int], frozenset[int]]) -> Division | None:
    """Give the last cores to the instruments. `core_of` returns all processors of a processor's core."""
    here = frozenset(processors)
    most = min(len(here) // SHARE, MOST) if len(here) >= LEAST else 0
    instruments: frozenset[int] = frozenset()
    for processor in sorted(here, reverse=True):
        core = core_of(processor) & here | {processor}
        if len(instruments | core) <= most:
            instruments |= core
    return Division(here - instruments, instruments) if instruments else None


@contextmanager
def bound_to(processors: Collection[int] | None) -> Iterator[None]:
    """Bind what this thread starts within the scope to processors; to none where None is given or they are gone."""
    before = os.sched_getaffinity(0)
    with suppress(OSError):
        os.sched_setaffinity(0, processors or before)
    try:
        yield
    finally:
        with suppress(OSError):
            os.sched_setaffinity(0, before)


def ranges_text(processors: Collection[int]) -> str:
    """Write processors' numbers as the kernel does: `0-2,5`."""
    runs: list[list[int]] = []
    for number in sorted(processors):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _core(processor: int) -> frozenset[int]:
    """Return the processors of a processor's core; itself alone where the kernel has no such file."""
    with suppress(OSError, ValueError):
        entries = Path(CORE.format(processor)).read_text(encoding="utf-8").strip().split(",")
        ends = [[int(end) for end in word.split("-")] for word in entries]
        return frozenset(number for end in ends for number in range(end[0], end[-1] + 1))
    return frozenset({processor})
