"""The studies' figures: what was measured over what a figure varies, published ratios beside it, drawn as SVG."""

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from statistics import median
from typing import NamedTuple

from assay.model.base import Frozen
from assay.model.trial import SHIPPED_PRIOR, NoisePrior
from assay.report.charts.drawing import FAINT, INK, LETTER_ROOM_PX, figure, round_up, text, ticks
from assay.report.charts.elapsed import CAP_PX, PALETTE
from assay.report.words import number_text
from assay.stats.noise import Median, Noise, median_of, moderated, spread
from assay_extras.studies import hpc
from assay_extras.studies.claims import Conditions, of, where
from assay_extras.studies.hybrid import SHARES, SIZES, TASKS, curve
from assay_extras.studies.published import StudyExperiment, contrasts
from assay_extras.studies.values import UNITS, Field, Level, StudyPoint, StudyTable, level_text

NOTHING_ASSUMED = NoisePrior(deviation=0, freedom=0, source="assumption")
"""Of times; a figure may show rates and shares."""


class Shape(NamedTuple):
    """One figure: its name and what it shows, the field along its axis, the field that tells its lines apart."""

    name: str
    about: str
    across: Field
    lines: Field
    where: Conditions


def _rates(name: str, about: str, workload: str) -> Shape:
    return Shape(name, about, "size", "medium", where(workload=workload, metric="throughput"))


def _by(name: str, about: str, across: Field) -> Shape:
    return Shape(name, about, across, "medium", SIZES if across == "size" else curve(across))


def _clusters(number: int, places: Conditions) -> tuple[Shape, ...]:
    """Time and ED2P with hard disks and with SSDs, as the HPC study's figures have them."""
    return tuple(
        Shape(f"Figure {number}({letter})", f"{about} with {drives}", "nodes", "network", of(
            places, medium=medium, metric=metric))
        for letter, (about, metric), (drives, medium) in zip(
            "abcd", [("time", "elapsed")] * 2 + [("ED2P", "ed2p")] * 2,
            [("hard disks", "hdd"), ("SSDs", "ssd")] * 2, strict=True,
        )
    )  # fmt: skip


def _files(letter: str, about: str, places: Conditions, medium: str) -> Shape:
    return Shape(f"Figure 3({letter})", about, "nodes", "network", of(places, medium=medium))


_READING = (
    _files("a", "reading from hard disks", hpc.READ, "hdd"), _files("b", "reading from SSDs", hpc.READ, "ssd"),
)  # fmt: skip
_WRITING = (_files("c", "writing to hard disks", hpc.WRITE, "hdd"), _files("d", "writing to SSDs", hpc.WRITE, "ssd"))

SHAPES: Mapping[str, tuple[Shape, ...]] = {
    "thesis-figures-2-3": (
        _rates("Figure 2", "writing files", "testdfsio-write"),
        _rates("Figure 3", "reading files", "testdfsio-read"),
    ),
    "hybrid-figure-3a": (_by("Figure 3(a)", "time by the size of the data set", "size"),),
    "hybrid-figure-3b": (_by("Figure 3(b)", "time by block size", "block"),),
    "hybrid-figure-3c": (_by("Figure 3(c)", "time by sort buffer", "buffer"),),
    "hybrid-figure-3d": (_by("Figure 3(d)", "time by streams merged at once", "streams"),),
    "hybrid-figure-4": (
        Shape("Figure 4(a)", "time by share of SSD", "medium", "metric", SHARES),
        Shape("Figure 4(b)", "average time of a task by share of SSD", "medium", "metric", TASKS),
    ),
    "hybrid-figure-5a": (_by("Figure 5(a)", "time by block size and share of SSD", "block"),),
    "hybrid-figure-5b": (_by("Figure 5(b)", "time by sort buffer and share of SSD", "buffer"),),
    "hybrid-figure-5c": (_by("Figure 5(c)", "time by streams and share of SSD", "streams"),),
    "hpc-figure-3": (*_READING, *_WRITING),
    "hpc-figure-3a": _READING,
    "hpc-figure-4": _clusters(4, hpc.WORDS),
    "hpc-figure-5": _clusters(5, hpc.SORT),
    "hpc-figure-6": _clusters(6, hpc.RANKS),
}  # fmt: skip
"""By the experiment's name without `-scaled`; the thesis' figures 4 to 11 are the report's timelines."""


