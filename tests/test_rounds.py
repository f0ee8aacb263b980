"""Proves that what `--for` adds is what a longer plan would have, and that no choice of it makes an effect."""

from itertools import chain, islice
from math import exp
from random import Random

import pytest

from assay.model.record import Status, Step
from assay.model.trial import SettingsSpec
from assay.plan.grid import Combination, Level
from assay.plan.order import blocks
from assay.rounds import Rounds
from assay.stats.comparison import compare
from assay.stats.sample import samples
from assay.stats.uncertainty import least_certain
from tests.builders import a_plan, a_record, a_trial

SEEDS = 200


def trial_of(number, repetition, work, settings, medium):
    trial = a_trial(number, medium, repetition, work)
    return trial.model_copy(update={"settings": SettingsSpec(name=settings)})


def repetitions_of(seed, works=("sort",), settings=("a", "b"), media=("hdd",)):
    """As plans have them, without end."""
    levels = [(work, one, medium) for work in works for one in settings for medium in media]
    names = ("workload", "settings", "placement")
    combinations = [
        Combination({name: Level(text, {name: text}) for name, text in zip(names, one, strict=True)}) for one in levels
    ]
    for repetition, block in enumerate(blocks(combinations, seed), 1):
        first = (repetition - 1) * len(block) + 1
        yield tuple(
            trial_of(number, repetition, *combination.shown.values()) for number, combination in enumerate(block, first)
        )


def held_by(records):
    return {record.trial.id for record in records}


def test_a_round_is_the_next_repetition_of_a_longer_plan():
    longer = list(islice(repetitions_of(1, media=("hdd", "ssd")), 5))
    rounds = Rounds(a_plan(*chain(*longer[:2])), iter(longer[2:]))
    held = {trial.id for trial in chain(*longer[:2])}
    for repetition in longer[2:]:
        more = rounds.following(held, [], lambda _: True)
        assert more == repetition
        held |= {trial.id for trial in more}


def test_a_part_of_the_plan_is_repeated_alone_and_never_within_a_repetition_that_another_part_had():
    first, second, third = islice(repetitions_of(1), 3)
    part = a_plan(*(trial for trial in first if trial.settings.name == "a"))
    own = Rounds(part, iter([second, third])).following({trial.id for trial in first}, [], lambda _: True)
    assert [(trial.settings.name, trial.repetition) for trial in own] == [("a", 2)]
    both = Rounds(a_plan(*first), iter([second, third])).following(
        {trial.id for trial in (*first, *own)}, [], lambda _: True
    )
    assert both == third


def test_where_no_whole_repetition_fits_the_least_certain_work_is_repeated_as_a_whole():
    first, second, third = islice(repetitions_of(1, works=("steady", "noisy")), 3)
    times = {"steady": [10.0, 10.1, 10.0], "noisy": [10.0, 14.0, 9.0]}
    turns = enumerate(repetitions_of(1, works=("steady", "noisy")))
    records = [a_record(trial, times[trial.workload.name][at]) for at, trials in islice(turns, 3) for trial in trials]
    more = repetitions_of(1, works=("steady", "noisy"))
    rounds = Rounds(a_plan(*first, *second, *third), islice(more, 3, None))
    two = rounds.following(held_by(records), records, lambda trials: len(trials) <= 2)
    assert [(trial.workload.name, trial.repetition) for trial in two] == [("noisy", 4), ("noisy", 4)]
    assert {trial.settings.name for trial in two} == {"a", "b"}
    assert not rounds.following(held_by(records), records, lambda trials: len(trials) <= 1)


def failed(trial):
    return a_record(trial).model_copy(update={"status": Status.FAILED, "totals": None})


def test_what_never_finishes_is_not_repeated():
    first, second = islice(repetitions_of(1), 2)
    records = [failed(trial) if trial.settings.name == "b" else a_record(trial) for trial in first]
    assert [
        trial.settings.name
        for trial in Rounds(a_plan(*first), iter([second])).following(held_by(records), records, len)
    ] == ["a"]
    broken = [failed(trial) for trial in first]
    assert not Rounds(a_plan(*first), iter([second])).following(held_by(broken), broken, len)


def test_what_an_earlier_machine_knew_makes_nothing_certain():
    """By both machines together `sort` is known well; the one that ran last has run it twice."""
    trials = list(islice(repetitions_of(1, works=("sort", "count")), 4))
    records = [
        a_record(trial, 10.0 + (at % 2 if trial.workload.name == "count" else 0.01 * at)).model_copy(
            update={
                "facts": {"kernel": "6.1" if trial.workload.name == "sort" and at < 2 else "6.2"},
                "steps": (Step(name="run", started_ms=at + 1, seconds=1.0),),
            }
        )
        for at, block in enumerate(trials)
        for trial in block
    ]
    assert [work[0] for work in least_certain(trials[0], records)] == ["sort", "count"]


def told(seed, works, rounds, drift):
    """What is told of a run of 5 repetitions and so many rounds, each of 2 trials at most, where nothing has an effect."""
    chance = Random(seed)
    repetitions = repetitions_of(seed, works)
    first = list(chain(*islice(repetitions, 5)))
    records = []

    def go(trials):
        for trial in trials:
            records.append(a_record(trial, 60 * exp(drift * len(records) + chance.gauss(0, 0.03))))

    go(first)
    more = Rounds(a_plan(*first), repetitions)
    for _ in range(rounds):
        go(more.following(held_by(records), records, lambda trials: len(trials) <= 2))
    return compare(samples(records), ["settings"])


def is_seldom_claimed(found):
    """Whether at most 1 run in 20 tells any effect, as far as so many runs can show it."""
    share = sum(any(one.told for one in own) for own in found) / len(found)
    return share <= 0.05 + 2 * (0.05 * 0.95 / len(found)) ** 0.5


def test_without_an_effect_drift_makes_none_however_long_the_plan_is_repeated():
    found = [told(seed, ["sort"], 15, drift=0.004) for seed in range(SEEDS // 2)]
    assert is_seldom_claimed(found)
    assert all(one.pairs == one.runs == one.base_runs == 20 for own in found for one in own)


@pytest.mark.it
@pytest.mark.long
def test_choosing_the_least_certain_work_again_and_again_makes_no_effect():
    """Time for half a repetition, many times: the worst that `--for` allows. About a minute."""
    found = [told(seed, ["sort", "count"], 24, drift=0.001) for seed in range(SEEDS)]
    assert is_seldom_claimed(found)
    assert any(len({one.runs for one in own}) == 2 for own in found)
    # Of few pairs all trials are compared; they are pairs all the same.
    assert all((one.pairs or one.unused_pairs) == one.runs == one.base_runs for own in found for one in own)
