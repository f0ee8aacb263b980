"""Proves that a real sshd gives what a node's own counters say, that a password is an error at once, and nothing stays.

Nodes are networks of their own on this machine; what connects to them is on the first one.
"""

import logging
import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.host.lease import Lease
from assay.model.network import LINKS
from assay.model.probe import Scene
from assay.model.record import REMOTE_NODES
from assay.network.links import make_lans
from assay.node.readings import SCRIPT
from assay.node.ssh import SshNodes, SshOptions, ssh_command
from assay.probe.network import parse_interfaces
from assay.probe.sampler import measured, probes_of
from tests.it.driving import AS_ROOT, wait_for
from tests.probe.faking import a_scene

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
pytestmark = [
    pytest.mark.it,
    pytest.mark.alone,
    AS_ROOT,
    pytest.mark.skipif(SSHD is None, reason="there is no sshd (apt-get install openssh-server)"),
]
PORT = 2222
RUN_SSHD = Path("/run/sshd")  # where it wants to be in a place of its own; Debian's service makes it
CONFIG = """\
Port {port}
HostKey {home}/host_key
AuthorizedKeysFile {home}/id.pub
AuthenticationMethods {method}
PasswordAuthentication yes
PermitRootLogin yes
PidFile none
StrictModes no
UsePAM no
"""
SENT_BYTES = 20_000_000


@contextmanager
def sshd_on(nodes, home, asking=()):
    """A server on each node, which takes a key; on those that are `asking` it wants a password. Gives their options."""
    for name in ("host_key", "id"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(home / name)], check=True)
    made = not RUN_SSHD.exists()
    RUN_SSHD.mkdir(exist_ok=True)
    servers = {}
    try:
        for name, node in nodes.items():
            config, log = home / f"sshd-{name}", home / f"sshd-{name}.log"
            method = "password" if name in asking else "publickey"
            config.write_text(CONFIG.format(port=PORT, home=home, method=method))
            with log.open("wb") as output:
                command = node.command([SSHD, "-D", "-e", "-f", str(config)])
                servers[name] = subprocess.Popen(command, stderr=output, stdin=subprocess.DEVNULL)
            wait_for(lambda log=log: b"listening" in log.read_bytes(), 20)
        yield servers
    finally:
        for server in servers.values():
            server.terminate()
            server.wait(20)
        if made:
            RUN_SSHD.rmdir()


def options_of(home):
    return {
        "user": "root", "port": PORT, "key": home / "id",
        "options": ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null"),
    }  # fmt: skip


def shells_that_wait():
    """On all nodes: they share the machine's processes."""
    mark = SCRIPT.encode()[:40]
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark in entry.read_bytes():
                found.append(entry)
        except OSError:
            continue
    return found


@pytest.fixture
def nodes(tmp_path):
    names = ["master", "worker-1", "worker-2"]
    with Lease(tmp_path / "state", "cluster") as lease:
        (lan,) = make_lans(names, [LINKS["gigabit"]], tmp_path, lease, os.environ)
        yield {node.name: node for node in lan.nodes}, lan.addresses


def transfer(nodes, addresses):
    """From one worker to the other."""
    receiver, sender = nodes["worker-2"].inside(socket.socket), nodes["worker-1"].inside(socket.socket)
    with receiver, sender:
        receiver.bind(("", 9999))
        receiver.listen()
        sender.connect((addresses["worker-2"], 9999))
        accepted, _ = receiver.accept()
        with accepted:
            left = SENT_BYTES
            while left:
                sender.sendall(bytes(min(left, 100_000)))
                got = 0
                while got < min(left, 100_000):
                    got += len(accepted.recv(1 << 17))
                left -= min(left, 100_000)


def own(nodes):
    return {name: parse_interfaces(node.read(Path("/proc/net/dev")))["eth0"]._asdict() for name, node in nodes.items()}


def test_bytes_over_ssh_are_those_of_the_nodes_own_counters(nodes, tmp_path):
    nodes, addresses = nodes
    hosts = ("worker-1", "worker-2", "master", "nowhere")
    spec = SshOptions(hosts=hosts, **options_of(tmp_path))
    master = nodes["master"]

    def command(spec, host):
        return master.command(ssh_command(spec, host))

    with sshd_on(nodes, tmp_path, asking={"master"}):
        source = SshNodes(spec, os.environ, list, command)
        scene = Scene(layout=a_scene().layout, sources={REMOTE_NODES: source})
        began = time.monotonic()
        with measured(lambda context: probes_of("default", context, foreign=True), scene) as seen:
            logging.info("connected in %.2f s", time.monotonic() - began)
            before = own(nodes)
            time.sleep(1.5)
            transfer(nodes, addresses)
            after = own(nodes)
            seen.mark("run")
            time.sleep(0.5)
        wait_for(lambda: not shells_that_wait(), 10)
    found = {
        (one.node, one.series): one.value
        for one in seen.amounts
        if (one.probe, one.subject) in {("network", "interface eth0"), ("nodes", "clock")}
    }
    for name, field, much in (("worker-1", "sent_bytes", True), ("worker-2", "received_bytes", True)):
        gone = after[name][field] - before[name][field]
        assert (gone > SENT_BYTES) == much
        logging.info("%s %s: %d by ssh, %d by its own counters", name, field, found[name, field], gone)
        # The probe's own lines are among them: some kB.
        assert abs(found[name, field] - gone) < 0.002 * gone + 50_000
        offset_s, uncertainty_s = found[name, "offset_s"], found[name, "uncertainty_s"]
        logging.info("clock of %s: %.6f s, uncertain by %.6f s", name, offset_s, uncertainty_s)
        assert abs(offset_s) <= uncertainty_s + 0.001
    reasons = sorted(doubt.what for doubt in seen.doubts if doubt.kind == "nodes-unread")
    logging.info("%s", reasons)
    assert reasons[0].startswith("master: not read over SSH: ")
    assert "Permission denied (password)" in reasons[0]
    assert reasons[1].startswith("nowhere: not read over SSH: ssh: Could not resolve hostname")


def test_a_node_that_goes_away_ends_its_figures_and_no_others(nodes, tmp_path):
    nodes, _ = nodes
    spec = SshOptions(hosts=("worker-1", "worker-2"), **options_of(tmp_path))
    with sshd_on(nodes, tmp_path) as servers:
        source = SshNodes(
            spec, os.environ, list, lambda spec, host: nodes["master"].command(ssh_command(spec, host))
        )  # fmt: skip
        readings = []
        source.begin(readings.append)
        source.mark(None)
        time.sleep(1.2)
        children = subprocess.run(
            ["pgrep", "-P", str(servers["worker-2"].pid)], capture_output=True, text=True, check=True
        ).stdout.split()
        for child in children:
            os.kill(int(child), 9)
        time.sleep(1.2)
        source.mark("run")
        source.end()
        ended = {reading.node: reading.files.ended for reading in readings if "run" in reading.files.ended}
        doubts = source.doubts()
        source.close()
    assert set(ended) == {"worker-1"}
    assert [doubt.kind for doubt in doubts] == ["nodes-lost"]
    assert doubts[0].what.startswith("worker-2: no longer read over SSH at ")
    wait_for(lambda: not shells_that_wait(), 10)
