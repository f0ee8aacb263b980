"""Proves what each node did, what passed between every two by purpose and network, and how uneven it was."""

import pytest

from assay.model.record import Amount
from assay.model.registry import SERVICES
from assay.model.service import Service
from assay.report.nodes import nodes_in
from assay.stats.nodes import (
    CONTROL,
    NodeUse,
    imbalances,
    node_uses,
    nodes_of,
    transfers,
)
from tests.builders import a_record
from tests.report.made_nodes import MIB, a_cluster_record, traffic
from tests.toys import plugged_in

READ, WRITE, REPLICATION, SHUFFLE = "HDFS read", "HDFS write", "replication", "shuffle"


def amounts(*own):
    """A record with these amounts and one of each of three nodes."""
    alive = (
        Amount(probe="network", subject="interface eth0", series="sent_bytes", part="collect", value=0, node=node)
        for node in ("n1", "n2", "n3")
    )
    return a_record(amounts=(*alive, *own))


def passed(record):
    return {(one.sender, one.receiver, one.interface): dict(one.bytes) for one in transfers(record)}


def test_bytes_between_two_nodes_are_told_by_purpose():
    record = amounts(
        traffic("n1", "n2", "shuffle_from_server", 20),
        traffic("n1", "n2", "shuffle_to_server", 1),
        traffic("n1", "n2", "replication_to_server", 40),
        traffic("n1", "n2", "hdfs_data_from_server", 5),
        traffic("n1", "n2", "hdfs_data_to_server", 3),
        *(traffic("n1", "n2", series, 0.25) for series in ("hdfs_rpc_to_server", "yarn_rpc_from_server", "web", "other")),
        traffic("n3", "n1", "other", 2),
        traffic("n3", "n2", "other", 0),
    )  # fmt: skip
    found = passed(record)
    told = {SHUFFLE: 21, REPLICATION: 40, READ: 5, WRITE: 3, CONTROL: 1}
    assert found["n1", "n2", ""] == {purpose: mib * MIB for purpose, mib in told.items()}
    assert found["n3", "n1", ""] == {CONTROL: 2 * MIB}
    assert set(found) == {("n1", "n2", ""), ("n3", "n1", "")}, "of what did not pass nothing is told"


def test_a_services_traffic_has_the_name_that_it_gives():
    record = amounts(traffic("n1", "n2", "values_to_server", 3), traffic("n1", "n2", "other", 1))
    assert passed(record) == {("n1", "n2", ""): {CONTROL: 4 * MIB}}
    with plugged_in():
        SERVICES.add("key-value", Service("key-value", traffic={"values_to_server": "values"}))
        assert passed(record) == {("n1", "n2", ""): {"values": 3 * MIB, CONTROL: 1 * MIB}}
        (matrix,) = nodes_in(record).matrices()
    assert "values 3.0 MiB" in matrix


def test_only_what_jobs_and_their_writing_out_sent_to_other_nodes_counts():
    record = amounts(
        traffic("n1", "n2", "shuffle_from_server", 20, part="run"),
        traffic("n1", "n2", "shuffle_from_server", 4, part="write out"),
        traffic("n1", "n2", "shuffle_from_server", 100, part="staging"),
        traffic("n1", "n2", "shuffle_from_server", 100, part="collect"),
        traffic("n1", "n2", "all", 500),
        traffic("n1", "198.51.100.5", "shuffle_from_server", 100),
        traffic("n1", "n2", "shuffle_from_server", 7).model_copy(update={"series": "shuffle_from_server_packets"}),
        traffic("n1", "n2", "shuffle_from_server", 7).model_copy(update={"subject": "n1: nodemanager > clients"}),
    )
    assert passed(record) == {("n1", "n2", ""): {SHUFFLE: 24 * MIB}}


def test_two_networks_are_told_apart():
    record = amounts(
        traffic("n1", "n2", "other", 1, "eth0"),
        traffic("n1", "n2", "shuffle_from_server", 9, "eth1"),
        traffic("n2", "n1", "replication_to_server", 5, "eth1"),
    )
    assert [(one.interface, one.sender, one.total / MIB) for one in transfers(record)] == [
        ("eth0", "n1", 1), ("eth1", "n1", 9), ("eth1", "n2", 5),
    ]  # fmt: skip


