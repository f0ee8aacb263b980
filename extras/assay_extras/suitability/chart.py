"""Which workload suits which of two levels, in one figure: the ratio of times over what a workload moves.

Both axes are logarithmic, so that twice as long and half as long lie as far from 1. Shaded is where either level saves
the reader's share of the time. The line and its interval are drawn within what was measured.
"""

from collections.abc import Iterator, Sequence
from html import escape
from math import ceil, floor, log10
from typing import NamedTuple

from assay.report.charts import drawing as svg
from assay.report.words import number_text, significant_text
from assay.stats.estimate import Estimate
from assay_extras.suitability.suited import Side, Suitability, SuitabilityLine, SuitedWorkload

LEFT, WIDTH, TOP, HEIGHT, RIGHT_PX = 52, 740, 60, 300, 14
LETTER_PX, LINE_PX = 6.9, 16
MARGIN = 1.35
"""Beyond the outermost points, so that their names have room."""
RATIOS = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 20.0, 50.0)
"""Ratios that read well; of those within the axis at most MOST_RATIOS are named."""
MOST_RATIOS = 8
MEGA = 1e6
COLOURS = {Side.BASE: svg.BLUE, Side.LEVEL: svg.GREEN, Side.EITHER: svg.SLATE, Side.NOT_KNOWN_YET: svg.EDGE}
SHADE = 0.09


class _Axes(NamedTuple):
    """From the least to the most of what is moved (bytes per processor second), and of the ratios."""

    least: float
    most: float
    lowest: float
    highest: float

    def x(self, moved: float) -> float:
        """Where so many bytes per processor second lie."""
        return LEFT + log10(moved / self.least) / log10(self.most / self.least) * (WIDTH - RIGHT_PX - LEFT)

    def y(self, ratio: float) -> float:
        """Where a ratio lies; what is beyond the axis is drawn at its end."""
        inside = min(max(ratio, self.lowest), self.highest)
        return TOP + HEIGHT * log10(self.highest / inside) / log10(self.highest / self.lowest)


class _Box(NamedTuple):
    """A name's place: its left end, its middle, its width."""

    x: float
    y: float
    width: float

    def meets(self, other: "_Box") -> bool:
        """Whether two names would lie upon each other."""
        apart = self.x + self.width < other.x or other.x + other.width < self.x
        return not apart and abs(self.y - other.y) < LINE_PX


def suitability_chart(suited: Suitability, labels: Sequence[str]) -> str:
    """A figure as SVG; `labels` are those of the workloads, in their order."""
    axes = _axes(suited)
    parts = [*_frame(axes, suited)]
    if suited.line is not None:
        parts += _line(axes, suited.line)
        parts += _crossings(axes, suited, suited.line)
    parts += _points(axes, suited, labels)
    parts += _names(axes, suited, labels)
    parts += _legend(suited)
    return svg.figure(TOP + HEIGHT + 46, parts, _spoken(suited, labels), "chart", WIDTH)


def _axes(suited: Suitability) -> _Axes:
    moved = [end for workload in suited.workloads for end in _ends(workload.moved)]
    ratios = [1.0, suited.level_suits_below, suited.base_suits_above]
    ratios += [end for workload in suited.workloads for end in _ends(workload.ratio)]
    least, most = min(moved) / MARGIN, max(moved) * MARGIN
    if most < 3 * least:
        least, most = least / 1.5, most * 1.5
    return _Axes(least, most, max(0.05, min(ratios) / 1.12), min(50.0, max(ratios) * 1.12))


def _ends(known: Estimate) -> list[float]:
    """Its value, and the ends of its interval, of which very far ones would make all else small."""
    ends = [end for end in (known.low, known.high) if end is not None and known.value / 4 < end < known.value * 4]
    return [known.value, *ends]


