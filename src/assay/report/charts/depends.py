"""What a saving depends on, in one figure: it over the speed of the processors, and its range for drives a fifth off.

Each curve is arithmetic on one decision's times. Decisions that differ in their bound of memory alone have a curve
each; those with less processor time are points upon the curves, since they were measured.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import ceil, floor, log2
from typing import NamedTuple

from assay.report.charts import drawing as svg
from assay.stats.estimate import Estimate
from assay.stats.sensitivity import Sensitivity

SLOWEST, FASTEST, MARGIN = 0.5, 4.0, 1.08
"""The axis has these speeds at least, times that of the processors here, and a little beyond."""
STEPS = 48
LEFT, WIDTH, TOP, HEIGHT, LETTER_PX = 52, 740, 58, 190, 6.7
NAMES_PX, BARE_PX = 92, 22
"""Room at the right for the curves' names, and without any."""
COLOURS = (svg.BLUE, svg.VERMILION, svg.GREEN, svg.PINK, svg.ORANGE, svg.SKY)
MOST_CURVES = len(COLOURS)
CURVES, POINTS = "memory", "cpus"
"""The factors whose levels are curves, and points upon them."""


class _Axes(NamedTuple):
    """From the least speed to the greatest, by its logarithm; from the least share to the greatest."""

    slowest: float
    fastest: float
    least: float
    greatest: float
    right: float

    def x(self, speed: float) -> float:
        return LEFT + log2(speed / self.slowest) / log2(self.fastest / self.slowest) * (self.right - LEFT)

    def y(self, share: float) -> float:
        inside = min(max(share, self.least), self.greatest)
        return TOP + HEIGHT * (self.greatest - inside) / (self.greatest - self.least)

    @property
    def speeds(self) -> list[float]:
        """The speeds at which curves are computed."""
        between = self.fastest / self.slowest
        return [self.slowest * between ** (step / STEPS) for step in range(STEPS + 1)]


def depends_charts(every: Iterable[Sensitivity | None]) -> list[str]:
    """A figure as SVG for each set of decisions that differ in nothing but their memory and processor time."""
    groups: dict[tuple[tuple[str, str], ...], list[Sensitivity]] = {}
    for sensitivity in every:
        if sensitivity is not None:
            same = tuple(item for item in sensitivity.levels.items() if item[0] not in {CURVES, POINTS})
            groups.setdefault((*same, ("", sensitivity.base), ("", sensitivity.other)), []).append(sensitivity)
    return [_figure(group) for group in groups.values()]


def _figure(group: Sequence[Sensitivity]) -> str:
    most = max(sensitivity.cores or 0.0 for sensitivity in group)
    curves = [sensitivity for sensitivity in group if (sensitivity.cores or 0.0) == most][:MOST_CURVES]
    points = [
        (curve, sensitivity, (sensitivity.cores or 0.0) / most)
        for curve in curves
        for sensitivity in group
        if sensitivity.levels.get(CURVES) == curve.levels.get(CURVES) and 0 < (sensitivity.cores or 0.0) < most
    ]
    requested = [sensitivity.cpu_speed for sensitivity in curves if sensitivity.cpu_speed]
    speeds = [SLOWEST, FASTEST, *requested, *(speed for _, _, speed in points)]
    axes = _axes(curves, points, min(speeds) / MARGIN, max(speeds))
    first = curves[0]
    alone = len(curves) == 1
    parts = [*_frame(axes, first)]
    if alone:
        parts += _ranges(axes, first)
    for index, (curve, colour) in enumerate(zip(curves, COLOURS, strict=False)):
        parts.append(_curve(axes, curve, colour))
        aside_px = 8 * (index - (len(curves) - 1) / 2)  # so that intervals do not lie upon each other
        parts.append(_point(axes, axes.x(1.0) + aside_px, curve.saving(), colour))
        parts += [_cross(axes, share, colour) for share in _checked(curve)]
        if curve.cpu_speed:
            parts.append(_ring(axes, curve.cpu_speed, curve.saving(curve.cpu_speed), colour, measured=False))
    colours = {id(curve): colour for curve, colour in zip(curves, COLOURS, strict=False)}
    parts += [
        _ring(axes, speed, sensitivity.saving(), colours[id(curve)], measured=True)
        for curve, sensitivity, speed in points
    ]
    if not alone:
        parts += _names(axes, curves)
    parts += _legend(first, alone=alone, points=bool(points), varied=any(sensitivity.varied for sensitivity in curves))
    return svg.figure(TOP + HEIGHT + 46, parts, _spoken(curves), "chart", WIDTH)


