"""Proves that every form of a report says which times are modelled, and excludes those that are not to be believed."""

import json
from io import StringIO

import pytest
from rich.console import Console

from assay.cli.report import json_lines
from assay.engine.tasks import TASK_COUNTERS
from assay.model.result import TrialResult
from assay.model.scale import CheckId, ScaleCheck, ScaleReport
from assay.record.folder import RunFolder
from assay.report.analysis import analyse, read_run
from assay.report.markdown import markdown
from assay.report.page import run_page
from assay.report.scale import scale_columns
from assay.report.terminal import print_report, print_sections
from tests.builders import a_folder, a_plan, a_record, a_trial, summaries


def check(*, passed):
    return ScaleCheck(
        id=CheckId.IDLE,
        value=1.0 if passed else 0.5,
        limit=0.99,
        passed=passed,
        detail="idle enough" if passed else "hardly ever idle",
        lowest=0.34 if passed else 0.04,
    )


@pytest.fixture
def run(tmp_path, request):
    scale = ScaleReport(dilation=4, checks=(check(passed=request.param),))
    trial = a_trial()
    trial = trial.model_copy(update={"cluster": trial.cluster.model_copy(update={"nodes": 3, "dilation": 4})})
    folder = a_folder(tmp_path / "run", a_plan(trial))
    folder.write(TrialResult(a_record(trial, scale=scale), [], [], [], None, b""))
    return read_run(RunFolder(tmp_path / "run"))


def forms(run):
    analysis = analyse(run.measured)
    console = Console(width=200, record=True, file=StringIO())
    print_report("test", run.trials, analysis, console, verbose=True)
    print_sections(analysis, console)
    return console.export_text(), markdown(run, analysis), run_page(run, analysis), "".join(json_lines(run, analysis))


@pytest.mark.parametrize("run", [True], indirect=True)
def test_times_are_divided_and_labelled_in_every_form(run):
    terminal, text, page, made = forms(run)
    for form in (terminal, text, page):
        assert "modelled" in form
        assert "2.5" in form
        assert "passed" in form
    for form in (text, page):
        assert "idle processor time, lowest second" in form
        assert "0.34" in form
    (record,) = json.loads(made)["records"]
    assert record["scale"]["clock"] == "model"
    assert record["scale"]["dilation"] == 4
    assert record["totals"]["elapsed_s"] == 2.5


@pytest.mark.parametrize("run", [False], indirect=True)
def test_a_failed_check_strikes_the_time_out_with_its_reason(run):
    terminal, text, page, made = forms(run)
    assert "~~2.5~~" in terminal
    assert "~~2.5~~" in text
    assert "<s>2.5</s>" in page
    for form in (terminal, text, page):
        assert "hardly ever idle" in form
    assert json.loads(made)["records"][0]["scale"]["checks"][0]["passed"] is False
    assert [row.elapsed_s for row in analyse(run.measured).rows] == [None]


def test_checks_that_could_not_be_made_are_not_among_those_that_passed():
    def verdict(*checks):
        columns = scale_columns(summaries([a_record(scale=ScaleReport(dilation=4, checks=checks))]))
        return next(column.cells for column in columns if column.head == "checks")

    unseen = check(passed=True).model_copy(update={"id": CheckId.HEARTBEATS, "value": None, "passed": None})
    assert verdict(check(passed=True), unseen) == ["passed (1 of 2)"]
    assert verdict(check(passed=True)) == ["passed"]
    assert verdict(check(passed=False), unseen) == ["failed"]


def test_the_tasks_processor_time_is_there_to_compare_dilations_by():
    def cells(counters):
        record = a_record(scale=ScaleReport(dilation=4, checks=()))
        own = record.model_copy(update={"totals": record.totals.model_copy(update={"counters": counters})})
        return next(
            column.cells for column in scale_columns(summaries([own])) if column.head == "tasks' processor time"
        )

    assert cells({TASK_COUNTERS: {"CPU_MILLISECONDS": 12_500}}) == ["12.5"]
    assert cells({}) == ["-"]