def _frame(axes: _Axes, suited: Suitability) -> Iterator[str]:
    """Title, where each level suits, lines across with their ratios, what is moved."""
    title = f"How many times as long with {suited.level} as with {suited.base}, by what a job moves for its computing"
    yield svg.text(0, 15, title, 'font-weight="600" font-size="14"')
    right, bottom = WIDTH - RIGHT_PX, TOP + HEIGHT
    above, below = axes.y(suited.base_suits_above), axes.y(suited.level_suits_below)
    yield svg.rect(LEFT, TOP, right - LEFT, above - TOP, svg.BLUE, SHADE)
    yield svg.rect(LEFT, below, right - LEFT, bottom - below, svg.GREEN, SHADE)
    ratios = [ratio for ratio in RATIOS if axes.lowest <= ratio <= axes.highest]
    while len(ratios) > MOST_RATIOS:
        ratios = [ratio for place, ratio in enumerate(ratios) if ratio == 1 or place % 2 == ratios.index(1.0) % 2]
    for ratio in ratios:
        y = axes.y(ratio)
        stroke = svg.EDGE if ratio == 1 else svg.FAINT
        yield f'<path d="M{LEFT},{y:.1f}H{right}" stroke="{stroke}"/>'
        yield svg.text(LEFT - 6, y + 4.5, f"{ratio:g}", 'text-anchor="end"')
    for y in (above, below):
        yield f'<path d="M{LEFT},{y:.1f}H{right}" stroke="{svg.INK}" stroke-dasharray="5 4"/>'
    for box, label, colour in _regions(axes, suited):
        halo = f'paint-order="stroke" stroke="{svg.PAPER}" stroke-width="3"'
        yield svg.text(box.x, box.y + 4.5, label, f'{halo} fill="{colour}"')
    yield f'<path d="M{LEFT},{bottom}H{right}" stroke="{svg.INK}"/>'
    for value in _marks(axes.least / MEGA, axes.most / MEGA):
        x = axes.x(value * MEGA)
        yield f'<path d="M{x:.1f},{bottom}v5" stroke="{svg.INK}"/>'
        yield svg.text(x, bottom + 19, f"{value:g}", 'text-anchor="middle"')
    title = f"MB read and written on media with {suited.base}, for each second of the tasks' processor time"
    yield svg.text(right, bottom + 38, title, f'text-anchor="end" fill="{svg.SOFT}"')


def _regions(axes: _Axes, suited: Suitability) -> list[tuple[_Box, str, str]]:
    """What is saved above and below the thresholds: at the right, or at the left where that is free of points."""
    named = [
        (suited.base, axes.y(suited.base_suits_above) - 10, svg.BLUE),
        (suited.level, axes.y(suited.level_suits_below) + 12, svg.GREEN),
    ]
    labels = []
    for name, y, colour in named:
        label = f"{name} saves {100 * suited.worth:g} % or more"
        width = len(label) * svg.LETTER_ROOM_PX
        right = WIDTH - RIGHT_PX - 2 - width
        boxes = [_Box(x, y, width) for x in (right, LEFT + 8, (LEFT + right) / 2)]
        free = [box for box in boxes if not any(_crosses(axes, workload, box) for workload in suited.workloads)]
        labels.append(((free or boxes)[0], label, colour))
    return labels


def _crosses(axes: _Axes, workload: SuitedWorkload, box: _Box) -> bool:
    """Whether a point or its interval lies upon some words."""
    low, high = (axes.y(end or workload.ratio.value) for end in (workload.ratio.low, workload.ratio.high))
    return box.x - 8 < axes.x(workload.moved.value) < box.x + box.width + 8 and high - LINE_PX < box.y < low + LINE_PX


def _marks(least: float, most: float) -> list[float]:
    """Return 1, 2 and 5 times powers of ten within an axis; of a long one the powers alone."""
    powers = range(floor(log10(least)), ceil(log10(most)) + 1)
    steps = (1, 2, 5) if log10(most / least) < 3 else (1,)
    return [value for power in powers for step in steps if least <= (value := step * 10.0**power) <= most]


def _line(axes: _Axes, line: SuitabilityLine) -> Iterator[str]:
    """The line with its interval; dashed where it may as well be level."""
    known = [(place, line.ratio(place)) for place in line.places[::5]]
    high = [(place, ratio.high or ratio.value) for place, ratio in known]
    low = [(place, ratio.low or ratio.value) for place, ratio in known[::-1]]
    yield f'<path d="{_path(axes, high)}L{_path(axes, low)[1:]}Z" fill="{svg.INK}" fill-opacity=".08"/>'
    middle = [(place, ratio.value) for place, ratio in known]
    dash = "" if line.tells else ' stroke-dasharray="7 5"'
    yield f'<path d="{_path(axes, middle)}" fill="none" stroke="{svg.INK}" stroke-width="1.8"{dash}/>'


