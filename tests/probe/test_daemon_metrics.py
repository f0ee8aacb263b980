"""Proves that an existing cluster's daemons are read for all machines, and that one that is away costs its figures only.

Answers have the form of Hadoop 3.4's.
"""

import json
import math
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from assay.host.http import BoundedWeb, Bounds
from assay.model.existing import Site
from assay.model.installed import stack_of
from assay.model.layout import Layout
from assay.model.probe import CannotMeasureError, ForeignCluster, ForeignHost, Scene
from assay.model.registry import PROBES
from assay.platform.existing import discover
from assay.probe.daemon_metrics import DaemonMetrics
from tests.probe.faking import a_context
from tests.serving import serving

pytestmark = pytest.mark.slow  # servers that are asked each tenth of a second

GIB = 1 << 30
DAEMONS = stack_of().existing


class Machine:
    """A worker's counters, and its daemons' answers; the first one has the masters too."""

    def __init__(self, number):
        self.name = f"worker-{number}"
        self.read = self.written = self.sent = 0
        self.cores, self.memory_mib, self.state = 0.5, 2048, "RUNNING"

    def datanode(self, query):
        if "DataNodeActivity" in query["qry"]:
            name = f"Hadoop:service=DataNode,name=DataNodeActivity-{self.name}-9866"
            counted = {"BytesRead": self.read, "BytesWritten": self.written, "RemoteBytesRead": self.read // 2}
            return {"beans": [{"name": name, "tag.Hostname": self.name, **counted}]}
        return system(query)

    def nodemanager(self, query):
        if "ShuffleMetrics" in query["qry"]:
            return {"beans": [{"name": query["qry"], "ShuffleOutputBytes": self.sent, "ShuffleConnections": 3}]}
        return system(query)

    def in_yarn(self):
        return {
            "id": f"{self.name}:45454", "nodeHostName": self.name, "state": self.state, "numContainers": 2,
            "nodeHTTPAddress": f"127.0.0.1:{self.nodemanager_port}", "usedMemoryMB": 1024,
            "resourceUtilization": {
                "nodePhysicalMemoryMB": self.memory_mib, "nodeVirtualMemoryMB": 9000, "nodeCPUUsage": self.cores,
                "aggregatedContainersPhysicalMemoryMB": 900, "containersCPUUsage": 0.1,
            },
        }  # fmt: skip

    def in_hdfs(self):
        return {"infoAddr": f"127.0.0.1:{self.datanode_port}", "infoSecureAddr": "127.0.0.1:0", "lastContact": 1}


def system(query):
    assert query["qry"] == "java.lang:type=OperatingSystem"
    return {"beans": [{"name": query["qry"], "ProcessCpuTime": int(time.monotonic() * 1e9)}]}


class Cluster:
    """Machines and masters, each daemon at a port of its own."""

    def __init__(self, count, scope, timeout_s):
        self.machines = [Machine(number + 1) for number in range(count)]
        for one in self.machines:
            one.datanode_server = scope.enter_context(serving({"/jmx": one.datanode}))
            one.nodemanager_server = scope.enter_context(serving({"/jmx": one.nodemanager}))
            one.datanode_port, one.nodemanager_port = (
                server.server_port for server in (one.datanode_server, one.nodemanager_server)
            )

        def master(query):
            if "NameNodeInfo" in query["qry"]:
                live = {f"{one.name}:9866": one.in_hdfs() for one in self.machines}
                return {"beans": [{"name": query["qry"], "LiveNodes": json.dumps(live)}]}
            if "RpcActivity" in query["qry"]:
                return {"beans": [{"ReceivedBytes": 100, "SentBytes": 50}, {"ReceivedBytes": 1, "SentBytes": 2}]}
            return system(query)

        nodes = lambda _: {"nodes": {"node": [one.in_yarn() for one in self.machines]}}  # noqa: E731
        self.master = scope.enter_context(serving({"/jmx": master, "/ws/v1/cluster/nodes": nodes}))
        self.addresses = {"namenode": self.master.url, "resourcemanager": self.master.url}
        self.web = BoundedWeb(bounds=Bounds(timeout_s=timeout_s, per_second=500))

    def foreign(self):
        hosts, overlooked = discover(self.web.ask, self.addresses, DAEMONS, Site({}, Path("conf")))
        return ForeignCluster(hosts, self.web.ask, overlooked, DAEMONS)


@contextmanager
def a_cluster(count=2, timeout_s=10):
    with ExitStack() as scope:
        yield Cluster(count, scope, timeout_s)


def measured(cluster, act, kept_s=0.0):
    """What was read in a trial in whose run `act` happens, and the doubts."""
    foreign = cluster.foreign()
    source = DaemonMetrics(foreign, every_s=0.05, kept_s=kept_s)
    probe = PROBES["daemons"].make(a_context())
    probe.attach(Scene(Layout(neutral="/"), foreign=foreign, sources={"daemons": source}))
    probe.mark(None)
    time.sleep(0.25)
    probe.mark("staging")
    act()
    time.sleep(0.25)
    probe.mark("run")
    found = probe.evaluate()
    doubts = probe.doubts()
    probe.close()
    return found, doubts


def amounts(found, part="run"):
    return {(one.node, one.subject, one.series): one for one in found.amounts if one.part == part}


def test_bytes_processors_and_memory_of_each_machine():
    with a_cluster() as cluster:
        first, second = cluster.machines

        def act():
            first.read, second.written, second.sent, first.cores = 7 * GIB, 3 * GIB, 5, 2.0

        found, doubts = measured(cluster, act)
    assert doubts == ()
    of = amounts(found)
    assert of["worker-1", "datanode", "hdfs_read_bytes"].value == 7 * GIB
    assert of["worker-1", "datanode", "remote_read_bytes"].value == 7 * GIB // 2
    assert of["worker-1", "datanode", "hdfs_written_bytes"].value == 0
    assert of["worker-2", "datanode", "hdfs_written_bytes"].value == 3 * GIB
    assert of["worker-2", "nodemanager", "shuffle_sent_bytes"].value == 5
    assert ("worker-1", "datanode", "remote_written_bytes") not in of  # the bean does not have it
    assert of["worker-1", "machine", "memory_peak_bytes"].value == 2 * GIB
    busy = of["worker-1", "machine", "busy_s"]
    assert (busy.basis, 0.25 < busy.value < 1) == ("estimated", True)
    assert of["worker-2", "machine", "busy_s"].value < busy.value
    assert 0.2 < of["worker-1", "datanode", "cpu_s"].value < 2
    rates = [
        one
        for one in found.samples
        if (one.subject, one.series, one.node) == ("datanode", "hdfs_read_bytes_per_s", "worker-1")
    ]
    assert max(one.value for one in rates) > 7 * GIB
    assert {one.node for one in found.samples} == {"worker-1", "worker-2"}


def test_two_workers_on_one_host_have_a_line_each_and_its_use_counts_once():
    with a_cluster() as cluster:
        first, second = cluster.machines
        first.name, second.name = "Host-1", "host-1.example.com"
        second.memory_mib = 2047

        def act():
            first.read, second.read = 7, 5

        found, doubts = measured(cluster, act)
    assert doubts == ()
    of = amounts(found)
    read = {key[1]: one.value for key, one in of.items() if key[2] == "hdfs_read_bytes"}
    assert read == {f"datanode {first.datanode_port}": 7, f"datanode {second.datanode_port}": 5}
    assert of["Host-1", "machine", "memory_peak_bytes"].value == 2 * GIB
    assert of["Host-1", "machine", "containers_peak_count"].value == 4
    assert 0.05 < of["Host-1", "machine", "busy_s"].value < 0.5
    assert {one.node for one in found.samples} == {"Host-1"}


def test_a_daemon_that_goes_away_is_a_doubt_and_the_others_have_figures():
    with a_cluster() as cluster:
        first, second = cluster.machines

        def act():
            first.datanode_server.shutdown()
            first.datanode_server.server_close()
            second.read = 9

        found, doubts = measured(cluster, act)
    (doubt,) = doubts
    assert (doubt.kind, doubt.subject) == ("daemon-silent", "worker-1")
    assert doubt.what.startswith("the DataNode of worker-1 gave no answer ")
    assert "refused" in doubt.what
    of = amounts(found)
    assert ("worker-1", "datanode", "hdfs_read_bytes") not in of
    assert of["worker-2", "datanode", "hdfs_read_bytes"].value == 9
    assert ("worker-1", "nodemanager", "shuffle_sent_bytes") in of


@pytest.mark.parametrize("odd", ["NaN", math.nan, math.inf])
def test_a_figure_that_is_no_number_is_missing_and_told_and_the_others_are_there(odd, monkeypatch):
    """Hadoop's servlet writes NaN as a text; a sum of beans of which one has none is none."""

    def datanode(machine, query):
        beans = [{"BytesRead": 7, "BytesWritten": machine.written}, {"BytesRead": odd}]
        return {"beans": beans} if "DataNodeActivity" in query["qry"] else system(query)

    monkeypatch.setattr(Machine, "datanode", datanode)
    with a_cluster(1) as cluster:
        (first,) = cluster.machines

        def act():
            first.written = 3 * GIB

        found, doubts = measured(cluster, act)
    of = amounts(found)
    assert ("worker-1", "datanode", "hdfs_read_bytes") not in of
    assert of["worker-1", "datanode", "hdfs_written_bytes"].value == 3 * GIB
    assert [one.what for one in doubts] == [
        "readings that are no numbers were left out: datanode hdfs_read_bytes of worker-1"
    ]


@pytest.mark.slow
def test_a_slow_daemon_holds_nobody_up_for_long():
    with a_cluster(timeout_s=1) as cluster:
        slow = cluster.machines[0].nodemanager_server
        slow.answers = {"/jmx": lambda _: time.sleep(30) or {}}
        _, doubts = measured(cluster, lambda: None)
    assert {doubt.kind for doubt in doubts} == {"daemon-silent"}
    whats = [doubt.what for doubt in doubts if "the NodeManager of worker-1" in doubt.what]
    assert "no answer within 1 s" in whats[0]
    # Given up after three times, but for the ends of parts.
    assert len(slow.asked) <= 3 + 3


def test_garbled_answers_are_silence_with_a_reason():
    with a_cluster(1) as cluster:
        cluster.machines[0].nodemanager_server.answers = {"/jmx": {"no": "beans"}}
        cluster.machines[0].datanode_server.answers = {"/jmx": [1]}
        _, doubts = measured(cluster, lambda: None)
    assert [doubt.kind for doubt in doubts] == 2 * ["daemon-silent"]
    assert all("is incomplete or malformed" in doubt.what for doubt in doubts)


def test_a_machine_that_yarn_loses_and_a_daemon_that_starts_anew_are_doubts():
    with a_cluster() as cluster:
        first, second = cluster.machines
        first.read = 1000

        def act():
            first.read, second.state = 10, "LOST"

        found, doubts = measured(cluster, act)
    assert {doubt.kind for doubt in doubts} == {"machines-changed", "counters-restarted"}
    assert any("had worker-2 as LOST for a time" in doubt.what for doubt in doubts)
    assert amounts(found)["worker-1", "datanode", "hdfs_read_bytes"].value == 10
    assert amounts(found)["worker-1", "datanode", "hdfs_read_bytes"].basis == "estimated"


def test_many_silent_daemons_are_one_doubt_beside_the_first():
    with a_cluster(6) as cluster:
        for one in cluster.machines:
            one.datanode_server.answers = {"/jmx": (500, {})}
        _, doubts = measured(cluster, lambda: None)
    assert len(doubts) == 4
    assert doubts[3].what == "3 more daemons gave no answer, on worker-4, worker-5, worker-6"


def test_daemons_that_refuse_a_login_are_one_doubt():
    with a_cluster(3) as cluster:

        def act():
            for one in cluster.machines[:2]:
                one.datanode_server.answers = {"/jmx": (401, {})}

        _, doubts = measured(cluster, act)
    (doubt,) = doubts
    assert doubt.kind == "login-lost"
    assert doubt.what.startswith("2 daemons on worker-1, worker-2 were not read ")
    assert "asks for a login" in doubt.what


def test_masters_that_do_not_list_machines_are_told():
    with a_cluster() as cluster:
        cluster.master.answers = {"/jmx": (403, {})}
        source = DaemonMetrics(cluster.foreign())
        source.begin(lambda _: None)
        assert {doubt.kind for doubt in source.doubts()} == {"machines-overlooked"}
        source.close()
        nothing = ForeignCluster((ForeignHost("x"),), cluster.web.ask, ("no list",))
        with pytest.raises(CannotMeasureError, match="no daemon of the cluster is known: no list"):
            DaemonMetrics(nothing).begin(lambda _: None)


def test_counters_that_a_daemon_keeps_for_its_readers_are_waited_for():
    """As Hadoop's metrics system does: whoever asks too early hears again what another was told."""
    kept_s, told = 0.3, {}

    with a_cluster(1) as cluster:
        (machine,) = cluster.machines
        now = machine.datanode

        def keeping(query):
            at, _ = told.get(query["qry"], (-1.0, None))
            if time.monotonic() - at >= kept_s:
                told[query["qry"]] = time.monotonic(), now(query)
            return told[query["qry"]][1]

        machine.datanode_server.answers = {"/jmx": keeping}

        def act():
            machine.written = 5 * GIB

        found, _ = measured(cluster, act, kept_s + 0.1)
    assert amounts(found)["worker-1", "datanode", "hdfs_written_bytes"].value == 5 * GIB
    assert amounts(found)["worker-1", "datanode", "hdfs_written_bytes"].basis == "measured"
    assert amounts(found, "staging")["worker-1", "datanode", "hdfs_written_bytes"].value == 0


def test_nothing_goes_on_after_its_end():
    with a_cluster() as cluster:
        measured(cluster, lambda: None)
    assert not [one.name for one in threading.enumerate() if one.name.startswith("probe-daemons")]
