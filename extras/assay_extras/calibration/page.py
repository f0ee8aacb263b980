"""A calibration as people read it: a table with bars on a terminal, and a page with plots.

Both put a drive's named figures beside those its profile expects, where it has a profile.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from assay.model.fact import fact_text
from assay.model.naming import bytes_text
from assay.report.charts.drawing import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    LEFT,
    ORANGE,
    PINK,
    SKY,
    VERMILION,
    figure,
    round_up,
    text,
    ticks,
    title,
)
from assay.report.templates import template, with_contents
from assay.report.terminal import print_doubt
from assay.report.words import number_text
from assay_extras.calibration.calibration import AccessPoint, Calibration
from assay_extras.calibration.fidelity import FidelityCheck, compare

DEPTH_COLOURS = (BLUE, SKY, GREEN, ORANGE, VERMILION, PINK)
DIRECTION_COLOURS = {"read": BLUE, "write": VERMILION}
PANELS = ("sequential read", "sequential write", "random read", "random write")
PLOT_WIDTH, PLOT_RIGHT, PLOT_TOP, PLOT_HEIGHT, PLOT_BELOW = 440, 22, 36, 170, 44


class PlotAxis(NamedTuple):
    """Numbers from `first` to `last`, in logarithms or not; `marks` are those that are written along it."""

    title: str
    first: float
    last: float
    marks: Sequence[float]
    logarithmic: bool = False

    def share(self, value: float) -> float:
        """How far along the axis a value lies, 0 to 1."""
        if self.logarithmic:
            return math.log(value / self.first) / math.log(self.last / self.first)
        return (value - self.first) / (self.last - self.first)


class PlottedCurve(NamedTuple):
    """Points that belong together, from left to right."""

    name: str
    colour: str
    points: Sequence[tuple[float, float]]


def block_plots(points: Sequence[AccessPoint]) -> list[str]:
    """Throughput by block size and queue depth, direct, as SVG: a plot per pattern and direction that was measured.

    All have the same axes.
    """
    direct = [point for point in points if not point.buffered and not point.start_share and point.mb_s > 0]
    if not direct:
        return []
    blocks = sorted({point.block_bytes / 1024 for point in direct})
    across = PlotAxis("block, KiB", blocks[0], max(blocks[-1], 2 * blocks[0]), blocks, logarithmic=True)
    least = math.floor(math.log10(min(point.mb_s for point in direct)))
    most = max(math.ceil(math.log10(max(point.mb_s for point in direct))), least + 1)
    up = PlotAxis("MB/s", 10.0**least, 10.0**most, [10.0**power for power in range(least, most + 1)], logarithmic=True)
    depths = sorted({point.depth for point in direct})
    colours = {depth: DEPTH_COLOURS[index % len(DEPTH_COLOURS)] for index, depth in enumerate(depths)}
    plots = []
    for name in PANELS:
        of_depth: dict[int, list[tuple[float, float]]] = {}
        for point in sorted(direct, key=lambda point: (point.depth, point.block_bytes)):
            if f"{point.pattern} {point.direction}" == name:
                of_depth.setdefault(point.depth, []).append((point.block_bytes / 1024, point.mb_s))
        curves = [
            PlottedCurve(f"depth {depth}", colours[depth], curve_points) for depth, curve_points in of_depth.items()
        ]
        if curves:
            plots.append(_plot(name, curves, across, up))
    return plots


def stream_plot(points: Sequence[AccessPoint]) -> str:
    """Throughput of all streams together, buffered, as SVG. Empty without data."""
    stream_points = [
        point
        for point in points
        if point.buffered and point.pattern == "sequential" and (point.direction == "read" or point.fsync == "end")
    ]
    if not stream_points:
        return ""
    counts, most = (
        sorted({point.streams for point in stream_points}),
        round_up(max(point.mb_s for point in stream_points)),
    )
    across = PlotAxis("sequential streams at once", 0, counts[-1], counts)
    curves = [
        PlottedCurve(
            way, colour, sorted((point.streams, point.mb_s) for point in stream_points if point.direction == way)
        )
        for way, colour in DIRECTION_COLOURS.items()
    ]
    return _plot(
        "all streams together",
        [curve for curve in curves if curve.points],
        across,
        PlotAxis("MB/s", 0, most, ticks(most)),
    )


def _plot(name: str, curves: Sequence[PlottedCurve], across: PlotAxis, up: PlotAxis) -> str:
    """Curves with a ring at each point."""
    bottom, right = PLOT_TOP + PLOT_HEIGHT, PLOT_WIDTH - PLOT_RIGHT

    def x(value: float) -> float:
        return LEFT + across.share(value) * (right - LEFT)

    def y(value: float) -> float:
        return bottom - up.share(value) * PLOT_HEIGHT

    # What all names begin with is said once.
    legend = [
        (curve.name if curve is curves[0] else curve.name.removeprefix("depth "), curve.colour) for curve in curves
    ]
    parts = [title(PLOT_TOP - 8, name, legend)]
    parts.append(text(LEFT - 6, PLOT_TOP - 15, up.title, 'text-anchor="end"'))
    parts += [f'<path d="M{LEFT},{y(mark):.1f}H{right}" stroke="{FAINT}"/>' for mark in up.marks]
    parts += [text(LEFT - 6, y(mark) + 4, f"{mark:,.6g}", 'text-anchor="end"') for mark in up.marks]
    parts.append(f'<path d="M{LEFT},{bottom}H{right}" stroke="{INK}"/>')
    parts += [text(x(mark), bottom + 18, f"{mark:g}", 'text-anchor="middle"') for mark in across.marks]
    parts.append(text(right, bottom + 36, across.title, 'text-anchor="end"'))
    for curve in curves:
        path = "L".join(f"{x(position):.1f},{y(value):.1f}" for position, value in curve.points)
        parts.append(f'<path d="M{path}" fill="none" stroke="{curve.colour}" stroke-width="1.8"/>')
        parts += [
            f'<circle cx="{x(position):.1f}" cy="{y(value):.1f}" r="3.5" fill="{curve.colour}">'
            f"<title>{curve.name}, {position:g}: {number_text(value)} {up.title}</title></circle>"
            for position, value in curve.points
        ]
    return figure(bottom + PLOT_BELOW, parts, f"{name}: {up.title} by {across.title}", "chart", PLOT_WIDTH)


BAR_CELLS = 4
COLOURS = {"pass": "green", "fail": "red", "beyond this machine": "yellow", "not measured": "yellow"}


class MeasuredRow(NamedTuple):
    """One point in words."""

    access: str
    block: str
    depth: str
    streams: str
    how: str
    mb_s: str
    iops: str
    median: str
    p99: str


def lines(points: Sequence[AccessPoint]) -> list[MeasuredRow]:
    """The points, in the order in which they were measured."""
    return [
        MeasuredRow(
            access=f"{point.pattern} {point.direction}",
            block=bytes_text(point.block_bytes).replace(".0", ""),
            depth=str(point.depth),
            streams=str(point.streams),
            how=_how(point),
            mb_s=number_text(point.mb_s),
            iops=f"{point.iops:,.0f}",
            median=microseconds_text(point.latency_us_median),
            p99=microseconds_text(point.latency_us_p99),
        )
        for point in points
    ]


def comparison_lines(comparisons: Sequence[FidelityCheck]) -> list[tuple[str, ...]]:
    """Figure, measured, profile, error in percent, bound, judgement and the profile's basis, in words."""
    return [
        (
            comparison.name,
            "-" if comparison.measured is None else figure_text(comparison.name, comparison.measured),
            figure_text(comparison.name, comparison.expected),
            "-" if comparison.error is None else f"{comparison.error:+.1%}",
            f"{comparison.bound:.0%}",
            comparison.judgement,
            comparison.basis,
        )
        for comparison in comparisons
    ]


