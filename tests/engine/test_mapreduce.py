"""Proves that a launch reads its jobs from the client's report, tells progress, and fails with the telling line."""

import json
import os
import stat
import threading
from pathlib import Path

import pytest

from assay.engine.mapreduce import MapReduce
from assay.host.lease import Lease
from assay.model.cluster import EmbeddedSpec
from assay.model.engine import EngineContext, JobReference, Launch
from assay.model.errors import AssayError
from assay.model.progress import Silent
from assay.model.running_cluster import RunningCluster
from assay_extras.testing.fake_hadoop import FakeStore, Script
from tests.watching import Watcher

REPORT = {
    "schema": 1, "workload": "triangles", "variant": "paper", "succeeded": True, "error": None,
    "settings": {"mapreduce.job.reduces": "2"}, "jobs": [{"name": "triads", "id": "job_1_0001"}],
    "result": {"triangles": 7},
}  # fmt: skip


@pytest.fixture
def engine_with(tmp_path, monkeypatch):
    """Makes an engine whose `hadoop` is a shell script with the given body; `$report` is the report's file."""
    monkeypatch.setattr("assay.engine.client.WATCH_S", 0.1)
    with Lease(tmp_path / "state", "test") as lease:

        def make(body, failure=lambda: None, store=None, properties=None, **more):
            hadoop = tmp_path / "hadoop"
            hadoop.write_text(f'#!/bin/bash\necho "$@" >{tmp_path}/arguments\nreport="${{@: -1}}"\n{body}\n')
            hadoop.chmod(hadoop.stat().st_mode | stat.S_IXUSR)
            cluster = RunningCluster(
                hadoop=hadoop, conf_dir=tmp_path, addresses={"historyserver": "http://127.0.0.1:9"}, version="3",
                environment=lease.environment(os.environ), **more,
            )  # fmt: skip
            context = EngineContext(
                cluster, EmbeddedSpec(), store or FakeStore(Script()), Path("/jobs.jar"), tmp_path, failure
            )
            return MapReduce(context._replace(properties=properties or {}))

        yield make


LAUNCH = Launch(command="triangles", input="/in", output="/out", options=("--x", "1"), properties={"a.b": "c"})


def test_an_engines_own_properties_go_with_each_of_its_jobs_beneath_theirs(engine_with, tmp_path):
    engine = engine_with(
        f"cat >\"$report\" <<'J'\n{json.dumps(REPORT)}\nJ", properties={"a.b": "of all", "table.policy": "HOT"}
    )
    engine.run(LAUNCH, Silent())
    words = (tmp_path / "arguments").read_text().split()
    assert {word for word in words if word.startswith("-D")} == {"-Da.b=c", "-Dtable.policy=HOT"}


def test_a_launch_is_a_hadoop_jar_command_and_its_report(engine_with, tmp_path):
    engine = engine_with(f"cat >\"$report\" <<'J'\n{json.dumps(REPORT)}\nJ\necho 'assay: job 1/3 triads'; echo noise")
    listener = Watcher()
    report = engine.run(LAUNCH, listener)
    words = (tmp_path / "arguments").read_text().split()
    assert words[:-1] == ["jar", "/jobs.jar", "triangles", "-Da.b=c", "/in", "/out", "--x", "1", "--report"]
    assert report.jobs == (JobReference(name="triads", id="job_1_0001"),)
    assert report.result == {"triangles": 7}


class Tables(FakeStore):
    """Its locations name tables."""

    def location(self, path):
        return f"table:{path}"


WHOLE = f"cat >\"$report\" <<'J'\n{json.dumps(REPORT)}\nJ"


def test_jobs_get_the_locations_of_what_the_store_holds(engine_with, tmp_path):
    engine_with(WHOLE, store=Tables(Script())).run(LAUNCH, Silent())
    assert (tmp_path / "arguments").read_text().split()[4:6] == ["table:/in", "table:/out"]


