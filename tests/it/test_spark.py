"""Proves that Spark runs on YARN beside MapReduce with verified outputs, on several nodes, and what faults do to it."""

import os
import re
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from assay.engine.pyspark import pyspark_variables
from assay.model.doubt import Outcome
from assay.model.errors import BadInputError
from assay.model.record import Status
from assay.stats.nodes import transfers
from tests.it.driving import AS_ROOT, assay_command, fill, wait_for

pytestmark = pytest.mark.it

EXECUTOR, DRIVER = "YarnCoarseGrainedExecutorBackend", "org.apache.spark.deploy.SparkSubmit"
HEAD = "settings: small\ncluster: {memory_mb: 3072, vcores: 2}\n"


@pytest.mark.parametrize(
    ("engines", "which"),
    [
        pytest.param({"spark"}, ("--only", "engine=spark"), id="spark"),
        pytest.param({"mapreduce", "spark"}, (), id="both", marks=pytest.mark.long),
    ],
)
def test_a_workload_runs_on_mapreduce_and_spark(place, engines, which):
    text = f"""
experiment: engines
workloads: {{name: word-count, options: {{size: 4MB, files: 1}}}}
engine: [mapreduce, spark]
hadoop: {{dfs.blocksize: 1m, mapreduce.job.reduces: 2}}
media: {place.media}
{HEAD}"""
    said = place.assay("run", place.experiment(text), "--dry-run")
    assert "mapreduce gets of a node: 5 tasks of 480 MiB at once, and a master of 384 MiB" in said
    assert "spark gets of a node: 1 executor of 2688 MiB and 2 cores, and a master of 384 MiB" in said
    with place.watching_ports("nodemanager", DRIVER, EXECUTOR):
        records = {record.trial.engine: record for record in place.verified(text, *which)}
    assert set(records) == engines
    spark = records["spark"]
    assert {record.trial.factors["variant"] for record in records.values()} == {"stock/rdd"}
    assert spark.trial.workload.variant == "rdd"
    assert spark.facts["programs.spark.version"].endswith("3.5.6")
    (job,) = spark.jobs
    assert job.id.startswith("application_")
    assert job.state == "SUCCEEDED"
    assert len(job.stages) == 2
    assert job.counters["executors"] == {"added": 1, "lost": 0}
    assert spark.settings["spark.executor.cores"] == "2"
    # What executors shuffled was written to YARN's local directories, and seen there.
    (landed,) = (landed for landed in spark.landed if landed.role == "intermediate")
    assert landed.of_bytes
    assert landed.bytes >= landed.of_bytes
    assert landed.shares == {"disk": 1.0}
    assert [doubt.kind for doubt in spark.doubts if doubt.kind in {"landing-not-seen", "placement-missed"}] == []
    assert "stage 1" in (place.home / "run" / "report.html").read_text()


def one_trial(place):
    """Of a word count in two stages that takes a while, as each executor has one core."""
    return place.experiment(f"""
experiment: killed
workloads: {{name: word-count, options: {{size: 200MB}}}}
engine: spark
hadoop: {{dfs.blocksize: 4m}}
spark: {{spark.executor.instances: 2, spark.executor.memory: 600m, spark.executor.cores: 1}}
media: {place.media}
{HEAD}""")


def javas(place, name):
    return [pid for pid in place.processes(name) if Path(f"/proc/{pid}/comm").read_text().strip() == "java"]


def until_executors_run(place, running, count):
    running.until(r"trial 1/1 .* · run( ·|\n)")
    wait_for(lambda: len(javas(place, EXECUTOR)) >= count or running.process.poll() is not None)


def kill_in_mid_job(place, running, program):
    """Kill the first process of a program when both executors have run tasks for a while."""
    until_executors_run(place, running, 2)
    time.sleep(6)
    os.kill(javas(place, program)[0], signal.SIGKILL)


@pytest.mark.long
def test_a_killed_executor_costs_no_output_and_the_record_says_so(place):
    running = place.start("run", one_trial(place), "--out", "run")
    kill_in_mid_job(place, running, EXECUTOR)
    assert running.exit_code() == 0, running.text
    (record,) = place.records("run")
    assert record.outcome is Outcome.PASS, (record.error, record.verdicts)
    (job,) = record.jobs
    assert job.counters["executors"]["lost"] == 1
    assert job.counters["executors"]["added"] >= 2  # the job may end before another has started
    assert place.left_over() == []


@pytest.mark.long
def test_a_killed_driver_fails_the_trial_and_leaves_nothing(place):
    running = place.start("run", one_trial(place), "--out", "run")
    kill_in_mid_job(place, running, DRIVER)
    assert running.exit_code() == 1, running.text
    (record,) = place.records("run")
    assert record.outcome is Outcome.FAIL
    assert "word-count-rdd failed: the driver was killed (signal 9)" in record.error
    assert place.left_over() == []


