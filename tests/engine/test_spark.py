"""Proves that Spark's client is told what to run, where and with which executors, and that its words are understood."""

import json
import shlex
import stat
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pytest

from assay.engine.spark import Spark
from assay.engine.spark_service import SPARK
from assay.engine.spark_variants import SPARK_JOBS
from assay.host.lease import Lease
from assay.model.cluster import EmbeddedSpec, ExistingSpec
from assay.model.engine import EngineContext, JobReference, Launch, Program
from assay.model.errors import AssayError
from assay.model.fault import StageProgress
from assay.model.node import Node
from assay.model.progress import Silent
from assay.model.registry import ENGINES
from assay.model.running_cluster import ClusterNode, DaemonFacts, RunningCluster
from assay.platform.configuration import to_xml
from assay_extras.testing.fake_hadoop import FakeStore, Script
from tests.watching import Watcher

FIXTURES = Path(__file__).parents[1] / "fixtures" / "spark"
CLIENT = FIXTURES / "client"
COUNT = Launch(command="word-count-rdd", input="/in", output="/out", options=("--k=3",))
CONF = Path("/conf")
ROLES = ("datanode", "nodemanager")
THREE_PER_CORE = {"spark.default.parallelism": "3 per core", "spark.sql.shuffle.partitions": "3 per core"}
NODE = EmbeddedSpec()
APPLICATION = "local-1795708614693"
OWN = {
    "spark.driver.host": "127.0.0.1", "spark.yarn.jars": "local:/parts/spark/lib/*",
    "yarn.nodemanager.resource.memory-mb": "4096", "yarn.nodemanager.resource.cpu-vcores": "4",
}  # fmt: skip


@pytest.fixture
def engine_with(tmp_path, monkeypatch):
    """Makes an engine whose `hadoop` notes its words and variables, and then runs this body; `$report` is the report's."""
    monkeypatch.setattr("assay.engine.client.WATCH_S", 0.1)
    with Lease(tmp_path / "state", "test") as lease:

        def make(
            body, failure=lambda: None, properties=OWN, sends=None, progressed=lambda _: None, conf_dir=CONF,
            variables=MappingProxyType({}), spec=NODE, **more,
        ):  # fmt: skip
            hadoop = tmp_path / "hadoop"
            hadoop.write_text(
                "#!/bin/bash\n"
                '[[ $1 != classpath ]] || { echo "/conf:/hadoop/lib/*"; exit; }\n'
                f'printf "%s\\n" "$@" >{tmp_path}/words; env >{tmp_path}/variables\n'
                "report=${!#}\n" + body
            )
            hadoop.chmod(hadoop.stat().st_mode | stat.S_IXUSR)
            node = ClusterNode(
                Node, tuple(DaemonFacts(role=role, pid=1, log=Path("/log")) for role in ROLES), Path("/logs")
            )
            cluster = RunningCluster(
                hadoop, conf_dir, "3.4.2", {}, nodes=(node,), properties=properties, programs=Path("/parts"),
                environment=lease.environment({"PATH": "/usr/bin:/bin", **variables}), **more,
            )  # fmt: skip
            scratch = tmp_path / "scratch"
            scratch.mkdir()
            context = EngineContext(cluster, spec, FakeStore(Script()), Path("/jobs.jar"), scratch, failure, progressed)
            return Spark(context._replace(properties=sends or {}))

        yield make


WELL = f"cat {CLIENT}/word-count.log; cp {CLIENT}/word-count.json $report"


def words(tmp_path):
    return (tmp_path / "words").read_text().splitlines()


def conf(tmp_path):
    given = words(tmp_path)
    pairs = [given[at + 1] for at, word in enumerate(given) if word == "--conf"]
    return dict(pair.split("=", 1) for pair in pairs)


