"""Tasks seen closely: the finer phases of an attempt, a job's critical path, and how unevenly its reducers work."""

from typing import Literal

from assay.model.base import Frozen
from assay.model.doubt import Doubt


class TaskPhases(Frozen):
    """The finer phases of a task attempt, from the time stamps of its own log (resolution: 1 ms).

    One after the other, from the container's launch (as history has it):
    map: `start_s`, `map_s`, `final_spill_s`, `merge_s`, `commit_s`;
    reduce: `start_s`, `shuffle_s`, `merge_s`, `reduce_s`, `commit_s`.
    The others run beside these. A phase is null if the log does not show it; an attempt that did not come to its end
    has only `start_s` and counts.
    """

    job: str
    """The job's id."""
    attempt: str
    """The attempt's id."""
    stage: str
    """The stage that the task belongs to."""
    start_s: float | None = None
    """From the start of the process until it reads its input."""
    map_s: float | None = None
    """Reading, mapping and collecting, record by record, with waits for spills (and the writing, in a job without
    reducers)."""
    final_spill_s: float | None = None
    """Waiting for a running spill, and the last sort and spill."""
    shuffle_s: float | None = None
    """Fetching map outputs."""
    merge_s: float | None = None
    """A map's merge of its spills; the merging that a reduce has left when all is fetched."""
    reduce_s: float | None = None
    """Reading the last merge pass, reducing and writing."""
    commit_s: float | None = None
    """Committing the output."""
    spill_s: float | None = None
    """How long a spill ran during the map phase."""
    fetch_s: float | None = None
    """How long at least one fetcher had a host to fetch from; the rest of `shuffle_s` is waiting for maps or for
    memory."""
    background_merge_s: float | None = None
    """How long a reduce merged while it shuffled or after."""
    spills: int = 0
    """Sorted runs written: by a map from its buffer, by a reduce from the map outputs in its memory."""
    merge_passes: int = 0
    """As Hadoop's Merger counts: a map's passes over the partition that needed most, a reduce's over files on disk,
    the last one included."""
    failed_fetches: int = 0
    """Map outputs that a reduce could not fetch, each time that it tried (the counter of an attempt that failed for
    it stays 0)."""


class TaskHistory(Frozen):
    """Finer phases of the attempts whose logs could be read, and why the others have none."""

    phases: tuple[TaskPhases, ...] = ()
    doubts: tuple[Doubt, ...] = ()


PathKind = Literal[
    "master", "container", "start", "map", "final spill", "map merge", "shuffle", "merge", "reduce", "task commit",
    "lost", "job commit", "unknown",
]  # fmt: skip


class PathPart(Frozen):
    """A stretch of a job's critical path: what it waited for, in milliseconds since the epoch.

    `master` is the wait for the application master, `container` the wait for a container, `start` a process' start,
    `lost` the time of an attempt that failed or was killed or outrun, `job commit` all after the last task, `unknown`
    what history does not tell. `attempt` is empty where the part is no attempt's.
    """

    kind: PathKind
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


class Skew(Frozen):
    """How unevenly a measure is spread over a job's reducers.

    `max_over_median` is None when the median is 0; `variation` is the standard deviation over the mean (population),
    None when the mean is 0. `largest` is the attempt with the most.
    """

    job: str
    measure: Literal["shuffled_bytes", "reduce_s"]
    reducers: int
    median: float
    maximum: float
    max_over_median: float | None
    variation: float | None
    largest: str
