"""Proves that a program of any jar is run as Hadoop's client runs it, and that its jobs and files are found."""

import os
import shutil
import subprocess
from xml.etree import ElementTree as ET

import pytest

from assay.engine.hive import hive_variables, query_line
from assay.engine.mapreduce import MapReduce
from assay.host.lease import Lease
from assay.model.cluster import EmbeddedSpec
from assay.model.engine import LINES_OUTPUT, EngineContext, JobReference, Launch, Program, ignore_progress, stored
from assay.model.errors import AssayError, BadInputError
from assay.model.fault import StageProgress
from assay.model.progress import Silent
from assay.model.running_cluster import RunningCluster
from assay_extras.testing.fake_hadoop import FakeStore, Script
from tests.serving import serving
from tests.watching import Watcher

# As Hadoop 3.4.2 prints it, of a program that runs two jobs.
OUTPUT = """\
2026-10-05 10:00:00,100 INFO impl.YarnClientImpl: Submitted application application_1759658000000_0001
2026-10-05 10:00:00,200 INFO mapreduce.Job: Running job: job_1759658000000_0001
2026-10-05 10:00:05,300 INFO mapreduce.Job:  map 100% reduce 50%
2026-10-05 10:00:06,000 INFO mapreduce.Job: Job job_1759658000000_0001 completed successfully
2026-10-05 10:00:07,100 INFO impl.YarnClientImpl: Submitted application application_1759658000000_0002
"""
PROGRAM = Program(
    name="numbers", jar="hadoop-examples-*.jar", main_class="org.example.Numbers", properties={"a.b": "c"},
    arguments=("-out", "/out", "-log", "{scratch}/result.txt"), jobs=("first", "second"),
)  # fmt: skip


def configured(path, _query):
    """What a JobHistoryServer that knows the configuration of every job answers."""
    properties = [{"name": "mapreduce.job.reduces", "value": "3"}, {"name": "java.home", "value": "/x"}]
    conf = {"conf": {"path": "/job.xml", "property": properties}}
    return conf if path.endswith("/conf") else {"job": {"id": "x"}}


@pytest.fixture
def history_url():
    with serving(configured) as server:
        yield server.url


@pytest.fixture
def engine_with(tmp_path, monkeypatch, history_url):
    """Makes an engine whose `hadoop` is a shell script with the given body; $5 is the local file it is to write."""
    monkeypatch.setattr("assay.engine.client.WATCH_S", 0.1)
    extras = tmp_path / "extras"
    extras.mkdir()
    (extras / "hadoop-examples-3.jar").touch()
    (tmp_path / "output").write_text(OUTPUT)
    with Lease(tmp_path / "state", "test") as lease:

        def make(body, failure=lambda: None, progressed=ignore_progress, **more):
            hadoop = tmp_path / "hadoop"
            hadoop.write_text(f'#!/bin/bash\necho "$HADOOP_CLASSPATH $@" >>{tmp_path}/calls\n{body}\n')
            hadoop.chmod(0o755)
            cluster = RunningCluster(
                hadoop=hadoop, conf_dir=tmp_path, addresses={"historyserver": history_url}, version="3",
                extras=extras, environment=lease.environment({**os.environ, "HADOOP_CLASSPATH": "/mine.jar"}), **more,
            )  # fmt: skip
            context = EngineContext(
                cluster, EmbeddedSpec(), FakeStore(Script()), tmp_path / "jobs.jar", tmp_path, failure, progressed
            )
            return MapReduce(context)

        yield make


def test_a_main_class_is_run_with_its_jar_and_its_jobs_and_files_are_found(engine_with, tmp_path):
    listener = Watcher()
    engine = engine_with(f'cat {tmp_path}/output >&2; sleep 0.2; echo "rate 7" >"${{@: -1}}"')
    report = engine.run_program(PROGRAM, listener)
    called = (tmp_path / "calls").read_text().split()
    assert called[0] == f"{tmp_path}/extras/hadoop-examples-3.jar:/mine.jar"
    assert called[1:5] == ["org.example.Numbers", "-Da.b=c", "-out", "/out"]
    assert report.jobs == (
        JobReference(name="first", id="job_1759658000000_0001"),
        JobReference(name="second", id="job_1759658000000_0002"),
    )
    assert report.texts == {"result.txt": "rate 7\n"}
    assert report.settings == {"mapreduce.job.reduces": "3", "a.b": "c"}
    assert listener.details == ["numbers: job 1", "numbers: map 100 %, reduce 50 %", "numbers: job 2"]


def test_how_far_a_job_is_is_told_at_once_with_its_name(engine_with, tmp_path):
    heard = []
    engine = engine_with(f"cat {tmp_path}/output; sleep 0.2", progressed=heard.append)
    engine.run_program(PROGRAM, Silent())
    assert heard == [StageProgress("first", {"map": 100, "reduce": 50})]


