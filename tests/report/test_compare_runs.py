"""Proves that runs are compared with each judged by itself, and that unequal machines are never pooled."""

from dataclasses import replace

import pytest

from assay.model.installed import kind_of
from assay.model.trial import MediumSpec, SettingsSpec
from assay.report.analysis import RunData
from assay.report.compare_runs import agreements, compare_runs, compared_values, differing_facts
from assay.report.compare_views import comparison_markdown, comparison_page
from assay.stats.summary import rows_of
from tests.builders import a_measured_run, with_facts
from tests.report.made_runs import made_run, made_trials

SLOW = {"hdd": 90.0, "ssd": 99.0, "memory": 50.0}


def a_run(seed=1, facts=None, repetitions=8, **changes):
    plan, records = made_run(made_trials(repetitions=repetitions), seed=seed, facts=facts, **changes)
    return RunData(a_measured_run(plan, records), [], [])


@pytest.fixture
def runs():
    other = {"cpu": "another"}
    return {"first": a_run(), "second": a_run(2), "elsewhere": a_run(3, other, times=SLOW, noise=0.01)}


def test_each_run_keeps_its_own_medians_and_ratios(runs):
    compared = compare_runs(runs)
    assert len(compared.rows) == 6
    for row in compared.rows:
        own = next(one for one in rows_of(runs[row.run].trials) if one.placement == row.combination.placement)
        assert row.combination.elapsed == own.elapsed
        assert row.combination.comparison == own.comparison


def test_only_runs_on_one_machine_are_measured_against_one_another(runs):
    compared = compare_runs(runs)
    assert compared.machines == {
        "first": ("A (cpu test)",),
        "second": ("A (cpu test)",),
        "elsewhere": ("B (cpu another)",),
    }
    against = {(row.run, row.combination.placement): row.against for row in compared.rows}
    assert against["second", "ssd"].base == "first"
    assert against["second", "ssd"].pairs == 0
    assert against["first", "ssd"] is None
    assert against["elsewhere", "ssd"] is None


def test_agreement_and_disagreement_are_told(runs):
    (same,) = agreements(compare_runs({name: runs[name] for name in ("first", "second")}), [])
    assert same.headline.startswith("ssd is faster than hdd in 2 of 2 comparisons (0.6")
    assert same.significant == "all"
    (differ,) = agreements(compare_runs(runs), [])
    assert differ.headline.startswith("the runs disagree: ssd is faster in first, second and slower in elsewhere")


def test_the_page_and_the_markdown_say_the_same(runs):
    compared = compare_runs(runs)
    html, text = comparison_page(compared), comparison_markdown(compared)
    for part in ("first", "elsewhere", "B (cpu another)", "the runs disagree"):
        assert part in html
        assert part in text
    assert "2 different machines" in html
    assert differing_facts(runs) == {"cpu": ["test", "test", "another"]}
    assert "different-machines" in html


def test_values_name_run_and_machine(runs):
    values = [compared_values(row) for row in compare_runs(runs).rows]
    assert [(one["run"], one["machine"]) for one in values[:3]] == [
        ("first", "A (cpu test)"), ("second", "A (cpu test)"), ("elsewhere", "B (cpu another)"),
    ]  # fmt: skip
    assert values[1]["first_run"] == "first"
    assert values[2]["run_ratio"] is None


def test_a_run_of_two_machines_is_two_columns_of_times():
    plan, records = made_run(made_trials(repetitions=4))
    records = [record if place % 4 < 2 else with_facts(record, {"kernel": "7"}) for place, record in enumerate(records)]
    compared = compare_runs({"mixed": RunData(a_measured_run(plan, records), [], []), "whole": a_run(2)})
    assert [len(names) for names in compared.machines.values()] == [2, 1]
    assert sum(row.combination.trials for row in compared.rows if row.run == "mixed") == 8
    assert "mixed on" in comparison_page(compared)


def with_media(run, **changes):
    """The same run with another ssd."""

    def other(trial):
        media = tuple(one.model_copy(update=changes) if one.name == "ssd" else one for one in trial.media)
        return trial.model_copy(update={"media": media})

    trials = [replace(one, trial=other(one.trial)) for one in run.trials]
    plan = run.plan.model_copy(update={"trials": tuple(map(other, run.plan.trials))})
    return run._replace(measured=run.measured._replace(plan=plan, trials=trials))


def test_other_media_of_the_same_name_are_not_compared_and_that_is_said():
    runs = {
        "one": with_media(a_run(), kind="emulated", profile="evo"),
        "two": with_media(a_run(2), kind="emulated", profile="mx"),
        "again": with_media(a_run(3), kind="emulated", profile="evo"),
    }
    compared = compare_runs(runs)
    against = {(row.run, row.combination.placement): row.against for row in compared.rows}
    assert against["two", "ssd"] is None
    assert against["again", "ssd"].base == "one"
    assert against["two", "hdd"].base == "one"
    (doubt,) = [one for one in compared.doubts if one.kind == "same-names-for-other-things"]
    assert "medium ssd: profile is evo or mx" in doubt.what
    (same,) = agreements(compared, [])
    assert [where for where, _ in same.details] == ["one", "again"]
    assert "same-names-for-other-things" in comparison_page(compared)


def test_a_real_drive_that_was_exchanged_between_runs_is_another_medium():
    first, second = ({"medium.ssd.drive": name} for name in ("evo", "mx"))
    compared = compare_runs({"one": a_run(facts=first), "two": a_run(2, second)})
    assert compared.machines == {"one": ("A",), "two": ("A",)}
    assert agreements(compared, []) == []
    (doubt,) = [one for one in compared.doubts if one.kind == "same-names-for-other-things"]
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
    compared = compare_runs({"one": a_run(), "two": RunData(a_measured_run(plan, other), [], [])})
    assert all(row.against is None for row in compared.rows)
    assert agreements(compared, []) == []
    assert any(what in one.what for one in compared.doubts)


def test_a_kind_that_is_not_installed_and_options_out_of_bounds_are_compared_as_recorded():
    runs = {
        "one": with_media(a_run(), kind="unheard-of", reels=1),
        "two": with_media(a_run(2), kind="emulated", profile="mx", slowdown=1000),
    }
    compared = compare_runs(runs)
    (doubt,) = [one for one in compared.doubts if one.kind == "same-names-for-other-things"]
    assert "kind is unheard-of or emulated" in doubt.what


@pytest.mark.parametrize(
    ("medium", "words"),
    [
        ({"kind": "emulated", "profile": "mx", "slowdown": 1000}, "emulated mx, 1000 times slower"),
        ({"kind": "memory", "size_bytes": -1, "path": 5}, "memory of"),
        ({"kind": "unheard-of", "reels": 1}, "unheard-of"),
    ],
)
def test_a_medium_is_described_as_recorded(medium, words):
    spec = MediumSpec(name="m", **medium)
    assert kind_of(spec).described(spec).startswith(words)
