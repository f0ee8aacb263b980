"""MapReduce's own words for tasks: its stages, their phases, what its tasks count, and what a report tells of them."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from assay.model.engine import Counted, StageKind, TaskFigure
from assay.model.quantity import ByteCount, Count, Kind, KnownClockTimeS, KnownCount, MomentMs, ProcessorTimeMs
from assay.model.signature import Direction
from assay.model.task import TaskAttempt, TaskPhases, TaskStep

FILE_SYSTEM_COUNTERS = "org.apache.hadoop.mapreduce.FileSystemCounter"
TASK_COUNTERS = "org.apache.hadoop.mapreduce.TaskCounter"

STAGES = (
    StageKind("map", ("map",)),
    StageKind("reduce", ("shuffle", "merge", "reduce"), absent_with={"mapreduce.job.reduces": "0"}),
)

CAUSES: dict[tuple[str, Direction], frozenset[str]] = {
    ("input", "read"): frozenset({"map"}),
    ("output", "read"): frozenset({"map"}),
    ("output", "write"): frozenset({"reduce"}),
    ("intermediate", "write"): frozenset({"map", "shuffle", "merge"}),
}


def counted_anywhere(tasks: str, files: str) -> dict[Counted, tuple[str, str]]:
    """The counters that Hadoop's file systems and both of its engines call alike, in the groups of an engine."""
    return {
        "cpu_ms": (tasks, "CPU_MILLISECONDS"),
        "local_read_bytes": (files, "FILE_BYTES_READ"),
        "local_written_bytes": (files, "FILE_BYTES_WRITTEN"),
        "store_read_bytes": (files, "HDFS_BYTES_READ"),
        "store_written_bytes": (files, "HDFS_BYTES_WRITTEN"),
    }


COUNTERS: dict[Counted, tuple[str, str]] = {
    **counted_anywhere(TASK_COUNTERS, FILE_SYSTEM_COUNTERS),
    "shuffled_bytes": (TASK_COUNTERS, "REDUCE_SHUFFLE_BYTES"),
    "input_records": (TASK_COUNTERS, "MAP_INPUT_RECORDS"),
    "emitted_records": (TASK_COUNTERS, "MAP_OUTPUT_RECORDS"),
    "output_records": (TASK_COUNTERS, "REDUCE_OUTPUT_RECORDS"),
}
CONFIGURATION_BYTES = 300_000
"""What a task writes besides intermediates and counts all the same: job.xml, as measured with Hadoop 3.4."""

FIGURES = (
    TaskFigure("spills", "map", "spills", "sum"),
    TaskFigure("passes, map", "map", "merge_passes", "most"),
    TaskFigure("passes, reduce", "reduce", "merge_passes", "most"),
    TaskFigure("most fetched", "reduce", "shuffled_bytes", "skew"),
    TaskFigure("slowest reduce", "reduce", "reduce_s", "skew"),
    TaskFigure("commits put off", "reduce", "commits_put_off", "sum"),
)
FIGURES_NOTE = (
    "Spills: total over all maps; passes the most merge passes that any one attempt made, from the tasks' logs. Most "
    "fetched and slowest reduce are those of one reducer, each over the median of all: 1 is an even spread. Commits "
    "put off: how often a reducer asked for its commit before its application master was ready, and then slept for a "
    "second. A dash: none, a job with fewer than two reducers, or no log."
)
PATH_NOTE = (
    "“Spill and merge” is a map's last spill and the merging of its spills; “merge” the reducers', after the shuffle;"
)
PATH = {
    "map": ("map",),
    "spill and merge": ("final spill", "map merge"),
    "shuffle": ("shuffle",),
    "merge": ("merge",),
    "reduce": ("reduce",),
}

# A map that had ended well, and whose output could not be had later.
_OUTPUT_LOST = ("Too many fetch failures", "TaskAttempt killed because it ran on unusable node")


