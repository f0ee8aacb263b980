"""Proves that nodes on this machine are hosts of their own, with links as fast as was asked for and nothing outside."""

import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from threading import Thread

import pytest

from assay.host.lease import Lease, release_stale
from assay.host.processes import start_time
from assay.model.layout import Layout
from assay.model.network import LINKS
from assay.model.probe import Scene
from assay.network.links import doubts_of, make_lans, measure, unplug
from assay.node.local import LocalNode
from assay.probe.network import NetworkProbe, Traffic, own_addresses, parse_interfaces
from assay.probe.nftables import CountingTable
from tests.it.driving import AS_ROOT, wait_for

pytestmark = [pytest.mark.it, pytest.mark.alone, AS_ROOT]
NAMES = ["master", "worker-1", "worker-2"]


@pytest.fixture
def lease(tmp_path):
    with Lease(tmp_path / "state", "cluster") as lease:
        yield lease


@pytest.fixture
def lan(lease, tmp_path):
    (lan,) = make_lans(NAMES, [LINKS["fast-ethernet"]], tmp_path, lease, os.environ)
    return lan


def said(node, *command):
    return subprocess.run(node.command(command), capture_output=True, text=True, check=True).stdout.split()


def machine():
    """All that a network of this machine's own would show."""
    links = [line.split(":")[1] for line in subprocess.check_output(["ip", "-o", "link"], text=True).splitlines()]
    mounts = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return links, mounts, Path("/etc/hosts").read_text(), socket.gethostname(), Path("/proc/net/route").read_text()


def test_each_node_has_a_name_an_address_and_interfaces_and_this_machine_has_none_of_them(lease, tmp_path):
    before = machine()
    (lan,) = make_lans(NAMES, [None], tmp_path, lease, os.environ)
    assert machine() == before
    for node in lan.nodes:
        assert said(node, "hostname") == [node.name]
        assert [said(node, "getent", "hosts", name)[0] for name in NAMES] == [lan.addresses[name] for name in NAMES]
        assert own_addresses(node) == {"127.0.0.1", "::1", lan.addresses[node.name]}
        assert set(Traffic(node).sums) == {"lo", "eth0"}
        file = node.open(Path("/proc/net/dev"))
        assert "eth0" in file.read()
        file.close()


def test_what_is_started_is_inside_keeps_its_id_and_works_beside_its_log(lan, lease, tmp_path):
    log = tmp_path / "says.log"
    process = lan.nodes[1].start(["sh", "-c", "echo $$; pwd; hostname"], lease.environment(os.environ), log)
    assert process.wait(10) == 0
    assert log.read_text().split() == [str(process.pid), str(tmp_path), "worker-1"]


def test_a_server_of_one_node_answers_others_by_name_and_nobody_outside(lan):
    master, worker, _ = lan.nodes
    (port,) = master.free_ports(1)
    with master.inside(socket.socket) as server:
        server.bind(("", port))
        server.listen()
        with worker.connect(("master", port), 5) as client:
            accepted, (address, _) = server.accept()
            accepted.close()
            assert address == lan.addresses["worker-1"]
            assert client.recv(1) == b""
        with pytest.raises(ConnectionRefusedError):
            LocalNode().connect(("127.0.0.1", port), 0.5)
    assert master.free_ports(1) != [port]


def test_links_are_shaped_at_both_ends(lan):
    """Two senders don't exceed one receiver, and one sender two receivers don't."""
    reached = measure(lan)
    assert list(reached) == [("master", "worker-1"), ("worker-1", "worker-2"), ("worker-2", "master")]
    assert all(0.9e8 < bits < 1.1e8 for bits in reached.values())
    before = received(lan.nodes[0])
    began = time.monotonic()
    senders = [
        subprocess.Popen(node.command(["python3", "-c", SEND, lan.addresses["master"]])) for node in lan.nodes[1:]
    ]
    for sender in senders:
        sender.wait()
    gone_s = time.monotonic() - began
    assert 0.5e8 < 8 * (received(lan.nodes[0]) - before) / gone_s < 1.1e8


SEND = """\
import socket, sys, time
link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
end = time.monotonic() + 1.2
while time.monotonic() < end:
    link.sendto(bytes(1400), (sys.argv[1], 9))
"""


