"""Which phases of which jobs ran when, from their task attempts.

A series here is what was the case from one moment to the next: a sample of a probe is of the time since the one before
it. Means are weighted by time, and a value that lies on both sides of a bin's edge counts in each by its share of time:
so the means of all bins, weighted by the time that they tell of, are the mean of the series, and the least and the
greatest of all bins are those of the series.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from assay.model.installed import engine_kind
from assay.model.layout import OUTPUT
from assay.model.record import Span
from assay.model.signature import OUTSIDE, Array, Direction, PhaseUse
from assay.model.task import TaskAttempt, covered_ms

NS_PER_MS = 1_000_000


class PhaseSpan(NamedTuple):
    """One phase of one attempt."""

    job: str
    phase: str
    began_ms: int
    ended_ms: int


class Timeline:
    """The phases of all jobs, and how many attempts were in each at any time.

    `phases` are (job, phase), jobs in the order of their beginning; the last is `outside`, of no job.
    """

    def __init__(self, attempts: Sequence[TaskAttempt], engine: str) -> None:
        self._causes = engine_kind(engine).causes
        every = [span for attempt in attempts for span in spans(attempt)]
        every.sort(key=lambda span: span.began_ms)
        self._edges_ms, keys, counts = running(every, [(span.job, span.phase) for span in every])
        self.phases: list[tuple[str, str]] = [*keys, ("", OUTSIDE)]
        self._counts = np.append(counts, np.zeros((len(counts), 1)), axis=1)
        phases_of = Counter(job for job, _ in keys)
        self._of_one_phase = {job for job, phases in phases_of.items() if phases == 1}

    def segment_of(self, time_ns: Array) -> Array:
        """Into which span between edges each time falls."""
        return np.searchsorted(self._edges_ms * NS_PER_MS, time_ns, side="right")

    def weights(self, role: str, direction: Direction) -> Array:
        """How requests of a role are shared out: a row for each span between edges, whose columns (phases) add to 1."""
        only = self._causes.get((role, direction))
        in_one = self._of_one_phase if (role, direction) == (OUTPUT, "write") else frozenset()
        able = np.array([only is None or phase in only or job in in_one for job, phase in self.phases])
        counts = self._counts * able
        counts = np.where(counts.sum(axis=1, keepdims=True) > 0, counts, self._counts)
        counts[:, -1] = counts.sum(axis=1) == 0
        weights: Array = counts / counts.sum(axis=1, keepdims=True)
        return weights


def spans(attempt: TaskAttempt) -> Iterator[PhaseSpan]:
    """An attempt's phases that lasted at all."""
    return (PhaseSpan(attempt.job, *span) for span in attempt.phase_spans())


def phase_uses(attempts: Sequence[TaskAttempt]) -> list[PhaseUse]:
    """Sum each phase's attempts, time and processor time, in the order of their beginning."""
    by_phase: dict[tuple[str, str], list[tuple[PhaseSpan, TaskAttempt]]] = {}
    for attempt in sorted(attempts, key=lambda attempt: attempt.started_ms):
        for span in spans(attempt):
            by_phase.setdefault((span.job, span.phase), []).append((span, attempt))
    uses = []
    for (job, phase), parts in by_phase.items():
        # By time where a counter covers several phases, by that of all together where they overlap. The counters begin
        # after the task's start-up (Task.initialize of Hadoop): they leave out what each JVM's start took.
        cpu_ms = [
            attempt.cpu_ms * (span.ended_ms - span.began_ms) / _spent_ms(attempt)
            for span, attempt in parts
            if attempt.cpu_ms
        ]
        use = PhaseUse(
            job=job,
            phase=phase,
            attempts=len(parts),
            attempt_s=sum(span.ended_ms - span.began_ms for span, _ in parts) / 1000,
            elapsed_s=covered_ms((span.began_ms, span.ended_ms) for span, _ in parts) / 1000,
            cpu_s=sum(cpu_ms) / 1000 if cpu_ms else None,
            cpu_basis="estimated" if any(_has_several(attempt) for _, attempt in parts) else "measured",
        )
        uses.append(use)
    return uses


def _has_several(attempt: TaskAttempt) -> bool:
    """Whether its processor time is of more than one phase."""
    return max(len(attempt.phase_ends()), len(attempt.phase_spans())) > 1


def _spent_ms(attempt: TaskAttempt) -> int:
    """Its time, or that of its phases together where they overlap."""
    phases_ms = sum(ended_ms - began_ms for _, began_ms, ended_ms in attempt.phase_spans())
    return max(attempt.finished_ms - attempt.started_ms, phases_ms)


SAMPLE_MS = 500
"""What a series' first sample covers: probes tick twice a second."""


class Pieces(NamedTuple):
    """A value for each of some stretches of time, which rise and do not overlap; milliseconds since the epoch."""

    begin_ms: Array
    end_ms: Array
    values: Array


class Bins(NamedTuple):
    """Least, mean and greatest value in each of some stretches of time; those of which nothing is known are left out.

    `known_ms` is of how much of a stretch something is known. `whole` says that each is a single piece, as it came.
    """

    begin_ms: Array
    end_ms: Array
    known_ms: Array
    least: Array
    mean: Array
    greatest: Array
    whole: bool


