"""The studies' figures as figures: what was measured over what a figure varies, published ratios beside it."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from assay.model.base import Frozen
from assay.model.noise import SHIPPED_PRIOR, NoisePrior
from assay.stats.interval import Median, median_of
from assay.stats.noise import Noise, moderated, spread
from assay.study.checks.hybrid import SHARES, SIZES, TASKS, curve
from assay.study.claim import Conditions, where
from assay.study.experiment import StudyExperiment
from assay.study.point import Field, Level, Measured, Point
from assay.study.published import contrasts

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


class Line(Frozen):
    """All places of one level, from left to right."""

    level: Level
    dots: tuple[Dot, ...]


class Figure(Frozen):
    """One figure with its lines; `metric` is the first line's, which tells the unit."""

    name: str
    about: str
    across: Field
    lines_are: Field
    metric: str
    lines: tuple[Line, ...]


def figures(experiment: StudyExperiment, measured: Measured) -> tuple[Figure, ...]:
    """The figures of this experiment of which something was measured; none for one that has tables only."""
    shapes = next((own for name, own in SHAPES.items() if experiment.is_or_copies(name)), ())
    found = (_figure(experiment, shape, measured) for shape in shapes)
    return tuple(one for one in found if one is not None)


def _figure(experiment: StudyExperiment, shape: Shape, measured: Measured) -> Figure | None:
    by_level: dict[Level, list[Point]] = {}
    for point in measured.where(shape.where):
        by_level.setdefault(getattr(point, shape.lines), []).append(point)
    if not by_level:
        return None
    lines = [
        Line(level=level, dots=_dots(experiment, shape.across, by_level[level], measured))
        for level in sorted(by_level, key=_order)
    ]
    return Figure(
        name=shape.name, about=shape.about, across=shape.across, lines_are=shape.lines,
        metric=next(iter(by_level.values()))[0].metric, lines=tuple(lines),
    )  # fmt: skip


def _dots(experiment: StudyExperiment, across: Field, points: Sequence[Point], measured: Measured) -> tuple[Dot, ...]:
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


def _published(experiment: StudyExperiment, point: Point, measured: Measured) -> float | None:
    """By the first published ratio of this point to one that was measured."""
    for one in contrasts(experiment.study):
        base = measured.of(one.first)
        if one.second == point and one.ratio is not None and base:
            return one.ratio * median(base.values())
    return None


def _order(level: Level) -> tuple[float, str]:
    """Shares by their number, names by themselves."""
    text = str(level)
    return (float(text) if text.isdigit() else 0.0, text)