def test_a_launch_reads_its_application_from_the_drivers_report_and_tells_its_progress(engine_with):
    told, listener = [], Watcher()
    report = engine_with(WELL, progressed=told.append).run(COUNT, listener)
    assert report.jobs == (JobReference(name="word-count-rdd", id=APPLICATION),)
    assert report.result == {"words": 14000, "distinct_words": 2005}
    assert report.settings["spark.io.compression.codec"] == "lz4"
    assert listener.details[0] == f"job word-count-rdd {APPLICATION} started"
    assert listener.details[-2] == "stage 1 runJob at SparkHadoopWriter.scala:83 100 %"
    assert told[0] == StageProgress("word-count-rdd", {"stage 0": 0})
    assert told[-1] == StageProgress("word-count-rdd", {"stage 0": 100, "stage 1": 100})


def test_it_is_submitted_to_yarn_with_the_trials_properties_and_all_that_a_node_offers(engine_with, tmp_path):
    properties = {**OWN, "dfs.blocksize": "1m", "mapreduce.job.reduces": "3", "spark.rdd.compress": "true"}
    launch = COUNT.model_copy(update={"properties": {"dfs.replication": "2", "spark.locality.wait": "1s"}})
    engine_with(WELL, properties=properties, sends={"hbase.assay.policy": "ALL_SSD"}).run(launch, Silent())
    given = words(tmp_path)
    assert given[:5] == ["org.apache.spark.deploy.SparkSubmit", "--master", "yarn", "--deploy-mode", "client"]
    jar, report = "local:/parts/spark/lib/jobs/assay-jobs-spark.jar", str(tmp_path / "scratch" / "launch-1.json")
    assert given[-11:] == [
        "--name", "assay word-count-rdd",
        "--class", "org.assay.spark.Main", jar, "word-count-rdd", "/in", "/out", "--k=3", "--report",
        report,
    ]  # fmt: skip
    assert conf(tmp_path) == {
        "spark.driver.host": "127.0.0.1", "spark.yarn.jars": "local:/parts/spark/lib/*", "spark.rdd.compress": "true",
        "spark.locality.wait": "1s", "spark.hadoop.dfs.replication": "2", "spark.hadoop.mapreduce.job.reduces": "3",
        "spark.hadoop.hbase.assay.policy": "ALL_SSD", "spark.executor.instances": "1", "spark.executor.cores": "4",
        "spark.executor.memory": "2688m", "spark.executor.memoryOverhead": "384m", "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{tmp_path}/scratch/events", "spark.local.dir": f"{tmp_path}/scratch",
        "spark.ui.enabled": "false", "spark.eventLog.logBlockUpdates.enabled": "true",
    }  # fmt: skip


def test_its_driver_has_sparks_jars_before_hadoops_and_its_own_heap(engine_with, tmp_path):
    engine = engine_with(WELL, properties={**OWN, "spark.driver.memory": "2g"}, job_jars=(Path("/parts/hbase/f.jar"),))
    engine.run(COUNT, Silent())
    variables = dict(line.split("=", 1) for line in (tmp_path / "variables").read_text().splitlines() if "=" in line)
    options = shlex.split(variables["HADOOP_CLIENT_OPTS"])
    assert options[-2:] == ["-cp", "/conf:/parts/spark/lib/*:/conf:/hadoop/lib/*:/parts/hbase/f.jar"]
    assert "-Xmx2g" in options
    assert "--add-opens=java.base/java.nio=ALL-UNNAMED" in options
    assert variables["SPARK_LOCAL_HOSTNAME"] == "127.0.0.1"


def test_what_its_driver_leaves_when_it_is_killed_lies_in_the_trials_scratch(engine_with, tmp_path):
    user = {"SPARK_LOCAL_DIRS": "/data/of-the-user", "HADOOP_CLIENT_OPTS": "-Djava.io.tmpdir=/tmp"}
    engine_with(WELL, variables=user).run(COUNT, Silent())
    variables = dict(line.split("=", 1) for line in (tmp_path / "variables").read_text().splitlines() if "=" in line)
    places = [option for option in shlex.split(variables["HADOOP_CLIENT_OPTS"]) if "java.io.tmpdir" in option]
    assert places == ["-Djava.io.tmpdir=/tmp", f"-Djava.io.tmpdir={tmp_path}/scratch"], "Java takes the last one"
    assert "SPARK_LOCAL_DIRS" not in variables
    assert conf(tmp_path)["spark.local.dir"] == f"{tmp_path}/scratch"


