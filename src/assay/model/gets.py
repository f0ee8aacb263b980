"""How long single gets of rows took: tasks count them in buckets of time, from which percentiles follow."""

from bisect import bisect_left
from collections.abc import Mapping
from itertools import accumulate

from assay.model.base import Frozen

GROUP = "org.assay.rows.GetTimes"
"""The counters' group. Each is named after its bucket, see the class of that name in `jobs`."""

_MOST_US = tuple(round(10 ** (tenths / 10)) for tenths in range(10, 81))
_NAMES = (*(f"at_most_{most_us}_us" for most_us in _MOST_US), "longer")
_EDGES_US = (0, *_MOST_US, None)

Bounds = tuple[float, float | None]
"""The bounds of a bucket in seconds: a time in it is above the first, and at most the second; None without a bound."""


class GetTimes(Frozen):
    """How long single gets took, each from the client's call until the row was there."""

    gets: int
    """How many were timed: those of one row by one call. Gets of several rows at once, and scans, are not."""
    p50_s: Bounds
    """The bounds of the bucket in which the median lies, in seconds: above the first, at most the second (null: above
    100 s). The clock is the cluster's."""
    p99_s: Bounds
    """Those of the bucket in which the 99th percentile lies: 1 % of the gets took longer."""


def get_times(counted: Mapping[str, int], times_slower: int = 1) -> GetTimes | None:
    """The percentiles by counters of the group, of a cluster that ran so many times slower; None without gets."""
    up_to = list(accumulate(counted.get(name, 0) for name in _NAMES))
    gets = up_to[-1]
    if not gets:
        return None

    def bounds(percent: int) -> Bounds:
        at = bisect_left(up_to, -(-percent * gets // 100))
        least_us, most_us = _EDGES_US[at] or 0, _EDGES_US[at + 1]
        return least_us / 1e6 / times_slower, None if most_us is None else most_us / 1e6 / times_slower

    return GetTimes(gets=gets, p50_s=bounds(50), p99_s=bounds(99))
