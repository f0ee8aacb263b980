"""Charts as SVG text: colours, axes, lines and areas.

Okabe and Ito's for data, which people with any colour vision can tell apart.

Written by hand because hundreds of bins in many panels that share an axis take a plotting library seconds, and most of
a page's bytes. Text is in the page's own font; widths are estimated from it.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from assay.model.probe import Colour
from assay.stats.timeline import Bins

if TYPE_CHECKING:
    import numpy as np


def _named(name: str, light: str) -> str:
    return f"var(--{name},{light})"


INK, SOFT, FAINT = _named("ink", "#1b1f24"), _named("soft", "#57606a"), _named("line", "#d7dce1")
PAPER, PALE, EDGE = _named("paper", "#ffffff"), _named("pale", "#eef1f4"), _named("edge", "#8a949e")
BLUE, VERMILION, GREEN = _named("blue", "#0072B2"), _named("vermilion", "#D55E00"), _named("green", "#009E73")
PINK, ORANGE, SKY = _named("pink", "#CC79A7"), _named("orange", "#E69F00"), _named("sky", "#56B4E9")
SLATE, SILVER, YELLOW = _named("slate", "#56646f"), _named("silver", "#a9b4bd"), _named("yellow", "#F0E442")
MIST = _named("mist", "#c3cbd2")
COLOURS: dict[Colour, str] = {
    "ink": INK, "blue": BLUE, "vermilion": VERMILION, "green": GREEN, "pink": PINK, "orange": ORANGE, "sky": SKY,
    "slate": SLATE, "silver": SILVER, "yellow": YELLOW,
}  # fmt: skip
"""By the names that probes' charts use."""
ON_BRIGHT = "#1b1f24"
"""Words upon sky, orange, pink and mist, which are bright in the light and in the dark."""


WIDTH, LEFT, RIGHT = 960, 52, 14
TEXT_PX, LETTER_PX = 13, 6.9
MARK = "■"
STEPS_S = (0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 36000, 86400)
UNITS, FROM_UNITS = ((3600, "hours"), (60, "minutes"), (0, "seconds")), 5
"""A longer unit is used from so many of it on."""


class Panel(NamedTuple):
    """A stretch of a figure with a vertical axis from 0 to `greatest`, and time (or watts) from left to right."""

    top: float
    height: float
    begin_ms: float
    length_ms: float
    greatest: float

    def x(self, time_ms: float) -> float:
        """Where a time lies."""
        return LEFT + (time_ms - self.begin_ms) / self.length_ms * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """Return a value's position; what is beyond the axis is drawn at its end."""
        return self.top + self.height * (1 - min(max(value, 0.0), self.greatest) / self.greatest)


class SeriesLabel(NamedTuple):
    """What a line or area shows, for the page's script to say at the pointer: of what, which, and its unit."""

    of: str
    name: str
    unit: str

    def marks(self, panel: Panel) -> str:
        """Return its data as attributes, with the axis that values are read from."""
        axis = f"{_n(panel.top)} {_n(panel.height)} {panel.greatest:g}"
        attributes = {"of": self.of, "series": self.name, "unit": self.unit, "axis": axis}
        return "".join(f' data-{name}="{escape(value)}"' for name, value in attributes.items())


def line(panel: Panel, bins: Bins, colour: str, series: SeriesLabel) -> str:
    """The means, as steps with gaps where nothing is known."""
    data = "".join(_steps(panel, bins, run, bins.mean) for run in _runs(bins))
    return f'<path d="{data}" fill="none" stroke="{colour}" stroke-width="1.4"{series.marks(panel)}/>'


def area(
    panel: Panel, bins: Bins, low: "np.ndarray", high: "np.ndarray", fill: str, opacity: float = 1,
    series: SeriesLabel | None = None,
) -> str:  # fmt: skip
    """What lies between two rows of values; of a series it is the difference that the pointer reads."""
    data = ""
    for run in _runs(bins):  # along the high values from left to right, and along the low ones back
        begins = [_n(panel.x(time_ms)) for time_ms in bins.begin_ms[run].tolist()]
        heights = [_n(panel.y(value)) for value in low[run].tolist()]
        data += f"{_steps(panel, bins, run, high)}V{heights[-1]}{_stairs(begins[::-1], heights[::-1])}Z"
    return f'<path d="{data}" fill="{fill}"{_opacity(opacity)}{series.marks(panel) if series else ""}/>'


