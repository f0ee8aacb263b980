"""Proves that table, answers and runs side by side take the same placement for the base, and that the notes name it."""

import io
from functools import partial

import pytest
from rich.console import Console

from assay.model.record import Status
from assay.model.trial import ZERO_DELAY
from assay.report.analysis import RunData, analyse
from assay.report.compare_runs import agreements, compare_runs
from assay.report.compare_views import comparison_page, print_comparison
from assay.report.page import run_page
from assay.report.terminal import print_report
from tests.builders import a_measured_run, a_record
from tests.report.made_runs import made_run, made_trials


def a_run(placements, failed=()):
    """All of `hdd`, `memory`, `ssd` and zero delay ran, and no trial of those that failed counts."""
    plan, records = made_run(made_trials(media=("hdd", "memory", "ssd", ZERO_DELAY)))
    told = [
        a_record(one.trial, status=Status.FAILED, error="died", totals=None, verdicts=())
        if one.trial.placement.name in failed
        else one
        for one in records
    ]
    return RunData(a_measured_run(plan.model_copy(update={"placements": placements}), told), [], told)


def on_a_terminal(write, *told):
    console = Console(file=io.StringIO(), width=150)
    write(*told, console)
    return " ".join(console.file.getvalue().split())


@pytest.mark.parametrize(
    ("placements", "failed", "order"),
    [
        (("ssd", "hdd", "memory"), (), ["ssd", "hdd", "memory"]),
        (("ssd", "memory", "hdd"), ("ssd",), ["memory", "hdd"]),
        (("ssd",), ("ssd",), ["hdd", "memory"]),
        ((), (), ["hdd", "memory", "ssd"]),
    ],
)
def test_the_base_is_the_first_planned_placement_with_a_time_everywhere(placements, failed, order):
    run = a_run(placements, failed)
    analysis = analyse(run.measured)
    (decision,) = analysis.decisions
    assert [one.placement for one in decision.placements] == order
    rows = [row.placement for row in analysis.rows]
    assert [name for name in rows if name not in failed] == [*order, ZERO_DELAY]
    assert rows[-1] == ZERO_DELAY
    compared = compare_runs({"one": run, "two": run})
    for table in (analysis.rows, [one.combination for one in compared.rows]):
        assert {row.comparison.base for row in table if row.comparison} == {order[0]}
        assert {row.placement for row in table if row.comparison} == set(order[1:])
    assert all(
        f" than {order[0]} in" in one.headline or f" from {order[0]} in" in one.headline
        for one in agreements(compared, [])
    )


def test_the_notes_name_the_base():
    run = a_run(("ssd", "hdd", "memory"))
    analysis = analyse(run.measured)
    whole = partial(print_report, verbose=True)
    assert "ratio: elapsed time divided by that on ssd." in on_a_terminal(whole, "demo", run.trials, analysis)
    assert "Ratio: elapsed time divided by that on ssd, with repetitions" in run_page(run, analysis)
    compared = compare_runs({"one": run, "two": run})
    assert "ratio: elapsed time divided by that on ssd in the same run;" in on_a_terminal(print_comparison, compared)
    assert "Ratio: elapsed time divided by that on ssd in the same run," in comparison_page(compared)


def test_where_runs_have_several_bases_the_note_says_how_each_is_chosen():
    compared = compare_runs({"one": a_run(("ssd", "hdd")), "two": a_run(("hdd", "ssd"))})
    told = on_a_terminal(print_comparison, compared)
    assert "ratio: elapsed time divided by that on the group's first placement that has a time in the same run;" in told
