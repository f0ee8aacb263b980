"""The bars of phases: how many seconds an average task spent in each, per workload and placement."""

from collections.abc import Sequence

from assay.stats.summary import Row, varying

# Okabe and Ito's colours, which people with any colour vision can tell apart.
COLOURS = {"map": "#0072B2", "shuffle": "#E69F00", "merge": "#CC79A7", "reduce": "#009E73"}
BAR_PX = 30
WIDTH_PX = 560


def phase_bars(rows: Sequence[Row]) -> str:
    """Stacked bars as SVG text: one per placement, a panel per workload and what else differs; empty without data."""
    import altair
    import vl_convert

    factors = varying(rows)
    values = [
        {
            "group": _label(row, factors),
            "placement": row.placement,
            "phase": phase,
            "order": index,
            "seconds": getattr(row.phases, f"{phase}_s"),
        }
        for row in rows
        if row.phases is not None
        for index, phase in enumerate(COLOURS)
    ]
    if not values:
        return ""
    chart = (
        altair.Chart(altair.Data(values=values))
        .mark_bar(size=BAR_PX * 0.7)
        .encode(
            x=altair.X("seconds:Q", title="average seconds per task, added over the workload's jobs"),
            y=altair.Y("placement:N", title=None),
            color=altair.Color(
                "phase:N",
                title="phase",
                sort=list(COLOURS),
                scale=altair.Scale(domain=list(COLOURS), range=list(COLOURS.values())),
                legend=altair.Legend(orient="top"),
            ),
            order=altair.Order("order:Q"),
        )
        .properties(width=WIDTH_PX, height=altair.Step(BAR_PX))
        .facet(row=altair.Row("group:N", title=None, header=_header(), sort=_groups(values)))
        .configure_view(stroke=None)
        .configure_axis(labelFontSize=13, titleFontSize=13)
        .configure_legend(labelFontSize=13, titleFontSize=13)
    )
    return str(vl_convert.vegalite_to_svg(chart.to_json()))


def _header() -> object:
    import altair

    return altair.Header(labelAngle=0, labelOrient="top", labelAnchor="start", labelFontSize=14, labelFontWeight="bold")


def _label(row: Row, factors: Sequence[str]) -> str:
    return ", ".join([row.group.workload, *(getattr(row.group, name) for name in factors)])


def _groups(values: list[dict[str, object]]) -> list[object]:
    return list(dict.fromkeys(value["group"] for value in values))
