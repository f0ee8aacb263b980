"""Proves that what `--for` adds is what a longer plan would have, until everything is decided."""

from itertools import chain, islice

from assay.model.record import Status, Step
from assay.model.trial import SettingsSpec
from assay.plan.grid import Combination, Level
from assay.plan.order import blocks
from assay.run.schedule import RepetitionSchedule, decided_work, work_of
from tests.builders import a_plan, a_record, a_trial, summaries


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
            trial_of(number, repetition, *combination.labels.values())
            for number, combination in enumerate(block, first)
        )


def held_by(records):
    return {record.trial.id for record in records}


def test_a_round_is_the_next_repetition_of_a_longer_plan():
    longer = list(islice(repetitions_of(1, media=("hdd", "ssd")), 5))
    rounds = RepetitionSchedule(a_plan(*chain(*longer[:2])), iter(longer[2:]))
    held = {trial.id for trial in chain(*longer[:2])}
    for repetition in longer[2:]:
        more = rounds.next_round(held, [], lambda _: True)
        assert more == repetition
        held |= {trial.id for trial in more}


def test_a_part_of_the_plan_is_repeated_alone_and_never_within_a_repetition_that_another_part_had():
    first, second, third = islice(repetitions_of(1), 3)
    part = a_plan(*(trial for trial in first if trial.settings.name == "a"))
    own = RepetitionSchedule(part, iter([second, third])).next_round({trial.id for trial in first}, [], lambda _: True)
    assert [(trial.settings.name, trial.repetition) for trial in own] == [("a", 2)]
    both = RepetitionSchedule(a_plan(*first), iter([second, third])).next_round(
        {trial.id for trial in (*first, *own)}, [], lambda _: True
    )
    assert both == third


def test_work_that_is_decided_is_not_repeated_and_nothing_is_once_all_is():
    first, second = islice(repetitions_of(1, works=("sort", "count")), 2)
    decided = {work_of(trial) for trial in first if trial.workload.name == "sort"}
    rounds = RepetitionSchedule(a_plan(*first), iter([second]), lambda _: decided)
    more = rounds.next_round({trial.id for trial in first}, [], lambda _: True)
    assert [(trial.workload.name, trial.repetition) for trial in more] == [("count", 2)] * 2
    every = {work_of(trial) for trial in first}
    assert not RepetitionSchedule(a_plan(*first), iter([second]), lambda _: every).next_round(set(), [], lambda _: True)


def test_without_another_rule_work_is_decided_once_it_has_a_verdict():
    repetitions = list(islice(repetitions_of(1, works=("sort", "count"), settings=("a",), media=("hdd", "ssd")), 3))
    times = {("sort", "hdd"): 30.0, ("sort", "ssd"): 15.0, ("count", "hdd"): 30.0, ("count", "ssd"): 27.5}
    records = [
        a_record(trial, (1 + at / 50) * times[trial.workload.name, trial.placement.name])
        for at, block in enumerate(repetitions)
        for trial in block
    ]
    plan = a_plan(*chain(*repetitions))
    assert {work[0] for work in decided_work(plan, summaries(records))} == {"sort"}
    more = islice(repetitions_of(1, works=("sort", "count"), settings=("a",), media=("hdd", "ssd")), 3, None)
    following = RepetitionSchedule(plan, more).next_round(held_by(records), summaries(records), lambda _: True)
    assert [(trial.workload.name, trial.repetition) for trial in following] == [("count", 4)] * 2


def test_where_not_all_undecided_work_fits_one_is_repeated_as_a_whole():
    first, second = islice(repetitions_of(1, works=("sort", "count")), 2)
    rounds = RepetitionSchedule(a_plan(*first), iter([second]))
    two = rounds.next_round({trial.id for trial in first}, [], lambda trials: len(trials) <= 2)
    assert len({trial.workload.name for trial in two}) == 1
    assert {trial.settings.name for trial in two} == {"a", "b"}
    assert not rounds.next_round({trial.id for trial in first}, [], lambda trials: len(trials) <= 1)


def failed(trial):
    return a_record(trial).model_copy(update={"status": Status.FAILED, "totals": None})


def test_what_never_finishes_is_not_repeated():
    first, second = islice(repetitions_of(1), 2)
    records = [failed(trial) if trial.settings.name == "b" else a_record(trial) for trial in first]
    assert [
        trial.settings.name
        for trial in RepetitionSchedule(a_plan(*first), iter([second])).next_round(
            held_by(records), summaries(records), len
        )
    ] == ["a"]
    broken = [failed(trial) for trial in first]
    assert not RepetitionSchedule(a_plan(*first), iter([second])).next_round(held_by(broken), summaries(broken), len)


def test_what_an_earlier_machine_knew_decides_nothing():
    """The first three repetitions tell the placements apart, and were run with another kernel than the last trial."""
    repetitions = list(islice(repetitions_of(1, settings=("a",), media=("hdd", "ssd")), 4))
    records = [
        a_record(trial, {"hdd": 30.0, "ssd": 15.0}[trial.placement.name]).model_copy(
            update={
                "facts": {"kernel": "6.1" if trial.repetition < 4 else "6.2"},
                "steps": (Step(name="run", started_ms=at + 1, seconds=31.0),),
            }
        )
        for at, trial in enumerate(chain(*repetitions))
    ]
    more = islice(repetitions_of(1, settings=("a",), media=("hdd", "ssd")), 4, None)
    assert RepetitionSchedule(a_plan(*repetitions[3]), more).next_round(
        held_by(records), summaries(records), lambda _: True
    )
    same = [one.model_copy(update={"facts": {"kernel": "6.2"}}) for one in records]
    assert not RepetitionSchedule(a_plan(*repetitions[3]), more).next_round(
        held_by(same), summaries(same), lambda _: True
    )