def test_how_far_a_job_of_the_jobs_jar_is_is_told_too(engine_with):
    """As JobSequence prints it."""
    heard = []
    said = "assay: job 2/3 iteration 2 map 50 % reduce 0 %"
    engine = engine_with(f"echo '{said}'; sleep 0.2; exit 1", progressed=heard.append)
    with pytest.raises(AssayError):
        engine.run(Launch(command="k-means", input="/in", output="/out"), Silent())
    assert heard == [StageProgress("iteration 2", {"map": 50, "reduce": 0})]


def test_a_jar_without_a_named_class_is_run_as_hadoop_jar_does(engine_with, tmp_path):
    mine = tmp_path / "mine.jar"
    mine.touch()
    program = Program(name="mine", jar=str(mine), arguments=("/in", "/out"), variables={"NOTE": "fine"})
    report = engine_with(f'cat {tmp_path}/output; echo "$NOTE" >{tmp_path}/note').run_program(program, Silent())
    assert (tmp_path / "note").read_text() == "fine\n"
    assert (tmp_path / "calls").read_text().split() == ["/mine.jar", "jar", str(mine), "/in", "/out"]
    assert [job.name for job in report.jobs] == ["mine 1", "mine 2"]


def test_a_missing_jar_is_said(engine_with):
    with pytest.raises(BadInputError, match=r"numbers needs none-\*\.jar, and it is not in .*extras"):
        engine_with("").run_program(PROGRAM.model_copy(update={"jar": "none-*.jar"}), Silent())


def test_a_failed_task_is_the_reason_and_not_the_jobs_end(engine_with):
    body = "echo 'Error: java.io.IOException: disk full'; echo 'java.io.IOException: Job failed!'; exit 1"
    with pytest.raises(AssayError, match="numbers failed: Error: java.io.IOException: disk full"):
        engine_with(body).run_program(PROGRAM, Silent())


def test_a_job_that_was_ended_from_outside_says_how_it_ended(engine_with):
    state = "Job job_1_0002 failed with state KILLED due to: Application killed, as its lifetime is over"
    lines = (f"2026-10-05 10:00:05,300 INFO mapreduce.Job: {state}", "2026-10-05 10:00:05,400 INFO mine.Sort: done")
    body = "; ".join(f"echo '{line}'" for line in lines)
    with pytest.raises(AssayError, match=f"^numbers failed: {state}$"):
        engine_with(f"{body}; exit 1").run_program(PROGRAM, Silent())


FAILED = """\
2026-10-05 10:00:01,767 WARN util.NativeCodeLoader: Unable to load native-hadoop library for your platform...
2026-10-05 10:00:05,300 INFO mapreduce.Job: Task Id : attempt_1_0001_m_000000_0, Status : FAILED
Error: java.lang.IllegalStateException: no tab in 'x'
\tat Mine$Lines.map(Mine.java:12)
\tat org.apache.hadoop.mapreduce.Mapper.run(Mapper.java:145)
\tat java.base/java.security.AccessController.doPrivileged(Native Method)

2026-10-05 10:00:06,000 INFO mapreduce.Job: Task Id : attempt_1_0001_m_000000_1, Status : FAILED
Error: java.lang.IllegalStateException: no tab in 'x'
\tat Mine$Lines.map(Mine.java:12)
2026-10-05 10:00:07,100 INFO mapreduce.Job: Counters: 2
\tJob Counters
\t\tFailed map tasks=4
2026-10-05 10:00:07,200 WARN example.Mine: 1 line has no tab
mine: giving up
"""


def test_a_program_that_is_to_tell_more_is_told_with_its_own_last_lines(engine_with, tmp_path):
    (tmp_path / "failed").write_text(FAILED)
    program = PROGRAM.model_copy(update={"last_lines": 8, "folder": tmp_path})
    with pytest.raises(AssayError) as caught:
        engine_with("cat failed; exit 3").run_program(program, Silent())
    assert str(caught.value).splitlines() == [
        "numbers failed: exit code 3; its last lines:",
        "  Error: java.lang.IllegalStateException: no tab in 'x'",
        "  \tat Mine$Lines.map(Mine.java:12)",
        "  2026-10-05 10:00:07,200 WARN example.Mine: 1 line has no tab",
        "  mine: giving up",
    ]


def test_a_program_that_fails_in_silence_says_so(engine_with):
    with pytest.raises(AssayError, match="numbers failed: exit code 1; it printed nothing"):
        engine_with("exit 1").run_program(PROGRAM.model_copy(update={"last_lines": 8}), Silent())


def test_a_users_jar_that_is_gone_is_named(engine_with):
    with pytest.raises(BadInputError, match="numbers needs /nowhere/x.jar, and it is not there"):
        engine_with("").run_program(PROGRAM.model_copy(update={"jar": "/nowhere/x.jar"}), Silent())


def test_a_dead_daemon_comes_first(engine_with):
    with pytest.raises(AssayError, match="the DataNode died"):
        engine_with("exit 1", failure=lambda: "the DataNode died").run_program(PROGRAM, Silent())