def _axes(
    curves: Sequence[Sensitivity], points: Sequence[tuple[Sensitivity, Sensitivity, float]], slowest: float,
    fastest: float,
) -> _Axes:  # fmt: skip
    shares = [curves[0].worth, 0.0]
    for curve in curves:
        for speed in (slowest, 1.0, fastest):
            saving = curve.saving(speed)
            shares.append(saving.value)
            if len(curves) == 1 or speed == 1.0:
                shares += [end for end in (saving.low, saving.high) if end is not None]
            shares += (curve.assumed_range(speed) or ()) if len(curves) == 1 else ()
    shares += [sensitivity.saving().value for _, sensitivity, _ in points]
    least, greatest = max(-1.0, min(shares)), min(1.0, max(shares))
    right = WIDTH - (BARE_PX if len(curves) == 1 else NAMES_PX)
    return _Axes(slowest, fastest, floor(least * 5) / 5, max(ceil(greatest * 5) / 5, 0.2), right)


def _frame(axes: _Axes, first: Sensitivity) -> Iterator[str]:
    """Title, lines across, the threshold, the speeds."""
    yield svg.text(
        0,
        15,
        f"How much less time {first.other} takes than {first.base}, by the speed of the processors",
        'font-weight="600" font-size="14"',
    )
    for fifth in range(round(axes.least * 5), round(axes.greatest * 5) + 1):
        y = axes.y(fifth / 5)
        yield f'<path d="M{LEFT},{y:.1f}H{axes.right:g}" stroke="{svg.FAINT}"/>'
        yield svg.text(LEFT - 6, y + 4.5, f"{20 * fifth} %", 'text-anchor="end"')
    bottom = TOP + HEIGHT
    if axes.least < 0:
        yield f'<path d="M{LEFT},{axes.y(0):.1f}H{axes.right:g}" stroke="{svg.EDGE}"/>'
    yield f'<path d="M{LEFT},{bottom}H{axes.right:g}" stroke="{svg.INK}"/>'
    worth = axes.y(first.worth)
    yield f'<path d="M{LEFT},{worth:.1f}H{axes.right:g}" stroke="{svg.INK}" stroke-dasharray="5 4"/>'
    yield svg.text(axes.right - 4, worth - 5, f"worth it from {100 * first.worth:g} %", 'text-anchor="end"')
    for power in range(ceil(log2(axes.slowest) - 1e-9), floor(log2(axes.fastest) + 1e-9) + 1):
        x = axes.x(2.0**power)
        yield f'<path d="M{x:.1f},{bottom}v5" stroke="{svg.INK}"/>'
        label = "as here" if not power else f"{2.0**power:g}x"
        yield svg.text(x, bottom + 19, label, 'text-anchor="middle"')
    speed = f" (here {first.processor_mb_s:.1f} MB/s by bzip2)" if first.processor_mb_s else ""
    yield svg.text(axes.right, bottom + 38, f"speed of the processors{speed}", f'text-anchor="end" fill="{svg.SOFT}"')


def _ranges(axes: _Axes, sensitivity: Sensitivity) -> Iterator[str]:
    """The interval as an area, and dotted lines at the ends of what assumed figures can change."""
    savings = [(speed, sensitivity.saving(speed)) for speed in axes.speeds]
    if sensitivity.halves is not None:
        high = [(speed, saving.high or 0.0) for speed, saving in savings]
        low = [(speed, saving.low or 0.0) for speed, saving in savings]
        data = f"{_line(axes, high)}L{_line(axes, low[::-1])[1:]}Z"
        yield f'<path d="{data}" fill="{svg.BLUE}" fill-opacity=".14"/>'
    ranges = [(speed, bounds) for speed in axes.speeds if (bounds := sensitivity.assumed_range(speed)) is not None]
    for end in (0, 1) if ranges else ():
        data = _line(axes, [(speed, bounds[end]) for speed, bounds in ranges])
        yield f'<path d="{data}" fill="none" stroke="{svg.BLUE}" stroke-width="1.3" stroke-dasharray="2 3"/>'


def _curve(axes: _Axes, sensitivity: Sensitivity, colour: str) -> str:
    data = _line(axes, [(speed, sensitivity.saving(speed).value) for speed in axes.speeds])
    return f'<path d="{data}" fill="none" stroke="{colour}" stroke-width="2"/>'


