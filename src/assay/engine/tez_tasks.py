"""What Tez' tasks of a MapReduce job are called and count: its two vertices as stages, their phases, counters."""

from collections.abc import Sequence

from assay.engine.tasks import STAGES as MAPREDUCE_STAGES
from assay.engine.tasks import HadoopAttempt, counted_anywhere
from assay.model.engine import Counted, TaskFigure
from assay.model.quantity import ByteCount, ClockTimeMs
from assay.model.task import TaskPhases, TaskStep

MAP, REDUCE = "initialmap", "finalreduce"
"""The vertices of a MapReduce job (Tez: MultiStageMRConfigUtil)."""

VERTICES = {"map": MAP, "reduce": REDUCE}
"""By MapReduce's names of its stages."""

STAGES = tuple(stage._replace(name=VERTICES[stage.name]) for stage in MAPREDUCE_STAGES)

FILE_SYSTEM_COUNTERS = "org.apache.tez.common.counters.FileSystemCounter"
TASK_COUNTERS = "org.apache.tez.common.counters.TaskCounter"

COUNTERS: dict[Counted, tuple[str, str]] = {
    **counted_anywhere(TASK_COUNTERS, FILE_SYSTEM_COUNTERS),
    "shuffled_bytes": (TASK_COUNTERS, "SHUFFLE_BYTES"),
    # Of one vertex: a vertex' own counters are in a group that is called like it.
    "input_records": (MAP, "INPUT_RECORDS_PROCESSED"),
    "emitted_records": (MAP, "OUTPUT_RECORDS"),
    "output_records": (REDUCE, "OUTPUT_RECORDS"),
}

FIGURES = (
    TaskFigure("most fetched", REDUCE, "shuffled_bytes", "skew"),
    TaskFigure("slowest reduce", REDUCE, "reduce_s", "skew"),
)
FIGURES_NOTE = (
    "Most fetched and slowest reduce are those of one reducer, each over the median of all: 1 is an even spread. A "
    "dash: none, or a job with fewer than two reducers."
)


class TezAttempt(HadoopAttempt):
    """An attempt of a task, from the job's history file, failed attempts too.

    Times are milliseconds since the epoch, 0 if unknown. Counters are of Tez' groups `FileSystemCounter` and
    `TaskCounter`; a counter that an attempt lacks is 0. Attempts may share a container, one after the other.
    """

    shuffle_ms: ClockTimeMs = 0
    """From its start until all was fetched (`SHUFFLE_PHASE_TIME`); 0 for maps."""
    merged_ms: ClockTimeMs = 0
    """From its start until all that was fetched was merged (`MERGE_PHASE_TIME`); 0 for maps."""
    shuffled_bytes: ByteCount = 0
    """`SHUFFLE_BYTES`."""
    output_bytes: ByteCount = 0
    """`OUTPUT_BYTES`: of keys and values, before they are compressed."""
    output_materialized_bytes: ByteCount = 0
    """`OUTPUT_BYTES_PHYSICAL`: as they are on the local drive."""

    @property
    def reduce_s(self) -> float | None:
        """Seconds of its reduce phase; None where the end of its merge is not known."""
        return (self.finished_ms - self.started_ms - self.merged_ms) / 1000 if self.merged_ms else None

    def phase_ends(self) -> Sequence[tuple[str, int]]:
        """List the ends of its phases; a map has one phase."""
        if self.stage != REDUCE:
            return [("map", self.finished_ms)]
        fetched_ms = min(self.started_ms + self.shuffle_ms, self.finished_ms) if self.shuffle_ms else 0
        merged_ms = min(self.started_ms + max(self.merged_ms, self.shuffle_ms), self.finished_ms)
        return [("shuffle", fetched_ms), ("merge", merged_ms if self.merged_ms else 0), ("reduce", self.finished_ms)]

    def steps(self, phases: TaskPhases | None) -> list[TaskStep]:
        """A shuffle waits for the maps."""
        steps = super().steps(phases)
        return [step._replace(waits_for=MAP) if step.kind == "shuffle" else step for step in steps]
