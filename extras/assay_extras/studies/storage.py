"""The storage subsystem study: chapter 6, as far as it speaks of HDFS alone.

Bytes are in multiples of the job's input; `most` and `mean` are over the DataNodes.
"""

from collections.abc import Mapping
from typing import Any

from assay_extras.studies.claims import Check, Claim, Compare, Conditions, Near, every, where

STAGING = where(workload="word-frequency", job="staging")
COUNT = where(workload="word-frequency", job="count")
ITERATION = where(workload="k-means", metric="elapsed")
EVEN_OFF = 0.15
"""Chance alone puts some 15 % more than the mean on one of ten nodes, of 200 blocks with three copies each."""


def evenly(metric: str, places: Conditions) -> Claim:
    """The node with most has at most 1.3 times what they have on average."""
    return Near("metric", f"most {metric}", f"mean {metric}", 1 + EVEN_OFF, places, off=EVEN_OFF)


def twice(field: Any, level: str, base: str, **more: Any) -> Claim:
    """An iteration on twice as much takes twice as long."""
    return Near(field, level, base, 2.0, {**ITERATION, **where(**more)}, off=0.2)


CHECKS: Mapping[str, Check] = {
    "S-C03": (every(evenly("disk write", STAGING)),),
    "S-C04": (
        every(*(Compare("metric", "master's disk", "hardly any", "mean disk", places) for places in (STAGING, COUNT))),
    ),
    "S-C09": (every(evenly("disk read", COUNT)),),
    "S-C10": (every(Compare("metric", "network", "hardly any", "input", COUNT)),),
    "S-C18": (
        every(twice("dataset", "10000000 points", "5000000 points")),
        every(twice("settings", "k = 10", "k = 5")),
    ),
}  # fmt: skip

NEVER: Mapping[str, str] = {
    "S-C02": "it follows from the set-up: `replication: 3` has three copies written on any drives"
}
"""Those that no run's values can speak to."""
SCALED: Mapping[str, str] = {
    "S-C18": "at this size what a job takes whatever its data, its start above all, outweighs the iteration's work"
}
"""Those that no scaled run can speak to."""
