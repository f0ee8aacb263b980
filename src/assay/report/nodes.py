"""A trial's nodes as tables and words: what each did, what passed between them, and where the work was uneven."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from assay.model.naming import bytes_text
from assay.model.network import Networks
from assay.model.record import Record
from assay.model.trial_summary import Imbalance
from assay.report.charts.matrix import matrices
from assay.report.columns import Column
from assay.report.words import capitalised, seconds_text
from assay.stats.nodes import (
    RESOURCES,
    NodeUse,
    Transfer,
    imbalances,
    node_uses,
    purposes,
    transfers,
)

MIB = 2**20
IMBALANCE_HEAD, PAIRS_HEAD = "The most of a worker over the workers' mean", "What passed between two nodes"
LARGE = 1.25
"""The most over the mean from which on it is worth a word."""
RESOURCE_WORDS: Mapping[str, str] = {
    "disk": "disk bytes", "network_in": "received", "network_out": "sent", "processor": "processor", "memory": "memory",
}  # fmt: skip
CONCLUSIONS: Mapping[str, str] = {
    "disk": "Its drives are busiest: it holds more blocks, or its tasks spill more",
    "network_in": "Its link has most to carry: maps read from others, reducers get more, or it holds more copies",
    "network_out": "Its link has most to carry: it holds blocks or map outputs that other nodes read",
    "processor": "It ran more tasks than the others, or larger ones",
    "memory": "It ran more containers at a time, or larger ones, so less is left there for the page cache",
}


_RANKS = {"memory": 1}
"""What a narrow terminal does without."""


class TrialNodes(NamedTuple):
    """What is told of a trial's nodes, and of the network between them; without any where it has one only."""

    uses: tuple[NodeUse, ...]
    transfers: tuple[Transfer, ...]
    imbalances: tuple[Imbalance, ...]
    network: Networks

    @property
    def disks_note(self) -> str:
        """Say by what the bytes of disks were counted."""
        if any(use.disks_estimated for use in self.uses):
            return (
                "Read and written: by each node's processes, from and to storage (estimated), because the nodes' "
                "directories are on one device"
            )
        return "Read and written: by each node's drives"

    def matrices(self) -> list[str]:
        """Draw a matrix for each network; none where nothing was counted by pair."""
        return matrices([use.node for use in self.uses], self._by_network()) if self.transfers else []

    def network_lines(self) -> list[str]:
        """Write what each network carried in all, by purpose."""
        lines = []
        for title, carried in self._by_network().items():
            sums = {purpose: sum(transfer.bytes.get(purpose, 0.0) for transfer in carried) for purpose in purposes()}
            listed = [f"{purpose} {bytes_text(count)}" for purpose, count in sums.items() if count]
            lines.append(f"{capitalised(title)}: {', '.join(listed) or 'nothing'}")
        return lines

    def _by_network(self) -> Mapping[str, list[Transfer]]:
        titles = self.network.titles or {"": f"network ({self.network})"}
        return {
            title: [transfer for transfer in self.transfers if transfer.interface == interface]
            for interface, title in titles.items()
        }

    def columns(self) -> list[Column]:
        """Make columns of what each node did; unknown columns are left out."""
        uses = self.uses
        figures = [
            ("read", [_size(use.read_bytes) for use in uses], 0),
            ("written", [_size(use.written_bytes) for use in uses], 0),
            ("received", [_size(use.received_bytes) for use in uses], 0),
            ("sent", [_size(use.sent_bytes) for use in uses], 0),
            ("within", [_size(use.within_bytes) for use in uses], None),
            ("processor (s)", [seconds_text(use.processor_s) for use in uses], 0),
            ("memory", [_size(use.memory_bytes) for use in uses], 1),
        ]
        return [
            Column("node", [use.node for use in uses], name=True),
            *(Column(head, cells, rank=rank) for head, cells, rank in figures if set(cells) != {"-"}),
        ]

    def pair_columns(self, most: int | None = None) -> list[Column]:
        """Make columns of the MiB that passed between nodes, by purpose: all pairs, or the `most` with most bytes."""
        shown: Sequence[Transfer] = self.transfers
        if most is not None:
            shown = sorted(shown, key=lambda transfer: -transfer.total)[:most]
        titles = self.network.titles
        named = [titles.get(transfer.interface, transfer.interface).partition(" ")[0] for transfer in shown]
        totals = {
            purpose: sum(transfer.bytes.get(purpose, 0.0) for transfer in self.transfers) for purpose in purposes()
        }
        known = [purpose for purpose, total in totals.items() if total]
        # A narrow terminal does without those of which least passed.
        ranks = {purpose: rank for rank, purpose in enumerate(sorted(known, key=lambda purpose: -totals[purpose]))}
        by_purpose = {purpose: [_mib(transfer.bytes.get(purpose, 0.0)) for transfer in shown] for purpose in known}
        return [
            Column("from", [transfer.sender for transfer in shown], name=True),
            Column("to", [transfer.receiver for transfer in shown], name=True),
            *([Column("network", named, name=True)] if titles else ()),
            *(Column(purpose, cells, unit="MiB", rank=ranks[purpose]) for purpose, cells in by_purpose.items()),
            Column("all", [_mib(transfer.total) for transfer in shown], unit="MiB"),
        ]


def nodes_in(record: Record) -> TrialNodes:
    """Summarise the nodes while the jobs ran and their data was written out."""
    uses = node_uses(record)
    return TrialNodes(uses, transfers(record), imbalances(uses), record.trial.cluster.network)


def imbalance_columns(named: Sequence[tuple[str, Sequence[Imbalance]]]) -> list[Column]:
    """Make columns of several trials' imbalances: the most that a worker used over the mean, and that worker."""
    by_resource = [(name, {imbalance.resource: imbalance for imbalance in of_trial}) for name, of_trial in named]
    return [
        Column("trial", [name for name, _ in by_resource], name=True),
        *(
            Column(
                heading, [_ratio(of_trial.get(resource)) for _, of_trial in by_resource], rank=_RANKS.get(resource, 0)
            )
            for resource, heading in RESOURCE_WORDS.items()
            if any(resource in of_trial for _, of_trial in by_resource)
        ),
    ]


def imbalance_words(several: Sequence[Sequence[Imbalance]]) -> list[str]:
    """Write what to conclude where trials of a combination were uneven; nothing where they were even."""
    conclusions = []
    for resource in RESOURCES:
        of_resource = [imbalance for of_trial in several for imbalance in of_trial if imbalance.resource == resource]
        if not of_resource or median(imbalance.ratio for imbalance in of_resource) < LARGE:
            continue
        (node, count), *_ = Counter(imbalance.node for imbalance in of_resource).most_common(1)
        name = capitalised(RESOURCE_WORDS[resource])
        times = f"{median(imbalance.ratio for imbalance in of_resource):.2f} times the workers' mean"
        if len(of_resource) > 1 and 2 * count <= len(of_resource):
            conclusions.append(
                f"{name}: the most is {times}, on another node in most trials: that is chance, as with few tasks or "
                "blocks"
            )
        else:
            trials = f" in {count} of {len(of_resource)} trials" if len(of_resource) > 1 else " in this trial"
            conclusions.append(f"{name}: {node} has the most{trials}, {times}. {CONCLUSIONS[resource]}")
    return conclusions


def _size(count: float | None) -> str:
    return "-" if count is None else bytes_text(count)


def _mib(count: float) -> str:
    return f"{count / MIB:,.1f}" if count else "-"


def _ratio(imbalance: Imbalance | None) -> str:
    return "-" if imbalance is None else f"{imbalance.ratio:.2f} ({imbalance.node})"
