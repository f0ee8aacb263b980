"""Engines: what executes the jobs."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from assay.model.base import Frozen
from assay.model.cluster import ClusterSpec
from assay.model.doubt import Doubt, doubt_kind
from assay.model.fault import StageProgress
from assay.model.progress import Progress
from assay.model.quantity import kinds_of
from assay.model.record import Counters, JobRecord
from assay.model.running_cluster import RunningCluster
from assay.model.signature import Direction
from assay.model.store import FILES, Store
from assay.model.task import TaskAttempt, TaskHistory, TaskPhases

HADOOP_JOBS = "hadoop-jobs"
"""Programs that an engine may run: commands of the jobs jar, and other programs that submit jobs by Hadoop's API."""
_STORED = "{store}"
LINES_OUTPUT = "{lines-output}"
"""Stands in a program's arguments for the class of the output format that writes lines where the store keeps them."""


def stored(path: str) -> str:
    """What stands in arguments for a path in the trial's store, which jobs reach by its location."""
    return _STORED + path


def located(argument: str, store: Store) -> str:
    """Replace what stands for a path in the store by its location."""
    before, mark, path = argument.partition(_STORED)
    return before + store.location(path) if mark else argument


HISTORY_INCOMPLETE = doubt_kind(
    "history-incomplete",
    "job",
    when="the job history lacks a job or tasks of it",
    why="figures by task, skew and the critical path are those of the other tasks only",
    cure="look for the history server's warnings about this job; its history file may be cut short",
    instrument="job-history",
    severity=50,
)


class Launch(Frozen):
    """One command of the jobs jar: `name input output options`; input and output are paths in the trial's store."""

    command: str
    input: str
    output: str
    options: tuple[str, ...] = ()
    properties: Mapping[str, str] = {}


class Program(Frozen):
    """A program of a jar that is not Assay's own (Hadoop's examples and tests, a user's jar).

    `jar` is an absolute path, of a jar or another file that the engine runs, or the pattern of a file's name among
    Hadoop's further jars. Without a `main_class` the jar's manifest or the first argument says what to run. `{scratch}`
    in an argument stands for a fresh local directory, whose files come back as texts. `jobs` names the program's jobs
    in their order; those beyond are called after the program. `folder` is where it runs, `variables` are in its
    client's environment beside the cluster's. `last_lines` says how many lines of its own tell why it failed.
    """

    name: str
    jar: str
    main_class: str | None = None
    arguments: tuple[str, ...] = ()
    properties: Mapping[str, str] = {}
    jobs: tuple[str, ...] = ()
    folder: Path | None = None
    variables: Mapping[str, str] = {}
    last_lines: int = 1


class JobReference(Frozen):
    """A job that a launch submitted: the step's name in its workload, and the engine's id."""

    name: str
    id: str


class LaunchReport(Frozen):
    """What a launch left: its jobs in order, its own result, the settings it ran with, and files it wrote locally.

    `counts` says whether it counts records, so that its result can be judged; its output is judged in any case.
    """

    jobs: tuple[JobReference, ...]
    result: Mapping[str, int | float]
    settings: Mapping[str, str] = {}
    texts: Mapping[str, str] = {}
    counts: bool = True


Counted = Literal[
    "cpu_ms", "shuffled_bytes", "local_read_bytes", "local_written_bytes", "store_read_bytes", "store_written_bytes",
    "input_records", "emitted_records", "output_records",
]  # fmt: skip
"""What tasks count: processor time; bytes read or written in the shuffle, in local directories and in the store;
records of the input, records that the tasks which read it emit, and records of the output."""


class History(Frozen):
    """What the engine remembers of one job, with the amounts that its tasks counted; `doubts` name what is missing."""

    job: JobRecord
    attempts: tuple[TaskAttempt, ...]
    counted: Mapping[Counted, int] = {}
    doubts: tuple[Doubt, ...] = ()


class Engine(Protocol):
    """Runs commands of the jobs jar on a cluster and tells what they did."""

    def run(self, launch: Launch, progress: Progress) -> LaunchReport:
        """Run a command to its end. Raises AssayError with the reason when it, or one of its jobs, fails."""

    def run_program(self, program: Program, progress: Progress) -> LaunchReport:
        """Run a program of another jar to its end; it has no result of its own.

        Raises BadInputError when its jar is not there, AssayError with the reason when it fails.
        """

    def history(self, job: JobReference) -> History:
        """The history of a finished job. Raises AssayError when it can't be had within a bounded time."""

    def phases(self, attempts: Sequence[TaskAttempt]) -> TaskHistory:
        """The finer phases of task attempts, as far as their logs can be read; never raises for a log."""


