"""An engine whose jobs scan on each node of the platform, merge on the first and write on the last."""

from assay.model.engine import EngineKind, History, LaunchReport, StageKind, TaskFigure
from assay.model.engine import JobReference as Reference
from assay.model.record import JobRecord, Stage
from assay.model.registry import ENGINES
from assay.model.task import TaskAttempt, TaskHistory, TaskPhases

STAGES = (StageKind("scan", ("scan",)), StageKind("merge", ("gather", "fold")), StageKind("write", ("write",)))


class ScannerAttempt(TaskAttempt):
    """A merge first gathers what the scans have left, and then folds it."""

    gathered_ms: int = 0
    """End of the gathering; 0 but for merges."""
    scanned_bytes: int = 0
    """Bytes read from the store."""

    def phase_ends(self):
        if self.stage == "merge":
            return [("gather", self.gathered_ms), ("fold", self.finished_ms)]
        return super().phase_ends()


class Scanner:
    """See `assay.model.engine.Engine`. A job takes a second."""

    def __init__(self, context):
        self._nodes = context.cluster.nodes
        self._store = context.store

    def run(self, launch, progress):
        for one in self._nodes:
            one.node.start([launch.command], {}, one.container_logs / "scan.log")
        self._store.write(launch.output, [b"1\n"])
        return LaunchReport(jobs=(Reference(name=launch.command, id="scan-1"),), result={"answer": 1})

    def run_program(self, program, progress):
        raise NotImplementedError

    def history(self, job):
        first, last = self._nodes[0].node.name, self._nodes[-1].node.name
        attempts = (
            *(self._attempt(job.id, "scan", one.node.name, 1000, 1500, scanned_bytes=4) for one in self._nodes),
            self._attempt(job.id, "merge", first, 1500, 1800, gathered_ms=1600),
            self._attempt(job.id, "write", last, 1800, 2000),
        )
        record = JobRecord(
            name=job.name, id=job.id, state="SUCCEEDED", submitted_ms=1000, started_ms=1000, finished_ms=2000,
            stages=(Stage(name="scan", tasks=len(self._nodes)), Stage(name="merge", tasks=1), Stage(name="write", tasks=1)),
            phases={"scan": 0.5, "gather": 0.1, "fold": 0.2, "write": 0.2}, counters={},
        )  # fmt: skip
        return History(job=record, attempts=attempts)

    def phases(self, attempts):
        """A scan's process starts for as many milliseconds as its log on its node has characters."""
        logs = {one.node.name: one.node.read(one.container_logs / "scan.log") for one in self._nodes}
        return TaskHistory(
            phases=tuple(
                TaskPhases(job=one.job, attempt=one.attempt, stage="scan", start_s=len(logs[one.node]) / 1000)
                for one in attempts
                if one.stage == "scan"
            )
        )

    @staticmethod
    def _attempt(job, stage, node, started_ms, finished_ms, **counted):
        return ScannerAttempt(
            job=job, attempt=f"{job}-{stage}-{node}", stage=stage, node=node, state="SUCCEEDED", started_ms=started_ms,
            finished_ms=finished_ms, **counted,
        )  # fmt: skip


FIGURES = (TaskFigure("most scanned", "scan", "scanned_bytes", "skew"),)
KIND = EngineKind(
    open=Scanner, runs=frozenset({"scans"}), stages=STAGES, attempt=ScannerAttempt, figures=FIGURES,
)  # fmt: skip
ENGINES.add("scanner", KIND)
