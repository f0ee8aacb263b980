"""Engines: what executes the jobs."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from assay.model.base import Frozen
from assay.model.doubt import Doubt, doubt_kind
from assay.model.platform import DaemonKind, RunningCluster
from assay.model.progress import Progress
from assay.model.record import JobRecord, Phases, TaskAttempt
from assay.model.registry import ENGINES
from assay.model.task import TaskHistory

HISTORY_INCOMPLETE = doubt_kind(
    "history-incomplete",
    "job",
    when="the job history lacks a job or tasks of it",
    why="figures by task, skew and the critical path are those of the other tasks only",
    cure="look for the JobHistoryServer's warnings about this job; its history file may be cut short",
    instrument="job-history",
    severity=50,
)


class Launch(Frozen):
    """One command of the jobs jar: `name input output options`."""

    command: str
    input: str
    output: str
    options: tuple[str, ...] = ()
    properties: Mapping[str, str] = {}


class Program(Frozen):
    """A program of a jar that is not Assay's own (Hadoop's examples and tests, a user's jar).

    `jar` is an absolute path, or the pattern of a file's name among Hadoop's further jars. Without a `main_class` the
    jar's manifest or the first argument says what to run. `{scratch}` in an argument stands for a fresh local
    directory, whose files come back as texts. `jobs` names the program's jobs in their order; those beyond are called
    after the program. `folder` is where it runs. `last_lines` says how many lines of its own tell why it failed.
    """

    name: str
    jar: str
    main_class: str | None = None
    arguments: tuple[str, ...] = ()
    properties: Mapping[str, str] = {}
    jobs: tuple[str, ...] = ()
    folder: Path | None = None
    last_lines: int = 1


class JobReference(Frozen):
    """A job that a launch submitted: the step's name in its workload, and the engine's id."""

    name: str
    id: str


class LaunchReport(Frozen):
    """What a launch left: its jobs in order, its own result, the settings it ran with, and files it wrote locally."""

    jobs: tuple[JobReference, ...]
    result: Mapping[str, int | float]
    settings: Mapping[str, str] = {}
    texts: Mapping[str, str] = {}


class History(Frozen):
    """What the engine remembers of one job; what it has forgotten of it is in `doubts`."""

    job: JobRecord
    attempts: tuple[TaskAttempt, ...]
    doubts: tuple[Doubt, ...] = ()


class Engine(Protocol):
    """Runs commands of the jobs jar on a cluster and tells what they did."""

    def run(self, launch: Launch, progress: Progress) -> LaunchReport:
        """Run a command to its end. Raises AssayError with the reason when it, or one of its jobs, fails."""
        ...

    def run_program(self, program: Program, progress: Progress) -> LaunchReport:
        """Run a program of another jar to its end; it has no result of its own.

        Raises BadInputError when its jar is not there, AssayError with the reason when it fails.
        """
        ...

    def history(self, job: JobReference) -> History:
        """The history of a finished job. Raises AssayError when it can't be had within a bounded time."""
        ...

    def phases(self, attempts: Sequence[TaskAttempt]) -> TaskHistory:
        """The finer phases of task attempts, as far as their logs can be read; never raises for a log."""
        ...


class EngineContext(NamedTuple):
    """What an engine is opened with.

    Its files go into `scratch` while the trial lives, its clients get `environment`. `failure` tells whether something
    has died that a job would wait for.
    """

    cluster: RunningCluster
    jobs_jar: Path
    scratch: Path
    environment: Mapping[str, str]
    failure: Callable[[], str | None]


class EngineKind(NamedTuple):
    """A kind of engine, as registered in ENGINES."""

    open: Callable[[EngineContext], Engine]
    stages: tuple[str, ...] = ()
    """Its names for the stages of a job, in order."""
    phases: tuple[str, ...] = ()
    """Its names for the phases of an average task, in order."""
    daemons: tuple[DaemonKind, ...] = ()
    """What a cluster of Assay's own starts for it, in order."""


def phase_names(engine: str) -> tuple[str, ...]:
    """An engine's names for the phases of an average task; none where it is not installed."""
    kind = ENGINES.get(engine)
    return kind.phases if kind else ()


def phase_columns(engine: str, phases: Phases | None) -> dict[str, float | None]:
    """A table's columns for the phases of an average task, in seconds."""
    return {f"{name}_s": (phases or {}).get(name) for name in dict.fromkeys((*phase_names(engine), *(phases or {})))}