def print_calibration(calibration: Calibration, console: Console) -> None:
    """Points, the comparison with the profile, and doubts."""
    console.print(_table(calibration))
    console.print(
        f"fio {calibration.fio_version}, {calibration.taken}. Latency from submission to completion; with fsync each, "
        "that of the fsync. Buffered writes without fsync show the memory, not the medium.",
        style="dim",
        highlight=False,
    )
    if calibration.knee:
        knee = calibration.knee
        console.print(
            f"write cache: {number_text(knee.before_mb_s)} MB/s for {bytes_text(knee.knee_bytes)}, then "
            f"{number_text(knee.beyond_mb_s)} MB/s",
            highlight=False,
        )
    if calibration.expected:
        console.print(_comparison_table(compare(calibration)))
    for doubt in calibration.doubts:
        print_doubt(doubt, console)


def calibration_page(calibration: Calibration) -> str:
    """One self-contained HTML page: no script, no address but its own."""
    html: str = template("calibration.html.j2", "assay_extras.calibration").render(
        calibration=calibration,
        facts={name: fact_text(fact) for name, fact in calibration.facts.items()},
        lines=lines(calibration.points),
        comparisons=comparison_lines(compare(calibration)),
        block_plots=block_plots(calibration.points),
        stream_plot=stream_plot(calibration.points),
    )
    return with_contents(html)


