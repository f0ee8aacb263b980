"""What passed between every two nodes as a matrix: senders are rows, receivers columns, purposes the bars' colours."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import cycle

from assay.model.naming import bytes_text
from assay.report.charts import drawing as svg
from assay.report.words import number_text
from assay.stats.nodes import CONTROL, Transfer, purposes

COLOURS = (svg.BLUE, svg.VERMILION, svg.GREEN, svg.ORANGE, svg.PINK, svg.YELLOW, svg.SILVER)
"""Of the purposes that services name, in their order; of further ones again. Control has its own."""
WIDEST_PX, NARROWEST_PX, CELLS_PX, CELL_HEIGHT_PX, SUM_PX = 104, 52, 780, 40, 72
TITLE_PX, LEGEND_PX, UNIT_PX, RECEIVERS_PX, BAR_PX, INSET_PX = 24, 20, 22, 30, 9, 7
LEAST_WIDTH_PX = 470
"""So that the words above the cells fit."""
MOST_NUMBERED = 24
"""Among more nodes cells are too many to be read one by one: they are small, and the pointer tells their numbers."""
SMALL_PX = 18
FAINTEST, DARKEST = 0.04, 0.34
"""How much of the tint the cells of least and most bytes have: words stay readable upon it."""


def matrices(nodes: Sequence[str], by_network: Mapping[str, Sequence[Transfer]]) -> list[str]:
    """A figure as SVG for each network, by its title: all of one size, and alike in scale."""
    most = max((transfer.total for carried in by_network.values() for transfer in carried), default=0.0)
    figures = [_Matrix(nodes, carried, title, most) for title, carried in by_network.items()]
    rows = max(len(figure.legend_rows()) for figure in figures)
    return [figure.drawn(rows) for figure in figures]


class _Matrix:
    def __init__(self, nodes: Sequence[str], transfers: Sequence[Transfer], title: str, most_bytes: float) -> None:
        self._nodes = nodes
        self._title = title
        self._most = most_bytes
        self._colours = dict(zip(purposes(), cycle(COLOURS), strict=False)) | {CONTROL: svg.SLATE}
        self._cells = {(transfer.sender, transfer.receiver): transfer for transfer in transfers}
        self._scale, self._unit = _unit_of(most_bytes)
        self._numbered = len(nodes) <= MOST_NUMBERED
        self._left = svg.room_for(max(map(len, nodes))) + 8
        self._wide = max(NARROWEST_PX, min(WIDEST_PX, CELLS_PX / len(nodes))) if self._numbered else SMALL_PX
        self._high = CELL_HEIGHT_PX if self._numbered else SMALL_PX
        self._turned = any(len(node) * svg.LETTER_PX > self._wide - 4 for node in nodes)
        turned_px = max(map(len, nodes)) * svg.LETTER_PX * 0.72 + 12
        self._above_px = turned_px if self._turned else RECEIVERS_PX
        self._right = self._left + len(nodes) * self._wide
        self._width = max(self._right + SUM_PX, LEAST_WIDTH_PX)
        self._top = self._bottom = 0.0

    def legend_rows(self) -> list[list[tuple[str, str]]]:
        """What colours mean, as many in a row as fit."""
        rows: list[list[tuple[str, str]]] = [[]]
        room = self._width
        for label, colour in self._legend_entries():
            length_px = len(label) * svg.LETTER_PX + 36
            if length_px > room and rows[-1]:
                rows.append([])
                room = self._width
            rows[-1].append((label, colour))
            room -= length_px
        return rows

    def drawn(self, rows: int) -> str:
        """Title, legend with room for so many rows, cells, and what each node sent and received in all."""
        self._top = TITLE_PX + rows * LEGEND_PX + UNIT_PX + self._above_px
        self._bottom = self._top + len(self._nodes) * self._high
        parts = [
            svg.text(0, 16, self._title, 'font-weight="600" font-size="14"'),
            self._legend(),
            *(self._heads(node, index) for index, node in enumerate(self._nodes)),
            svg.text(self._right + SUM_PX - 4, self._top - 8, "sent", f'text-anchor="end" fill="{svg.SOFT}"'),
            *([svg.text(self._left - 8, self._bottom + 20, "received", f'text-anchor="end" fill="{svg.SOFT}"')]
              if self._numbered else ()),
            *(self._cell(row, column) for row in range(len(self._nodes)) for column in range(len(self._nodes))),
            *(self._sums(node, index) for index, node in enumerate(self._nodes)),
        ]  # fmt: skip
        label = f"{self._title}: bytes from each node to each other, by purpose"
        return svg.figure(self._bottom + 34, parts, label, "chart", self._width)

    def _legend_entries(self) -> list[tuple[str, str]]:
        transfers = self._cells.values()
        totals = {purpose: sum(each.bytes.get(purpose, 0.0) for each in transfers) for purpose in self._colours}
        return [
            (f"{purpose} {bytes_text(count)}", self._colours[purpose]) for purpose, count in totals.items() if count
        ]

    def _legend(self) -> str:
        """Draw each row as one text, whose distances the browser sets, and the figure's unit below them."""
        drawn = []
        for index, row in enumerate(self.legend_rows()):
            marks = svg.marks(row).replace('dx="16"', 'dx="0"', 1)
            drawn.append(f'<text x="0" y="{TITLE_PX + 14 + index * LEGEND_PX}">{marks}</text>')
        caption = f"{self._unit} from a node (row) to another (column), IP headers included"
        unit_y = self._top - self._above_px - UNIT_PX + 14
        return "".join(drawn) + svg.text(0, unit_y, caption, f'fill="{svg.SOFT}"')

    def _heads(self, node: str, index: int) -> str:
        """A node's name before its row and above its column, there at an angle where it would not fit."""
        x, y = self._left + (index + 0.5) * self._wide, self._top + (index + 0.5) * self._high
        above = 'text-anchor="middle"'
        if self._turned:
            above = f'text-anchor="start" transform="rotate(-45 {x:.1f} {self._top - 8:.1f})"'
        small = "" if self._high > svg.TEXT_PX + 4 else ' font-size="11"'
        return svg.text(self._left - 8, y + 4.5, node, f'text-anchor="end"{small}') + svg.text(
            x, self._top - 8, node, f"{above}{small}"
        )

    def _cell(self, row: int, column: int) -> str:
        sender, receiver = self._nodes[row], self._nodes[column]
        left, top = self._left + column * self._wide, self._top + row * self._high
        if row == column:  # what stays on a node is on no network
            return svg.rect(left + 1, top + 1, self._wide - 2, self._high - 2, svg.PALE)
        transfer = self._cells.get((sender, receiver))
        total = transfer.total if transfer is not None else 0.0
        share = total / self._most if self._most else 0.0
        tint = FAINTEST + (DARKEST - FAINTEST) * share if total else 0.0
        parts = [svg.rect(left + 1, top + 1, self._wide - 2, self._high - 2, svg.SKY, tint, edge=svg.FAINT)]
        if self._numbered:
            number = number_text(total / self._scale) if total else "0"
            parts.append(svg.text(left + self._wide - INSET_PX, top + 18, number, 'text-anchor="end"'))
        if self._numbered and transfer is not None:
            parts += self._bar(transfer, left + INSET_PX, top + self._high - BAR_PX - 6)
        sizes = [f"{purpose} {bytes_text(count)}" for purpose, count in transfer.bytes.items()] if transfer else []
        tooltip = f"{sender} to {receiver}: {', '.join([bytes_text(total), *sizes]) if transfer else 'nothing'}"
        return f'<g data-levels=""><title>{escape(tooltip)}</title>{"".join(parts)}</g>'

    def _bar(self, transfer: Transfer, left: float, top: float) -> list[str]:
        """Draw a bar as long as the cell's share of the fullest cell, divided by purpose."""
        room = self._wide - 2 * INSET_PX
        parts = []
        for purpose, count in transfer.bytes.items():
            length = count / self._most * room
            if length >= 0.3:
                parts.append(svg.rect(left, top, length, BAR_PX, self._colours[purpose]))
            left += length
        return parts

    def _sums(self, node: str, index: int) -> str:
        sent = sum(transfer.total for (sender, _), transfer in self._cells.items() if sender == node)
        received = sum(transfer.total for (_, receiver), transfer in self._cells.items() if receiver == node)
        y = self._top + (index + 0.5) * self._high + 4.5
        soft = f'text-anchor="end" fill="{svg.SOFT}"'
        small = "" if self._numbered else ' font-size="11"'
        beside = svg.text(self._right + SUM_PX - 4, y, number_text(sent / self._scale), f"{soft}{small}")
        if not self._numbered:
            return beside
        x = self._left + (index + 1) * self._wide - INSET_PX
        return beside + svg.text(x, self._bottom + 20, number_text(received / self._scale), soft)


def _unit_of(most_bytes: float) -> tuple[float, str]:
    """The unit in which the greatest number has two to four digits before the point."""
    units = ((float(1 << shift), unit) for shift, unit in ((30, "GiB"), (20, "MiB")) if most_bytes >= 10 << shift)
    return next(units, (1024.0, "KiB"))
