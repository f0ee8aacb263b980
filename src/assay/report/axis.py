"""Figures of lines below one another, each with its name at the left, above an axis of seconds that begins at 0."""

from typing import NamedTuple

from assay.report.drawing import FAINT, INK, LETTER_PX, text, ticks

PLOT_PX = 300
"""With short names all of a plot fits a phone's window."""
ROW_PX, HEAD_PX, AXIS_PX = 24, 30, 46
MOST_LETTERS, GAP_PX, TOLD_LETTERS = 34, 18, 26
LETTER_ROOM_PX = 7.5
"""More than the estimate for running text: names are often capitals and digits."""


class SecondsPanel(NamedTuple):
    """Some `lines`, a title above, an axis below; `left` is where that begins, `greatest` its last second."""

    top: float
    left: float
    greatest: float
    lines: int

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
        return self.right + GAP_PX + TOLD_LETTERS * LETTER_PX

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


def room_for(letters: int) -> float:
    """Where axes begin whose longest name has so many letters."""
    return min(MOST_LETTERS, letters) * LETTER_ROOM_PX + GAP_PX
