"""Proves that a node that is read from afar has the figures that its own probes would give, by this machine's clock."""

from pathlib import Path

import pytest

from assay.model.probe import (
    ClockOffset,
    FilesRead,
    ForeignCluster,
    ForeignHost,
    NodeSourceKind,
    Quantity,
    Reading,
    Scene,
    SeriesTable,
)
from assay.model.quantity import Kind
from assay.model.record import REMOTE_NODES
from assay.model.registry import NODE_SOURCES
from assay.node.readings import NODES_UNREAD
from assay.probe.remote_nodes import RemoteNodes, _probes_of_values
from assay.probe.sampler import measured, probes_of
from tests.probe.faking import a_context, a_scene
from tests.toys import plugged_in

LISTING = tuple(map(Path, ("/sys/block/sda/device", "/sys/block/sr0/device", "/sys/class/net/eth0/device")))
MEMINFO = (
    "MemAvailable: 9 kB\nBuffers: 0 kB\nCached: 4 kB\nShmem: 1 kB\nAnonPages: 1 kB\nDirty: 2 kB\nWriteback: 0 kB\n"
)


def files(second, *, pressure=True):
    """A node that reads 1 MB and sends 3 MB in each second, one core of four busy."""
    found = {
        "/proc/stat": f"cpu  {100 * second} 0 0 {300 * second} 0 0 0 0 0 0\n",
        "/proc/diskstats": f"   8       0 sda {5 * second + 5} 0 {1_000_000 // 512 * second} {4 * second} 0 0 0 0 0 {10 * second} 7\n",
        "/proc/net/dev": f"  eth0: {1000 * second} 1 0 0 0 0 0 0 {3_000_000 * second} 2 0 0 0 0 0 0\n veth1: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n",
        "/proc/meminfo": MEMINFO,
    }
    if pressure:
        found |= {
            f"/proc/pressure/{kind}": "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n"
            "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
            for kind in ("cpu", "memory", "io")
        }
    return {Path(path): text for path, text in found.items()}


class Recorded:
    """A source whose readings a test made: one of each node a second, the parts' ends where a test says."""

    def __init__(self, nodes, ends, **how):
        self.nodes, self.ends, self.how = nodes, ends, how
        self.calls = []

    def begin(self, receive):
        self.calls.append("begin")
        self.receive = receive

    def mark(self, part):
        self.calls.append(part)
        return 0

    def end(self):
        for second in range(10, 16):
            for node in self.nodes:
                ended = [part for part, when in self.ends.items() if when == second]
                read = FilesRead(ClockOffset(0.25, 0.002), files(second, **self.how), LISTING, ended)
                self.receive(Reading(node, float(second), files=read))

    def doubts(self):
        return (NODES_UNREAD.doubt("worker-9: not read over SSH: it is away"),)

    def close(self):
        self.calls.append("close")


def seen_by(source, foreign=None, name=REMOTE_NODES, **how):
    scene = Scene(layout=a_scene().layout, sources={name: source}, foreign=foreign)
    with measured(lambda _: [RemoteNodes(name, **how)], scene) as seen:
        seen.mark("staging")
        seen.mark("run")
    return seen


@pytest.fixture
def source():
    return Recorded(["worker-1", "worker-2"], {None: 10, "staging": 12, "run": 15})


