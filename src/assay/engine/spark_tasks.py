"""What Spark's tasks count, by the names of its event log (Spark: TaskMetrics, TaskInfo, JsonProtocol), and their rows.

What a task does interleaves: it fetches, computes, spills and writes record by record. Spark counts how long each took
and not when, so that a row's phases are lengths of time in a usual order, which add up to the task's time.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from assay.model.engine import Counted, TaskFigure
from assay.model.quantity import ByteCount, ClockTimeMs, Count, Kind, ProcessorTimeMs, kinds_of
from assay.model.signature import Direction
from assay.model.task import TaskAttempt

FETCH, COMPUTE, WRITE, RESULT = "fetch wait", "computing", "shuffle write", "result"
PHASES = ("start", FETCH, COMPUTE, WRITE, RESULT)

CAUSES: dict[tuple[str, Direction], frozenset[str]] = {
    ("input", "read"): frozenset({COMPUTE}),
    ("output", "write"): frozenset({COMPUTE}),
    # Spills are written and read while a task computes; what is fetched is read by the executors that have it.
    ("intermediate", "read"): frozenset({FETCH, COMPUTE}),
    ("intermediate", "write"): frozenset({COMPUTE, WRITE}),
}

PATH = {name: (name,) for name in (FETCH, COMPUTE, WRITE, RESULT)}
PATH_NOTE = (
    "A Spark task fetches, computes and writes record by record: its parts are how long each took, in a usual order. "
    "“Start” is the wait in its executor and the deserialising of the task, “fetch wait” what it waited for shuffle "
    "blocks, “shuffle write” what it waited for its shuffle files, “computing” the rest of its run, with spills and "
    "garbage collection in it, and “result” the serialising and fetching of its result;"
)

COUNTERS_GROUP = "TaskMetrics"
"""Sums over all task attempts, by the names of their rows' columns."""
_NAMES: tuple[Counted, ...] = (
    "cpu_ms", "shuffled_bytes", "local_read_bytes", "local_written_bytes", "store_read_bytes", "store_written_bytes",
    "input_records", "output_records",
)  # fmt: skip
COUNTERS: dict[Counted, tuple[str, str]] = {name: (COUNTERS_GROUP, name) for name in _NAMES}

FIGURES = (
    TaskFigure("most fetched", "", "shuffled_bytes", "skew"),
    TaskFigure("slowest task", "", "run_ms", "skew"),
)
FIGURES_NOTE = (
    "Most fetched and slowest task are those of one task, each over the median of its stage's, in the stage where that "
    "is most: 1 is an even spread. A dash: no stage of two tasks or more."
)

_ENDS = {"Success": "SUCCEEDED", "Resubmitted": "SUCCEEDED", "TaskKilled": "KILLED", "TaskCommitDenied": "KILLED"}
"""States by Spark's reasons for a task's end; all others have failed."""
_REASON_CHARACTERS = 300
_NS_PER_MS = 1_000_000


