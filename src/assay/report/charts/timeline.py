"""One trial over time, on axes that trials beside one another share."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from assay.model.cluster import EXISTING
from assay.model.installed import kind_of
from assay.model.probe import Chart, ChartPanel, ChartSeries
from assay.model.record import CLOCK_SERIES, REMOTE_NODES, Series, SeriesKey, Span
from assay.model.registry import PROBES
from assay.model.section import TrialTables
from assay.model.trial import MediumSpec
from assay.report.charts import drawing as svg
from assay.report.charts.phases import phase_colours
from assay.stats.timeline import Bins, Pieces, added, binned, clip, running_tasks, sampled


class ChartPlace(NamedTuple):
    """What a chart is of: a drive, or (empty) the machine, on a node, or (empty) the first one or the only one."""

    node: str = ""
    drive: str = ""

    @property
    def name(self) -> str:
        """As titles have it; empty for the only machine."""
        return "/".join(filter(None, (self.node, self.drive)))


class Scale(NamedTuple):
    """The ends of the axes, the same for all trials that stand beside one another."""

    length_ms: int
    tasks: float
    greatest: Mapping[ChartPanel, float]


def scale_of(detailed: Sequence[TrialTables]) -> Scale:
    """Such that the longest, fastest and widest of some trials fits; those without a run part do not count."""
    spans = [(tables, tables.run) for tables in detailed]
    runs = [(tables, span) for tables, span in spans if span is not None]
    shared = [
        (name, chart, panel) for name, kind in PROBES.items() for chart in kind.charts for panel in chart.panels
        if panel.greatest is None
    ]  # fmt: skip
    tasks = [
        float(sum(clip(pieces, span).values for pieces in running.values()).max(initial=0.0))  # type: ignore[union-attr]
        for tables, span in runs
        if (running := running_tasks(tables.attempts))
    ]
    return Scale(
        length_ms=max((span.end_ms - span.begin_ms for _, span in runs), default=1),
        tasks=svg.round_up(max(tasks, default=0.0)),
        greatest={panel: svg.round_up(_most(name, chart, panel, runs)) for name, chart, panel in shared},
    )


def _most(probe: str, chart: Chart, panel: ChartPanel, runs: Sequence[tuple[TrialTables, Span]]) -> float:
    """The greatest value of a panel's series, of whatever subject; of a stack all together."""
    most = [
        max(
            (
                float(clip(sampled(*points), span).values.max(initial=0.0))
                for tables, span in runs
                for place in _places(tables, probe, chart)
                if (points := _points(tables, probe, chart_series, place)) is not None
            ),
            default=0.0,
        )
        for chart_series in panel.series
    ]
    return sum(most) if panel.form == "stack" else max(most, default=0.0)


def _points(tables: TrialTables, probe: str, chart_series: ChartSeries, place: ChartPlace) -> Series | None:
    return tables.series.get(SeriesKey(probe, place.drive or chart_series.subject, chart_series.series, place.node))


def _is_afar(tables: TrialTables, node: str) -> bool:
    return SeriesKey(REMOTE_NODES, "", CLOCK_SERIES, node) in tables.series


def _places(tables: TrialTables, probe: str, chart: Chart) -> list[ChartPlace]:
    """What a chart is drawn for: the machine, or each one that was read from afar; each drive."""
    if chart.of == "machine":
        first = chart.panels[0].series[0]
        shown = (probe, first.subject, first.series)
        nodes = sorted({key.node for key in tables.series if key[:3] == shown and _is_afar(tables, key.node)})
        return [ChartPlace(node) for node in nodes[:MOST_PANELS]] or [ChartPlace()]
    return [place for medium in tables.record.trial.media for place in _drives(tables, probe, medium)]


def _drives(tables: TrialTables, probe: str, medium: MediumSpec) -> list[ChartPlace]:
    """A medium's drives as a probe's series name them: on each node the medium.

    Of the nodes of an existing cluster the drives that were busy the longest.
    """
    if medium.kind == EXISTING:
        busy = {
            ChartPlace(key.node, key.subject): sum(points.values)
            for key, points in tables.series.items()
            if (key.probe, key.series) == (probe, BUSY)
        }
        return sorted(busy, key=lambda place: -busy[place])[:MOST_PANELS] or [ChartPlace(drive=medium.name)]
    nodes = {key.node for key in tables.series if (key.probe, key.subject) == (probe, medium.name) and key.node}
    return [ChartPlace(node, medium.name) for node in sorted(nodes)] or [ChartPlace(drive=medium.name)]


BUSY = "busy_percent"
MOST_PANELS = 6
"""Of one kind for an existing cluster's hosts, and its drives: nobody reads more."""

MOST_BINS = 300
"""About three pixels each."""

TITLE_PX, GAP_PX = 22, 12
JOB_PX, TASKS_PX, MISSING_PX = 18, 54, 4
BEHIND, ABOVE = 0.13, 0.2


