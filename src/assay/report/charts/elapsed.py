"""Elapsed times of every combination."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assay.model.trial_summary import TrialSummary
from assay.report.charts import drawing as svg
from assay.report.columns import interval_words
from assay.report.words import seconds_text
from assay.stats.sample import is_valid, is_wrong
from assay.stats.summary import Row

PALETTE = (svg.BLUE, svg.VERMILION, svg.GREEN, svg.PINK, svg.ORANGE, svg.SKY, svg.SLATE)
"""Names beside them tell the same."""
CAP_PX = 5
MOST_DOTS = 60


class ChartRow(NamedTuple):
    """One combination: its label, its colour's level, its trials, and how filters know it."""

    row: Row
    label: str
    level: str
    trials: Sequence[TrialSummary]
    marks: str

    @property
    def times(self) -> list[float]:
        """Seconds of the trials that count."""
        return [summary.elapsed_s for summary in self.trials if is_valid(summary) and summary.elapsed_s]

    @property
    def wrong(self) -> list[float]:
        """Seconds of trials that are excluded from all results, as their output is wrong."""
        return [summary.elapsed_s for summary in self.trials if is_wrong(summary) and summary.elapsed_s]


def elapsed_charts(panels: Mapping[str, Sequence[ChartRow]]) -> list[str]:
    """A figure as SVG for each title, all of the same width and colours; none without any time.

    Where one is too short for the axis of the others, its own says so.
    """
    known = {title: [row for row in lines if row.row.elapsed] for title, lines in panels.items()}
    known = {title: lines for title, lines in known.items() if lines}
    if not known:
        return []
    every = [row for lines in known.values() for row in lines]
    levels = dict.fromkeys(row.level for row in every)
    colours = {level: PALETTE[place % len(PALETTE)] for place, level in enumerate(levels)}
    left = svg.room_for(max(len(row.label) for row in every))
    right = left + svg.PLOT_PX
    width = right + svg.GAP_PX + max(len(_figures(row.row)) for row in every) * svg.LETTER_ROOM_PX
    greatest = {}
    for title, lines in known.items():
        intervals = [row.row.elapsed.interval for row in lines if row.row.elapsed]
        highs = [interval.high for interval in intervals if interval]
        greatest[title] = max([0.0, *highs, *(seconds for line in lines for seconds in (*line.times, *line.wrong))])
    ends = svg.common_axes(greatest)
    charts = []
    for title, lines in known.items():
        panel = svg.SecondsPanel(left, right, svg.HEAD_PX + len(lines) * svg.ROW_PX, ends[title])
        parts = [panel.frame(title, "elapsed, seconds" + axis_apart(title, ends))]
        for place, row in enumerate(lines):
            parts.append(_line(panel, svg.HEAD_PX + (place + 0.5) * svg.ROW_PX, row, colours[row.level], width))
        words = f"elapsed time of each combination of {title}, in seconds, with intervals"
        charts.append(svg.figure(panel.bottom + svg.AXIS_PX, parts, words, "chart", width))
    return charts


def axis_apart(title: str, ends: Mapping[str, float]) -> str:
    """Words for an axis that is shorter than that of other figures."""
    return "" if ends[title] == max(ends.values()) else "; shorter axis"


def _figures(row: Row) -> str:
    interval = interval_words(row.elapsed.interval if row.elapsed else None, seconds_text)
    return f"{seconds_text(row.elapsed_s)} s{f' ({interval})' if interval else ''}"


def _line(panel: svg.SecondsPanel, at: float, chart_row: ChartRow, colour: str, width: float) -> str:
    """Each trial as a ring, the interval as a line with ends, the median as a stroke across it; dashed if predicted."""
    if chart_row.row.elapsed is None:
        return ""
    middle, interval = chart_row.row.elapsed.value, chart_row.row.elapsed.interval
    dashes = ' stroke-dasharray="4 3"' if chart_row.row.predictor else ""
    parts = [svg.row_label(panel.left, at, chart_row.label)]
    parts += [
        f'<circle cx="{panel.x(time):.1f}" cy="{at:g}" r="3.2" fill="none" stroke="{colour}" stroke-opacity=".6"/>'
        for time in chart_row.times[:MOST_DOTS]
    ]
    parts += [
        f'<path class="wrong" d="M{panel.x(time) - 3:.1f},{at - 3:g}l6,6m0,-6l-6,6" stroke="{colour}" '
        'stroke-width="1.5" fill="none"/>'
        for time in chart_row.wrong[:MOST_DOTS]
    ]
    if interval:
        begin, end = f"{panel.x(interval.low):.1f}", f"{panel.x(interval.high):.1f}"
        caps = f"M{begin},{at - CAP_PX:g}v{2 * CAP_PX}M{end},{at - CAP_PX:g}v{2 * CAP_PX}"
        parts.append(f'<path d="M{begin},{at:g}H{end}{caps}" stroke="{svg.INK}" stroke-width="1.5"{dashes}/>')
    parts.append(f'<path d="M{panel.x(middle):.1f},{at - 9:g}v18" stroke="{colour}" stroke-width="3.5"{dashes}/>')
    figures = _figures(chart_row.row)
    parts.append(svg.text(panel.right + svg.GAP_PX, at + 4.5, figures))
    runs = (
        f"{chart_row.row.finished} run{'s' if chart_row.row.finished != 1 else ''}"
        if not chart_row.row.predictor
        else "not measured"
    )
    runs += f" and {len(chart_row.wrong)} with a wrong output" if chart_row.wrong else ""
    words = f"{chart_row.label}: {figures}, {runs}" + (f". {chart_row.row.words}." if chart_row.row.words else "")
    return svg.row_group(at, width, chart_row.marks, words, parts)
