"""Proves on a real Hadoop that directed jobs write where their workloads say, and what a full medium does to jobs."""

import os

import pytest

from assay.model.doubt import Outcome
from assay.record.folder import RunFolder
from tests.it.driving import AS_ROOT

pytestmark = [pytest.mark.it, pytest.mark.long]

MB = 10**6
LARGE, SMALL = 24 * MB, 12 * MB
"""Of inputs. MapReduce writes map outputs, and once more what reducers fetch of them."""
EXPERIMENT = f"""\
experiment: directed
workloads:
  - together:
      - {{name: terasort, options: {{size: {LARGE}}}, intermediate: ssd}}
      - {{name: terasort, options: {{size: {SMALL}}}}}
media: {{disk: directory, ssd: memory}}
placement:
  name: directed
  input: disk
  intermediate: {{disk: 0.5, ssd: 0.5}}
  output: disk
  local_directories: directed
settings: small
hadoop:
  dfs.blocksize: 4m
  mapreduce.job.reduces: 2
  # However full this machine's disk is.
  assay.direct.full: 1
  assay.direct.task.bytes: 0
"""


@pytest.mark.parametrize(
    ("engine", "more"),
    [("mapreduce", ""), ("tez", ""), ("spark", "spark: {spark.shuffle.compress: false}\n")],
)
def test_the_intermediate_data_of_each_job_lie_where_its_workload_says(place, engine, more):
    place.assay("run", place.experiment(f"{EXPERIMENT}engine: {engine}\n{more}"), "--out", "run")
    (record,) = place.records("run")
    assert record.outcome is Outcome.PASS, record.error
    assert record.settings["local directories"] == "those of the tier that a job names"
    (landed,) = (one for one in record.landed if one.role == "intermediate")
    on_ssd = landed.shares["ssd"] * landed.bytes
    assert LARGE <= on_ssd <= 2.5 * LARGE, landed
    assert SMALL <= landed.bytes - on_ssd <= 2.5 * SMALL, landed
    for job in record.jobs:
        outcomes = job.counters["AssayDirect"]
        assert outcomes["DIRECTED"] > 0
        assert set(outcomes) == {"DIRECTED"}, outcomes
    assert "placement-missed" not in [doubt.kind for doubt in record.doubts]
    assert place.left_over() == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a tmpfs of a size")
def test_reducers_of_tez_that_overflow_find_what_maps_of_their_node_left_in_the_tier(place):
    """The tier has room for another task until all maps have written, and each task has a container of its own.

    Tez asks for as much room for an output as its sort buffer has.
    """
    small = EXPERIMENT.replace("ssd: memory", "ssd: {kind: memory, size: 64MiB}")
    small = small.replace("task.bytes: 0", "task.bytes: 45000000\n  mapreduce.task.io.sort.mb: 5")
    more = "engine: tez\ntez: {tez.am.container.reuse.enabled: false}\n"
    place.assay("run", place.experiment(f"{small}{more}"), "--out", "run")
    (record,) = place.records("run")
    assert record.outcome is Outcome.PASS, record.error
    outcomes = record.jobs[0].counters["AssayDirect"]
    assert outcomes["DIRECTED"] > 0
    assert outcomes["OVERFLOW_FULL"] > 0
    assert {attempt.state for attempt in RunFolder(place.home / "run").attempts(record.trial)} == {"SUCCEEDED"}
    assert place.left_over() == []


ON_NODES = """\
experiment: nodes
workloads: {name: terasort, options: {size: 60MB}, intermediate: ssd}
media: {disk: directory, ssd: memory}
placement:
  name: directed
  input: disk
  intermediate: {disk: 0.5, ssd: 0.5}
  output: disk
  local_directories: directed
cluster: {nodes: 3, network: gigabit, memory_mb: 3072, vcores: 4}
replication: 2
settings: small
hadoop:
  dfs.blocksize: 8m
  mapreduce.job.reduces: 3
  # By default a reduce tries for three minutes to connect to a NodeManager that is dead.
  mapreduce.reduce.shuffle.connect.timeout: 5000
  assay.direct.full: 1
  assay.direct.task.bytes: 0
fault: [none, {kill: nodemanager, on: 2, at: map 50%}]
"""


@AS_ROOT
@pytest.mark.alone
def test_on_three_nodes_jobs_are_directed_and_a_killed_node_costs_no_output(place):
    place.assay("run", place.experiment(ON_NODES), "--out", "run")
    records = {record.trial.factors["fault"]: record for record in place.records("run")}
    landed, outcomes = {}, {}
    for fault, record in records.items():
        assert record.outcome is Outcome.PASS, (record.error, record.verdicts)
        (landed[fault],) = (one for one in record.landed if one.role == "intermediate")
        (job,) = record.jobs
        outcomes[fault] = job.counters["AssayDirect"]
        assert sum(outcomes[fault].values()) == sum(stage.tasks for stage in job.stages)
    attempts = RunFolder(place.home / "run").attempts(records["none"].trial)
    assert len({attempt.node for attempt in attempts}) > 1
    assert set(outcomes["none"]) == {"DIRECTED"}
    assert not landed["none"].shares.get("disk")
    assert landed["none"].bytes >= 60 * MB
    killed = "kill nodemanager on 2 at map 50%"
    assert records[killed].fault.struck_ms
    # A later attempt goes where more is free: on this machine that may be either.
    assert set(outcomes[killed]) <= {"DIRECTED", "OVERFLOW_RETRIED"}
    assert not landed[killed].shares.get("disk") or outcomes[killed].get("OVERFLOW_RETRIED")
    assert place.left_over() == []


FULL = f"""\
experiment: full
workloads:
  - together:
      - {{name: terasort, options: {{size: {4 * LARGE}}}}}
      - {{name: terasort, options: {{size: {LARGE}}}}}
media: {{disk: directory, ssd: {{kind: memory, size: 16MiB}}}}
placement: {{name: alone, input: disk, intermediate: ssd, output: disk, local_directories: hadoop}}
settings: small
hadoop:
  dfs.blocksize: 4m
  yarn.nodemanager.disk-health-checker.interval-ms: 2000
  yarn.scheduler.capacity.root.default.default-application-lifetime: 100
  yarn.scheduler.capacity.root.default.maximum-application-lifetime: 100
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a tmpfs of a size")
def test_an_ssd_that_gets_full_fails_jobs_which_the_record_tells_and_nothing_else(place):
    place.assay("run", place.experiment(FULL), "--out", "run", code=1)
    (record,) = place.records("run")
    failed = [verdict for verdict in record.verdicts if verdict.outcome is Outcome.FAIL]
    assert record.error or failed
    assert all("terasort" in verdict.check and verdict.detail for verdict in failed)
    assert not record.error or "TeraSort failed" in record.error
    assert place.left_over() == []
