"""Proves what a predicted time says against measured ones: the ratio, its interval, and where it stands."""

from math import exp, hypot, log

import pytest

from assay.stats.decision import decisions
from assay.stats.predicted import beside
from assay.stats.summary import rows_of
from tests.builders import a_prediction, summaries
from tests.report.made_runs import made_run, made_trials

TIMES = (16, 20, 30)


def test_the_errors_of_both_times_add_up_in_the_interval():
    plan, records = made_run(made_trials(repetitions=4))
    rows = rows_of(summaries(records), placements=plan.placements)
    predicted = [a_prediction(records[0], TIMES, placement="nvme")]
    *measured, row = rows_of(summaries(records), placements=plan.placements, predicted=predicted)
    assert measured == rows
    base = rows[0].elapsed
    assert row.predicted.ratio == row.ratio == 20 / base.value
    below = hypot(log(20 / 16), log(base.interval.high / base.value))
    above = hypot(log(30 / 20), log(base.value / base.interval.low))
    assert row.predicted.interval.low == pytest.approx(row.ratio * exp(-below))
    assert row.predicted.interval.high == pytest.approx(row.ratio * exp(above))
    assert "is predicted to take" in row.words


def test_without_repetitions_the_ratio_has_no_interval():
    plan, records = made_run(made_trials(repetitions=1))
    predicted = [a_prediction(records[0], TIMES, placement="nvme")]
    assert rows_of(summaries(records), predicted=predicted)[-1].predicted.interval is None
    ((level,),) = beside(plan, decisions(plan, summaries(records)), summaries(records), predicted)
    assert (level.elapsed_s.low, level.elapsed_s.high, level.saving.low) == (16, 30, None)


def test_it_stands_in_its_own_group_and_beside_the_decision_that_has_all_other_factors():
    plan, records = made_run(made_trials(workloads=("triangles", "components"), repetitions=3))
    last = records[-1]
    on_nvme, tuned = a_prediction(last, TIMES, placement="nvme"), a_prediction(last, TIMES, settings="tuned")
    rows = rows_of(summaries(records), predicted=[on_nvme])
    places = [(row.group.workload, row.placement) for row in rows]
    assert places.index((last.trial.workload.name, "nvme")) == places.index((last.trial.workload.name, "ssd")) + 1
    decided = decisions(plan, summaries(records))
    levels = beside(plan, decided, summaries(records), [on_nvme, tuned])
    of = {one.levels["workload"]: [level.level for level in own] for one, own in zip(decided, levels, strict=True)}
    assert of == {last.trial.workload.name: ["nvme"], records[0].trial.workload.name: []}
    (row,) = (one for one in rows_of(summaries(records), predicted=[tuned]) if one.predictor)
    assert (row.ratio, row.predicted) == (None, None)  # nothing ran in its group