def test_further_jars_are_on_the_clients_class_path_and_go_with_jobs_to_nodes_that_lack_them(engine_with, tmp_path):
    body = f'echo "$HADOOP_CLASSPATH" >{tmp_path}/classpath\n{WHOLE}'
    jars = (Path("/formats.jar"), Path("/client.jar"))
    engine_with(body, job_jars=jars).run(LAUNCH, Silent())
    assert (tmp_path / "classpath").read_text().strip().startswith("/formats.jar:/client.jar")
    assert "tmpjars" not in (tmp_path / "arguments").read_text()
    engine_with(body, job_jars=jars, stored_jars=("/user/me/formats.jar", "/user/me/client.jar")).run(LAUNCH, Silent())
    sent = "-Dtmpjars=/user/me/formats.jar#formats.jar,/user/me/client.jar#client.jar"
    assert sent in (tmp_path / "arguments").read_text().split()


def test_progress_lines_are_passed_on_as_they_come(engine_with):
    listener = Watcher()
    body = f"echo 'assay: job 1/3 triads'; sleep 0.3; echo noise; cat >\"$report\" <<'J'\n{json.dumps(REPORT)}\nJ"
    engine_with(body).run(LAUNCH, listener)
    assert listener.details == ["job 1/3 triads"]


def test_a_failed_client_is_an_error_with_its_reports_reason(engine_with):
    body = json.dumps({**REPORT, "succeeded": False, "error": "job closing failed: no space"})
    with pytest.raises(AssayError, match="triangles failed: job closing failed: no space"):
        engine_with(f"echo '{body}' >\"$report\"; exit 1").run(LAUNCH, Silent())


def test_a_client_that_dies_without_a_report_shows_its_last_exception(engine_with):
    with pytest.raises(AssayError, match="triangles failed: java.net.ConnectException: refused"):
        engine_with("echo 'java.net.ConnectException: refused'; echo '  at X'; exit 1").run(LAUNCH, Silent())


@pytest.mark.parametrize(
    "complaint",
    [
        "OpenJDK 64-Bit Server VM warning: old\\nUnrecognized VM option 'UseNoGC'\\nError: Could not create the Java Virtual Machine.",
        "Unrecognized VM option 'UseNoGC'",
    ],
)
def test_a_container_whose_java_did_not_start_says_why(complaint, engine_with):
    said = f"Container exited with a non-zero exit code 1.\\nLast 4096 bytes of stderr :\\n{complaint}\\n\\nINFO job failed\\n"
    with pytest.raises(AssayError, match="triangles failed: Unrecognized VM option 'UseNoGC'$"):
        engine_with(f'printf "{said}"; exit 1').run(LAUNCH, Silent())


def test_success_without_a_report_is_not_believed(engine_with):
    with pytest.raises(AssayError, match="triangles failed"):
        engine_with("exit 0").run(LAUNCH, Silent())


def test_a_report_of_another_schema_is_refused(engine_with):
    with pytest.raises(AssayError, match="schema 2"):
        engine_with(f"echo '{json.dumps({**REPORT, 'schema': 2})}' >\"$report\"").run(LAUNCH, Silent())


def test_a_dead_daemon_ends_the_client_at_once(engine_with):
    engine = engine_with("sleep 60", failure=lambda: "DataNode died: disk error")
    with pytest.raises(AssayError, match="DataNode died: disk error"):
        engine.run(LAUNCH, Silent())


def test_an_engine_that_is_ended_ends_its_clients(engine_with, tmp_path):
    engine = engine_with("echo $$ >$(dirname $0)/pid; sleep 60")
    ending = threading.Timer(0.3, engine.end)
    ending.start()
    with pytest.raises(AssayError, match="it was ended, as the run was interrupted"):
        engine.run(LAUNCH, Silent())
    pid = int((tmp_path / "pid").read_text())
    assert not Path(f"/proc/{pid}").exists()
