"""Proves that an existing cluster's nodes are read over a real SSH and from YARN, with their own counters' bytes.

Nodes of a cluster of Assay's own, each a network of its own, play the existing cluster; `assay run` runs on its master,
as on a cluster's edge node. The tests share the cluster.
"""

import logging
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from assay.node.namespace import NamespaceNode
from assay.probe.network import parse_interfaces
from tests.it.driving import AS_ROOT, a_place, assay_command, wait_for
from tests.it.test_ssh import PORT, SSHD, shells_that_wait, sshd_on

pytestmark = [pytest.mark.it, pytest.mark.alone, pytest.mark.long, AS_ROOT]
needs_sshd = pytest.mark.skipif(SSHD is None, reason="there is no sshd (apt-get install openssh-server)")
WORKERS = ["worker-1", "worker-2", "worker-3"]


class Foreign:
    """A cluster whose nodes the tests know, and which is used through its configuration alone."""

    def __init__(self, place, said):
        self.place = place
        self.conf_dir = re.search(r"^export HADOOP_CONF_DIR=(.+)$", said, re.MULTILINE)[1]
        self._hadoop = re.search(r"`hadoop` command: (.+)$", said, re.MULTILINE)[1]
        found = {hostname(pid): pid for pid in place.processes("infinity")}
        self.nodes = {name: NamespaceNode(name, found[name], {}, ("eth0",)) for name in ("master", *WORKERS)}

    def hadoop(self, *arguments):
        """What Hadoop's own command prints."""
        return self.place.command(self._hadoop, *arguments).stdout

    def run(self, reading, out):
        """`assay run` on the master; the record, and what its nodes' interfaces counted meanwhile."""
        experiment = self.place.experiment(f"""
experiment: foreign
workloads: {{name: terasort, options: {{size: 8MB}}}}
cluster: {{conf_dir: {self.conf_dir}, {reading}}}
hadoop: {{dfs.replication: 3, mapreduce.job.reduces: 3}}
""")
        with Counting(self.nodes) as counting:
            home = self.place.home  # a process that enters a mount namespace begins in its root
            command = assay_command("run", str(home / experiment), "--out", str(home / out))
            self.place.command(*self.nodes["master"].command(command))
        (record,) = self.place.records(out)
        return record, counting


def hostname(pid):
    command = ["nsenter", "--target", str(pid), "--uts", "hostname"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


class Counting:
    """Reads the nodes' own counters ten times a second, with the time of each reading."""

    def __init__(self, nodes):
        self.nodes = nodes
        self.seen = {name: [] for name in nodes}
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.count)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def count(self):
        while not self.ended.wait(0.1):
            for name, node in self.nodes.items():
                eth0 = parse_interfaces(node.read(Path("/proc/net/dev")))["eth0"]
                self.seen[name].append((time.time(), eth0))

    def at(self, name, when_s, field):
        """A counter at some time, by the line between the readings around it."""
        before = max((one for one in self.seen[name] if one[0] <= when_s), key=lambda one: one[0])
        after = min((one for one in self.seen[name] if one[0] >= when_s), key=lambda one: one[0])
        share = (when_s - before[0]) / max(after[0] - before[0], 1e-9)
        low, high = getattr(before[1], field), getattr(after[1], field)
        return low + share * (high - low)


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    with a_place(tmp_path_factory.mktemp("nodes")) as place:
        yield Foreign(place, place.assay("cluster", "up", "--nodes", str(len(WORKERS))))
        assert "stopped cluster-" in place.assay("cluster", "down")
        assert place.left_over() == []


@pytest.fixture(scope="module")
def sshd(foreign):
    """One on each worker that takes the key, one on the master that wants a password."""
    home = foreign.place.home
    with sshd_on(foreign.nodes, home, asking={"master"}):
        options = "StrictHostKeyChecking=no, UserKnownHostsFile=/dev/null"
        yield f"user: root, port: {PORT}, key: {home}/id, options: [{options}]"


FEW_BYTES = 2_000_000
"""Of fewer bytes, what passes between a part's end and the reading of it is a large part."""


