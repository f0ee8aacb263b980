"""Proves that a predictor whose trials don't fit the run, or that fails, is refused by its name."""

import pytest

from assay.model.errors import BadInputError
from assay.model.prediction import PredictedTrial
from assay.model.registry import PREDICTORS
from assay.record.predictions import predictions_of
from assay.stats.sample import is_valid
from tests.builders import a_measured_run, a_plan, a_record, a_trial

TRIAL = a_trial(1)


def predicted(like=TRIAL.id, **levels):
    return PredictedTrial(like=like, levels=levels, elapsed_s=5, low_s=4, high_s=7, basis="a guess")


def given(monkeypatch, predictor):
    monkeypatch.setattr("assay.record.predictions.PREDICTORS", {"oracle": predictor})
    return predictions_of(a_measured_run(a_plan(TRIAL), [a_record(TRIAL)]))


def test_it_has_the_factors_of_the_trial_that_it_is_like(monkeypatch):
    one, other = given(monkeypatch, lambda _: [predicted(placement="nvme"), predicted(placement="tape")])
    assert one.factors == {**TRIAL.factors, "placement": "nvme"}
    assert (one.predictor, one.id, other.id) == ("oracle", "oracle-predicted-0001", "oracle-predicted-0002")
    assert (one.source, one.elapsed_s, one.high_s) == ("predicted", 5, 7)
    assert not is_valid(one)


@pytest.mark.parametrize(
    ("trials", "message"),
    [
        ([predicted(like="nobody", placement="x")], "trial like 'nobody', and the run has no readable trial"),
        ([predicted(placment="x")], "a level of 'placment', which is no factor of .*; did you mean 'placement'"),
        ([predicted(placement="x")] * 2, "twice; let it give one time for each combination"),
    ],
)
def test_what_does_not_fit_is_refused(monkeypatch, trials, message):
    with pytest.raises(BadInputError, match=f"the predictor 'oracle' .*{message}"):
        given(monkeypatch, lambda _: trials)


def test_a_predictor_that_fails_is_named(monkeypatch):
    with pytest.raises(BadInputError, match="the predictor 'oracle' failed: ZeroDivisionError: .*; repair it"):
        given(monkeypatch, lambda _: 1 // 0)


@pytest.mark.parametrize("changes", [{"low_s": 6}, {"high_s": 4}, {"low_s": 0}, {"elapsed_s": float("nan")}])
def test_a_time_lies_within_its_interval(changes):
    with pytest.raises(ValueError, match="PredictedTrial"):
        PredictedTrial(**{"like": "x", "levels": {}, "elapsed_s": 5, "low_s": 4, "high_s": 7, "basis": "b", **changes})


def test_the_core_predicts_from_replayed_requests_alone():
    assert list(PREDICTORS) == ["replay"]
    assert predictions_of(a_measured_run(a_plan(TRIAL), [a_record(TRIAL)])) == []
