"""How long single gets of rows took, as a section of a run's report."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assay.model.base import json_text
from assay.model.gets import Bounds, GetTimes, get_times
from assay.model.registry import SECTIONS
from assay.model.section import RunView
from assay.model.trial_summary import TrialSummary
from assay.report.columns import Column, grid, layout_table
from assay.report.templates import template
from assay.report.words import labels_of, significant_text
from assay.stats.sample import PLACEMENT, is_valid

WIDTH = 78
"""Of a terminal's line."""
TITLE = "How long single gets took"
NOTE = (
    "From a client's call until it had the row; calls for several rows, and scans, are not timed. Times are counted in "
    "buckets, ten for each factor of ten: p50 and p99 of all trials together lie between these bounds, those of single "
    "trials somewhere between the bounds beside them."
)


class TimedGets(NamedTuple):
    """The trials of one combination: what they computed, all levels, the times of all together and of each."""

    work: str
    levels: Mapping[str, str]
    pooled: GetTimes
    trials: Sequence[GetTimes]

    @property
    def spread(self) -> Mapping[str, Bounds]:
        """By percentile, between which bounds those of all single trials lie."""
        return {
            "p50_s": _around([times.p50_s for times in self.trials]),
            "p99_s": _around([times.p99_s for times in self.trials]),
        }


class GetsView(NamedTuple):
    """A `SectionView`."""

    rows: Sequence[TimedGets]

    def summary_html(self) -> str:
        """A link to the section."""
        return f'<a href="#gets">{TITLE}</a> is below.'

    def html(self) -> str:
        """The table."""
        return str(template("gets.html.j2").render(title=TITLE, columns=self.columns, note=NOTE))

    def text(self) -> str:
        """The table."""
        return "\n".join([f"{TITLE}:", *layout_table(self.columns, WIDTH)])

    def markdown(self) -> str:
        """The table."""
        return "\n\n".join([f"## {TITLE}", grid(self.columns), NOTE])

    def json(self) -> str:
        """The percentiles of each combination, and between which bounds those of its trials lie."""
        return json_text(
            [
                {**row.levels, "trials": len(row.trials), **row.pooled.model_dump(), "of_trials": row.spread}
                for row in self.rows
            ]
        )

    @property
    def columns(self) -> list[Column]:
        """Each combination's percentiles, and the range of its trials'."""
        rows = self.rows
        return [
            Column("workload", [row.work for row in rows], name=True),
            Column(PLACEMENT, [row.levels[PLACEMENT] for row in rows], name=True),
            Column("trials", [str(len(row.trials)) for row in rows], rank=2),
            Column("gets", [f"{row.pooled.gets:,}" for row in rows], rank=1),
            Column("p50", [_text(row.pooled.p50_s) for row in rows], unit="ms"),
            Column("trials' p50", [_text(row.spread["p50_s"]) for row in rows], unit="ms", rank=3),
            Column("p99", [_text(row.pooled.p99_s) for row in rows], unit="ms"),
            Column("trials' p99", [_text(row.spread["p99_s"]) for row in rows], unit="ms", rank=3),
        ]


def _around(every: Sequence[Bounds]) -> Bounds:
    most = [high for _, high in every if high is not None]
    return min(low for low, _ in every), max(most) if len(most) == len(every) else None


def _text(bounds: Bounds) -> str:
    low, high = bounds
    return f"above {_ms(low)}" if high is None else f"{_ms(low)} to {_ms(high)}"


def _ms(seconds: float) -> str:
    return significant_text(1000 * seconds)


def _gets(run: RunView) -> GetsView | None:
    """Make the section; None where no trial that counts has timed a get."""
    by_levels: dict[tuple[tuple[str, str], ...], list[TrialSummary]] = {}
    for summary in run.trials:
        if is_valid(summary) and summary.gets:
            by_levels.setdefault(tuple(summary.factors.items()), []).append(summary)
    works = [tuple(level for level in levels if level[0] != PLACEMENT) for levels in by_levels]
    distinct = list(dict.fromkeys(works))
    labels = dict(zip(distinct, labels_of([dict(work) for work in distinct]), strict=True))
    rows = []
    for work, (levels, alike) in zip(works, by_levels.items(), strict=True):
        pooled = sum((Counter(summary.gets) for summary in alike), Counter[str]())
        together, *each = (get_times(gets, alike[0].times_slower) for gets in (pooled, *(one.gets for one in alike)))
        if together is not None:
            rows.append(TimedGets(labels[work], dict(levels), together, list(filter(None, each))))
    places = {name: place for place, name in enumerate(run.plan.placements)}
    rows.sort(key=lambda row: (row.work, places.get(row.levels[PLACEMENT], len(places))))
    return GetsView(rows) if rows else None


SECTIONS.add("gets", _gets, place=2)
