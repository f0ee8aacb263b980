"""What a trial's run was spent on: the jobs' critical paths, and the engine's figures of them."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from assay.model.engine import TaskFigure
from assay.model.installed import engine_kind
from assay.model.record import JobRecord
from assay.model.section import TrialTables
from assay.report.charts import drawing as svg
from assay.report.charts.phases import phase_colours
from assay.stats.tasks import critical_path, skew

OUTSIDE = "outside jobs"
DEEP = {svg.BLUE, svg.GREEN, svg.SLATE, svg.VERMILION}
"""Colours so deep that words upon them have the page's."""
ROW_PX, BAR_PX, HEAD_PX = 44, 22, 26


class JobPath(NamedTuple):
    """One job: its time from submission to end by kind in seconds, and the engine's figures of it, None if unknown."""

    job: JobRecord
    seconds: dict[str, float]
    figures: tuple[float | None, ...]


class PathKind(NamedTuple):
    """Parts of a path that a report puts together, with their colour."""

    parts: tuple[str, ...]
    colour: str


_AROUND = {
    "waits and starts": ("master", "container", "start"), "commit": ("task commit", "job commit"), "lost": ("lost",),
    "unknown": ("unknown",),
}  # fmt: skip
"""What lies around the phases of any engine."""


def path_kinds(engine: str, seen: Iterable[str] = ()) -> dict[str, PathKind]:
    """By name, in the order in which they happen; the last is the run's time outside its jobs.

    What was `seen` and is none of them, such as a phase of a stage that a job made itself, is a kind of its own.
    """
    kind = engine_kind(engine)
    path = dict(kind.path) or {phase: (phase,) for phase in kind.phases}
    known = {*path, *chain(*path.values()), *_AROUND, *chain(*_AROUND.values()), OUTSIDE}
    path |= {name: (name,) for name in seen if name not in known}
    colours = phase_colours(engine, path)
    return {
        "waits and starts": PathKind(_AROUND["waits and starts"], svg.MIST),
        **{name: PathKind(parts, colours[name]) for name, parts in path.items()},
        "commit": PathKind(_AROUND["commit"], svg.SLATE),
        "lost": PathKind(_AROUND["lost"], svg.VERMILION),
        "unknown": PathKind(_AROUND["unknown"], svg.PAPER),
        OUTSIDE: PathKind((), svg.PALE),
    }


def job_paths(tables: TrialTables) -> list[JobPath]:
    """Of each of the run's jobs."""
    engine = tables.record.trial.engine
    figures = engine_kind(engine).figures
    paths = []
    for job in tables.record.jobs:
        parts = critical_path(job, tables.attempts, tables.phases).parts
        kinds = path_kinds(engine, (part.kind for part in parts))
        found = {name: sum(part.seconds for part in parts if part.kind in kind.parts) for name, kind in kinds.items()}
        known = {kind: seconds for kind, seconds in found.items() if seconds}
        paths.append(JobPath(job, known, tuple(_figure(figure, job, tables) for figure in figures)))
    return paths


def path_bars(trials: Sequence[tuple[str, TrialTables, Sequence[JobPath]]]) -> str:
    """A bar for each trial, as long as its run: its jobs' paths added up by kind, then the time outside; or empty.

    A trial whose jobs ran at once has none: their paths don't add up.
    """
    trials = [trial for trial in trials if not trial[1].record.jobs_overlap]
    of_trials = [
        path_kinds(tables.record.trial.engine, chain(*(path.seconds for path in paths))) for _, tables, paths in trials
    ]
    kinds = {name: kind for of_trial in of_trials for name, kind in of_trial.items()}
    colours = {name: kind.colour for name, kind in kinds.items()}
    rows = []
    for (name, tables, paths), of_trial in zip(trials, of_trials, strict=True):
        own = {kind: sum(path.seconds.get(kind, 0.0) for path in paths) for kind in of_trial}
        step_s = sum(step.seconds for step in tables.record.steps if step.name == "run")
        # What is left of the step is the workload's own time, and the client's.
        rows.append((name, {**own, OUTSIDE: max(0.0, step_s - sum(own.values()))}))
    most_s = max((sum(seconds.values()) for _, seconds in rows), default=0.0)
    if not most_s:
        return ""
    shown = {kind for _, seconds in rows for kind, value in seconds.items() if value}
    legend = svg.marks([(kind, colour) for kind, colour in colours.items() if kind in shown], svg.EDGE)
    parts = [f'<text x="{svg.LEFT - 16}" y="14">{legend}</text>']
    for row, (name, seconds) in enumerate(rows):
        top = HEAD_PX + row * ROW_PX
        panel = svg.Panel(top + 20, BAR_PX, 0, round(1000 * most_s), 1)
        parts.append(svg.text(svg.LEFT, top + 14, f"{name}: {sum(seconds.values()):.1f} s", 'font-weight="600"'))
        parts += _bar(panel, seconds, colours)
    bottom = HEAD_PX + len(rows) * ROW_PX + 8
    parts.append(svg.time_axis(svg.Panel(bottom, 0, 0, round(1000 * most_s), 1), "of the run, added up by kind"))
    return svg.figure(bottom + 42, parts, "what the jobs' critical paths were made of, in seconds")


def _figure(figure: TaskFigure, job: JobRecord, tables: TrialTables) -> float | None:
    own = (
        [attempt for attempt in tables.attempts if attempt.state == "SUCCEEDED"]
        if figure.how == "skew"
        else tables.phases
    )
    by_stage: dict[str, list[float]] = {}
    for row in own:
        if (
            row.job == job.id
            and figure.stage in {"", row.stage}
            and (value := getattr(row, figure.attribute)) is not None
        ):
            by_stage.setdefault(row.stage, []).append(value)
    values = [value for stage_values in by_stage.values() for value in stage_values]
    match figure.how:
        case "skew":
            skews = [skew(stage_values) for stage_values in by_stage.values()]
            return max((value for value in skews if value is not None), default=None)
        case "sum":
            return sum(values) if values else None
        case "most":
            return max(values, default=None)


def _bar(panel: svg.Panel, seconds: Mapping[str, float], colours: Mapping[str, str]) -> list[str]:
    """Seconds are written where there is room for them."""
    parts, at_s = [], 0.0
    for kind, own_s in seconds.items():
        left, right = panel.x(1000 * at_s), panel.x(1000 * (at_s + own_s))
        colour = colours[kind]
        at_s += own_s
        if own_s:
            parts.append(svg.rect(left, panel.top, right - left, BAR_PX, colour, edge=svg.PAPER))
        if right - left > 5 * svg.LETTER_PX:
            ink = svg.PAPER if colour in DEEP else svg.INK if colour in {svg.PAPER, svg.PALE} else svg.ON_BRIGHT
            words = f"{own_s:.1f}"
            parts.append(svg.text((left + right) / 2, panel.top + 15.5, words, f'text-anchor="middle" fill="{ink}"'))
    width = panel.x(1000 * at_s) - svg.LEFT
    parts.append(
        svg.rect(svg.LEFT, panel.top, min(width, svg.WIDTH - svg.LEFT - svg.RIGHT), BAR_PX, "none", edge=svg.EDGE)
    )
    return parts
