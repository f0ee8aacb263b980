"""Nodes of a cluster that is somebody else's: what its sources read becomes the amounts and samples of each node.

Sources (SSH, a Prometheus, the daemons' own web interfaces) are registered in NODE_SOURCES and differ only in how they
get there. Values of counters and levels are put on the parts of the trial by `Readings`. Files are shown to probes of
that node's own as if they had read them, at the time when they were read: such figures are named and worked out as on
this machine, and a part's totals are those of the first reading at or after its end.
"""

from collections.abc import Collection, Iterator
from functools import partial

from assay.model.doubt import Doubt
from assay.model.host_names import HostNames
from assay.model.naming import first_few
from assay.model.probe import (
    Evaluated,
    Evaluation,
    FilesRead,
    Moment,
    NodeSource,
    NodeSourceKind,
    ProbeContext,
    ProbeKind,
    Reading,
    Scene,
    SeriesTable,
    WatchedDisk,
)
from assay.model.quantity import Kind
from assay.model.record import CLOCK_SERIES, REMOTE_NODES, Amount, Part
from assay.model.registry import NODE_SOURCES, PROBES
from assay.model.trial import Landed
from assay.node.devices import device_path
from assay.node.readings import ReadingNode, drives_in_use
from assay.probe.counters import PartSpans, Readings, with_derived
from assay.probe.sampler import Guest, Samples

NO_SERIES = SeriesTable()


class _Host:
    """One node whose files are read, and what its probes made of them."""

    def __init__(self, node: str, first: FilesRead, scene: Scene, samples: Samples) -> None:
        self.clock = first.clock
        self.amounts: list[Amount] = []
        self._samples = samples
        self._node = ReadingNode(node, first.listing)
        self._node.files = first.content
        names, self._doubts = drives_in_use(self._node)
        disks = tuple(
            WatchedDisk(medium=name, place=device_path(name), device=device_path(name), node=node)
            for name in sorted(names)
        )
        node_scene = Scene(layout=scene.layout, disks=disks)
        makers = [kind.of_files for kind in PROBES.values() if kind.of_files is not None]
        self._guests = [Guest(make(self._node), node_scene, node) for make in makers]
        for guest in self._guests:
            guest.attach()

    def take(self, at: Moment, files: FilesRead) -> None:
        self._node.files = files.content
        self.clock = files.clock
        for guest in self._guests:
            guest.sample(at, self._samples)
        offset = {("", CLOCK_SERIES): round(files.clock.offset_s * 1000, 3)}
        self._samples.add(REMOTE_NODES, at.time_ms, offset, self._node.name)
        for part in files.ended:
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
    """All nodes that one of the scene's sources reads; the source belongs to it from `attach` to `close`."""

    def __init__(self, name: str, series: SeriesTable = NO_SERIES, sure: Collection[Part] | None = None) -> None:
        """`name` is by which the scene has the source. Figures of parts that are not `sure` are estimates."""
        self.name = name
        self._sure_parts = sure
        self._scene: Scene | None = None
        self._source: NodeSource | None = None
        self._names = HostNames()
        self._samples = Samples()
        self._hosts: dict[str, _Host] = {}
        self._readings = Readings(name, series)
        self._times = PartSpans()

    def attach(self, scene: Scene) -> None:
        """Raises whatever the source does; then nothing is read. Without the source nothing is missing."""
        self._scene, self._source = scene, scene.sources.get(self.name)
        if scene.foreign is not None:  # a node is called as the cluster's own probes call it
            self._names = scene.foreign.names()
        if self._source is not None:
            self._source.begin(self._receive)

    def mark(self, part: Part | None) -> list[Landed]:
        if self._source is not None:
            self._times.mark(part, self._source.mark(part))
        return []

    def evaluate(self) -> Evaluation:
        if self._source is not None:
            self._source.end()
        self._samples.extend(self._readings.samples())
        amounts = [amount for host in self._hosts.values() for amount in host.all_amounts()]
        amounts += self._readings.amounts(self._times.parts, self._sure_parts)
        return Evaluation(samples=self._samples, amounts=amounts)

    def doubts(self) -> tuple[Doubt, ...]:
        """The source's, and the probes': what several nodes say alike is said once."""
        alike: dict[tuple[str, str, str], tuple[Doubt, list[str]]] = {}
        for name, host in self._hosts.items():
            for doubt in host.close():
                alike.setdefault((doubt.kind, doubt.subject, doubt.what), (doubt, []))[1].append(name)
        return (
            *(self._source.doubts() if self._source is not None else ()),
            *self._readings.doubts(self._times.parts),
            *(
                doubt.model_copy(update={"what": f"{first_few(names)}: {doubt.what}"})
                for doubt, names in alike.values()
            ),
        )

    def close(self) -> None:
        if self._source is not None:
            self._source.close()

    def _receive(self, reading: Reading) -> None:
        assert self._scene is not None  # noqa: S101 - attached before anything is read
        name = self._names.add(reading.node)
        self._readings.add(reading._replace(node=name))
        if reading.files is not None:
            host = self._hosts.get(name)
            if host is None:
                host = self._hosts[name] = _Host(name, reading.files, self._scene, self._samples)
            host.take(Moment(time_ms=round(reading.at_s * 1000), clock_s=reading.at_s), reading.files)


def _made(name: str, kind: NodeSourceKind, _context: ProbeContext) -> RemoteNodes:
    return RemoteNodes(name, kind.series, kind.sure_parts)


def _probes_of_values() -> Iterator[tuple[str, ProbeKind, int]]:
    for name, kind in NODE_SOURCES.items():
        if not kind.gives_files:
            probe = ProbeKind(
                partial(_made, name, kind),
                foreign=True,
                adds=kind.adds,
                columns=kind.columns,
                series=with_derived(kind.series),
            )
            yield name, probe, 20


PROBES.add(
    REMOTE_NODES,
    ProbeKind(
        lambda _: RemoteNodes(REMOTE_NODES),
        foreign=True,
        series=dict.fromkeys((CLOCK_SERIES, "offset_s", "uncertainty_s"), Kind.MACHINE_TIME),
    ),
    place=9,
)
PROBES.add_all_late(_probes_of_values)