def test_pairs_add_up_to_what_nodes_sent_and_received():
    record = a_cluster_record(4, "gigabit+ten-gigabit")
    every = transfers(record)
    for use in node_uses(record):
        assert use.sent_bytes == pytest.approx(sum(one.total for one in every if one.sender == use.node))
        assert use.received_bytes == pytest.approx(sum(one.total for one in every if one.receiver == use.node))
    by_network = {one.interface: set() for one in every}
    for one in every:
        by_network[one.interface] |= one.bytes.keys()
    assert by_network == {"eth0": {CONTROL}, "eth1": {READ, WRITE, REPLICATION, SHUFFLE}}


def test_one_node_is_not_told_apart():
    assert nodes_of(a_record()) == ()
    assert node_uses(a_record()) == transfers(a_record()) == ()


def test_a_nodes_figures_are_of_its_own_processes_and_drives():
    uses = {use.node: use for use in node_uses(a_cluster_record())}
    assert list(uses) == ["master", "worker-1", "worker-2", "worker-3"]
    assert [use.is_worker for use in uses.values()] == [False, True, True, True]
    master, worker = uses["master"], uses["worker-2"]
    assert master.processor_s == 7.0, "without the drives' emulator and Assay itself, which are on it"
    assert master.memory_bytes == 400 * MIB
    assert (master.read_bytes, master.written_bytes) == (None, None)
    assert worker.processor_s == 47.0
    assert worker.memory_bytes == 880 * MIB
    assert (worker.read_bytes, worker.written_bytes) == (600 << 20, 600 << 20)
    assert not worker.disks_estimated
    assert worker.within_bytes == 64 * MIB, "and loopback's interface is no network"


def test_where_nodes_share_a_device_their_processes_tell_what_they_read_and_wrote():
    uses = {use.node: use for use in node_uses(a_cluster_record(emulated=False))}
    worker = uses["worker-2"]
    assert (worker.read_bytes, worker.written_bytes, worker.disks_estimated) == (80 * MIB, 170 * MIB, True)


def test_machines_of_their_own_are_told_by_their_own_processors_and_disks():
    own = [
        Amount(probe="cpu", subject="machine", series=f"{state}_s", part="run", value=value, node="n1")
        for state, value in (("user", 8.0), ("system", 2.0), ("idle", 90.0), ("iowait", 5.0))
    ]
    disk = Amount(probe="disk", subject="hdd", series="read_bytes", part="run", value=7.0, node="n1")
    other = disk.model_copy(update={"node": "n2"})
    first, second, _ = node_uses(amounts(*own, disk, other))
    assert (first.processor_s, second.processor_s) == (10.0, None)
    assert (first.read_bytes, first.disks_estimated) == (7.0, False)


def test_the_most_over_the_mean_of_workers():
    def use(node, *, is_worker=True, **changes):
        return NodeUse(node, is_worker, **changes)

    uses = [
        use("master", is_worker=False, processor_s=99.0, sent_bytes=5.0),
        use("a", processor_s=10.0, read_bytes=1.0, written_bytes=1.0, sent_bytes=0.0, memory_bytes=4.0),
        use("b", processor_s=30.0, read_bytes=2.0, written_bytes=2.0, sent_bytes=0.0),
        use("c", processor_s=20.0, read_bytes=0.0, written_bytes=6.0, sent_bytes=0.0, memory_bytes=4.0),
    ]
    found = {one.resource: (one.ratio, one.node) for one in imbalances(uses)}
    assert found == {"disk": (1.5, "c"), "processor": (1.5, "b")}, "of what was not counted, or not used, nothing"
    assert imbalances(uses[:2]) == ()


def test_the_uneven_worker_of_a_trial_is_named():
    found = {one.resource: one for one in imbalances(node_uses(a_cluster_record()))}
    assert set(found) == {"disk", "network_in", "network_out", "processor", "memory"}
    assert found["processor"].node == found["network_out"].node == "worker-2"
    assert found["processor"].ratio == pytest.approx(47 / ((25 + 47 + 25) / 3))
    assert found["disk"].ratio == found["memory"].ratio == pytest.approx(1.0)