class SparkAttempt(TaskAttempt):
    """An attempt of a task, from its application's event log, failed attempts too.

    Times are milliseconds since the epoch, 0 if unknown. Amounts are those of Spark's task metrics; an attempt that was
    killed or lost with its executor may have none. Garbage collection runs within the other times. Bytes that Spark
    counts were asked for; the page cache may have answered. An executor runs many tasks in one container.
    """

    stage_name: str = ""
    """The Spark job that made the stage, and Spark's name of it, such as `job 0: reduceByKey at Sort.java:31`."""
    executor: str = ""
    """The executor's id; `driver` in local mode."""
    partition: str = ""
    """The stage and the number of its partition that the task computes."""
    speculative: bool = False
    """Whether it was started beside a slow attempt of the same task."""
    lost: bool = False
    """Whether it had ended well, and its output was lost with its executor (`Resubmitted`)."""
    run_ms: ClockTimeMs = 0
    """`Executor Run Time`, with waits for blocks and garbage collection."""
    deserialize_ms: ClockTimeMs = 0
    """`Executor Deserialize Time`, before it ran."""
    gc_ms: ProcessorTimeMs = 0
    """`JVM GC Time`: wall time of its executor's garbage collectors while it ran."""
    result_serialize_ms: ClockTimeMs = 0
    """`Result Serialization Time`, after it ran."""
    result_fetch_ms: ClockTimeMs = 0
    """From `Getting Result Time` until its end: the driver fetched a large result."""
    fetch_wait_ms: ClockTimeMs = 0
    """`Fetch Wait Time`: it waited for shuffle blocks of other executors."""
    shuffle_write_ms: ClockTimeMs = 0
    """`Shuffle Write Time`: it waited for its shuffle files to be written."""
    shuffle_read_remote_bytes: ByteCount = 0
    """`Remote Bytes Read` from other executors, or from a shuffle service."""
    shuffle_read_local_bytes: ByteCount = 0
    """`Local Bytes Read` from its own executor's files."""
    shuffle_read_to_disk_bytes: ByteCount = 0
    """`Remote Bytes Read To Disk`: those of the remote bytes that were too large for memory."""
    shuffle_read_remote_blocks: Count = 0
    """`Remote Blocks Fetched`."""
    shuffle_read_local_blocks: Count = 0
    """`Local Blocks Fetched`."""
    shuffle_read_records: Count = 0
    """`Total Records Read` in the shuffle."""
    shuffle_write_bytes: ByteCount = 0
    """`Shuffle Bytes Written`."""
    shuffle_write_records: Count = 0
    """`Shuffle Records Written`."""
    spilled_memory_bytes: ByteCount = 0
    """`Memory Bytes Spilled`: what was spilled, as large as it was in memory."""
    spilled_disk_bytes: ByteCount = 0
    """`Disk Bytes Spilled`: the same as it was written to local directories."""
    input_bytes: ByteCount = 0
    """`Bytes Read` of the input, and of partitions that were persisted."""
    cached_bytes: ByteCount = 0
    """Those of `input_bytes` that are known to come from persisted partitions in the memory of executors."""
    input_records: Count = 0
    """`Records Read` of the same."""
    output_bytes: ByteCount = 0
    """`Bytes Written` of the output."""
    output_records: Count = 0
    """`Records Written` of the output."""
    peak_memory_bytes: Annotated[int, Kind.LEVEL] = 0
    """`Peak Execution Memory`: the most that its shuffles, aggregations and joins had."""

    @property
    def task(self) -> str:
        """The partition of a stage that it computes: a stage that is tried again computes the missing ones."""
        return self.partition or self.attempt

    @property
    def output_lost(self) -> bool:
        """Whether its output was lost with its executor."""
        return self.lost

    @property
    def shuffled_bytes(self) -> int:
        """Bytes of the shuffle that it read, from its own executor and from others."""
        return self.shuffle_read_remote_bytes + self.shuffle_read_local_bytes

    def phase_ends(self) -> Sequence[tuple[str, int]]:
        """How long each phase took, in a usual order; what its metrics leave over is its start.

        An attempt without metrics has one phase, in which it ended.
        """
        if not (self.run_ms or self.deserialize_ms):
            return [(COMPUTE, self.finished_ms)]
        ran_ms = max(self.started_ms, self.finished_ms - self.result_fetch_ms - self.result_serialize_ms)
        begun_ms = max(self.started_ms, ran_ms - self.run_ms)
        fetched_ms = min(begun_ms + self.fetch_wait_ms, ran_ms)
        computed_ms = max(fetched_ms, ran_ms - self.shuffle_write_ms)
        ends = (begun_ms, fetched_ms, computed_ms, ran_ms, self.finished_ms)
        return list(zip(PHASES, ends, strict=True))


def attempt_of(job: str, event: Mapping[str, Any], stage_name: str = "", container: str = "") -> SparkAttempt:
    """The attempt of a `SparkListenerTaskEnd`, or of a `SparkListenerTaskStart`, which has no end.

    Raises LookupError, TypeError, AttributeError or ValueError for an event that is not as Spark writes it.
    """
    info: Mapping[str, Any] = event["Task Info"]
    stage, number = event["Stage ID"], event.get("Stage Attempt ID", 0)
    partition = info.get("Partition ID", -1)
    index = partition if partition >= 0 else info["Index"]
    reason: Mapping[str, Any] = event.get("Task End Reason") or {}
    how = str(reason.get("Reason", ""))
    ended_ms, fetching_ms = int(info.get("Finish Time", 0)), int(info.get("Getting Result Time", 0))
    return SparkAttempt(
        job=job,
        attempt=f"{job}_{stage}.{number}_{index}.{info['Attempt']}",
        partition=f"{job}_{stage}_{index}",
        stage=stage_called(stage),
        stage_name=stage_name,
        executor=str(info["Executor ID"]),
        node=str(info["Host"]),
        container=container,
        state=_ENDS.get(how, "FAILED") if how else "KILLED",
        speculative=bool(info.get("Speculative", False)),
        lost=how == "Resubmitted",
        reason="" if how in {"", "Success"} else _words(how, reason),
        started_ms=int(info["Launch Time"]),
        finished_ms=ended_ms,
        result_fetch_ms=max(0, ended_ms - fetching_ms) if fetching_ms else 0,
        **_metrics(event.get("Task Metrics") or {}),
    )


