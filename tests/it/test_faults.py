"""Proves that a dead daemon, a killed Assay and an interrupt cost no finished trial and leave nothing running."""

import os
import signal

import pytest

from assay.model.doubt import Outcome
from assay.model.record import Status
from tests.it.driving import DATANODE, IN_ONE_CONTAINER, wait_for

pytestmark = pytest.mark.it


def two_trials(place):
    """Of one job each; what it sorts is put into HDFS without a job."""
    return place.experiment(f"""
experiment: twice
workloads: {{name: terasort, options: {{size: 1MB}}}}
media: {place.media}
hadoop: {IN_ONE_CONTAINER}
cache: warm
repetitions: 2
""")


@pytest.mark.long
def test_a_killed_datanode_is_named_and_the_next_trial_runs(place):
    running = place.start("run", two_trials(place), "--out", "run")
    running.until_jobs_run(place, "1/2")
    (datanode,) = place.processes(DATANODE)
    os.kill(datanode, signal.SIGKILL)
    assert running.exit_code() == 1, running.text
    failed, passed = place.records("run")
    assert failed.status is Status.FAILED
    assert "datanode" in failed.error.lower()
    assert failed.outcome is Outcome.FAIL
    assert passed.outcome is Outcome.PASS, passed
    assert passed.trial.repetition == 2
    assert place.left_over() == []


@pytest.mark.long
def test_a_killed_assay_is_resumed(place):
    experiment = two_trials(place)
    killed = place.start("run", experiment, "--out", "run")
    killed.until_jobs_run(place, "2/2")
    killed.process.kill()
    assert killed.exit_code() == -signal.SIGKILL
    (first,) = place.records("run")
    written = (place.home / "run" / "trials" / first.trial.id / "record.json").read_bytes()
    held = place.status()
    assert {one["state"] for one in held} == {"left over"}
    assert {one["id"].partition("-")[0] for one in held} == {"cluster", "trial"}
    assert place.processes(DATANODE)
    said = place.assay("run", experiment, "--out", "run", "--resume")
    assert all(f"removed what a killed run left behind ({one['id']})" in said for one in held)
    assert "trial 1/2" not in said
    records = place.records("run")
    assert [record.outcome for record in records] == [Outcome.PASS, Outcome.PASS]
    assert (place.home / "run" / "trials" / first.trial.id / "record.json").read_bytes() == written
    assert place.left_over() == []


def test_cluster_down_ends_what_a_killed_assay_left(place):
    killed = place.start("run", two_trials(place), "--out", "run")
    killed.until(r"trial 1/2 .* · start cluster")
    wait_for(lambda: place.processes(DATANODE) or killed.process.poll() is not None)
    killed.process.kill()
    assert killed.exit_code() == -signal.SIGKILL, killed.text
    assert place.processes(DATANODE)
    said = place.assay("cluster", "down")
    assert "stopped cluster-" in said
    assert "stopped trial-" in said
    assert place.records("run") == []
    assert place.left_over() == []


def test_an_interrupt_stops_everything(place):
    running = place.start("run", two_trials(place), "--out", "run")
    running.until_jobs_run(place, "1/2")
    running.process.send_signal(signal.SIGINT)
    assert running.exit_code() == 130, running.text
    assert "finished trials are kept; continue with: " in running.text
    assert "Traceback" not in running.text
    assert place.records("run") == []
    assert place.left_over() == []
