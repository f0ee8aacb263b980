"""Proves that a run with a budget of time stops in time, and repeats what it knows least."""

from contextlib import contextmanager

import pytest

from assay.budget import Budget
from assay.execution import execute, repeat
from assay.model.progress import Silent
from assay.model.record import Status
from assay.model.trial import Estimate
from assay.record.folder import RunFolder
from assay.stats.uncertainty import least_certain
from assay.testing.fakes import FakeParts, Script
from tests.builders import a_plan, a_record, a_trial


class Watching(Silent):
    def __init__(self):
        self.began = []

    def trial_begins(self, trial, number, total):
        self.began.append(trial)

    def trial_ends(self, record):
        pass


class Clock:
    """Each trial takes so many seconds of it."""

    def __init__(self, each_s):
        self.now = 0.0
        self.each_s = each_s

    def __call__(self):
        return self.now


def parts_of(clock):
    @contextmanager
    def parts(trial):
        yield FakeParts(Script(), trial)
        clock.now += clock.each_s

    return parts


def estimates(plan, seconds):
    return {trial.id: Estimate(disk_bytes=0, memory_bytes=0, seconds=seconds) for trial in plan.trials}


@pytest.fixture
def run(tmp_path):
    plan = a_plan(*(a_trial(number, medium=medium) for number, medium in enumerate(["hdd", "ssd"], 1)))
    folder = RunFolder(tmp_path / "run")
    folder.create(plan)
    return plan, folder


def test_no_trial_begins_that_is_not_expected_to_end_in_time(run):
    plan, folder = run
    clock = Clock(10)
    watch = Watching()
    assert not execute(plan, folder, parts_of(clock), watch, Budget(15, estimates(plan, 10), clock))
    assert [trial.id for trial in watch.began] == [plan.trials[0].id]
    assert execute(plan, folder, parts_of(clock), watch, Budget(15, estimates(plan, 10), clock))
    assert folder.finished() == {trial.id for trial in plan.trials}


def test_what_is_left_of_the_time_is_used_for_whole_rounds(run):
    plan, folder = run
    clock = Clock(10)
    watch = Watching()
    budget = Budget(75, estimates(plan, 10), clock)
    assert execute(plan, folder, parts_of(clock), watch, budget)
    assert repeat(plan, folder, parts_of(clock), watch, budget) == 4
    whole = folder.plan()
    assert [trial.repetition for trial in whole.trials] == [1, 1, 2, 2, 3, 3]
    assert [trial.id for trial in whole.trials[2:]] == [
        "0003-triangles-ssd", "0004-triangles-hdd", "0005-triangles-hdd", "0006-triangles-ssd",
    ]  # fmt: skip
    assert folder.finished() == {trial.id for trial in whole.trials}


def test_a_run_that_goes_on_with_more_time_goes_on_counting(run):
    plan, folder = run
    clock = Clock(10)
    parts = parts_of(clock)
    execute(plan, folder, parts, Watching())
    for _ in range(2):
        assert repeat(plan, folder, parts, Watching(), Budget(25, estimates(plan, 10), clock)) == 2
    assert [trial.repetition for trial in folder.plan().trials] == [1, 1, 2, 2, 3, 3]


def test_trials_that_take_longer_than_estimated_correct_what_is_expected():
    plan = a_plan(a_trial(1), a_trial(2, medium="other"))
    clock = Clock(0)
    budget = Budget(100, estimates(plan, 10), clock)
    assert budget.allows(plan.trials)
    budget.took(plan.trials[0], 60)
    assert not budget.allows([plan.trials[1], plan.trials[0]])
    assert budget.allows([plan.trials[0]])


def records_of(medium, *times, first=1):
    return [a_record(a_trial(at, medium=medium, repetition=at), time) for at, time in enumerate(times, first)]


def test_the_least_certain_combination_comes_first():
    trials = [a_trial(at, medium="d", workload=name) for at, name in enumerate(["steady", "noisy", "new", "failing"])]
    records = [
        *(a_record(a_trial(at, "d", at, "steady"), time) for at, time in enumerate([10.0, 10.1, 10.2, 10.1])),
        *(a_record(a_trial(at, "d", at, "noisy"), time) for at, time in enumerate([10.0, 14.0, 9.0, 11.0])),
        *(a_record(a_trial(at, "d", at, "new"), time) for at, time in enumerate([10.0, 10.0])),
        a_record(trials[3]).model_copy(update={"status": Status.FAILED, "totals": None}),
    ]
    found = least_certain(trials, records)
    assert [one.trials[0].workload.name for one in found] == ["new", "noisy", "steady"]
    assert found[1].width > found[2].width > 0
    assert [one.values for one in found] == [2, 4, 4]


def test_placements_of_one_combination_are_repeated_together():
    trials = [a_trial(1, "hdd"), a_trial(2, "ssd"), a_trial(3, "ssd", repetition=2)]
    (one,) = least_certain(trials, [])
    assert [trial.placement.name for trial in one.trials] == ["hdd", "ssd"]
    assert one.repetition == 2
