"""Proves that figures of trials are worked out by their sort, and that combinations have their medians."""

import pytest

from assay.report.figures import FIGURES, FiguresKind, figures_of, medians_over
from tests.builders import a_record, a_trial, summaries


def test_medians_are_of_what_is_known_and_texts_stand_once_each():
    by_trial = {
        "one": {"seconds": 1.0, "basis": "measured"},
        "two": {"seconds": 3.0, "basis": "modelled"},
        "three": {"seconds": None, "basis": None},
    }
    first, second, none = medians_over(by_trial, [["one", "two", "three"], ["three"], []])
    assert first == {"seconds": 2.0, "basis": "measured, modelled"}
    assert second == none == {"seconds": None, "basis": None}


def test_a_sort_of_which_no_trial_has_any_is_left_out(monkeypatch):
    monkeypatch.setitem(FIGURES._kinds, "length", FiguresKind(lambda summary: {"letters": len(summary.id)}))
    monkeypatch.setitem(FIGURES._kinds, "nothing", FiguresKind(lambda _: None))
    for name in ("length", "nothing"):
        monkeypatch.setitem(FIGURES._places, name, 1)
    (summary,) = summaries([a_record(a_trial(1, "hdd"))])
    assert figures_of([summary], ["length", "nothing"]) == {"length": {summary.id: {"letters": len(summary.id)}}}


@pytest.mark.parametrize("name", ["energy", "nodes", "staging"])
def test_what_is_shipped_is_there(name):
    assert callable(FIGURES[name].columns)
