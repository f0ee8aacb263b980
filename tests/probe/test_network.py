"""Proves how flows become totals by pair of nodes and purpose, and what is told when they can't be counted."""

import shutil
from pathlib import Path

import pytest

from assay.model.layout import Layout
from assay.model.probe import Moment, Scene
from assay.node.local import LocalNode
from assay.probe.network import Interface, Names, NetworkProbe, Traffic, interfaces_to, parse_interfaces
from assay.probe.nftables import Count, CountedFlow, CountingTable, FlowsError
from tests.probe.faking import PlacedNode, amounts_of, measuring

FIXTURES = Path(__file__).parents[1] / "fixtures" / "probe" / "network"
PORTS = {"hdfs data": (9866,), "shuffle": (13562,), "hdfs rpc": (8020,)}
COPIED = frozenset({"hdfs data"})
ONE_NODE = Scene(layout=Layout.below(Path("/nowhere")), ports=PORTS, copied=COPIED, nodes=(LocalNode(),))


class Table(CountingTable):
    """A counting table whose counts a test sets."""

    def __init__(self, ports=()):
        self.flows, self.made, self.failure = {}, False, None

    def make(self):
        if self.failure:
            raise FlowsError(self.failure)
        self.made = True

    def read(self):
        if self.failure:
            raise FlowsError(self.failure)
        return dict(self.flows)

    def remove(self):
        self.made = False


@pytest.fixture
def proc(tmp_path):
    (tmp_path / "net").mkdir()
    for name in ("dev", "fib_trie", "if_inet6"):
        shutil.copy(FIXTURES / name, tmp_path / "net" / name)
    for entry in ("lo/mtu", "eth0/device", "ifb0/mtu", "ifb1/mtu"):
        (tmp_path / "sys" / entry).mkdir(parents=True)
    return tmp_path


@pytest.fixture
def table():
    return Table()


@pytest.fixture
def network(proc, table):
    return a_network(proc, table, "127.0.0.1")


def a_node(proc, name):
    node = PlacedNode({"/proc": proc, "/sys/class/net": proc / "sys"})
    node.name = name
    return node


def a_network(proc, table, name):
    addresses = {"n1": ["192.0.2.2"], "n2": ["192.0.2.9"]}
    return NetworkProbe(a_node(proc, name), lambda ports: table, lambda name: addresses.get(name, ()))


def at(seconds):
    return Moment(time_ms=int(seconds * 1000), clock_s=seconds)


def grow_lo(proc, received, sent):
    file = proc / "net" / "dev"
    lines = file.read_text().replace("    lo: 126145097876", f"    lo: {126145097876 + received}", 1)
    head, _, tail = lines.rpartition("126145097876")
    file.write_text(f"{head}{126145097876 + sent}{tail}")


def told(network, unit="bytes"):
    return {
        (what.subject, what.series): value
        for what, value in network.totals().items()
        if what.series.endswith(unit) and not what.subject.startswith("interface")
    }


def test_all_interfaces_are_parsed_also_one_with_a_colon_in_its_name():
    found = parse_interfaces((FIXTURES / "dev").read_text() + "eth0:9: 9 9 0 0 0 0 0 0 9 9 0 0 0 0 0 0\nbroken: 1\n")
    assert set(found) == {"lo", "eth0", "ifb0", "ifb1", "eth0:9"}
    assert found["eth0"] == Interface(2424635352, 70826, 5155333, 53259)


def write_interfaces(proc, **bytes_of):
    """So many bytes and packets received by each, and twice as many sent."""
    lines = [f"{name}: {n} {n} 0 0 0 0 0 0 {2 * n} {2 * n} 0 0 0 0 0 0\n" for name, n in bytes_of.items()]
    (proc / "net" / "dev").write_text("".join(lines))


def test_a_bond_a_vlan_and_a_bridge_count_nothing_beside_the_hardware_whatever_its_name(proc):
    for entry in ("em1/device", "hsn0/device", "p1p1/device", "dmz/lower_em1", "em1.7/lower_em1", "docker0/bridge"):
        (proc / "sys" / entry).mkdir(parents=True)
    names = ("lo", "eth0", "em1", "hsn0", "p1p1", "dmz", "em1.7", "docker0")
    write_interfaces(proc, **dict.fromkeys(names, 100))
    traffic = Traffic(a_node(proc, "n1"))
    write_interfaces(proc, **dict.fromkeys(names, 107))
    assert dict(traffic.look()) == dict.fromkeys(("lo", "eth0", "em1", "hsn0", "p1p1"), Interface(7, 7, 14, 14))
    assert list(traffic.doubts()) == []


