"""The bars of phases: how many seconds an average task spent in each, per combination."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from assay.model.record import Phases
from assay.report.axis import SecondsPanel, room_for
from assay.report.drawing import figure, marks, rect, round_up
from assay.report.text import seconds_text
from assay.stats.summary import Row

# Okabe and Ito's colours, which people with any colour vision can tell apart.
COLOURS = {"map": "#0072B2", "shuffle": "#E69F00", "merge": "#CC79A7", "reduce": "#009E73"}
BAR_PX, LEGEND_PX, LEGEND_DX_PX = 15, 22, 16


class PhaseLine(NamedTuple):
    """One combination: its name, and how filters know it."""

    row: Row
    label: str
    marks: str


def phase_charts(panels: Mapping[str, Sequence[PhaseLine]]) -> list[str]:
    """Stacked bars as SVG text, a figure for each title, all of the same width; none without data."""
    known = {title: [one for one in lines if one.row.phases] for title, lines in panels.items()}
    known = {title: lines for title, lines in known.items() if lines}
    if not known:
        return []
    left = room_for(max(len(one.label) for lines in known.values() for one in lines))
    charts = []
    for title, lines in known.items():
        greatest = round_up(max(sum(_seconds(one.row.phases).values()) for one in lines))
        panel = SecondsPanel(LEGEND_PX, left, greatest, len(lines))
        parts = [f'<text x="{left - LEGEND_DX_PX:.1f}" y="14">{marks(list(COLOURS.items()))}</text>']
        parts.append(panel.frame(title, "seconds of an average task, over all jobs"))
        parts += [_bar(panel, panel.middle(place), one) for place, one in enumerate(lines)]
        words = f"average seconds per task of {title} in each phase"
        charts.append(figure(panel.end, parts, words, "chart", panel.width))
    return charts


def _seconds(phases: Phases | None) -> dict[str, float]:
    return {} if phases is None else {phase: getattr(phases, f"{phase}_s") for phase in COLOURS}


def _bar(panel: SecondsPanel, at: float, one: PhaseLine) -> str:
    parts = [panel.label(at, one.label)]
    begin = 0.0
    seconds = _seconds(one.row.phases)
    for phase, length in seconds.items():
        left = panel.x(begin)
        parts.append(rect(left, at - BAR_PX / 2, panel.x(begin + length) - left, BAR_PX, COLOURS[phase]))
        begin += length
    parts.append(panel.told(at, f"{seconds_text(begin)} s"))
    each = ", ".join(f"{phase} {seconds_text(length)} s" for phase, length in seconds.items())
    hover = f"<title>{escape(f'{one.label}: {each}')}</title>{panel.hover(at)}"
    return f'<g data-levels="{one.marks}">{hover}{"".join(parts)}</g>'
