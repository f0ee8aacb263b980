"""A Hadoop of scripts: its daemons and clients, without Java."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from assay.model.doubt import Doubt
from assay.model.engine import EngineKind, History, JobReference, Launch, LaunchReport, Program
from assay.model.errors import AssayError
from assay.model.installed import counted_by_tasks, engine_kind
from assay.model.limits import LimitUse
from assay.model.progress import Progress
from assay.model.record import Counters, JobRecord, Stage
from assay.model.store import Placer, Store, StoredFile
from assay.model.task import TaskAttempt, TaskHistory
from assay.model.trial import Landed, Trial


@dataclass
class Script:
    """What happens: the log of all calls, where to fail, what the jobs answer and how long they take.

    `landing` and `found_bytes` say where bytes land and how many of 100 MiB are found; `device` makes media emulated.
    Of `lost_jobs` (by name) there is no history; `gaps` is what that of the others lacks.
    """

    log: list[str] = field(default_factory=list)
    fail_at: str | None = None
    fail_with: BaseException = field(default_factory=lambda: AssayError("scripted failure"))
    answer: int = 1
    landing: Mapping[str, float] | None = None
    found_bytes: int = 100 << 20
    device: bool = False
    limit_use: LimitUse | None = None
    lost_jobs: Sequence[str] = ()
    gaps: tuple[Doubt, ...] = ()
    program: Callable[[Program], tuple[Mapping[str, bytes], Mapping[str, str]]] = lambda _program: ({}, {})
    counters: Counters = field(default_factory=lambda: {"fake": {"RECORDS": 3}})
    elapsed_ms: Callable[[Trial], int] = lambda _trial: 1000

    def note(self, what: str) -> None:
        """Write down a call; fail if the script says so."""
        self.log.append(what)
        if what == self.fail_at:
            raise self.fail_with


MIB = 1 << 20
PIECE_BYTES = 7


class FakeStore(Store):
    """A store in memory: `files` holds lines by path, `contents` the bytes of files that have none."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self.files: dict[str, list[bytes]] = {}
        self.contents: dict[str, bytes] = {}

    def list_files(self, path: str) -> list[StoredFile]:
        """The contents below the path."""
        return sorted(StoredFile(name, len(body)) for name, body in self.contents.items() if name.startswith(path))

    def pieces(self, path: str, offset: int = 0, size: int | None = None) -> Iterator[bytes]:
        """A part of a content, a few bytes at a time."""
        body = self.contents[path][offset : None if size is None else offset + size]
        yield from (body[at : at + PIECE_BYTES] for at in range(0, len(body), PIECE_BYTES))

    def location(self, path: str) -> str:
        """The path itself."""
        return path

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


class FakePlacer(Placer):
    """Lands 100 MiB of each role where it should, or where and as many as the script says."""

    def __init__(self, script: Script, trial: Trial) -> None:
        self._script = script
        self._trial = trial

    def prepare(self, base: str, input_path: str) -> None:
        """Only told."""
        self._script.note("prepare placement")

    def landed(self, role: str, when: Literal["staged", "run"], path: str) -> Landed:
        """As wanted or as scripted."""
        shares = self._script.landing or self._trial.placement.of(role)
        return Landed(role=role, when=when, bytes=self._script.found_bytes, shares=shares, of_bytes=100 * MIB)


class FakeEngine:
    """Runs nothing; every launch is one job that took as long as the script says."""

    def __init__(self, script: Script, trial: Trial, store: FakeStore) -> None:
        self._script = script
        self._trial = trial
        self._store = store
        self.launches: list[Launch] = []

    def run(self, launch: Launch, progress: Progress) -> LaunchReport:
        """Write the script's answer as the output."""
        self.launches.append(launch)
        self._script.note(f"run {launch.command}")
        self._store.files[launch.output] = [str(self._script.answer).encode()]
        return LaunchReport(
            jobs=(JobReference(name=launch.command, id="job_1_0001"),), result={"answer": self._script.answer}
        )

    def run_program(self, program: Program, progress: Progress) -> LaunchReport:
        """Whatever the script lets it leave: contents in the store, and texts."""
        self._script.note(f"run {program.name}")
        contents, texts = self._script.program(program)
        self._store.contents |= contents
        return LaunchReport(
            jobs=tuple(JobReference(name=name, id=f"job_2_{at:04d}") for at, name in enumerate(program.jobs, 1)),
            result={}, texts=texts,
        )  # fmt: skip

    def history(self, job: JobReference) -> History:
        """One map and one reduce, each half of the job, unless the script has lost it."""
        self._script.note("history")
        if job.name in self._script.lost_jobs:
            raise AssayError(f"the history of {job.id} is lost")
        end = self._script.elapsed_ms(self._trial)
        phases = {"map": end / 2000, "shuffle": end / 4000, "merge": 0.0, "reduce": end / 4000}
        record = JobRecord(
            name=job.name, id=job.id, state="SUCCEEDED", submitted_ms=0, started_ms=0, finished_ms=end,
            stages=(Stage(name="map", tasks=1), Stage(name="reduce", tasks=1)), phases=phases,
            counters=self._script.counters,
        )  # fmt: skip
        counted = counted_by_tasks(self._trial.engine, record.counters)
        attempts = (self._attempt(job.id, end),)
        return History(job=record, attempts=attempts, counted=counted, doubts=self._script.gaps)

    def phases(self, attempts: Sequence[TaskAttempt]) -> TaskHistory:
        """All of an attempt's time is its start."""
        self._script.note("task logs")
        return TaskHistory(
            phases=tuple(
                self._kind.log(
                    job=attempt.job, attempt=attempt.attempt, stage=attempt.stage, start_s=attempt.finished_ms / 1000
                )
                for attempt in attempts
            )
        )

    def _attempt(self, job: str, end: int) -> TaskAttempt:
        return self._kind.attempt(
            job=job, attempt="attempt_1_0001_m_000000_0", stage="map", node="localhost", state="SUCCEEDED",
            started_ms=0, finished_ms=end,
        )  # fmt: skip

    @property
    def _kind(self) -> EngineKind:
        return engine_kind(self._trial.engine)