def test_what_a_card_carries_for_a_paravirtual_interface_is_counted_by_that_one(proc):
    for entry in ("eth0/lower_enP1s1", "enP1s1/device"):
        (proc / "sys" / entry).mkdir(parents=True)
    write_interfaces(proc, eth0=1, enP1s1=1)
    assert set(Traffic(a_node(proc, "n1")).sums) == {"eth0"}


def test_in_a_container_its_end_of_a_virtual_pair_is_what_there_is(proc):
    (proc / "sys/eth0/device").rmdir()
    (proc / "sys/eth0.5/lower_eth0").mkdir(parents=True)
    write_interfaces(proc, eth0=1, ifb0=0)
    assert set(Traffic(a_node(proc, "n1")).sums) == {"eth0"}


def test_without_sysfs_names_decide_and_it_is_said_what_was_left_out(proc):
    shutil.rmtree(proc / "sys")
    write_interfaces(proc, lo=1, eno1=1, enx001=1, ib0=1, bond0=1, docker0=0, **{"eno1.42": 1})
    traffic = Traffic(a_node(proc, "n1"))
    assert set(traffic.sums) == {"lo", "eno1", "enx001", "ib0"}
    (doubt,) = traffic.doubts()
    assert doubt.kind == "devices-by-name"
    assert doubt.what == ("of the interfaces eno1, enx001, ib0 are counted by their names, and bond0, eno1.42 are not")


def test_an_interfaces_counters_of_32_bits_run_over_and_one_that_was_made_anew_is_doubted(proc):
    write_interfaces(proc, eth0=(1 << 31) - 3)
    traffic = Traffic(a_node(proc, "n1"))
    (proc / "net" / "dev").write_text("eth0: 2147483645 1 0 0 0 0 0 0 6 1 0 0 0 0 0 0\n")
    assert traffic.look()["eth0"].sent_bytes == 12
    assert [doubt.kind for doubt in traffic.doubts()] == ["interface-counters-reset"]  # its packets fell
    write_interfaces(proc, eth0=5)
    assert traffic.look()["eth0"].received_bytes == 5


def test_what_an_interface_that_came_later_carried_is_counted_from_its_beginning(proc):
    write_interfaces(proc, eth0=5)
    traffic = Traffic(a_node(proc, "n1"))
    (proc / "sys/usb0/device").mkdir(parents=True)
    write_interfaces(proc, eth0=6, usb0=3)
    assert traffic.look()["usb0"].received_bytes == 3


def test_on_one_node_traffic_is_told_by_the_daemon_that_listens(network, table, monkeypatch):
    monkeypatch.setattr("assay.probe.network.listening_groups", lambda *_: {9866: "datanode", 13562: "nodemanager"})
    network.attach(ONE_NODE)
    here = "127.0.0.1"
    table.flows = {
        CountedFlow(here, here, 9866, to_server=True): Count(700, 7),
        CountedFlow(here, here, 9866, to_server=False): Count(900, 9),
        CountedFlow("127.0.0.1", "127.0.1.1", 13562, to_server=True): Count(50, 5),
        CountedFlow("192.0.2.2", here, 13562, to_server=False): Count(6000, 6),
        CountedFlow(here, here, 8020, to_server=True): Count(10, 1),
    }
    assert told(network) == {
        ("127.0.0.1: clients > datanode", "hdfs_data_to_server_bytes"): 700,
        ("127.0.0.1: datanode > clients", "hdfs_data_from_server_bytes"): 900,
        ("127.0.0.1: clients > nodemanager", "shuffle_to_server_bytes"): 50,
        ("127.0.0.1: nodemanager > clients", "shuffle_from_server_bytes"): 6000,
        ("127.0.0.1: clients > port 8020", "hdfs_rpc_to_server_bytes"): 10,
    }
    assert told(network, "packets")["127.0.0.1: datanode > clients", "hdfs_data_from_server_packets"] == 9


