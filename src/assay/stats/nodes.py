"""What each node did in a trial, what passed between every two, and how unevenly the work was spread over the workers.

All of it follows from what probes counted on each node, in some parts of the trial: by default of the jobs and of what
was written out after them.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from statistics import mean
from typing import NamedTuple

from assay.model.installed import kind_of, master_roles, series_kind, traffic_names
from assay.model.network import Pair
from assay.model.quantity import Kind
from assay.model.record import INSTRUMENTS, JOBS, Amount, Part, Record
from assay.model.trial_summary import Imbalance

CONTROL = "control"
"""The purpose of all traffic that no service names: RPC, heartbeats, web interfaces, tasks' reports."""
_BYTES = "_bytes"
_ALL = "all_bytes"
"""Stands in where purposes could not be told; whom it went to is not known then either."""


def purposes() -> tuple[str, ...]:
    """Of traffic, as the services name it, in their order."""
    return (*dict.fromkeys(traffic_names().values()), CONTROL)


class Transfer(NamedTuple):
    """What passed from one node to another, headers included, by purpose; those of which nothing passed are left out.

    `interface` is the sender's; empty where nodes have one network.
    """

    sender: str
    receiver: str
    interface: str
    bytes: Mapping[str, float]

    @property
    def total(self) -> float:
        """The sum of all purposes."""
        return sum(self.bytes.values())


class NodeUse(NamedTuple):
    """What a node did; None is what nobody counted.

    `read_bytes` and `written_bytes` are of its drives; `disks_estimated` says that its processes were asked instead,
    since nodes share a device. `received_bytes` and `sent_bytes` are of its interfaces, `within_bytes` passed between
    its own processes. `processor_s` are of its daemons, containers and clients; `memory_bytes` is the sum of the most
    that each group of them had resident.
    """

    node: str
    is_worker: bool
    read_bytes: float | None = None
    written_bytes: float | None = None
    disks_estimated: bool = False
    received_bytes: float | None = None
    sent_bytes: float | None = None
    within_bytes: float | None = None
    processor_s: float | None = None
    memory_bytes: float | None = None

    @property
    def disk_bytes(self) -> float | None:
        """Read and written."""
        return _sum((self.read_bytes, self.written_bytes))


RESOURCES: Mapping[str, Callable[[NodeUse], float | None]] = {
    "disk": lambda use: use.disk_bytes,
    "network_in": lambda use: use.received_bytes,
    "network_out": lambda use: use.sent_bytes,
    "processor": lambda use: use.processor_s,
    "memory": lambda use: use.memory_bytes,
}


def nodes_of(record: Record) -> tuple[str, ...]:
    """The nodes of which something was counted, where there are several."""
    names = dict.fromkeys(amount.node for amount in record.amounts if amount.node is not None)
    return tuple(names) if len(names) > 1 else ()


def transfers(record: Record, parts: Collection[Part] = JOBS) -> tuple[Transfer, ...]:
    """What passed between every two nodes, in their order; nothing where it was not counted by pair."""
    nodes = nodes_of(record)
    passed: dict[Pair, dict[str, float]] = {}
    names = traffic_names()
    for amount in record.amounts:
        pair = Pair.of(amount.subject) if _is_traffic(amount, parts) else None
        if pair is not None and {pair.sender, pair.receiver} <= set(nodes) and amount.value:
            purpose = names.get(amount.series.removesuffix(_BYTES), CONTROL)
            by_purpose = passed.setdefault(pair, {})
            by_purpose[purpose] = by_purpose.get(purpose, 0.0) + amount.value
    places, in_order = {node: place for place, node in enumerate(nodes)}, purposes()
    order = sorted(passed, key=lambda pair: (pair.interface, places[pair.sender], places[pair.receiver]))
    return tuple(
        Transfer(*pair, bytes={purpose: passed[pair][purpose] for purpose in in_order if purpose in passed[pair]})
        for pair in order
    )


def traffic_bytes(record: Record, parts: Collection[Part]) -> dict[str, float]:
    """Bytes of all traffic that was counted by purpose, also that of a node with itself; in the purposes' order."""
    names, passed = traffic_names(), dict.fromkeys(purposes(), 0.0)
    for amount in record.amounts:
        if _is_traffic(amount, parts) and not amount.subject.startswith(_INTERFACE):
            passed[names.get(amount.series.removesuffix(_BYTES), CONTROL)] += amount.value
    return {purpose: count for purpose, count in passed.items() if count}


def whole_use(record: Record, parts: Collection[Part]) -> NodeUse:
    """Return the use of all nodes together, or of the only one; its network only of several."""
    if uses := node_uses(record, parts):
        return NodeUse(
            "", is_worker=True, disks_estimated=any(use.disks_estimated for use in uses),
            read_bytes=_sum([use.read_bytes for use in uses if use.is_worker]),
            written_bytes=_sum([use.written_bytes for use in uses if use.is_worker]),
            received_bytes=_sum([use.received_bytes for use in uses]),
            sent_bytes=_sum([use.sent_bytes for use in uses]),
            processor_s=_sum([use.processor_s for use in uses]),
            memory_bytes=_sum([use.memory_bytes for use in uses]),
        )  # fmt: skip
    read_bytes, written_bytes, estimated = _disk_bytes(record, None, record.amounts, parts)
    return NodeUse(
        "", is_worker=True, read_bytes=read_bytes, written_bytes=written_bytes, disks_estimated=estimated,
        processor_s=_groups_s(record.amounts, parts), memory_bytes=_memory_bytes(record.amounts, parts),
    )  # fmt: skip


