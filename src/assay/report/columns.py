"""Tables of plain text that fit a terminal: no cell is cut. Columns are left out by importance, or names go above."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

GAP = "  "


class Column(NamedTuple):
    """One column: its head, its cells, whether it is a name (to the left) or a figure (to the right).

    `rank` is when it is left out where there is no room: the highest first, 0 never.
    """

    head: str
    cells: Sequence[str]
    name: bool = False
    rank: int = 0

    @property
    def width(self) -> int:
        """Characters of the widest."""
        return max(len(self.head), *(len(cell) for cell in self.cells), 0)

    def padded(self, cell: str) -> str:
        """A cell as wide as the column."""
        return f"{cell:{self.width}}" if self.name else f"{cell:>{self.width}}"


def fitted(columns: Sequence[Column], width: int) -> Iterator[str]:
    """The head and a line for each row. Where even columns of rank 0 are too wide, names stand above their figures."""
    kept = list(columns)
    while _width(kept) > width and any(one.rank for one in kept):
        kept.remove(max(kept, key=lambda one: one.rank))
    stacked = _width(kept) > width
    for row in zip(*((one.head, *one.cells) for one in kept), strict=True):
        cells = [(one.name, one.padded(cell)) for one, cell in zip(kept, row, strict=True)]
        if stacked:
            yield GAP + GAP.join(cell.rstrip() for name, cell in cells if name)
            cells = [(False, ""), *(cell for cell in cells if not cell[0])]
        yield f"{GAP}{GAP.join(cell for _, cell in cells)}".rstrip()


def _width(columns: Sequence[Column]) -> int:
    return sum(one.width + len(GAP) for one in columns)
