"""The plots of a calibration, as SVG text."""

from collections.abc import Sequence

from assay.model.calibration import Point

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