def timeline(tables: TrialTables, scale: Scale) -> str:
    """The figure as SVG; empty for a trial without a run part. What is missing is named, never drawn as nothing."""
    span = tables.run
    return _Timeline(tables, span, scale).drawn() if span is not None and span.seconds > 0 else ""


class _Timeline:
    """Panels from top to bottom: `_at` is how far down the figure has come."""

    def __init__(self, tables: TrialTables, span: Span, scale: Scale) -> None:
        self._tables = tables
        self._span = span
        self._scale = scale
        self._bins = max(1, round(MOST_BINS * (span.end_ms - span.begin_ms) / scale.length_ms))
        self._tasks: dict[str, Bins] = {
            phase: binned(pieces, span, MOST_BINS) for phase, pieces in running_tasks(tables.attempts).items()
        }
        self._colours = phase_colours(tables.record.trial.engine, self._tasks)
        self._parts: list[str] = []
        self._at = 0.0

    def drawn(self) -> str:
        """Draw the jobs, their tasks and the probes' charts on one axis of time, as SVG."""
        self._jobs()
        self._tasks_panel()
        below, top = len(self._parts), self._at
        charts = [(name, chart) for name, kind in PROBES.items() for chart in kind.charts]
        for name, chart in charts:
            if chart.of == "machine":
                for place in _places(self._tables, name, chart):
                    self._chart(name, chart, place)
        for medium in self._tables.record.trial.media:
            for name, chart in charts:
                for place in _drives(self._tables, name, medium) if chart.of == "medium" else ():
                    self._chart(name, chart, place, medium)
        self._parts.insert(below, self._behind(top, self._at))
        self._parts.append(svg.time_axis(self._panel(0, 1)._replace(top=self._at), "since the run began"))
        self._parts.append(pointer_times(self._scale.length_ms))
        label = f"{self._tables.record.trial.id} over time: tasks, processor and media"
        return svg.figure(self._at + 42, self._parts, label, "wide timeline")

    def _panel(self, height: float, greatest: float) -> svg.Panel:
        """The next panel, below a line for its title."""
        return svg.Panel(self._at + TITLE_PX, height, self._span.begin_ms, self._scale.length_ms, greatest)

    def _add(self, panel: svg.Panel, *parts: str) -> None:
        self._parts += parts
        self._at = panel.top + panel.height + GAP_PX

    def _missing(self, name: str, reason: str) -> None:
        panel = self._panel(MISSING_PX, 1)
        room = int((svg.WIDTH - svg.LEFT - svg.RIGHT) / svg.LETTER_PX) - len(name) - 16
        short = reason if len(reason) <= room else f"{reason[: room - 1]}…"
        self._add(panel, svg.text(svg.LEFT, panel.top - 7, f"{name}: not measured: {short}"))

    def _jobs(self) -> None:
        """When each job ran, named where its name fits."""
        panel = self._panel(JOB_PX, 1)._replace(top=2)
        for job in self._tables.record.jobs:
            left, right = panel.x(job.started_ms), panel.x(job.finished_ms)
            box = svg.rect(left, panel.top, max(right - left, 0.5), JOB_PX, svg.PALE, edge=svg.EDGE)
            self._parts.append(box.replace("<rect", f'<rect data-job="{escape(job.name)}"'))
            if (len(job.name) + 1) * svg.LETTER_PX < right - left:
                self._parts.append(svg.text((left + right) / 2, panel.top + 13.5, job.name, 'text-anchor="middle"'))
        self._add(panel)
        self._at -= GAP_PX - 4

    def _tasks_panel(self) -> None:
        if not self._tasks:
            self._missing("tasks running", self._tables.reason("job-history"))
            return
        panel = self._panel(TASKS_PX, self._scale.tasks)
        legend = [(phase, colour) for phase, colour in self._colours.items() if phase in self._tasks]
        parts = [svg.title(panel.top, "tasks running", legend), svg.value_axis(panel, (0, self._scale.tasks))]
        low = next(iter(self._tasks.values())).mean * 0
        for phase, colour in legend:
            bins = self._tasks[phase]
            parts.append(
                svg.area(panel, bins, low, low + bins.mean, colour, series=svg.SeriesLabel("tasks running", phase, ""))
            )
            low = low + bins.mean
        self._add(panel, *parts)

    def _behind(self, top: float, bottom: float) -> str:
        """Bands of the phase that most running tasks are in, behind all panels between two heights."""
        panel = self._panel(0, 1)
        paths: dict[str, list[str]] = {}
        for phase, begin_ms, end_ms in leading_phases(self._tasks):
            left, right = panel.x(begin_ms), panel.x(end_ms)
            paths.setdefault(phase, []).append(f"M{left:.1f},{top:.1f}H{right:.1f}V{bottom:.1f}H{left:.1f}Z")
        return "".join(
            f'<path d="{"".join(path)}" fill="{self._colours[phase]}" fill-opacity="{BEHIND}"/>'
            for phase, path in paths.items()
        )

    def _chart(self, probe: str, chart: Chart, place: ChartPlace, medium: MediumSpec | None = None) -> None:
        found: list[tuple[ChartPanel, dict[ChartSeries, Pieces]]] = []
        for panel in chart.panels:
            series = {}  # those that have anything to show
            for chart_series in panel.series:
                points = _points(self._tables, probe, chart_series, place)
                pieces = None if points is None else clip(sampled(*points), self._span)
                if pieces is not None and len(pieces.values) and pieces.values.max() >= chart_series.from_value:
                    series[chart_series] = pieces
            found.append((panel, series))
        if all(panel.series[0] in series for panel, series in found):
            for panel, series in found:
                self._draw(panel, series, chart.name, place)
        elif chart.expected or any(doubt.instrument == probe for doubt in self._tables.record.doubts):
            reason = self._tables.reason(probe, subjects=set(filter(None, (place.name, place.drive, place.node))))
            if medium is not None and kind_of(medium).in_memory:
                reason = "it is memory, there is no device"
            self._missing(f"{place.name}: {chart.name}" if place.name else chart.name, reason)

    def _draw(self, shown: ChartPanel, series: Mapping[ChartSeries, Pieces], name: str, place: ChartPlace) -> None:
        greatest = shown.greatest if shown.greatest is not None else self._scale.greatest[shown]
        panel = self._panel(shown.height_px, greatest)
        # The facts are of this machine; a host that was read from afar has processors of its own.
        afar = _is_afar(self._tables, place.node)
        words = shown.title.format(cores="its" if afar else self._tables.record.machine.cores or "?")
        legend = [(chart_series.words, svg.COLOURS[chart_series.colour]) for chart_series in series]
        names = [svg.SeriesLabel(place.name or name, chart_series.words, shown.unit) for chart_series in series]
        heading = svg.title(
            panel.top, f"{place.name}: {words}" if place.name else words, legend if shown.form != "level" else ()
        )
        parts = [
            heading,
            svg.value_axis(panel, (0, greatest) if shown.form == "level" else (0, greatest / 2, greatest)),
        ]
        colours = [colour for _, colour in legend]
        if shown.form == "stack":
            self._add(panel, *parts, *stack(panel, list(series.values()), colours, names, self._span, self._bins))
            return
        bins = [binned(pieces, self._span, self._bins) for pieces in series.values()]
        if shown.form == "level":
            parts += [svg.area(panel, own, own.mean * 0, own.mean, svg.FAINT, 0.8) for own in bins]
        parts += [svg.band(panel, own, colour) for own, colour in zip(bins, colours, strict=True)]
        parts += [svg.line(panel, *own) for own in zip(bins, colours, names, strict=True)]
        self._add(panel, *parts)