def test_a_workloads_own_properties_may_ask_for_other_executors(engine_with, tmp_path):
    own = {"spark.executor.memory": "600m", "spark.executor.instances": "2", **THREE_PER_CORE}
    engine_with(WELL).run(COUNT.model_copy(update={"properties": own}), Silent())
    asked = conf(tmp_path)
    assert (asked["spark.executor.memory"], asked["spark.executor.instances"]) == ("600m", "2")
    assert asked["spark.executor.cores"] == "2"
    assert asked["spark.default.parallelism"] == asked["spark.sql.shuffle.partitions"] == "12"


def test_a_cluster_that_is_there_already_is_brought_spark_and_decides_the_rest(engine_with, tmp_path):
    site = {"fs.defaultFS": "hdfs://name:8020/"}
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "core-site.xml").write_text(to_xml(site))
    (tmp_path / "conf" / "mapred-site.xml").write_text(to_xml({"mapreduce.application.classpath": "$HADOOP/lib/*"}))
    engine = engine_with(
        WELL, properties={"spark.executor.memory": "4g", **THREE_PER_CORE}, outlives=True,
        spec=ExistingSpec(conf_dir=tmp_path / "conf"), conf_dir=tmp_path / "conf",
        stored_jars=("/user/me/jars/f.jar",), sent_jars={"spark": ("/user/me/spark/a.jar", "/user/me/spark/b.jar")},
    )  # fmt: skip
    engine.run(COUNT, Silent())
    asked = conf(tmp_path)
    assert asked["spark.yarn.jars"] == "hdfs://name:8020/user/me/spark/a.jar,hdfs://name:8020/user/me/spark/b.jar"
    assert asked["spark.yarn.populateHadoopClasspath"] == "true"
    assert asked["spark.hadoop.mapreduce.application.classpath"] == "$HADOOP/lib/*"
    assert asked["spark.jars"] == "hdfs://name:8020/user/me/jars/f.jar"
    assert "file:///parts/spark/lib/jobs/assay-jobs-spark.jar" in words(tmp_path)
    assert {name for name in asked if name.startswith("spark.executor.")} == {"spark.executor.memory"}
    assert not asked.keys() & THREE_PER_CORE.keys(), "nobody knows how many cores executors have there"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('echo \'{"schema": 1, "succeeded": false, "error": "input /in is empty"}\' >$report; exit 2', "input /in is empty"),
        ("kill -9 $$", r"the driver was killed \(signal 9\)"),
        ("exit 137", r"the driver was killed \(signal 9\)"),
        (('echo \'{"error": "Job 0 cancelled because SparkContext was shut down"}\' >$report; echo "2026-11-26 15:56:45,697 '
         'ERROR cluster.YarnClientSchedulerBackend: Max number of executor failures (3) reached"; exit 1'),
         r"Max number of executor failures \(3\) reached"),
        ("echo 'Exception in thread main: no such class'; exit 1", "no such class"),
        ("echo nothing", "nothing"),
        ('echo \'{"schema": 2, "succeeded": true}\' >$report', "left a report of schema 2, not 1"),
    ],
)  # fmt: skip
def test_a_failure_says_why(engine_with, body, reason):
    with pytest.raises(AssayError, match=f"word-count-rdd (failed: .*)?{reason}"):
        engine_with(body).run(COUNT, Silent())


def test_a_lost_daemon_is_the_reason_for_what_a_driver_says(engine_with):
    died = "the datanode was killed by signal 9"
    with pytest.raises(AssayError, match=died):
        engine_with("sleep 60", failure=lambda: died).run(COUNT, Silent())


def test_an_ended_engine_runs_nothing_more(engine_with):
    engine = engine_with("sleep 60")
    engine.end()
    with pytest.raises(AssayError, match="it was ended, as the run was interrupted"):
        engine.run(COUNT, Silent())


