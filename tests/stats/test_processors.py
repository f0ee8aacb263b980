"""Proves that unequal processor times of equal trials are told with both trials, and those of unequal ones are not."""

import pytest

from assay.engine.tasks import TASK_COUNTERS
from assay.model.record import Status
from assay.stats.run_doubts import doubts_of, processors_varied
from tests.builders import a_record, a_trial, summaries


def used(number, seconds, medium="hdd", repetition=1):
    """A trial whose tasks took so much processor time."""
    record = a_record(a_trial(number, medium, repetition))
    counters = {TASK_COUNTERS: {"CPU_MILLISECONDS": int(1000 * seconds)}}
    return record.model_copy(update={"totals": record.totals.model_copy(update={"counters": counters})})


def test_the_two_that_are_farthest_apart_are_named():
    records = [
        used(1, 100.0), used(2, 130.0, repetition=2), used(3, 90.0, "ssd"), used(4, 171.0, "ssd", 2),
        used(5, 120.0, "ssd", 3),
    ]  # fmt: skip
    (doubt,) = processors_varied(summaries(records))
    assert doubt.kind == "processors-varied"
    assert "took 1.9 times as much processor time in one trial" in doubt.what
    assert f"({records[3].trial.id}, 171 s)" in doubt.what
    assert f"({records[2].trial.id}, 90 s)" in doubt.what
    assert doubt in doubts_of(summaries(records))


@pytest.mark.parametrize(
    "records",
    [
        [],
        [used(1, 100.0)],
        [used(1, 100.0), used(2, 124.0, repetition=2)],
        [used(1, 100.0), used(2, 200.0, "ssd")],
        [used(1, 1.0), used(2, 3.0, repetition=2)],
        [used(1, 0.0), used(2, 100.0, repetition=2)],
    ],
    ids=["none", "one", "nearly equal", "of other media", "too short", "unknown"],
)
def test_what_says_nothing_of_processors_is_not_doubted(records):
    assert not processors_varied(summaries(records))


def test_trials_that_do_not_count_are_not_asked():
    failed = used(2, 200.0, repetition=2).model_copy(update={"status": Status.FAILED})
    assert not processors_varied(summaries([used(1, 100.0), failed]))
