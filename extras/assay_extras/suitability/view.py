"""Which workload suits which of two levels of a factor, as a section of a run's report: sentences, chart and table."""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import NamedTuple

from assay.model.base import json_text
from assay.model.fact import Value
from assay.model.trial import Plan
from assay.model.trial_summary import TrialSummary
from assay.report.columns import Column, escaped, grid, layout_table, with_intervals
from assay.report.templates import template
from assay.report.words import labels_of, level_text, number_text, significant_text
from assay.stats.estimate import Estimate
from assay_extras.suitability.chart import MEGA, suitability_chart
from assay_extras.suitability.suited import LEAST_WORKLOADS, Side, Suitability, SuitabilityLine, suitabilities

CANNOT = "cannot"
WIDTH = 80
"""Of a terminal's line."""
NOTE = (
    "Moved: bytes that all media read and wrote in the base's run, write-out included, for each second of its tasks' "
    "processor time. All intervals are 95 %; which one suits is corrected for all workloads"
)
ESTIMATED = (
    "Of a device that nodes share with each other or with other programs, moved is what the nodes' processes read and "
    "wrote"
)


class SuitabilityView(NamedTuple):
    """A `SectionView`: each two levels of a factor that at least two workloads ran with."""

    every: Sequence[Suitability]

    @property
    def head(self) -> str:
        """The section's heading."""
        return f"Which job suits which {' and '.join(dict.fromkeys(suited.factor for suited in self.every))}"

    @property
    def note(self) -> str:
        """What the columns mean."""
        estimated = any(workload.moved_estimated for suited in self.every for workload in suited.workloads)
        return f"{NOTE}. {ESTIMATED}" if estimated else NOTE

    def setting(self, suited: Suitability) -> str:
        """What tells it from the others of the same two levels: `placement ssd`; empty where there is no other."""
        alike = [other for other in self.every if (other.base, other.level) == (suited.base, suited.level)]
        return ", ".join(
            level_text(name, level)
            for name, level in suited.others.items()
            if len({other.others.get(name, "") for other in alike}) > 1
        )

    def summary_html(self) -> str:
        """A link to the section."""
        return f'<a href="#suitability">{self.head}</a> is below.'

    def html(self) -> str:
        """Sentences, the figure and the table of each two levels."""
        shown = [
            {
                "sentences": list(sentences(suited, self.setting(suited))),
                "chart": suitability_chart(suited, _labels(suited)[: len(suited.workloads)]),
                "columns": list(_columns(suited)),
            }
            for suited in self.every
        ]
        section = template("suitability.html.j2", "assay_extras.suitability")
        return str(section.render(head=self.head, shown=shown, note=self.note))

    def text(self) -> str:
        """Sentences and tables, at 80 columns."""
        lines = [f"{self.head}:"]
        for suited in self.every:
            for sentence in sentences(suited, self.setting(suited)):
                lines += wrap(sentence, WIDTH, initial_indent="  ", subsequent_indent="    ")
            lines += layout_table(list(with_intervals(list(_columns(suited)))), WIDTH)
        return "\n".join(lines)

    def markdown(self) -> str:
        """Sentences and tables."""
        parts = [f"## {self.head}"]
        for suited in self.every:
            parts += [
                "\n".join(f"- {escaped(sentence)}" for sentence in sentences(suited, self.setting(suited))),
                grid(list(_columns(suited))),
            ]
        return "\n\n".join([*parts, f"{self.note}."])

    def json(self) -> str:
        """All of it."""
        return json_text([suited.model_dump(mode="json") for suited in self.every])

    def rows(self) -> Iterator[Mapping[str, Value]]:
        """A line for each workload with each two levels: which suits, the bytes per processor second, the ratio."""
        for suited in self.every:
            for workload in suited.workloads:
                yield {
                    **workload.levels,
                    "factor": suited.factor,
                    "base": suited.base,
                    "level": suited.level,
                    "suits": suited.suits(workload),
                    "base_trials": workload.base_trials,
                    "trials": workload.trials,
                    **_ends_of("moved_bytes_per_cpu_s", workload.moved),
                    "moved_estimated": workload.moved_estimated,
                    **_ends_of("ratio", workload.ratio),
                }
            for other in suited.impossible:
                levels = {"factor": suited.factor, "base": suited.base, "level": suited.level}
                yield {**other.levels, **levels, "suits": CANNOT, "reason": other.reason}


