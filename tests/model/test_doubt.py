"""Proves that the catalogue has every kind of doubt, and which doubts come first."""

import ast
from pathlib import Path

from assay.model.doubt import DOUBTS, decisive

ROOT = Path(__file__).parents[2]
SOURCES = [*(ROOT / "src").rglob("*.py"), *(ROOT / "extras").rglob("*.py")]


def calls_of(name):
    for file in SOURCES:
        text = file.read_text()
        for node in ast.walk(ast.parse(text)) if f"{name}(" in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
                yield file, node


def test_every_doubt_is_of_a_kind_of_the_catalogue():
    """Only the catalogue makes doubts (and a fake one), and whatever is declared anywhere is in it."""
    makers = {file.relative_to(ROOT).as_posix() for file, _ in calls_of("Doubt")}
    assert makers == {"src/assay/model/doubt.py", "extras/assay_extras/testing/fakes.py"}
    declared = [call.args[0].value for _, call in calls_of("doubt_kind")]
    assert sorted(declared) == sorted(DOUBTS)
    assert len(declared) > 60


def test_the_worst_kind_comes_first_and_those_of_single_figures_not_at_all():
    shared, wrong, mild = (DOUBTS[kind] for kind in ("machine-shared", "wrong-outputs", "disk-shared"))
    doubts = [mild.doubt("a"), shared.doubt("b"), wrong.doubt("c"), shared.doubt("d", "hdd")]
    assert decisive(doubts) == [(doubts[2], 1), (doubts[1], 2)]


def test_a_doubt_may_have_a_more_exact_reason_than_its_kind():
    kind = DOUBTS["probe-missing"]
    assert kind.doubt("x", instrument="cpu").why == kind.why
    exact = kind.doubt("x", "hdd", why="w", cure="c", instrument="cpu")
    assert (exact.subject, exact.instrument, exact.why, exact.cure) == ("hdd", "cpu", "w", "c")
