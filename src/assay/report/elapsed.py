"""Elapsed times of every combination with their intervals: a panel per workload, above axes that begin at 0."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from assay.report.drawing import FAINT, INK, LETTER_PX, figure, round_up, text
from assay.report.text import seconds_text
from assay.stats.summary import Row

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#56646f")
"""Okabe and Ito's colours, which people with any colour vision can tell apart; names beside them tell the same."""
ROW_PX, HEAD_PX, AXIS_PX, CAP_PX = 24, 30, 46, 5
WIDTH = 720
MOST_LETTERS, GAP_PX, TOLD_LETTERS = 34, 18, 22
TICKS = 5
MOST_DOTS = 60


class Line(NamedTuple):
    """One combination: its label, its colour's level, its trials' seconds, and how filters know it."""

    row: Row
    label: str
    level: str
    times: Sequence[float]
    marks: str


def elapsed_chart(panels: Mapping[str, Sequence[Line]]) -> str:
    """The figure as SVG, in panels by title; empty without any time."""
    known = {title: [one for one in lines if one.row.elapsed] for title, lines in panels.items()}
    known = {title: lines for title, lines in known.items() if lines}
    if not known:
        return ""
    every = [one for lines in known.values() for one in lines]
    colours = {
        level: PALETTE[place % len(PALETTE)] for place, level in enumerate(dict.fromkeys(one.level for one in every))
    }
    left = min(MOST_LETTERS, max(len(one.label) for one in every)) * LETTER_PX + GAP_PX
    parts: list[str] = []
    top = 0.0
    for title, lines in known.items():
        panel = _Panel(top, left, round_up(max(map(_greatest, lines))), len(lines))
        parts.append(panel.drawn(title, lines, colours))
        top = panel.bottom + AXIS_PX
    return figure(top, parts, "elapsed time of each combination, in seconds, with intervals", "chart", WIDTH)


def _greatest(one: Line) -> float:
    high = one.row.elapsed.interval.high if one.row.elapsed and one.row.elapsed.interval else 0.0
    return max([high, *one.times])


class _Panel:
    """One workload's lines below one another, above one axis."""

    def __init__(self, top: float, left: float, greatest: float, count: int) -> None:
        self._top = top + HEAD_PX
        self._left = left
        self._width = WIDTH - left - TOLD_LETTERS * LETTER_PX - GAP_PX
        self._greatest = greatest
        self.bottom = self._top + count * ROW_PX

    def drawn(self, title: str, lines: Sequence[Line], colours: Mapping[str, str]) -> str:
        """Title, axis and all lines."""
        head = text(0, self._top - 10, title, 'font-weight="600" font-size="14"')
        rows = (
            self._line(self._top + (place + 0.5) * ROW_PX, one, colours[one.level]) for place, one in enumerate(lines)
        )
        return head + self._axis() + "".join(rows)

    def _x(self, seconds: float) -> float:
        return self._left + seconds / self._greatest * self._width

    def _axis(self) -> str:
        ticks = [self._greatest * number / TICKS for number in range(TICKS + 1)]
        lines = "".join(f"M{self._x(one):.1f},{self._top:g}V{self.bottom + 4:g}" for one in ticks)
        named = "".join(text(self._x(one), self.bottom + 18, f"{one:,.6g}", 'text-anchor="middle"') for one in ticks)
        unit = text(self._x(self._greatest), self.bottom + 35, "elapsed, seconds", 'text-anchor="end"')
        base = f'<path d="M{self._left:.1f},{self.bottom:g}H{self._x(self._greatest):.1f}" stroke="{INK}"/>'
        return f'<path d="{lines}" stroke="{FAINT}"/>{base}{named}{unit}'

    def _line(self, at: float, one: Line, colour: str) -> str:
        """Each trial as a ring, the interval as a line with ends, the median as a stroke across it."""
        if one.row.elapsed is None:
            return ""
        middle, interval = one.row.elapsed.value, one.row.elapsed.interval
        label = one.label if len(one.label) <= MOST_LETTERS else f"{one.label[: MOST_LETTERS - 1]}…"
        parts = [text(self._left - 8, at + 4.5, label, 'text-anchor="end"')]
        parts += [
            f'<circle cx="{self._x(time):.1f}" cy="{at:g}" r="3.2" fill="none" stroke="{colour}" stroke-opacity=".6"/>'
            for time in one.times[:MOST_DOTS]
        ]
        if interval:
            begin, end = f"{self._x(interval.low):.1f}", f"{self._x(interval.high):.1f}"
            caps = f"M{begin},{at - CAP_PX:g}v{2 * CAP_PX}M{end},{at - CAP_PX:g}v{2 * CAP_PX}"
            parts.append(f'<path d="M{begin},{at:g}H{end}{caps}" stroke="{INK}" stroke-width="1.5"/>')
        parts.append(f'<path d="M{self._x(middle):.1f},{at - 9:g}v18" stroke="{colour}" stroke-width="3.5"/>')
        told = f"{seconds_text(middle)} s" + (f" ({between(interval.low, interval.high)})" if interval else "")
        parts.append(text(self._left + self._width + GAP_PX, at + 4.5, told))
        runs = f"{one.row.finished} run{'s' if one.row.finished != 1 else ''}"
        hover = escape(f"{one.label}: {told}, {runs}" + (f". {one.row.words}." if one.row.words else ""))
        across = f'<rect x="0" y="{at - ROW_PX / 2:g}" width="{WIDTH}" height="{ROW_PX}" fill="#fff" fill-opacity="0"/>'
        return f'<g data-levels="{one.marks}"><title>{hover}</title>{across}{"".join(parts)}</g>'


def between(low: float, high: float) -> str:
    """`60.1 to 63.0`."""
    return f"{seconds_text(low)} to {seconds_text(high)}"
