"""Proves what a run goes on with: only with the same experiment, a part of it or all of it."""

import pytest

from assay.cli.run import resumed
from assay.model.doubt import Doubt
from assay.model.errors import BadInputError
from tests.builders import a_plan, a_trial

FULL = a_plan(*(a_trial(number) for number in range(1, 6)))


def part(plan, *numbers):
    return plan.model_copy(update={"trials": tuple(plan.trials[number - 1] for number in numbers)})


def ids(plan):
    return [int(trial.id[:4]) for trial in plan.trials]


def test_the_same_plan_stays_as_it_is():
    assert resumed(FULL, FULL, FULL, set()) == FULL


def test_a_part_can_be_run_first_and_the_rest_later():
    some = part(FULL, 2, 4)
    assert ids(resumed(some, FULL, FULL, set())) == [1, 2, 3, 4, 5]
    assert ids(resumed(some, FULL, part(FULL, 5), set())) == [2, 4, 5]
    assert resumed(FULL, FULL, some, set()) == FULL


def test_more_repetitions_can_be_added_and_what_ran_beyond_the_plan_stays():
    fewer = part(FULL, 1, 2, 3)
    assert resumed(fewer, FULL, FULL, set()) == FULL
    assert ids(resumed(FULL, fewer, fewer, {FULL.trials[3].id})) == [1, 2, 3, 4]


def test_what_the_whole_run_was_doubted_for_stays():
    no_drives, unknown = (Doubt(kind=kind, what="x", why="y", cure="z") for kind in ("no-emulated-drives", "unknown"))
    stored = FULL.model_copy(update={"doubts": (no_drives, unknown)})
    now = FULL.model_copy(update={"doubts": (unknown,)})
    assert resumed(stored, now, now, set()).doubts == (no_drives, unknown)


@pytest.mark.parametrize(
    "stored",
    [
        a_plan(a_trial(1, medium="other")),
        FULL.model_copy(update={"seed": 2}),
        FULL.model_copy(update={"experiment": "other"}),
        a_plan(a_trial(1, repetition=2)),
    ],
)
def test_another_experiment_is_refused(stored):
    with pytest.raises(BadInputError, match="the run holds another plan than this experiment makes now"):
        resumed(stored, FULL, FULL, set())