def sampled(times_ms: Sequence[int], values: Sequence[float]) -> Pieces:
    """A probe's samples: each is of the time since the one before it.

    Samples whose time does not go on, as after a clock was set back, are left out until it does.
    """
    times, known = np.asarray(times_ms, np.int64), np.asarray(values, float)
    before = np.concatenate((times[:1] - SAMPLE_MS, np.maximum.accumulate(times)[:-1]))
    on = times > before
    return Pieces(before[on], times[on], known[on])


def added(series: Sequence[Pieces]) -> Pieces:
    """The sum of some series where all of them have a piece with the same ends; nothing elsewhere."""
    ends = series[0].end_ms
    for pieces in series[1:]:
        ends = np.intersect1d(ends, pieces.end_ms, assume_unique=True)
    places = [np.searchsorted(pieces.end_ms, ends) for pieces in series]
    values = sum((pieces.values[index] for pieces, index in zip(series, places, strict=True)), np.zeros(len(ends)))
    return Pieces(series[0].begin_ms[places[0]], ends, values)


Key = TypeVar("Key", bound=Hashable)


def running(every: Sequence[PhaseSpan], keys: Sequence[Key]) -> tuple[Array, list[Key], Array]:
    """How many of some spans of a key lasted between two edges (ms), at which spans begin or end: edges, keys, counts.

    A row of counts is for each stretch between edges, the first before all of them and the last after; a column for
    each key.
    """
    times = np.array([(span.began_ms, span.ended_ms) for span in every], np.int64).reshape(-1, 2)
    edges_ms = np.unique(times)
    places = {key: index for index, key in enumerate(dict.fromkeys(keys))}
    columns = np.array([places[key] for key in keys], np.int64)
    changes = np.zeros((len(edges_ms) + 1, len(places)))
    np.add.at(changes, (np.searchsorted(edges_ms, times[:, 0]) + 1, columns), 1)
    np.add.at(changes, (np.searchsorted(edges_ms, times[:, 1]) + 1, columns), -1)
    return edges_ms, list(places), np.cumsum(changes, axis=0)


def running_tasks(attempts: Iterable[TaskAttempt]) -> dict[str, Pieces]:
    """How many attempts were in each phase, from the first's beginning to the last's end; of phases with any."""
    every = [span for attempt in attempts for span in spans(attempt)]
    edges_ms, phases, counts = running(every, [span.phase for span in every])
    return {phase: Pieces(edges_ms[:-1], edges_ms[1:], counts[1:-1, column]) for column, phase in enumerate(phases)}


def merged(spans_of_time: Iterable[Span]) -> list[Span]:
    """The stretches in which at least one of some spans lasted, in the order of time; none overlap."""
    stretches: list[Span] = []
    for span in sorted(spans_of_time, key=lambda span: span.begin_ms):
        if stretches and span.begin_ms <= stretches[-1].end_ms:
            end_ms = max(stretches[-1].end_ms, span.end_ms)
            stretches[-1] = stretches[-1].model_copy(update={"end_ms": end_ms})
        else:
            stretches.append(span)
    return stretches


def clip(pieces: Pieces, span: Span) -> Pieces:
    """Clip pieces to a span."""
    begin, end = np.maximum(pieces.begin_ms, span.begin_ms), np.minimum(pieces.end_ms, span.end_ms)
    some = begin < end
    return Pieces(begin[some], end[some], pieces.values[some])


def binned(pieces: Pieces, span: Span, most: int) -> Bins:
    """Divide pieces into at most so many bins: each piece by itself, else equal stretches of the span."""
    clipped = clip(pieces, span)
    if len(clipped.values) <= most:
        return Bins(
            clipped.begin_ms,
            clipped.end_ms,
            clipped.end_ms - clipped.begin_ms,
            clipped.values,
            clipped.values,
            clipped.values,
            whole=True,
        )
    edges = np.linspace(span.begin_ms, span.end_ms, most + 1).round().astype(np.int64)
    # Until each edge: how much time has a value, and the values added up over it.
    lengths = clipped.end_ms - clipped.begin_ms
    knots = np.stack((clipped.begin_ms, clipped.end_ms), axis=1).ravel() - span.begin_ms
    known_ms, sums = (
        np.diff(np.interp(edges - span.begin_ms, knots, np.repeat(np.append(0, np.cumsum(gains)), 2)[1:-1]))
        for gains in (lengths, lengths * clipped.values)
    )
    some = np.flatnonzero(known_ms)
    first = np.searchsorted(clipped.end_ms, edges[:-1], side="right")
    last = np.searchsorted(clipped.begin_ms, edges[1:], side="left")
    inside = [clipped.values[first[index] : last[index]] for index in some]
    least, greatest = np.array([values.min() for values in inside]), np.array([values.max() for values in inside])
    # A mean lies between the two but for the rounding of sums.
    mean = np.clip(sums[some] / known_ms[some], least, greatest)
    return Bins(edges[:-1][some], edges[1:][some], known_ms[some], least, mean, greatest, whole=False)