@pytest.mark.long
def test_a_full_intermediate_medium_fails_the_trial_and_is_named(place):
    """It is filled when the executor has started: what this shuffles has no room, and no task can be repeated."""
    experiment = place.experiment(f"""
experiment: full
workloads: {{name: sort, options: {{size: 40MB, files: 2}}}}
engine: spark
media: {{disk: {{kind: directory, path: {place.disk}}}, scratch: {{kind: memory, size: 1GiB}}}}
placement: [{{input: disk, intermediate: scratch, output: disk}}]
settings: small
cluster: {{memory_mb: 3072, vcores: 2}}
""")
    running = place.start("run", experiment, "--out", "run")
    until_executors_run(place, running, 1)
    fill("scratch")
    assert running.exit_code() == 1, running.text
    (record,) = place.records("run")
    assert record.status is Status.FAILED
    left = r"; the medium 'scratch' has only [\d.]+ ([KM]i)?B of 1.0 GiB left"
    # Either a task finds no room first, or YARN takes the node's only local directory away and ends the executors.
    why = "(No space left on device|SparkContext was shut down)"
    assert re.fullmatch(rf"sort-rdd failed: .*{why}.*{left}", record.error), record.error
    assert place.left_over() == []


@AS_ROOT
@pytest.mark.alone
@pytest.mark.long
def test_executors_on_two_nodes_shuffle_between_them(place):
    (record,) = place.verified(f"""
experiment: nodes
workloads: {{name: terasort, options: {{size: 20MB}}}}
engine: spark
media: {place.media}
settings: small
cluster: {{nodes: 2, network: gigabit, memory_mb: 2048, vcores: 1}}
hadoop: {{dfs.blocksize: 4m, mapreduce.job.reduces: 2}}
""")
    assert record.facts["nodes"] == 2
    (job,) = record.jobs
    assert job.counters["executors"] == {"added": 2, "lost": 0}
    sent = Counter()
    for transfer in transfers(record):
        sent.update(transfer.bytes)
    assert sent["shuffle"] > 1_000_000


# Counts the words of each length by a module that is sent along, and where its Python processes run.
APPLICATION = """\
import sys
from pathlib import Path
from pyspark.sql import SparkSession
import lengths

def groups(_):
    return [Path("/proc/self/cgroup").read_text()]

spark = SparkSession.builder.appName("lengths").getOrCreate()
text = spark.sparkContext.textFile(sys.argv[1], 4)
mine = groups(None)[0]
theirs = spark.sparkContext.parallelize(range(4), 4).mapPartitions(groups).distinct().collect()
print("groups", mine, theirs)
if mine in theirs:
    sys.exit("executors run outside of the node's control group")
counts = text.flatMap(lengths.of).map(lambda length: (length, 1)).reduceByKey(lambda left, right: left + right)
counts.map(lambda pair: f"{pair[0]}\\t{pair[1]}").saveAsTextFile(sys.argv[2])
spark.stop()
"""
CHECK = """\
import collections, pathlib, sys
lines = [line for part in pathlib.Path(sys.argv[1]).glob("part-*") for line in part.read_text().splitlines()]
found = dict(map(int, line.split("\\t")) for line in lines)
if found != collections.Counter(map(len, pathlib.Path(sys.argv[2]).read_text().split())):
    sys.exit(f"found {found}")
"""


@pytest.mark.long
def test_a_python_file_is_an_application_within_the_nodes_bounds(place):
    try:
        pyspark_variables()
    except BadInputError as error:
        pytest.skip(str(error))
    for name, text in {
        "app.py": APPLICATION, "check.py": CHECK, "words.txt": "all is well that ends well\n" * 50_000,
        "lengths.py": "def of(line):\n    return map(len, line.split())\n",
    }.items():  # fmt: skip
        (place.home / name).write_text(text)
    (record,) = place.verified(f"""
experiment: python
workloads:
  name: command
  options: {{jar: app.py, input: words.txt, verify: "python3 check.py {{output}} {{input}}"}}
engine: spark
memory: 3GiB
hadoop: {{dfs.blocksize: 1m}}
spark: {{spark.submit.pyFiles: lengths.py, spark.executor.pyspark.memory: 512m}}
media: {place.media}
{HEAD}""")
    (job,) = record.jobs
    assert (job.name, job.state) == ("app.py 1", "SUCCEEDED")
    assert job.counters["executors"] == {"added": 1, "lost": 0}
    (landed,) = (landed for landed in record.landed if landed.role == "intermediate")
    assert landed.shares == {"disk": 1.0}


def test_executors_without_room_are_refused_before_anything_starts(place):
    experiment = place.experiment(f"""
experiment: large
workloads: {{name: word-count, options: {{size: 4MB}}}}
engine: spark
spark: {{spark.executor.memory: 8g}}
media: {place.media}
{HEAD}""")
    said = place.command(*assay_command("run", experiment, "--dry-run"), code=2)
    assert "line 5: an executor takes 9024 MiB (spark.executor.memory 8192m and 819 MiB beside it" in said.stderr
