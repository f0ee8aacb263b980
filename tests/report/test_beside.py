"""Proves that runs stand beside one another with each judged by itself, and that unequal machines are never pooled."""

import pytest

from assay.report.beside import agreements, differing_facts, put_beside, side_values
from assay.report.beside_page import beside_markdown, beside_page
from assay.report.gathered import Gathered
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
    assert same.belief == "sure"
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
