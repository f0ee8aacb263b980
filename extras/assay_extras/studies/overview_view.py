"""All runs of the studies in one figure and one table: published against measured ratios."""

import math
from collections.abc import Sequence
from html import escape
from textwrap import fill
from typing import NamedTuple

from assay.report.charts.drawing import FAINT, INK, LETTER_ROOM_PX, PALE, PAPER, SOFT, figure, rect, text
from assay.report.charts.elapsed import PALETTE
from assay.report.columns import Column
from assay.report.templates import template
from assay_extras.studies.comparison import POSSIBLE, Agreement
from assay_extras.studies.figures import MARKS
from assay_extras.studies.kept import StudyRun
from assay_extras.studies.overview import (
    GOAL_AGREED,
    GOAL_DECIDED,
    Compared,
    ExperimentGroup,
    StatementVerdicts,
    StudiesOverview,
)
from assay_extras.studies.score_view import headline, score_tables

TICKS = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5)
"""Of both axes; what lies beyond them is drawn at their ends."""
WIDTH_PX, LEFT_PX, RIGHT_PX, TOP_PX, PLOT_PX, ROW_PX, INSET_PX = 720, 64, 12, 56, 560, 22, 8
HEADER = ("experiment", "decided", "agree", "smaller", "ties", "too short", "pairs", "deviation", "for 70 %")
DETAIL_HEADER = ("table", "place", "ratio of", "published", "measured", "direction")
STATEMENTS_HEADER = (
    "statement", "claim", "confirmed", "refuted", "undecided", "places for, against, unclear", "ratios of single pairs",
    "decided by the scale",
)  # fmt: skip
RUNS_HEADER = ("experiment", "day", "trials", "machine")
SHOWN: tuple[Agreement, ...] = ("differs", "agrees", "undecided")
LEFT_OUT: tuple[Agreement, ...] = ("too short", "published tie", "follows from the set-up")
MARKDOWN_WIDTH = 140
ABOUT = (
    "decided: comparisons whose direction both the study and the run show, of those that can show one; agree: of "
    "these; smaller: undecided, but an effect as large as the study's is ruled out. Left out: ties (the study shows no "
    "difference) and what is too short to show the study's difference as half a second. deviation: of a pair's log "
    "ratio; for 70 %: repetitions that would decide 70 %, if the measured ratios are the true ones."
)


class _Dot(NamedTuple):
    """A comparison that has both ratios."""

    comparison: Compared
    published: float
    measured: float


class _Scale:
    """One logarithmic scale for both axes, which ends at ticks."""

    def __init__(self, values: Sequence[float]) -> None:
        least, most = min([0.5, *values]), max([2.0, *values])
        self.first = max((tick for tick in TICKS if tick <= least), default=TICKS[0])
        self.last = min((tick for tick in TICKS if tick >= most), default=TICKS[-1])
        self.ticks = [tick for tick in TICKS if self.first <= tick <= self.last]

    def holds(self, dot: _Dot) -> bool:
        return all(self.first <= ratio <= self.last for ratio in (dot.published, dot.measured))

    def share(self, value: float) -> float:
        clipped = min(max(value, self.first), self.last)
        return math.log(clipped / self.first) / math.log(self.last / self.first)

    def x(self, value: float) -> float:
        return LEFT_PX + INSET_PX + self.share(value) * (WIDTH_PX - LEFT_PX - RIGHT_PX - 2 * INSET_PX)

    def y(self, value: float) -> float:
        return TOP_PX + INSET_PX + (PLOT_PX - 2 * INSET_PX) * (1 - self.share(value))


