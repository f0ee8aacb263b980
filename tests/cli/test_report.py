"""Proves the report's forms: the same numbers in each, in the place that was asked for, with the exit code of the run."""

import csv
import io
import json
import re

import click
import pytest
from click.testing import CliRunner

from assay.cli import cli
from assay.cli import report as printing
from assay.cli.compare import run_names
from assay.cli.report import find_browser
from assay.model.doubt import Outcome
from assay.model.errors import BadInputError
from assay.model.scale import ScaleReport
from assay.record.folder import RunFolder
from assay.stats.summary import rows_of
from tests.builders import a_record, summaries
from tests.command import assay
from tests.extras.studies.test_view import the_run
from tests.report.made_runs import made_run, made_trials, write_run


@pytest.fixture
def made(tmp_path):
    plan, records = made_run(made_trials(repetitions=3))
    write_run(tmp_path / "run", plan, records)
    return tmp_path / "run", records


def test_csv_has_all_digits_of_combinations_or_trials(made):
    folder, records = made
    code, text = assay("report", folder, "--format", "csv")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [float(row["elapsed_s"]) for row in rows] == [row.elapsed_s for row in rows_of(summaries(records))]
    assert rows[1]["significant"] == "true"
    trials = list(csv.DictReader(io.StringIO(assay("report", folder, "--format", "csv", "--rows", "trials")[1])))
    assert [float(row["elapsed_s"]) for row in trials] == [record.totals.elapsed_s for record in records]


