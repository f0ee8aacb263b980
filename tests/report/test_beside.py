"""Proves that runs stand beside one another with each judged by itself, and that unequal machines are never pooled."""

import pytest

from assay.model.trial import SettingsSpec
from assay.report.analysis import Gathered
from assay.report.compare_page import beside_markdown, beside_page
from assay.report.compare_runs import agreements, differing_facts, put_beside, side_values
from assay.stats.summary import summarise
from tests.report.made_runs import made_run, made_trials

SLOW = {"hdd": 90.0, "ssd": 99.0, "memory": 50.0}


def a_run(seed=1, facts=None, repetitions=8, **changes):
    plan, records = made_run(made_trials(repetitions=repetitions), seed=seed, facts=facts, **changes)
    return Gathered(plan, records, [], [])


@pytest.fixture
def runs():
    other = {"cpu": "another"}
    return {"first": a_run(), "second": a_run(2), "elsewhere": a_run(3, other, times=SLOW, noise=0.01)}


def test_each_run_keeps_its_own_medians_and_ratios(runs):
    beside = put_beside(runs)
    assert len(beside.sides) == 6
    for side in beside.sides:
        own = next(row for row in summarise(runs[side.run].records) if row.placement == side.row.placement)
        assert side.row.elapsed == own.elapsed
        assert side.row.comparison == own.comparison


def test_only_runs_on_one_machine_are_measured_against_one_another(runs):
    beside = put_beside(runs)
    assert beside.machines == {
        "first": ("A (cpu test)",),
        "second": ("A (cpu test)",),
        "elsewhere": ("B (cpu another)",),
    }
    against = {(side.run, side.row.placement): side.against for side in beside.sides}
    assert against["second", "ssd"].base == "first"
    assert against["second", "ssd"].pairs == 0
    assert against["first", "ssd"] is None
    assert against["elsewhere", "ssd"] is None


def test_agreement_and_disagreement_are_told(runs):
    (same,) = agreements(put_beside({name: runs[name] for name in ("first", "second")}), [])
    assert same.headline.startswith("ssd is faster than hdd in 2 of 2 comparisons (0.6")
    assert same.significant == "in all"
    (differ,) = agreements(put_beside(runs), [])
    assert differ.headline.startswith("the runs disagree: ssd is faster in first, second and slower in elsewhere")


def test_the_page_and_the_markdown_say_the_same(runs):
    beside = put_beside(runs)
    html, text = beside_page(beside), beside_markdown(beside)
    for part in ("first", "elsewhere", "B (cpu another)", "the runs disagree"):
        assert part in html
        assert part in text
    assert "2 different machines" in html
    assert differing_facts(runs) == {"cpu": ["test", "test", "another"]}
    assert "different-machines" in html


def test_values_name_run_and_machine(runs):
    values = [side_values(side) for side in put_beside(runs).sides]
    assert [(one["run"], one["machine"]) for one in values[:3]] == [
        ("first", "A (cpu test)"), ("second", "A (cpu test)"), ("elsewhere", "B (cpu another)"),
    ]  # fmt: skip
    assert values[1]["first_run"] == "first"
    assert values[2]["run_ratio"] is None


def test_a_run_of_two_machines_is_two_columns_of_times():
    plan, records = made_run(made_trials(repetitions=4))
    records = [
        record if place % 4 < 2 else record.model_copy(update={"facts": {**record.facts, "kernel": "7"}})
        for place, record in enumerate(records)
    ]
    beside = put_beside({"mixed": Gathered(plan, records, [], []), "whole": a_run(2)})
    assert [len(names) for names in beside.machines.values()] == [2, 1]
    assert sum(side.row.trials for side in beside.sides if side.run == "mixed") == 8
    assert "mixed on" in beside_page(beside)


def with_media(run, **changes):
    """The same run with another ssd."""

    def other(trial):
        media = tuple(one.model_copy(update=changes) if one.name == "ssd" else one for one in trial.media)
        return trial.model_copy(update={"media": media})

    records = [one.model_copy(update={"trial": other(one.trial)}) for one in run.records]
    return run._replace(
        records=records, plan=run.plan.model_copy(update={"trials": tuple(map(other, run.plan.trials))})
    )


def test_other_media_of_the_same_name_are_not_compared_and_that_is_said():
    runs = {
        "one": with_media(a_run(), kind="emulated", profile="evo"),
        "two": with_media(a_run(2), kind="emulated", profile="mx"),
        "again": with_media(a_run(3), kind="emulated", profile="evo"),
    }
    beside = put_beside(runs)
    against = {(side.run, side.row.placement): side.against for side in beside.sides}
    assert against["two", "ssd"] is None
    assert against["again", "ssd"].base == "one"
    assert against["two", "hdd"].base == "one"
    (doubt,) = [one for one in beside.doubts if one.kind == "same-names-for-other-things"]
    assert "medium ssd: profile is evo or mx" in doubt.what
    (same,) = agreements(beside, [])
    assert [where for where, _ in same.details] == ["one", "again"]
    assert "same-names-for-other-things" in beside_page(beside)


def test_a_real_drive_that_was_exchanged_between_runs_is_another_medium():
    first, second = ({"medium.ssd.drive": name} for name in ("evo", "mx"))
    beside = put_beside({"one": a_run(facts=first), "two": a_run(2, second)})
    assert beside.machines == {"one": ("A",), "two": ("A",)}
    assert agreements(beside, []) == []
    (doubt,) = [one for one in beside.doubts if one.kind == "same-names-for-other-things"]
    assert "the drive of ssd is what it was at first or mx" in doubt.what


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("dataset: seed is 1 or 7", lambda one: {"dataset": one.dataset.model_copy(update={"seed": 7})}),
        (
            "cluster: starts is brisk or stock",
            lambda one: {"cluster": one.cluster.model_copy(update={"starts": "stock"})},
        ),
        (
            "settings: a is not given or b",
            lambda one: {"settings": SettingsSpec(name="defaults", properties={"a": "b"})},
        ),
    ],
)
def test_other_data_clusters_and_settings_are_not_compared(what, change):
    plan, records = made_run(made_trials(repetitions=8), seed=2)
    other = [one.model_copy(update={"trial": one.trial.model_copy(update=change(one.trial))}) for one in records]
    beside = put_beside({"one": a_run(), "two": Gathered(plan, other, [], [])})
    assert all(side.against is None for side in beside.sides)
    assert agreements(beside, []) == []
    assert any(what in one.what for one in beside.doubts)
