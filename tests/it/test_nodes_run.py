"""Proves on a real TeraSort over two workers and a master that what passes between nodes is counted as Hadoop counts it."""

import re
import signal
import subprocess
from collections import Counter

import pytest

from assay.engine.tasks import FILE_SYSTEM_COUNTERS, TASK_COUNTERS
from assay.model.doubt import Outcome
from assay.model.network import Pair
from assay.stats.nodes import CONTROL, node_uses, transfers
from assay_extras.energy.account import node_energies
from tests.it.driving import AS_ROOT, a_place

pytestmark = [pytest.mark.it, pytest.mark.alone, pytest.mark.long, AS_ROOT]

EXPERIMENT = """
experiment: nodes
workloads: {name: terasort, options: {size: 100MB}, hadoop: {mapreduce.terasort.output.replication: 2}}
media: {disk: directory}
cluster: {nodes: 2, network: gigabit, memory_mb: 3072, vcores: 4}
replication: 2
settings: small
hadoop: {mapreduce.job.reduces: 2}
"""
MB = 1_000_000
NODES = {"master", "worker-1", "worker-2"}
FRAME_BYTES = 14
"""Of Ethernet, which interfaces count and packets' own lengths do not have."""


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    with a_place(tmp_path_factory.mktemp("nodes")) as place:
        place.assay("run", place.experiment(EXPERIMENT), "--out", "run")
        (found,) = place.records("run")
        assert found.outcome is Outcome.PASS, found.error
        yield found


def between(record, part="run"):
    """Amounts of the network between two nodes in a part of the trial."""
    seen = (one for one in record.amounts if (one.probe, one.part) == ("network", part))
    return [one for one in seen if " > " in one.subject and ":" not in one.subject]


def passed(record, series):
    return sum(one.value for one in between(record) if one.series == series)


def test_pairs_add_up_to_what_interfaces_sent(record):
    """Of nodes that sent more than the connections' own packets, within 2 %."""
    sent = Counter()
    for one in between(record):
        sent[one.node] += one.value if one.series.endswith("_bytes") else FRAME_BYTES * one.value
    told = {
        one.node: one.value
        for one in record.amounts
        if (one.subject, one.series, one.part) == ("interface eth0", "sent_bytes", "run")
    }
    assert set(told) == NODES
    assert sum(told.values()) > 150 * MB
    for node in NODES:
        assert sent[node] == pytest.approx(told[node], rel=0.02)


def test_shuffled_and_replicated_bytes_agree_with_hadoops_counters(record):
    """What maps and reduces on the same node shuffle passes no link; each block is sent to one other node."""
    counters = record.totals.counters
    within = sum(
        one.value for one in record.amounts
        if (one.probe, one.part, one.series) == ("network", "run", "shuffle_from_server_bytes") and ":" in one.subject
    )  # fmt: skip
    shuffled = passed(record, "shuffle_from_server_bytes") + within
    assert shuffled == pytest.approx(counters[TASK_COUNTERS]["REDUCE_SHUFFLE_BYTES"], rel=0.05)
    written = counters[FILE_SYSTEM_COUNTERS]["HDFS_BYTES_WRITTEN"]
    assert written == 100 * MB
    assert passed(record, "replication_to_server_bytes") == pytest.approx(written * (1 + 4 / 512), rel=0.05)


def test_each_node_has_its_own_figures_and_the_machine_is_told_once(record):
    nodes = {}
    for one in record.amounts:
        nodes.setdefault(one.probe, set()).add(one.node)
    assert nodes["cpu"] == {None}
    assert nodes["network"] == nodes["processes"] == NODES
    assert nodes["disk"] == NODES - {"master"}
    assert float(record.facts["network.least_reached_bits_per_s"]) == pytest.approx(1e9, rel=0.1)


def test_of_two_networks_each_carried_its_purposes_and_its_pairs_are_its_interfaces_bytes(place):
    networks = "network: {control: fast-ethernet, data: gigabit}"
    text = EXPERIMENT.replace("network: gigabit", networks).replace("100MB", "40MB")
    place.assay("run", place.experiment(text), "--out", "run")
    (record,) = place.records("run")
    assert record.outcome is Outcome.PASS, record.error
    purposes = {"eth0": Counter(), "eth1": Counter()}
    for one in transfers(record):
        purposes[one.interface].update(one.bytes)
    assert set(purposes["eth0"]) == {CONTROL}
    assert {"HDFS read", "replication", "shuffle"} <= purposes["eth1"].keys()
    # Tasks reach their application master by its node's name there.
    assert purposes["eth1"][CONTROL] < 0.05 * purposes["eth1"].total()
    for interface in purposes:
        sent = Counter()
        for one in record.amounts:
            pair = Pair.of(one.subject)
            if one.part == "run" and pair and pair.interface == interface:
                sent[one.node] += one.value if one.series.endswith("_bytes") else FRAME_BYTES * one.value
        counted = {
            one.node: one.value
            for one in record.amounts
            if (one.subject, one.series, one.part) == (f"interface {interface}", "sent_bytes", "run")
        }
        loaded = {node: count for node, count in counted.items() if count > MB / 10}
        assert loaded
        for node, count in loaded.items():
            assert sent[node] == pytest.approx(count, rel=0.02)
    workers = [use for use in node_uses(record) if use.is_worker]
    assert all(use.read_bytes is not None and use.processor_s and use.memory_bytes for use in workers)
    assert {use.node for use in workers} < set(node_energies(record))
    page = (place.home / "run" / "report.html").read_text()
    assert page.count("bytes from each node to each other, by purpose") == len(purposes)


def test_cluster_down_ends_the_nodes_of_a_killed_assay(place):
    before = namespaces()
    killed = place.start("run", place.experiment(EXPERIMENT.replace("100MB", "1MB")), "--out", "run")
    killed.until_jobs_run(place, "1/1")
    assert len(namespaces() - before) == 3 * (len(NODES) + 1)  # the switch has some too
    killed.process.kill()
    assert killed.exit_code() == -signal.SIGKILL, killed.text
    place.assay("cluster", "down")
    assert place.left_over() == []
    assert namespaces() <= before


def test_a_cluster_of_several_nodes_stays_up_and_runs_jobs_of_its_own_command(place):
    before = namespaces()
    said = place.assay("cluster", "up", "--settings", "small", "--nodes", "2", "--network", "gigabit")
    (held,) = place.status()
    assert "its own `hadoop` command" in said
    hadoop = held["details"]["hadoop"]
    place.command(hadoop, "fs", "-mkdir", "-p", "/user/root")
    listed = place.command(hadoop, "dfsadmin", "-report").stdout
    assert {"worker-1", "worker-2"} <= set(re.findall(r"Hostname: (\S+)", listed))
    place.assay("cluster", "down")
    assert place.left_over() == []
    assert namespaces() <= before


def namespaces():
    """Those that this machine has now: network, mount and host name."""
    listed = subprocess.check_output(["lsns", "-n", "-o", "NS,TYPE"], text=True).splitlines()
    return {line for line in listed if line.split()[1] in {"net", "mnt", "uts"}}
