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
from assay_extras.studies.kept import study_run
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


def a_run(name="thesis-table-9-scaled", repetitions=3, noise=0.02, workload="triangles", job="closing", days=0):
    """A job on two drives, so many days later: shuffle and reduce as published, merge the other way round."""
    records = [
        later(days, a_graph_trial(
            10 * number + repetition, {job: [value * (1 + noise * ((repetition + number) % 3)) for value in phases]},
            medium=medium, repetition=repetition, workload=workload,
        ))
        for number, (medium, phases) in enumerate((("hdd", HDD), ("ssd2", SSD2)))
        for repetition in range(1, repetitions + 1)
    ]  # fmt: skip
    return a_plan().model_copy(update={"experiment": name}), records


def later(days, record):
    ms = days * 24 * 3600 * 1000
    jobs = [
        job.model_copy(update={"started_ms": job.started_ms + ms, "finished_ms": job.finished_ms + ms})
        for job in record.jobs
    ]
    return record.model_copy(update={"jobs": tuple(jobs)})


def test_all_comparisons_are_counted_and_judged():
    found = overview([study_run(*a_run())])
    assert (found.all.possible, found.all.decided, found.all.agreed, found.all.ties) == (3, 3, 2, 1)
    assert {one.agreement for one in found.comparisons if one.agreement in POSSIBLE} == {"agrees", "differs"}
    assert "Of the other 3, 3 are decided (100%" in goal_words(found.all)
    assert "2 agree with the study (67%; the goal is 90%), 1 differ" in goal_words(found.all)


def test_an_interval_without_the_published_ratio_rules_out_an_effect_as_large():
    """The study's shuffle takes 0.22 of the time on the second SSD; here both take the same, surely or perhaps."""
    for noise, smaller in ((0.02, True), (1.2, False)):
        shown = [(11.0, 60.0, 80.0, 70.0), (11.0, 60.0, 60.0, 70.0)]
        plan, records = a_run()
        records = [
            a_graph_trial(
                10 * number + repetition,
                {"closing": [value * (1 + noise * ((repetition + number) % 3)) for value in phases]},
                medium=medium, repetition=repetition, workload="triangles",
            )
            for number, (medium, phases) in enumerate(zip(("hdd", "ssd2"), shown, strict=True))
            for repetition in (1, 2, 3)
        ]  # fmt: skip
        found = overview([study_run(plan, records)])
        (shuffle,) = [one for one in found.comparisons if one.place.endswith("shuffle")]
        assert (shuffle.agreement, shuffle.smaller) == ("undecided", smaller)
        assert found.all.smaller >= smaller


def test_a_comparison_that_two_runs_show_counts_once_by_the_run_with_most_pairs():
    few = study_run(*a_run(repetitions=3))
    many = study_run(*a_run("thesis-tables-9-13-scaled", repetitions=6))
    for runs in ([few, many], [many, few]):
        found = overview(runs)
        assert (found.all.possible, found.all.pairs) == (3, 6)
        assert [group.name for group in found.groups] == ["thesis-tables-9-13-scaled"]


def test_runs_of_no_study_say_nothing():
    plan, records = a_run()
    assert study_run(plan.model_copy(update={"experiment": "quickstart"}), records) is None
    assert study_run(plan, []) is None
    assert overview([]) is None
    alone = study_run(plan, records[:1])
    assert overview([alone]) is None, "there is nothing to compare with"


@pytest.mark.parametrize(("effect", "deviation", "pairs"), [(0.1, 0.12, 5), (-0.3, 0.12, 3), (0.05, 0.1, 12)])
def test_power_is_the_share_of_samples_that_show_the_direction(effect, deviation, pairs):
    drawn = stats.norm.rvs(abs(effect), deviation, size=(20_000, pairs), random_state=7)
    t = drawn.mean(axis=1) / (drawn.std(axis=1, ddof=1) / math.sqrt(pairs))
    seen = (t > stats.t.ppf(0.975, pairs - 1)).mean()
    assert power(effect, deviation, pairs) == pytest.approx(seen, abs=0.015)


def test_large_effects_take_few_repetitions_and_more_than_thirty_are_not_proposed():
    assert overview([study_run(*a_run())]).all.repetitions == 3
    plan, _ = a_run()
    noise = [
        a_graph_trial(10 * at + number, {"closing": [value * (1 + 0.4 * (-1) ** (number + at)) for value in HDD]},
                      medium=medium, repetition=number)
        for at, medium in enumerate(("hdd", "ssd2")) for number in range(1, 5)
    ]  # fmt: skip
    assert overview([study_run(plan, noise)]).all.decided == 0
    assert overview([study_run(plan, noise)]).all.repetitions is None


