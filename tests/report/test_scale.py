"""Proves that every form of a report says which times are modelled, and strikes out those that are not to be believed."""

import json
from io import StringIO

import pytest
from rich.console import Console

from assay.cli.report import json_lines
from assay.model.result import TrialResult
from assay.model.scale import ScaleCheck, ScaleReport
from assay.record.folder import RunFolder
from assay.report.analysis import analyse, read_run
from assay.report.markdown import markdown
from assay.report.page import run_page
from assay.report.terminal import print_report
from tests.builders import a_plan, a_record, a_trial


def check(*, passed):
    return ScaleCheck(
        name="idle processor time",
        value=1.0 if passed else 0.5,
        limit=0.99,
        passed=passed,
        detail="idle enough" if passed else "hardly ever idle",
    )


@pytest.fixture
def run(tmp_path, request):
    scale = ScaleReport(dilation=4, checks=(check(passed=request.param),))
    trial = a_trial()
    trial = trial.model_copy(update={"cluster": trial.cluster.model_copy(update={"nodes": 3, "dilation": 4})})
    folder = RunFolder(tmp_path / "run")
    folder.create(a_plan(trial))
    folder.write(TrialResult(a_record(trial, scale=scale), [], [], [], None, b""))
    return read_run(RunFolder(tmp_path / "run"))


def forms(run):
    analysis = analyse(run.plan, run.records)
    console = Console(width=200, record=True, file=StringIO())
    print_report("test", run.records, analysis, console)
    return console.export_text(), markdown(run, analysis), run_page(run, analysis), "".join(json_lines(run, analysis))


@pytest.mark.parametrize("run", [True], indirect=True)
def test_times_are_divided_and_labelled_in_every_form(run):
    terminal, text, page, made = forms(run)
    for form in (terminal, text, page):
        assert "modelled" in form
        assert "2.5" in form
        assert "idle processor time" in form
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
    assert [row.elapsed_s for row in analyse(run.plan, run.records).rows] == [None]
