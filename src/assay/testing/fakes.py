"""A fake for every protocol: a whole plan runs in memory, and every step is written down in one log.

A fake does what its contract promises and no more. `Script.fail_at` makes one of them fail, so that tests can see
what the runner does about it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from assay.model.cluster import Layout, Node, RunningCluster
from assay.model.dataset import Dataset, DatasetSpec
from assay.model.doubt import Doubt, Outcome, Verdict
from assay.model.engine import Engine, History, JobReference, Launch, LaunchReport
from assay.model.errors import AssayError
from assay.model.graph import Graph, GraphFacts, StagedFile
from assay.model.medium import Space
from assay.model.progress import Progress, Silent
from assay.model.record import JobRecord, Phases, Sample, TaskAttempt
from assay.model.store import Store
from assay.model.trial import Estimate, MediumSpec, Trial, WorkloadSpec

TRIANGLE = Graph(edges=np.array([[0, 1], [0, 2], [1, 2]], dtype=np.int64), lone=np.array([7], dtype=np.int64))
TRIANGLE_FACTS = GraphFacts(nodes=4, edges=3, wedges=3, wedges_by_id=1, degree_squares=12, triangles=1)


@dataclass
class Script:
    """What happens: the log of all calls, where to fail, what the jobs answer and how long they take."""

    log: list[str] = field(default_factory=list)
    fail_at: str | None = None
    fail_with: BaseException = field(default_factory=lambda: AssayError("scripted failure"))
    answer: int = 1
    elapsed_ms: Callable[[Trial], int] = lambda _trial: 1000

    def note(self, what: str) -> None:
        """Write down a call; fail if the script says so."""
        self.log.append(what)
        if what == self.fail_at:
            raise self.fail_with


class FakeMedium:
    """A medium that holds whatever is claimed."""

    def __init__(self, script: Script, spec: MediumSpec, free_bytes: int = 1 << 40) -> None:
        self.spec = spec
        self._script = script
        self._free_bytes = free_bytes

    def facts(self) -> Mapping[str, str]:
        """Says that it is a fake."""
        return {"kind": "fake"}

    def space(self) -> Space:
        """As much as it was told."""
        return Space(free_bytes=self._free_bytes, total_bytes=1 << 40)

    @contextmanager
    def attached(self) -> Iterator[Path]:
        """A path at which nothing is."""
        self._script.note("attach medium")
        try:
            yield Path("/nowhere") / self.spec.name
        finally:
            self._script.note("detach medium")

    def make_cold(self) -> tuple[Doubt, ...]:
        """Only told."""
        self._script.note("make cold")
        return ()


class FakeCluster:
    """A cluster without daemons."""

    def __init__(self, script: Script) -> None:
        self._script = script

    @contextmanager
    def running(self, layout: Layout, properties: Mapping[str, str], progress: Progress) -> Iterator[RunningCluster]:
        """Healthy at once."""
        self._script.note("start cluster")
        try:
            yield RunningCluster(
                hadoop=Path("/nowhere/hadoop"),
                conf_dir=layout.neutral,
                namenode_url="http://127.0.0.1:1",
                history_url="http://127.0.0.1:2",
                hadoop_version="fake",
                nodes=(Node(name="localhost"),),
                settings=dict(properties),
            )
        finally:
            self._script.note("stop cluster")

    def failure(self) -> str | None:
        """Nothing ever dies."""
        return None


class FakeStore:
    """A store in memory."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self.files: dict[str, list[bytes]] = {}

    def put(self, source: Path, path: str) -> None:
        """Keep the path; the source is not read."""
        self._script.note("put")
        self.files[path] = []

    def lines(self, path: str) -> Iterator[bytes]:
        """What was put below the path."""
        for name, lines in self.files.items():
            if name.startswith(path):
                yield from lines

    def size_bytes(self, path: str) -> int:
        """Bytes of the lines with their ends."""
        return sum(len(line) + 1 for line in self.lines(path))

    def delete(self, path: str) -> None:
        """All below the path."""
        self._script.note("delete")
        self.files = {name: lines for name, lines in self.files.items() if not name.startswith(path)}


