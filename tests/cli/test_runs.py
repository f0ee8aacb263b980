"""Proves that runs are listed with what came out, the newest first, and that `report --last` takes the newest."""

import json
import os
from datetime import UTC, datetime, timedelta

import click
import pytest

from assay.cli.context import last_run, run_folders
from assay.cli.runs import MOST_LISTED, columns_of
from assay.model.doubt import Outcome
from assay.model.errors import BadInputError
from assay.report.run_summary import RunSummary
from assay.report.words import age_text
from tests.builders import a_record
from tests.command import assay
from tests.report.made_runs import made_run, made_trials, write_run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with `runs/old` and `runs/new`, the latter with a trial that failed, one without a check, and one not run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    write_run("runs/old", *made_run(made_trials(("terasort",), repetitions=3)))
    plan, records = made_run(made_trials(workloads=("triangles", "k-core"), repetitions=3))
    records[0] = a_record(records[0].trial, outcome=Outcome.FAIL)
    records[1] = a_record(records[1].trial, outcome=Outcome.UNKNOWN)
    write_run("runs/new", plan, records[:-1])
    os.utime("runs/old/plan.json", (1, 1))
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_the_newest_comes_first_with_trials_and_the_answer_in_a_few_words():
    head, new, old = assay("runs")[1].splitlines()
    assert head.split() == ["run", "date", "age", "experiment", "trials", "answer"]
    assert new.split()[0] == "runs/new"
    assert "11/12, 1 failed, 1 unchecked" in new
    assert "worth it in 2 of 2" in new
    assert old.split()[0] == "runs/old"
    assert "6/6" in old
    assert "failed" not in old
    assert "terasort: worth it (ssd saves " in old


def test_json_has_each_answer_with_its_interval_and_what_could_not_be_read(folder):
    (folder / "runs/old/plan.json").write_text("{")
    os.utime("runs/old/plan.json", (1, 1))
    document = json.loads(assay("runs", "--json")[1])
    (new,) = document["runs"]
    assert (new["folder"], new["planned"], new["finished"], new["failed"]) == ("runs/new", 12, 11, 1)
    assert [(one["base"], one["level"], one["verdict"]) for one in new["answers"]] == [("hdd", "ssd", "worth it")] * 2
    assert all(one["saves_share_low"] < one["saves_share"] < one["saves_share_high"] for one in new["answers"])
    (left_out,) = document["left_out"]
    assert left_out["folder"] == "runs/old"
    assert "plan.json can't be read" in left_out["reason"]
    assert "left out: runs/old/plan.json can't be read" in assay("runs")[1]


def test_no_run_yet_is_no_mistake_and_a_folder_that_is_not_there_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert assay("runs") == (None, "no run is below runs yet; start one with `assay quickstart`\n")
    with pytest.raises(BadInputError, match="elsewhere is not a folder"):
        assay("runs", "elsewhere")


@pytest.mark.slow
def test_of_many_runs_the_newest_are_listed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan, records = made_run(made_trials(repetitions=1))
    for number in range(MOST_LISTED + 2):
        write_run(f"runs/{number:02d}", plan, records)
        os.utime(f"runs/{number:02d}/plan.json", (number, number))
    said = assay("runs")[1]
    assert "runs/02" in said
    assert "runs/01" not in said
    assert "and 2 older ones; --all lists them too" in said
    assert "runs/01" in assay("runs", "--all")[1]


def test_records_that_can_t_be_read_are_counted(folder):
    for file in (folder / "runs/old").glob("trials/*/record.json"):
        file.write_text("{")
    (old,) = [line for line in assay("runs")[1].splitlines() if "runs/old" in line]
    assert "0/6, 6 unreadable" in old
    assert "no trial can be read" in old


@pytest.mark.usefixtures("folder")
def test_the_last_run_is_reported_by_its_name_or_by_last():
    assert [folder.name for folder in run_folders(last_run().parent)] == ["new", "old"]
    assert assay("report", "--last", "--format", "csv") == assay("report", "runs/new", "--format", "csv")
    for words in (("report",), ("report", "runs/new", "--last")):
        with pytest.raises(click.UsageError, match="name one run's folder, or give --last"):
            assay(*words)


def test_there_is_no_last_run_where_there_is_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInputError, match="there is no run below runs"):
        assay("report", "--last")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "0 min"), (59, "0 min"), (7199, "119 min"), (7200, "2 h"), (172_799, "47 h"), (172_800, "2 days")],
)
def test_ages(seconds, text):
    assert age_text(seconds) == text


def test_a_run_without_trials_has_neither_date_nor_age():
    now = datetime.now(UTC)
    begun = {
        "folder": "a",
        "experiment": "e",
        "planned": 2,
        "finished": 0,
        "failed": 0,
        "unchecked": 0,
        "unreadable": 0,
        "answer": "-",
        "answers": (),
        "doubts": (),
    }
    runs = [RunSummary(**begun, began=began) for began in (None, now - timedelta(hours=3))]
    cells = {column.head: column.cells for column in columns_of(runs, now)}
    assert (cells["age"], cells["date"][0]) == (["-", "3 h"], "-")
