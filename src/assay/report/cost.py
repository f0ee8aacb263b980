"""What the instrument itself cost a trial, from the trial itself, beside what it may."""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from assay.model.record import Part, Record

MOST_CORE_PERCENT, MOST_MIB, MOST_MIB_PER_HOUR = 3.0, 150.0, 5.0
PROBE = "own-cost"
MIB = 2**20


class Cost(NamedTuple):
    """Percent of one core and growth of memory while the jobs ran, and what the samples take on disk.

    None is what the record does not tell. The growth is Assay's own while they ran, an estimate of the probes' part.
    """

    core_percent: float | None
    growth_bytes: float | None
    samples_bytes: int
    samples_bytes_per_hour: float | None


def cost_of(record: Record, samples_bytes: int) -> Cost:
    """From the own-cost amounts of the run part; samples are those of the whole trial, staging included."""
    busy_s, elapsed_s = _amount(record, "busy_s", "run"), _amount(record, "elapsed_s", "run")
    parts = [one.value for one in record.amounts if one.probe == PROBE and one.series == "elapsed_s"]
    covered_s = sum(parts)
    return Cost(
        core_percent=100 * busy_s / elapsed_s if busy_s is not None and elapsed_s else None,
        growth_bytes=_amount(record, "resident_growth_bytes", "run"),
        samples_bytes=samples_bytes,
        samples_bytes_per_hour=samples_bytes * 3600 / covered_s if samples_bytes and covered_s else None,
    )


def middle(costs: Sequence[Cost]) -> Cost:
    """The median of each figure over those that have it."""
    return Cost(
        core_percent=_median([cost.core_percent for cost in costs]),
        growth_bytes=_median([cost.growth_bytes for cost in costs]),
        samples_bytes=round(_median([cost.samples_bytes for cost in costs]) or 0),
        samples_bytes_per_hour=_median([cost.samples_bytes_per_hour for cost in costs]),
    )


def _median(values: Sequence[float | None]) -> float | None:
    told = [value for value in values if value is not None]
    return median(told) if told else None


def _amount(record: Record, series: str, part: Part) -> float | None:
    found = [one for one in record.amounts if (one.probe, one.series, one.part) == (PROBE, series, part)]
    return sum(one.value for one in found) if found else None