def test_parts_have_what_each_nodes_counters_gained(source):
    seen = seen_by(source)
    found = {
        (one.node, one.probe, one.subject, one.series, one.part): one.value
        for one in seen.amounts
    }  # fmt: skip
    for node in ("worker-1", "worker-2"):
        assert found[node, "cpu", "machine", "user_s", "staging"] == 2.0
        assert found[node, "cpu", "machine", "user_s", "run"] == 3.0
        assert found[node, "disk", "sda", "read_bytes", "run"] == 3 * (1_000_000 // 512) * 512
        assert found[node, "network", "interface eth0", "sent_bytes", "run"] == 9_000_000
        assert found[node, "nodes", "clock", "offset_s", "collect"] == 0.25
        assert found[node, "nodes", "clock", "uncertainty_s", "collect"] == 0.002
    assert not [key for key in found if "veth1" in key[2] or "sr0" in key[2]]
    assert source.calls == ["begin", None, "staging", "run", "close"]


def test_samples_are_of_their_node_at_the_time_when_it_was_read(source):
    samples = [one for one in seen_by(source).samples if (one.probe, one.series) == ("cpu", "user_percent")]
    assert [(one.node, one.time_ms, one.value) for one in samples if one.node == "worker-2"] == [
        ("worker-2", second * 1000, 25.0) for second in range(11, 16)
    ]
    series = {(one.probe, one.subject, one.series) for one in seen_by(source).samples}
    assert {
        ("disk", "sda", "read_mb_s"),
        ("network", "eth0", "sent_bytes_per_s"),
        ("nodes", "", "clock_offset_ms"),
    } <= series
    assert {("memory", "", "page_cache_mib"), ("pressure", "", "io_some_percent")} <= series


def test_a_node_that_two_sources_call_differently_is_one():
    seen = seen_by(Recorded(["worker-1", "WORKER-1.example.com"], {None: 10, "run": 15}))
    assert {one.node for one in seen.samples} == {"worker-1"}
    received = [one.value for one in seen.amounts if (one.probe, one.series) == ("cpu", "user_s")]
    assert sum(received) == 5.0


def test_a_node_is_called_as_the_cluster_calls_it():
    foreign = ForeignCluster((ForeignHost("Worker-1.example.com"), ForeignHost("w2", "10.0.0.2")), None)
    seen = seen_by(Recorded(["worker-1", "10.0.0.2", "edge"], {None: 10, "run": 15}), foreign)
    assert {one.node for one in seen.samples} == {"Worker-1.example.com", "w2", "edge"}
    assert {one.node for one in seen.amounts if one.probe == "disk"} == {"Worker-1.example.com", "w2", "edge"}


def test_what_several_nodes_lack_is_said_once(source):
    source.how = {"pressure": False}
    doubts = seen_by(source).doubts
    assert [doubt.kind for doubt in doubts] == ["nodes-unread", "probe-missing"]
    assert doubts[1].what.startswith("worker-1, worker-2: the probe pressure measured nothing")


def test_a_source_that_fails_costs_its_own_figures_only(source):
    def fail(_receive):
        raise OSError("no connection")

    source.begin = fail
    source.end = list
    seen = seen_by(source)
    assert next(doubt.kind for doubt in seen.doubts) == "probe-missing"
    assert source.calls[-1] == "close"


def test_an_existing_cluster_has_no_probe_of_this_machine_and_ours_none_remote_nodes():
    foreign = {probe.name for probe in probes_of("default", a_context(), foreign=True)}
    own = {probe.name for probe in probes_of("default", a_context())}
    assert "nodes" in foreign
    assert not foreign & own
    assert not probes_of("none", a_context(), foreign=True)
    assert {"daemons", "prometheus"} < foreign


class Counting(Recorded):
    """A source of values: a counter that grows by 5 a second, and a level; it tells itself when parts end."""

    def begin(self, receive):
        self.receive, self.ends_ms = receive, iter([10_000, 12_000, 15_000])

    def mark(self, _part):
        return next(self.ends_ms)

    def end(self):
        for second in range(10, 16):
            values = {
                Quantity("disk", "read_bytes"): 5.0 * second,
                Quantity("memory", "used_bytes", level=True): second,
            }
            self.receive(Reading("w1.example.com", float(second), values))

    def doubts(self):
        return ()


def test_a_source_of_values_has_its_own_figures_of_each_node_and_part():
    table = SeriesTable({"read_bytes": Kind.BYTES}, ["used_bytes"])
    with plugged_in():
        NODE_SOURCES.add("counting", NodeSourceKind(lambda *_: None, series=table, sure_parts=["run"]))
        foreign = ForeignCluster((ForeignHost("W1"),), None)
        seen = seen_by(Counting([], {}), foreign, "counting", series=table, sure=["run"])
        kind = next(kind for name, kind, _ in _probes_of_values() if name == "counting")
        assert {one.series for one in (*seen.samples, *seen.amounts)} == set(kind.series)
    amounts = {(one.node, one.series, one.part): (one.value, one.basis) for one in seen.amounts if one.node}
    assert amounts == {
        ("W1", "read_bytes", "staging"): (10.0, "estimated"), ("W1", "read_bytes", "run"): (15.0, "measured"),
        ("W1", "used_peak_bytes", "staging"): (12, "estimated"), ("W1", "used_peak_bytes", "run"): (15, "estimated"),
    }  # fmt: skip
    assert seen.doubts == ()
