"""Proves what is predicted of a run, with drives whose answers are written by hand."""

from functools import partial

import numpy as np
import pytest

from assay.engine.tasks import FILE_SYSTEM_COUNTERS
from assay.model.errors import BadInputError
from assay.model.record import totals
from assay.model.result import TrialResult
from assay.model.trial import MediumSpec
from assay.predict.drives import predict_drive
from assay.predict.replay import RECORD
from assay.record.folder import RunFolder
from tests.builders import a_job, a_plan, a_record, a_trial
from tests.predict.made_logs import a_log, write_run


@pytest.fixture
def run(tmp_path):
    return partial(write_run, tmp_path / "run")


class Profile:
    """A drive that answers in a share of the time."""

    def __init__(self, share):
        self.share, self.slowdown = share, None

    def model_copy(self, update):
        self.slowdown = update["slowdown"]
        return self


def replay(profile, records):
    answered = np.frombuffer(records, RECORD).copy()
    answered["latency_ns"] = (answered["latency_ns"] * profile.share).astype("u8")
    return answered.tobytes()


def test_the_same_drive_gives_the_measured_time(run):
    (prediction,) = predict_drive(run(a_log(5)), Profile(1), None, replay)
    assert prediction.predicted_s == pytest.approx(prediction.elapsed_s, rel=0.001)
    assert prediction.low_s < prediction.elapsed_s < prediction.high_s
    assert prediction.worth is None
    assert prediction.factors["workload"] == "triangles"
    assert prediction.placement == "disk"


def test_a_faster_drive_saves_no_more_than_it_was_busy(run):
    (prediction,) = predict_drive(run(a_log(9)), Profile(0.01), None, replay)
    (trial, _) = prediction.trials
    assert trial.busy_s == [pytest.approx(9)]
    assert trial.busy_there_s == [pytest.approx(0.09)]
    assert trial.computing_s - 0.001 <= trial.predicted_s < trial.elapsed_s
    assert prediction.worth is True


def test_a_drive_that_was_hardly_busy_is_not_worth_replacing_where_the_interval_says_so(run):
    (prediction,) = predict_drive(run(a_log(0.1)), Profile(0), None, replay)
    assert prediction.low_s >= 0.97 * prediction.elapsed_s
    assert prediction.worth is False


def test_writes_that_came_after_the_jobs_leave_the_verdict_open(run):
    job = a_job().model_copy(update={"counters": {FILE_SYSTEM_COUNTERS: {"FILE_BYTES_WRITTEN": 1000}}})
    folder = run(a_log(9), seconds=(10.0,), jobs=(job,), totals=totals((job,), ()))
    (prediction,) = predict_drive(folder, Profile(0.01), None, replay)
    assert prediction.high_s < 0.9 * prediction.elapsed_s
    assert prediction.worth is None
    assert prediction.reason.startswith("100 % of what the jobs moved was written only after")


def test_drives_that_one_drive_replaces_are_named(run):
    folder = run(a_log(3, "first"), a_log(3, "second", roles=("intermediate",)))
    (of_all,) = predict_drive(folder, Profile(1), None, replay)
    assert of_all.trials[0].replaced == ["first", "second"]
    (of_role,) = predict_drive(folder, Profile(1), ["intermediate"], replay)
    assert of_role.trials[0].replaced == ["second"]


def test_data_of_other_roles_stay_on_their_drive(run):
    (prediction,) = predict_drive(run(a_log(8, roles=("input", "output"))), Profile(0), ["output"], replay)
    (trial, _) = prediction.trials
    assert trial.busy_there_s == [pytest.approx(4), 0]


def test_a_drive_is_as_slow_as_the_runs_own(run, tmp_path):
    trial = a_trial().model_copy(update={"media": (MediumSpec(name="disk", kind="emulated", profile="x", slowdown=4),)})
    folder = RunFolder(tmp_path / "slow")
    folder.create(a_plan(trial))
    folder.write(TrialResult(a_record(trial), requests=[a_log(5)]))
    profile = Profile(1)
    predict_drive(folder, profile, None, replay)
    assert profile.slowdown == 4


@pytest.mark.parametrize(
    ("logs", "options", "reason"),
    [
        ((), {}, "keep_requests: true"),
        ((a_log(5),), {"roles": ["log"]}, "no request .* of role 'log'; its roles are input"),
        ((a_log(5),), {"placement": "tape"}, "has no placement 'tape'; it has disk"),
        ((a_log(5, dropped=3),), {}, "3 requests are missing"),
    ],
)
def test_what_can_not_be_predicted_is_one_sentence(run, logs, options, reason):
    options = {"roles": None, "placement": None, **options}
    with pytest.raises(BadInputError, match=reason):
        predict_drive(run(*logs), Profile(1), options["roles"], replay, options["placement"])


def test_a_drive_that_was_busy_for_longer_than_the_job_is_refused(run):
    with pytest.raises(BadInputError, match="a drive was busy for"):
        predict_drive(run(a_log(9.9), seconds=(8.5,)), Profile(1), None, replay)
