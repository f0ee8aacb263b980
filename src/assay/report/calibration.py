"""A calibration as people read it: a table with bars on a terminal, and a page with plots.

Both put a drive's named figures beside those its profile expects, where it has a profile.
"""

from collections.abc import Sequence
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from assay.model.calibration import Calibration, Point
from assay.model.naming import bytes_text
from assay.report.terminal import print_doubt
from assay.stats.fidelity import Comparison, compare

DEPTH_COLOURS = ["#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00", "#CC79A7"]
DIRECTION_COLOURS = {"read": "#0072B2", "write": "#D55E00"}


def block_plot(points: Sequence[Point]) -> str:
    """Throughput by block size and depth, direct, as SVG; a panel per pattern and direction. Empty without data."""
    import altair

    values = [
        {
            "panel": f"{point.pattern} {point.direction}",
            "block_kib": point.block_bytes / 1024,
            "depth": point.depth,
            "mb_s": point.mb_s,
        }
        for point in points
        if not point.buffered and not point.start_share
    ]
    if not values:
        return ""
    depths = sorted({point.depth for point in points})
    base = altair.Chart(altair.Data(values=values)).encode(
        x=altair.X(
            "block_kib:Q",
            title="block (KiB)",
            scale=altair.Scale(type="log", base=2),
            axis=altair.Axis(values=[4, 16, 64, 256, 1024]),
        ),
        y=altair.Y("mb_s:Q", title="MB/s", scale=altair.Scale(type="log"), axis=altair.Axis(format="~s", tickCount=5)),
        color=altair.Color(
            "depth:O", title="queue depth", scale=altair.Scale(domain=depths, range=DEPTH_COLOURS[: len(depths)])
        ),
    )
    layered = altair.layer(base.mark_line(), base.mark_point(filled=True, size=45)).properties(width=250, height=170)
    panels = ["sequential read", "sequential write", "random read", "random write"]
    return _svg(layered.facet(altair.Facet("panel:N", title=None, sort=panels), columns=2))


def stream_plot(points: Sequence[Point]) -> str:
    """Throughput of all streams together, buffered, as SVG. Empty without data."""
    import altair

    values = [
        {"streams": point.streams, "direction": point.direction, "mb_s": point.mb_s}
        for point in points
        if point.buffered and point.pattern == "sequential" and (point.direction == "read" or point.fsync == "end")
    ]
    if not values:
        return ""
    colour = altair.Color(
        "direction:N",
        title=None,
        scale=altair.Scale(domain=list(DIRECTION_COLOURS), range=list(DIRECTION_COLOURS.values())),
    )
    base = altair.Chart(altair.Data(values=values)).encode(
        x=altair.X("streams:Q", title="concurrent sequential streams", axis=altair.Axis(values=[1, 2, 4, 6, 8])),
        y=altair.Y("mb_s:Q", title="MB/s, all together", scale=altair.Scale(zero=True)),
        color=colour,
    )
    return _svg(altair.layer(base.mark_line(), base.mark_point(filled=True, size=45)).properties(width=420, height=200))


def _svg(chart: object) -> str:
    import vl_convert

    configured = chart.configure_view(stroke="#d7dce1").configure_axis(labelFontSize=12, titleFontSize=12)  # type: ignore[attr-defined]
    return str(vl_convert.vegalite_to_svg(configured.to_json()))


BAR_CELLS = 4
COLOURS = {"pass": "green", "fail": "red", "beyond this machine": "yellow", "not measured": "yellow"}


class Line(NamedTuple):
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


def lines(points: Sequence[Point]) -> list[Line]:
    """The points, in the order in which they were measured."""
    return [
        Line(
            access=f"{point.pattern} {point.direction}",
            block=bytes_text(point.block_bytes).replace(".0", ""),
            depth=str(point.depth),
            streams=str(point.streams),
            how=_how(point),
            mb_s=_number(point.mb_s),
            iops=f"{point.iops:,.0f}",
            median=microseconds_text(point.latency_us_median),
            p99=microseconds_text(point.latency_us_p99),
        )
        for point in points
    ]


