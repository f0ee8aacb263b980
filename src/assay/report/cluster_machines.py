"""An existing cluster's machines in a run's report: what each way to see them added, and each machine's figures.

The ways are the probes of existing clusters; which columns they have they say themselves.
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from statistics import median
from typing import Any, NamedTuple

from assay.model.base import json_text
from assay.model.naming import bytes_text
from assay.model.probe import NodeColumn, ProbeKind
from assay.model.record import Record
from assay.model.registry import PLATFORMS, PROBES, SECTIONS
from assay.model.section import RunView
from assay.model.trial import NO_PROBES
from assay.model.trial_summary import TrialSummary
from assay.report.analysis import trials_in_detail
from assay.report.columns import Column, grid
from assay.report.templates import template
from assay.report.words import capitalised, number_text

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
        """A sentence or two about the way."""
        coverage = f"Figures of {self.machines} machine{'s' * (self.machines != 1)} in {self.trials} trial"
        coverage = f"{coverage}{'s' * (self.trials != 1)}." if self.trials else "No figures."
        return " ".join(map(capitalised, filter(None, (f"{self.adds}.", coverage, self.amiss))))


class MachinesTable(NamedTuple):
    """One trial's machines: each one's figures while the jobs ran, in the order of the columns."""

    trial: str
    columns: Sequence[NodeColumn]
    rows: Sequence[tuple[str, Sequence[float | None]]]
    left_out: int

    def figures(self) -> list[Column]:
        """The table's columns, with the most over the median of each as its last line."""
        by_column = list(zip(*(values for _, values in self.rows), strict=True))
        names = [*(name for name, _ in self.rows), "most over median"]
        cells = [
            Column(column.title, [*(_text(value, column) for value in values), _imbalance(values)])
            for column, values in zip(self.columns, by_column, strict=True)
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
                    name: {
                        f"{column.title} ({column.unit})": value
                        for column, value in zip(table.columns, values, strict=True)
                    }
                    for name, values in table.rows
                },
            }
            for table in self.tables
        ]
        return json_text({"ways": [way._asdict() for way in self.ways], "trials": tables})


def _machines(run: RunView) -> MachinesView | None:
    """Make the section; None for runs on clusters that Assay started."""
    with_machines = [
        summary for summary in run.trials
        if (kind := PLATFORMS.get(summary.trial.cluster.kind)) is not None and not kind.is_managed
    ]  # fmt: skip
    kinds = {name: kind for name, kind in PROBES.items() if kind.foreign and kind.adds}
    ways = [way for name, kind in kinds.items() if (way := _way(name, kind, with_machines)) is not None]
    if not with_machines or not ways:
        return None
    records = (run.record(summary.id) for summary in trials_in_detail(with_machines))
    shown = islice((record for record in records if record.amounts), MOST_TRIALS)
    return MachinesView(ways, [table for record in shown if (table := _table(record, kinds)) is not None])


def _way(name: str, kind: ProbeKind, summaries: Sequence[TrialSummary]) -> Way | None:
    """Describe a way; None where it was not requested: it left neither figures nor doubts."""
    counted = [set(summary.seen_nodes.get(name, ())) for summary in summaries]
    machines, trials = set().union(*counted), sum(map(bool, counted))
    doubts = [doubt.what for summary in summaries for doubt in summary.doubts if doubt.instrument == name]
    if not trials and not doubts:
        return None
    return Way(name, kind.adds, len(machines), trials, f"{doubts[0]}." if doubts else "")


def _table(record: Record, kinds: Mapping[str, ProbeKind]) -> MachinesTable | None:
    if record.trial.probes == NO_PROBES:
        return None
    of_nodes: dict[str, dict[tuple[str, str], list[tuple[str, float]]]] = {}
    for amount in record.amounts:
        if amount.part == "run" and amount.node and amount.probe in kinds:
            node_amounts = of_nodes.setdefault(amount.node, {})
            node_amounts.setdefault((amount.probe, amount.series), []).append((amount.subject, amount.value))
    known_columns: list[tuple[NodeColumn, dict[str, float]]] = []
    for name, kind in kinds.items():
        for column in kind.columns:
            values = {node: value for node, of in of_nodes.items() if (value := _sum(of, name, column)) is not None}
            if values:
                known_columns.append((column, values))
    if not known_columns:
        return None
    nodes = sorted(of_nodes, key=lambda node: [-values.get(node, 0.0) for _, values in known_columns])
    rows = [
        (node, [values.get(node) for _, values in known_columns])
        for node in nodes
        if any(node in of for _, of in known_columns)
    ]
    left_out = max(0, len(rows) - MOST_MACHINES)
    return MachinesTable(record.trial.id, [column for column, _ in known_columns], rows[:MOST_MACHINES], left_out)


def _sum(of: Mapping[tuple[str, str], list[tuple[str, float]]], probe: str, column: NodeColumn) -> float | None:
    values = [
        value
        for series in column.series
        for subject, value in of.get((probe, series), ())
        if column.subject in {"", subject, subject.partition(" ")[0]}  # with its port where a machine has several
    ]
    return sum(values) if values else None


def _text(value: float | None, column: NodeColumn) -> str:
    if value is None:
        return "-"
    return bytes_text(value) if column.unit == "bytes" else f"{number_text(value)} s"


def _imbalance(values: Sequence[float | None]) -> str:
    """Return the most over the median, of two machines or more."""
    known: list[Any] = [value for value in values if value is not None]
    middle = median(known) if len(known) > 1 else 0.0
    return f"{max(known) / middle:.2f}" if middle > 0 else "-"


SECTIONS.add("cluster_machines", _machines, place=1)