def _line(axes: _Axes, points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{axes.x(speed):.1f},{axes.y(share):.1f}" for speed, share in points)


def _point(axes: _Axes, x: float, saving: Estimate, colour: str) -> str:
    """What was measured here, with its interval."""
    y = axes.y(saving.value)
    dot = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"/>'
    return _whisker(axes, x, saving, colour) + dot


def _ring(axes: _Axes, speed: float, saving: Estimate, colour: str, *, measured: bool) -> str:
    """Measured with less processor time, or what is asked about, with its share in words."""
    x, y = axes.x(speed), axes.y(saving.value)
    ring = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{svg.PAPER}" stroke="{colour}" stroke-width="2"/>'
    if measured:
        return _whisker(axes, x, saving, colour) + ring
    near_end = x > axes.right - 90
    anchor, away = ("end", -9) if near_end else ("start", 9)
    label = svg.text(
        x + away,
        y + 17,
        f"{speed:g}x: {100 * saving.value:.0f} %",
        f'text-anchor="{anchor}" font-weight="600" paint-order="stroke" stroke="{svg.PAPER}" stroke-width="4"',
    )
    return f'<path d="M{x:.1f},{TOP + HEIGHT}V{y:.1f}" stroke="{colour}" stroke-dasharray="2 3"/>{ring}{label}'


def _whisker(axes: _Axes, x: float, saving: Estimate, colour: str) -> str:
    if saving.low is None or saving.high is None:
        return ""
    low, high = axes.y(saving.low), axes.y(saving.high)
    caps = f"M{x - 4:.1f},{low:.1f}h8M{x - 4:.1f},{high:.1f}h8"
    return f'<path d="M{x:.1f},{low:.1f}V{high:.1f}{caps}" stroke="{colour}" stroke-width="1.6" fill="none"/>'


def _cross(axes: _Axes, share: float, colour: str) -> str:
    """A trial with varied drives, beside what was measured here."""
    x, y = axes.x(1.0) + 14, axes.y(share)
    return f'<path d="M{x - 4:.1f},{y - 4:.1f}l8,8m0,-8l-8,8" stroke="{colour}" stroke-width="1.8" fill="none"/>'


def _checked(sensitivity: Sensitivity) -> Iterator[float]:
    """The savings by trials with varied drives, each in place of the drive's own."""
    for trial in sensitivity.varied:
        of_base = trial.placement.startswith(f"{sensitivity.base}-")
        base_s, other_s = (trial.elapsed_s, sensitivity.other_s) if of_base else (sensitivity.base_s, trial.elapsed_s)
        yield 1 - other_s / base_s


def _names(axes: _Axes, curves: Sequence[Sensitivity]) -> Iterator[str]:
    """The curves' memory at their right ends, moved apart where they would lie upon each other."""
    ends = [(axes.y(sensitivity.saving(axes.fastest).value), index) for index, sensitivity in enumerate(curves)]
    at = -100.0
    for y, index in sorted(ends):
        at = max(y, at + 15)
        label = curves[index].levels.get(CURVES, "").replace("MiB", " MiB").replace("GiB", " GiB")
        yield svg.text(axes.right + 8, at + 4.5, label, f'fill="{COLOURS[index]}" font-weight="600"')


def _legend(first: Sensitivity, *, alone: bool, points: bool, varied: bool) -> Iterator[str]:
    """What is drawn, in a line below the title."""
    line, dash = 'stroke-width="2" fill="none"', 'stroke-width="1.3" stroke-dasharray="2 3"'
    ink = svg.BLUE if alone else svg.INK
    entries = [
        (f'<circle cx="9" cy="0" r="4.5" fill="{ink}"/>', "measured"),
        (f'<path d="M0,0h18" stroke="{ink}" {line}/>', "calculated"),
    ]
    if alone and first.halves is not None:
        entries.append((f'<rect y="-5" width="18" height="10" fill="{ink}" fill-opacity=".2"/>', "95 % interval"))
    if alone and first.assumed:
        entries.append((f'<path d="M0,0h18" stroke="{ink}" {dash}/>', "assumed speeds a fifth off"))
    if points:
        entries.append(
            (f'<circle cx="9" r="4.5" fill="{svg.PAPER}" stroke="{ink}" stroke-width="2"/>', "less processor time")
        )
    if varied:
        entries.append((f'<path d="M5,-4l8,8m0,-8l-8,8" stroke="{ink}" {line}/>', "run with such drives"))
    x = 0.0
    for drawn, label in entries:
        yield f'<g transform="translate({x:.1f},{TOP - 22})">{drawn}</g>'
        yield svg.text(x + 24, TOP - 17.5, label, f'font-size="{svg.TEXT_PX - 1}"')
        x += 24 + len(label) * LETTER_PX + 14


def _spoken(curves: Sequence[Sensitivity]) -> str:
    """The figure in words, for those who can't see it."""
    sentences = []
    for sensitivity in curves:
        savings = ((speed, sensitivity.saving(speed).value) for speed in (0.5, 1, 2, 4))
        shares = ", ".join(f"{100 * saving:.0f} % at {speed:g} times" for speed, saving in savings)
        sentences.append(f"{sensitivity.levels.get(CURVES, '')}: {shares}")
    each = "; ".join(sentences)
    return f"how much less time {curves[0].other} takes than {curves[0].base}, by the speed of the processors: {each}"
