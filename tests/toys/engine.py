"""An engine whose jobs scan: one task on each node of the platform, whose log stays there."""

from assay.model.engine import EngineKind, History, LaunchReport
from assay.model.engine import JobReference as Reference
from assay.model.record import JobRecord, Stage, TaskAttempt
from assay.model.registry import ENGINES
from assay.model.task import TaskHistory, TaskPhases
from tests.toys.store import KeyValueStore


class Scanner:
    """See `assay.model.engine.Engine`. Each job takes as many seconds as jobs have run before it, and one."""

    def __init__(self, context):
        self._nodes = context.cluster.nodes
        self._store = KeyValueStore.opened[context.cluster.conf_dir]

    def run(self, launch, progress):
        for one in self._nodes:
            one.node.start([launch.command], {}, one.container_logs / "scan.log")
        self._store.write(launch.output, [b"1\n"])
        return LaunchReport(jobs=(Reference(name=launch.command, id="scan-1"),), result={"answer": 1})

    def run_program(self, program, progress):
        raise NotImplementedError

    def history(self, job):
        record = JobRecord(
            name=job.name, id=job.id, state="SUCCEEDED", submitted_ms=0, started_ms=0, finished_ms=1000,
            stages=(Stage(name="scan", tasks=len(self._nodes)),), phases={"scan": 1.0}, counters={},
        )  # fmt: skip
        return History(job=record, attempts=tuple(self._attempt(job.id, one.node.name) for one in self._nodes))

    def phases(self, attempts):
        """A task has read for as many seconds as its log on its node has characters."""
        logs = {one.node.name: one.node.read(one.container_logs / "scan.log") for one in self._nodes}
        return TaskHistory(
            phases=tuple(
                TaskPhases(job=one.job, attempt=one.attempt, stage="scan", map_s=len(logs[one.node]))
                for one in attempts
            )
        )

    @staticmethod
    def _attempt(job, node):
        return TaskAttempt(
            job=job, attempt=f"{job}-{node}", stage="scan", node=node, state="SUCCEEDED", started_ms=0,
            shuffle_finished_ms=0, merge_finished_ms=0, finished_ms=1000, hdfs_read_bytes=4, hdfs_written_bytes=0,
            local_read_bytes=0, local_written_bytes=0, shuffled_bytes=0, spilled_records=0,
        )  # fmt: skip


ENGINES.add("scanner", EngineKind(open=Scanner, stages=("scan",), phases=("scan",)))
