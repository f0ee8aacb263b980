"""Proves on a cluster of namespaces, used as somebody else's from a client inside, what its own interfaces tell of it."""

import os
import re

import pytest

from assay.engine.tasks import FILE_SYSTEM_COUNTERS, TASK_COUNTERS, MapReduceAttempt
from assay.model.doubt import Outcome
from assay.record.folder import RunFolder
from tests.it.driving import AS_ROOT, a_place, assay_command

pytestmark = [pytest.mark.it, pytest.mark.alone, pytest.mark.long, AS_ROOT]

WORKERS = {"worker-1", "worker-2"}
MB = 1_000_000
EXPERIMENT = """
experiment: foreign
workloads: {{name: terasort, options: {{size: 100MB}}, hadoop: {{mapreduce.terasort.output.replication: 2}}}}
cluster: {{conf_dir: {conf_dir}, history: '{history}'}}
settings: small
hadoop: {{mapreduce.job.reduces: 2, dfs.replication: 2}}
"""
HISTORY = "hdfs:///tmp/hadoop-yarn/staging/history"


@pytest.fixture(scope="module")
def inside(tmp_path_factory):
    """The place, what runs a command on the cluster's master, and its configuration."""
    with a_place(tmp_path_factory.mktemp("foreign")) as place:
        said = place.assay("cluster", "up", "--settings", "small", "--nodes", "2")
        (master,) = place.processes("-Dproc_namenode")
        enter = ["nsenter", "--target", str(master), "--net", "--uts", "--mount", f"--wd={place.home}", "--"]
        yield place, enter, re.search(r"^export HADOOP_CONF_DIR=(.+)$", said, re.MULTILINE)[1]
        place.assay("cluster", "down")


@pytest.fixture(scope="module")
def record(inside):
    place, enter, conf_dir = inside
    experiment = place.experiment(EXPERIMENT.format(conf_dir=conf_dir, history=HISTORY))
    place.command(*enter, *assay_command("run", experiment, "--out", "run"))
    (found,) = place.records("run")
    assert found.outcome is Outcome.PASS, found.error
    return found


def of_nodes(record, series):
    return {
        one.node: one.value for one in record.amounts if (one.probe, one.series, one.part) == ("daemons", series, "run")
    }


def test_bytes_of_datanodes_and_of_the_shuffle_agree_with_hadoops_counters(record):
    """Each block is written to both workers; what is shuffled is served by either."""
    counters = record.totals.counters
    written, shuffled = of_nodes(record, "hdfs_written_bytes"), of_nodes(record, "shuffle_sent_bytes")
    assert WORKERS == set(written) == set(shuffled)
    output = 2 * counters[FILE_SYSTEM_COUNTERS]["HDFS_BYTES_WRITTEN"]
    assert output == 200 * MB
    assert sum(written.values()) == pytest.approx(output, rel=0.05)
    assert sum(shuffled.values()) == pytest.approx(counters[TASK_COUNTERS]["REDUCE_SHUFFLE_BYTES"], rel=0.05)
    assert sum(of_nodes(record, "hdfs_read_bytes").values()) >= counters[FILE_SYSTEM_COUNTERS]["HDFS_BYTES_READ"]


def test_processors_and_memory_of_each_machine_are_known(record):
    assert set(of_nodes(record, "busy_s")) >= WORKERS
    assert all(value > 0 for value in of_nodes(record, "busy_s").values())
    assert all(value > 1 << 28 for value in of_nodes(record, "memory_peak_bytes").values())
    assert {one.node for one in record.amounts if one.series == "cpu_s"} == {*WORKERS, "master"}


def test_history_came_from_files_and_is_what_the_server_tells(record, inside):
    """The same job once more, asked of the server: all of it is the same."""
    place, enter, conf_dir = inside
    assert "history-file-unread" not in {doubt.kind for doubt in record.doubts}
    (job,) = record.jobs
    script = (
        "import sys; from assay.engine.job_history_server import HistoryServer; from assay.model.engine import JobReference;"
        "from assay.engine.existing import historyservers; from assay.model.existing import Site;"
        "from assay.platform.configuration import read_site; from pathlib import Path; conf = Path(sys.argv[1]);"
        "url, = historyservers(Site(read_site(conf), conf));"
        "found = HistoryServer(url).read(JobReference(name=sys.argv[2], id=sys.argv[3]));"
        "print(found.job.model_dump_json());"
        "[print(one.model_dump_json()) for one in sorted(found.attempts, key=lambda one: one.attempt)]"
    )
    python = assay_command()[0]
    told = place.command(*enter, python, "-c", script, conf_dir, job.name, job.id).stdout.splitlines()
    assert told[0] == job.model_dump_json()
    of_trial = RunFolder(place.home / "run").attempts(record.trial)
    attempts = sorted((one for one in of_trial if one.job == job.id), key=lambda one: one.attempt)
    asked = [MapReduceAttempt.model_validate_json(line) for line in told[1:]]
    assert [one.attempt for one in asked] == [one.attempt for one in attempts]
    for server, file in zip(asked, attempts, strict=True):
        assert dict(server) == dict(file)


@pytest.mark.usefixtures("record")
def test_a_datanode_that_dies_meanwhile_is_a_doubt(inside):
    """It comes last: the cluster has one DataNode less from then on."""
    place, enter, conf_dir = inside
    experiment = place.experiment(EXPERIMENT.format(conf_dir=conf_dir, history=HISTORY))
    started = place.start("run", experiment, "--out", "second", enter=enter)
    started.until(r"trial 1/1 .* · run( ·|\n)")
    os.kill(place.processes("-Dproc_datanode")[0], 9)
    assert started.exit_code() == 0, started.text
    (found,) = place.records("second")
    assert found.outcome is Outcome.PASS, found.error
    assert "daemon-silent" in {doubt.kind for doubt in found.doubts}
