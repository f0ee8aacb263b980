"""Proves that ports are put down to the processes that listen on them, and that a host knows its own addresses."""

import os
import shutil
import socket
from pathlib import Path

from assay.model.probe import WatchedProcess
from assay.node.local import LocalNode
from assay.probe.network import listening_groups, own_addresses
from tests.probe.faking import PlacedNode

FIXTURES = Path(__file__).parents[1] / "fixtures" / "probe" / "network"


def test_a_listening_socket_belongs_to_its_process():
    with (
        socket.create_server(("127.0.0.1", 0)) as four,
        socket.create_server(("::1", 0), family=socket.AF_INET6) as six,
    ):
        ports = [four.getsockname()[1], six.getsockname()[1]]
        found = listening_groups(LocalNode(), [WatchedProcess(group="datanode", pid=os.getpid())])
    assert {port: found[port] for port in ports} == dict.fromkeys(ports, "datanode")


def test_a_process_that_is_gone_listens_on_nothing():
    assert listening_groups(LocalNode(), [WatchedProcess(group="datanode", pid=4194305)]) == {}


def test_a_host_knows_its_addresses(tmp_path):
    for name in ("fib_trie", "if_inet6"):
        shutil.copy(FIXTURES / name, tmp_path / name)
    assert own_addresses(PlacedNode({"/proc/net": tmp_path})) == {
        "127.0.0.1", "::1", "192.0.2.2", "fd00::2", "fe80::fc:ff:fe00:1"
    }  # fmt: skip


def test_a_kernel_without_the_tables_leaves_loopback(tmp_path):
    assert own_addresses(PlacedNode({"/proc/net": tmp_path})) == {"127.0.0.1", "::1"}
