"""Proves what `assay predict` prints and keeps, and what runs keep that name drives to be predicted."""

import json

import pytest
from click.testing import CliRunner
from rich.console import Console

from assay.cli import cli
from assay.cli.context import find_installation
from assay.cli.predict import check_predicted, predict_planned
from assay.media.emulated.emulator import Emulator
from assay.model.demand import OtherDrive
from assay.model.errors import BadInputError
from assay.record.demands import read_demands
from assay.report.analysis import read_run
from tests.predict.made_logs import a_log, write_run

pytestmark = pytest.mark.skipif(Emulator(find_installation()).missing() is not None, reason="the emulator is not built")
NVME = "Intel SSD DC P4500 1.0 TB (NVMe)"


def assay(*words):
    done = CliRunner().invoke(cli, list(map(str, words)), catch_exceptions=False, env={"COLUMNS": "120"})
    return done.output


def test_the_first_line_names_the_drives_that_one_replaces(tmp_path):
    folder = write_run(tmp_path / "run", a_log(3, "first"), a_log(3, "second", roles=("intermediate",)))
    first, *_ = assay("predict", folder.path, "--media", "nvme").splitlines()
    assert first == f"Predicted with all data of first and second together on one {NVME}; no trial ran on it."
    first, *_ = assay("predict", folder.path, "--media", "nvme", "--role", "input").splitlines()
    assert first == f"Predicted with data of input on one {NVME}; no trial ran on it."


def test_reports_have_the_prediction_from_then_on(tmp_path):
    folder = write_run(tmp_path / "run", a_log(9))
    (made,) = json.loads(assay("predict", folder.path, "--media", "nvme", "--json"))
    assert (made["level"], made["drive"], made["verdict"]) == ("nvme", "intel-p4500-1tb", "worth it")
    (summary,) = read_run(folder).predicted
    assert (summary.elapsed_s, summary.low_s, summary.high_s) == (made["predicted_s"], made["low_s"], made["high_s"])
    assert (summary.source, summary.verdict, summary.surer) == ("predicted", made["verdict"], made["surer"])
    told = " ".join(assay("report", folder.path, "--verbose").split())
    assert f"predicted by replay: triangles, nvme: {made['predicted_s']:.1f} s" in told
    (of_json,) = json.loads(assay("report", folder.path, "--format", "json"))["predictions"]
    assert of_json["verdict"] == "worth it"


def test_a_run_predicts_the_drives_of_its_plan_and_says_which_it_can_not(tmp_path):
    folder = write_run(tmp_path / "run", a_log(9))
    drives = [OtherDrive.on("nvme", "intel-p4500-1tb", ()), OtherDrive.on("nvme", "intel-p4500-1tb", ("log",))]
    folder.replace_plan(folder.plan().model_copy(update={"predict": tuple(drives)}))
    console = Console(width=200, record=True)
    predict_planned(folder, find_installation(), console)
    assert {demand.drive.name for demand in read_demands(folder)} == {"nvme"}
    assert (
        "log-nvme is not predicted: no request of trial 0001-triangles-disk is of role 'log'" in console.export_text()
    )


def test_a_drive_that_nobody_describes_is_refused_before_the_run(tmp_path):
    folder = write_run(tmp_path / "run", a_log(9))
    plan = folder.plan().model_copy(update={"predict": (OtherDrive(name="x", profile="intel-p450"),)})
    with pytest.raises(BadInputError, match=r"there is no drive profile 'intel-p450'; did you mean 'intel-p4500"):
        check_predicted(plan, find_installation())
    with pytest.raises(BadInputError, match="did you mean 'intel-p4500"):
        assay("predict", folder.path, "--media", "intel-p450")
