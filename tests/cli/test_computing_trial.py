"""Proves that the starts of tasks count as computing where tasks have processes of their own, and nowhere else."""

import pytest

from assay.cli.run_job import computing_of
from assay.engine.spark_tasks import COUNTERS_GROUP
from assay.engine.tasks import FILE_SYSTEM_COUNTERS, TASK_COUNTERS
from assay.plan.computing_ratio import Computing
from tests.builders import a_job, a_record, a_trial, totals

OF_ENGINES = {
    "mapreduce": {TASK_COUNTERS: {"CPU_MILLISECONDS": 3000}, FILE_SYSTEM_COUNTERS: {"HDFS_BYTES_READ": 60_000_000}},
    "spark": {COUNTERS_GROUP: {"cpu_ms": 3000, "store_read_bytes": 60_000_000}},
}


def computed(engine, counters):
    trial, job = a_trial().model_copy(update={"engine": engine}), a_job().model_copy(update={"counters": counters})
    return computing_of(a_record(trial).model_copy(update={"jobs": (job,), "totals": totals((job,), ())}))


@pytest.mark.parametrize(("engine", "starts"), [("mapreduce", 3), ("spark", 0)])
def test_tasks_that_are_threads_start_no_process(engine, starts):
    computing = computed(engine, OF_ENGINES[engine])
    assert isinstance(computing, Computing)
    assert computing[:3] == (3.0, starts, 60_000_000)


@pytest.mark.parametrize("engine", OF_ENGINES)
def test_a_trial_whose_tasks_counted_nothing_tells_nothing(engine):
    assert computed(engine, {}) is None