def figure_text(name: str, value: float) -> str:
    """A named figure with its unit."""
    if name.endswith("_bytes"):
        return f"{value / 1e9:.2f} GB" if value >= 1e9 else f"{value / 1e6:.0f} MB"
    return f"{number_text(value)} MB/s" if name.endswith("_mb_s") else f"{value:,.0f}/s"


def microseconds_text(value: float) -> str:
    """Microseconds below a millisecond, milliseconds above."""
    if value < 1000:
        return f"{value:.0f} us"
    return f"{value / 1000:.1f} ms" if value < 100_000 else f"{value / 1000:.0f} ms"


def _how(point: AccessPoint) -> str:
    parts = ["buffered" if point.buffered else "direct"]
    parts += [f"fsync {point.fsync}"] if point.fsync != "never" else []
    parts += ["whole disk"] if point.span == "device" and point.pattern == "random" else []
    parts += [f"at {point.start_share:.0%} of the disk"] if point.start_share else []
    return ", ".join(parts)


def _in_memory(point: AccessPoint) -> bool:
    return point.buffered and point.direction == "write" and point.fsync == "never"


def _bar(value: float, most: float) -> str:
    eighths = round(min(value / most, 1) * BAR_CELLS * 8) if most else 0
    return "█" * (eighths // 8) + (" ▏▎▍▌▋▊▉"[eighths % 8]).strip()


def _short_how(point: AccessPoint) -> str:
    """In as few letters as a terminal of 80 columns leaves for it; fsync is only done on what was buffered."""
    if not point.buffered:
        return f"at {point.start_share:.0%}" if point.start_share else "direct"
    streams = f"{point.streams} streams" if point.fsync == "never" else f"{point.streams}, fsync {point.fsync}"
    return streams if point.streams > 1 else "buffered" if point.fsync == "never" else f"fsync {point.fsync}"


def _plain_table(heading: str) -> Table:
    return Table(
        title=heading, title_justify="left", header_style="bold", box=SIMPLE_HEAD, padding=(0, 0), pad_edge=False
    )


def _table(calibration: Calibration) -> Table:
    places = [str(calibration.facts.get(name, "")) for name in ("drive", "device", "file_system")]
    table = _plain_table(
        " ".join([f"{calibration.medium}:", *(part for part in places if part not in {"", "unknown"})])
    )
    for name in ("access", "block"):
        table.add_column(name, no_wrap=True)
    table.add_column("depth", justify="right", no_wrap=True)
    table.add_column("how", no_wrap=True)
    for name in ("MB/s", "a second", "median", "99 %"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    # Writes that stay in memory would make the bars of a disk invisible.
    medium = [point for point in calibration.points if not _in_memory(point)]
    most = max((point.mb_s for point in medium), default=0.0)
    last = None
    for point, line in zip(calibration.points, lines(calibration.points), strict=True):
        group = (line.access, point.buffered)
        if last not in (None, group):
            table.add_section()
        last = group
        short = (line.access, line.block, line.depth, _short_how(point), line.mb_s, line.iops, line.median, line.p99)
        table.add_row(*short, _bar(point.mb_s, most))
    return table


def _comparison_table(comparisons: Sequence[FidelityCheck]) -> Table:
    table = _plain_table("against the profile")
    table.add_column("figure", no_wrap=True)
    for name in ("measured", "profile", "error", "bound"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for comparison, line in zip(comparisons, comparison_lines(comparisons), strict=True):
        table.add_row(*line[:5], f"[{COLOURS[comparison.judgement]}]{line[5]}[/]")
    return table
