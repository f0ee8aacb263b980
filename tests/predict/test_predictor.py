"""Proves what is made of demands: times, intervals and verdicts, and where nothing is known."""

from math import exp
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.engine.tasks import FILE_SYSTEM_COUNTERS
from assay.model.demand import DriveDemand, OtherDrive, StageDemand
from assay.model.record import totals
from assay.predict.predictor import on_drive, predict, predictions
from tests.builders import a_job, a_measured_run, a_plan, a_record, a_trial, device_reports

DRIVE = OtherDrive(name="nvme", profile="intel-p4500-1tb")


def a_demand(*stages, trial="0001-triangles-disk", **changes):
    """Stages of (seconds, busy seconds, busy seconds there), each of one drive, or tuples of several."""
    made = [
        StageDemand(stage=str(number), elapsed_s=elapsed_s, busy_s=_drives(busy), busy_there_s=_drives(there))
        for number, (elapsed_s, busy, there) in enumerate(stages)
    ]
    fields = {
        "trial": trial, "drive": DRIVE, "title": "a drive", "replaced": ("disk",), "depth": 2, "request_bytes": 100_000,
        "elapsed_s": sum(stage.elapsed_s for stage in made), "stages": tuple(made), **changes,
    }  # fmt: skip
    return DriveDemand(**fields)


def _drives(busy):
    return busy if isinstance(busy, tuple) else (busy,)


def predicted(*demands, seconds=(10.0,), **changes):
    trials = [a_trial(number, repetition=number) for number in range(1, len(seconds) + 1)]
    records = [a_record(trial, elapsed_s, **changes) for trial, elapsed_s in zip(trials, seconds, strict=True)]
    return predictions(a_measured_run(a_plan(*trials), records)._replace(demands=demands))


SHARES = st.floats(0, 1)
STAGES = st.lists(st.tuples(st.floats(0.1, 1000), SHARES, SHARES), min_size=1, max_size=5)


@given(STAGES)
def test_equal_drives_give_the_measured_time(stages):
    trial = on_drive(a_demand(*((seconds, seconds * busy, seconds * busy) for seconds, busy, _ in stages)))
    assert trial.predicted_s == pytest.approx(trial.elapsed_s)


@given(STAGES, SHARES)
def test_a_faster_drive_takes_no_longer_and_no_less_than_computing(stages, faster):
    slow = [(seconds, seconds * busy, seconds * busy * there) for seconds, busy, there in stages]
    fast = [(seconds, busy, there * faster) for seconds, busy, there in slow]
    on_slow, on_fast = on_drive(a_demand(*slow)), on_drive(a_demand(*fast))
    assert on_fast.predicted_s <= on_slow.predicted_s * 1.001 <= on_slow.elapsed_s * 1.01
    assert on_fast.computing_s <= on_fast.predicted_s * 1.01


def test_a_stage_that_waits_for_its_drive_gains_though_another_does_not():
    """One formula for the job would take the whole of the first drive's time for the time that tasks computed in."""
    roles = a_demand((10, (10, 0.0), (0.1, 0.0)), (10, (0.0, 0.5), (0.0, 0.5)))
    assert on_drive(roles).predicted_s == pytest.approx(10.1, rel=0.02)


def test_a_prediction_says_what_it_rests_on_and_what_would_make_it_surer():
    demands = [a_demand((10, 9, 0.1)), a_demand((10.2, 9, 0.1), trial="0002-triangles-disk")]
    (prediction,) = predicted(*demands, seconds=(10.0, 10.2))
    assert prediction.low_s < prediction.predicted_s < prediction.high_s < 9.5
    assert (prediction.placement, prediction.verdict, prediction.reason) == ("disk", "worth it", "")
    assert prediction.basis == "from 2 trials on disk alone: all data on one a drive"
    assert prediction.surer == "run it on that drive, emulated"
    (unlike,) = predicted(a_demand((5, 1, 0.1)), a_demand((20, 1, 15), trial="0002-triangles-disk"), seconds=(5, 20))
    assert unlike.surer == "repeat the trials"


def test_a_drive_that_was_hardly_busy_is_not_worth_replacing():
    demands = [a_demand((10, 0.1, 0), trial=f"{number:04d}-triangles-disk") for number in range(1, 17)]
    (prediction,) = predicted(*demands, seconds=(10.0,) * 16)
    noise = exp(1.96 * 0.08 / 4)  # of 16 trials
    assert prediction.low_s == pytest.approx(prediction.elapsed_s / noise, rel=0.02)
    assert prediction.verdict == "not worth it"


def test_the_noise_of_a_single_trial_leaves_open_what_is_not_worth_it():
    (prediction,) = predicted(a_demand((10, 0.1, 0)))
    assert prediction.low_s < 0.9 * prediction.elapsed_s < prediction.predicted_s
    assert (prediction.verdict, prediction.reason) == ("not known", "")