def received(node):
    return parse_interfaces(node.read(Path("/proc/net/dev")))["eth0"].received_bytes


def test_one_node_may_have_a_slower_link_than_the_others(lease, tmp_path):
    slow = LINKS["fast-ethernet"].model_copy(update={"rate_bits_per_s": 2 * 10**7})
    own = {"worker-2": [slow], "worker-1": [LINKS["fast-ethernet"]]}
    (lan,) = make_lans(NAMES, [LINKS["fast-ethernet"]], tmp_path, lease, os.environ, own)
    reached = measure(lan)
    assert 0.9e8 < reached["master", "worker-1"] < 1.1e8
    # A short transfer over so slow a link may be held up once by a lost packet.
    assert 0.7e7 < reached["worker-1", "worker-2"] < 2.2e7
    assert 0.7e7 < reached["worker-2", "master"] < 2.2e7
    assert not doubts_of(lan, {("worker-1", "worker-2"): 1.95e7, ("master", "worker-1"): 0.99e8})
    (doubt,) = doubts_of(lan, {("worker-1", "worker-2"): 1.5e7})
    assert "of 20 Mbit/s" in doubt.what


def test_a_node_without_its_links_answers_nobody_and_its_processes_are_known(lan, lease, tmp_path):
    master, worker, other = lan.nodes
    inside = worker.start(["sleep", "30"], lease.environment(os.environ), tmp_path / "a.log")
    beside = other.start(["sleep", "30"], lease.environment(os.environ), tmp_path / "b.log")
    wait_for(lambda: worker.runs(inside.pid), 5)  # its process enters the node's namespaces first
    assert [worker.runs(pid) for pid in (inside.pid, beside.pid, worker.holder, 1)] == [True, False, False, False]
    with worker.inside(socket.socket) as server:
        server.bind(("", 9999))
        server.listen()
        master.connect(("worker-1", 9999), 2).close()
        unplug(worker)
        with pytest.raises(OSError, match="(?i)timed out|no route"):
            master.connect(("worker-1", 9999), 4)


def test_a_link_that_this_machine_does_not_carry_is_doubted(lan):
    slow = {("master", "worker-1"): 0.94e8, ("worker-1", "worker-2"): 0.99e8}
    (doubt,) = doubts_of(lan, slow)
    assert doubt.kind == "link-too-slow"
    assert "master reached 94 Mbit/s to worker-1 of 100 Mbit/s" in doubt.what
    assert doubts_of(lan, dict.fromkeys(slow, 99000000.0)) == ()
    assert doubts_of(lan._replace(links=dict.fromkeys(NAMES)), slow) == ()


def test_without_netem_a_latency_is_doubted(lease, tmp_path):
    link = LINKS["gigabit"].model_copy(update={"latency_us": 100})
    (lan,) = make_lans(NAMES, [link], tmp_path, lease, os.environ)
    queues = said(lan.nodes[0], "tc", "qdisc", "show", "dev", "eth0")
    assert "tbf" in queues
    assert ("netem" in queues) == (not lan.doubts)


def test_a_second_network_has_names_addresses_and_a_rate_of_its_own(lease, tmp_path):
    links = [LINKS["fast-ethernet"], LINKS["fast-ethernet"].model_copy(update={"rate_bits_per_s": 2 * 10**8})]
    control, data = make_lans(NAMES, links, tmp_path, lease, os.environ)
    assert control.nodes == data.nodes
    master, worker, _ = data.nodes
    assert own_addresses(worker) >= {data.addresses["worker-1"], data.addresses["worker-1-data"]}
    before = {name: each.sent_bytes for name, each in parse_interfaces(master.read(Path("/proc/net/dev"))).items()}
    reached = measure(data)
    assert next(iter(reached)) == ("master-data", "worker-1-data")
    assert all(bits < 2.2e8 for bits in reached.values())
    assert max(reached.values()) > 1.2e8  # more than the first network carries, on a busy machine too
    sent = {name: each.sent_bytes for name, each in parse_interfaces(master.read(Path("/proc/net/dev"))).items()}
    assert sent["eth0"] - before["eth0"] < 10_000
    assert sent["eth1"] - before["eth1"] > 5_000_000


