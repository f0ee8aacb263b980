"""The bars of phases: how many seconds an average task spent in each, per combination, side by side on one axis."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from typing import NamedTuple

from assay.model.installed import engine_kind
from assay.report.charts import drawing as svg
from assay.report.charts.elapsed import ChartRow, axis_apart
from assay.report.words import phases_of, seconds_text

PALETTE = (svg.BLUE, svg.ORANGE, svg.PINK, svg.GREEN, svg.SKY, svg.SLATE, svg.VERMILION)
"""Of an engine's phases, in their order."""
BAR_PX, PLOT_PX, AXIS_PX = 15, 300, 46
LEAST_PX, FIGURE_PX = 58, 44
"""A phase's least width, so that its name fits; and the room for a bar's seconds after it."""


def phase_colours(engine: str, others: Iterable[str] = ()) -> dict[str, str]:
    """Assign colours to the engine's phases in order, then to others."""
    return dict(zip(dict.fromkeys((*engine_kind(engine).phases, *others)), cycle(PALETTE), strict=False))


class _PhaseAxis(NamedTuple):
    """One phase's part of a figure: its colour, where it begins and the last second of its axis."""

    phase: str
    colour: str
    left: float
    greatest: float
    width: float


def phase_charts(panels: Mapping[str, Sequence[ChartRow]]) -> list[str]:
    """A figure as SVG for each title: a column for each phase, a second as long in all; none without data."""
    known = {title: [line for line in lines if line.row.phases] for title, lines in panels.items()}
    known = {title: lines for title, lines in known.items() if lines}
    if not known:
        return []
    left = svg.room_for(max(len(line.label) for lines in known.values() for line in lines))
    phases = phases_of([line.row for lines in known.values() for line in lines])
    greatest = {
        title: {phase: max((line.row.phases or {}).get(phase, 0.0) for line in lines) for phase in phases}
        for title, lines in known.items()
    }
    ends = svg.common_axes({title: max(seconds.values()) for title, seconds in greatest.items()})
    columns_of: dict[str, list[_PhaseAxis]] = {}
    for title in known:
        alike = [
            seconds for other, seconds in greatest.items() if ends[other] == ends[title]
        ]  # all that share this axis
        most = {phase: max(seconds[phase] for seconds in alike) for phase in phases}
        per_second = PLOT_PX / (sum(most.values()) or 1)  # one pixel is as many seconds in each
        at = left
        for phase, colour in zip(phases, cycle(PALETTE), strict=False):
            column_px = max(LEAST_PX - FIGURE_PX / 2, most[phase] * per_second)
            axis = _PhaseAxis(phase, colour, at, column_px / per_second, column_px)
            columns_of.setdefault(title, []).append(axis)
            at += column_px + FIGURE_PX
    width = max(columns[-1].left + columns[-1].width for columns in columns_of.values()) + FIGURE_PX
    charts = []
    for title, lines in known.items():
        columns = columns_of[title]
        parts = [_frame(title, columns, len(lines), axis_apart(title, ends))]
        parts += [_bars(columns, svg.HEAD_PX * 2 + index * svg.ROW_PX, line) for index, line in enumerate(lines)]
        label = f"average seconds per task of {title} in each phase"
        charts.append(svg.figure(svg.HEAD_PX * 2 + len(lines) * svg.ROW_PX + AXIS_PX, parts, label, "chart", width))
    return charts


def _frame(title: str, columns: Sequence[_PhaseAxis], lines: int, apart: str) -> str:
    top, bottom = svg.HEAD_PX * 2, svg.HEAD_PX * 2 + lines * svg.ROW_PX
    parts = [svg.text(0, 20, title, 'font-weight="600" font-size="14"')]
    for column in columns:
        rounded = [value for value in svg.ticks(svg.round_up(column.greatest)) if value <= column.greatest]
        right = column.left + column.width
        parts += [
            svg.rect(column.left, top - 20, 10, 10, column.colour),
            svg.text(column.left + 14, top - 10, column.phase),
            f'<path d="M{column.left:.1f},{top}V{bottom}H{right:.1f}" fill="none" stroke="{svg.INK}"/>',
            svg.text(column.left, bottom + 18, "0", 'text-anchor="middle"'),
        ]
        mark = max(rounded, default=0.0)
        if mark and column.width >= LEAST_PX:
            x = column.left + mark / column.greatest * column.width
            parts.append(f'<path d="M{x:.1f},{top}V{bottom + 4}" stroke="{svg.FAINT}"/>')
            parts.append(svg.text(x, bottom + 18, f"{mark:,.6g}", 'text-anchor="middle"'))
    caption = f"seconds of an average task, over all jobs{apart}"
    parts.append(svg.text(columns[0].left, bottom + 37, caption))
    return "".join(parts)


def _bars(columns: Sequence[_PhaseAxis], top: float, line: ChartRow) -> str:
    at = top + svg.ROW_PX / 2
    parts = [svg.row_label(columns[0].left, at, line.label)]
    seconds = {column.phase: (line.row.phases or {}).get(column.phase, 0.0) for column in columns}
    for column in columns:
        phase_s = seconds[column.phase]
        length = phase_s / column.greatest * column.width
        parts.append(svg.rect(column.left, at - BAR_PX / 2, length, BAR_PX, column.colour))
        parts.append(svg.text(column.left + length + 5, at + 4.5, seconds_text(phase_s)))
    each = ", ".join(f"{phase} {seconds_text(length)} s" for phase, length in seconds.items())
    width = columns[-1].left + columns[-1].width + svg.GAP_PX
    return svg.row_group(at, width, line.marks, f"{line.label}: {each}", parts)
