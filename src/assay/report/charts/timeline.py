"""One trial over time, on axes that trials beside one another share."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

from assay.model.energy import Span
from assay.model.medium import kind_of
from assay.model.record import Basis
from assay.model.signature import AccessPhase
from assay.report.analysis import TrialTables
from assay.report.charts.drawing import (
    BLUE,
    EDGE,
    FAINT,
    GREEN,
    INK,
    LEFT,
    LETTER_PX,
    ORANGE,
    PALE,
    PINK,
    RIGHT,
    SILVER,
    SLATE,
    VERMILION,
    WIDTH,
    YELLOW,
    Panel,
    Series,
    area,
    band,
    figure,
    least_line,
    line,
    rect,
    round_up,
    text,
    time_at_pointer,
    time_axis,
    title,
    value_axis,
)
from assay.report.charts.phases import COLOURS as PHASE_COLOURS
from assay.stats.timeline import Bins, Pieces, added, binned, running_tasks, sampled, within

Power = Mapping[tuple[str, str], Pieces]
"""Watts by node and component."""


class Scale(NamedTuple):
    """The ends of the axes, the same for all trials that stand beside one another."""

    length_ms: int
    mb_s: float
    tasks: float
    watts: float = 1.0


def scale_of(detailed: Sequence[TrialTables]) -> Scale:
    """Such that the longest, fastest and widest of some trials fits; those without a run part do not count."""
    spans = [(tables, tables.run) for tables in detailed]
    runs = [(tables, span) for tables, span in spans if span is not None]
    rates = [
        float(own.values.max(initial=0.0))
        for tables, span in runs
        for (probe, series), points in tables.series.items()
        if probe == "disk" and series.endswith(("/read_mb_s", "/write_mb_s"))
        for own in [within(sampled(*points), span)]
    ]
    tasks = [_all_tasks(tables, span) for tables, span in runs]
    return Scale(
        length_ms=max((span.end_ms - span.begin_ms for _, span in runs), default=1),
        mb_s=round_up(max(rates, default=0.0)),
        tasks=round_up(max(tasks, default=0.0)),
    )


def most_watts(powers: Iterable[Power]) -> float:
    """The end of an axis on which the greatest power of some trials, all components together, fits."""
    most = [added(list(power.values())).values.max(initial=0.0) for power in powers if power]
    return round_up(float(max(most, default=0.0)))


def _all_tasks(tables: TrialTables, span: Span) -> float:
    """The most that ran at once."""
    running = [within(pieces, span).values for pieces in running_tasks(tables.attempts).values()]
    return float(sum(running).max(initial=0.0)) if running else 0.0  # type: ignore[union-attr]


MOST_BINS = 300
"""About three pixels each."""

CPU_COLOURS = {"user": SLATE, "system": SILVER, "iowait": VERMILION}
STATES = {"steal": "stolen by the host"}
STEAL_COLOUR, STEAL_FROM_PERCENT = YELLOW, 5.0
READ_COLOUR, WRITE_COLOUR, BUSY_COLOUR = BLUE, VERMILION, INK
TITLE_PX, GAP_PX = 22, 12
JOB_PX, TASKS_PX, CPU_PX, THROUGHPUT_PX, BUSY_PX, MISSING_PX = 18, 54, 90, 80, 44, 4
BEHIND, ABOVE = 0.13, 0.2
POWER_PX = 60
POWER_COLOURS = (SLATE, SILVER, BLUE, ORANGE, GREEN, PINK)


def timeline(tables: TrialTables, scale: Scale, power: Power | None = None, basis: Basis | None = None) -> str:
    """The figure as SVG; empty for a trial without a run part. What is missing is named, never drawn as nothing."""
    span = tables.run
    return _Timeline(tables, span, scale, power or {}, basis).drawn() if span is not None and span.seconds > 0 else ""


class _Timeline:
    """Panels from top to bottom: `_at` is how far down the figure has come."""

    def __init__(self, tables: TrialTables, span: Span, scale: Scale, power: Power, basis: Basis | None) -> None:
        self._tables = tables
        self._power = power
        self._basis = basis
        self._span = span
        self._scale = scale
        self._bins = max(1, round(MOST_BINS * (span.end_ms - span.begin_ms) / scale.length_ms))
        self._tasks: dict[AccessPhase, Bins] = {
            phase: binned(pieces, span, MOST_BINS) for phase, pieces in running_tasks(tables.attempts).items()
        }
        self._parts: list[str] = []
        self._at = 0.0

    def drawn(self) -> str:
        """All of it."""
        self._jobs()
        self._tasks_panel()
        below, top = len(self._parts), self._at
        self._cpu()
        for medium in self._tables.record.trial.media:
            self._medium(medium.name, in_memory=kind_of(medium).in_memory)
        self._watts()
        self._parts.insert(below, self._behind(top, self._at))
        self._parts.append(time_axis(self._panel(0, 1)._replace(top=self._at), "since the run began"))
        self._parts.append(time_at_pointer(self._scale.length_ms / 1000))
        label = f"{self._tables.record.trial.id} over time: tasks, processor, media and power"
        return figure(self._at + 42, self._parts, label, "wide timeline")

    def _panel(self, height: float, greatest: float) -> Panel:
        """The next panel, below a line for its title."""
        return Panel(self._at + TITLE_PX, height, self._span.begin_ms, self._scale.length_ms, greatest)

    def _add(self, panel: Panel, *parts: str) -> None:
        self._parts += parts
        self._at = panel.top + panel.height + GAP_PX

    def _missing(self, name: str, reason: str) -> None:
        panel = self._panel(MISSING_PX, 1)
        room = int((WIDTH - LEFT - RIGHT) / LETTER_PX) - len(name) - 16
        short = reason if len(reason) <= room else f"{reason[: room - 1]}…"
        self._add(panel, text(LEFT, panel.top - 7, f"{name}: not measured: {short}"))

    def _jobs(self) -> None:
        """When each job ran, named where its name fits."""
        panel = self._panel(JOB_PX, 1)._replace(top=2)
        for job in self._tables.record.jobs:
            left, right = panel.x(job.started_ms), panel.x(job.finished_ms)
            box = rect(left, panel.top, max(right - left, 0.5), JOB_PX, PALE, edge=EDGE)
            self._parts.append(box.replace("<rect", f'<rect data-job="{escape(job.name)}"'))
            if (len(job.name) + 1) * LETTER_PX < right - left:
                self._parts.append(text((left + right) / 2, panel.top + 13.5, job.name, 'text-anchor="middle"'))
        self._add(panel)
        self._at -= GAP_PX - 4

    def _tasks_panel(self) -> None:
        if not self._tasks:
            self._missing("tasks running", self._tables.reason("job-history"))
            return
        panel = self._panel(TASKS_PX, self._scale.tasks)
        legend = [(phase, PHASE_COLOURS[phase]) for phase in PHASE_COLOURS if phase in self._tasks]
        parts = [title(panel.top, "tasks running", legend), value_axis(panel, (0, self._scale.tasks))]
        low = next(iter(self._tasks.values())).mean * 0
        for phase, colour in legend:
            bins = self._tasks[phase]
            parts.append(area(panel, bins, low, low + bins.mean, colour, series=Series("tasks running", phase, "")))
            low = low + bins.mean
        self._add(panel, *parts)

    def _behind(self, top: float, bottom: float) -> str:
        """Bands of the phase that most running tasks are in, behind all panels between two heights."""
        panel = self._panel(0, 1)
        paths: dict[AccessPhase, list[str]] = {}
        for phase, begin_ms, end_ms in leading_phases(self._tasks):
            left, right = panel.x(begin_ms), panel.x(end_ms)
            paths.setdefault(phase, []).append(f"M{left:.1f},{top:.1f}H{right:.1f}V{bottom:.1f}H{left:.1f}Z")
        return "".join(
            f'<path d="{"".join(path)}" fill="{PHASE_COLOURS[phase]}" fill-opacity="{BEHIND}"/>'
            for phase, path in paths.items()
        )

    def _cpu(self) -> None:
        cores = self._tables.record.facts.get("cores", "?")
        name = f"processor, % of all {cores} hardware threads"
        series = self._cpu_series()
        if "user" not in series:
            self._missing("processor", self._tables.reason("cpu"))
            return
        panel = self._panel(CPU_PX, 100)
        colours = {**CPU_COLOURS, "steal": STEAL_COLOUR}
        parts = [
            title(panel.top, name, [(STATES.get(state, state), colours[state]) for state in series]),
            value_axis(panel, (0, 50, 100)),
        ]
        parts += self._stack(
            panel, list(series.values()), [colours[state] for state in series],
            [Series("processor", STATES.get(state, state), "%") for state in series],
        )  # fmt: skip
        self._add(panel, *parts)

    def _stack(
        self, panel: Panel, series: Sequence[Pieces], colours: Sequence[str], names: Sequence[Series]
    ) -> list[str]:
        """Series upon one another, at the times that all of them have: else one could not lie upon another."""
        every = added(series)
        stacked = [every._replace(values=every.values * 0)]
        top = binned(stacked[0], self._span, self._bins)
        parts = []
        for pieces, colour, name in zip(series, colours, names, strict=True):
            stacked.append(pieces)
            low, top = top.mean, binned(added(stacked), self._span, self._bins)
            parts.append(area(panel, top, low, top.mean, colour, 0.9, name))
        if not top.whole:  # a band over the stack would look like more of the last one
            parts += [area(panel, top, top.mean, top.greatest, INK, ABOVE), least_line(panel, top)]
        return parts

    def _cpu_series(self) -> dict[str, Pieces]:
        """By state, only at the times that all of them have."""
        found = {
            state: within(sampled(*self._tables.series["cpu", f"{state}_percent"]), self._span)
            for state in (*CPU_COLOURS, "steal")
            if ("cpu", f"{state}_percent") in self._tables.series
        }
        if "steal" in found and found["steal"].values.max(initial=0.0) < STEAL_FROM_PERCENT:
            del found["steal"]
        return {state: pieces for state, pieces in found.items() if len(pieces.values)}

    def _medium(self, name: str, *, in_memory: bool) -> None:
        panel = self._panel(THROUGHPUT_PX, self._scale.mb_s)
        read, written, busy = (self._disk(name, series) for series in ("read_mb_s", "write_mb_s", "busy_percent"))
        if read is None or written is None or busy is None:
            reason = "it is memory, there is no device" if in_memory else self._tables.reason("disk", subject=name)
            self._missing(f"{name}: throughput and utilisation", reason)
            return
        self._add(
            panel,
            title(panel.top, f"{name}: throughput, MB/s", [("read", READ_COLOUR), ("write", WRITE_COLOUR)]),
            value_axis(panel, (0, panel.greatest / 2, panel.greatest)),
            *(band(panel, bins, colour) for bins, colour in ((read, READ_COLOUR), (written, WRITE_COLOUR))),
            line(panel, read, READ_COLOUR, Series(name, "read", "MB/s")),
            line(panel, written, WRITE_COLOUR, Series(name, "write", "MB/s")),
        )
        panel = self._panel(BUSY_PX, 100)
        self._add(
            panel,
            title(panel.top, f"{name}: utilisation, % of the time"),
            value_axis(panel, (0, 100)),
            area(panel, busy, busy.mean * 0, busy.mean, FAINT, 0.8),
            band(panel, busy, BUSY_COLOUR),
            line(panel, busy, BUSY_COLOUR, Series(name, "busy", "%")),
        )

    def _watts(self) -> None:
        """Components upon one another; nothing where no energy is known, which the tables of joules say."""
        if not self._power:
            return
        panel = self._panel(POWER_PX, self._scale.watts)
        nodes = {node for node, _ in self._power}
        names = [component if len(nodes) == 1 else f"{node}: {component}" for node, component in self._power]
        colours = [POWER_COLOURS[place % len(POWER_COLOURS)] for place in range(len(names))]
        parts = [
            title(
                panel.top,
                f"power, W{f' ({self._basis})' if self._basis else ''}",
                list(zip(names, colours, strict=True)),
            ),
            value_axis(panel, (0, panel.greatest)),
        ]
        of = [Series("power", name, "W") for name in names]
        parts += self._stack(panel, list(self._power.values()), colours, of)
        self._add(panel, *parts)

    def _disk(self, medium: str, series: str) -> Bins | None:
        points = self._tables.series.get(("disk", f"{medium}/{series}"))
        bins = None if points is None else binned(sampled(*points), self._span, self._bins)
        return bins if bins is not None and len(bins.mean) else None


def leading_phases(tasks: Mapping[AccessPhase, Bins]) -> list[tuple[AccessPhase, int, int]]:
    """Which phase most of the running tasks were in, from when to when; none where no task ran."""
    found: list[tuple[AccessPhase, int, int]] = []
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