class FakeEngine:
    """Runs nothing; every launch is one job that took as long as the script says."""

    def __init__(self, script: Script, trial: Trial, store: FakeStore) -> None:
        self._script = script
        self._trial = trial
        self._store = store

    def run(self, launch: Launch, progress: Progress) -> LaunchReport:
        """Write the script's answer as the output."""
        self._script.note(f"run {launch.command}")
        self._store.files[launch.output] = [str(self._script.answer).encode()]
        return LaunchReport(
            jobs=(JobReference(name=launch.command, id="job_1_0001"),), result={"answer": self._script.answer}
        )

    def history(self, job: JobReference) -> History:
        """One map and one reduce, each half of the job."""
        self._script.note("history")
        end = self._script.elapsed_ms(self._trial)
        phases = Phases(map_s=end / 2000, shuffle_s=end / 4000, merge_s=0, reduce_s=end / 4000)
        record = JobRecord(
            name=job.name, id=job.id, state="SUCCEEDED", submitted_ms=0, started_ms=0, finished_ms=end,
            maps=1, reduces=1, phases=phases, counters={"fake": {"RECORDS": 3}},
        )  # fmt: skip
        return History(job=record, attempts=(self._attempt(job.id, end),))

    @staticmethod
    def _attempt(job: str, end: int) -> TaskAttempt:
        return TaskAttempt(
            job=job, attempt="attempt_1_0001_m_000000_0", kind="map", node="localhost", state="SUCCEEDED",
            started_ms=0, shuffle_finished_ms=0, merge_finished_ms=0, finished_ms=end, hdfs_read_bytes=12,
            hdfs_written_bytes=0, local_read_bytes=0, local_written_bytes=0, shuffled_bytes=0, spilled_records=0,
        )  # fmt: skip


class FakeDataset:
    """One triangle and a lone vertex."""

    def __init__(self, script: Script, spec: DatasetSpec) -> None:
        self.spec = spec
        self._script = script

    def prepare(self, progress: Progress) -> StagedFile:
        """A file that is not there."""
        self._script.note("prepare dataset")
        return StagedFile(path=Path("/nowhere/edges.tsv"), name="edges.tsv", bytes=14, canonical=True)

    def facts(self) -> GraphFacts:
        """Counted by hand."""
        return TRIANGLE_FACTS

    def graph(self) -> Graph:
        """The triangle."""
        return TRIANGLE


class FakeWorkload:
    """Stages, runs one command and expects the answer 1."""

    base = "/fake"
    output = "/fake/output"

    def __init__(self, script: Script, spec: WorkloadSpec) -> None:
        self.spec = spec
        self._script = script

    def estimate(self, facts: GraphFacts, staged_bytes: int) -> Estimate:
        """A little of each."""
        return Estimate(disk_bytes=staged_bytes, memory_bytes=1, seconds=1)

    def stage(self, dataset: Dataset, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """Put the dataset's file."""
        self._script.note("stage")
        store.put(dataset.prepare(Silent()).path, "/fake/input/edges.tsv")
        return LaunchReport(jobs=(), result={})

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        """One launch."""
        return engine.run(Launch(command="answer", input="/fake/input", output=self.output), progress)

    def verify(self, graph: Graph, store: Store, report: LaunchReport) -> tuple[Verdict, ...]:
        """The output says 1."""
        self._script.note("verify")
        found = list(store.lines(self.output))
        outcome = Outcome.PASS if found == [b"1"] else Outcome.FAIL
        return (Verdict(check="the answer is 1", outcome=outcome, detail=repr(found)),)


class FakeReading:
    """One sample and no doubt."""

    def samples(self) -> tuple[Sample, ...]:
        """At time 0."""
        return (Sample(probe="fake", series="beat_count", time_ms=0, value=1.0),)

    def doubts(self) -> tuple[Doubt, ...]:
        """None."""
        return ()


class FakeProbe:
    """Beats once."""

    name = "fake"

    def __init__(self, script: Script) -> None:
        self._script = script

    @contextmanager
    def attached(self) -> Iterator[FakeReading]:
        """Told at both ends."""
        self._script.note("attach probe")
        try:
            yield FakeReading()
        finally:
            self._script.note("detach probe")


class FakeParts:
    """The parts of one trial, all fake."""

    def __init__(self, script: Script, trial: Trial, free_bytes: int = 1 << 40) -> None:
        self._script = script
        self._trial = trial
        self._store = FakeStore(script)
        self._free_bytes = free_bytes

    def facts(self) -> Mapping[str, str]:
        """Says that they are fakes."""
        return {"assay": "fake", "memory_bytes": str(8 << 30)}

    def medium(self) -> FakeMedium:
        """A fake medium."""
        return FakeMedium(self._script, self._trial.medium, self._free_bytes)

    @contextmanager
    def neutral(self) -> Iterator[Path]:
        """A path at which nothing is."""
        yield Path("/nowhere/neutral")

    def cluster(self) -> FakeCluster:
        """A fake cluster."""
        return FakeCluster(self._script)

    def store(self, running: RunningCluster) -> FakeStore:
        """The trial's one fake store."""
        return self._store

    def engine(self, running: RunningCluster, scratch: Path, failure: Callable[[], str | None]) -> FakeEngine:
        """A fake engine."""
        return FakeEngine(self._script, self._trial, self._store)

    def dataset(self) -> FakeDataset:
        """A fake dataset."""
        return FakeDataset(self._script, self._trial.dataset)

    def workload(self) -> FakeWorkload:
        """A fake workload."""
        return FakeWorkload(self._script, self._trial.workload)

    def probes(self) -> tuple[FakeProbe, ...]:
        """One fake probe."""
        return (FakeProbe(self._script),)
