"""Proves that the summary takes medians, pairs media within a repetition, and never calls a bad trial good."""

import pytest

from assay.model.doubt import CheckResult, Doubt, Outcome
from assay.model.naming import size_of
from assay.model.record import Status
from assay.model.trial import ZERO_DELAY, Trial
from assay.stats.comparison import compare
from assay.stats.decision import decisions
from assay.stats.run_doubts import doubts_of
from assay.stats.sample import samples
from assay.stats.summary import rows_of, varying
from tests.builders import a_plan, a_record, a_trial, summaries, with_facts


def runs(medium, times, first=1):
    return [
        a_record(a_trial(number, medium=medium, repetition=number - first + 1), elapsed_s=time)
        for number, time in enumerate(times, start=first)
    ]


def test_groups_and_decisions_come_in_the_order_of_their_levels():
    """As people sort sizes, whatever the order in which the trials ran."""
    records = []
    for number, size in enumerate(("256MiB", "all", "64MiB", "1GiB"), start=1):
        for place, medium in enumerate(("disk", "memory")):
            trial = a_trial(2 * number + place, medium=medium)
            cluster = trial.cluster.model_copy(update={"page_cache_bytes": size_of(size)})
            records.append(a_record(trial.model_copy(update={"cluster": cluster})))
    order = ["64MiB", "256MiB", "1GiB", "all"]
    assert list(dict.fromkeys(row.group.page_cache for row in rows_of(summaries(records)))) == order
    plan = a_plan(*(record.trial for record in records))
    assert [one.levels["page_cache"] for one in decisions(plan, summaries(records))] == order


def test_medians_and_paired_ratios():
    disk, memory = rows_of(summaries(runs("disk", [10, 20, 40]) + runs("memory", [5, 8, 30], first=11)))
    assert (disk.placement, disk.elapsed_s, disk.ratio) == ("disk", 20, None)
    # The geometric mean of 5/10, 8/20 and 30/40, not the ratio of the medians.
    assert (memory.placement, memory.elapsed_s) == ("memory", 8)
    assert memory.ratio == pytest.approx((0.5 * 0.4 * 0.75) ** (1 / 3))
    assert memory.phases is not None
    assert memory.phases["map"] == 4


def test_ratios_are_to_the_base_that_the_comparisons_have_and_zero_delay_has_none():
    records = [*runs("disk", [10, 20]), *runs("memory", [5, 8], first=11), *runs(ZERO_DELAY, [4, 8], first=21)]
    compared = compare(samples(summaries(records)), orders={"placement": ("memory",)})
    ratios = {row.placement: row.ratio for row in rows_of(summaries(records), compared)}
    assert ratios == {"disk": pytest.approx((2 * 2.5) ** 0.5), "memory": None, ZERO_DELAY: None}


def test_rows_have_intervals_words_and_outliers():
    disk, memory = rows_of(
        summaries(
            runs("disk", [10, 10.2, 9.9, 10.1, 15, 10.3]) + runs("memory", [5, 5.2, 4.9, 5.1, 5.15, 5.05], first=11)
        )
    )
    assert (disk.elapsed.value, disk.elapsed.values, disk.comparison, disk.words) == (disk.elapsed_s, 6, None, "")
    assert disk.elapsed_s in disk.elapsed.interval
    assert memory.ratio in memory.comparison.interval
    assert memory.words == f"memory took {memory.ratio:.2f} times as long as disk (" + memory.words.partition("(")[2]
    assert ([one.trial for one in disk.outliers], memory.outliers) == (["0005-triangles-disk"], ())


def test_warm_ups_make_no_row_and_no_time():
    first, *others = runs("disk", [99, 10, 12])
    warm_up = first.model_copy(update={"trial": first.trial.model_copy(update={"warm_up": True})})
    (row,) = rows_of(summaries([warm_up, *others]))
    assert (row.trials, row.finished, row.elapsed_s) == (2, 2, 11)


def test_a_factor_that_came_later_tells_groups_apart(monkeypatch):
    plain = Trial.factors.func
    monkeypatch.setattr(Trial, "factors", property(lambda one: plain(one) | {"replication": str(one.repetition)}))
    rows = rows_of(summaries(runs("disk", [10, 12])))
    assert [row.group.replication for row in rows] == ["1", "2"]
    assert varying(rows) == ["replication"]


def test_outliers_are_a_doubt_and_stay():
    records = runs("disk", [10, 10.2, 9.9, 10.1, 15, 10.3])
    (doubt,) = doubts_of(summaries(records))
    assert doubt.kind == "outliers"
    assert "0005-triangles-disk took 1.48 times its combination's median" in doubt.what
    assert rows_of(summaries(records))[0].elapsed.values == 6