def pointer_times(length_ms: float) -> str:
    """Tell the page's script where times lie, so that it can say all series' values at the pointer's."""
    return f'<g data-time="{svg.LEFT} {svg.WIDTH - svg.RIGHT} {length_ms / 1000:g}"/>'


def stack(
    panel: svg.Panel,
    series: Sequence[Pieces],
    colours: Sequence[str],
    names: Sequence[svg.SeriesLabel],
    span: Span,
    bins: int,
) -> list[str]:
    """Series upon one another over a span, at the times that all of them have: else one could not lie upon another."""
    every = added(series)
    stacked = [every._replace(values=every.values * 0)]
    top = binned(stacked[0], span, bins)
    parts = []
    for pieces, colour, name in zip(series, colours, names, strict=True):
        stacked.append(pieces)
        low, top = top.mean, binned(added(stacked), span, bins)
        parts.append(svg.area(panel, top, low, top.mean, colour, 0.9, name))
    if not top.whole:  # a band over the stack would look like more of the last one
        parts += [svg.area(panel, top, top.mean, top.greatest, svg.INK, ABOVE), svg.least_line(panel, top)]
    return parts


def leading_phases(tasks: Mapping[str, Bins]) -> list[tuple[str, int, int]]:
    """Which phase most of the running tasks were in, from when to when; none where no task ran."""
    found: list[tuple[str, int, int]] = []
    for place in range(len(next(iter(tasks.values())).mean) if tasks else 0):
        phase, most = max(((phase, float(bins.mean[place])) for phase, bins in tasks.items()), key=lambda one: one[1])
        bins = tasks[phase]
        begin_ms, end_ms = int(bins.begin_ms[place]), int(bins.end_ms[place])
        if most <= 0:
            continue
        if found and found[-1][0] == phase and found[-1][2] == begin_ms:
            found[-1] = (phase, found[-1][1], end_ms)
        else:
            found.append((phase, begin_ms, end_ms))
    return found
