"""Proves on three real nodes that a dilation of 2 halves processors, drives and links and doubles Hadoop's timers."""

import os
from pathlib import Path

import pytest

from assay.host.lease import Lease
from assay.media.emulated.medium import EMULATED
from assay.model.cluster import EmbeddedSpec
from assay.model.installed import stack_of
from assay.model.layout import Layout
from assay.model.progress import Silent
from assay.model.trial import MediumSpec
from assay.network.queues import Queues
from assay.platform.configuration import read_site
from assay.platform.distribution import find_distribution
from assay.platform.embedded import EmbeddedCluster
from tests.it.driving import AS_ROOT

pytestmark = [pytest.mark.it, pytest.mark.alone, AS_ROOT]
NODES = ("master", "worker-1", "worker-2", "worker-3")


def quota_of(pid):
    """Cores' worth of time that a process' group has, and the period, by version 1 or 2 of the interface."""
    paths = dict(line.split(":")[1:] for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines())
    for controllers, path in paths.items():
        if "cpu" in controllers.split(","):
            (group,) = [one for one in (Path("/sys/fs/cgroup", name) for name in ("cpu", controllers)) if one.exists()][
                :1
            ]
            period = int((group / path.strip("/") / "cpu.cfs_period_us").read_text())
            return int((group / path.strip("/") / "cpu.cfs_quota_us").read_text()) / period, period
    quota, period = map(int, Path("/sys/fs/cgroup", paths[""].strip("/"), "cpu.max").read_text().split())
    return quota / period, period


@pytest.mark.long
def test_all_of_a_cluster_is_slower_by_the_same_factor(place, tmp_path):
    installation = place.installation
    distribution = find_distribution(installation, os.environ)
    spec = EmbeddedSpec(nodes=3, network="gigabit", memory_mb=3072, vcores=2, dilation=2)
    cluster = EmbeddedCluster(distribution, spec, stack_of(), installation.state, os.environ)
    layout = Layout.below(tmp_path / "home", stack_of().roles, spec.workers)
    for directory in layout.paths:
        directory.mkdir(parents=True)
    with Lease(installation.state, "cluster") as lease:
        running = cluster.start(layout, {"mapreduce.task.timeout": "1000"}, Silent(), lease)
        assert [node.node.name for node in running.nodes] == list(NODES)
        for node in running.nodes:
            for daemon in node.daemons:
                assert quota_of(daemon.pid) == (pytest.approx(0.5, rel=0.01), 20_000)  # 10 ms at a time
                options = Path(f"/proc/{daemon.pid}/cmdline").read_bytes().split(b"\0")
                assert b"-XX:ActiveProcessorCount=1" in options
        site = read_site(running.conf_dir)
        assert site["dfs.heartbeat.interval"] == "6"
        assert site["mapreduce.task.timeout"] == "2000"
        assert site["yarn.resourcemanager.nodemanagers.heartbeat-interval-ms"] == "100"  # brisk has 50
        assert running.settings["yarn.resourcemanager.nodemanagers.heartbeat-interval-ms"] == "100"
        assert float(running.facts["network.rate_bits_per_s"]) == 5e8
        assert float(running.facts["network.least_reached_bits_per_s"]) == pytest.approx(5e8, rel=0.1)
        (lan,) = cluster.lans
        for node, ends in ((lan.switch, 4), *((node, 1) for node in lan.nodes)):
            queues = Queues(node)
            read = queues.read()
            queues.close()
            assert len(read) == ends
            assert all(queue.sent_bytes > 0 for queue in read.values())


@pytest.mark.skipif(not Path("/dev/fuse").exists(), reason="needs FUSE")
def test_an_emulated_drive_is_slower_and_stays_the_drive_that_it_is(place):
    spec = MediumSpec(name="hdd", kind="emulated", profile="wd10ezex", size_bytes=1 << 28, slowdown=3)
    with Lease(place.installation.state, "test") as lease:
        medium = EMULATED.open(spec, lease, place.installation)
        plain = medium.profile.digest
        medium.dilate(2)
        with medium.attached():
            profile = (medium._attached.drive.home / "profile.json").read_text()
            assert '"slowdown": 6' in profile
            assert medium.profile.digest == plain
            assert medium.facts()["drive"].endswith("3 times slower")