def overview_svg(overview: StudiesOverview) -> str:
    """Each comparison that can be decided as a dot with its interval; full where it is decided."""
    drawn = [
        _Dot(comparison, comparison.published_ratio, comparison.measured_ratio)
        for comparison in sorted(overview.comparisons, key=lambda comparison: comparison.decided)
        if comparison.agreement in POSSIBLE and comparison.published_ratio and comparison.measured_ratio
    ]
    scale = _Scale([ratio for dot in drawn for ratio in (dot.published, dot.measured)])
    shown = {dot.comparison.experiment for dot in drawn}
    names = [group.name for group in overview.groups if group.name in shown]
    looks = {name: (PALETTE[index % len(PALETTE)], MARKS[index % len(MARKS)]) for index, name in enumerate(names)}
    beyond = sum(not scale.holds(dot) for dot in drawn)
    about = "below 1: the second of two drives or settings is faster"
    parts = [
        text(0, 16, "Ratios, published and measured", 'font-weight="600" font-size="14"'),
        text(0, 36, f"{about}; {beyond} at an edge lie beyond it" if beyond else about),
        _frame(scale),
        *(_drawn(scale, dot, *looks[dot.comparison.experiment]) for dot in drawn),
    ]
    legend, height = _legend(looks)
    return figure(height, [*parts, legend], "published against measured ratios, logarithmic", "chart", WIDTH_PX)


def standalone(svg: str) -> str:
    """The figure as a file of its own, in the colours of the page around it, light or dark."""
    style = str(template("overview.css.j2", "assay_extras.studies").render())
    begin = svg.index(">") + 1
    return f"{svg[:begin]}<style>{style}</style>{rect(0, 0, WIDTH_PX, 4000, PAPER)}{svg[begin:]}\n"


def _frame(scale: _Scale) -> str:
    """Grid, the line on which both ratios are equal, and a tint where the directions agree."""
    left, right, bottom = LEFT_PX, WIDTH_PX - RIGHT_PX, TOP_PX + PLOT_PX
    x1, y1 = scale.x(1), scale.y(1)
    parts = [rect(left, y1, x1 - left, bottom - y1, PALE), rect(x1, TOP_PX, right - x1, y1 - TOP_PX, PALE)]
    for tick in scale.ticks:
        x, y, stroke = scale.x(tick), scale.y(tick), SOFT if tick == 1 else FAINT
        parts += [
            f'<path d="M{x:.1f},{TOP_PX}V{bottom}M{left},{y:.1f}H{right}" stroke="{stroke}"/>',
            text(x, bottom + 18, f"{tick:g}", 'text-anchor="middle"'),
            text(left - 8, y + 4, f"{tick:g}", 'text-anchor="end"'),
        ]
    ends = [f"{scale.x(tick):.1f},{scale.y(tick):.1f}" for tick in (scale.first, scale.last)]
    parts.append(f'<path d="M{"L".join(ends)}" stroke="{SOFT}" stroke-dasharray="5 4"/>')
    for label, x, y in (("same direction", left + 12, y1 + 20), ("opposite direction", left + 12, y1 - 10)):
        parts.append(text(x, y, label, f'fill="{SOFT}"'))
    parts.append(text(right, bottom + 38, "published ratio", 'text-anchor="end"'))
    middle = TOP_PX + PLOT_PX / 2
    turned = f'text-anchor="middle" transform="rotate(-90 14 {middle:.0f})"'
    return "".join([*parts, text(14, middle, "measured ratio, with 95 % interval", turned)])


def _drawn(scale: _Scale, dot: _Dot, colour: str, shape: str) -> str:
    comparison, x, y = dot.comparison, scale.x(dot.published), scale.y(dot.measured)
    bar = ""
    if comparison.low is not None and comparison.high is not None:
        weight = 'stroke-width="1.4"' if comparison.decided else 'stroke-width="1" stroke-opacity="0.35"'
        ends = f"{scale.y(comparison.low):.1f}V{scale.y(comparison.high):.1f}"
        bar = f'<path d="M{x:.1f},{ends}" stroke="{colour}" {weight}/>'
    fill = colour if comparison.decided else PAPER
    mark = f'<path d="{shape}" transform="translate({x:.1f},{y:.1f})" fill="{fill}" stroke="{colour}"/>'
    tooltip = f"{comparison.table}, {comparison.place}: {comparison.of}: "
    tooltip += f"published {dot.published:.2f}, measured {_measured(comparison)}"
    return f"<g><title>{escape(tooltip)}</title>{bar}{mark}</g>"


