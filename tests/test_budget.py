"""Proves that a run with a budget of time stops in time, and until then repeats what is compared as a whole."""

from contextlib import contextmanager
from itertools import count

import pytest

from assay.model.trial import ZERO_DELAY, ResourceEstimate
from assay.run.loop import execute, repeat
from assay.run.schedule import Budget, RepetitionSchedule
from assay_extras.testing.fakes import Script, fake_setup
from tests.builders import a_folder, a_plan, a_trial
from tests.watching import Watcher


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
        yield fake_setup(Script(), trial)
        clock.now += clock.each_s

    return parts


def budget_of(seconds, plan, clock):
    estimates = {trial.id: ResourceEstimate(disk_bytes=0, memory_bytes=0, seconds=10) for trial in plan.trials}
    return Budget(seconds, plan, estimates, clock)


def rounds_of(plan):
    """Of the plan of the fixture, with its repetitions in turn."""
    return RepetitionSchedule(
        plan, ((a_trial(2 * n - 1, "hdd", n), a_trial(2 * n, "ssd", n)) for n in count(2))
    )  # fmt: skip


@pytest.fixture
def run(tmp_path):
    plan = a_plan(*(a_trial(number, medium=medium) for number, medium in enumerate(["hdd", "ssd"], 1)))
    folder = a_folder(tmp_path / "run", plan)
    return plan, folder


def test_no_trial_begins_that_is_not_expected_to_end_in_time(run):
    plan, folder = run
    clock = Clock(10)
    watch = Watcher()
    assert not execute(plan, folder, parts_of(clock), watch, budget_of(15, plan, clock))
    assert [trial.id for trial in watch.began] == [plan.trials[0].id]
    assert execute(plan, folder, parts_of(clock), watch, budget_of(15, plan, clock))
    assert folder.finished() == {trial.id for trial in plan.trials}


def test_what_is_left_of_the_time_is_used_for_whole_rounds(run):
    plan, folder = run
    clock = Clock(10)
    watch = Watcher()
    budget = budget_of(75, plan, clock)
    assert execute(plan, folder, parts_of(clock), watch, budget)
    assert repeat(rounds_of(plan), folder, parts_of(clock), watch, budget) == 4
    whole = folder.plan()
    assert [trial.repetition for trial in whole.trials] == [1, 1, 2, 2, 3, 3]
    assert watch.began == list(whole.trials)
    assert folder.finished() == {trial.id for trial in whole.trials}


def test_a_run_that_goes_on_with_more_time_goes_on_counting(run):
    """Nothing has run since it went on: what its trials take is known from its estimates."""
    plan, folder = run
    clock = Clock(10)
    parts = parts_of(clock)
    execute(plan, folder, parts, Watcher())
    for _ in range(2):
        assert repeat(rounds_of(plan), folder, parts, Watcher(), budget_of(25, plan, clock)) == 2
    assert [trial.repetition for trial in folder.plan().trials] == [1, 1, 2, 2, 3, 3]


def there_and_back(repetition):
    """A repetition of the quickstart."""
    return tuple(
        a_trial(5 * (repetition - 1) + place, medium, repetition).model_copy(
            update={"zero_delay": medium == ZERO_DELAY}
        )
        for place, medium in enumerate(["hdd", "ssd", ZERO_DELAY, "ssd", "hdd"], 1)
    )


@pytest.mark.parametrize(
    ("seconds", "media"),
    [
        (50 + 50, ["hdd", "ssd", ZERO_DELAY, "ssd", "hdd"]),
        (50 + 45, ["hdd", "ssd", "ssd", "hdd"]),
        (50 + 35, ["hdd", "ssd"]),
        (50 + 85, ["hdd", "ssd", ZERO_DELAY, "ssd", "hdd", "hdd", "ssd"]),
        (50 + 15, []),
    ],
    ids=["whole", "without the baseline", "once each", "whole, then once each", "nothing"],
)
def test_where_no_whole_round_fits_what_is_compared_is_repeated_without_the_baseline(tmp_path, seconds, media):
    plan = a_plan(*there_and_back(1))
    folder, clock, watch = a_folder(tmp_path / "run", plan), Clock(10), Watcher()
    budget = budget_of(seconds, plan, clock)
    assert execute(plan, folder, parts_of(clock), watch, budget)
    schedule = RepetitionSchedule(plan, map(there_and_back, count(2)), lambda _: ())
    assert repeat(schedule, folder, parts_of(clock), watch, budget) == len(media)
    assert [trial.placement.name for trial in watch.began[5:]] == media


def test_a_placement_that_is_compared_with_the_baseline_alone_is_not_repeated_without_it(tmp_path):
    trials = [
        a_trial(number, medium).model_copy(update={"zero_delay": number == 2})
        for number, medium in ((1, "hdd"), (2, ZERO_DELAY))
    ]
    schedule = RepetitionSchedule(a_plan(*trials), iter([trials]), lambda _: ())
    assert not schedule.next_round(set(), [], lambda trials: len(trials) < 2)


def test_trials_that_take_longer_than_estimated_correct_what_is_expected():
    plan = a_plan(a_trial(1), a_trial(2, medium="other"))
    clock = Clock(0)
    budget = budget_of(100, plan, clock)
    assert budget.allows(plan.trials)
    budget.took(plan.trials[0], 60)
    assert not budget.allows([plan.trials[1], plan.trials[0]])
    assert budget.allows([plan.trials[0]])
