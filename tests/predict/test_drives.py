"""Proves what trials are said to ask of another drive, with drives whose answers are written by hand."""

from functools import partial
from types import MappingProxyType

import numpy as np
import pytest

from assay.engine.tasks import MapReduceAttempt
from assay.model.demand import OtherDrive
from assay.model.errors import BadInputError
from assay.model.result import TrialResult
from assay.model.trial import MediumSpec
from assay.predict.drives import demands_on
from assay.predict.replay import RECORD
from tests.builders import a_folder, a_plan, a_record, a_trial
from tests.predict.made_logs import a_log, write_run


@pytest.fixture
def run(tmp_path):
    return partial(write_run, tmp_path / "run")


class Profile:
    """A drive that answers in a share of the time."""

    title = "a made drive"
    digest = "made"

    def __init__(self, share):
        self.share, self.slowdown = share, None

    def model_copy(self, update):
        self.slowdown = update["slowdown"]
        return self


def replay(profile, records):
    answered = np.frombuffer(records, RECORD).copy()
    answered["latency_ns"] = (answered["latency_ns"] * profile.share).astype("u8")
    return answered.tobytes()


def no_replay(profile, records):
    raise AssertionError("requests are replayed before all is checked")


def demands(folder, share=1.0, roles=(), placement=None, replay=replay, present=MappingProxyType({})):
    drive = OtherDrive(name="made", profile="made", roles=roles)
    return demands_on(folder, [(drive, Profile(share))], replay, placement, present=present)


def test_a_trial_asks_its_own_drive_and_the_other_one(run):
    first, second = demands(run(a_log(9)), share=0.1)
    assert (first.trial, first.elapsed_s, second.elapsed_s) == ("0001-triangles-disk", 10.0, 10.2)
    (stage,) = first.stages
    assert stage.elapsed_s == 10
    assert stage.busy_s == (pytest.approx(9),)
    assert stage.busy_there_s == (pytest.approx(0.9),)
    assert (first.depth, first.request_bytes, first.title) == (1.0, 262_144.0, "a made drive")


def test_each_stage_has_what_was_asked_until_its_end(run):
    attempts = [
        MapReduceAttempt(
            job="job_1_0001", attempt=f"attempt_{number}", stage=stage, node="n", state="SUCCEEDED", started_ms=1000,
            finished_ms=finished_ms,
        )
        for number, (stage, finished_ms) in enumerate([("map", 3000), ("map", 5000), ("reduce", 10_500)])
    ]  # fmt: skip
    (demand,) = demands(run(a_log(5), seconds=(10.0,), attempts=attempts))
    assert [(stage.stage, stage.elapsed_s) for stage in demand.stages] == [("closing map", 4), ("closing reduce", 6)]
    assert [stage.busy_s for stage in demand.stages] == [(pytest.approx(2),), (pytest.approx(3),)]
    assert sum(stage.elapsed_s for stage in demand.stages) == demand.elapsed_s


def test_drives_that_one_drive_replaces_are_named(run):
    folder = run(a_log(3, "first"), a_log(3, "second", roles=("intermediate",)))
    assert demands(folder)[0].replaced == ("first", "second")
    assert demands(folder, roles=("intermediate",))[0].replaced == ("second",)


def test_data_of_other_roles_stay_on_their_drive(run):
    demand, _ = demands(run(a_log(8, roles=("input", "output"))), share=0, roles=("output",))
    assert demand.stages[0].busy_there_s == (pytest.approx(4), 0)


@pytest.mark.parametrize(("digest", "stays_s"), [("made", 4 * 0.5), ("of an earlier version", 4)])
def test_data_that_stay_on_an_emulated_drive_are_given_to_the_profile_that_it_had(run, digest, stays_s):
    logs = (a_log(8, roles=("input", "output")), a_log(4, medium="second", roles=("input",)))
    folder = run(*logs, media_facts={"disk": {"profile_digest": digest}})
    demand, _ = demands(folder, share=0, roles=("output",), present={"disk": Profile(0.5), "second": Profile(0.5)})
    # Nothing left the second drive, so that it has been measured.
    assert demand.stages[0].busy_there_s == (pytest.approx(stays_s), pytest.approx(4), 0)


def test_a_trial_without_data_of_a_role_asks_nothing_of_its_drive_where_another_trial_has_some(tmp_path):
    folder = write_run(tmp_path / "run", a_log(8))
    trial = a_trial(3, repetition=3)
    folder.replace_plan(folder.plan().model_copy(update={"trials": (*folder.plan().trials, trial)}))
    folder.write(TrialResult(a_record(trial, 10.1), requests=[a_log(8, roles=("input", "output"))]))
    without, _, with_output = demands(folder, share=0.1, roles=("output",))
    assert (without.replaced, without.stages[0].busy_there_s) == ((), (pytest.approx(8), 0))
    assert (with_output.replaced, with_output.stages[0].busy_there_s) == (
        ("disk",),
        (pytest.approx(4), pytest.approx(0.4)),
    )