def _legend(looks: dict[str, tuple[str, str]]) -> tuple[str, float]:
    """Below the axis, as many in a row as fit; and how far down it goes."""
    entries = [(label(name), colour, shape, colour) for name, (colour, shape) in looks.items()]
    entries += [("decided", INK, MARKS[0], INK), ("undecided", INK, MARKS[0], PAPER)]
    parts: list[str] = []
    x, y = 6.0, float(TOP_PX + PLOT_PX + 66)
    for caption, colour, shape, inside in entries:
        wide = 26 + len(caption) * LETTER_ROOM_PX
        if x + wide > WIDTH_PX and parts:
            x, y = 6.0, y + ROW_PX
        parts.append(
            f'<path d="{shape}" transform="translate({x + 6:.1f},{y - 4.5})" fill="{inside}" stroke="{colour}"/>'
        )
        parts.append(text(x + 18, y, caption))
        x += wide
    return "".join(parts), y + 12


def label(experiment: str) -> str:
    """`thesis-tables-6-8-scaled` in words: `thesis, tables 6-8`."""
    study, kind, *rest = experiment.replace("-scaled", "").split("-")
    return f"{study}, {kind} {'-'.join(rest)}"


def overview_columns(overview: StudiesOverview) -> list[Column]:
    """The table: a row for each experiment, and one for all."""
    rows = [_row(group) for group in (*overview.groups, overview.all)]
    return [
        Column(heading, [row[index] for row in rows], name=not index, rank=0 if index < 3 else 1)
        for index, heading in enumerate(HEADER)
    ]


def overview_markdown(overview: StudiesOverview, runs: Sequence[StudyRun]) -> str:
    """The tables of experiments and of their runs; every comparison, those that differ first; and those left out."""
    groups = table(HEADER, [_row(group) for group in (*overview.groups, overview.all)])
    parts = [wrapped(sentence) for sentence in (headline(overview), goal_words(overview.all)) if sentence]
    parts += [groups, wrapped(ABOUT)]
    for score_table in score_tables(overview):
        parts += [f"## {score_table.title}", table(score_table.header, score_table.rows), wrapped(score_table.about)]
    rows = [(label(run.experiment), run.day, f"{run.trials}", run.machine) for run in runs]
    parts += ["## Runs", table(RUNS_HEADER, rows)]
    if overview.statements:
        parts += ["## Statements", wrapped(statements_words(overview))]
        parts.append(table(STATEMENTS_HEADER, list(map(_statement_row, overview.statements))))
    for title, agreements in (("Comparisons", SHOWN), ("Left out", LEFT_OUT)):
        detailed = [
            comparison
            for agreement in agreements
            for comparison in overview.comparisons
            if comparison.agreement == agreement
        ]
        parts += [f"## {title}", table(DETAIL_HEADER, [_detail(comparison) for comparison in detailed])]
    return "\n\n".join(parts) + "\n"


