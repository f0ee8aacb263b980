"""Proves what a predicted time says against measured ones: the ratio, its interval, and where it stands."""

from math import exp, hypot, log

import pytest

from assay.model.prediction import PredictedTrial, Prediction
from assay.stats.decision import decisions
from assay.stats.predicted import beside, with_predictions
from assay.stats.summary import rows_of
from tests.builders import summaries
from tests.report.made_runs import made_run, made_trials


def a_prediction(record, **levels):
    trial = PredictedTrial(like=record.trial.id, levels=levels, elapsed_s=20, low_s=16, high_s=30, basis="b")
    return Prediction("p", "toy", trial, {**record.trial.factors, **levels})


def test_the_errors_of_both_times_add_up_in_the_interval():
    plan, records = made_run(made_trials(repetitions=4))
    rows = rows_of(summaries(records), placements=plan.placements)
    *measured, row = with_predictions(rows, records, [a_prediction(records[0], placement="nvme")])
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
    prediction = a_prediction(records[0], placement="nvme")
    assert with_predictions(rows_of(summaries(records)), records, [prediction])[-1].predicted.interval is None
    ((level,),) = beside(plan, decisions(plan, summaries(records)), records, [prediction])
    assert (level.elapsed_s.low, level.elapsed_s.high, level.saving.low) == (16, 30, None)


def test_it_stands_in_its_own_group_and_beside_the_decision_that_has_all_other_factors():
    plan, records = made_run(made_trials(workloads=("triangles", "components"), repetitions=3))
    last = records[-1]
    rows = with_predictions(rows_of(summaries(records)), records, [a_prediction(last, placement="nvme")])
    places = [(row.group.workload, row.placement) for row in rows]
    assert places.index((last.trial.workload.name, "nvme")) == places.index((last.trial.workload.name, "ssd")) + 1
    decided = decisions(plan, summaries(records))
    levels = beside(
        plan, decided, records, [a_prediction(last, placement="nvme"), a_prediction(last, settings="tuned")]
    )
    of = {one.levels["workload"]: [level.level for level in own] for one, own in zip(decided, levels, strict=True)}
    assert of == {last.trial.workload.name: ["nvme"], records[0].trial.workload.name: []}
    (row,) = (
        one
        for one in with_predictions(rows_of(summaries(records)), records, [a_prediction(last, settings="tuned")])
        if one.predictor
    )
    assert (row.ratio, row.predicted) == (None, None)  # nothing ran in its group
