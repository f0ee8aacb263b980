"""Proves that workloads on MR-MPI give the same outputs as Hadoop's, and that a killed rank ends the trial."""

import os
import signal

import pytest

from assay.model.doubt import Outcome
from tests.it.driving import wait_for

pytestmark = [pytest.mark.it, pytest.mark.long]

EXPERIMENT = """
experiment: on-mpi
workloads: {workload}
media: {media}
engine: mpi
settings: small
"""
GRAPH = "components\ndatasets: {file: graph.txt}"


def records_of(place, workload):
    return place.verified(EXPERIMENT.format(workload=workload, media=place.media))


@pytest.mark.parametrize(
    ("workload", "phases"),
    [
        ("{name: word-count, options: {size: 4MB, files: 3}}", ["fetch", "map", "shuffle", "reduce", "store"]),
        ("{name: sort-lines, options: {size: 4MB, files: 3}}", ["fetch", "map", "shuffle", "reduce", "store"]),
        ("{name: page-rank, options: {scale: 8}}", ["fetch", "map", "iterations", "store"]),
        (GRAPH, ["fetch", "map", "iterations", "store"]),
    ],
    ids=["word-count", "sort-lines", "page-rank", "components"],
)
def test_a_workload_is_verified_and_has_its_phases(place, workload, phases):
    lines = [f"{vertex}\t{vertex + step}" for vertex in range(1, 400, 4) for step in (1, 2)]
    (place.home / "graph.txt").write_text("\n".join(["# a path in each four", *lines]) + "\n")
    (record,) = records_of(place, workload)
    (job,) = record.jobs
    assert list(job.phases) == phases
    assert record.trial.workload.variant == "mr-mpi"
    assert "Open MPI" in str(record.model_dump())


def test_a_killed_rank_ends_the_trial_and_leaves_nothing(place):
    text = EXPERIMENT.format(workload="{name: sort-lines, options: {size: 96MB, files: 2}}", media=place.media)
    running = place.start("run", place.experiment(text), "--out", "run")
    wait_for(lambda: place.processes("mr-mpi-jobs") or running.process.poll() is not None)
    os.kill(max(place.processes("mr-mpi-jobs")), signal.SIGKILL)
    assert running.exit_code() == 1, running.text
    (record,) = place.records("run")
    assert record.outcome is Outcome.FAIL
    assert "sort-lines by mpi failed with code" in record.error
    assert place.processes("mr-mpi-jobs") == []
    assert place.left_over() == []
