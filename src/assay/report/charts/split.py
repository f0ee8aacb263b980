"""Where the time of each placement went, one chart per decision: computing, storage and start-up.

A bar ends at the time that the answer gives; gaps between jobs are in no bar. All charts of a page share one axis of
seconds. They are as wide as there is room, with text of one size, so that they can be read on a phone and on paper:
lengths are per cent of the width.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from assay.report.charts import drawing as svg
from assay.report.words import seconds_text, whole_seconds_text
from assay.stats.decision import Decision, PlacementResult
from assay.stats.predicted import PredictedLevel

NARROWEST_PX = 340
"""Words stand within a bar where they fit on a phone."""
LABEL_PX, BAR_PX, ROW_PX, APART_PX, LEGEND_PX, AXIS_PX, CAP_PX, MARK_PX = 18, 22, 58, 12, 22, 40, 4, 26
FULL = 95.0
"""Per cent of the width at which the axis ends, so that its last number is not cut."""


class Segment(NamedTuple):
    """One kind of time: its name, its colour, and that of words upon it."""

    name: str
    colour: str
    ink: str

    @property
    def legend(self) -> str:
        """Its name in the legend."""
        return f"{self.name} (can't be told apart)" if self is TOGETHER else self.name


COMPUTING, STORAGE = Segment("computing", svg.SKY, svg.ON_BRIGHT), Segment("storage", svg.VERMILION, svg.PAPER)
START_UP = Segment("start-up", svg.MIST, svg.ON_BRIGHT)
TOGETHER = Segment("computing and storage", svg.GREEN, svg.PAPER)
"""Without a zero-delay trial that differs in nothing but the drives they can't be told apart."""
WHOLE = Segment("jobs", svg.SLATE, svg.PAPER)
"""Of a run whose record does not say when its tasks ran."""
PREDICTED = Segment("predicted", svg.PALE, svg.INK)
"""Of what did not run."""
NOT_A_DRIVE, NO_LIMIT = "the limit, not a drive to buy", "slower than the drives: noise, not a limit"
ORDER = (COMPUTING, TOGETHER, WHOLE, STORAGE, START_UP, PREDICTED)


class Bar(NamedTuple):
    """One placement's: its label, its seconds by segment, the interval of their sum.

    A baseline and what is predicted have a `note`: it is set apart, and drawn as what is no drive that ran.
    """

    label: str
    segments: Mapping[Segment, float]
    low: float | None
    high: float | None
    note: str

    @property
    def end(self) -> float:
        """Its length in seconds."""
        return sum(self.segments.values())


def split_charts(
    decisions: Sequence[Decision],
    labels: Sequence[Sequence[str]],
    predicted: Sequence[Sequence[PredictedLevel]] = (),
) -> list[str]:
    """A figure as SVG for each decision; empty where nothing finished.

    `labels` are those of each decision's placements in their order, then the baseline's, then those of what is
    `predicted` beside it.
    """
    every = [
        _bars(decision, names, levels)
        for decision, names, levels in zip(decisions, labels, predicted or [()] * len(decisions), strict=True)
    ]
    greatest = {
        str(place): max(max(bar.end, bar.high or 0.0) for bar in bars) for place, bars in enumerate(every) if bars
    }
    ends = svg.common_axes(greatest)
    longest = max(ends.values(), default=0.0)
    return [
        _figure(bars, ends[str(place)], shorter=ends[str(place)] < longest) if bars else ""
        for place, bars in enumerate(every)
    ]


def _bars(decision: Decision, labels: Sequence[str], predicted: Sequence[PredictedLevel]) -> list[Bar]:
    results = list(filter(None, (*decision.placements, decision.baseline)))
    bars = [_bar(result, label, decision) for result, label in zip(results, labels, strict=False)]
    further = zip(predicted, labels[len(results) :], strict=True)
    return bars + [_predicted_bar(foretold, label) for foretold, label in further]


def _bar(result: PlacementResult, label: str, decision: Decision) -> Bar:
    elapsed, split = result.elapsed_s, result.split
    if split is None:
        parts = {WHOLE: elapsed.value}
    else:
        storage_s = max(0.0, split.storage_s.value) if split.storage_s else 0.0
        told_apart = result is decision.baseline or split.storage_s is not None
        if decision.busy_bound_s is not None and result.drives_busy_s is not None:
            # What is more than its drives were busy for is noise of the times: nobody knows what it is of.
            beyond_s = max(0.0, storage_s - result.drives_busy_s)
        else:
            beyond_s = 0.0
        apart = told_apart and not decision.baseline_slower
        parts = {
            COMPUTING: split.computing_s if apart else 0.0,
            TOGETHER: beyond_s + (0.0 if apart else split.computing_s),
            STORAGE: storage_s - beyond_s,
            START_UP: split.start_up_s,
        }
    shown = {part: seconds for part, seconds in parts.items() if seconds > 0}
    scale = (
        elapsed.value / sum(shown.values()) if shown else 1.0
    )  # parts are arithmetic means, the time a geometric one
    shown = {part: scale * seconds for part, seconds in shown.items()}
    note = NO_LIMIT if decision.baseline_slower else NOT_A_DRIVE
    return Bar(label, shown, elapsed.low, elapsed.high, note if result is decision.baseline else "")


def _predicted_bar(foretold: PredictedLevel, label: str) -> Bar:
    elapsed = foretold.elapsed_s
    return Bar(label, {PREDICTED: elapsed.value}, elapsed.low, elapsed.high, f"by {foretold.predictor}, not measured")


