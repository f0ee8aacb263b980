"""Tasks seen closely: the finer phases of an attempt, a job's critical path, and how unevenly its reducers work."""

from typing import Literal

from assay.model.base import Frozen
from assay.model.doubt import Doubt


class TaskPhases(Frozen):
    """The finer phases of one task attempt, measured by the time stamps of its own log (resolution: 1 ms).

    None where the log does not tell; of an attempt that did not come to its end only `start_s` and counts are told.

    One after the other, from the container's launch (as history has it):
    map: `start_s`, `map_s`, `final_spill_s`, `merge_s`, `commit_s`;
    reduce: `start_s`, `shuffle_s`, `merge_s`, `reduce_s`, `commit_s`.

    `start_s` is the process' start until it takes up its input. Hadoop reads, maps and collects record by record:
    `map_s` is the three together, with whatever they wait for spills (and the writing, in a job without reducers).
    `final_spill_s` is the wait for a spill under way and the last sort and spill. `reduce_s` too is several together:
    reading the last merge pass, reducing and writing. A reducer's `merge_s` is the merging left when all is fetched.

    Beside these: `spill_s` is how long a spill was under way during the map phase; `fetch_s` how long at least one
    fetcher had a host to fetch from (the rest of `shuffle_s` is waiting for maps, or for memory);
    `background_merge_s` how long a reducer merged while it shuffled or after.

    `spills` counts sorted runs written: by a map from its buffer, by a reducer from the map outputs in its memory.
    `merge_passes` counts, as Hadoop's Merger does, a map's passes over the partition that needed most, and a reducer's
    over files on disk, the last one, which feeds the reduce function, included. `failed_fetches` counts map outputs
    that a reducer could not fetch, each time it tried (the counter of an attempt that failed over it stays 0).
    """

    job: str
    attempt: str
    kind: Literal["map", "reduce"]
    start_s: float | None = None
    map_s: float | None = None
    final_spill_s: float | None = None
    shuffle_s: float | None = None
    merge_s: float | None = None
    reduce_s: float | None = None
    commit_s: float | None = None
    spill_s: float | None = None
    fetch_s: float | None = None
    background_merge_s: float | None = None
    spills: int = 0
    merge_passes: int = 0
    failed_fetches: int = 0


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
