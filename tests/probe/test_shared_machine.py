"""Proves that of several nodes on one machine each has its own figures, and the machine's are told once, of no node."""

import pytest

from assay.model.probe import Scene, WatchedDisk, WatchedProcess
from assay.model.registry import PROBES
from assay.probe.memory import MemoryProbe
from assay.probe.sampler import measured, probes_of
from tests.probe.faking import FakeProc, a_context, a_scene, at, named
from tests.probe.test_sampler import Counting


class Seeing(Counting):
    """Keeps what it was shown."""

    def attach(self, scene):
        self.scene = scene


@pytest.fixture
def nodes(tmp_path):
    """A master and two workers on one machine."""
    found = []
    for name in ("master", "worker-1", "worker-2"):
        node = FakeProc(tmp_path / name).node
        node.name, node.own_machine = name, False
        found.append(node)
    return tuple(found)


@pytest.fixture
def scene(nodes, tmp_path):
    return Scene(
        layout=a_scene().layout,
        processes=tuple(WatchedProcess(group="daemon", pid=pid, node=node.name) for pid, node in enumerate(nodes, 1)),
        disks=tuple(WatchedDisk(medium="ssd", place=tmp_path, node=node.name) for node in nodes[1:]),
        nodes=nodes,
    )


def test_what_is_on_the_first_node_alone_sees_everything_and_belongs_to_no_node(scene):
    made = {}

    def probes(context):
        names = ["own", "whole"] if context.is_first else ["own"]
        made[context.node.name] = [Seeing(name) for name in names]
        return made[context.node.name]

    with measured(probes, scene) as seen:
        seen.mark("run")
    told = {(one.probe, one.node) for one in seen.amounts if one.probe in ("own", "whole")}
    assert told == {("own", "master"), ("own", "worker-1"), ("own", "worker-2"), ("whole", None)}
    own, whole = made["master"]
    assert whole.scene == scene
    assert [disk.name for disk in whole.scene.disks] == ["worker-1/ssd", "worker-2/ssd"]
    assert own.scene.disks == ()
    (worker,) = made["worker-2"]
    assert [one.pid for one in worker.scene.processes] == [3]
    assert [disk.node for disk in worker.scene.disks] == ["worker-2"]


def test_the_machines_processors_are_read_on_one_of_its_nodes_only(nodes):
    first, second = (
        {probe.name for probe in probes_of("default", a_context()._replace(node=node, is_first=node is nodes[0]))}
        for node in nodes[:2]
    )
    assert {"cpu", "pressure"} <= first - second
    assert {"network", "processes", "disk", "memory"} <= first & second
    assert "blocked-time" not in first | second
    alone = {probe.name for probe in probes_of("default", a_context())}
    assert {"blocked-time", "cpu"} <= alone
    assert set(PROBES) >= alone


def test_memory_of_a_node_that_shares_its_machine_is_that_of_its_group_alone(nodes, tmp_path):
    (tmp_path / "worker-1" / "meminfo").write_text(
        "MemTotal: 9 kB\nMemFree: 1 kB\nMemAvailable: 5 kB\nBuffers: 0 kB\nCached: 4 kB\nShmem: 1 kB\nAnonPages: 1 kB\n"
        "Dirty: 2 kB\nWriteback: 0 kB\nSlab: 1 kB\nSReclaimable: 1 kB\nMapped: 1 kB\n"
    )
    for sees, wanted in ((True, True), (False, False)):
        probe = MemoryProbe(nodes[1], sees_machine=sees)
        probe.attach(a_scene())
        assert bool(probe.sample(at(1))) == wanted
        assert any(subject == "machine" for subject, _ in named(probe.totals())) == wanted
        probe.close()