def band(panel: Panel, bins: Bins, colour: str) -> str:
    """Draw the range from least to greatest, faint; nothing where each bin is a single piece."""
    if bins.whole:
        return ""
    return area(panel, bins, bins.least, bins.greatest, colour, 0.28)


def least_line(panel: Panel, bins: Bins) -> str:
    """The least values, as a thin line of the page's colour to lie upon what is filled."""
    data = "".join(_steps(panel, bins, run, bins.least) for run in _runs(bins))
    return f'<path d="{data}" fill="none" stroke="{PAPER}" stroke-width=".9"/>'


def text(x: float, y: float, content: str, extra: str = "") -> str:
    """Words at a place."""
    return f'<text x="{_n(x)}" y="{_n(y)}"{f" {extra}" if extra else ""}>{escape(content)}</text>'


def rect(x: float, y: float, width: float, height: float, fill: str, opacity: float = 1, edge: str = "") -> str:
    """A filled rectangle, with an edge of a colour or none."""
    stroke = f' stroke="{edge}"' if edge else ""
    size = f'x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"'
    return f'<rect {size} fill="{fill}"{_opacity(opacity)}{stroke}/>'


def title(top: float, content: str, legend: Sequence[tuple[str, str]] = ()) -> str:
    """A panel's name above it, and after it what its colours mean."""
    named = f'<tspan font-weight="600">{escape(content)}</tspan>'
    return f'<text x="{LEFT}" y="{_n(top - 7)}">{named}{marks(legend)}</text>'


def marks(legend: Sequence[tuple[str, str]], edge: str = "") -> str:
    """What colours mean, within a text, so that the browser sets the distances; with an edge for pale ones."""
    stroke = f' stroke="{edge}" stroke-width=".6"' if edge else ""
    return "".join(
        f'<tspan dx="16" fill="{colour}"{stroke}>{MARK}</tspan><tspan dx="5">{escape(name)}</tspan>'
        for name, colour in legend
    )


def value_axis(panel: Panel, values: Sequence[float]) -> str:
    """Lines across, and their values at the left."""
    return "".join(
        f'<path d="M{LEFT},{_n(panel.y(value))}H{WIDTH - RIGHT}" stroke="{FAINT}"/>'
        + text(LEFT - 6, panel.y(value) + 4, f"{value:,.10g}", 'text-anchor="end"')
        for value in values
    )


def time_axis(panel: Panel, label: str) -> str:
    """Draw times below a panel, in a unit that fits their length; `label` follows its name."""
    seconds = panel.length_ms / 1000
    step = next((candidate for candidate in STEPS_S if seconds / candidate <= 11), math.ceil(seconds / 11))
    unit, name = next(unit_ for unit_ in UNITS if seconds >= unit_[0] * FROM_UNITS)
    bottom = panel.top + panel.height
    parts = [f'<path d="M{LEFT},{_n(bottom)}H{WIDTH - RIGHT}" stroke="{INK}"/>']
    for number in range(math.floor(seconds / step + 1e-9) + 1):
        x = panel.x(panel.begin_ms + number * step * 1000)
        parts += [
            f'<path d="M{_n(x)},{_n(bottom)}v5" stroke="{INK}"/>',
            text(x, bottom + 18, f"{number * step / (unit or 1):g}", 'text-anchor="middle"'),
        ]
    parts.append(text(WIDTH - RIGHT, bottom + 36, f"{name} {label}", 'text-anchor="end"'))
    return "".join(parts)


def figure(height: float, parts: Sequence[str], label: str, name: str = "wide", width: float = WIDTH) -> str:
    """The whole figure; `label` is what it shows, for those who can't see it.

    Where it is as wide as others that are always drawn, it fills the page; else it keeps near to its own width.
    """
    own_width = f' width="{_n(width)}" style="--width:{_n(width)}px"' if width != WIDTH else ""
    size = f'viewBox="0 0 {_n(width)} {_n(height)}"{own_width}'
    return (
        f'<svg class="{name}" xmlns="http://www.w3.org/2000/svg" {size} role="img" '
        f'aria-label="{escape(label)}" font-family="system-ui, sans-serif" font-size="{TEXT_PX}" fill="{INK}">'
        f"{''.join(parts)}</svg>"
    )