@pytest.mark.parametrize("rows", ["placements", "parts"])
def test_csv_keeps_the_placement_where_another_factor_is_asked_about(tmp_path, rows):
    plan, records = made_run(made_trials(media=("hdd",), settings=("defaults", "customs"), repetitions=3))
    write_run(tmp_path / "run", plan, records)
    lines = list(csv.DictReader(io.StringIO(assay("report", tmp_path / "run", "--format", "csv", "--rows", rows)[1])))
    seen = {(line["factor"], line["level"], line["settings"], line["placement"]) for line in lines}
    assert seen == {("settings", name, name, "hdd") for name in ("defaults", "customs")}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--rows", "trials"), "--rows requires --format csv"),
        (("--rows", "trials", "--format", "md"), "--rows requires --format csv"),
        (("--out", "page.html"), "--out is the file for --format"),
        (("--cpu-speed", "2x", "--format", "csv"), "--cpu-speed changes nothing in a CSV"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(made, words, says):
    with pytest.raises(click.UsageError, match=says):
        assay("report", made[0], *words)


def test_lines_that_there_are_none_of_are_refused_and_a_section_that_a_run_has_not_has_none(made):
    with pytest.raises(BadInputError, match="there are no lines 'suitabilty'; did you mean 'suitability'"):
        assay("report", made[0], "--format", "csv", "--rows", "suitabilty")
    assert assay("report", made[0], "--format", "csv", "--rows", "suitability") == (0, "\n")


def test_a_section_without_lines_says_so(tmp_path):
    scale = ScaleReport(dilation=4, checks=())
    plan, records = made_run(made_trials(repetitions=1))
    write_run(tmp_path / "run", plan, [record.model_copy(update={"scale": scale}) for record in records])
    with pytest.raises(BadInputError, match="the section 'scale' has no lines for a CSV"):
        assay("report", tmp_path / "run", "--format", "csv", "--rows", "scale")


def test_a_speed_of_processors_is_asked_about_as_a_number_and_only_where_it_says_something(made):
    for words in ("two", "0x", "101x", "nan", "-2"):
        with pytest.raises(click.BadParameter, match="say 2x for processors twice as fast"):
            assay("report", made[0], "--cpu-speed", words)
    with pytest.raises(BadInputError, match="this run has no such answer; leave it out"):
        assay("report", made[0], "--cpu-speed", "2")


def test_json_is_one_document_with_all_records_and_what_was_left_out(made):
    folder, records = made
    (folder / "trials" / records[1].trial.id / "record.json").write_text("{")
    code, text = assay("report", folder, "--json")
    content = json.loads(text)
    assert code == 1
    assert content["records"] == [json.loads(one.model_dump_json()) for one in (records[0], *records[2:])]
    assert [one["folder"].rpartition("/")[2] for one in content["left_out"]] == [records[1].trial.id]
    assert content["plan"]["experiment"] == "test"


@pytest.mark.slow
def test_all_forms_of_a_studys_experiment_have_the_study_beside(tmp_path):
    folder = tmp_path / "run"
    write_run(folder, *the_run())
    (folder / "trials" / "0003-triangles-hdd" / "record.json").write_text("{")
    told = "3 of 3 comparisons are decided (100 %), 2 of them as in the study"
    assert told in assay("report", folder)[1]
    assert told in (folder / "report.html").read_text()
    assert told in assay("report", folder, "--format", "md")[1]
    study = json.loads(assay("report", folder, "--json")[1])["study"]
    assert {one["statement"]["id"]: one["verdict"] for one in study["statements"]}["T22"] == "refuted"


def test_markdown_has_the_answer_and_the_table(made, tmp_path):
    folder, _ = made
    code, text = assay("report", folder, "--format", "md", "--out", tmp_path / "report.md")
    assert (code, text) == (0, "")
    written = (tmp_path / "report.md").read_text()
    assert "triangles on tiny: **ssd is worth it: 3" in written
    assert "| triangles | ssd | 3 |" in written


def test_html_goes_into_the_run_or_where_it_is_asked(made, tmp_path):
    folder, _ = made
    assert assay("report", folder, "--format", "html")[0] == 0
    assay("report", folder, "--format", "html", "--out", tmp_path / "other.html")
    assert (folder / "report.html").read_text() == (tmp_path / "other.html").read_text()


def test_a_pdf_without_a_browser_is_one_clear_sentence(made, monkeypatch):
    monkeypatch.setattr(printing.shutil, "which", lambda _: None)
    with pytest.raises(BadInputError, match="a PDF needs Chromium or Chrome, and neither is on the path"):
        find_browser()
    with pytest.raises(BadInputError, match="print the HTML page"):
        assay("report", made[0], "--format", "pdf")


def test_a_run_with_a_failed_output_exits_with_1(tmp_path):
    plan, records = made_run(made_trials(repetitions=1))
    records[0] = a_record(records[0].trial, outcome=Outcome.FAIL)
    write_run(tmp_path / "run", plan, records)
    assert assay("report", tmp_path / "run", "--format", "csv")[0] == 1


@pytest.mark.slow
def test_runs_are_compared_in_every_form(made, tmp_path):
    folder, _ = made
    plan, records = made_run(made_trials(repetitions=3), seed=4, facts={"kernel": "7"})
    write_run(tmp_path / "other" / "run", plan, records)
    runs = (folder, tmp_path / "other" / "run")
    rows = list(csv.DictReader(io.StringIO(assay("compare", *runs, "--format", "csv")[1])))
    assert {row["run"] for row in rows} == {f"{tmp_path.name}/run", "other/run"}
    assert len({row["machine"] for row in rows}) == 2
    content = json.loads(assay("compare", *runs, "--format", "json")[1])
    assert [len(one["records"]) for one in content.values()] == [6, 6]
    assert "# Runs side by side" in assay("compare", *runs, "--format", "md")[1]
    code, said = assay("compare", *runs, "--out", tmp_path / "both.html")
    assert code == 0
    assert "both.html" in said
    assert "2 different machines" in (tmp_path / "both.html").read_text()


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_cell_of_a_comparison_is_cut_on_a_terminal(made, tmp_path, monkeypatch, width):
    plan, records = made_run(made_trials(repetitions=3), seed=2)
    write_run(tmp_path / "a-run-with-a-rather-long-name", plan, records)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.chdir(tmp_path)
    code, said = assay("compare", made[0], tmp_path / "a-run-with-a-rather-long-name")
    assert code == 0
    assert "…" not in said
    for cell in ("a-run-with-a-rather-long-name", "to first", "ratio", "output", "hdd", "ssd"):
        assert cell in said


def test_one_run_is_no_comparison(made):
    with pytest.raises(BadInputError, match="a comparison needs two runs or more; `assay report RUN` is about one"):
        assay("compare", made[0])


def test_runs_without_repetitions_are_not_said_to_be_alike_and_doubts_name_theirs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for place, name in enumerate(("before", "after")):
        write_run(tmp_path / name, *made_run(made_trials(repetitions=1), seed=place))
    _, said = assay("compare", tmp_path / "before", tmp_path / "after")
    assert "ssd and hdd can't be compared: each ran once" in said
    assert "no significant difference" not in said
    assert "Doubt: before: " in said


def test_a_run_named_twice_is_refused(tmp_path):
    with pytest.raises(BadInputError, match="named twice"):
        run_names([tmp_path / "a", tmp_path / "b", tmp_path / "b" / ".." / "a"])
    assert run_names([tmp_path / "a", tmp_path / "b"]) == ["a", "b"]


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(BadInputError, match="is not a run folder"):
        assay("compare", tmp_path, tmp_path / "other")


def test_without_a_form_the_table_is_printed_and_the_page_written(made):
    folder, _ = made
    code, said = assay("report", folder)
    assert code == 0
    assert "triangles on tiny: ssd is worth it: 3" in " ".join(said.split())
    assert "report.html" in said
    assert (folder / "report.html").exists()


def test_the_last_line_says_what_to_type_next(tmp_path, monkeypatch):
    monkeypatch.delenv("ASSAY_COMMAND", raising=False)
    folder = tmp_path / "run"
    write_run(folder, *made_run(made_trials(repetitions=3), times={"hdd": 60.0, "ssd": 55.0}))
    _, text = assay("report", folder)
    *words, command = text.rstrip().rpartition("Next: ")[2].splitlines()
    asked = "To decide whether ssd saves 10 % of the time on hdd, repeat the experiment for about "
    assert re.fullmatch(re.escape(asked) + r"(\d+ h )?\d+ min:", " ".join(" ".join(words).split()))
    assert command.startswith(f"  assay run EXPERIMENT.yaml --out {folder} --resume --for ")


SLOWER = {"hdd": 66.0, "ssd": 40.4}


@pytest.fixture
def slower(made, tmp_path):
    """A run whose hard disk takes a tenth longer than in the other, and whose SSD takes about as long."""
    plan, records = made_run(made_trials(repetitions=8), times=SLOWER, noise=0.005, seed=3)
    write_run(tmp_path / "later", plan, records)
    plan, records = made_run(made_trials(repetitions=8), noise=0.005, seed=2)
    write_run(tmp_path / "before", plan, records)
    return tmp_path / "before", tmp_path / "later"


def test_a_run_that_is_shown_to_be_slower_by_more_than_the_limit_fails(slower, tmp_path):
    page = ("--out", tmp_path / "page.html")
    code, said = assay("compare", *slower, *page, "--fail-above", "5%")
    assert code == 1
    assert re.search(
        r"Slower: triangles tiny hdd in later: 1\d % more time than in before \(95 % interval ", " ".join(said.split())
    )
    assert "Slower by more than 5 %: 1 of 2 comparisons with the first run." in " ".join(said.split())
    code, said = assay("compare", *slower, *page, "--fail-above", "50%")
    assert (code, "Slower by more than 50 %: 0 of 2 comparisons" in said) == (0, True)
    assert assay("compare", *reversed(slower), *page, "--fail-above", "0%")[0] == 0, "faster is not slower"
    assert assay("compare", *slower, *page)[0] == 0, "nobody asked"


def test_what_may_be_slower_does_not_fail_and_is_said(slower, tmp_path):
    code, said = assay("compare", *slower, "--out", tmp_path / "page.html", "--fail-above", "10%")
    assert code == 0
    assert "0 of 2 comparisons with the first run; 1 may be, which more repetitions would decide" in " ".join(
        said.split()
    )


@pytest.mark.parametrize("form", ["csv", "md", "json"])
def test_the_verdict_does_not_stand_in_a_form_for_scripts(slower, form):
    done = CliRunner().invoke(
        cli, ["compare", *map(str, slower), "--format", form, "--fail-above", "5%"], standalone_mode=False
    )
    assert done.return_value == 1
    assert "Slower" not in done.stdout
    assert "Slower by more than 5 %" in done.stderr


def test_a_limit_on_runs_that_share_nothing_is_refused(made, tmp_path):
    plan, records = made_run(made_trials(repetitions=3), facts={"kernel": "7"})
    write_run(tmp_path / "elsewhere", plan, records)
    with pytest.raises(BadInputError, match="--fail-above has nothing to judge"):
        assay("compare", made[0], tmp_path / "elsewhere", "--fail-above", "5%")


def test_a_mistyped_run_folder_gets_a_suggestion(tmp_path):
    write_run(tmp_path / "quickstart", *made_run(made_trials(repetitions=1)))
    with pytest.raises(BadInputError, match="is not a run folder: it has no plan.json; did you mean 'quickstart'"):
        RunFolder(tmp_path / "quickstrat").plan()
