"""What storage costs and what other placements save, of several jobs with several levels of other factors.

Each job is a row, each level a mark with its interval in it. The panels beside one another share one scale: shares of
the time on the base. A mark of a saving is a ring where its verdict is not known yet.
"""

from collections.abc import Callable, Iterator, Mapping
from html import escape
from math import ceil, floor
from textwrap import wrap
from typing import NamedTuple

from assay.report.charts import drawing as svg
from assay.report.shares import job_labels, level_label, mark_of, missing_text, share_text
from assay.stats.decision import PlacementResult, Verdict
from assay.stats.estimate import Estimate
from assay.stats.sample import Levels
from assay.stats.shares import SharesLine, SharesTable

WIDTH, RIGHT_PX, LEVEL_PX, APART_PX, AXIS_PX = 800, 2, 17, 16, 40
VALUE_PX, APART_PANELS_PX = 46, 22
HEAD_LINE_PX = 16
LEGEND_PX, LEGEND_LINE_PX, LEGEND_LETTER_PX = 34.0, 20, 7.0
LEGEND_WIDTH_PX = 465
"""A phone shows so much of a chart, which it draws at four fifths of its size."""
COLOURS = (svg.BLUE, svg.VERMILION, svg.GREEN, svg.PINK, svg.SLATE, svg.ORANGE, svg.SKY, svg.INK)
SHAPES = (
    '<circle r="5"', '<rect x="-4.5" y="-4.5" width="9" height="9"', '<path d="M0,-6.2L6.2,0L0,6.2L-6.2,0Z"',
    '<path d="M0,-5.6L5.6,4.6H-5.6Z"', '<path d="M0,5.6L5.6,-4.6H-5.6Z"',
)  # fmt: skip
"""Of the levels in turn, so that they can be told apart without their colours."""
BEYOND = '<path d="M-2,0L7,-5V5Z"'
"""Of a share below the axis, at its end."""
STEPS = (0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
NARROWEST_STEP_PX = 42
LEAST = -0.5
"""The axis goes no farther below 0; an interval that does ends there without its cap, a mark as an arrow."""


class _Panel(NamedTuple):
    """Shares from `least` to `most` between two places, named at each `step`.

    `other` is the placement that saves them, empty for what storage costs.
    """

    other: str
    left: float
    right: float
    least: float
    most: float
    step: float

    @property
    def head(self) -> list[str]:
        """What it shows, in as many lines as it takes to stay within the panel."""
        letters = int((self.right + VALUE_PX - self.x(0)) / svg.LETTER_ROOM_PX)
        return wrap(f"{self.other} saves" if self.other else "storage share", max(1, letters))

    def x(self, share: float) -> float:
        """Where a share lies; what is beyond the axis is drawn at its end."""
        inside = min(max(share, self.least), self.most)
        return self.left + (inside - self.least) / (self.most - self.least) * (self.right - self.left)

    def holds(self, share: float) -> bool:
        """Whether it lies on the axis."""
        return self.least <= share <= self.most

    def share(self, line: SharesLine, base: str) -> Estimate | None:
        """What it shows of a line."""
        result = self.result(line, base)
        if result is None:
            return None
        return result.saving if self.other else result.storage_share

    def result(self, line: SharesLine, base: str) -> PlacementResult | None:
        """Whose share it shows."""
        return line.result(self.other or base)


def shares_chart(table: SharesTable, marks: Callable[[Mapping[str, str]], str] = lambda _: "") -> str:
    """A figure as SVG; `marks` is what filters know a decision by, from its levels."""
    jobs = job_labels(table)
    left = svg.room_for(max(map(len, jobs)))
    panels, row_px = _panels(table, left), APART_PX + LEVEL_PX * len(table.levels)
    parts, begin = _legend(table)
    begin += HEAD_LINE_PX * (max(len(panel.head) for panel in panels) - 1)
    bottom = begin + row_px * len(jobs)
    parts += [svg.rect(0, begin + row_px * row, WIDTH, row_px, svg.PALE) for row in range(0, len(jobs), 2)]
    for panel in panels:
        parts += _frame(panel, table, begin, bottom)
    spoken = []
    for row, (job, lines) in enumerate(zip(jobs, table.rows.values(), strict=True)):
        top = begin + row_px * row
        parts.append(svg.row_label(left, top + row_px / 2, job))
        for place, level in enumerate(level for level in table.levels if level in lines):
            shift = (len(table.levels) - len(lines)) / 2  # a job with fewer levels has them in its row's middle
            y = top + (APART_PX + LEVEL_PX) / 2 + LEVEL_PX * (place + shift)
            line = lines[level]
            words = f"{job}, {_line_text(table, level, line)}"
            spoken.append(words)
            over = svg.rect(left, y - LEVEL_PX / 2, WIDTH - left, LEVEL_PX, "#fff", 0)
            drawn = "".join(part for panel in panels for part in _drawn(table, panel, level, line, y))
            known = marks(line.decision.levels) if line.decision else ""
            parts.append(f'<g data-levels="{known}"><title>{escape(words)}</title>{over}{drawn}</g>')
    label = f"storage share and saving, of the time on {table.base}: {'; '.join(spoken)}"
    return svg.figure(bottom + AXIS_PX, parts, label, "chart", WIDTH)


def _panels(table: SharesTable, left: float) -> list[_Panel]:
    """As wide as there is room; all on one scale, with room at their right for values in words."""
    names = [*([""] if table.with_baseline else []), *table.others]
    lines = [line for job in table.rows.values() for line in job.values()]
    blank = [_Panel(name, 0, 0, 0, 0, 0) for name in names]
    shares = [share for panel in blank for line in lines if (share := panel.share(line, table.base))]
    ends = [
        0.0,
        table.worth.share,
        *(end for one in shares for end in (one.value, one.low, one.high) if end is not None),
    ]
    width = (WIDTH - RIGHT_PX - left + APART_PANELS_PX) / len(names)
    drawn_px = width - APART_PANELS_PX - VALUE_PX
    least, most = max(LEAST, min(ends)), min(1.0, max(ends))
    step = _step(most - least, drawn_px)
    least, most = floor(least / step + 1e-9) * step, ceil(most / step - 1e-9) * step
    places = (left + width * place for place in range(len(names)))
    return [_Panel(name, at, at + drawn_px, least, most, step) for name, at in zip(names, places, strict=True)]


def _step(span: float, width_px: float) -> float:
    return next((step for step in STEPS if width_px / (span / step) >= NARROWEST_STEP_PX), STEPS[-1])


def _legend(table: SharesTable) -> tuple[list[str], float]:
    """Title, and what marks and lines mean, in as many lines as it takes; where the rows begin below it."""
    costs = ["what storage costs"] if table.with_baseline else []
    saves = [f"what {'another drive' if len(table.others) > 1 else table.others[0]} saves"] if table.others else []
    title = f"Of the time on {table.base}: {' and '.join([*costs, *saves])}"
    parts = [svg.text(0, 15, title, 'font-weight="600" font-size="14"')]
    entries = [(_mark(place), 12.0, level_label(level)) for place, level in enumerate(table.levels)]
    if table.others:
        ring = f'<circle r="4.5" cx="6" fill="{svg.PAPER}" stroke="{svg.INK}" stroke-width="2"/>'
        entries.append((ring, 12.0, str(Verdict.NOT_KNOWN_YET)))
    threshold = f'<path d="M0,0h20" stroke="{svg.INK}" stroke-dasharray="5 4"/>'
    entries.append((threshold, 20.0, f"your threshold, {100 * table.worth.share:g} %"))
    x, y = 0.0, LEGEND_PX
    for place, (drawn, width, label) in enumerate(entries):
        room = width + 6 + len(label) * LEGEND_LETTER_PX + 16
        if x and x + room > LEGEND_WIDTH_PX:
            x, y = 0.0, y + LEGEND_LINE_PX
        at = x + 6 if place < len(table.levels) else x
        parts.append(f'<g transform="translate({at:.1f},{y:g})">{drawn}</g>')
        parts.append(svg.text(x + width + 6, y + 4.5, label, f'font-size="{svg.TEXT_PX - 1}"'))
        x += room
    return parts, y + 50


def _frame(panel: _Panel, table: SharesTable, top: float, bottom: float) -> Iterator[str]:
    """What is shown, lines across with their shares, the threshold."""
    for place, line in enumerate(reversed(panel.head)):
        yield svg.text(panel.x(0), top - 20 - HEAD_LINE_PX * place, line, 'font-weight="600"')
    for number in range(round(panel.least / panel.step), round(panel.most / panel.step) + 1):
        x = panel.x(number * panel.step)
        yield f'<path d="M{x:.1f},{top - 6:g}V{bottom + 4:g}" stroke="{svg.FAINT if number else svg.INK}"/>'
        yield svg.text(x, bottom + 18, f"{100 * number * panel.step:.0f}", 'text-anchor="middle"')
    unit = f'text-anchor="end" fill="{svg.SOFT}"'
    yield svg.text(panel.right, bottom + 34, f"% of the time on {table.base}", unit)
    x = panel.x(table.worth.share)
    yield f'<path d="M{x:.1f},{top - 6:g}V{bottom + 4:g}" stroke="{svg.INK}" stroke-dasharray="5 4"/>'


def _drawn(table: SharesTable, panel: _Panel, level: Levels, line: SharesLine, y: float) -> Iterator[str]:
    """A level's mark, its interval, and its share in words; what is missing is said at its place."""
    place = table.levels.index(level)
    share, colour = panel.share(line, table.base), COLOURS[place % len(COLOURS)]
    small = f'font-size="{svg.TEXT_PX - 2}"'
    if share is None:
        shown_first = panel.other == ("" if table.with_baseline else table.others[0])
        why = missing_text(line, panel.other if line.decision else table.base)
        if why and (line.decision or shown_first):
            at = panel.x(max(0.0, table.worth.share)) + 8
            yield svg.text(at, y + 4, f"{level_label(level)}: {why}", f'{small} fill="{svg.SOFT}" font-style="italic"')
        return
    if share.low is not None and share.high is not None:
        low, high = panel.x(share.low), panel.x(share.high)
        caps = "".join(f"M{panel.x(end):.1f},{y - 4:.1f}v8" for end in (share.low, share.high) if panel.holds(end))
        yield f'<path d="M{low:.1f},{y:.1f}H{high:.1f}{caps}" stroke="{colour}" stroke-width="1.6" fill="none"/>'
    result = panel.result(line, table.base)
    is_open = bool(panel.other) and result is not None and result.verdict is Verdict.NOT_KNOWN_YET
    mark = _mark(place, ring=is_open) if panel.holds(share.value) else f'{BEYOND} fill="{colour}"/>'
    yield f'<g transform="translate({panel.x(share.value):.1f},{y:.1f})">{mark}</g>'
    words = f"{round(100 * share.value)} %{mark_of(line.decision, panel.other)}"
    yield svg.text(panel.right + VALUE_PX - 4, y + 4, words, f'text-anchor="end" {small}')


def _mark(place: int, *, ring: bool = False) -> str:
    """The shape of the level at a place, at 0, 0."""
    colour = COLOURS[place % len(COLOURS)]
    inside, stroke = (svg.PAPER, colour) if ring else (colour, svg.PAPER)
    return f'{SHAPES[place % len(SHAPES)]} fill="{inside}" stroke="{stroke}" stroke-width="{2 if ring else 1}"/>'


def _line_text(table: SharesTable, level: Levels, line: SharesLine) -> str:
    """`small: storage share 12 % (5 to 18 %), ssd saves 9 % (2 to 15 %), not known yet`, as far as it is known."""
    base = line.result(table.base)
    if base is None:
        return f"{level_label(level)}: {missing_text(line, table.base) or f'no time on {table.base}'}"
    parts = [f"storage share {share_text(base.storage_share)}"] if base.storage_share else [missing_text(line)]
    for other in table.others:
        result = line.result(other)
        if result is not None and result.saving is not None:
            parts.append(f"{other} saves {share_text(result.saving)}, {result.verdict}")
        else:
            parts.append(missing_text(line, other))
    parts = [part for part in parts if part]
    return f"{level_label(level)}: {', '.join(parts) or 'nothing to compare'}"
