"""Proves what `assay predict` prints and keeps, and what runs keep that name drives to be predicted."""

import json

import pytest
from click.testing import CliRunner
from rich.console import Console

from assay.cli import cli
from assay.cli.context import find_installation
from assay.cli.predict import check_predicted, checked_profile, drives_named, predict_planned, present_profiles
from assay.media.emulated.emulator import Emulator
from assay.model.demand import OtherDrive
from assay.model.errors import AssayError, BadInputError
from assay.model.result import TrialResult
from assay.model.trial import MediumSpec
from assay.record.demands import read_demands
from assay.record.folder import RunFolder
from assay.report.analysis import read_run
from tests.builders import a_folder, a_plan, a_record, a_trial
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
    assert (made["level"], made["drive"], made["verdict"]) == ("nvme", "intel-p4500-1tb", "not known")
    assert made["reason"].startswith("1 requests under way at once is outside of what predictions were judged by")
    (summary,) = read_run(folder).predicted
    assert (summary.elapsed_s, summary.low_s, summary.high_s) == (made["predicted_s"], made["low_s"], made["high_s"])
    assert (summary.source, summary.verdict, summary.surer) == ("predicted", made["verdict"], made["surer"])
    told = " ".join(assay("report", folder.path, "--verbose").split())
    assert f"predicted by replay: triangles, nvme: {made['predicted_s']:.1f} s" in told
    (of_json,) = json.loads(assay("report", folder.path, "--format", "json"))["predictions"]
    assert of_json["verdict"] == "not known"


def test_a_run_predicts_the_drives_of_its_plan_and_says_which_it_can_not(tmp_path):
    folder = write_run(tmp_path / "run", a_log(9))
    drives = [OtherDrive.on("nvme", "intel-p4500-1tb", ()), OtherDrive.on("nvme", "intel-p4500-1tb", ("log",))]
    folder.replace_plan(folder.plan().model_copy(update={"predict": tuple(drives)}))
    console = Console(width=200, record=True)
    predict_planned(folder, find_installation(), console)
    assert {demand.drive.name for demand in read_demands(folder)} == {"nvme"}
    assert (
        "log-nvme is not predicted: no request of triangles on placement disk is of role 'log'" in console.export_text()
    )


def test_a_job_without_data_of_the_role_takes_the_measured_time_and_the_reason_is_told(tmp_path):
    folder = RunFolder(tmp_path / "run")
    trials = [a_trial(1, workload="triangles"), a_trial(2, workload="sort")]
    folder.create(a_plan(*trials))
    for trial, roles in zip(trials, (("input",), ("input", "intermediate")), strict=True):
        folder.write(TrialResult(a_record(trial), requests=[a_log(9, roles=roles)]))
    words = ("predict", folder.path, "--media", "nvme", "--role", "intermediate")
    assert "Not worth it: triangles has no intermediate data." in assay(*words).splitlines()
    triangles, sort = json.loads(assay(*words, "--json"))
    assert (triangles["low_s"], triangles["predicted_s"], triangles["high_s"]) == (10, 10, 10)
    assert sort["low_s"] < sort["predicted_s"] < sort["high_s"]
    of_report, _ = json.loads(assay("report", folder.path, "--format", "json"))["predictions"]
    assert (of_report["verdict"], of_report["reason"]) == ("not worth it", "triangles has no intermediate data")


def test_a_misspelt_role_is_refused_before_any_log_is_read(tmp_path, monkeypatch):
    folder = write_run(tmp_path / "run", a_log(9))
    monkeypatch.setattr(RunFolder, "requests", lambda *_: pytest.fail("a log is read"))
    with pytest.raises(BadInputError, match="--role 'imput' is no role of the run; did you mean 'input'?"):
        assay("predict", folder.path, "--media", "nvme,ssd", "--role", "imput")


def test_a_role_of_which_no_job_has_data_is_refused_with_the_jobs_before_anything_is_replayed(tmp_path, monkeypatch):
    folder = write_run(tmp_path / "run", a_log(9))
    monkeypatch.setattr(Emulator, "replay", lambda *_: pytest.fail("requests are replayed"))
    with pytest.raises(BadInputError, match="no request of triangles on placement disk is of role 'output'; the roles"):
        assay("predict", folder.path, "--media", "nvme", "--role", "output")


def test_a_replay_that_fails_is_one_line_and_the_run_goes_on_to_its_report(tmp_path, monkeypatch):
    def fail(emulator, profile, records):
        raise AssayError("replaying the requests did not end within 1 s")

    folder = write_run(tmp_path / "run", a_log(9))
    drive = OtherDrive.on("nvme", "intel-p4500-1tb", ())
    folder.replace_plan(folder.plan().model_copy(update={"predict": (drive,)}))
    monkeypatch.setattr(Emulator, "replay", fail)
    console = Console(width=200, record=True)
    predict_planned(folder, find_installation(), console)
    assert console.export_text() == "nvme is not predicted: replaying the requests did not end within 1 s\n"


def test_without_a_time_to_predict_from_it_says_so(tmp_path, monkeypatch):
    folder = write_run(tmp_path / "run", a_log(9))
    monkeypatch.setattr("assay.cli.predict.predictions", lambda run: [])
    for options in ((), ("--json",)):
        with pytest.raises(BadInputError, match="no valid trial of .* has a time to predict from"):
            assay("predict", folder.path, "--media", "nvme", *options)
    assert not read_demands(folder)