def _path(axes: _Axes, places: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{axes.x(moved):.1f},{axes.y(ratio):.1f}" for moved, ratio in places)


def _crossings(axes: _Axes, suited: Suitability, line: SuitabilityLine) -> Iterator[str]:
    """From where the line crosses a threshold down to the axis, with the bytes in words."""
    bottom = TOP + HEIGHT
    for ratio in (suited.base_suits_above, suited.level_suits_below):
        crossing = line.crossing(ratio) if line.tells else None
        if crossing is not None:
            x, y = axes.x(crossing.value), axes.y(ratio)
            yield f'<path d="M{x:.1f},{y:.1f}V{bottom}" stroke="{svg.INK}" stroke-dasharray="2 3"/>'
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{svg.INK}"/>'
            label = f"{significant_text(crossing.value / MEGA)} MB"
            halo = f'paint-order="stroke" stroke="{svg.PAPER}" stroke-width="4" font-weight="600"'
            yield svg.text(x + 5, bottom - 7, label, halo)


def _points(axes: _Axes, suited: Suitability, labels: Sequence[str]) -> Iterator[str]:
    """Each workload with its two intervals; one whose side is not known yet is a ring."""
    for workload, label in zip(suited.workloads, labels, strict=True):
        x, y, colour = axes.x(workload.moved.value), axes.y(workload.ratio.value), COLOURS[workload.side]
        stroke = f'stroke="{colour}" stroke-width="1.6" fill="none"'
        if workload.ratio.low is not None and workload.ratio.high is not None:
            low, high = axes.y(workload.ratio.low), axes.y(workload.ratio.high)
            yield f'<path d="M{x:.1f},{low:.1f}V{high:.1f}M{x - 4:.1f},{low:.1f}h8M{x - 4:.1f},{high:.1f}h8" {stroke}/>'
        if workload.moved.low is not None and workload.moved.high is not None:
            ends = (workload.moved.low, workload.moved.high)
            left, right = (axes.x(min(max(end, axes.least), axes.most)) for end in ends)
            yield f'<path d="M{left:.1f},{y:.1f}H{right:.1f}" {stroke}/>'
        yield f"<g><title>{escape(_point_text(workload, label))}</title>{_dot(x, y, workload.side)}</g>"


def _dot(x: float, y: float, side: Side) -> str:
    colour = COLOURS[side]
    fill = svg.PAPER if side is Side.NOT_KNOWN_YET else colour
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{fill}" stroke="{colour}" stroke-width="2"/>'


def _names(axes: _Axes, suited: Suitability, labels: Sequence[str]) -> Iterator[str]:
    """Each workload's name beside its point, at the first of some places where it lies upon no other name or point."""
    points = [(axes.x(workload.moved.value), axes.y(workload.ratio.value)) for workload in suited.workloads]
    taken = [*(_Box(x - 6, y, 12) for x, y in points), *(box for box, _, _ in _regions(axes, suited))]
    for (x, y), label in zip(points, labels, strict=True):
        width = len(label) * svg.LETTER_ROOM_PX
        sides = [x + 10, x - 10 - width] if x + 10 + width < WIDTH - RIGHT_PX else [x - 10 - width, x + 10]
        places = [_Box(side, y + down, width) for down in (-9, 10, -25, 26) for side in sides]
        inside = [
            place for place in places if place.x > LEFT and place.x + width < WIDTH and TOP < place.y < TOP + HEIGHT
        ]
        clear = (place for place in inside if not any(place.meets(other) for other in taken))
        place = next(clear, (inside or places)[0])
        taken.append(place)
        halo = f'paint-order="stroke" stroke="{svg.PAPER}" stroke-width="3"'
        yield svg.text(place.x, place.y + 4.5, label, halo)


def _legend(suited: Suitability) -> Iterator[str]:
    """What is drawn, in a line below the title."""
    names = {Side.BASE: f"{suited.base} suits", Side.LEVEL: f"{suited.level} suits", Side.EITHER: "either"}
    seen = {workload.side for workload in suited.workloads}
    entries = [(_dot(6, 0, side), 12, names.get(side, "not known yet")) for side in Side if side in seen]
    if suited.line is not None:
        dash = "" if suited.line.tells else ' stroke-dasharray="7 4"'
        entries.append((f'<path d="M0,0h18" stroke="{svg.INK}" stroke-width="1.8"{dash}/>', 18, "fitted"))
        entries.append(
            (f'<rect y="-5" width="18" height="10" fill="{svg.INK}" fill-opacity=".12"/>', 18, "95 % interval")
        )
    x = 0.0
    for drawn, width, label in entries:
        yield f'<g transform="translate({x:.1f},{TOP - 22})">{drawn}</g>'
        yield svg.text(x + width + 6, TOP - 17.5, label, f'font-size="{svg.TEXT_PX - 1}"')
        x += width + 6 + len(label) * LETTER_PX + 14


def _spoken(suited: Suitability, labels: Sequence[str]) -> str:
    """The figure in words, for those who can't see it."""
    each = "; ".join(_point_text(workload, label) for workload, label in zip(suited.workloads, labels, strict=True))
    return f"{suited.level} beside {suited.base}, by megabytes moved for a second of computing: {each}"


def _point_text(workload: SuitedWorkload, label: str) -> str:
    return f"{label}: {number_text(workload.moved.value / MEGA)} MB, {workload.ratio.value:.2f} times as long"
