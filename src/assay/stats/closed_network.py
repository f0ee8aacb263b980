"""A job as a closed network of queues: its tasks compute, and wait for each drive in turn.

Each station is a queue with one server: computing, and each drive. A station's busy time is how long it works for the
whole job. With `tasks` of the job under way at once, the job takes G(tasks) / G(tasks - 1), where G is the normalising
constant of the network (J. P. Buzen, Computational algorithms for closed queueing networks with exponential servers,
CACM 16, 1973): the sum of all busy times with one task, and the longest with very many. `tasks` may be a fraction.
"""

from collections.abc import Sequence
from decimal import Decimal, localcontext
from functools import lru_cache
from typing import TypeVar

TASKS_AT_ONCE = 1.7
"""How far computing and the drives overlap: the number of tasks at once that predicts the kept runs best, for all jobs
and engines (`benchmarks/prediction.py`)."""
_APART = 1e-4
"""Stations that are as busy as another are taken to differ by this share: the formula divides by differences."""
_MOST_FLOATS, _DIGITS = 4, 100
"""Of more stations the differences cancel more digits than floats have."""
_STEPS = 60
Number = TypeVar("Number", float, Decimal)


def network_time(busy_s: Sequence[float], tasks: float = TASKS_AT_ONCE) -> float:
    """Seconds that a job takes whose stations are busy for so many seconds each; `tasks` is 1 or more."""
    most = max(busy_s, default=0.0)
    shares = sorted((seconds / most for seconds in busy_s if seconds > _APART**2 * most), reverse=True)
    if len(shares) < 2:
        return most
    for index in range(1, len(shares)):
        shares[index] = min(shares[index], shares[index - 1] * (1 - _APART))
    if len(shares) <= _MOST_FLOATS:
        return most * _constant(shares, tasks) / _constant(shares, tasks - 1)
    with localcontext(prec=_DIGITS):
        exact = list(map(Decimal, shares))
        return most * float(_constant(exact, Decimal(tasks)) / _constant(exact, Decimal(tasks) - 1))


def _constant(shares: Sequence[Number], tasks: Number) -> Number:
    """The normalising constant, as a divided difference."""
    total = shares[0] * 0
    for index, share in enumerate(shares):
        product = share ** (tasks + len(shares) - 1)
        for other, other_share in enumerate(shares):
            if other != index:
                product /= share - other_share
        total += product
    return total


def computing_time(time_s: float, drives_busy_s: Sequence[float], tasks: float = TASKS_AT_ONCE) -> float:
    """How long the job of this time computes, by the time that its drives were busy; 0 where they explain all of it."""
    return _computing_time(time_s, tuple(drives_busy_s), tasks)


@lru_cache(maxsize=1 << 16)  # each of several changes of a job asks for the same
def _computing_time(time_s: float, drives_busy_s: tuple[float, ...], tasks: float) -> float:
    low_s, high_s = 0.0, time_s
    for _ in range(_STEPS):
        middle_s = (low_s + high_s) / 2
        if network_time([middle_s, *drives_busy_s], tasks) < time_s:
            low_s = middle_s
        else:
            high_s = middle_s
    return low_s
