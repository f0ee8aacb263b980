"""Figures of lines below one another, each with its name at the left, above an axis of seconds that begins at 0."""

from collections.abc import Mapping
from typing import NamedTuple

from assay.report.colours import FAINT, INK
from assay.report.drawing import round_up, text, ticks

PLOT_PX = 240
"""With short names all of a plot fits a phone's window, and two figures lie beside one another on a wide screen."""
ROW_PX, HEAD_PX, AXIS_PX = 24, 30, 46
MOST_LETTERS, GAP_PX = 34, 18
ALIKE = 5
"""Figures share an axis unless the greatest value of one is so many times smaller that it could not be read."""
LETTER_ROOM_PX = 7.5
"""More than the estimate for running text: names are often capitals and digits."""


class SecondsPanel(NamedTuple):
    """Some `lines`, a title above, an axis below; `left` is where that begins, `greatest` its last second.

    `letters` are those of the longest figure in words that follows a line.
    """

    top: float
    left: float
    greatest: float
    lines: int
    letters: int

    @property
    def bottom(self) -> float:
        """Where the axis lies."""
        return self.top + HEAD_PX + self.lines * ROW_PX

    @property
    def end(self) -> float:
        """How far down the panel goes with its axis."""
        return self.bottom + AXIS_PX

    @property
    def right(self) -> float:
        """Where the axis ends; figures in words come after it."""
        return self.left + PLOT_PX

    @property
    def width(self) -> float:
        """Of the whole panel."""
        return self.right + GAP_PX + self.letters * LETTER_ROOM_PX

    def x(self, seconds: float) -> float:
        """Where a time lies."""
        return self.left + seconds / self.greatest * (self.right - self.left)

    def middle(self, place: int) -> float:
        """The height of a line."""
        return self.top + HEAD_PX + (place + 0.5) * ROW_PX

    def frame(self, title: str, unit: str) -> str:
        """Title, lines across, axis with its unit."""
        marks = ticks(self.greatest)
        top = self.top + HEAD_PX
        across = "".join(f"M{self.x(one):.1f},{top:g}V{self.bottom + 4:g}" for one in marks)
        named = "".join(text(self.x(one), self.bottom + 18, f"{one:,.6g}", 'text-anchor="middle"') for one in marks)
        return (
            text(0, top - 10, title, 'font-weight="600" font-size="14"')
            + f'<path d="{across}" stroke="{FAINT}"/>'
            + f'<path d="M{self.left:.1f},{self.bottom:g}H{self.right:.1f}" stroke="{INK}"/>'
            + named
            + text(self.right, self.bottom + 35, unit, 'text-anchor="end"')
        )

    def label(self, at: float, name: str) -> str:
        """A line's name, before the axis; of a long one the end, where levels of the last factor tell lines apart."""
        short = name if len(name) <= MOST_LETTERS else f"…{name[1 - MOST_LETTERS :]}"
        return text(self.left - 8, at + 4.5, short, 'text-anchor="end"')

    def told(self, at: float, words: str) -> str:
        """A line's figures in words, after the axis."""
        return text(self.right + GAP_PX, at + 4.5, words)

    def hover(self, at: float) -> str:
        """All of a line's width, for the pointer to be over."""
        size = f'y="{at - ROW_PX / 2:g}" width="{self.width:g}" height="{ROW_PX}"'
        return f'<rect x="0" {size} fill="#fff" fill-opacity="0"/>'


def common_axes(greatest: Mapping[str, float]) -> dict[str, float]:
    """The end of each figure's axis: the same for all whose greatest values are alike, by title."""
    ends: dict[str, float] = {}
    most = end = 0.0
    for title, value in sorted(greatest.items(), key=lambda one: -one[1]):
        if not ends or value * ALIKE < most:
            most, end = value, round_up(value)
        ends[title] = end
    return ends


def room_for(letters: int) -> float:
    """Where axes begin whose longest name has so many letters."""
    return min(MOST_LETTERS, letters) * LETTER_ROOM_PX + GAP_PX