def _figure(bars: Sequence[Bar], end_s: float, *, shorter: bool) -> str:
    """Legend, bars under one another, the baseline's set apart, the axis; a dashed line where the baseline ends."""
    legend = _legend_lines([part for part in ORDER if any(part in bar.segments for bar in bars)])
    head = LEGEND_PX * len(legend)
    tops = [head + place * ROW_PX + (APART_PX if bar.note and place else 0) for place, bar in enumerate(bars)]
    bottom = tops[-1] + LABEL_PX + BAR_PX + 14
    parts = []
    for value in svg.ticks(end_s):
        x = _x(value, end_s)
        anchor = "start" if not value else "middle"
        parts.append(f'<line x1="{x}" x2="{x}" y1="{head + LABEL_PX}" y2="{bottom + 4:g}" stroke="{svg.FAINT}"/>')
        parts.append(f'<text x="{x}" y="{bottom + 18:g}" text-anchor="{anchor}">{value:,.6g}</text>')
    words = "seconds, on a shorter axis" if shorter else "seconds of all jobs"
    parts += [
        f'<line x1="0" x2="{FULL:g}%" y1="{bottom:g}" y2="{bottom:g}" stroke="{svg.INK}"/>',
        f'<text x="0" y="{bottom + 34:g}" fill="{svg.SOFT}">{words}</text>',
        *(_legend_line(parts_of_line, LEGEND_PX * line) for line, parts_of_line in enumerate(legend)),
    ]
    parts += [_drawn(bar, top, end_s) for bar, top in zip(bars, tops, strict=True)]
    base = next((bar for bar in bars if bar.note == NOT_A_DRIVE), None)
    if base is not None and len(bars) > 1:
        x = _x(base.end, end_s)
        parts += [
            f'<line x1="{x}" x2="{x}" y1="{top + LABEL_PX - 2:g}" y2="{top + LABEL_PX + BAR_PX + 10:g}" '
            f'stroke="{svg.INK}" stroke-dasharray="2 3"/>'
            for top in tops
        ]
    label = "where the time went: " + "; ".join(_spoken(bar) for bar in bars)
    return (
        f'<svg class="split" xmlns="http://www.w3.org/2000/svg" width="100%" height="{bottom + AXIS_PX:g}" role="img" '
        f'aria-label="{escape(label)}" font-family="system-ui, sans-serif" font-size="{svg.TEXT_PX}" fill="{svg.INK}">'
        f"{''.join(parts)}</svg>"
    )


def _legend_lines(shown: Sequence[Segment]) -> list[list[Segment]]:
    """In as many lines as it takes on a phone."""
    lines: list[list[Segment]] = []
    room_px = 0.0
    for part in shown:
        needed_px = MARK_PX + len(part.legend) * svg.LETTER_PX
        if not lines or needed_px > room_px:
            lines.append([])
            room_px = NARROWEST_PX
        lines[-1].append(part)
        room_px -= needed_px
    return lines


def _legend_line(parts: Sequence[Segment], top: float) -> str:
    """One text, so that the browser sets the distances."""
    marks = '<tspan dx="10"'.join(
        f' fill="{part.colour}" stroke="{svg.EDGE}" stroke-width=".6">■</tspan><tspan dx="4">{part.legend}</tspan>'
        for part in parts
    )
    return f'<text x="0" y="{top + 13:g}" font-size="{svg.TEXT_PX - 1}"><tspan{marks}</text>'


def _x(seconds: float, end_s: float) -> str:
    return f"{seconds / end_s * FULL:.2f}%"


def _drawn(bar: Bar, top: float, end_s: float) -> str:
    at, middle = top + LABEL_PX, top + LABEL_PX + BAR_PX / 2
    weight = ' font-weight="600"' if not bar.note else f' fill="{svg.SOFT}"'
    label = f"{bar.label} ({bar.note})" if bar.note else bar.label
    parts = [f'<text x="0" y="{top + 13:g}"{weight}>{escape(label)}</text>']
    begin = 0.0
    for part, seconds in bar.segments.items():
        x, width = _x(begin, end_s), _x(seconds, end_s)
        parts.append(
            f'<rect x="{x}" y="{at:g}" width="{width}" height="{BAR_PX}" fill="{part.colour}" stroke="{svg.PAPER}">'
            f"<title>{escape(_spoken(bar))}</title></rect>"
        )
        figure = whole_seconds_text(seconds)
        room = seconds / end_s * NARROWEST_PX * FULL / 100 / svg.LETTER_PX - 1
        words = next((text for text in (f"{part.name} {figure}", figure) if len(text) < room), "")
        if words:
            centre = _x(begin + seconds / 2, end_s)
            parts.append(
                f'<text x="{centre}" y="{middle + 4.5:g}" text-anchor="middle" fill="{part.ink}">{words}</text>'
            )
        begin += seconds
    if bar.note:
        parts.append(
            f'<rect x="0" y="{at:g}" width="{_x(bar.end, end_s)}" height="{BAR_PX}" fill="none" stroke="{svg.INK}" '
            'stroke-dasharray="4 3"/>'
        )
    if bar.low is not None and bar.high is not None:
        below = at + BAR_PX + CAP_PX + 2
        low, high = _x(max(0.0, bar.low), end_s), _x(bar.high, end_s)
        caps = "".join(
            f'<line x1="{x}" x2="{x}" y1="{below - CAP_PX:g}" y2="{below + CAP_PX:g}"/>' for x in (low, high)
        )
        across = f'<line x1="{low}" x2="{high}" y1="{below:g}" y2="{below:g}"/>'
        parts.append(f'<g stroke="{svg.INK}" stroke-width="1.8">{across}{caps}</g>')
    return "".join(parts)


def _spoken(bar: Bar) -> str:
    parts = ", ".join(f"{part.name} {seconds_text(seconds)} s" for part, seconds in bar.segments.items())
    return f"{bar.label}: {parts}"
