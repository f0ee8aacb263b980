"""A job's critical path, and how unevenly its reducers work.

It is followed backwards. Before the job's end lies its commit, before that the attempt that ended last. A reducer's
shuffle ends when the last map's output is fetched: if that map ended after the reducer was ready to fetch, the path
goes on with the map, else with the reducer's own start. Before an attempt's start lies the end of what it waited for:
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
from statistics import fmean, median, pstdev
from typing import Literal

from assay.model.record import JobRecord, TaskAttempt
from assay.model.task import CriticalPath, PathKind, PathPart, Skew, TaskPhases


def critical_path(job: JobRecord, attempts: Sequence[TaskAttempt], phases: Sequence[TaskPhases] = ()) -> CriticalPath:
    """The path of one job. `attempts` may be those of a whole trial; `phases` make its parts finer where there are any.

    Its parts add up to the job's time from submission to end exactly; what history lacks is a part `unknown`.
    """
    own = [one for one in attempts if one.job == job.id and one.started_ms and one.finished_ms >= one.started_ms]
    walk = _Walk(job, own, {one.attempt: one for one in phases})
    return CriticalPath(job=job.id, parts=walk.parts(), disorder_ms=walk.disorder_ms)


# A map that had ended well, and whose output could not be had later: its own end is not why it ran again.
_OUTPUT_LOST = ("Too many fetch failures", "TaskAttempt killed because it ran on unusable node")


class _Walk:
    """From a job's end back to its submission: `_at` is how far it has come."""

    def __init__(self, job: JobRecord, attempts: Sequence[TaskAttempt], phases: Mapping[str, TaskPhases]) -> None:
        self._job = job
        self._by_end = sorted(attempts, key=attrgetter("finished_ms"))
        self._maps = [one for one in self._by_end if one.stage == "map" and one.state == "SUCCEEDED"]
        self._done = [one for one in self._by_end if one.state == "SUCCEEDED"]
        self._by_task: dict[str, list[TaskAttempt]] = {}
        for attempt in self._by_end:
            self._by_task.setdefault(attempt.task, []).append(attempt)
        self._phases = phases
        self._at = job.finished_ms
        self._back: list[PathPart] = []
        self.disorder_ms = 0

    def parts(self) -> tuple[PathPart, ...]:
        """All of it, oldest first."""
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

    def _part(self, kind: PathKind, started_ms: int, attempt: str = "") -> None:
        """Go back to that time: never forward, and never beyond the job's submission."""
        started = max(self._job.submitted_ms, min(self._at, started_ms))
        self.disorder_ms = max(self.disorder_ms, abs(started - started_ms))
        if started < self._at:
            self._back.append(PathPart(kind=kind, attempt=attempt, started_ms=started, finished_ms=self._at))
        self._at = started

    def _through(self, attempt: TaskAttempt) -> TaskAttempt | None:
        """Through an attempt, and the wait before it, to the one that the path goes on with."""
        if attempt.state != "SUCCEEDED":
            self._part("lost", attempt.started_ms, attempt.attempt)
            return self._before(attempt)
        if attempt.stage == "reduce":
            return self._reduce(attempt) or self._before(attempt)
        self._map(attempt)
        return self._before(attempt)

    def _map(self, attempt: TaskAttempt) -> None:
        name, seen = attempt.attempt, self._phases.get(attempt.attempt)
        begun = self._begun(attempt)
        if seen and seen.map_s is not None:
            mapped = begun + round(seen.map_s * 1000)
            spilt = mapped + round((seen.final_spill_s or 0) * 1000)
            merged = spilt + round((seen.merge_s or 0) * 1000)
            self._part("task commit", min(merged, attempt.finished_ms), name)
            self._part("map merge", spilt, name)
            self._part("final spill", mapped, name)
        self._part("map", begun, name)
        self._part("start", attempt.started_ms, name)

    def _reduce(self, attempt: TaskAttempt) -> TaskAttempt | None:
        """The map that its shuffle waited for last, when it did."""
        name, seen = attempt.attempt, self._phases.get(attempt.attempt)
        if not attempt.shuffle_finished_ms or not attempt.merge_finished_ms:
            self._part("unknown", attempt.started_ms, name)
            return None
        if seen and seen.reduce_s is not None:
            worked = attempt.merge_finished_ms + round(seen.reduce_s * 1000)
            self._part("task commit", min(worked, attempt.finished_ms), name)
        self._part("reduce", attempt.merge_finished_ms, name)
        self._part("merge", attempt.shuffle_finished_ms, name)
        begun = self._begun(attempt)
        waited = _latest(self._maps, min(attempt.shuffle_finished_ms, attempt.finished_ms))
        if waited is not None and waited.finished_ms > begun:
            self._part("shuffle", waited.finished_ms, name)
            return waited
        self._part("shuffle", begun, name)
        self._part("start", attempt.started_ms, name)
        return None

    def _begun(self, attempt: TaskAttempt) -> int:
        """When its process took up its input; its launch where that is not known."""
        seen = self._phases.get(attempt.attempt)
        return attempt.started_ms + round((seen.start_s if seen and seen.start_s else 0) * 1000)

    def _before(self, attempt: TaskAttempt) -> TaskAttempt | None:
        """What it waited for: an earlier attempt of its task, or else whatever ended last before it."""
        own = [one for one in self._by_task[attempt.task] if one.started_ms < attempt.started_ms]
        beside = [one for one in own if one.finished_ms > attempt.started_ms]
        if beside:  # it was started on speculation, for the other was slow
            other = min(beside, key=lambda one: one.started_ms)
            self._part("lost", other.started_ms, other.attempt)
            return self._before(other)
        # Ended before it began: those that took no time at all can't have been waited for.
        retried = _latest([one for one in own if not one.reason.startswith(_OUTPUT_LOST)], attempt.started_ms)
        cause = retried or _latest(self._by_end, attempt.started_ms, attempt.started_ms - 1)
        self._part("container", self._job.started_ms if cause is None else cause.finished_ms, attempt.attempt)
        return cause


