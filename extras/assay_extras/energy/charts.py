"""Power over time, and how each node's was spread over the run."""

from collections.abc import Mapping, Sequence

from assay.model.record import Basis, Span
from assay.report.charts import drawing as svg
from assay.report.charts.timeline import MOST_BINS, pointer_times, stack
from assay.report.words import significant_text
from assay.stats.timeline import Pieces, added
from assay_extras.energy.model import PowerSpread

Power = Mapping[tuple[str, str], Pieces]
"""Watts by node and component."""
POWER_TOP_PX, POWER_PX, TIMES_PX = 22, 60, 54
MOST_POWERS = 8
"""Components of more are drawn by node."""
POWER_COLOURS = (svg.SLATE, svg.SILVER, svg.BLUE, svg.ORANGE, svg.GREEN, svg.PINK)


def most_watts(powers: Sequence[Power]) -> float:
    """The end of an axis on which the greatest power of some trials, all components together, fits."""
    most = [added(list(power.values())).values.max(initial=0.0) for power in powers if power]
    return svg.round_up(float(max(most, default=0.0)))


def power_chart(trial: str, power: Power, basis: Basis | None, span: Span, length_ms: int, watts: float) -> str:
    """Components upon one another over a trial's run, as SVG, on axes of such ends; empty where nothing is known."""
    if not power or span.seconds <= 0:
        return ""
    panel = svg.Panel(POWER_TOP_PX, POWER_PX, span.begin_ms, length_ms, watts)
    nodes = {node for node, _ in power}
    names = [component if len(nodes) == 1 else f"{node}: {component}" for node, component in power]
    series = list(power.values())
    if len(series) > MOST_POWERS and len(nodes) > 1:
        by_node = {node: [pieces for (of, _), pieces in power.items() if of == node] for node, _ in power}
        names, series = list(by_node), list(map(added, by_node.values()))
    colours = [POWER_COLOURS[place % len(POWER_COLOURS)] for place in range(len(names))]
    legend = list(zip(names, colours, strict=True))
    bins = max(1, round(MOST_BINS * (span.end_ms - span.begin_ms) / length_ms))
    labels = [svg.SeriesLabel("power", name, "W") for name in names]
    parts = [
        svg.title(panel.top, f"power, W{f' ({basis})' if basis else ''}", legend),
        svg.value_axis(panel, (0, watts)),
        *stack(panel, series, colours, labels, span, bins),
        svg.time_axis(panel._replace(top=panel.top + panel.height + 12, height=0), "since the run began"),
        pointer_times(length_ms),
    ]
    return svg.figure(panel.top + panel.height + TIMES_PX, parts, f"{trial}: power over time", "wide timeline")


ROW_PX, BOX_PX, AXIS_PX = 46, 16, 44


def power_boxes(trials: Sequence[tuple[str, PowerSpread]]) -> str:
    """A box for each trial's node: quartiles, with whiskers to the least and the greatest; empty without any."""
    if not trials:
        return ""
    most = svg.round_up(max(spread.greatest_watts for _, spread in trials))
    panel = svg.Panel(len(trials) * ROW_PX, 0, 0, most, 1)
    several = len({spread.node for _, spread in trials}) > 1
    parts = []
    for row, (name, spread) in enumerate(trials):
        of = f"{name}, {spread.node}" if several else name
        parts += _box(panel, row * ROW_PX, of, spread)
    marks = svg.ticks(most)
    bottom = panel.top
    lines = "".join(f"M{panel.x(watts):.1f},{bottom + 4:g}v5" for watts in marks)
    words = "W, of a node's components together, by half second"
    parts += [
        f'<path d="M{svg.LEFT},{bottom + 4:g}H{svg.WIDTH - svg.RIGHT}{lines}" fill="none" stroke="{svg.INK}"/>',
        f'<path d="M{svg.LEFT},{bottom + 4:g}V0" stroke="{svg.FAINT}"/>',
        *(svg.text(panel.x(watts), bottom + 22, f"{watts:g}", 'text-anchor="middle"') for watts in marks),
        svg.text(svg.WIDTH - svg.RIGHT, bottom + 38, words, 'text-anchor="end"'),
    ]
    return svg.figure(panel.top + AXIS_PX, parts, "power of each node over the run, in watts")


def _box(panel: svg.Panel, top: float, name: str, spread: PowerSpread) -> list[str]:
    least, first, middle, third, greatest = (
        panel.x(watts)
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
    figures = f"{name}: {middle_watts} W at the median, {least_watts} to {most_watts}"
    whiskers = f"M{least:.1f},{centre:g}H{first:.1f}M{third:.1f},{centre:g}H{greatest:.1f}"
    ends = f"M{least:.1f},{at + 4:g}V{low - 4:g}M{greatest:.1f},{at + 4:g}V{low - 4:g}"
    return [
        svg.text(svg.LEFT, top + 14, figures),
        f'<path d="{whiskers}{ends}" fill="none" stroke="{svg.INK}"/>',
        svg.rect(first, at, max(third - first, 1), BOX_PX, svg.SKY, edge=svg.INK),
        f'<path d="M{middle:.1f},{at:g}V{low:g}" stroke="{svg.INK}" stroke-width="2.4"/>',
    ]