def test_what_passes_between_two_nodes_is_counted_by_purpose_and_adds_up_to_the_interfaces(lan):
    """Of the known port under its purpose, everything else as `other`; what a busy machine sends twice passes twice."""
    master, worker, _ = lan.nodes
    ports = worker.free_ports(2)
    network = counting(lan, {"shuffle": (ports[0],)})
    sent = sent_bytes(master)
    for port, count in zip(ports, (3_000_000, 1_000_000), strict=True):
        send(master, worker, "worker-1", port, count)
    totals = {(what.subject, what.series): value for what, value in network.totals().items()}
    network.close()
    shuffled, other = (totals["master > worker-1", series] for series in ("shuffle_to_server_bytes", "other_bytes"))
    assert 3_000_000 <= shuffled < 6_000_000
    assert 1_000_000 <= other < 2_000_000
    assert shuffled + other == pytest.approx(sent_bytes(master) - sent, rel=0.02)


def test_what_passes_is_counted_by_the_network_that_carried_it(lease, tmp_path):
    control, data = make_lans(NAMES, [LINKS["gigabit"], LINKS["gigabit"]], tmp_path, lease, os.environ)
    master, worker, _ = control.nodes
    (port,) = worker.free_ports(1)
    network = counting(control, {"shuffle": (port,)})
    before = {name: sent_bytes(master, name) for name in ("eth0", "eth1")}
    send(master, worker, "worker-1", port, 1_000_000)
    send(master, worker, "worker-1-data", port, 3_000_000)
    totals = {what.subject: value for what, value in network.totals().items() if what.series.endswith("server_bytes")}
    network.close()
    for name, count in (("eth0", 1_000_000), ("eth1", 3_000_000)):
        passed = totals[f"master > worker-1 by {name}"]
        assert passed == pytest.approx(count, rel=0.05)
        assert passed == pytest.approx(sent_bytes(master, name) - before[name], rel=0.02)
    assert data.nodes == control.nodes


def counting(lan, ports):
    """The probe on the first node of a network, which has begun to count."""
    node = lan.nodes[0]
    network = NetworkProbe(
        node, lambda known: CountingTable(known, lambda script, words: nft(node, script, words)), lambda _: ()
    )
    network.attach(Scene(layout=Layout.below(Path("/nowhere")), ports=ports, nodes=lan.nodes))
    return network


def send(sender, receiver, host, port, count):
    """So many bytes to a server of another node, by one of its names."""
    with receiver.inside(socket.socket) as server:
        server.bind(("", port))
        server.listen()
        with sender.connect((host, port)) as client:
            taking = Thread(target=taken, args=(server,))
            taking.start()
            client.sendall(bytes(count))
        taking.join()


def sent_bytes(node, interface="eth0"):
    return parse_interfaces(node.read(Path("/proc/net/dev")))[interface].sent_bytes


def nft(node, script, words):
    return subprocess.run(
        node.command(["nft", *words]), input=script, capture_output=True, text=True, check=True
    ).stdout


def taken(server):
    accepted, _ = server.accept()
    with accepted:
        while accepted.recv(1 << 20):
            pass


def test_the_next_command_takes_the_nodes_of_a_killed_one_down(tmp_path):
    """SIGKILL while they are up: holders, namespaces and links go with the lease."""
    code = (
        "import os, sys, time; from pathlib import Path; from assay.host.lease import Lease;"
        "from assay.network.links import make_lans; home = Path(sys.argv[1]); lease = Lease(home / 'state', 'cluster');"
        "(lan,) = make_lans(['master', 'worker-1'], [None], home, lease, os.environ);"
        "print(*(node.holder for node in lan.nodes), flush=True); time.sleep(60)"
    )
    killed = subprocess.Popen(["python3", "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    holders = [int(pid) for pid in killed.stdout.readline().split()]
    namespaces = [Path(f"/proc/{pid}/ns/net").stat().st_ino for pid in holders]
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert all(map(start_time, holders))
    assert len(release_stale(tmp_path / "state")) == 1
    wait_for(
        lambda: not any(map(start_time, holders)), 5
    )  # dead at once, and gone when the first process has reaped them
    listed = subprocess.check_output(["lsns", "--noheadings", "--type", "net", "--output", "NS"], text=True).split()
    assert not {str(number) for number in namespaces} & set(listed)
