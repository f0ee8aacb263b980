"""What staging took, as a section of a run's report: time, bytes, processors and memory, apart from the jobs'."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from assay.model.base import json_text
from assay.model.naming import bytes_text
from assay.model.registry import SECTIONS
from assay.model.section import RunView
from assay.model.trial_summary import StagingUse, TrialSummary
from assay.report.columns import RATIO, Column, grid, layout_table
from assay.report.nodes import TrialNodes
from assay.report.templates import template
from assay.report.words import seconds_text
from assay.stats.sample import PLACEMENT, WORK, is_valid
from assay.stats.staging import medians, staging_nodes

WIDTH = 78
"""Of a terminal's line."""
TITLE = "Staging"
MOST_NODES = 6
"""Trials whose nodes are shown one by one."""
NOTE = (
    "Medians of the trials. Input is one copy, uncompressed. Read and written are bytes of all media until the staged "
    "data were on them. The bytes written, read and kept at the end of staging, logs included, are also given per byte "
    "of input (amplification); written / copy is per byte of all copies."
)
UNKNOWN = (
    "Where bytes of input are missing, files were compressed, or a job made the input and nothing counted its bytes."
)
COUNTED = "What the store's servers counted is one copy of their bytes."


class StagedTrials(NamedTuple):
    """The trials of one combination: its levels, and what staging each took."""

    levels: Mapping[str, str]
    uses: Sequence[StagingUse]

    def middle(self, field: str) -> Mapping[str, float]:
        """Medians of what was counted by name: `traffic` or `kinds`."""
        counted: list[Mapping[str, float]] = [getattr(use, field) for use in self.uses]
        names = dict.fromkeys(name for each in counted for name in each)
        return {name: median(each.get(name, 0.0) for each in counted) for name in names}

    @property
    def promises(self) -> str:
        """What the store guaranteed, afterwards and meanwhile."""
        return "; ".join(dict.fromkeys(use.guaranteed for use in self.uses))


