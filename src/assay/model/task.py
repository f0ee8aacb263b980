"""Tasks seen closely: attempts, their finer phases, and the critical path; an engine adds to rows what it counts."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from assay.model.base import Frozen
from assay.model.doubt import Doubt
from assay.model.quantity import KnownClockTimeS, MomentMs, ProcessorTimeMs


class TaskPhases(Frozen):
    """The finer phases of a task attempt, from its own log."""

    job: str
    """The job's id."""
    attempt: str
    """The attempt's id."""
    stage: str
    """The stage that the task belongs to."""
    start_s: KnownClockTimeS = None
    """From the start of the process until it reads its input."""


class TaskHistory(Frozen):
    """Finer phases of the attempts whose logs could be read, and why the others have none."""

    phases: tuple[TaskPhases, ...] = ()
    doubts: tuple[Doubt, ...] = ()


class TaskStep(NamedTuple):
    """What an attempt did until a time, since the step before it; `waits_for` is the stage whose tasks it needs."""

    kind: str
    ended_ms: int
    waits_for: str = ""


class TaskAttempt(Frozen):
    """An attempt of a task, failed attempts too. Times are milliseconds since the epoch, 0 if unknown."""

    job: str
    """The job's id."""
    attempt: str
    """The attempt's id."""
    stage: str
    """The stage that the task belongs to."""
    node: str
    """The node's host name."""
    state: str
    """The engine's state of the attempt; `SUCCEEDED` if it ended well."""
    started_ms: MomentMs
    """Launch of its container or process."""
    finished_ms: MomentMs
    """Its end."""
    cpu_ms: ProcessorTimeMs = 0
    """Processor time, user and system."""
    container: str = ""
    """The container's id."""
    reason: str = ""
    """Why it failed or was killed, in the engine's words."""

    @property
    def task(self) -> str:
        """The task that it is an attempt of."""
        return self.attempt

    @property
    def output_lost(self) -> bool:
        """It had ended well, and its output could not be had later: its own end is not why it ran again."""
        return False

    def phase_ends(self) -> Sequence[tuple[str, int]]:
        """Its phases in order, and when each ended (ms; 0 if unknown): one, called as its stage, if nothing is said."""
        return [(self.stage, self.finished_ms)]

    def phase_spans(self) -> list[tuple[str, int, int]]:
        """Its phases that lasted at all, with begin and end (ms): one after the other, as long as they ended.

        An attempt that failed or was killed within a phase has none after it. Engines whose phases overlap say here
        when each was; an attempt then counts in each of its phases.
        """
        spans, began_ms = [], self.started_ms
        for phase, phase_end_ms in self.phase_ends():
            # A phase without an end of its own is the one in which the attempt ended.
            ended_ms = min(phase_end_ms, self.finished_ms) if phase_end_ms > 0 else self.finished_ms
            if 0 < began_ms < ended_ms:
                spans.append((phase, began_ms, ended_ms))
                began_ms = ended_ms
        return spans

    def steps(self, seen: TaskPhases | None) -> list[TaskStep]:
        """All of its time in order, from its launch to its end; `seen` is what its log tells."""
        ends = self.phase_ends()
        if not all(ended_ms for _, ended_ms in ends):
            return [TaskStep("unknown", self.finished_ms)]
        begun_ms = self.started_ms + round(1000 * (seen.start_s or 0)) if seen else self.started_ms
        return [TaskStep("start", begun_ms), *(TaskStep(*end) for end in ends)]


def covered_ms(intervals: Iterable[tuple[int, int]]) -> int:
    """For how long at least one of some intervals lasted; all are in milliseconds."""
    covered, until = 0, 0
    for begin, end in sorted(intervals):
        covered += max(0, end - max(begin, until))
        until = max(until, end)
    return covered


class PathPart(Frozen):
    """A stretch of a job's critical path: what it waited for, in milliseconds since the epoch.

    `kind` is a phase, or `master` for the wait for the application master, `container` for a container, `start` for a
    process' start, `task commit` for an output's commit, `lost` for the time of an attempt that failed or was killed or
    outrun, `job commit` for all after the last task, `unknown` for what history does not tell. `attempt` is empty where
    the part is no attempt's.
    """

    kind: str
    attempt: str = ""
    started_ms: int
    finished_ms: int

    @property
    def seconds(self) -> float:
        """How long it took."""
        return (self.finished_ms - self.started_ms) / 1000


class CriticalPath(Frozen):
    """The chain of attempts and phases that made up a job's time from submission to end, oldest first.

    The parts follow one another without a gap: their times add up to the job's exactly. `disorder_ms` is the most by
    which a time of history had to be moved for that: more than a few ms are clocks that disagree or were set.
    """

    job: str
    parts: tuple[PathPart, ...]
    disorder_ms: int = 0