def test_the_busiest_node_counts(run):
    demand, _ = demands(run(a_log(3, "a/disk"), a_log(5, "b/disk")), share=0.1)
    assert demand.stages[0].busy_s == (pytest.approx(5),)
    assert demand.replaced == ("disk",)


def run_on(path, *options):
    """A run of one trial on emulated media with these options."""
    media = tuple(
        MediumSpec(name=f"disk{number or ''}", kind="emulated", profile="x", **fields)
        for number, fields in enumerate(options)
    )
    trial = a_trial().model_copy(update={"media": media})
    folder = a_folder(path, a_plan(trial))
    folder.write(TrialResult(a_record(trial), requests=[a_log(5)]))
    return folder


def slowdown_of(folder, **speed):
    profile = Profile(1)
    demands_on(folder, [(OtherDrive(name="made", profile="made", **speed), profile)], replay, present={})
    return profile.slowdown


def test_of_several_drives_the_demands_come_drive_after_drive(run):
    drives = [(OtherDrive(name=name, profile=name), Profile(share)) for name, share in (("a", 0.1), ("b", 0.5))]
    made = demands_on(run(a_log(8)), drives, replay, present={})
    assert [(demand.drive.name, demand.trial[:4]) for demand in made] == [
        ("a", "0001"), ("a", "0002"), ("b", "0001"), ("b", "0002"),
    ]  # fmt: skip
    assert [demand.stages[0].busy_there_s[0] for demand in made] == pytest.approx([0.8, 0.8, 4, 4])


def test_a_drive_is_as_slow_as_the_runs_own(tmp_path):
    assert slowdown_of(run_on(tmp_path / "slow", {"slowdown": 4})) == 4
    assert slowdown_of(run_on(tmp_path / "alike", {"slowdown": 4}, {"slowdown": 4})) == 4


def test_a_medium_of_the_run_keeps_its_own_slowdown(tmp_path):
    assert slowdown_of(run_on(tmp_path / "slow", {"slowdown": 6}), slowdown=1) == 1
    assert slowdown_of(run_on(tmp_path / "unlike", {"slowdown": 6}, {"shared_by": 2}), slowdown=3) == 3


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (({"slowdown": 6}, {}), "have different slowdowns; name a medium of the run"),
        (({"shared_by": 1.9},), r"are shared \(`shared_by`\); name a medium of the run"),
    ],
)
def test_a_drive_whose_slowdown_no_drive_of_the_trial_tells_is_refused(tmp_path, options, reason):
    folder = run_on(tmp_path / "run", *options)
    known, unknown = OtherDrive(name="x", profile="x", slowdown=1), OtherDrive(name="made", profile="made")
    with pytest.raises(BadInputError, match=f"how much slower made is to be .* drives of trial 0001.* {reason}"):
        demands_on(folder, [(known, Profile(1)), (unknown, Profile(1))], no_replay, present={})


@pytest.mark.parametrize(
    ("logs", "options", "reason"),
    [
        ((), {}, "has no log of the requests to its drives; run the experiment with `keep_requests: true`"),
        (
            (a_log(5),),
            {"roles": ("log",)},
            "no request of triangles on placement disk is of role 'log'; the roles of all requests are input",
        ),
        ((a_log(5),), {"placement": "tape"}, "has no placement 'tape'; it has disk"),
        ((a_log(5, dropped=3),), {}, "3 requests are missing"),
    ],
)
def test_what_can_not_be_predicted_is_one_sentence_before_anything_is_replayed(run, logs, options, reason):
    with pytest.raises(BadInputError, match=reason):
        demands(run(*logs), replay=no_replay, **options)


def test_without_a_log_that_was_to_be_kept_the_probe_is_named(tmp_path):
    trial = a_trial().model_copy(update={"keep_requests": True})
    folder = a_folder(tmp_path / "run", a_plan(trial))
    folder.write(TrialResult(a_record(trial)))
    with pytest.raises(BadInputError, match="no log of the requests.*; the probe block-trace sees them"):
        demands(folder, replay=no_replay)


def test_a_drive_that_was_busy_for_longer_than_the_job_is_refused(run):
    with pytest.raises(BadInputError, match=r"took 8.5 s, and .* a drive was busy for 8.9 s of it"):
        demands(run(a_log(9.9), seconds=(8.5,)), replay=no_replay)