def test_between_nodes_what_goes_to_a_datanode_is_told_as_replication_by_its_sender(proc, table, monkeypatch):
    monkeypatch.setattr("assay.probe.network.listening_groups", lambda *_: {9866: "datanode"})
    network = a_network(proc, table, "n1")
    network.attach(ONE_NODE._replace(nodes=(a_node(proc, "n1"), a_node(proc, "n2"))))
    table.flows = {
        CountedFlow("192.0.2.2", "192.0.2.9", 9866, to_server=True): Count(700, 7),
        CountedFlow("192.0.2.9", "192.0.2.2", 9866, to_server=False): Count(900, 9),
        CountedFlow("192.0.2.2", "192.0.2.9", 13562, to_server=False): Count(6000, 6),
        CountedFlow("198.51.100.5", "192.0.2.2", 9866, to_server=True): Count(80, 8),
    }
    assert told(network) == {
        ("n1 > n2", "replication_to_server_bytes"): 700,
        ("n1 > n2", "shuffle_from_server_bytes"): 6000,
        ("198.51.100.5 > n1", "hdfs_data_to_server_bytes"): 80,
    }
    assert {what.series for what in network.totals() if what.basis == "estimated"} == {
        "replication_to_server_bytes", "replication_to_server_packets"
    }  # fmt: skip


# As the kernel writes it on a node of two networks, without a way to any other.
ROUTES = """\
Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t000012C6\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
eth1\t000112C6\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
"""
DEFAULT_ROUTE = "eth0\t00000000\t010012C6\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"


def test_of_two_networks_the_receivers_address_tells_which_carried_it(proc, table):
    (proc / "net" / "route").write_text(ROUTES + DEFAULT_ROUTE)
    addresses = {"n1": ["198.18.0.1", "198.18.1.1"], "n2": ["198.18.0.2", "198.18.1.2"]}
    nodes = [a_node(proc, name) for name in addresses]
    for node in nodes:
        node.interfaces = ["eth0", "eth1"]
    network = NetworkProbe(nodes[0], lambda ports: table, addresses.__getitem__)
    network.attach(ONE_NODE._replace(nodes=tuple(nodes)))
    table.flows = {
        CountedFlow("198.18.0.1", "198.18.0.2", 8020, to_server=True): Count(700, 7),
        CountedFlow("198.18.1.1", "198.18.1.2", 13562, to_server=False): Count(6000, 6),
        CountedFlow("198.18.0.1", "198.18.1.2", 13562, to_server=False): Count(50, 1),
        CountedFlow("198.18.1.1", "203.0.113.7", 13562, to_server=False): Count(80, 8),
    }
    assert told(network) == {
        ("n1 > n2 by eth0", "hdfs_rpc_to_server_bytes"): 700,
        ("n1 > n2 by eth1", "shuffle_from_server_bytes"): 6050,
        ("n1 > 203.0.113.7", "shuffle_from_server_bytes"): 80,
    }


def test_only_a_nodes_own_networks_lead_to_addresses(proc):
    (proc / "net" / "route").write_text(f"{ROUTES}docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n")
    node = a_node(proc, "n1")
    node.interfaces = ["eth0"]
    asked = ["198.18.0.9", "198.18.1.9", "172.17.0.3", "::1"]
    assert interfaces_to(node, asked) == {"198.18.0.9": "eth0"}
    (proc / "net" / "route").unlink()
    assert interfaces_to(node, asked) == {}


def test_what_a_node_without_a_datanode_sends_to_one_is_a_first_copy():
    names = Names(
        {"a": "n1", "b": "n2"}, {9866: "hdfs data", 0: "other"}, {}, frozenset({"n1", "n2"}), "n1", copied=COPIED
    )
    sent = names.quantities(CountedFlow("a", "b", 9866, to_server=True), Count(700, 7))
    assert [(what.subject, what.series) for what, _ in sent] == [
        ("n1 > n2", "hdfs_data_to_server_bytes"), ("n1 > n2", "hdfs_data_to_server_packets")
    ]  # fmt: skip
    rest = names.quantities(CountedFlow("a", "b", 0, to_server=True), Count(30, 3))
    assert [what.series for what, _ in rest] == ["other_bytes", "other_packets"]


def test_flows_of_several_ports_of_one_purpose_add_up():
    names = Names({"a": "n1", "b": "n2"}, {1: "yarn rpc", 2: "yarn rpc"}, {}, frozenset({"n1", "n2"}), "n1")
    (first, _), (second, _) = (
        list(names.quantities(CountedFlow("a", "b", port, to_server=True), Count(1, 1))) for port in (1, 2)
    )
    assert first == second