class MapReducePhases(TaskPhases):
    """The finer phases of a task attempt, from the time stamps of its own log (resolution: 1 ms).

    One after the other, from the container's launch (as history has it):
    map: `start_s`, `map_s`, `final_spill_s`, `merge_s`, `commit_s`;
    reduce: `start_s`, `shuffle_s`, `merge_s`, `reduce_s`, `commit_s`.
    The others run beside these. A phase is null if the log does not show it; an attempt that did not come to its end
    has only `start_s` and counts.
    """

    map_s: KnownClockTimeS = None
    """Reading, mapping and collecting, record by record, with waits for spills (and the writing, in a job without
    reducers)."""
    final_spill_s: KnownClockTimeS = None
    """Waiting for a running spill, and the last sort and spill."""
    shuffle_s: KnownClockTimeS = None
    """Fetching map outputs."""
    merge_s: KnownClockTimeS = None
    """A map's merge of its spills; the merging that a reduce has left when all is fetched."""
    reduce_s: KnownClockTimeS = None
    """Reading the last merge pass, reducing and writing."""
    commit_s: KnownClockTimeS = None
    """Committing the output."""
    spill_s: KnownClockTimeS = None
    """How long a spill ran during the map phase."""
    fetch_s: KnownClockTimeS = None
    """How long at least one fetcher had a host to fetch from; the rest of `shuffle_s` is waiting for maps or for
    memory."""
    background_merge_s: KnownClockTimeS = None
    """How long a reduce merged while it shuffled or after."""
    spills: Count = 0
    """Sorted runs written: by a map from its buffer, by a reduce from the map outputs in its memory."""
    merge_passes: Count = 0
    """As Hadoop's Merger counts: a map's passes over the partition that needed most, a reduce's over files on disk,
    the last one included."""
    failed_fetches: Count = 0
    """Map outputs that a reduce could not fetch, each time that it tried (the counter of an attempt that failed for
    it stays 0)."""
    commits_put_off: KnownCount = None
    """How often the application master put off its commit, after which Hadoop's task sleeps for one second; null
    without the master's log."""


def task_of(attempt: str) -> str:
    """Return the id of an attempt's task: `attempt_1_0001_m_000000_0` is of `task_1_0001_m_000000`."""
    return attempt.replace("attempt", "task", 1).rpartition("_")[0]


class HadoopAttempt(TaskAttempt):
    """An attempt of a task of Hadoop's engines, with what its counters call alike in both."""

    hdfs_read_bytes: ByteCount = 0
    """`HDFS_BYTES_READ`."""
    hdfs_written_bytes: ByteCount = 0
    """`HDFS_BYTES_WRITTEN`."""
    local_read_bytes: ByteCount = 0
    """`FILE_BYTES_READ`: intermediate data."""
    local_written_bytes: ByteCount = 0
    """`FILE_BYTES_WRITTEN`: intermediate data."""
    spilled_records: Count = 0
    """`SPILLED_RECORDS`."""
    gc_ms: ProcessorTimeMs = 0
    """`GC_TIME_MILLIS`: wall time of the garbage collectors."""
    physical_memory_bytes: Annotated[int, Kind.LEVEL] = 0
    """`PHYSICAL_MEMORY_BYTES`: resident memory at the end."""

    @property
    def task(self) -> str:
        """By the ids of Hadoop."""
        return task_of(self.attempt)


def counted_alike(files: Mapping[str, int], tasks: Mapping[str, int]) -> dict[str, Any]:
    """What both engines call alike of an attempt, by its fields, from the counters of file systems and of tasks."""
    return {
        "cpu_ms": tasks.get("CPU_MILLISECONDS", 0),
        "gc_ms": tasks.get("GC_TIME_MILLIS", 0),
        "physical_memory_bytes": tasks.get("PHYSICAL_MEMORY_BYTES", 0),
        "spilled_records": tasks.get("SPILLED_RECORDS", 0),
        "hdfs_read_bytes": files.get("HDFS_BYTES_READ", 0),
        "hdfs_written_bytes": files.get("HDFS_BYTES_WRITTEN", 0),
        "local_read_bytes": files.get("FILE_BYTES_READ", 0),
        "local_written_bytes": files.get("FILE_BYTES_WRITTEN", 0),
    }


