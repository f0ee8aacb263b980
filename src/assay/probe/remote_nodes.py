"""Nodes of a cluster that is somebody else's: the probes that need no more than a few files of /proc, on each of them.

The platform's sources (SSH) read those files; each reading is shown to probes of that node's own as
if they had read it, at the time when it was. So figures are named and worked out as on this machine, and sources differ
only in how they get there. A part's totals are those of the first reading at or after its end.
"""

from collections.abc import Iterator, Sequence

from assay.model.doubt import Doubt
from assay.model.host_names import HostNames
from assay.model.naming import first_few
from assay.model.probe import (
    Evaluated,
    Evaluation,
    NodeSource,
    ProbeContext,
    ProbeKind,
    Reading,
    Scene,
    WatchedDisk,
)
from assay.model.quantity import Kind
from assay.model.record import CLOCK_SERIES, REMOTE_NODES, Amount, Part
from assay.model.registry import PROBES
from assay.model.trial import Landed
from assay.node.devices import device_path
from assay.node.readings import ReadingNode, drives_in_use
from assay.probe.sampler import Guest, Samples


class _Host:
    """One node, and what its probes made of its readings."""

    def __init__(self, first: Reading, scene: Scene, samples: Samples) -> None:
        self.clock = first.clock
        self.amounts: list[Amount] = []
        self._samples = samples
        self._node = ReadingNode(first.node, first.listing)
        self._node.files = first.files
        names, self._doubts = drives_in_use(self._node)
        disks = tuple(
            WatchedDisk(medium=name, place=device_path(name), device=device_path(name), node=first.node)
            for name in sorted(names)
        )
        node_scene = Scene(layout=scene.layout, disks=disks)
        makers = [kind.of_files for kind in PROBES.values() if kind.of_files is not None]
        self._guests = [Guest(make(self._node), node_scene, first.node) for make in makers]
        for guest in self._guests:
            guest.attach()

    def take(self, reading: Reading) -> None:
        self._node.files = reading.files
        self.clock = reading.clock
        for guest in self._guests:
            guest.sample(reading.at, self._samples)
        offset = {("", CLOCK_SERIES): round(reading.clock.offset_s * 1000, 3)}
        self._samples.add(REMOTE_NODES, reading.at.time_ms, offset, self._node.name)
        for part in reading.ended:
            for guest in self._guests:
                self.amounts += guest.total(part)

    def all_amounts(self) -> Iterator[Amount]:
        """The totals, and how far the node's clock was off at the end."""
        yield from self.amounts
        for series, value in zip(("offset_s", "uncertainty_s"), self.clock, strict=True):
            yield Amount(
                probe=REMOTE_NODES, subject="clock", series=series, part="collect", value=value, node=self._node.name
            )

    def close(self) -> list[Doubt]:
        for guest in self._guests:
            guest.close()
        return [*self._doubts, *(doubt for guest in self._guests for doubt in guest.doubts)]


class RemoteNodes(Evaluated):
    """All nodes that the scene's sources read; the sources belong to it from `attach` to `close`."""

    name = REMOTE_NODES

    def __init__(self) -> None:
        self._scene: Scene | None = None
        self._sources: Sequence[NodeSource] = ()
        self._samples = Samples()
        self._names = HostNames()
        self._hosts: dict[str, _Host] = {}

    def attach(self, scene: Scene) -> None:
        """Raises whatever a source does; then nothing is read."""
        self._scene, self._sources = scene, scene.sources
        if scene.foreign is not None:  # a node is called as the cluster's own probes call it
            self._names = scene.foreign.names()
        for source in self._sources:
            source.begin(self._receive)

    def mark(self, part: Part | None) -> Sequence[Landed]:
        for source in self._sources:
            source.mark(part)
        return ()

    def evaluate(self) -> Evaluation:
        for source in self._sources:
            source.end()
        amounts = [amount for host in self._hosts.values() for amount in host.all_amounts()]
        return Evaluation(samples=self._samples, amounts=amounts)

    def doubts(self) -> tuple[Doubt, ...]:
        """The sources', and the probes': what several nodes say alike is said once."""
        alike: dict[tuple[str, str, str], tuple[Doubt, list[str]]] = {}
        for name, host in self._hosts.items():
            for doubt in host.close():
                alike.setdefault((doubt.kind, doubt.subject, doubt.what), (doubt, []))[1].append(name)
        return (
            *(doubt for source in self._sources for doubt in source.doubts()),
            *(
                doubt.model_copy(update={"what": f"{first_few(names)}: {doubt.what}"})
                for doubt, names in alike.values()
            ),
        )

    def close(self) -> None:
        for source in self._sources:
            source.close()

    def _receive(self, reading: Reading) -> None:
        assert self._scene is not None  # noqa: S101 - attached before anything is read
        name = self._names.add(reading.node)
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = _Host(reading._replace(node=name), self._scene, self._samples)
        host.take(reading)


def _remote_nodes(_context: ProbeContext) -> RemoteNodes:
    return RemoteNodes()


PROBES.add(
    REMOTE_NODES,
    ProbeKind(
        _remote_nodes,
        foreign=True,
        series=dict.fromkeys((CLOCK_SERIES, "offset_s", "uncertainty_s"), Kind.MACHINE_TIME),
    ),
    place=9,
)