def wrapped(sentence: str) -> str:
    """A paragraph in Markdown; names with hyphens stay whole."""
    return fill(sentence, MARKDOWN_WIDTH, break_on_hyphens=False, break_long_words=False)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """In Markdown."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *rows))


def _detail(comparison: Compared) -> tuple[str, ...]:
    published = "-" if comparison.published_ratio is None else f"{comparison.published_ratio:.2f}"
    direction = f"{comparison.agreement}, smaller" if comparison.smaller else comparison.agreement
    return (comparison.table, comparison.place, comparison.of, published, _measured(comparison), direction)


def goal_words(group: ExperimentGroup) -> str:
    """How far the goals are met, and what was left out."""
    decided = group.decided / group.possible if group.possible else 0.0
    agreed = group.agreed / group.decided if group.decided else 0.0
    shown, left_out = group.possible + group.too_short, (group.too_short_decided, group.too_short_agreed)
    set_up = f" {group.set_up} more follow from the set-up, and do not count." if group.set_up else ""
    return (
        f"Of {shown + group.ties} comparisons the study shows a direction in {shown}. {group.too_short} of these are "
        f"left out: a change like the study's would be below half a second here (with them "
        f"{group.decided + left_out[0]} of {shown} are decided, and {group.agreed + left_out[1]} agree). "
        f"Of the other {group.possible}, {group.decided} are decided ({decided:.0%}; the goal is {GOAL_DECIDED:.0%}): "
        f"{group.agreed} agree with the study ({agreed:.0%}; the goal is {GOAL_AGREED:.0%}), "
        f"{group.decided - group.agreed} differ. "
        f"{group.smaller} of the undecided rule out an effect as large as the study's; "
        f"{group.possible - group.decided - group.smaller} are open. "
        f"In {group.alike} of those that agree the study's ratio lies within the interval. "
        f"Where the study shows none ({group.ties}), the run shows one in {group.ties_decided}.{set_up}"
    )


def statements_words(overview: StudiesOverview) -> str:
    """How many statements came out how, each by its clearest verdicts; nothing without any."""
    all_statements = overview.statements
    both = sum(bool(statement.confirmed and statement.refuted) for statement in all_statements)
    confirmed, refuted = (
        sum(bool(statement.confirmed) for statement in all_statements) - both,
        sum(bool(statement.refuted) for statement in all_statements) - both,
    )
    counts = [(confirmed, "confirmed"), (refuted, "refuted"), (both, "both, by different runs"),
              (len(all_statements) - confirmed - refuted - both, "undecided")]  # fmt: skip
    counts_text = ", ".join(f"{count} {verdict}" for count, verdict in counts if count)
    by_scale = [statement for statement in all_statements if statement.scale and statement.verdict != "undecided"]
    refuted_by_scale = sum(statement.verdict == "refuted" for statement in by_scale)
    more = (
        f" {len(by_scale)} of these verdicts are decided by the scale ({refuted_by_scale} of them refutations): with "
        "another choice of the scaled experiments there is another verdict, or it was not tried."
        if by_scale
        else ""
    )
    return f"Statements that runs speak of: {counts_text}.{more}" if all_statements else ""


def _statement_row(statement: StatementVerdicts) -> tuple[str, ...]:
    named = [
        ", ".join(map(label, names)) or "-" for names in (statement.confirmed, statement.refuted, statement.undecided)
    ]
    places = ", ".join(str(statement.places[truth]) for truth in ("yes", "no", "unclear"))
    ratios = "-" if statement.ratios is None else f"{statement.ratios[0]:.2f} to {statement.ratios[1]:.2f}"
    return (statement.id, statement.claim, *named, places, ratios, statement.scale or "-")


def _row(group: ExperimentGroup) -> tuple[str, ...]:
    return (
        "all" if group.name == "all" else label(group.name),
        f"{group.decided} of {group.possible}",
        f"{group.agreed}",
        f"{group.smaller}",
        f"{group.ties}",
        f"{group.too_short}",
        f"{group.pairs}",
        "-" if group.deviation is None else f"{group.deviation:.2f}",
        "-" if group.repetitions is None else f"{group.repetitions}",
    )


def _measured(comparison: Compared) -> str:
    if comparison.measured_ratio is None:
        return "-"
    interval = "" if comparison.low is None else f"{comparison.low:.2f} to {comparison.high:.2f}, "
    return f"{comparison.measured_ratio:.2f} ({interval}{comparison.pairs} pairs)"
