"""How each node's power was spread over the run of each trial, as box plots above one axis."""

from collections.abc import Sequence

from assay.model.energy import Spread
from assay.report.colours import FAINT, INK, SKY
from assay.report.drawing import LEFT, RIGHT, WIDTH, figure, rect, round_up, text, ticks
from assay.report.text import significant_text

ROW_PX, BOX_PX, AXIS_PX = 46, 16, 44


def power_boxes(trials: Sequence[tuple[str, Spread]]) -> str:
    """A box for each trial's node: quartiles, with whiskers to the least and the greatest; empty without any."""
    if not trials:
        return ""
    most = round_up(max(spread.greatest_watts for _, spread in trials))
    several = len({spread.node for _, spread in trials}) > 1
    parts = []
    for row, (name, spread) in enumerate(trials):
        of = f"{name}, {spread.node}" if several else name
        parts += _box(row * ROW_PX, of, spread, most)
    bottom = len(trials) * ROW_PX
    parts += _axis(bottom, most)
    return figure(bottom + AXIS_PX, parts, "power of each node over the run, in watts")


def _x(watts: float, most: float) -> float:
    return LEFT + watts / most * (WIDTH - LEFT - RIGHT)


def _box(top: float, name: str, spread: Spread, most: float) -> list[str]:
    least, first, middle, third, greatest = (
        _x(watts, most)
        for watts in (
            spread.least_watts, spread.first_quartile_watts, spread.median_watts, spread.third_quartile_watts,
            spread.greatest_watts,
        )
    )  # fmt: skip
    at = top + 22
    centre, low = at + BOX_PX / 2, at + BOX_PX
    middle_watts, least_watts, most_watts = map(
        significant_text, (spread.median_watts, spread.least_watts, spread.greatest_watts)
    )
    told = f"{name}: {middle_watts} W at the median, {least_watts} to {most_watts}"
    whiskers = f"M{least:.1f},{centre:g}H{first:.1f}M{third:.1f},{centre:g}H{greatest:.1f}"
    ends = f"M{least:.1f},{at + 4:g}V{low - 4:g}M{greatest:.1f},{at + 4:g}V{low - 4:g}"
    return [
        text(LEFT, top + 14, told),
        f'<path d="{whiskers}{ends}" fill="none" stroke="{INK}"/>',
        rect(first, at, max(third - first, 1), BOX_PX, SKY, edge=INK),
        f'<path d="M{middle:.1f},{at:g}V{low:g}" stroke="{INK}" stroke-width="2.4"/>',
    ]


def _axis(bottom: float, most: float) -> list[str]:
    marks = ticks(most)
    lines = "".join(f"M{_x(watts, most):.1f},{bottom + 4:g}v5" for watts in marks)
    return [
        f'<path d="M{LEFT},{bottom + 4:g}H{WIDTH - RIGHT}{lines}" fill="none" stroke="{INK}"/>',
        f'<path d="M{LEFT},{bottom + 4:g}V0" stroke="{FAINT}"/>',
        *(text(_x(watts, most), bottom + 22, f"{watts:g}", 'text-anchor="middle"') for watts in marks),
        text(WIDTH - RIGHT, bottom + 38, "W, of a node's components together, by half second", 'text-anchor="end"'),
    ]
