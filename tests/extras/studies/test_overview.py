"""Proves that runs of several experiments stand in one figure and one table, each comparison once."""

import math
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from scipy import stats

from assay.cli import cli
from assay.model.errors import BadInputError
from assay.record.folder import RunFolder
from assay_extras.studies.comparison import POSSIBLE
from assay_extras.studies.overview import overview, power
from assay_extras.studies.overview_view import (
    goal_words,
    label,
    overview_columns,
    overview_markdown,
    overview_svg,
    standalone,
)
from tests.builders import a_plan
from tests.extras.studies.builders import a_graph_trial

HDD, SSD2 = (3.0, 60.0, 80.0, 70.0), (3.0, 15.0, 120.0, 50.0)
SVG = "{http://www.w3.org/2000/svg}"


def a_run(name="thesis-table-9-scaled", repetitions=3, noise=0.02):
    """The closing job on two drives: shuffle and reduce as published, merge the other way round."""
    records = [
        a_graph_trial(
            10 * number + repetition, {"closing": [value * (1 + noise * ((repetition + number) % 3)) for value in phases]},
            medium=medium, repetition=repetition,
        )
        for number, (medium, phases) in enumerate((("hdd", HDD), ("ssd2", SSD2)))
        for repetition in range(1, repetitions + 1)
    ]  # fmt: skip
    return a_plan().model_copy(update={"experiment": name}), records


def test_all_comparisons_are_counted_and_judged():
    found = overview([a_run()])
    assert (found.all.possible, found.all.decided, found.all.agreed, found.all.ties) == (3, 3, 2, 1)
    assert {one.agreement for one in found.comparisons if one.agreement in POSSIBLE} == {"agrees", "differs"}
    assert "3 of 3 comparisons are decided (100%" in goal_words(found.all)
    assert "2 of these agree with the study (67%" in goal_words(found.all)


def test_a_comparison_that_two_runs_show_counts_once_by_the_run_with_most_pairs():
    few, many = a_run(repetitions=3), a_run("thesis-tables-9-13-scaled", repetitions=6)
    for runs in ([few, many], [many, few]):
        found = overview(runs)
        assert (found.all.possible, found.all.pairs) == (3, 6)
        assert [group.name for group in found.groups] == ["thesis-tables-9-13-scaled"]


def test_runs_of_no_study_say_nothing():
    plan, records = a_run()
    assert overview([(plan.model_copy(update={"experiment": "quickstart"}), records)]) is None


@pytest.mark.parametrize(("effect", "deviation", "pairs"), [(0.1, 0.12, 5), (-0.3, 0.12, 3), (0.05, 0.1, 12)])
def test_power_is_the_share_of_samples_that_show_the_direction(effect, deviation, pairs):
    drawn = stats.norm.rvs(abs(effect), deviation, size=(20_000, pairs), random_state=7)
    t = drawn.mean(axis=1) / (drawn.std(axis=1, ddof=1) / math.sqrt(pairs))
    seen = (t > stats.t.ppf(0.975, pairs - 1)).mean()
    assert power(effect, deviation, pairs) == pytest.approx(seen, abs=0.015)


def test_large_effects_take_few_repetitions_and_more_than_thirty_are_not_proposed():
    assert overview([a_run()]).all.repetitions == 3
    plan, _ = a_run()
    noise = [
        a_graph_trial(10 * at + number, {"closing": [value * (1 + 0.4 * (-1) ** (number + at)) for value in HDD]},
                      medium=medium, repetition=number)
        for at, medium in enumerate(("hdd", "ssd2")) for number in range(1, 5)
    ]  # fmt: skip
    assert overview([(plan, noise)]).all.decided == 0
    assert overview([(plan, noise)]).all.repetitions is None


def test_the_figure_has_a_dot_with_its_interval_for_each_comparison():
    found = overview([a_run()])
    drawing = ElementTree.fromstring(standalone(overview_svg(found)))
    told = [title.text for title in drawing.iter(f"{SVG}title")]
    assert len(told) == 3
    assert any("shuffle: ssd2 / hdd: published 0.22, measured 0.25" in one for one in told)
    assert "prefers-color-scheme: dark" in drawing.find(f"{SVG}style").text


def test_the_table_and_the_markdown_name_experiments_in_words():
    found = overview([a_run("thesis-tables-9-13-scaled")])
    assert label("hybrid-figure-5a-scaled") == "hybrid, figure 5a"
    first = overview_columns(found)[0]
    assert list(first.cells) == ["thesis, tables 9-13", "all"]
    lines = overview_markdown(found).splitlines()
    assert "| thesis, tables 9-13 | 3 of 3 | 2 | 1 | 0 | 3 |" in "\n".join(lines)
    first = lines.index("## Comparisons") + 4
    assert [line.split(" | ")[-1] for line in lines[first : first + 3]] == ["differs |", "agrees |", "agrees |"]
    left_out = lines[lines.index("## Left out") :]
    assert len(left_out) == 5
    assert left_out[-1].endswith("| published tie |")


def test_the_command_writes_both_files_and_refuses_other_runs(tmp_path, monkeypatch):
    plan, records = a_run()
    monkeypatch.setattr(RunFolder, "plan", lambda self: plan)
    monkeypatch.setattr(RunFolder, "records", lambda self: (records, ()))
    done = CliRunner().invoke(cli, ["studies", str(tmp_path), "--to", str(tmp_path / "out")], catch_exceptions=False)
    assert "3 of 3 comparisons are decided" in " ".join(done.output.split())
    assert (tmp_path / "out" / "studies.svg").read_text().startswith("<svg")
    assert "| differs |" in (tmp_path / "out" / "studies.md").read_text()
    monkeypatch.setattr(RunFolder, "plan", lambda self: plan.model_copy(update={"experiment": "mine"}))
    with pytest.raises(BadInputError, match="no two trials that a study compares"):
        CliRunner().invoke(cli, ["studies", str(tmp_path)], catch_exceptions=False)