def round_up(value: float) -> float:
    """The next number that reads well on an axis."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if step * power >= value * (1 - 1e-9))


def ticks(greatest: float) -> list[float]:
    """Return ticks from 0 in steps of 1, 2 or 5 times a power of ten where `greatest` allows that."""
    steps = next((count for count in (5, 4, 3) if f"{greatest / count:.2e}"[:4] in {"1.00", "2.00", "5.00"}), 5)
    return [greatest * number / steps for number in range(steps + 1)]


def _runs(bins: Bins) -> Iterator[slice]:
    """Bins that follow one another without a gap."""
    first = 0
    for index in range(1, len(bins.mean) + 1):
        if index == len(bins.mean) or bins.begin_ms[index] != bins.end_ms[index - 1]:
            yield slice(first, index)
            first = index


def _steps(panel: Panel, bins: Bins, run: slice, values: "np.ndarray") -> str:
    """Along the values from left to right."""
    ends = [_n(panel.x(time_ms)) for time_ms in bins.end_ms[run].tolist()]
    heights = [_n(panel.y(value)) for value in values[run].tolist()]
    return f"M{_n(panel.x(int(bins.begin_ms[run.start])))},{heights[0]}{_stairs(ends, heights)}"


def _stairs(ends: Sequence[str], heights: Sequence[str]) -> str:
    """Draw steps through the heights, each up to its end."""
    turns = zip(ends, pairwise(heights), strict=False)
    return "".join(f"H{end}V{after}" for end, (before, after) in turns if after != before) + f"H{ends[-1]}"


def _n(value: float) -> str:
    """A tenth of a pixel is as fine as anybody sees."""
    return f"{value:.1f}".removesuffix(".0")


def _opacity(opacity: float) -> str:
    return "" if opacity == 1 else f' fill-opacity="{opacity:g}"'


PLOT_PX = 240
"""With short names all of a plot fits a phone's window, and two figures lie beside one another on a wide screen."""
ROW_PX, HEAD_PX, AXIS_PX = 24, 30, 46
MOST_LETTERS, GAP_PX = 34, 18
ALIKE = 5
"""Figures share an axis unless the greatest value of one is so many times smaller that it could not be read."""
LETTER_ROOM_PX = 7.5
"""More than the estimate for running text: names are often capitals and digits."""


class SecondsPanel(NamedTuple):
    """Some lines, a title above, an axis at the `bottom` from `left` to `right`; `greatest` is its last second."""

    left: float
    right: float
    bottom: float
    greatest: float

    def x(self, seconds: float) -> float:
        """Where a time lies."""
        return self.left + seconds / self.greatest * (self.right - self.left)

    def frame(self, title: str, unit: str) -> str:
        """Title, lines across, axis with its unit."""
        marks = ticks(self.greatest)
        across = "".join(f"M{self.x(mark):.1f},{HEAD_PX}V{self.bottom + 4:g}" for mark in marks)
        named = "".join(text(self.x(mark), self.bottom + 18, f"{mark:,.6g}", 'text-anchor="middle"') for mark in marks)
        return (
            text(0, HEAD_PX - 10, title, 'font-weight="600" font-size="14"')
            + f'<path d="{across}" stroke="{FAINT}"/>'
            + f'<path d="M{self.left:.1f},{self.bottom:g}H{self.right:.1f}" stroke="{INK}"/>'
            + named
            + text(self.right, self.bottom + 35, unit, 'text-anchor="end"')
        )


def row_label(left: float, at: float, name: str) -> str:
    """A line's name, before the axis; of a long one the end, where levels of the last factor tell lines apart."""
    short = name if len(name) <= MOST_LETTERS else f"…{name[1 - MOST_LETTERS :]}"
    return text(left - 8, at + 4.5, short, 'text-anchor="end"')


def row_group(at: float, width: float, marks: str, tooltip: str, parts: Sequence[str]) -> str:
    """A line as filters know it; over all of its width the pointer shows its words."""
    over = rect(0, at - ROW_PX / 2, width, ROW_PX, "#fff", 0)
    return f'<g data-levels="{marks}"><title>{escape(tooltip)}</title>{over}{"".join(parts)}</g>'


def common_axes(greatest: Mapping[str, float]) -> dict[str, float]:
    """The end of each figure's axis: the same for all whose greatest values are alike, by title."""
    ends: dict[str, float] = {}
    most = end = 0.0
    for title, value in sorted(greatest.items(), key=lambda entry: -entry[1]):
        if not ends or value * ALIKE < most:
            most, end = value, round_up(value)
        ends[title] = end
    return ends


def room_for(letters: int) -> float:
    """Return where axes begin whose longest name has so many letters."""
    return min(MOST_LETTERS, letters) * LETTER_ROOM_PX + GAP_PX
