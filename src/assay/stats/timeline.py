"""Which phases of which jobs ran when, from their task attempts."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.model.record import TaskAttempt
from assay.model.signature import AccessPhase, AccessRole, Array, Direction, PhaseUse

NS_PER_MS = 1_000_000

ALL: frozenset[AccessPhase] = frozenset({"map", "shuffle", "merge", "reduce"})
ONLY: dict[tuple[AccessRole, Direction], frozenset[AccessPhase]] = {
    ("input", "read"): frozenset({"map"}),
    ("output", "read"): frozenset({"map"}),
    ("output", "write"): frozenset({"reduce"}),
    ("intermediate", "write"): frozenset({"map", "shuffle", "merge"}),
}
"""The phases that can cause requests of a role and direction; any, where a pair is not named."""


class Span(NamedTuple):
    """One phase of one attempt."""

    job: str
    phase: AccessPhase
    began_ms: int
    ended_ms: int


class Timeline:
    """The phases of all jobs, and how many attempts were in each at any time.

    `phases` are (job, phase), jobs in the order of their beginning; the last is `outside`, of no job.
    """

    def __init__(self, attempts: Sequence[TaskAttempt]) -> None:
        import numpy as np

        every = [span for attempt in attempts for span in spans(attempt)]
        every.sort(key=lambda span: span.began_ms)
        self.phases: list[tuple[str, AccessPhase]] = [*dict.fromkeys((one.job, one.phase) for one in every)]
        self._map_only = {one.job for one in every} - {one.job for one in every if one.phase != "map"}
        places = {phase: place for place, phase in enumerate(self.phases)}
        self.phases.append(("", "outside"))
        times = np.array([[span.began_ms, span.ended_ms] for span in every], np.int64).reshape(-1, 2)
        # Between two edges nothing changes; before the first and after the last nothing runs.
        self._edges_ms = np.unique(times)
        self._counts = np.zeros((len(self._edges_ms) + 1, len(self.phases)))
        begins, ends = (np.searchsorted(self._edges_ms, times[:, column]) + 1 for column in (0, 1))
        place = np.array([places[span.job, span.phase] for span in every], np.int64)
        np.add.at(self._counts, (begins, place), 1)
        np.add.at(self._counts, (ends, place), -1)
        self._counts = np.cumsum(self._counts, axis=0)

    def segment_of(self, time_ns: Array) -> Array:
        """Into which span between edges each time falls."""
        import numpy as np

        return np.searchsorted(self._edges_ms * NS_PER_MS, time_ns, side="right")

    def weights(self, role: AccessRole, direction: Direction) -> Array:
        """How requests of a role are shared out: a row for each span between edges, whose columns (phases) add to 1."""
        import numpy as np

        only = ONLY.get((role, direction), ALL)
        able = np.array([self._is_able(job, phase, only, role, direction) for job, phase in self.phases])
        counts = self._counts * able
        counts = np.where(counts.sum(axis=1, keepdims=True) > 0, counts, self._counts)
        counts[:, -1] = counts.sum(axis=1) == 0
        weights: Array = counts / counts.sum(axis=1, keepdims=True)
        return weights

    def _is_able(
        self, job: str, phase: AccessPhase, only: frozenset[AccessPhase], role: AccessRole, direction: Direction
    ) -> bool:
        writes_output = (role, direction) == ("output", "write") and phase == "map" and job in self._map_only
        return phase in only or writes_output


def spans(attempt: TaskAttempt) -> Iterator[Span]:
    """An attempt's phases that lasted at all; one that ended within a phase (failed, killed) has none after it."""
    if attempt.kind == "map":
        edges: list[tuple[AccessPhase, int]] = [("map", attempt.finished_ms)]
    else:
        edges = [
            ("shuffle", attempt.shuffle_finished_ms),
            ("merge", attempt.merge_finished_ms),
            ("reduce", attempt.finished_ms),
        ]
    began = attempt.started_ms
    for phase, told in edges:
        # A phase without an end of its own is the one in which the attempt ended.
        ended = min(told, attempt.finished_ms) if told > 0 else attempt.finished_ms
        if 0 < began < ended:
            yield Span(attempt.job, phase, began, ended)
            began = ended


def phase_uses(attempts: Sequence[TaskAttempt]) -> list[PhaseUse]:
    """Each phase's attempts, time and processor time; in the order of their beginning."""
    by_phase: dict[tuple[str, AccessPhase], list[tuple[Span, TaskAttempt]]] = {}
    for attempt in sorted(attempts, key=lambda one: one.started_ms):
        for span in spans(attempt):
            by_phase.setdefault((span.job, span.phase), []).append((span, attempt))
    return [
        PhaseUse(
            job=job,
            phase=phase,
            attempts=len(parts),
            attempt_s=sum(span.ended_ms - span.began_ms for span, _ in parts) / 1000,
            elapsed_s=_covered_ms([span for span, _ in parts]) / 1000,
            cpu_s=_cpu_s(parts),
            cpu_basis="measured" if phase == "map" else "estimated",
        )
        for (job, phase), parts in by_phase.items()
    ]


def _covered_ms(parts: Sequence[Span]) -> int:
    """How long at least one of some spans lasted."""
    covered, until = 0, 0
    for span in sorted(parts, key=lambda span: span.began_ms):
        covered += max(0, span.ended_ms - max(span.began_ms, until))
        until = max(until, span.ended_ms)
    return covered


def _cpu_s(parts: Sequence[tuple[Span, TaskAttempt]]) -> float | None:
    """From the attempts' counters, by time where a counter covers several phases; None where no attempt has one.

    The counters begin after the task's start-up (Task.initialize of Hadoop): they leave out what each JVM's start took.
    """
    shares = [
        attempt.cpu_ms * (span.ended_ms - span.began_ms) / (attempt.finished_ms - attempt.started_ms)
        for span, attempt in parts
        if attempt.cpu_ms
    ]
    return sum(shares) / 1000 if shares else None
