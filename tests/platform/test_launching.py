"""Proves that processes are started by a launcher as its children, with their log and environment, and refused clearly."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from assay.host.processes import children_of, end_processes
from assay.model.cluster import EmbeddedSpec
from assay.model.errors import AssayError, BadInputError
from assay.model.installed import stack_of
from assay.model.layout import Layout
from assay.model.running_cluster import RunningCluster
from assay.model.service import NodeContext
from assay.node.local import LocalNode
from assay.platform.existing import daemons_of
from assay.platform.launching import DAEMON, Launchers
from assay.platform.startup import Host
from tests.toys import plugged_in


@pytest.fixture
def launcher(tmp_path):
    """A host and the process of its launcher."""
    (tmp_path / "logs").mkdir()
    context = NodeContext(EmbeddedSpec(), Layout(neutral=tmp_path), "127.0.0.1", "127.0.0.1")
    process = subprocess.Popen(
        DAEMON.program(context), stdout=subprocess.PIPE, env={**os.environ, "OF_THE_NODE": "yes"}
    )
    assert process.stdout.readline().decode().strip() == DAEMON.ready_text
    yield Host(LocalNode(), context), process
    end_processes(lambda: children_of(process.pid), grace_s=0)
    process.kill()
    process.wait()


def test_a_launched_process_is_a_child_of_the_launcher_and_tells_its_end(launcher):
    host, process = launcher
    launch = Launchers([host]).launch
    program = "import os; print(os.environ['OF_THE_NODE'], os.environ['OF_THE_TASK'], os.getcwd())"
    task = launch("127.0.0.1", [sys.executable, "-c", f"{program}; raise SystemExit(3)"], {"OF_THE_TASK": "too"})
    assert task.wait(10) == task.poll() == 3
    assert task.log.read_text().split() == ["yes", "too", str(host.layout.neutral / "logs")]
    sleeper = launch("127.0.0.1", ["sleep", "60"], {})
    assert sleeper.poll() is None
    assert sleeper.pid in children_of(process.pid)
    assert sleeper.log != task.log
    with pytest.raises(subprocess.TimeoutExpired):
        sleeper.wait(0.05)


def test_a_process_whose_launcher_was_killed_ends_when_it_is_gone(launcher):
    host, process = launcher
    sleeper = Launchers([host]).launch("127.0.0.1", ["sleep", "60"], {})
    try:
        process.kill()
        process.wait()
        assert sleeper.poll() is None, "it still runs"
    finally:
        os.kill(sleeper.pid, signal.SIGKILL)
    assert sleeper.wait(10) == sleeper.poll() == -signal.SIGKILL


def test_a_long_command_arrives_whole(launcher):
    host, _ = launcher
    word = "x" * 100_000
    program = "import sys; print(len(sys.argv[1]))"
    task = Launchers([host]).launch("127.0.0.1", [sys.executable, "-c", program, word], {})
    assert task.wait(10) == 0
    assert task.log.read_text() == "100000\n"


def test_what_can_not_be_started_is_said(launcher):
    host, process = launcher
    launch = Launchers([host]).launch
    with pytest.raises(AssayError, match=r"/no/such can't be started on 127.0.0.1: No such file"):
        launch("127.0.0.1", ["/no/such"], {})
    with pytest.raises(AssayError, match=r"no process can be started on worker-7: the workers are 127\.0\.0\.1"):
        launch("worker-7", ["true"], {})
    process.kill()
    process.wait()
    with pytest.raises(AssayError, match=r"the launcher of 127\.0\.0\.1 has ended"):
        launch("127.0.0.1", ["true"], {})


def test_on_a_cluster_of_somebody_else_nothing_is_started():
    cluster = RunningCluster(Path("/hadoop"), Path("/conf"), "3", addresses={})
    with pytest.raises(
        AssayError, match=r"mpirun can't be started on worker: Assay starts processes only on nodes of its"
    ):
        cluster.launch("worker", ["mpirun"], {})
    with (
        plugged_in("store", "engine"),
        pytest.raises(
            BadInputError, match=r"/conf can't say where the shard is: nobody knows how to find the service key"
        ),
    ):
        daemons_of(stack_of("key-value", "scanner"), Path("/conf"))