def test_the_figure_has_a_dot_with_its_interval_for_each_comparison():
    found = overview([study_run(*a_run())])
    drawing = ElementTree.fromstring(standalone(overview_svg(found)))
    told = [title.text for title in drawing.iter(f"{SVG}title")]
    assert len(told) == 3
    assert any("shuffle: ssd2 / hdd: published 0.22, measured 0.25" in one for one in told)
    assert "prefers-color-scheme: dark" in drawing.find(f"{SVG}style").text


def test_the_table_and_the_markdown_name_experiments_in_words():
    run = study_run(*a_run("thesis-tables-9-13-scaled"))
    found = overview([run])
    assert label("hybrid-figure-5a-scaled") == "hybrid, figure 5a"
    first = overview_columns(found)[0]
    assert list(first.cells) == ["thesis, tables 9-13", "all"]
    lines = overview_markdown(found, [run]).splitlines()
    assert "| thesis, tables 9-13 | 1970-01-01 | 6 | test, 2 cores, 1 B |" in lines
    assert "| thesis, tables 9-13 | 3 of 3 | 2 | 0 | 1 | 0 | 3 |" in "\n".join(lines)
    first = lines.index("## Comparisons") + 4
    assert [line.split(" | ")[-1] for line in lines[first : first + 3]] == ["differs |", "agrees |", "agrees |"]
    left_out = lines[lines.index("## Left out") :]
    assert len(left_out) == 5
    assert left_out[-1].endswith("| published tie |")


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Run folders by name, whose plans and records a test sets."""
    runs = {}
    monkeypatch.setattr(RunFolder, "plan", lambda self: runs[self.path.name][0])
    monkeypatch.setattr(RunFolder, "records", lambda self: (runs[self.path.name][1], ()))
    return runs


def studies(*arguments):
    done = CliRunner().invoke(cli, ["studies", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


def test_the_command_writes_its_files_and_refuses_other_runs(folders, tmp_path):
    folders["run"] = plan, records = a_run()
    assert "3 are decided (100%" in studies(tmp_path / "run", "--to", tmp_path / "out")
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"studies.svg", "studies.md", "studies.json"}
    assert (tmp_path / "out" / "studies.svg").read_text().startswith("<svg")
    assert "| differs |" in (tmp_path / "out" / "studies.md").read_text()
    folders["run"] = plan.model_copy(update={"experiment": "mine"}), records
    with pytest.raises(BadInputError, match="no two trials that a study compares"):
        studies(tmp_path / "run")


def test_what_a_file_kept_adds_up_with_runs_and_needs_no_folders(folders, tmp_path):
    folders["run"] = a_run()
    said = studies(tmp_path / "run", "--to", tmp_path / "out")
    for kept in (tmp_path / "out", tmp_path / "out" / "studies.json"):
        assert studies(kept) == said
    folders["other"] = a_run("thesis-tables-6-8-scaled", workload="mutual-friends", job="triples")
    both = studies(tmp_path / "other", tmp_path / "out", "--to", tmp_path / "out")
    assert "thesis, table 9" in both
    assert "thesis, tables 6-8" in both
    assert studies(tmp_path / "out") == both


@pytest.mark.slow
def test_of_an_experiment_the_newer_run_counts_wherever_it_is(folders, tmp_path):
    folders["old"], folders["new"] = a_run(), a_run(repetitions=5, days=1)
    studies(tmp_path / "old", "--to", tmp_path / "out")
    newer = studies(tmp_path / "out", tmp_path / "new")
    assert newer == studies(tmp_path / "new")
    studies(tmp_path / "out", tmp_path / "new", "--to", tmp_path / "out")
    assert studies(tmp_path / "out") == newer
    said = studies(tmp_path / "out", tmp_path / "old")
    assert f"{tmp_path / 'old'} is left out: there is a newer run of thesis-table-9-scaled" in said
    assert said.endswith(newer)


def test_a_file_whose_runs_would_be_lost_is_not_written_over(folders, tmp_path):
    folders["run"] = a_run()
    studies(tmp_path / "run", "--to", tmp_path / "out")
    before = {file: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    folders["other"] = a_run("thesis-table-12")
    with pytest.raises(BadInputError, match=r"would be lost \(thesis-table-9-scaled\): name .*out among the runs"):
        studies(tmp_path / "other", "--to", tmp_path / "out")
    assert before == {file: file.read_bytes() for file in (tmp_path / "out").iterdir()}