def test_a_medium_of_the_run_is_predicted_as_it_is_there(tmp_path):
    media = [
        MediumSpec(name="hdd", kind="emulated", profile="wd10ezex", slowdown=6),
        MediumSpec(name="ssd", kind="emulated", profile="intel-s4500-960gb", slowdown=1, shared_by=1.9),
    ]
    trials = [a_trial(number, spec.name).model_copy(update={"media": (spec,)}) for number, spec in enumerate(media, 1)]
    folder = a_folder(tmp_path / "run", a_plan(*trials))
    for trial in trials:
        folder.write(TrialResult(a_record(trial), requests=[a_log(9, trial.media[0].name)]))
    first, *_ = assay("predict", folder.path, "--media", "ssd").splitlines()
    assert first.startswith("Predicted with all data on 1/1.9 of Intel SSD DC S4500")
    (demand,) = read_demands(folder)
    assert demand.drive == OtherDrive(name="ssd", profile="intel-s4500-960gb", slowdown=1, shared_by=1.9)
    with pytest.raises(BadInputError, match="hdd can't be predicted: a hard disk with several users is slower"):
        checked_profile(
            *drives_named(["hdd"], (), {"hdd": {"profile": "wd10ezex", "shared_by": 2}}), find_installation()
        )


def test_of_several_drives_each_has_a_line_and_a_row_and_is_kept(tmp_path):
    folder = write_run(tmp_path / "run", a_log(9))
    words = ("predict", folder.path, "--media", "hdd,fast=nvme", "--media", "ssd")
    lines = assay(*words).splitlines()
    assert sum(line.startswith("Predicted with all data on one ") for line in lines) == 3
    (head,) = [number for number, line in enumerate(lines) if "95 % interval" in line]
    assert lines[head].split()[:2] == ["drive", "workload"]
    assert [line.split()[0] for line in lines[head + 1 : head + 4]] == ["hdd", "fast", "ssd"]
    slow, fast, _ = json.loads(assay(*words, "--json"))
    assert (fast["level"], fast["drive"]) == ("fast", "intel-p4500-1tb")
    assert fast["predicted_s"] < slow["predicted_s"]
    assert {summary.levels["placement"] for summary in read_run(folder).predicted} == {"hdd", "fast", "ssd"}


@pytest.mark.parametrize(
    ("media", "problem"),
    [
        (("nvme", "ssd,nvme"), "--media 'ssd,nvme' names nvme twice; write DRIVE or NAME=DRIVE"),
        (("nvme,",), "--media 'nvme,' lacks a drive"), (("new=",), "--media 'new=' lacks a drive"),
    ],
)  # fmt: skip
def test_drives_without_names_of_their_own_are_refused(media, problem):
    with pytest.raises(BadInputError, match=problem):
        drives_named(media)


def test_paths_of_drives_may_have_commas_and_equals_signs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file in (tmp_path / "a,b" / "x.yaml", tmp_path / "k=v" / "y.yaml"):
        file.parent.mkdir()
        file.touch()
    first, second = f"{tmp_path}/a,b/x.yaml", f"{tmp_path}/k=v/y.yaml"
    for texts, drives in (
        ([f"mine={first}"], [("mine", first)]),
        ([f"ssd,mine={first},nvme"], [("ssd", "intel-s4500-960gb"), ("mine", first), ("nvme", "intel-p4500-1tb")]),
        ([second, f"new={second}"], [("y", second), ("new", second)]),
        ([f"{first},{second}"], [("x", first), ("y", second)]),
        (["./a,b/x.yaml, ./k=v/y.yaml"], [("x", "./a,b/x.yaml"), ("y", "./k=v/y.yaml")]),
    ):
        assert [(drive.name, drive.profile) for drive in drives_named(texts)] == drives


@pytest.mark.parametrize(("text", "file"), [("k=v/y.yaml", "v/y.yaml"), ("ssd,b/x.yaml", "b/x.yaml")])
def test_a_path_that_may_be_meant_otherwise_is_refused_with_how_it_is_written(text, file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInputError, match=f"names the file {file}, which does not exist; a path with a comma or `=`"):
        drives_named([text])


def test_a_drive_that_nobody_describes_is_refused_before_the_run(tmp_path):
    folder = write_run(tmp_path / "run", a_log(9))
    plan = folder.plan().model_copy(update={"predict": (OtherDrive(name="x", profile="intel-p450"),)})
    with pytest.raises(BadInputError, match=r"there is no drive profile 'intel-p450'; did you mean 'intel-p4500"):
        check_predicted(plan, find_installation())
    for word, meant in (("intel-p450", "intel-p4500"), ("nvmee", "nvme")):
        with pytest.raises(BadInputError, match=f"there is no drive profile '{word}'; did you mean '{meant}"):
            assay("predict", folder.path, "--media", word)


def test_media_whose_profile_is_gone_or_varied_serve_no_data_that_stay(tmp_path):
    media = [MediumSpec(name=f"of-{name}", kind="emulated", profile=name) for name in ("wd10ezex", "wd10ezex:slower")]
    plan = a_plan(*(a_trial(number).model_copy(update={"media": (medium,)}) for number, medium in enumerate(media, 1)))
    whole, part = (OtherDrive(name="x", profile="intel-p4500-1tb", roles=roles) for roles in ((), ("output",)))
    assert present_profiles(plan, [whole], find_installation()) == {}
    assert [*present_profiles(plan, [part], find_installation())] == ["of-wd10ezex"]