def comparison_lines(comparisons: Sequence[Comparison]) -> list[tuple[str, ...]]:
    """Figure, measured, profile, error in percent, bound, judgement and the profile's basis, in words."""
    return [
        (
            one.name,
            "-" if one.measured is None else figure_text(one.name, one.measured),
            figure_text(one.name, one.expected),
            "-" if one.error is None else f"{one.error:+.1%}",
            f"{one.bound:.0%}",
            one.judgement,
            one.basis,
        )
        for one in comparisons
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
            f"write cache: {_number(knee.before_mb_s)} MB/s for {bytes_text(knee.knee_bytes)}, then "
            f"{_number(knee.beyond_mb_s)} MB/s",
            highlight=False,
        )
    if calibration.expected:
        console.print(_comparison_table(compare(calibration)))
    for doubt in calibration.doubts:
        print_doubt(doubt, console)


def calibration_page(calibration: Calibration) -> str:
    """One self-contained HTML page: no script, no address but its own."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(loader=PackageLoader("assay.report", "."), autoescape=True, undefined=StrictUndefined)
    environment.filters |= {"size": bytes_text}
    return environment.get_template("calibration.html.j2").render(
        calibration=calibration,
        lines=lines(calibration.points),
        comparisons=comparison_lines(compare(calibration)),
        block_plot=block_plot(calibration.points),
        stream_plot=stream_plot(calibration.points),
    )


def figure_text(name: str, value: float) -> str:
    """A named figure with its unit."""
    if name.endswith("_bytes"):
        return f"{value / 1e9:.2f} GB" if value >= 1e9 else f"{value / 1e6:.0f} MB"
    return f"{_number(value)} MB/s" if name.endswith("_mb_s") else f"{value:,.0f}/s"


def microseconds_text(value: float) -> str:
    """Microseconds below a millisecond, milliseconds above."""
    if value < 1000:
        return f"{value:.0f} us"
    return f"{value / 1000:.1f} ms" if value < 100_000 else f"{value / 1000:.0f} ms"


def _number(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def _how(point: Point) -> str:
    parts = ["buffered" if point.buffered else "direct"]
    parts += [f"fsync {point.fsync}"] if point.fsync != "never" else []
    parts += ["whole disk"] if point.span == "device" and point.pattern == "random" else []
    parts += [f"at {point.start_share:.0%} of the disk"] if point.start_share else []
    return ", ".join(parts)


def _in_memory(point: Point) -> bool:
    return point.buffered and point.direction == "write" and point.fsync == "never"


def _bar(value: float, most: float) -> str:
    eighths = round(min(value / most, 1) * BAR_CELLS * 8) if most else 0
    return "█" * (eighths // 8) + (" ▏▎▍▌▋▊▉"[eighths % 8]).strip()


def _short_how(point: Point) -> str:
    """In as few letters as a terminal of 80 columns leaves for it; fsync is only done on what was buffered."""
    if not point.buffered:
        return f"at {point.start_share:.0%}" if point.start_share else "direct"
    streams = f"{point.streams} streams" if point.fsync == "never" else f"{point.streams}, fsync {point.fsync}"
    return streams if point.streams > 1 else "buffered" if point.fsync == "never" else f"fsync {point.fsync}"


def _table(calibration: Calibration) -> Table:
    places = [calibration.facts.get(name, "") for name in ("drive", "device", "file_system")]
    table = Table(
        title=" ".join([f"{calibration.medium}:", *(place for place in places if place not in {"", "unknown"})]),
        title_justify="left",
        header_style="bold",
        box=SIMPLE_HEAD,
        padding=(0, 0),
        pad_edge=False,
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


def _comparison_table(comparisons: Sequence[Comparison]) -> Table:
    table = Table(
        title="against the profile",
        title_justify="left",
        header_style="bold",
        box=SIMPLE_HEAD,
        padding=(0, 0),
        pad_edge=False,
    )
    table.add_column("figure", no_wrap=True)
    for name in ("measured", "profile", "error", "bound"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for one, line in zip(comparisons, comparison_lines(comparisons), strict=True):
        table.add_row(*line[:5], f"[{COLOURS[one.judgement]}]{line[5]}[/]")
    return table