class Dot(Frozen):
    """One place of a line: `at` in the unit of what is varied, what was measured there in the metric's unit.

    `published` is the study's ratio to another medium times what that medium measured here; None where it has none.
    """

    at: float
    values: tuple[float, ...]
    middle: Median
    published: float | None


class FigureLine(Frozen):
    """All places of one level, from left to right."""

    level: Level
    dots: tuple[Dot, ...]


class StudyFigure(Frozen):
    """One figure with its lines; `metric` is the first line's, which tells the unit."""

    name: str
    about: str
    across: Field
    lines_are: Field
    metric: str
    lines: tuple[FigureLine, ...]


def figures(experiment: StudyExperiment, measured: StudyTable) -> tuple[StudyFigure, ...]:
    """The figures of this experiment of which something was measured; none for one that has tables only."""
    shapes = next(
        (shapes_of_experiment for name, shapes_of_experiment in SHAPES.items() if experiment.is_or_copies(name)), ()
    )
    all_figures = (_figure(experiment, shape, measured) for shape in shapes)
    return tuple(figure_ for figure_ in all_figures if figure_ is not None)


def _figure(experiment: StudyExperiment, shape: Shape, measured: StudyTable) -> StudyFigure | None:
    by_level: dict[Level, list[StudyPoint]] = {}
    for point in measured.where(shape.where):
        by_level.setdefault(getattr(point, shape.lines), []).append(point)
    if not by_level:
        return None
    lines = [
        FigureLine(level=level, dots=_dots(experiment, shape.across, by_level[level], measured))
        for level in sorted(by_level, key=_order)
    ]
    return StudyFigure(
        name=shape.name, about=shape.about, across=shape.across, lines_are=shape.lines,
        metric=next(iter(by_level.values()))[0].metric, lines=tuple(lines),
    )  # fmt: skip


def _dots(
    experiment: StudyExperiment, across: Field, points: Sequence[StudyPoint], measured: StudyTable
) -> tuple[Dot, ...]:
    """In the order of the axis; the noise of their intervals is that of all places of the line together."""
    placed = sorted((float(getattr(point, across)), point) for point in points)
    every = [tuple(measured.of(point).values()) for _, point in placed]
    pooled = spread([values for values in every if min(values) > 0])
    noise = moderated(pooled.squares, pooled.freedom, NOTHING_ASSUMED if pooled.freedom else SHIPPED_PRIOR)
    return tuple(
        Dot(at=at, values=values, middle=_middle(values, noise), published=_published(experiment, point, measured))
        for (at, point), values in zip(placed, every, strict=True)
    )


def _middle(values: Sequence[float], noise: Noise) -> Median:
    """Without an interval where a value is 0, of which there is no logarithm."""
    if min(values) > 0:
        return median_of(values, noise)
    return Median(value=median(values), values=len(values), interval=None)


def _published(experiment: StudyExperiment, point: StudyPoint, measured: StudyTable) -> float | None:
    """By the first published ratio of this point to one that was measured."""
    for contrast in contrasts(experiment.study):
        base = measured.of(contrast.first)
        if contrast.second == point and contrast.ratio is not None and base:
            return contrast.ratio * median(base.values())
    return None


def _order(level: Level) -> tuple[float, str]:
    """Shares by their number, names by themselves."""
    text = str(level)
    return (float(text) if text.isdigit() else 0.0, text)


WIDTH_PX, LEFT_PX, RIGHT_PX, INSET_PX = 360, 50, 8, 20
"""As wide as a phone shows without moving it; lines begin and end a little off the axis' ends."""
TOP_PX, PLOT_PX, AXIS_PX, LEGEND_PX = 72, 220, 46, 21
ASIDE_PX = 5
"""Lines lie beside one another by so much, so that intervals at one place don't hide each other."""
LOG_FROM = 8
"""The axis is logarithmic where its last place is so many times the first."""
MARKS = ("M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0", "M-4,-4h8v8h-8z", "M0,-5l5,9h-10z", "M0,-6l5,6l-5,6l-5,-6z",
          "M0,5l5,-9h-10z")  # fmt: skip
DASHES = ("none", "7 3", "2 3", "8 3 2 3", "4 2")
"""Marks and dashes tell lines apart where colours don't."""
CROSS = "M-5,-5l10,10M-5,5l10,-10"
PUBLISHED = "the study's ratio"
NAMES: dict[Field, str] = {
    "size": "data set, GB", "block": "block, MB", "buffer": "sort buffer, MB", "streams": "streams merged at once",
    "medium": "share of SSD, %", "nodes": "nodes, the master included",
}  # fmt: skip