def spilled_by_photon(info: Mapping[str, Any]) -> int:
    """What a task of Photon spilled, by its `Task Info`: this engine of Databricks' counts it in no task metric."""
    return sum(
        int(update.get("Update") or 0)
        for update in info.get("Accumulables") or ()
        if update.get("Name") == "num bytes spilled to disk"
    )


def stage_called(number: int) -> str:
    """The name of a stage in tables and reports: by its number, which an application gives only once."""
    return f"stage {number}"


def _words(how: str, reason: Mapping[str, Any]) -> str:
    """Spark's reason in a line."""
    texts = (reason.get(name) for name in ("Description", "Kill Reason", "Loss Reason", "Message"))
    said = next((str(text) for text in texts if text), "")
    return f"{how}: {said}".removesuffix(": ").partition("\n")[0][:_REASON_CHARACTERS]


def _metrics(metrics: Mapping[str, Any]) -> dict[str, int]:
    read, write = metrics.get("Shuffle Read Metrics") or {}, metrics.get("Shuffle Write Metrics") or {}
    taken, given = metrics.get("Input Metrics") or {}, metrics.get("Output Metrics") or {}
    cpu_ns = metrics.get("Executor CPU Time", 0) + metrics.get("Executor Deserialize CPU Time", 0)
    return {
        "cpu_ms": cpu_ns // _NS_PER_MS,
        "run_ms": metrics.get("Executor Run Time", 0),
        "deserialize_ms": metrics.get("Executor Deserialize Time", 0),
        "gc_ms": metrics.get("JVM GC Time", 0),
        "result_serialize_ms": metrics.get("Result Serialization Time", 0),
        "peak_memory_bytes": metrics.get("Peak Execution Memory", 0),
        "spilled_memory_bytes": metrics.get("Memory Bytes Spilled", 0),
        "spilled_disk_bytes": metrics.get("Disk Bytes Spilled", 0),
        "fetch_wait_ms": read.get("Fetch Wait Time", 0),
        "shuffle_read_remote_bytes": read.get("Remote Bytes Read", 0),
        "shuffle_read_local_bytes": read.get("Local Bytes Read", 0),
        "shuffle_read_to_disk_bytes": read.get("Remote Bytes Read To Disk", 0),
        "shuffle_read_remote_blocks": read.get("Remote Blocks Fetched", 0),
        "shuffle_read_local_blocks": read.get("Local Blocks Fetched", 0),
        "shuffle_read_records": read.get("Total Records Read", 0),
        "shuffle_write_ms": write.get("Shuffle Write Time", 0) // _NS_PER_MS,
        "shuffle_write_bytes": write.get("Shuffle Bytes Written", 0),
        "shuffle_write_records": write.get("Shuffle Records Written", 0),
        "input_bytes": taken.get("Bytes Read", 0),
        "input_records": taken.get("Records Read", 0),
        "output_bytes": given.get("Bytes Written", 0),
        "output_records": given.get("Records Written", 0),
    }


_ADDED = tuple(
    name for name, kind in kinds_of(SparkAttempt).items() if kind in {Kind.BYTES, Kind.COUNT, Kind.PROCESSOR_TIME}
)


def sums(attempts: Sequence[SparkAttempt], *, persisted: bool) -> dict[str, int]:
    """What all attempts counted that adds up, with the amounts that other engines count, too.

    Spark counts what is read of persisted partitions as input: where there were any, how much of the input was read is
    not known. An application may read its input several times, and Spark does not say what it reads: the records of
    the input are known where one stage reads any, without what was done again. Each byte that was spilled is taken to
    be read once.
    """
    done = [attempt for attempt in attempts if attempt.state == "SUCCEEDED" and not attempt.lost]
    totals = {name: sum(getattr(attempt, name) for attempt in attempts) for name in _ADDED}
    written = totals["shuffle_write_bytes"] + totals["spilled_disk_bytes"] + totals["shuffle_read_to_disk_bytes"]
    totals |= {
        "shuffled_bytes": totals["shuffle_read_remote_bytes"] + totals["shuffle_read_local_bytes"],
        "local_written_bytes": written,
        "local_read_bytes": totals["spilled_disk_bytes"],
        "store_read_bytes": totals["input_bytes"],
        "store_written_bytes": totals["output_bytes"],
        "input_records": sum(attempt.input_records for attempt in done),
        "output_records": sum(attempt.output_records for attempt in done),
    }
    if persisted:
        del totals["store_read_bytes"]
    if persisted or len({attempt.stage for attempt in attempts if attempt.input_records}) != 1:
        del totals["input_records"]
    return totals