def compared(record, counting, within, late_s=0.0):
    """The probe's bytes of the run against the nodes' own counters at its ends, or at most so long after them.

    With `late_s` the ends are also as uncertain as the node's clock.
    """
    (run,) = [step for step in record.steps if step.name == "run"]
    (staged,) = [step for step in record.steps if step.name == "cold cache"]
    # The interval `run` begins where staging ends: the wait for the daemons' counters is in it.
    begin_s, end_s = staged.started_ms / 1000 + staged.seconds, run.started_ms / 1000 + run.seconds
    amounts = {
        (one.node, one.series): one.value
        for one in record.amounts
        if (one.probe, one.subject, one.part) == ("network", "interface eth0", "run")
    }
    found, apart = [], []
    for name in WORKERS:
        for field in ("received_bytes", "sent_bytes"):
            own = counting.at(name, end_s, field) - counting.at(name, begin_s, field)
            unsure_s = clocks(record)[name, "uncertainty_s"] if late_s else 0.0
            assert unsure_s < 0.5
            early_s, late_most_s = unsure_s, late_s + unsure_s
            least = counting.at(name, end_s - early_s, field) - counting.at(name, begin_s + late_most_s, field)
            most = counting.at(name, end_s + late_most_s, field) - counting.at(name, begin_s - early_s, field)
            seen = amounts[name, field]
            found.append(f"{name} {field}: read {seen:.0f}, own counters {own:.0f} ({least:.0f} to {most:.0f})")
            assert own > 100_000
            apart.append(max(least - seen, seen - most, 0) / max(own, FEW_BYTES))
    logging.getLogger(__name__).info("%s", "; ".join(found))  # --log-cli-level=info shows it
    assert max(apart) <= within, found


def clocks(record):
    return {
        (one.node, one.series): one.value for one in record.amounts if (one.probe, one.subject) == ("nodes", "clock")
    }


@needs_sshd
def test_nodes_are_read_over_ssh_and_those_that_can_not_be_cost_their_own_figures(foreign, sshd):
    hosts = ", ".join([*WORKERS, "master", "nowhere"])
    record, counting = foreign.run(f"ssh: {{hosts: [{hosts}], {sshd}}}", "over-ssh")
    assert record.status == "finished"
    compared(record, counting, 0.05)
    for name in WORKERS:
        assert abs(clocks(record)[name, "offset_s"]) <= clocks(record)[name, "uncertainty_s"] + 0.001
        assert clocks(record)[name, "uncertainty_s"] < 0.25
    probes = {one.probe for one in record.amounts if one.node == "worker-1"}
    assert {"cpu", "disk", "memory", "network", "nodes"} <= probes
    reasons = sorted(doubt.what for doubt in record.doubts if doubt.kind == "nodes-unread")
    assert reasons[0].startswith("master: not read over SSH: ")
    assert "Permission denied (password)" in reasons[0]
    assert re.match(r"nowhere: not read over SSH: .*(resolve|not known)", reasons[1])
    wait_for(lambda: not shells_that_wait(), 10)


def test_hosts_come_from_yarn_where_none_are_named(foreign):
    code = (
        "import sys; from assay.host.http import BoundedWeb; from assay.model.probe import ForeignCluster; "
        "from assay.model.installed import stack_of; from assay.model.existing import Site; from pathlib import Path; "
        "from assay.platform.existing import discover;"
        "ask, site = BoundedWeb(None).ask, Site({}, Path()); "
        "hosts, _ = discover(ask, {'resourcemanager': sys.argv[1]}, stack_of().existing, site); "
        "print(sorted(ForeignCluster(hosts, ask, daemons=stack_of().existing).workers()))"
    )
    site = Path(foreign.conf_dir, "yarn-site.xml").read_text()
    (address,) = re.findall(r"yarn\.resourcemanager\.webapp\.address</name>\s*<value>([^<]+)", site)
    asked = [sys.executable, "-c", code, f"http://{address}"]
    done = foreign.place.command(*foreign.nodes["master"].command(asked))
    assert done.stdout.strip() == str(WORKERS)