class StagingView(NamedTuple):
    """A `SectionView`. `names` are the factors to tell combinations apart by.

    `nodes` are by trial, as they were while it staged.
    """

    names: Sequence[str]
    rows: Sequence[StagedTrials]
    nodes: Mapping[str, TrialNodes]

    @property
    def is_news(self) -> bool:
        """Whether it says more than that files were put: servers counted, or stores or promises differ."""
        promises = {(row.levels.get("store"), row.promises) for row in self.rows}
        return len(promises) > 1 or any(use.kinds for row in self.rows for use in row.uses)

    def summary_html(self) -> str:
        """A link to the section, where it is news."""
        return '<a href="#staging">What staging took</a> is below.' if self.is_news else ""

    def html(self) -> str:
        """The tables, and each node's figures."""
        return str(template("staging.html.j2").render(view=self, title=TITLE, notes=self._notes))

    def text(self) -> str:
        """The tables, where they are news."""
        if not self.is_news:
            return ""
        return "\n".join([f"{TITLE}:", *layout_table(self.figures, WIDTH), *layout_table(self.counted, WIDTH)])

    def markdown(self) -> str:
        """The tables."""
        tables = [grid(columns) for columns in (self.figures, self.counted) if columns]
        return "\n\n".join([f"## {TITLE}", *tables, " ".join(self._notes)])

    def json(self) -> str:
        """The figures of each combination, and of each node."""
        return json_text(
            [
                {
                    **row.levels, "trials": len(row.uses), "promise": row.promises, **medians(row.uses),
                    "counted_bytes": row.middle("kinds"), "traffic_bytes": row.middle("traffic"),
                    "of_nodes": {
                        use.trial: {
                            "nodes": [node._asdict() for node in self.nodes[use.trial].uses],
                            "transfers": [transfer._asdict() for transfer in self.nodes[use.trial].transfers],
                        }
                        for use in row.uses
                        if use.trial in self.nodes
                    },
                }
                for row in self.rows
            ]
        )  # fmt: skip

    @property
    def figures(self) -> list[Column]:
        """Time, bytes, amplification, processors and memory of each combination, and what was promised."""
        middles = [medians(row.uses) for row in self.rows]

        def cells(name: str, kind: str) -> list[str]:
            return [_text(middle[name], kind) for middle in middles]

        columns = [
            Column("time", cells("staging_s", "s"), unit="s"),
            Column("input", cells("staged_bytes", "bytes")),
            Column("read", cells("staging_read_bytes", "bytes"), rank=4),
            Column("written", cells("staging_written_bytes", "bytes"), rank=1),
            Column("written / input", cells("write_amplification", "ratio")),
            Column("written / copy", cells("write_amplification_of_copy", "ratio"), rank=6),
            Column("read / input", cells("read_amplification", "ratio"), rank=7),
            Column("kept / input", cells("space_amplification", "ratio")),
            Column("processor", cells("staging_processor_s", "s"), unit="s", rank=5),
            Column("memory", cells("staging_memory_bytes", "bytes"), rank=8),
        ]
        known = [column for column in columns if set(column.cells) != {"-"}]
        promises = Column("guaranteed", [row.promises for row in self.rows], words=True, rank=2)
        return [*self._names, *known, promises]

    @property
    def counted(self) -> list[Column]:
        """What servers counted of their bytes, and what passed between processes, by purpose.

        What is 0 for all, of a column or of a row, is left out; no columns are left without any byte.
        """
        middles = [{**row.middle("kinds"), **row.middle("traffic")} for row in self.rows]
        shown = [at for at, middle in enumerate(middles) if any(middle.values())]
        columns = [
            Column(name, [_text(middles[at].get(name), "bytes") for at in shown], rank=rank)
            for rank, name in enumerate(name for name, nothing in self._counts_nothing.items() if not nothing)
        ]
        names = [column._replace(cells=[column.cells[at] for at in shown]) for column in self._names]
        return [*names, *columns] if columns else []

    @property
    def _counts_nothing(self) -> Mapping[str, bool]:
        """By name of what was counted, servers' first, whether it is 0 for all."""
        middles = [row.middle(field) for field in ("kinds", "traffic") for row in self.rows]
        names = dict.fromkeys(name for middle in middles for name in middle)
        return {name: not any(middle.get(name) for middle in middles) for name in names}

    @property
    def _names(self) -> list[Column]:
        return [Column(name, [row.levels[name] for row in self.rows], name=True) for name in self.names]

    @property
    def _notes(self) -> list[str]:
        uses = [use for row in self.rows for use in row.uses]
        unknown = UNKNOWN if any(use.input_bytes is None for use in uses) else ""
        processes = (
            "Where others use a device too, read and written are the processes' own bytes."
            if any(use.disks_estimated for use in uses)
            else ""
        )
        counted = COUNTED if any(any(use.kinds.values()) for use in uses) else ""
        nothing = [name for name, nothing in self._counts_nothing.items() if nothing]
        zeros = f"Counted as 0 throughout: {', '.join(nothing)}." if nothing else ""
        return [note for note in (NOTE, unknown, processes, counted, zeros) if note]


def _staging(run: RunView) -> StagingView | None:
    """Make the section; None where no record says how much was staged."""
    by_levels: dict[tuple[tuple[str, str], ...], list[TrialSummary]] = {}
    for summary in run.trials:
        if is_valid(summary) and summary.staged is not None:
            by_levels.setdefault(tuple(sorted(summary.factors.items())), []).append(summary)
    rows = [
        StagedTrials(dict(alike[0].factors), uses)
        for alike in by_levels.values()
        if (uses := [summary.staging for summary in alike if summary.staging is not None])
    ]
    if not rows:
        return None
    nodes: dict[str, TrialNodes] = {}
    for first, *_ in by_levels.values():
        if len(nodes) == MOST_NODES:
            break
        of_nodes, passed = staging_nodes(run.record(first.id))
        if of_nodes:
            nodes[first.id] = TrialNodes(of_nodes, passed, (), first.trial.cluster.network)
    factors = dict.fromkeys((*WORK, *rows[0].levels))
    names = [name for name in factors if len({row.levels.get(name) for row in rows}) > 1 and name != PLACEMENT]
    rows.sort(key=lambda row: [row.levels.get(name, "") for name in names])
    return StagingView([*(names or ["workload"]), PLACEMENT], rows, nodes)


def _text(value: float | None, kind: str) -> str:
    if value is None:
        return "-"
    return {"bytes": bytes_text, "s": seconds_text, "ratio": RATIO}[kind](value)


SECTIONS.add("staging", _staging, place=2)
