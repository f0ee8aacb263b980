"""Proves that a fault strikes once, at its phase, in the measured jobs only, and tells what it killed."""

import os
import signal
import time
from contextlib import suppress
from threading import Thread

import pytest

from assay.model.cluster import EmbeddedSpec
from assay.model.errors import AssayError
from assay.model.fault import Fault, StageProgress
from assay.model.installed import stack_of
from assay.model.network import NO_NETWORK
from assay.model.service import DaemonKind
from assay.node.local import LocalNode
from assay.platform import embedded
from assay.platform.daemon import Daemon
from assay.platform.embedded import EmbeddedCluster, possible_here
from assay.platform.faults import LOG_LINES, FaultInjector, Killed

KILL = Fault(kill="nodemanager", on=2, at="map 50%")
MANAGER = DaemonKind("nodemanager", "org.example.NodeManager", on_workers=True, children="containers")
DATANODE = DaemonKind("datanode", "org.example.DataNode", on_workers=True)


class Worker(LocalNode):
    def __init__(self, name):
        self.name = name


def wait_for(happened, process, seconds=30):
    """Returns when it has happened; fails if the process ends before, or after that many seconds."""
    end = time.monotonic() + seconds
    while not happened():
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.01)


def so_far(map_, reduce=0, job="sort"):
    return StageProgress(job, {"map": map_, "reduce": reduce})


@pytest.fixture
def daemon(tmp_path):
    """Starts daemons that are shells with children; they end with the test."""
    started = []

    def start(kind=MANAGER, name="worker-2"):
        log = tmp_path / f"{name}-{kind.role}.log"
        log.write_text("".join(f"line {number}\n" for number in range(20)))
        node = Worker(name)
        ready = tmp_path / f"{name}-{kind.role}.ready"
        process = node.start(["sh", "-c", f"sleep 60 & sleep 60 & : > {ready}; wait"], {"PATH": "/usr/bin:/bin"}, log)
        started.append(Daemon(kind, node, process, log))
        wait_for(ready.exists, process)
        return started[-1]

    yield start
    for one in started:
        with suppress(ProcessLookupError):
            os.killpg(one.process.pid, signal.SIGKILL)
        one.process.wait()


def injector(fault=KILL, daemons=()):
    struck = []

    def kill():
        struck.append(fault)
        return Killed(daemons, containers=2)

    return FaultInjector(fault, kill), struck


def test_it_waits_for_its_phase_and_strikes_once(daemon):
    found, struck = injector(daemons=[daemon()])
    found.arm()
    for done in (0, 49):
        found.progressed(so_far(done))
    assert not struck
    assert found.report().struck_ms is None
    for done in (52, 60):
        found.progressed(so_far(done))
    assert struck == [KILL]
    report = found.report()
    assert report.struck_ms > 0
    assert (report.job, report.progress, report.containers) == ("sort", {"map": 52, "reduce": 0}, 2)
    assert list(report.processes) == ["nodemanager"]
    assert report.log == tuple(f"nodemanager: line {number}" for number in range(20 - LOG_LINES, 20))


@pytest.mark.parametrize(
    ("fault", "progress"),
    [
        (KILL, so_far(100, 100)),  # the job has ended
        (Fault(kill="nodemanager", on=2, at="reduce 10%"), so_far(100, 9)),
        (Fault(kill="nodemanager", on=2, at="merge map 50%"), so_far(90)),
    ],
)
def test_it_does_not_strike_at_another_time(fault, progress):
    found, struck = injector(fault)
    found.arm()
    found.progressed(progress)
    assert not struck


def test_it_strikes_once_while_several_jobs_run_at_once():
    struck = []

    def kill():
        struck.append(KILL)
        time.sleep(0.2)  # as killing takes a while, in which the other jobs' clients call too
        return Killed((), containers=2)

    injector = FaultInjector(KILL, kill)
    injector.arm()
    clients = [Thread(target=injector.progressed, args=(so_far(52, job=f"job {number}"),)) for number in range(4)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert struck == [KILL]


def test_it_does_not_strike_in_staging():
    found, struck = injector()
    found.progressed(so_far(80))
    assert not struck


def test_at_a_share_of_the_input_it_strikes_in_staging_alone():
    fault = Fault(kill="nodemanager", on=2, at="staging 50%")
    found, struck = injector(fault)
    found.stage(200)
    found.took(99)
    assert not struck
    found.took(1)
    found.took(100)
    assert struck == [fault]
    report = found.report()
    assert (report.job, report.progress) == ("", {"staging": 50})
    late, missed = injector(fault)
    late.stage(200)
    late.arm()
    late.took(200)
    assert not missed


def test_what_is_slow_is_so_from_the_runs_beginning_and_kills_nothing():
    found, struck = injector(Fault(slow="drive", on=1, factor=3))
    found.arm()
    found.progressed(so_far(80))
    assert not struck
    assert found.report().struck_ms > 0
    assert found.report().containers is None


@pytest.fixture
def cluster(tmp_path):
    from assay.platform.distribution import Distribution, Java, Starts

    java = Java(home=tmp_path, feature=17, version="17", fingerprint="x")
    distribution = Distribution(version="3", java=java, classpath=("/lib/*",))
    starts = Starts(name="stock")
    return EmbeddedCluster(distribution, EmbeddedSpec(nodes=2, fault=KILL), stack_of(), tmp_path, {}, starts=starts)


def test_a_struck_daemon_is_dead_and_nobody_misses_it_but_others_are_missed(cluster, daemon):
    struck, other, datanode = daemon(), daemon(name="worker-1"), daemon(DATANODE)
    cluster._daemons = [other, struck, datanode]
    killed = cluster.strike("nodemanager", "worker-2")
    assert [one.process.pid for one in killed.daemons] == [struck.process.pid]
    assert killed.containers == 2
    assert struck.process.poll() == -9
    assert datanode.process.poll() is other.process.poll() is None
    assert cluster.failure() is None
    other.process.kill()
    other.process.wait()
    assert "the NodeManager was killed by signal 9" in cluster.failure()


def test_what_is_not_there_can_not_be_killed(cluster, daemon):
    cluster._daemons = [daemon(name="worker-1")]
    with pytest.raises(AssayError, match="there is no running nodemanager on worker-2"):
        cluster.strike("nodemanager", "worker-2")


def test_without_namespaces_one_node_takes_the_place_of_several(monkeypatch):
    monkeypatch.setattr(embedded, "lacking_namespaces", lambda: "unshare failed: Operation not permitted")
    asked = EmbeddedSpec(nodes=3, network="gigabit", racks=((1, 2), (3,)))
    got = possible_here(asked)
    assert (got.nodes, got.network, got.racks, got.workers) == (1, NO_NETWORK, (), ())
    assert got.instead_of == "3 nodes with the network gigabit"
    alone = EmbeddedSpec()
    assert possible_here(alone) == alone
    faulty = asked.model_copy(update={"fault": KILL})
    assert possible_here(faulty) == faulty, "what it is about would not be there"


def test_with_namespaces_all_stays_as_asked(monkeypatch):
    monkeypatch.setattr(embedded, "lacking_namespaces", lambda: "")
    asked = EmbeddedSpec(nodes=3, network="gigabit")
    assert possible_here(asked) == asked
