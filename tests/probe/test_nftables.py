"""Proves that the counting table's listing is read right, that left-overs go, and on a real kernel that bytes are counted."""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from assay.probe.nftables import NFT_PLACES, Count, CountedFlow, CountingTable, FlowsError, parse, ruleset, run_nft

LISTING = (Path(__file__).parents[1] / "fixtures" / "probe" / "network" / "listing.json").read_text()
SENT, ANSWERED = 5_000_000, 200_000
# Of IPv4 and of TCP with time stamps.
HEADER_BYTES = 20 + 32


def test_a_listing_of_a_real_kernel_is_read_flow_by_flow():
    assert dict(parse(LISTING)) == {
        CountedFlow("127.0.0.1", "127.0.0.1", 19866, to_server=True): Count(5_002_816, 54),
        CountedFlow("10.231.7.2", "10.231.7.1", 19866, to_server=True): Count(5_004_844, 93),
        CountedFlow("127.0.0.1", "127.0.0.1", 19866, to_server=False): Count(201_828, 35),
        CountedFlow("10.231.7.1", "10.231.7.2", 19866, to_server=False): Count(201_984, 38),
    }


@pytest.mark.parametrize(
    "text", ["", "{}", '{"nftables": [{"set": {"name": "to_ip", "elem": [{"elem": {"val": 5}}]}}]}']
)
def test_another_answer_is_refused(text):
    with pytest.raises(FlowsError, match="something unknown"):
        dict(parse(text))


def test_packets_over_loopback_are_counted_once():
    script = ruleset("assay_x", [9866, 13562])
    assert 'hook input priority -300; policy accept; iifname != "lo" jump counted' in script
    assert "tcp dport { 9866, 13562 } update @to_ip { ip saddr . ip daddr . tcp dport }" in script


def test_only_the_tables_of_processes_that_are_gone_are_removed():
    space = Path("/proc/self/ns/pid").stat().st_ino
    began = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    living, reused = f"assay_{space}_{os.getpid()}_{began}_0", f"assay_{space}_{os.getpid()}_{began - 1}_0"
    gone, elsewhere = f"assay_{space}_4194305_77_0", "assay_1_4194305_77_0"
    tables = [{"table": {"family": "inet", "name": name}} for name in (living, reused, gone, elsewhere, "filter")]
    asked = []

    def run(script, arguments):
        asked.append(arguments)
        return json.dumps({"nftables": [{"metainfo": {}}, *tables]})

    CountingTable([1], run).make()
    assert [arguments[-1] for arguments in asked if arguments[0] == "delete"] == [reused, gone]


def test_without_nft_it_says_so(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with pytest.raises(FlowsError, match="package nftables"):
        CountingTable([9866]).make()


def has_nft():
    try:
        run_nft("", ("-j", "list", "tables"))
    except FlowsError as error:
        return str(error)
    return "" if os.geteuid() == 0 else "only root may make tables"


real = pytest.mark.skipif(bool(has_nft()), reason=has_nft())


def serve(listener):
    """Take all that is sent, then answer."""
    connection, _ = listener.accept()
    while connection.recv(1 << 20):
        pass
    connection.sendall(bytes(ANSWERED))
    connection.close()


CLIENT = f"""
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as server:
    server.sendall(bytes({SENT}))
    server.shutdown(socket.SHUT_WR)
    while server.recv(1 << 20):
        pass
"""


def assert_counted(server, client, run):
    """Let `run` send and get known bytes, both of which are counted; the table, which is removed then."""
    with socket.create_server(("0.0.0.0", 0)) as listener:
        port = listener.getsockname()[1]
        table = CountingTable([port])
        table.make()
        try:
            serving = threading.Thread(target=serve, args=(listener,))
            serving.start()
            run(sys.executable, "-c", CLIENT, server, str(port))
            serving.join()
            counts = table.read()
        finally:
            table.remove()
    sent = counts[CountedFlow(client, server, port, to_server=True)]
    answered = counts[CountedFlow(server, client, port, to_server=False)]
    # The slower the receiver, the smaller and more the packets are: their headers are taken off. What is sent again on
    # a busy machine arrives again: none is missing, and a few segments of 64 KiB may be there twice.
    assert 0.99 * SENT < sent.bytes - HEADER_BYTES * sent.packets < 1.1 * SENT
    assert 0.99 * ANSWERED < answered.bytes - HEADER_BYTES * answered.packets < 1.5 * ANSWERED
    return table


@real
def test_known_bytes_over_loopback_are_all_seen():
    table = assert_counted("127.0.0.1", "127.0.0.1", lambda *command: subprocess.run(command, check=True))
    with pytest.raises(FlowsError):
        run_nft("", ("list", "table", "inet", str(table._name)))


@pytest.fixture
def other_host():
    """A network namespace at the other end of a cable; its address and a way to run something there."""
    if not shutil.which("ip", path=f"{os.environ['PATH']}:{NFT_PLACES}"):
        pytest.skip("there is no ip (package iproute2)")
    here, there = f"as{os.getpid()}a", f"as{os.getpid()}b"

    def ip(*arguments):
        return subprocess.run(["ip", *arguments], check=True, capture_output=True)

    # A process holds the namespace: `ip netns add` would mount /run/netns and leave it behind.
    holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo; exec cat"], stdin=-1, stdout=-1, stderr=-1)
    inside = ("nsenter", f"--net=/proc/{holder.pid}/ns/net")
    try:
        if not holder.stdout.readline():
            pytest.skip(f"network namespaces can't be had here: {holder.stderr.read().decode().strip()}")
        ip("link", "add", here, "type", "veth", "peer", "name", there, "netns", str(holder.pid))
        ip("addr", "add", "10.231.9.1/30", "dev", here)
        ip("link", "set", here, "up")
        for command in (["addr", "add", "10.231.9.2/30", "dev", there], ["link", "set", there, "up"]):
            subprocess.run([*inside, "ip", *command], check=True, capture_output=True)
        yield "10.231.9.1", "10.231.9.2", lambda *command: subprocess.run([*inside, *command], check=True)
    finally:
        holder.communicate()


@real
def test_bytes_from_another_host_are_counted_as_they_arrive_and_answers_as_they_leave(other_host):
    assert_counted(*other_host)
