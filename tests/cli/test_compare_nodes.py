"""Proves the command: a folder of histories, or a run, to a sentence and a table, and what it refuses."""

import json

import click
import pytest
from click.testing import CliRunner

from assay.cli import cli
from assay.engine.tasks import MapReduceAttempt
from assay.model.errors import BadInputError
from assay.model.result import TrialResult
from assay.record.folder import RunFolder
from assay_extras.testing.job_histories import MadeJob, write_history
from tests.builders import a_plan, a_record, a_trial


@pytest.fixture
def done(tmp_path, monkeypatch):
    """Histories of six jobs on four nodes, whose tasks all take the same time."""
    monkeypatch.setenv("COLUMNS", "120")
    folder = tmp_path / "done"
    folder.mkdir()
    for number in range(1, 7):
        job = MadeJob(number=number, name=f"nightly {number}", maps=16, reduces=4, nodes=4, slots=4)
        write_history(folder, job, "binary" if number % 2 else "json")
    return folder


def compare_nodes(*words):
    done = CliRunner().invoke(cli, ["compare-nodes", *map(str, words)], standalone_mode=False, catch_exceptions=False)
    return done.output


def test_a_sentence_for_each_stage_and_a_table(done):
    text = compare_nodes("worker-1", "--history", done)
    assert text.startswith("Map tasks on worker-1 took 0 % less time than on the 3 others (95 % interval 0 to 0 % less")
    lines = [line.split() for line in text.splitlines()]
    assert ["map", "6", "24", "72", "3", "1.00", "1.00", "to", "1.00"] in lines
    assert ["shuffle", "6", "6", "18", "3", "1.00", "1.00", "to", "1.00"] in lines


def test_numbers_have_all_digits(done):
    found = json.loads(compare_nodes("worker-1", "--history", done, "--json"))
    assert found["node"] == "worker-1"
    assert found["parts"][0]["stage"] == "map"
    assert found["parts"][0]["interval"].keys() == {"low", "high"}
    assert found["left_out"] == []


def test_histories_that_are_not_whole_are_left_out_and_said(done):
    file = next(iter(done.glob("*.jhist")))
    file.write_bytes(file.read_bytes()[:2000])
    text = compare_nodes("worker-1", "--history", done)
    assert "left out: the history file of job_" in text.replace("\n", " ")


def test_a_run_s_trials_are_jobs_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    run = RunFolder(tmp_path / "run")
    trials = [a_trial(1), a_trial(2)]
    run.create(a_plan(*trials))
    with pytest.raises(BadInputError, match="has no task that ended well"):
        compare_nodes("node-0", "--run", run.path)
    for number, trial in enumerate(trials, 1):
        attempts = [
            MapReduceAttempt(
                job="job_1_0001", attempt=f"attempt_{at}", stage="map", node=f"node-{at % 3}", state="SUCCEEDED",
                started_ms=1000, finished_ms=1000 + 4000 * number - (0 if at % 3 else 2000 * number),
            )
            for at in range(12)
        ]  # fmt: skip
        run.write(TrialResult(a_record(trial), attempts, []))
    text = compare_nodes("node-0", "--run", run.path)
    assert text.startswith(
        "Map tasks on node-0 took 50 % less time than on the 2 others (95 % interval 50 to 50 % less)."
    )
    assert ["map", "2", "8", "16", "2", "0.50", "0.50", "to", "0.50"] in [line.split() for line in text.splitlines()]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["worker-7"], "no task of these jobs ran on a node 'worker-7'; did you mean"),
        (["worker-1", "--since", "2099-01-01"], "all 6 job histories .* are from before --since"),
        (["worker-1", "--changed", "2020-01-01"], "too few tasks .* before and after the change: at least 5 on each"),
    ],
)
def test_what_can_t_be_compared_is_said(done, words, message):
    with pytest.raises(BadInputError, match=message):
        compare_nodes(*words, "--history", done)


def test_jobs_come_from_one_place(done):
    with pytest.raises(click.UsageError, match="either --history FOLDER or --run RUN"):
        compare_nodes("worker-1")
    with pytest.raises(click.UsageError, match="either"):
        compare_nodes("worker-1", "--history", done, "--run", "x")
