"""Elapsed times of every combination with their intervals: a figure per workload, all on one axis that begins at 0."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from assay.report.axis import SecondsPanel, common_axes, room_for
from assay.report.colours import BLUE, GREEN, INK, ORANGE, PINK, SKY, SLATE, VERMILION
from assay.report.drawing import figure
from assay.report.text import seconds_text
from assay.stats.summary import Row

PALETTE = (BLUE, VERMILION, GREEN, PINK, ORANGE, SKY, SLATE)
"""Names beside them tell the same."""
CAP_PX = 5
MOST_DOTS = 60


class Line(NamedTuple):
    """One combination: its label, its colour's level, its trials' seconds, and how filters know it.

    `wrong` are the seconds of trials that count in no figure, as their output is wrong.
    """

    row: Row
    label: str
    level: str
    times: Sequence[float]
    marks: str
    wrong: Sequence[float] = ()


def elapsed_charts(panels: Mapping[str, Sequence[Line]]) -> list[str]:
    """A figure as SVG for each title, all of the same width and colours; none without any time.

    Where one is too short for the axis of the others, its own says so.
    """
    known = {title: [one for one in lines if one.row.elapsed] for title, lines in panels.items()}
    known = {title: lines for title, lines in known.items() if lines}
    if not known:
        return []
    every = [one for lines in known.values() for one in lines]
    levels = dict.fromkeys(one.level for one in every)
    colours = {level: PALETTE[place % len(PALETTE)] for place, level in enumerate(levels)}
    left = room_for(max(len(one.label) for one in every))
    letters = max(len(_told(one.row)) for one in every)
    ends = common_axes({title: max(map(_greatest, lines)) for title, lines in known.items()})
    charts = []
    for title, lines in known.items():
        panel = SecondsPanel(0, left, ends[title], len(lines), letters)
        parts = [panel.frame(title, "elapsed, seconds" + axis_apart(title, ends))]
        parts += [_line(panel, panel.middle(place), one, colours[one.level]) for place, one in enumerate(lines)]
        words = f"elapsed time of each combination of {title}, in seconds, with intervals"
        charts.append(figure(panel.end, parts, words, "chart", panel.width))
    return charts


def axis_apart(title: str, ends: Mapping[str, float]) -> str:
    """Words for an axis that is shorter than that of other figures."""
    return "" if ends[title] == max(ends.values()) else "; shorter axis"


def _told(row: Row) -> str:
    interval = row.elapsed.interval if row.elapsed else None
    words = f" ({between(interval.low, interval.high)})" if interval else ""
    return f"{seconds_text(row.elapsed_s)} s{words}"


def _greatest(one: Line) -> float:
    high = one.row.elapsed.interval.high if one.row.elapsed and one.row.elapsed.interval else 0.0
    return max([high, *one.times, *one.wrong])


def _line(panel: SecondsPanel, at: float, one: Line, colour: str) -> str:
    """Each trial as a ring, the interval as a line with ends, the median as a stroke across it."""
    if one.row.elapsed is None:
        return ""
    middle, interval = one.row.elapsed.value, one.row.elapsed.interval
    parts = [panel.label(at, one.label)]
    parts += [
        f'<circle cx="{panel.x(time):.1f}" cy="{at:g}" r="3.2" fill="none" stroke="{colour}" stroke-opacity=".6"/>'
        for time in one.times[:MOST_DOTS]
    ]
    parts += [_cross(panel.x(time), at, colour) for time in one.wrong[:MOST_DOTS]]
    if interval:
        begin, end = f"{panel.x(interval.low):.1f}", f"{panel.x(interval.high):.1f}"
        caps = f"M{begin},{at - CAP_PX:g}v{2 * CAP_PX}M{end},{at - CAP_PX:g}v{2 * CAP_PX}"
        parts.append(f'<path d="M{begin},{at:g}H{end}{caps}" stroke="{INK}" stroke-width="1.5"/>')
    parts.append(f'<path d="M{panel.x(middle):.1f},{at - 9:g}v18" stroke="{colour}" stroke-width="3.5"/>')
    told = _told(one.row)
    parts.append(panel.told(at, told))
    runs = f"{one.row.finished} run{'s' if one.row.finished != 1 else ''}"
    runs += f" and {len(one.wrong)} with a wrong output" if one.wrong else ""
    words = f"{one.label}: {told}, {runs}" + (f". {one.row.words}." if one.row.words else "")
    hover = f"<title>{escape(words)}</title>{panel.hover(at)}"
    return f'<g data-levels="{one.marks}">{hover}{"".join(parts)}</g>'


def _cross(x: float, at: float, colour: str) -> str:
    path = f"M{x - 3:.1f},{at - 3:g}l6,6m0,-6l-6,6"
    return f'<path class="wrong" d="{path}" stroke="{colour}" stroke-width="1.5" fill="none"/>'


def between(low: float, high: float) -> str:
    """`60.1 to 63.0`."""
    return f"{seconds_text(low)} to {seconds_text(high)}"