@pytest.mark.parametrize(
    ("body", "why"),
    [("echo well", "log at level INFO"), ("echo Running job: job_local12_0001", "on this machine alone")],
)
def test_success_without_a_job_is_not_believed(engine_with, body, why):
    with pytest.raises(AssayError, match=why):
        engine_with(body).run_program(PROGRAM, Silent())


def test_on_a_shared_cluster_the_abandoned_job_is_killed(engine_with, tmp_path):
    engine = engine_with(
        f"[[ $1 == job ]] || {{ cat {tmp_path}/output; sleep 60; }}", outlives=True, failure=lambda: "x"
    )
    with pytest.raises(AssayError, match="x"):
        engine.run_program(PROGRAM, Silent())
    assert (tmp_path / "calls").read_text().splitlines()[-1] == "/mine.jar job -kill job_1759658000000_0002"


@pytest.mark.parametrize(
    "written_by", ["org.apache.hadoop.mapreduce.lib.output.TextOutputFormat", "org.example.Tables"]
)
def test_paths_in_the_store_and_the_format_of_lines_are_as_the_cluster_has_them(
    engine_with, tmp_path, monkeypatch, written_by
):
    monkeypatch.setattr(FakeStore, "location", lambda _, path: f"table:{path}")
    arguments = ("-outFormat", LINES_OUTPUT, stored("/out"), f"--at={stored('/in')}")
    program = PROGRAM.model_copy(update={"arguments": (*arguments, "{scratch}/result.txt")})
    is_usual = written_by.endswith("TextOutputFormat")
    properties = {} if is_usual else {"mapreduce.job.outputformat.class": written_by}
    engine_with(f"cat {tmp_path}/output", properties=properties).run_program(program, Silent())
    called = (tmp_path / "calls").read_text().split()[3:-1]
    assert called == ["-outFormat", written_by, "table:/out", "--at=table:/in"]


@pytest.fixture
def hive(tmp_path, monkeypatch):
    """A folder of Hive, whose `beeline` asks for `hadoop` as Hive's script does."""
    home = tmp_path / "hive"
    for folder in ("bin", "lib"):
        (home / folder).mkdir(parents=True)
    (home / "lib" / "hive-exec-4.1.0.jar").touch()
    (home / "bin" / "beeline").write_text(
        f"""#!/bin/bash
printf '%s\\n' "$@" >{tmp_path}/asked
cp "$HIVE_CONF_DIR/hive-site.xml" {tmp_path}
export HADOOP_CLASSPATH="/hive/*:$HADOOP_CLASSPATH"
hadoop jar beeline.jar
"""
    )
    (home / "bin" / "beeline").chmod(0o755)
    monkeypatch.setenv("HIVE_HOME", str(home))
    return home


def test_a_query_is_run_by_the_users_beeline_on_the_trials_cluster(engine_with, hive, tmp_path):
    said = f'[ "$1" = classpath ] && echo "/hadoop/*" || echo "$HADOOP_CLIENT_OPTS" >{tmp_path}/options'
    engine = engine_with(said, properties={"mapreduce.map.java.opts": "-Xmx9m"})
    environment = {**engine._environment, **hive_variables()}
    line = query_line(
        "visits.sql", ("--hivevar", "input=/in"), engine._cluster, environment, {"a.b": "c & d"}, tmp_path
    )  # fmt: skip
    subprocess.run(line.arguments, env=line.environment, check=True)
    asked = ["-u", "jdbc:hive2://", "--hivevar", "input=/in", "-f", "visits.sql"]
    assert (tmp_path / "asked").read_text().splitlines() == asked
    site = {entry[0].text: entry[1].text for entry in ET.parse(tmp_path / "hive-site.xml").getroot()}
    assert (site["a.b"], site["hive.execution.engine"]) == ("c & d", "tez")
    assert site["mapreduce.map.java.opts"].startswith("-Xmx9m --add-opens=")
    # Hive's jars come first: of several class paths Java takes the last.
    assert (tmp_path / "options").read_text().split()[-2:] == ["-cp", "/hive/*:/mine.jar:/hadoop/*"]


def test_without_a_folder_of_hive_no_query_runs(hive, tmp_path, monkeypatch):
    monkeypatch.delenv("HIVE_HOME")
    monkeypatch.setenv("PATH", f"{hive}/bin", prepend=":")
    assert hive_variables() == {"HIVE_HOME": str(hive)}
    # A vendor's command goes to the vendor's cluster.
    shutil.rmtree(hive / "lib")
    with pytest.raises(
        BadInputError, match=f"a query needs Hive, which Assay does not bring, and there is none in {hive}"
    ):
        hive_variables()
    (hive / "bin" / "beeline").unlink()
    with pytest.raises(BadInputError, match="HIVE_HOME is not set, and no beeline is on the PATH; let HIVE_HOME name"):
        hive_variables()
