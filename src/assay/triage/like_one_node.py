"""What jobs and nights would gain if all nodes were like one: the ratios of its tasks, carried over.

A stage becomes shorter as its tasks on the other nodes do; those on the node have its ratio already. All else of a job
takes as long as it did. A night is shortened along its critical chain, as `window` has it. Each end of an interval
takes the same end of all stages' ratios: what is fast or slow about the node by chance may be so in all of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from assay.engine.past.job import PastJob
from assay.model.base import Frozen
from assay.stats.noise import ConfidenceInterval
from assay.stats.one_node import NodePart
from assay.triage.names import run_name
from assay.triage.window import TimedRun, batch_window, is_of_batch


class Gain(Frozen):
    """What is saved of a time, in seconds, below 0 for what would take longer."""

    of_s: float
    """The time."""
    saved_s: float
    """What is saved of it."""
    interval_s: ConfidenceInterval | None
    """Its 95 % interval; null where too few nodes tell how much nodes differ."""


class JobGain(Frozen):
    """A recurring job."""

    job: str
    """Its name, as triage has it."""
    runs: int
    """Its runs."""
    gain: Gain
    """Of the time in which they ran."""


class NightGain(Frozen):
    """The longest night."""

    began_ms: int
    """Its first start, in milliseconds since the epoch."""
    nights: int
    """Of how many nights with runs it is the longest."""
    gain: Gain
    """By how much it ends earlier."""


class LikeOneNode(Frozen):
    """What is saved if all nodes are like one."""

    all_jobs: Gain
    """Of the jobs together."""
    uncompared_s: float
    """The time of stages of which no tasks were compared: they count as unchanged."""
    jobs: tuple[JobGain, ...]
    """The jobs, the largest saving first."""
    night: NightGain | None
    """The longest night; null where no run is part of a batch."""


class _Saved(NamedTuple):
    """Seconds that are saved, and the ends of their interval."""

    seconds: float
    low: float
    high: float


def like_one_node(jobs: Iterable[PastJob], parts: Iterable[NodePart]) -> LikeOneNode | None:
    """Of distinct jobs, those whose histories lack nothing, by the parts of whole tasks; None without either."""
    stages = {part.stage: part for part in parts if not part.phase}
    runs = [(job, _saved(job, stages)) for job in jobs if job.counts]
    if not stages or not runs:
        return None
    known = all(part.interval is not None for part in stages.values())
    by_job: dict[str, list[tuple[PastJob, _Saved]]] = {}
    for run in runs:
        by_job.setdefault(run_name(run[0]), []).append(run)
    of_jobs = [
        JobGain(job=name, runs=len(of_job), gain=_gain(*_sums(of_job), known=known)) for name, of_job in by_job.items()
    ]
    uncompared_ms = sum(
        stage.elapsed_ms for job, _ in runs for stage in job.stages if _part_of(stage.name, stages) is None
    )
    return LikeOneNode(
        all_jobs=_gain(*_sums(runs), known=known), uncompared_s=uncompared_ms / 1000,
        jobs=tuple(sorted(of_jobs, key=lambda of_job: -of_job.gain.saved_s)), night=_night(runs, known=known),
    )  # fmt: skip


def _part_of(stage: str, parts: Mapping[str, NodePart]) -> NodePart | None:
    """The part that compares a stage's tasks; of stages that count as one, of the first of them."""
    return parts.get(stage) or parts.get(stage.partition(" and ")[0])


def _saved(job: PastJob, parts: Mapping[str, NodePart]) -> _Saved:
    saved = _Saved(0.0, 0.0, 0.0)
    for stage in job.stages:
        part = _part_of(stage.name, parts)
        if part is not None:
            others_s = stage.elapsed_ms / 1000 * part.other_tasks / (part.tasks + part.other_tasks)
            low, high = (part.interval.low, part.interval.high) if part.interval else (part.ratio, part.ratio)
            ratios = _Saved(part.ratio, high, low)  # the higher the ratio, the less is saved
            saved = _Saved(*(before + others_s * (1 - ratio) for before, ratio in zip(saved, ratios, strict=True)))
    return saved


def _sums(runs: Sequence[tuple[PastJob, _Saved]]) -> tuple[float, _Saved]:
    """The time of runs, and what is saved of it."""
    columns = zip(*(saved for _, saved in runs), strict=True)
    return sum(job.ran_s for job, _ in runs), _Saved(*map(sum, columns))


def _gain(of_s: float, saved: _Saved, *, known: bool) -> Gain:
    interval_s = ConfidenceInterval(low=saved.low, high=saved.high) if known else None
    return Gain(of_s=of_s, saved_s=saved.seconds, interval_s=interval_s)


def _night(runs: Sequence[tuple[PastJob, _Saved]], *, known: bool) -> NightGain | None:
    every = (
        batch_window([
            TimedRun(run_name(job), job.submitted_ms, job.started_ms, job.finished_ms, saved[end])
            for job, saved in runs if is_of_batch(job)
        ])
        for end in range(len(_Saved._fields))
    )  # fmt: skip
    windows = [window for window in every if window is not None]
    if not windows:
        return None
    night, saved = windows[0].longest_night, _Saved(*(window.longest_night.bound_s for window in windows))
    gain = _gain(night.length_s, saved, known=known)
    return NightGain(began_ms=night.began_ms, nights=len(windows[0].nights), gain=gain)