def _latest(by_end: Sequence[TaskAttempt], until_ms: int, begun_by_ms: int | None = None) -> TaskAttempt | None:
    """Of attempts in the order of their ends the one that ended last, no later than that, and had begun by then."""
    for at in range(bisect_right(by_end, until_ms, key=attrgetter("finished_ms")) - 1, -1, -1):
        if begun_by_ms is None or by_end[at].started_ms <= begun_by_ms:
            return by_end[at]
    return None


Measure = Literal["shuffled_bytes", "reduce_s"]


def reducer_skew(attempts: Sequence[TaskAttempt]) -> tuple[Skew, ...]:
    """For each job, in the order of the attempts: the skew of its reducers' shuffled bytes and of their reduce seconds.

    Only attempts that succeeded count; of an attempt without a known end of its merge no seconds are known. A job
    with fewer than two such reducers has no skew.
    """
    by_job: dict[str, list[TaskAttempt]] = {}
    for attempt in attempts:
        if attempt.stage == "reduce" and attempt.state == "SUCCEEDED":
            by_job.setdefault(attempt.job, []).append(attempt)
    skews = []
    for job, reducers in by_job.items():
        ended = [one for one in reducers if one.merge_finished_ms]
        shuffled_bytes = {one.attempt: one.shuffled_bytes for one in reducers}
        reduce_s = {one.attempt: (one.finished_ms - one.merge_finished_ms) / 1000 for one in ended}
        skews += [_skew(job, "shuffled_bytes", shuffled_bytes)] if len(shuffled_bytes) > 1 else []
        skews += [_skew(job, "reduce_s", reduce_s)] if len(reduce_s) > 1 else []
    return tuple(skews)


def _skew(job: str, measure: Measure, values: Mapping[str, float]) -> Skew:
    largest = max(values, key=lambda attempt: values[attempt])
    middle, mean = median(values.values()), fmean(values.values())
    return Skew(
        job=job,
        measure=measure,
        reducers=len(values),
        median=middle,
        maximum=values[largest],
        max_over_median=values[largest] / middle if middle else None,
        variation=pstdev(values.values()) / mean if mean else None,
        largest=largest,
    )