class MapReduceAttempt(HadoopAttempt):
    """An attempt of a task, from `.../tasks/ID/attempts` and its counters, failed attempts too.

    Times are milliseconds since the epoch, 0 if a phase does not apply. Counters are of the groups `FileSystemCounter`
    and `TaskCounter`; a counter that an attempt lacks is 0, and a killed attempt has only those of its processor use.
    They count what the task asked for; the page cache may have answered.
    """

    state: str
    """Hadoop's state of the attempt, such as `SUCCEEDED`."""
    started_ms: MomentMs
    """Launch of its container (`startTime`)."""
    shuffle_finished_ms: MomentMs = 0
    """End of the shuffle; 0 for maps."""
    merge_finished_ms: MomentMs = 0
    """End of the last merge; 0 for maps."""
    shuffled_bytes: ByteCount = 0
    """`REDUCE_SHUFFLE_BYTES`; 0 for maps."""
    input_records: Count = 0
    """`MAP_INPUT_RECORDS` or `REDUCE_INPUT_RECORDS`."""
    output_records: Count = 0
    """`MAP_OUTPUT_RECORDS` or `REDUCE_OUTPUT_RECORDS`."""
    map_output_bytes: ByteCount = 0
    """`MAP_OUTPUT_BYTES`: the serialised records."""
    map_output_materialized_bytes: ByteCount = 0
    """`MAP_OUTPUT_MATERIALIZED_BYTES`: their files, after combining and compression; 0 for reduces."""
    fetched_map_outputs: Count = 0
    """`SHUFFLED_MAPS`."""
    failed_fetches: Count = 0
    """`FAILED_SHUFFLE`."""
    merged_map_outputs: Count = 0
    """`MERGED_MAP_OUTPUTS`."""
    finished_ms: MomentMs
    """End (`finishTime`)."""
    cpu_ms: ProcessorTimeMs = 0
    """`CPU_MILLISECONDS`: user and system time of its processes after the task's start-up (Hadoop subtracts what
    was used before the task was initialised)."""
    container: str = ""
    """The container's id (`assignedContainerId`)."""
    reason: str = ""
    """Why it failed or was killed, in Hadoop's words (`diagnostics`)."""

    @property
    def output_lost(self) -> bool:
        """Whether its output was lost, as Hadoop's reason for its end says."""
        return self.reason.startswith(_OUTPUT_LOST)

    @property
    def reduce_s(self) -> float | None:
        """Seconds of its reduce phase; None where the end of its merge is not known."""
        return (self.finished_ms - self.merge_finished_ms) / 1000 if self.merge_finished_ms else None

    def phase_ends(self) -> Sequence[tuple[str, int]]:
        """List the ends of its phases; a map has one phase."""
        if self.stage == "map":
            return super().phase_ends()
        return [
            ("shuffle", self.shuffle_finished_ms),
            ("merge", self.merge_finished_ms),
            ("reduce", self.finished_ms),
        ]

    def steps(self, phases: TaskPhases | None) -> list[TaskStep]:
        """A shuffle waits for the maps; a log tells the spills of a map, and when a task commits."""
        steps = super().steps(phases)
        log = phases if isinstance(phases, MapReducePhases) else None
        commit = TaskStep("task commit", self.finished_ms)
        if self.stage == "map" and log and log.map_s is not None:
            start = steps[0]
            mapped = start.ended_ms + round(log.map_s * 1000)
            spilt = mapped + round((log.final_spill_s or 0) * 1000)
            merged = min(spilt + round((log.merge_s or 0) * 1000), self.finished_ms)
            ends = [TaskStep("map", mapped), TaskStep("final spill", spilt), TaskStep("map merge", merged)]
            return [start, *ends, commit]
        if self.stage == "reduce" and len(steps) > 1:
            start, shuffle, merge, reduce = steps
            steps = [start, shuffle._replace(waits_for="map"), merge, reduce]
            if log and log.reduce_s is not None:
                worked = min(merge.ended_ms + round(log.reduce_s * 1000), self.finished_ms)
                steps[-1:] = [TaskStep("reduce", worked), commit]
        return steps
