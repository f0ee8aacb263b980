"""What a trial's run was spent on: the jobs' critical paths, their spills and merges, and their reducers' skew."""

from collections.abc import Sequence
from typing import NamedTuple

from assay.model.record import JobRecord
from assay.model.task import PathKind, Skew, TaskPhases
from assay.report.analysis import TrialTables
from assay.report.charts import drawing as svg
from assay.stats.tasks import critical_path, reducer_skew

KINDS: dict[str, tuple[tuple[PathKind, ...], str]] = {
    "waits and starts": (("master", "container", "start"), svg.MIST),
    "map": (("map",), svg.BLUE),
    "spill and merge": (("final spill", "map merge"), svg.SKY),
    "shuffle": (("shuffle",), svg.ORANGE),
    "merge": (("merge",), svg.PINK),
    "reduce": (("reduce",), svg.GREEN),
    "commit": (("task commit", "job commit"), svg.SLATE),
    "lost": (("lost",), svg.VERMILION),
    "unknown": (("unknown",), svg.PAPER),
}
"""The path's kinds as a report puts them together, with their colours. `merge` is the reducers', after the shuffle."""
OUTSIDE, OUTSIDE_COLOUR = "outside jobs", svg.PALE
ON_DEEP = {"map", "reduce", "commit", "lost"}
"""Kinds of colours so deep that words upon them have the page's."""
ROW_PX, BAR_PX, HEAD_PX = 44, 22, 26


class JobPath(NamedTuple):
    """One job: its time from submission to end by kind in seconds, its spills and merge passes, and its skew.

    `spills` are all maps'; passes are the most that any of its attempts made. None where no task's log tells.
    """

    job: JobRecord
    seconds: dict[str, float]
    spills: int | None
    map_passes: int | None
    reduce_passes: int | None
    bytes_skew: Skew | None
    time_skew: Skew | None


def job_paths(tables: TrialTables) -> list[JobPath]:
    """Of each of the run's jobs."""
    skews = {(skew.job, skew.measure): skew for skew in reducer_skew(tables.attempts)}
    return [
        JobPath(
            job=job,
            seconds=_seconds(job, tables),
            **_passes([one for one in tables.phases if one.job == job.id]),
            bytes_skew=skews.get((job.id, "shuffled_bytes")),
            time_skew=skews.get((job.id, "reduce_s")),
        )
        for job in tables.record.jobs
    ]


def path_bars(trials: Sequence[tuple[str, TrialTables, Sequence[JobPath]]]) -> str:
    """A bar for each trial: its jobs' paths added up by kind, and the run's time outside its jobs; empty without any.

    The bars are as long as the run's step took.
    """
    rows = [(name, _added(tables, paths)) for name, tables, paths in trials]
    most_s = max((sum(seconds.values()) for _, seconds in rows), default=0.0)
    if not most_s:
        return ""
    parts = [_legend({kind for _, seconds in rows for kind, value in seconds.items() if value})]
    for row, (name, seconds) in enumerate(rows):
        top = HEAD_PX + row * ROW_PX
        panel = svg.Panel(top + 20, BAR_PX, 0, round(1000 * most_s), 1)
        parts.append(svg.text(svg.LEFT, top + 14, f"{name}: {sum(seconds.values()):.1f} s", 'font-weight="600"'))
        parts += _bar(panel, seconds)
    bottom = HEAD_PX + len(rows) * ROW_PX + 8
    parts.append(svg.time_axis(svg.Panel(bottom, 0, 0, round(1000 * most_s), 1), "of the run, added up by kind"))
    return svg.figure(bottom + 42, parts, "what the jobs' critical paths were made of, in seconds")


def _seconds(job: JobRecord, tables: TrialTables) -> dict[str, float]:
    parts = critical_path(job, tables.attempts, tables.phases).parts
    found = {kind: sum(part.seconds for part in parts if part.kind in kinds) for kind, (kinds, _) in KINDS.items()}
    return {kind: seconds for kind, seconds in found.items() if seconds}


def _passes(phases: Sequence[TaskPhases]) -> dict[str, int | None]:
    maps = [one for one in phases if one.stage == "map"]
    reduces = [one for one in phases if one.stage == "reduce"]
    return {
        "spills": sum(one.spills for one in maps) if maps else None,
        "map_passes": max(one.merge_passes for one in maps) if maps else None,
        "reduce_passes": max(one.merge_passes for one in reduces) if reduces else None,
    }


def _added(tables: TrialTables, paths: Sequence[JobPath]) -> dict[str, float]:
    """By kind over all jobs; what is left of the step is the workload's own time, and the client's."""
    found = {kind: sum(path.seconds.get(kind, 0.0) for path in paths) for kind in KINDS}
    step_s = sum(step.seconds for step in tables.record.steps if step.name == "run")
    return {**found, OUTSIDE: max(0.0, step_s - sum(found.values()))}


def _colour(kind: str) -> str:
    return OUTSIDE_COLOUR if kind == OUTSIDE else KINDS[kind][1]


def _legend(shown: set[str]) -> str:
    legend = [(kind, _colour(kind)) for kind in (*KINDS, OUTSIDE) if kind in shown]
    return f'<text x="{svg.LEFT - 16}" y="14">{svg.marks(legend, svg.EDGE)}</text>'


def _bar(panel: svg.Panel, seconds: dict[str, float]) -> list[str]:
    """Seconds are written where there is room for them."""
    parts, at_s = [], 0.0
    for kind, own_s in seconds.items():
        left, right = panel.x(1000 * at_s), panel.x(1000 * (at_s + own_s))
        at_s += own_s
        if own_s:
            parts.append(svg.rect(left, panel.top, right - left, BAR_PX, _colour(kind), edge=svg.PAPER))
        if right - left > 5 * svg.LETTER_PX:
            ink = svg.PAPER if kind in ON_DEEP else svg.INK if kind in {"unknown", OUTSIDE} else svg.ON_BRIGHT
            words = f"{own_s:.1f}"
            parts.append(svg.text((left + right) / 2, panel.top + 15.5, words, f'text-anchor="middle" fill="{ink}"'))
    width = panel.x(1000 * at_s) - svg.LEFT
    parts.append(
        svg.rect(svg.LEFT, panel.top, min(width, svg.WIDTH - svg.LEFT - svg.RIGHT), BAR_PX, "none", edge=svg.EDGE)
    )
    return parts
