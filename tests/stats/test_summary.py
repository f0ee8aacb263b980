"""Proves that the summary takes medians, pairs media within a repetition, and never calls a bad trial good."""

from assay.model.doubt import Doubt, Outcome
from assay.model.record import Status
from assay.stats.summary import doubts_of, summarise
from tests.builders import a_record, a_trial


def runs(medium, times, first=1):
    return [
        a_record(a_trial(number, medium=medium, repetition=number - first + 1), elapsed_s=time)
        for number, time in enumerate(times, start=first)
    ]


def test_medians_and_paired_ratios():
    disk, memory = summarise(runs("disk", [10, 20, 40]) + runs("memory", [5, 8, 30], first=11))
    assert (disk.placement, disk.elapsed_s, disk.ratio) == ("disk", 20, None)
    # The median of 5/10, 8/20 and 30/40, not the ratio of the medians.
    assert (memory.placement, memory.elapsed_s, memory.ratio) == ("memory", 8, 0.5)
    assert memory.phases is not None
    assert memory.phases.map_s == 4


def test_one_bad_repetition_is_seen():
    records = [*runs("disk", [10, 10]), a_record(a_trial(3, repetition=3), outcome=Outcome.UNKNOWN)]
    assert summarise(records)[0].outcome is Outcome.UNKNOWN


def test_a_failed_trial_counts_as_failed_and_not_as_a_time():
    failed = a_record(a_trial(2, repetition=2), status=Status.FAILED, error="died", totals=None, verdicts=())
    row = summarise([*runs("disk", [10]), failed])[0]
    assert (row.trials, row.finished, row.elapsed_s, row.outcome) == (2, 1, 10, Outcome.FAIL)


def test_a_medium_without_its_pair_has_no_ratio():
    failed = a_record(a_trial(1), status=Status.FAILED, error="died", totals=None, verdicts=())
    assert [row.ratio for row in summarise([failed, *runs("memory", [5], first=2)])] == [None, None]


def test_workloads_are_not_mixed():
    rows = summarise([a_record(a_trial(1)), a_record(a_trial(2, workload="components"), elapsed_s=3)])
    assert [(row.group.workload, row.elapsed_s) for row in rows] == [("components", 3), ("triangles", 10)]


def test_doubts_of_trials_come_once_and_few_repetitions_are_one():
    doubt = Doubt(kind="cache-not-cold", what="a", why="b", cure="c")
    doubts = doubts_of([record.model_copy(update={"doubts": (doubt,)}) for record in runs("disk", [1, 2])])
    assert [one.kind for one in doubts] == ["cache-not-cold", "few-repetitions"]
    assert doubts_of(runs("disk", [1, 2, 3, 4, 5])) == []


def test_different_machines_are_a_doubt():
    other = a_record(a_trial(2, repetition=2), facts={"cpu": "other"})
    assert "different-machines" in [doubt.kind for doubt in doubts_of([a_record(), other])]