def test_one_bad_repetition_is_seen():
    records = [*runs("disk", [10, 10]), a_record(a_trial(3, repetition=3), outcome=Outcome.UNKNOWN)]
    assert rows_of(summaries(records))[0].outcome is Outcome.UNKNOWN


def test_a_failed_trial_counts_as_failed_and_not_as_a_time():
    failed = a_record(a_trial(2, repetition=2), status=Status.FAILED, error="died", totals=None, verdicts=())
    row = rows_of(summaries([*runs("disk", [10]), failed]))[0]
    assert (row.trials, row.finished, row.elapsed_s, row.outcome) == (2, 1, 10, Outcome.FAIL)


def test_wrong_outputs_count_in_no_time_and_are_a_doubt():
    wrong = a_record(a_trial(3, repetition=3), elapsed_s=2, outcome=Outcome.FAIL)
    records = [*runs("disk", [10, 12]), wrong]
    (row,) = rows_of(summaries(records))
    assert (row.trials, row.finished, row.wrong, row.elapsed_s, row.outcome) == (3, 2, 1, 11, Outcome.FAIL)
    doubt = next(one for one in doubts_of(summaries(records)) if one.kind == "wrong-outputs")
    assert doubt.what == "1 trial ended with a wrong output: 0003-triangles-disk"


def test_a_job_of_several_that_failed_is_no_wrong_output():
    failed = CheckResult(check="sort: it came to its end", outcome=Outcome.FAIL, detail="no room", ended=False)
    records = [*runs("disk", [10, 12]), a_record(a_trial(3, repetition=3), elapsed_s=2, verdicts=(failed,))]
    (row,) = rows_of(summaries(records))
    assert (row.trials, row.finished, row.wrong, row.elapsed_s, row.outcome) == (3, 2, 0, 11, Outcome.FAIL)
    assert "wrong-outputs" not in {one.kind for one in doubts_of(summaries(records))}


def test_a_medium_that_changed_is_a_doubt_and_never_pooled():
    def on_drive(records, drive):
        return [with_facts(one, {"medium.memory.drive": drive}) for one in records]

    changed = [*on_drive(runs("memory", [5] * 3, 11), "evo"), *on_drive(runs("memory", [1] * 2, 14), "mx")]
    records = [*runs("disk", [10] * 5), *changed]
    assert [
        (row.placement, row.group.machine, row.elapsed_s, row.ratio and round(row.ratio, 9)) for row in rows_of(summaries(records))
    ] == [
        ("disk", "A", 10, None), ("memory", "A", 5, 0.5), ("memory", "A2 (memory drive mx)", 1, None),
    ]  # fmt: skip
    doubt = next(one for one in doubts_of(summaries(records)) if one.kind == "medium-changed")
    assert doubt.what == "the drive of memory is evo in some trials and mx in others"


def test_a_medium_without_its_pair_has_no_ratio():
    failed = a_record(a_trial(1), status=Status.FAILED, error="died", totals=None, verdicts=())
    assert [row.ratio for row in rows_of(summaries([failed, *runs("memory", [5], first=2)]))] == [None, None]


def test_workloads_are_not_mixed():
    rows = rows_of(summaries([a_record(a_trial(1)), a_record(a_trial(2, workload="components"), elapsed_s=3)]))
    assert [(row.group.workload, row.elapsed_s) for row in rows] == [("components", 3), ("triangles", 10)]


def test_doubts_of_trials_come_once():
    doubt = Doubt(kind="cache-not-cold", what="a", why="b", cure="c")
    doubts = doubts_of(summaries([record.model_copy(update={"doubts": (doubt,)}) for record in runs("disk", [1, 2])]))
    assert [one.kind for one in doubts] == ["cache-not-cold"]


def test_trials_that_were_not_repeated_are_a_doubt():
    (doubt,) = doubts_of(summaries([*runs("disk", [1]), *runs("memory", [1], first=2)]))
    assert (doubt.kind, doubt.what) == ("few-repetitions", "no trial of triangles was repeated")
    assert doubts_of(summaries(runs("disk", [1, 2]))) == []


def test_different_machines_are_a_doubt_and_told_apart():
    other = [a_record(a_trial(9, repetition=2), elapsed_s=30, facts={"cpu": "other"})]
    records = runs("disk", [10]) + other
    assert "different-machines" in [doubt.kind for doubt in doubts_of(summaries(records))]
    rows = rows_of(summaries(records))
    assert [(row.group.machine, row.elapsed_s) for row in rows] == [("A (cpu test)", 10), ("B (cpu other)", 30)]
    assert varying(rows) == ["machine"]
