"""Proves that what listens beyond loopback is told from what does not, however the kernel writes its address."""

import os
import socket
import subprocess
import sys
from contextlib import ExitStack

import pytest

from assay.host.listening import listeners, listening_sockets

LISTENS = (
    "import socket, sys; a = socket.create_server(('', 0)); print(a.getsockname()[1], flush=True); sys.stdin.read()"
)


def dual(address):
    made = socket.socket(socket.AF_INET6)
    made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    made.bind((address, 0))
    made.listen()
    return made


@pytest.mark.parametrize(
    ("make", "is_loopback"),
    [
        (lambda: socket.create_server(("127.0.0.1", 0)), True),
        (lambda: socket.create_server(("127.8.0.1", 0)), True),
        (lambda: socket.create_server(("0.0.0.0", 0)), False),
        (lambda: socket.create_server(("::1", 0), family=socket.AF_INET6), True),
        (lambda: socket.create_server(("::", 0), family=socket.AF_INET6), False),
        (lambda: dual("::ffff:127.0.0.1"), True),
        (lambda: dual("::"), False),
    ],
    ids=["loopback", "loopback-too", "any", "loopback-6", "any-6", "mapped", "any-dual"],
)
def test_a_socket_is_on_loopback_or_not(make, is_loopback):
    with make() as server:
        port = server.getsockname()[1]
        (found,) = [listener for listener in listeners([os.getpid()]) if listener.address.port == port]
    assert found.pid == os.getpid()
    assert found.address.is_loopback == is_loopback


def test_a_socket_that_only_connects_is_none():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        ports = {listener.address.port for listener in listeners([os.getpid()])}
        assert client.getsockname()[1] not in ports


def test_who_is_gone_listens_nowhere():
    assert listeners([4194305]) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make namespaces")
def test_a_process_in_a_network_of_its_own_does_not_listen_here():
    with ExitStack() as started:
        here, apart = (
            started.enter_context(
                subprocess.Popen([*enter, sys.executable, "-c", LISTENS], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            )
            for enter in ([], ["unshare", "--net"])
        )
        ports = [int(process.stdout.readline()) for process in (here, apart)]
        found = [(listener.pid, listener.address.port) for listener in listeners([here.pid, apart.pid])]
        assert found == [(here.pid, ports[0])]
        for process in (here, apart):
            process.communicate()


def test_a_table_that_is_empty_or_cut_short_has_no_sockets():
    assert listening_sockets("") == {}
    assert listening_sockets("  sl  local_address rem_address\n   0: 0100007F:1F90 00000000:0000 0A") == {}