def test_rates_are_told_at_each_tick_and_those_of_purposes_every_5_s(network, table, proc):
    network.attach(ONE_NODE)
    assert network.sample(at(100)) == {}
    grow_lo(proc, received=500, sent=1000)
    assert network.sample(at(100.5)) == {
        ("lo", "received_bytes_per_s"): 1000, ("lo", "sent_bytes_per_s"): 2000, ("eth0", "received_bytes_per_s"): 0, ("eth0", "sent_bytes_per_s"): 0,
    }  # fmt: skip
    table.flows = {CountedFlow("127.0.0.1", "127.0.0.1", 13562, to_server=False): Count(6000, 6)}
    assert network.sample(at(105))["shuffle", "from_server_bytes_per_s"] == 1200
    assert network.sample(at(105.05)) == {}, "the tick before a mark is told with the next one"
    assert ("shuffle", "from_server_bytes_per_s") not in network.sample(at(106))
    assert network.sample(at(110))["shuffle", "from_server_bytes_per_s"] == 0


class TestWithoutTheTable:
    def test_all_traffic_of_the_node_is_estimated_from_loopback(self, network, table, proc):
        table.failure = "nft failed: Operation not permitted"
        with measuring(network, scene=ONE_NODE) as reading:
            grow_lo(proc, received=500, sent=500)
            reading.mark("run")
        found = {amount.series: amount for amount in amounts_of(reading) if amount.subject == "127.0.0.1 > 127.0.0.1"}
        assert found["all_bytes"].value == 500
        assert found["all_bytes"].basis == "estimated"
        (doubt,) = reading.doubts
        assert doubt.kind == "network-purposes-unknown"
        assert "Operation not permitted" in doubt.what

    def test_unknown_ports_are_a_doubt_too(self, network):
        with measuring(network, scene=ONE_NODE._replace(ports={})) as reading:
            reading.mark("run")
        assert "ports are not known" in reading.doubts[0].what


class TestATableThatCanNotBeRead:
    @staticmethod
    def shuffled(reading):
        return [
            (amount.part, amount.value)
            for amount in amounts_of(reading)
            if amount.series == "shuffle_from_server_bytes"
        ]

    @staticmethod
    def count(table, size):
        table.flows = {CountedFlow("127.0.0.1", "127.0.0.1", 13562, to_server=False): Count(size, size // 1000)}

    def test_once_costs_the_parts_on_both_sides_of_that_mark(self, network, table):
        with measuring(network, scene=ONE_NODE) as reading:
            table.failure = "nft did not end within 5 s"
            reading.mark("staging")
            table.failure = None
            self.count(table, 6000)
            reading.mark("run")
            self.count(table, 6500)
            reading.mark("write out")
            self.count(table, 6600)
            reading.mark("collect")
        assert self.shuffled(reading) == [("write out", 500), ("collect", 100)]
        (doubt,) = reading.doubts
        assert doubt.kind == "network-purposes-lost"
        assert "at 1 ends of intervals: nft did not end within 5 s" in doubt.what
        assert "loopback" not in doubt.why, "nothing stands in"

    def test_for_good_ends_the_totals_by_purpose_and_no_others(self, network, table):
        self.count(table, 6000)
        with measuring(network, scene=ONE_NODE) as reading:
            self.count(table, 6500)
            reading.mark("staging")
            table.failure = "No such file or directory"
            reading.mark("run")
            reading.mark("collect")
        assert self.shuffled(reading) == [("staging", 500)]
        assert [doubt.kind for doubt in reading.doubts] == ["network-purposes-lost"]
        assert {amount.part for amount in amounts_of(reading)} == {"staging", "run", "collect"}
        assert not table.made

    def test_while_it_fails_it_is_asked_at_marks_only(self, network, table):
        network.attach(ONE_NODE)
        network.sample(at(100))
        asked = []
        table.read = lambda: asked.append("read") or fail_to_read()
        assert ("lo", "sent_bytes_per_s") in network.sample(at(105))
        network.sample(at(110))
        assert len(asked) == 1
        self.count(table, 6000)
        del table.read
        network.totals()
        assert ("shuffle", "from_server_bytes_per_s") not in network.sample(at(115)), "since when can't be told"
        self.count(table, 7000)
        assert network.sample(at(120))["shuffle", "from_server_bytes_per_s"] == 200


def fail_to_read():
    raise FlowsError("nft did not end within 5 s")


def test_the_table_goes_at_the_end(network, table):
    with measuring(network, scene=ONE_NODE):
        assert table.made
    assert not table.made


def test_a_kernel_without_the_counters_is_one_doubt(tmp_path):
    with measuring(a_network(tmp_path, Table(), "127.0.0.1"), scene=ONE_NODE) as reading:
        reading.mark("run")
    assert amounts_of(reading) == ()
    assert [doubt.kind for doubt in reading.doubts] == ["probe-missing"]