@runtime_checkable
class Ending(Protocol):
    """What an engine also is that can end what it runs in other threads."""

    def end(self) -> None:
        """End all programs within seconds: each raises AssayError in its thread. Nothing can be run any more."""


def ignore_progress(progress: StageProgress) -> None:
    """Discard progress."""


class EngineContext(NamedTuple):
    """What an engine is opened with.

    `spec` is what the experiment asks of the cluster; `store` holds the trial's data. The engine writes its own files
    into `scratch`, which lives as long as the trial. `failure` tells whether something has died that a job would wait
    for; `progressed` wants to know at once how far a running job is. `properties` are those of all its jobs, beneath
    their own.
    """

    cluster: RunningCluster
    spec: ClusterSpec
    store: Store
    jobs_jar: Path
    scratch: Path
    failure: Callable[[], str | None]
    progressed: Callable[[StageProgress], None] = ignore_progress
    properties: Mapping[str, str] = {}


class StageKind(NamedTuple):
    """A stage of an engine's jobs, with the names of its tasks' phases in order.

    A job whose properties have one of the values of `absent_with` lacks this stage.
    """

    name: str
    phases: tuple[str, ...]
    absent_with: Mapping[str, str] = {}


class TaskFigure(NamedTuple):
    """A figure of a job that a report tells: its title, and the attribute of one stage's rows that it is of.

    `sum` and `most` are over the finer phases of all attempts, `skew` is the most over the median of the attempts that
    succeeded. Without a stage it is of all stages; a skew is then that of the stage where it is greatest.
    """

    title: str
    stage: str
    attribute: str
    how: Literal["sum", "most", "skew"]


class EngineKind(NamedTuple):
    """A kind of engine, as registered in ENGINES. Whatever it leaves out is in no figure."""

    open: Callable[[EngineContext], Engine]
    runs: frozenset[str] = frozenset()
    """The sorts of programs that it runs, such as HADOOP_JOBS: variants of workloads are written as one of them."""
    reads: frozenset[str] = frozenset({FILES})
    """The sorts of data that its jobs read and write in a store that holds them."""
    staged_by: str = ""
    """The engine whose jobs bring inputs into the store, where it does not run such programs itself."""
    stages: tuple[StageKind, ...] = ()
    """The stages that are known before a job runs, in order."""
    makes_stages: bool = False
    """Whether jobs may have further stages, which they make themselves. Such a stage has one phase, called as it is,
    unless its attempts say otherwise; where no phase of the job is called so, its tasks have all phases of the job."""
    attempt: type[TaskAttempt] = TaskAttempt
    """The rows of its table of task attempts."""
    log: type[TaskPhases] = TaskPhases
    """The rows of its table of finer phases, from the tasks' logs."""
    causes: Mapping[tuple[str, Direction], frozenset[str]] = {}
    """Which phases can cause requests of a role and direction, where not all can. A job of a single phase writes its
    output in that."""
    counters: Mapping[Counted, tuple[str, str]] = {}
    """The group and name of the job's counter for each amount."""
    uncounted_bytes: int = 0
    """Of the local bytes that each task counts as written, those that are no intermediate data."""
    path: Mapping[str, tuple[str, ...]] = {}
    """The steps of tasks on a critical path, by the name under which a report adds them up; else the phases."""
    path_note: str = ""
    figures: tuple[TaskFigure, ...] = ()
    figures_note: str = ""
    """A report's explanation of its path's parts, and of the figures of each job."""
    services: tuple[str, ...] = ()
    """The names of the services that run its jobs."""
    directed: Callable[[str], Mapping[str, str]] | None = None
    """The properties by which a job on a cluster of Assay's own names the tier of its intermediate data; None where its
    jobs can't be directed."""

    def mistake(self) -> str:
        """Whether a number of its rows is of no declared kind: then a scale model's times can't be told."""
        try:
            kinds_of(self.attempt)
            kinds_of(self.log)
        except TypeError as error:
            return f"has a column that can't be read: {error}"
        return ""

    @property
    def phases(self) -> tuple[str, ...]:
        """The names of the phases of the stages that are known before, in their order."""
        return tuple(phase for stage in self.stages for phase in stage.phases)


def amounts_in(counters: Counters, places: Mapping[Counted, tuple[str, str]]) -> dict[Counted, int]:
    """Read the amounts that these counters have; `places` name the group and the counter of each."""
    return {
        amount: counters[group][name] for amount, (group, name) in places.items() if name in counters.get(group, {})
    }