class FigureCell(NamedTuple):
    """One value of a figure's table: the median, its interval, where the published ratio lies; empty without."""

    value: str
    interval: str
    published: str


class FigureView(NamedTuple):
    """One figure: its title, its drawing as SVG, and its values by what is varied."""

    title: str
    svg: str
    header: tuple[str, ...]
    rows: list[tuple[str, list[FigureCell]]]


class _Panel(NamedTuple):
    """Where values lie: along the axis by a scale, upwards from 0 to `greatest`."""

    scale: Callable[[float], float]
    first: float
    last: float
    greatest: float

    def x(self, at: float) -> float:
        begin, end = self.scale(self.first), self.scale(self.last)
        share = 0.5 if begin == end else (self.scale(at) - begin) / (end - begin)
        return LEFT_PX + INSET_PX + share * (WIDTH_PX - LEFT_PX - RIGHT_PX - 2 * INSET_PX)

    def y(self, value: float) -> float:
        return TOP_PX + PLOT_PX * (1 - value / self.greatest)


def figure_view(shown_figure: StudyFigure) -> FigureView:
    """Drawn and as a table."""
    places = _places(shown_figure)
    by_place = [{dot.at: dot for dot in line.dots} for line in shown_figure.lines]
    names = [_name(shown_figure, line) for line in shown_figure.lines]
    return FigureView(
        title=f"{shown_figure.name}: {shown_figure.about}",
        svg=_svg(shown_figure, names, places),
        header=(_axis(shown_figure), *(f"{name} ({_unit(shown_figure)})" for name in names)),
        rows=[(f"{at:g}", [_cell(dots.get(at)) for dots in by_place]) for at in places],
    )


def _svg(shown_figure: StudyFigure, names: Sequence[str], places: Sequence[float]) -> str:
    logarithmic = places[0] > 0 and places[-1] >= LOG_FROM * places[0]
    axis = _axis(shown_figure) + (", logarithmic" if logarithmic else "")
    panel = _Panel(
        math.log if logarithmic else float, places[0], places[-1], round_up(max(map(_greatest, shown_figure.lines)))
    )
    parts = [text(0, 16, shown_figure.name, 'font-weight="600" font-size="14"'), text(0, 36, shown_figure.about)]
    parts += [_frame(panel, places, axis, _unit(shown_figure))]
    parts += [
        _line(panel, shown_figure, line, index, name)
        for index, (line, name) in enumerate(zip(shown_figure.lines, names, strict=True))
    ]
    published = any(dot.published is not None for line in shown_figure.lines for dot in line.dots)
    legend, height = _legend([*names, *([PUBLISHED] if published else [])])
    axes = f"{_unit(shown_figure)} over {_axis(shown_figure)}"
    label = f"{shown_figure.name}, {shown_figure.about}: {axes}, with intervals"
    return figure(height, [*parts, legend], label, "chart", WIDTH_PX)


def _frame(panel: _Panel, places: Sequence[float], axis: str, unit: str) -> str:
    """Lines across with their values, and the axis with each place that was measured."""
    bottom, right = TOP_PX + PLOT_PX, WIDTH_PX - RIGHT_PX
    parts = [text(0, TOP_PX - 12, unit)]
    for value in ticks(panel.greatest):
        parts += [
            f'<path d="M{LEFT_PX},{panel.y(value):.1f}H{right}" stroke="{FAINT}"/>',
            text(LEFT_PX - 6, panel.y(value) + 4, f"{value:,.6g}", 'text-anchor="end"'),
        ]
    parts.append(f'<path d="M{LEFT_PX},{bottom}H{right}" stroke="{INK}"/>')
    for at in places:
        parts += [
            f'<path d="M{panel.x(at):.1f},{bottom}v5" stroke="{INK}"/>',
            text(panel.x(at), bottom + 18, f"{at:g}", 'text-anchor="middle"'),
        ]
    return "".join([*parts, text(right, bottom + 36, axis, 'text-anchor="end"')])