@given(st.floats(0, 0.95), SHARES)
def test_the_verdict_is_by_the_interval_that_is_printed(busy, there):
    run = a_measured_run(a_plan(), [a_record()])._replace(demands=[a_demand((10, 10 * busy, 10 * there))])
    (prediction,), (trial,) = predictions(run), predict(run)
    assert (trial.low_s, trial.high_s, trial.verdict) == (prediction.low_s, prediction.high_s, prediction.verdict)
    saving = prediction.saving
    assert (saving.low, saving.high) == (1 - prediction.high_s / 10, 1 - prediction.low_s / 10)
    assert (prediction.verdict == "worth it") == (saving.low >= 0.1)
    assert (prediction.verdict == "not worth it") == (saving.high < 0.1)


def test_writes_that_came_after_the_jobs_leave_the_verdict_open():
    job = a_job().model_copy(update={"counters": {FILE_SYSTEM_COUNTERS: {"FILE_BYTES_WRITTEN": 1000}}})
    report = {"run": {"reads": {"bytes": 0}, "writes": {"bytes": 100}, "busy_seconds": 9}}
    (prediction,) = predicted(
        a_demand((10, 9, 0.1)), jobs=(job,), totals=totals((job,), ()), devices=device_reports({"disk": report})
    )
    assert prediction.high_s < 0.95 * prediction.elapsed_s
    assert prediction.verdict == "not known"
    assert prediction.reason.startswith("90 % of what the jobs moved was written only after")
    assert prediction.surer == "run jobs that take longer, or with less memory for the page cache"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"depth": 500}, "500 requests under way at once is outside of what predictions were judged by"),
        ({"request_bytes": 50e6}, "bytes a request is outside"),
        (
            {"stages": (StageDemand(stage="x", elapsed_s=10, busy_s=(1,) * 9, busy_there_s=(1,)),)},
            "9 busy drives in a node",
        ),
    ],
)
def test_outside_of_what_was_seen_nothing_is_known(changes, reason):
    (prediction,) = predicted(a_demand((10, 9, 0.1), **changes))
    assert prediction.verdict == "not known"
    assert reason in prediction.reason


def test_a_job_without_data_of_a_role_takes_as_long_wherever_that_lies():
    (prediction,) = predicted(
        a_demand((10, 9, (9, 0.0)), drive=DRIVE.model_copy(update={"roles": ("output",)}), replaced=())
    )
    assert (prediction.low_s, prediction.predicted_s, prediction.high_s) == (10, 10, 10)
    assert (prediction.verdict, prediction.reason) == ("not worth it", "triangles has no output data")
    assert prediction.surer == ""
    assert prediction.basis == "from a trial on disk alone: data of output on one a drive"


def test_where_one_of_the_trials_has_data_of_a_role_the_model_errs():
    drive = DRIVE.model_copy(update={"roles": ("output",)})
    without = a_demand((10, 9, (9, 0.0)), drive=drive, replaced=())
    (prediction,) = predicted(
        without, a_demand((10, 9, (5, 1.0)), drive=drive, trial="0002-triangles-disk"), seconds=(10.0, 10.0)
    )
    assert prediction.low_s < prediction.predicted_s < prediction.high_s
    assert prediction.reason == ""


def test_the_error_of_the_interval_may_be_another():
    run = a_measured_run(a_plan(), [a_record()])._replace(demands=[a_demand((10, 9, 3))])
    (narrow,), (wide,) = predictions(run, 0.01), predictions(run, 0.3)
    assert wide.low_s < narrow.low_s < narrow.predicted_s == wide.predicted_s < narrow.high_s < wide.high_s


def test_demands_of_an_earlier_record_or_of_a_trial_that_is_gone_are_left_out():
    assert predicted(a_demand((9, 8, 1)), a_demand((10, 8, 1), trial="0009-triangles-disk")) == []


def test_it_is_a_predictor_of_trials_like_those_that_ran():
    trial = a_trial()
    run = a_measured_run(a_plan(trial), [a_record(trial)])._replace(demands=[a_demand((10, 9, 0.1))])
    (made,) = predict(run)
    assert (made.like, made.levels, made.verdict) == (trial.id, {"placement": "nvme"}, "worth it")
    assert made.low_s <= made.elapsed_s <= made.high_s


@pytest.mark.slow
def test_a_thousand_trials_are_predicted_in_twenty_seconds():
    trials = [a_trial(number, repetition=number) for number in range(1, 1001)]
    demands = [a_demand(*[(2.5, 2.0, (0.5, 0.1))] * 4, trial=trial.id) for trial in trials]
    run = a_measured_run(a_plan(*trials), [a_record(trial) for trial in trials])._replace(demands=demands)
    began_s = process_time()
    (prediction,) = predictions(run)
    assert process_time() - began_s < 20
    assert len(prediction.trials) == 1000