def test_a_program_has_the_applications_that_its_client_names(engine_with, tmp_path):
    jar = tmp_path / "mine.jar"
    jar.touch()
    said = "INFO impl.YarnClientImpl: Submitted application application_1795597626963_000"
    body = f'for n in 1 2; do echo "2026-11-26 15:56:45,697 {said}$n"; done; echo fine >"${{@: -1}}/note"'
    program = Program(
        name="mine.jar", jar=str(jar), main_class="org.example.Count", arguments=("{store}/in", "{scratch}"), jobs=("count",),
        properties={"spark.rdd.compress": "true", "dfs.replication": "2"}, variables={"PYTHONPATH": "/mine/pyspark.zip"},
    )  # fmt: skip
    report = engine_with(body).run_program(program, Silent())
    assert [(job.name, job.id) for job in report.jobs] == [
        ("count", "application_1795597626963_0001"), ("mine.jar 2", "application_1795597626963_0002"),
    ]  # fmt: skip
    assert report.texts == {"note": "fine\n"}
    assert report.settings["spark.rdd.compress"] == "true"
    assert report.settings["spark.hadoop.dfs.replication"] == "2"
    assert words(tmp_path)[-5:-1] == ["--class", "org.example.Count", str(jar), "/in"]
    assert "PYTHONPATH=/mine/pyspark.zip" in (tmp_path / "variables").read_text().splitlines()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("true", "mine.jar ended well, but its driver ran no application on YARN"),
        ("echo 'mine: no such file'; exit 3", "mine.jar failed: exit code 3; its last lines:\n  mine: no such file"),
        ("exit 3", "mine.jar failed: exit code 3; it printed nothing"),
        ("echo 'mine: halfway'; kill -9 $$", "mine.jar failed: the driver was killed (signal 9)"),
    ],
)
def test_a_program_that_fails_or_runs_elsewhere_says_so(engine_with, tmp_path, body, reason):
    jar = tmp_path / "mine.jar"
    jar.touch()
    with pytest.raises(AssayError) as caught:
        engine_with(body).run_program(Program(name="mine.jar", jar=str(jar), last_lines=5), Silent())
    assert str(caught.value) == reason


# As Spark 3.5 calls what it writes: plain, compressed, rolled, and each while the application runs.
@pytest.mark.parametrize(
    "name",
    [
        "{id}", "{id}.inprogress", "{id}.zstd", "{id}.zstd.inprogress", "eventlog_v2_{id}/events_1_{id}",
        "eventlog_v2_{id}/events_1_{id}.zstd",
    ],
)  # fmt: skip
def test_the_history_is_what_the_driver_logged_also_of_one_that_was_killed(engine_with, tmp_path, name):
    engine = engine_with(WELL)
    content = (FIXTURES / "killed").read_bytes()
    application = next(
        json.loads(line)["App ID"] for line in content.splitlines() if b"SparkListenerApplicationStart" in line
    )
    job, events = JobReference(name="count", id=application), tmp_path / "scratch" / "events"
    (events / f"{application}0").write_text("the log of another application")
    with pytest.raises(AssayError, match=f"the driver of count \\({application}\\) left no event log"):
        engine.history(job)
    log = events / name.format(id=application)
    log.parent.mkdir(exist_ok=True)
    with pa.output_stream(log, compression="zstd" if "zstd" in name else None) as stream:
        stream.write(content)
    if log.parent != events:
        (log.parent / f"appstatus_{application}.inprogress").touch()
    history = engine.history(job)
    assert history.job.id == application
    assert len(history.attempts) > 12
    assert engine.phases(history.attempts).phases == ()


def test_executors_have_what_the_bound_of_a_node_leaves_beside_its_daemons(engine_with, tmp_path):
    spec = EmbeddedSpec(limit_memory_bytes=3000 << 20)
    engine_with(WELL, spec=spec).run(COUNT, Silent())
    room_mb = 3000 - 2 * 128  # of which the master has a step, and the rest goes to executors in steps
    asked = conf(tmp_path)
    heap, overhead = (int(asked[f"spark.executor.{name}"].removesuffix("m")) for name in ("memory", "memoryOverhead"))
    assert heap + overhead == room_mb // 1024 * 1024 - 1024


def test_inputs_are_staged_by_mapreduce():
    kind = ENGINES["spark"]
    assert (kind.runs, kind.staged_by, kind.services) == ({SPARK_JOBS}, "mapreduce", (SPARK.name,))
    assert kind.mistake() == ""