def _line(panel: _Panel, shown_figure: StudyFigure, line: FigureLine, index: int, name: str) -> str:
    """The medians joined, then each with its interval; the published beside."""
    colour, shape, dash = (kind[index % len(kind)] for kind in (PALETTE, MARKS, DASHES))
    aside = (index - (len(shown_figure.lines) - 1) / 2) * ASIDE_PX
    along = " ".join(f"{panel.x(dot.at) + aside:.1f},{panel.y(dot.middle.value):.1f}" for dot in line.dots)
    joined = f'<polyline points="{along}" fill="none" stroke="{colour}" stroke-width="1.6" stroke-dasharray="{dash}"/>'
    dots = []
    for dot in line.dots:
        x, y = panel.x(dot.at) + aside, panel.y(dot.middle.value)
        tooltip = f"{name}, {dot.at:g} ({_axis(shown_figure)}): {_told(dot, _unit(shown_figure))}"
        parts = [f'<rect x="{x - 7:.1f}" y="{y - 9:.1f}" width="14" height="18" fill="#fff" fill-opacity="0"/>']
        parts += [_bar(panel, dot, x, colour), _mark(x, y, shape, f'fill="{colour}"')]
        if dot.published is not None:
            parts.append(_mark(x, panel.y(dot.published), CROSS, f'fill="none" stroke="{colour}" stroke-width="2.2"'))
        dots.append(f'<g data-levels=""><title>{escape(tooltip)}</title>{"".join(parts)}</g>')
    return joined + "".join(dots)


def _bar(panel: _Panel, dot: Dot, x: float, colour: str) -> str:
    """The interval with ends; nothing where there is none."""
    interval = dot.middle.interval
    if interval is None:
        return ""
    low, high = panel.y(interval.low), panel.y(interval.high)
    caps = "".join(f"M{x - CAP_PX:.1f},{end:.1f}h{2 * CAP_PX}" for end in (low, high))
    return f'<path d="M{x:.1f},{low:.1f}V{high:.1f}{caps}" stroke="{colour}" stroke-width="1.5"/>'


def _mark(x: float, y: float, shape: str, paint: str) -> str:
    return f'<path d="{shape}" transform="translate({x:.1f},{y:.1f})" {paint}/>'


def _legend(names: Sequence[str]) -> tuple[str, float]:
    """Below the axis, as many in a row as fit; and how far down it goes."""
    parts: list[str] = []
    x, y = 6.0, float(TOP_PX + PLOT_PX + AXIS_PX + LEGEND_PX)
    for index, name in enumerate(names):
        wide = 34 + len(name) * LETTER_ROOM_PX + 10
        if x + wide > WIDTH_PX and parts:
            x, y = 6.0, y + LEGEND_PX
        colour, shape, dash = (kind[index % len(kind)] for kind in (PALETTE, MARKS, DASHES))
        if name == PUBLISHED:
            parts.append(_mark(x + 14, y - 4.5, CROSS, f'fill="none" stroke="{INK}" stroke-width="2.2"'))
        else:
            parts.append(
                f'<path d="M{x:.1f},{y - 4.5}h28" stroke="{colour}" stroke-width="1.6" stroke-dasharray="{dash}"/>'
            )
            parts.append(_mark(x + 14, y - 4.5, shape, f'fill="{colour}"'))
        parts.append(text(x + 34, y, name))
        x += wide
    return "".join(parts), y + 10


def _cell(dot: Dot | None) -> FigureCell:
    if dot is None:
        return FigureCell("-", "", "")
    interval = dot.middle.interval
    return FigureCell(
        value=number_text(dot.middle.value),
        interval=f"{number_text(interval.low)} to {number_text(interval.high)}" if interval else "",
        published="" if dot.published is None else f"{PUBLISHED}: {number_text(dot.published)}",
    )


def _told(dot: Dot, unit: str) -> str:
    cell, count = _cell(dot), len(dot.values)
    rest = [part for part in (cell.interval, f"{count} run{'s' if count > 1 else ''}", cell.published) if part]
    return f"{cell.value} {unit} ({'; '.join(rest)})"


def _places(shown_figure: StudyFigure) -> list[float]:
    return sorted({dot.at for line in shown_figure.lines for dot in line.dots})


def _greatest(line: FigureLine) -> float:
    return max(
        max(dot.middle.value, dot.published or 0.0, dot.middle.interval.high if dot.middle.interval else 0.0)
        for dot in line.dots
    )


def _name(shown_figure: StudyFigure, line: FigureLine) -> str:
    label = level_text(shown_figure.lines_are, line.level)
    return "job" if label == "elapsed" else label


def _unit(shown_figure: StudyFigure) -> str:
    return UNITS.get(shown_figure.metric, "seconds")


def _axis(shown_figure: StudyFigure) -> str:
    return (
        "file size, GB"
        if (shown_figure.metric, shown_figure.across) == ("throughput", "size")
        else NAMES[shown_figure.across]
    )
