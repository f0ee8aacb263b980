"""An existing cluster's machines in a run's report: what each way to see them added, and each machine's figures.

The ways are the probes of existing clusters; which columns they have they say themselves.
"""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from assay.model.base import json_text
from assay.model.naming import bytes_text
from assay.model.probe import NodeColumn, ProbeKind
from assay.model.record import Record
from assay.model.registry import PLATFORMS, PROBES, SECTIONS
from assay.model.trial import NO_PROBES, Plan
from assay.report.analysis import trials_in_detail
from assay.report.columns import Column, grid
from assay.report.templates import template
from assay.report.words import number_text

MOST_TRIALS, MOST_MACHINES = 6, 20
TITLE = "The cluster's machines"


class Way(NamedTuple):
    """A way to see the machines: what it adds, of how many machines it has figures, and what is amiss."""

    probe: str
    adds: str
    machines: int
    trials: int
    amiss: str

    @property
    def words(self) -> str:
        """In a sentence or two."""
        seen = f"Figures of {self.machines} machine{'s' * (self.machines != 1)} in {self.trials} trial"
        seen = f"{seen}{'s' * (self.trials != 1)}." if self.trials else "No figures."
        return " ".join(f"{words[0].upper()}{words[1:]}" for words in (f"{self.adds}.", seen, self.amiss) if words)


class MachinesTable(NamedTuple):
    """One trial's machines: each one's figures while the jobs ran, in the order of the columns."""

    trial: str
    columns: Sequence[NodeColumn]
    rows: Sequence[tuple[str, Sequence[float | None]]]
    left_out: int

    def figures(self) -> list[Column]:
        """As a table, with the most over the median of each column as its last line."""
        by_column = list(zip(*(values for _, values in self.rows), strict=True))
        names = [*(name for name, _ in self.rows), "most over median"]
        cells = [
            Column(one.title, [*(_text(value, one) for value in values), _imbalance(values)])
            for one, values in zip(self.columns, by_column, strict=True)
        ]
        return [Column("machine", names, name=True), *cells]


class MachinesView(NamedTuple):
    """A `SectionView`."""

    ways: Sequence[Way]
    tables: Sequence[MachinesTable]

    def summary_html(self) -> str:
        return ""

    def html(self) -> str:
        return str(template("cluster_machines.html.j2").render(view=self, title=TITLE))

    def text(self) -> str:
        lines = [f"{TITLE}:", *(f"  {way.probe}: {way.words}" for way in self.ways)]
        return "\n".join(lines)

    def markdown(self) -> str:
        parts = [f"## {TITLE}", "\n".join(f"- `{way.probe}`: {way.words}" for way in self.ways)]
        for table in self.tables:
            more = f"\n\nand {table.left_out} more machines" if table.left_out else ""
            parts.append(f"{table.trial}, while the jobs ran:\n\n{grid(table.figures())}{more}")
        return "\n\n".join(parts)

    def json(self) -> str:
        tables = [
            {
                "trial": table.trial,
                "machines": {
                    name: {f"{one.title} ({one.unit})": value for one, value in zip(table.columns, values, strict=True)}
                    for name, values in table.rows
                },
            }
            for table in self.tables
        ]
        return json_text({"ways": [way._asdict() for way in self.ways], "trials": tables})


def _machines(_: Plan, records: Sequence[Record]) -> MachinesView | None:
    """None for runs on clusters of Assay's own."""
    own = [
        record for record in records
        if (kind := PLATFORMS.get(record.trial.cluster.kind)) is not None and not kind.ours
    ]  # fmt: skip
    kinds = {name: kind for name, kind in PROBES.items() if kind.foreign and kind.adds}
    ways = [way for name, kind in kinds.items() if (way := _way(name, kind, own)) is not None]
    if not own or not ways:
        return None
    shown = [record for record in trials_in_detail(own) if record.amounts][:MOST_TRIALS]
    return MachinesView(ways, [table for record in shown if (table := _table(record, kinds)) is not None])


def _way(name: str, kind: ProbeKind, records: Sequence[Record]) -> Way | None:
    """None for one that was not asked for: it left neither figures nor doubts."""
    machines = {one.node for record in records for one in record.amounts if one.probe == name and one.node}
    trials = sum(any(one.probe == name and one.node for one in record.amounts) for record in records)
    doubts = [doubt.what for record in records for doubt in record.doubts if doubt.instrument == name]
    if not trials and not doubts:
        return None
    return Way(name, kind.adds, len(machines), trials, f"{doubts[0]}." if doubts else "")


def _table(record: Record, kinds: Mapping[str, ProbeKind]) -> MachinesTable | None:
    if record.trial.probes == NO_PROBES:
        return None
    of_nodes: dict[str, dict[tuple[str, str], list[tuple[str, float]]]] = {}
    for one in record.amounts:
        if one.part == "run" and one.node and one.probe in kinds:
            of_node = of_nodes.setdefault(one.node, {})
            of_node.setdefault((one.probe, one.series), []).append((one.subject, one.value))
    found: list[tuple[NodeColumn, dict[str, float]]] = []
    for name, kind in kinds.items():
        for column in kind.columns:
            values = {node: value for node, of in of_nodes.items() if (value := _sum(of, name, column)) is not None}
            if values:
                found.append((column, values))
    if not found:
        return None
    nodes = sorted(of_nodes, key=lambda node: [-values.get(node, 0.0) for _, values in found])
    rows = [(node, [values.get(node) for _, values in found]) for node in nodes if any(node in of for _, of in found)]
    left_out = max(0, len(rows) - MOST_MACHINES)
    return MachinesTable(record.trial.id, [column for column, _ in found], rows[:MOST_MACHINES], left_out)


def _sum(of: Mapping[tuple[str, str], list[tuple[str, float]]], probe: str, column: NodeColumn) -> float | None:
    values = [
        value
        for series in column.series
        for subject, value in of.get((probe, series), ())
        if column.subject in {"", subject, subject.partition(" ")[0]}  # `datanode 9864` where a machine has several
    ]
    return sum(values) if values else None


def _text(value: float | None, column: NodeColumn) -> str:
    if value is None:
        return "-"
    return bytes_text(value) if column.unit == "bytes" else f"{number_text(value)} s"


def _imbalance(values: Sequence[float | None]) -> str:
    """Of two machines or more."""
    known: list[Any] = [value for value in values if value is not None]
    middle = median(known) if len(known) > 1 else 0.0
    return f"{max(known) / middle:.2f}" if middle > 0 else "-"


SECTIONS.add("cluster_machines", _machines, place=1)