def _ends_of(name: str, estimate: Estimate) -> dict[str, Value]:
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def sentences(suited: Suitability, setting: str = "") -> Iterator[str]:
    """What the two levels have to do with what is moved: how many suit which, the line, and where it crosses."""
    ratios = [workload.ratio.value for workload in suited.workloads]
    counts = [(side, sum(workload.side is side for workload in suited.workloads)) for side in Side]
    whole = ", ".join(_counted_text(suited, side, count) for side, count in counts if count)
    begin = f"With {setting}: " if setting else ""
    yield (
        f"{begin}{len(ratios)} workloads took {min(ratios):.2f} to {max(ratios):.2f} times as long with {suited.level} "
        f"as with {suited.base}. A store suits a workload where it saves {100 * suited.worth:g} % or more of the "
        f"other's time: {whole}."
    )
    if suited.impossible:
        reasons = dict.fromkeys(other.reason for other in suited.impossible)
        yield f"Not possible with {suited.level}: {'; '.join(reasons)}."
    line = suited.line
    if line is None:
        yield f"There is no line: it takes {LEAST_WORKLOADS} workloads that differ in what they move."
    elif not line.tells:
        low, high = line.slope_interval
        yield (
            f"What a job moves does not tell which suits it: for ten times the bytes the ratio of times changes by a "
            f"factor of {10**line.slope:.2f} (95 % interval {10**low:.2g} to {10**high:.2g}), which may be none."
        )
    else:
        more = "longer" if line.slope > 0 else "shorter"
        yield (
            f"The more a job moves for its computing, the {more} it takes with {suited.level} compared with "
            f"{suited.base}: for ten times the bytes the ratio of times changes by a factor of {10**line.slope:.2f} "
            f"({_times(line)})."
        )
        yield from _crossing_text(suited, line)


def _labels(suited: Suitability) -> list[str]:
    ran, impossible = ([each.levels for each in some] for some in (suited.workloads, suited.impossible))
    return labels_of([*ran, *impossible])


def _times(line: SuitabilityLine) -> str:
    low, high = line.slope_interval
    return f"95 % interval {10**low:.2f} to {10**high:.2f}"


def _counted_text(suited: Suitability, side: Side, count: int) -> str:
    return {
        Side.BASE: f"{suited.base} suits {count}", Side.LEVEL: f"{suited.level} suits {count}",
        Side.EITHER: f"either does for {count}",
        Side.NOT_KNOWN_YET: f"{count} {'is' if count == 1 else 'are'} not known yet",
    }[side]  # fmt: skip


def _crossing_text(suited: Suitability, line: SuitabilityLine) -> Iterator[str]:
    ends = f"{number_text(line.least / MEGA)} to {number_text(line.most / MEGA)} MB"
    thresholds = ((suited.base, suited.base_suits_above), (suited.level, suited.level_suits_below))
    crossings = [(name, line.crossing(ratio)) for name, ratio in thresholds]
    for name, crossing in crossings:
        if crossing is not None:
            way = "from" if (line.slope > 0) is (name == suited.base) else "up to"
            moved = significant_text(crossing.value / MEGA)
            yield f"On the fitted line {name} suits {way} {moved} MB for a second of computing ({_ends(crossing)})."
    if not any(crossing for _, crossing in crossings):
        ratio = line.ratio(line.places[len(line.places) // 2]).value
        side = suited.base if ratio > suited.base_suits_above else suited.level
        lies = (
            f"on the side of {side}"
            if not suited.level_suits_below <= ratio <= suited.base_suits_above
            else "between both"
        )
        yield f"The fitted line lies {lies} all along what was measured, {ends} for a second of computing."


def _ends(crossing: Estimate) -> str:
    """The interval of a crossing; open where the line's own reaches the end of what was measured."""
    low, high = (None if end is None else f"{significant_text(end / MEGA)} MB" for end in (crossing.low, crossing.high))
    if low and high:
        return f"95 % interval {low.removesuffix(' MB')} to {high}"
    ends = f"from {low} on" if low else f"up to {high}" if high else "all that was measured"
    return f"95 % interval: {ends}"


def _columns(suited: Suitability) -> Iterator[Column]:
    moved, ratios = ([getattr(workload, name) for workload in suited.workloads] for name in ("moved", "ratio"))
    none = [""] * len(suited.impossible)
    dashes, unknown = ["-" for _ in none], [None for _ in none]
    yield Column("workload", _labels(suited), name=True)
    yield Column(
        "moved", [*(number_text(estimate.value / MEGA) for estimate in moved), *dashes], unit="MB/processor s",
        intervals=[*(_interval(estimate, MEGA) for estimate in moved), *none],
        values=[*(estimate.value for estimate in moved), *unknown],
    )  # fmt: skip
    yield Column(
        f"time {suited.level} / {suited.base}", [*(f"{ratio.value:.2f}" for ratio in ratios), *dashes],
        intervals=[*map(_interval, ratios), *none], values=[*(ratio.value for ratio in ratios), *unknown],
    )  # fmt: skip
    suits = [*(suited.suits(workload) for workload in suited.workloads), *(CANNOT for _ in none)]
    yield Column("suits", suits, words=True)
    trials = [f"{workload.base_trials} and {workload.trials}" for workload in suited.workloads]
    yield Column("trials", [*trials, *dashes], rank=1)


def _interval(estimate: Estimate, unit: float = 1.0) -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    return " to ".join(number_text(end / unit) for end in (estimate.low, estimate.high))


def suitability_view(plan: Plan, summaries: Sequence[TrialSummary]) -> SuitabilityView | None:
    """Make the section; None where no two workloads ran with two levels."""
    every = suitabilities(plan, summaries)
    return SuitabilityView(every) if every else None