def node_uses(record: Record, parts: Collection[Part] = JOBS) -> tuple[NodeUse, ...]:
    """Return the use of each node; none where there is only one."""
    nodes = nodes_of(record)
    workers = record.trial.cluster.workers or nodes
    uses = []
    for node in nodes:
        of_node = [amount for amount in record.amounts if amount.node == node]
        network = [amount for amount in of_node if amount.probe == "network" and amount.subject != "interface lo"]
        carrying = [amount for amount in network if amount.subject.startswith(_INTERFACE)]
        read_bytes, written_bytes, estimated = _disk_bytes(record, node, of_node, parts)
        uses.append(
            NodeUse(
                node=node,
                is_worker=node in workers,
                read_bytes=read_bytes,
                written_bytes=written_bytes,
                disks_estimated=estimated,
                received_bytes=_added(carrying, parts, "received_bytes"),
                sent_bytes=_added(carrying, parts, "sent_bytes"),
                within_bytes=_within(of_node, node, parts),
                processor_s=_processor_s(record, node, parts),
                memory_bytes=_memory_bytes(of_node, parts),
            )
        )
    return tuple(uses)


def imbalances(uses: Sequence[NodeUse]) -> tuple[Imbalance, ...]:
    """Return the imbalance of each resource that all workers counted and any used; none for fewer than two workers."""
    workers = [use for use in uses if use.is_worker]
    ratios = []
    for resource, used in RESOURCES.items():
        known = {use.node: value for use in workers if (value := used(use)) is not None}
        middle = mean(known.values()) if known else 0.0
        if len(known) == len(workers) > 1 and middle > 0:
            most = max(known, key=known.__getitem__)
            ratios.append(Imbalance(resource, known[most] / middle, most))
    return tuple(ratios)


_INTERFACE = "interface "


def _is_traffic(amount: Amount, parts: Collection[Part]) -> bool:
    if amount.probe != "network" or amount.part not in parts or amount.series == _ALL:
        return False
    return series_kind(amount.probe, amount.series) is Kind.BYTES


def _within(of_node: Sequence[Amount], node: str, parts: Collection[Part]) -> float | None:
    """Bytes that passed over a node's loopback interface: they are on no network."""
    known = [
        amount.value for amount in of_node if _is_traffic(amount, parts) and amount.subject.startswith(f"{node}: ")
    ]
    return sum(known) if known else None


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _added(amounts: Iterable[Amount], parts: Collection[Part], *series: str) -> float | None:
    """Amounts of some series in some parts, added up."""
    return _sum([amount.value for amount in amounts if amount.series in series and amount.part in parts])


_SHARED = "disk-shared"
"""The doubt of a device that others use too."""


def _disk_bytes(
    record: Record, node: str | None, of_node: Sequence[Amount], parts: Collection[Part]
) -> tuple[float | None, float | None, bool]:
    """Read and written, and whether it is what the node's processes did; by its drives' own reports where it has them.

    The counters of a device that several nodes, or other programs, share can't be told apart. The only node is None.
    """
    media = [medium.name for medium in record.trial.media if not kind_of(medium).in_memory]
    if media and all(map(record.reports_of, media)):  # a node without drives, such as the master, has no figures
        drives = [reports for medium in media for reports in record.reports_of(medium, node)]
        reports = [report for drive in drives for part, report in drive.items() if part in parts]
        read = [report.reads.bytes for report in reports if report.reads is not None]
        return _sum(read), _sum([report.writes.bytes for report in reports if report.writes is not None]), False
    shared = any(doubt.kind == _SHARED for doubt in record.doubts) if node is None else shares_machine(record)
    if not shared:
        disks = [amount for amount in of_node if amount.probe == "disk"]
        return _added(disks, parts, "read_bytes"), _added(disks, parts, "written_bytes"), False
    others = {*INSTRUMENTS, *(master_roles() if node is None else ())}
    processes = [amount for amount in of_node if amount.probe == "disk-processes" and amount.subject not in others]
    written = _added(processes, parts, "written_bytes")
    cancelled = _added(processes, parts, "cancelled_write_bytes")
    written_out = None if written is None else max(0.0, written - (cancelled or 0.0))
    return _added(processes, parts, "read_bytes"), written_out, True


def shares_machine(record: Record) -> bool:
    """Whether the nodes share a machine, whose processors are counted once, of no node."""
    return any((amount.probe, amount.node) == ("cpu", None) for amount in record.amounts)


def _processor_s(record: Record, node: str, parts: Collection[Part]) -> float | None:
    """Return the processors' busy time of a node that is a machine, else that of its processes."""
    of_node = [amount for amount in record.amounts if amount.node == node]
    machine = [amount for amount in of_node if (amount.probe, amount.subject) == ("cpu", "machine")]
    if machine:
        return _added(machine, parts, "user_s", "system_s", "irq_s", "softirq_s")
    return _groups_s(of_node, parts)


def _groups_s(of_node: Sequence[Amount], parts: Collection[Part]) -> float | None:
    """Return the processor time of its processes."""
    others = {*INSTRUMENTS, "cluster"}
    groups = [amount for amount in of_node if amount.probe == "processes" and amount.subject not in others]
    return _added(groups, parts, "user_s", "system_s")


def _memory_bytes(of_node: Sequence[Amount], parts: Collection[Part]) -> float | None:
    """Peaks of the groups, which need not be of the same moment; the largest of the parts."""
    peaks = [
        _sum([
            amount.value for amount in of_node
            if (amount.probe, amount.series, amount.part) == ("processes", "resident_peak_bytes", part)
            and amount.subject not in INSTRUMENTS
        ])
        for part in parts
    ]  # fmt: skip
    return max((peak for peak in peaks if peak is not None), default=None)
