"""A job's critical path, and how unevenly its tasks work.

It is followed backwards. Before the job's end lies its commit, before that the attempt that ended last. A step that
waits for an earlier stage (a shuffle, for maps) ends when that stage's last task has ended: if that was
after the attempt was ready for it, the path goes on with that task, else with the attempt's own start. Before an
attempt's start lies the end of what it waited for:
the attempt of its own task that failed or was killed, or else the attempt that ended last before it, whose container
it may have got, or whose failed fetches it makes good. What lies between is the wait for a container, and before the
first attempt the wait for the master.

History does not say which container became free for which attempt, so the step from one attempt to the one before is
an inference; all times are history's own. The method is that of Yang and Miller, "Critical path
analysis for the execution of parallel and distributed programs" (1988).
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from operator import attrgetter
from statistics import median

from assay.model.record import JobRecord
from assay.model.task import CriticalPath, PathPart, TaskAttempt, TaskPhases


def critical_path(job: JobRecord, attempts: Sequence[TaskAttempt], phases: Sequence[TaskPhases] = ()) -> CriticalPath:
    """The path of one job. `attempts` may be those of a whole trial; `phases` make its parts finer where there are any.

    Its parts add up to the job's time from submission to end exactly; what history lacks is a part `unknown`.
    """
    job_attempts = [
        attempt
        for attempt in attempts
        if attempt.job == job.id and attempt.started_ms and attempt.finished_ms >= attempt.started_ms
    ]
    walk = _Walk(job, job_attempts, {phase.attempt: phase for phase in phases})
    return CriticalPath(job=job.id, parts=walk.parts(), disorder_ms=walk.disorder_ms)


class _Walk:
    """From a job's end back to its submission: `_at` is how far it has come."""

    def __init__(self, job: JobRecord, attempts: Sequence[TaskAttempt], phases: Mapping[str, TaskPhases]) -> None:
        self._job = job
        self._by_end = sorted(attempts, key=attrgetter("finished_ms"))
        self._done = [attempt for attempt in self._by_end if attempt.state == "SUCCEEDED"]
        self._by_task: dict[str, list[TaskAttempt]] = {}
        for attempt in self._by_end:
            self._by_task.setdefault(attempt.task, []).append(attempt)
        self._phases = phases
        self._at = job.finished_ms
        self._back: list[PathPart] = []
        self.disorder_ms = 0

    def parts(self) -> tuple[PathPart, ...]:
        """The parts of the path, oldest first."""
        last = _latest(self._done, self._job.finished_ms)
        if last is None:
            self._part("unknown", self._job.started_ms)
        else:
            self._part("job commit", last.finished_ms)
        attempt, passed = last, set()
        while attempt is not None and attempt.attempt not in passed:  # clocks that disagree could make it a circle
            passed.add(attempt.attempt)
            attempt = self._through(attempt)
        self._part("master", self._job.submitted_ms)
        return tuple(reversed(self._back))

    def _part(self, kind: str, started_ms: int, attempt: str = "") -> None:
        """Go back to that time: never forward, and never beyond the job's submission."""
        started = max(self._job.submitted_ms, min(self._at, started_ms))
        self.disorder_ms = max(self.disorder_ms, abs(started - started_ms))
        if started < self._at:
            self._back.append(PathPart(kind=kind, attempt=attempt, started_ms=started, finished_ms=self._at))
        self._at = started

    def _through(self, attempt: TaskAttempt) -> TaskAttempt | None:
        """Walk through an attempt, and the wait before it, to the attempt that the path goes on with."""
        if attempt.state != "SUCCEEDED":
            self._part("lost", attempt.started_ms, attempt.attempt)
            return self._before(attempt)
        steps = attempt.steps(self._phases.get(attempt.attempt))
        edges = [attempt.started_ms, *(step.ended_ms for step in steps[:-1])]
        for begun_ms, step in zip(reversed(edges), reversed(steps), strict=True):
            waited_for = [candidate for candidate in self._done if candidate.stage == step.waits_for]
            waited = _latest(waited_for, min(step.ended_ms, attempt.finished_ms))
            if waited is not None and waited.finished_ms > begun_ms:
                self._part(step.kind, waited.finished_ms, attempt.attempt)
                return waited
            self._part(step.kind, begun_ms, attempt.attempt)
        return self._before(attempt)

    def _before(self, attempt: TaskAttempt) -> TaskAttempt | None:
        """What it waited for: an earlier attempt of its task, or else whatever ended last before it."""
        earlier = [candidate for candidate in self._by_task[attempt.task] if candidate.started_ms < attempt.started_ms]
        beside = [candidate for candidate in earlier if candidate.finished_ms > attempt.started_ms]
        if beside:  # it was started on speculation, for the other was slow
            other = min(beside, key=lambda candidate: candidate.started_ms)
            self._part("lost", other.started_ms, other.attempt)
            return self._before(other)
        # Ended before it began: those that took no time at all can't have been waited for.
        retried = _latest([candidate for candidate in earlier if not candidate.output_lost], attempt.started_ms)
        cause = retried or _latest(self._by_end, attempt.started_ms, attempt.started_ms - 1)
        self._part("container", self._job.started_ms if cause is None else cause.finished_ms, attempt.attempt)
        return cause


def _latest(by_end: Sequence[TaskAttempt], until_ms: int, begun_by_ms: int | None = None) -> TaskAttempt | None:
    """Find the attempt that ended last, having begun and ended by then; attempts are in the order of their ends."""
    for at in range(bisect_right(by_end, until_ms, key=attrgetter("finished_ms")) - 1, -1, -1):
        if begun_by_ms is None or by_end[at].started_ms <= begun_by_ms:
            return by_end[at]
    return None


def skew(values: Sequence[float]) -> float | None:
    """The greatest over the median, 1 where all are alike; None of fewer than two values, or where the median is 0."""
    middle = median(values) if len(values) > 1 else 0
    return max(values) / middle if middle else None
