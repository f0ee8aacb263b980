"""How unevenly a job's reducers work: what each fetched, and how long each reduced."""

from collections.abc import Mapping, Sequence
from statistics import fmean, median, pstdev
from typing import Literal

from assay.model.record import TaskAttempt
from assay.model.task import Skew

Measure = Literal["shuffled_bytes", "reduce_s"]


def reducer_skew(attempts: Sequence[TaskAttempt]) -> tuple[Skew, ...]:
    """For each job, in the order of the attempts: the skew of its reducers' shuffled bytes and of their reduce seconds.

    Only attempts that succeeded count; of an attempt without a known end of its merge no seconds are known. A job
    with fewer than two such reducers has no skew.
    """
    by_job: dict[str, list[TaskAttempt]] = {}
    for attempt in attempts:
        if attempt.kind == "reduce" and attempt.state == "SUCCEEDED":
            by_job.setdefault(attempt.job, []).append(attempt)
    return tuple(
        _skew(job, measure, values)
        for job, reducers in by_job.items()
        for measure, values in _measures(reducers).items()
        if len(values) > 1
    )


def _measures(reducers: Sequence[TaskAttempt]) -> Mapping[Measure, Mapping[str, float]]:
    return {
        "shuffled_bytes": {one.attempt: one.shuffled_bytes for one in reducers},
        "reduce_s": {
            one.attempt: (one.finished_ms - one.merge_finished_ms) / 1000 for one in reducers if one.merge_finished_ms
        },
    }


def _skew(job: str, measure: Measure, values: Mapping[str, float]) -> Skew:
    largest = max(values, key=lambda attempt: values[attempt])
    middle, mean = median(values.values()), fmean(values.values())
    return Skew(
        job=job,
        measure=measure,
        reducers=len(values),
        median=middle,
        maximum=values[largest],
        max_over_median=values[largest] / middle if middle else None,
        variation=pstdev(values.values()) / mean if mean else None,
        largest=largest,
    )
