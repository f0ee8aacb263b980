"""Workloads: named computations."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from assay.model.base import Frozen
from assay.model.dataset import Amounts, InputKind
from assay.model.doubt import CheckResult
from assay.model.engine import HADOOP_JOBS, Engine, LaunchReport
from assay.model.input import GraphInput, Input
from assay.model.progress import Progress
from assay.model.quantity import Kind
from assay.model.store import Store
from assay.model.trial import ResourceEstimate, WorkloadSpec

MIB = 1 << 20
JOB_S, HADOOP_JOB_S = 9.0, 12.0
"""What starting a job takes, roughly, of the jobs jar and of Hadoop's own."""
BYTES_S, RECORD_S = 80e6, 1.6e-6
"""Bytes that pass through a job in a second, and seconds for a record that it shuffles: roughly, on a present-day disk
and core pair."""


class Cost(Frozen):
    """What a run needs at most, by the size of its input; used before a run only.

    `disk_bytes` is what the medium holds at the worst moment; `other_disk_bytes` of another moment, if that may be
    worse. `memory_bytes` is the verification's, beside `fixed_memory_bytes`. `seconds` are those beyond the starts of
    `jobs` jobs, of `start_s` each; where `iterated`, those of each job.
    """

    jobs: int
    start_s: float = JOB_S
    seconds: Amounts = Amounts()
    iterated: bool = False
    disk_bytes: Amounts = Amounts()
    other_disk_bytes: Amounts = Amounts()
    memory_bytes: Amounts = Amounts()
    fixed_memory_bytes: int = 0

    def estimate(self, size: Amounts, jobs: float | None = None) -> ResourceEstimate:
        """Estimate for an input of this size; `jobs` replaces the usual number of jobs."""
        count = self.jobs if jobs is None else jobs
        return ResourceEstimate(
            disk_bytes=int(max(self.disk_bytes.of(size), self.other_disk_bytes.of(size))),
            memory_bytes=int(self.memory_bytes.of(size)) + self.fixed_memory_bytes,
            seconds=count * self.start_s + (count if self.iterated else 1) * self.seconds.of(size),
        )

    def in_one_job(self, start_s: float, jobs: float | None) -> "Cost":
        """Return the cost of one job that does the work of these; `jobs` replaces their usual number."""
        count = self.jobs if jobs is None else jobs
        rounds = count if self.iterated else 1
        return self.model_copy(
            update={"jobs": 1, "start_s": start_s, "iterated": False, "seconds": rounds * self.seconds}
        )


def hadoop_cost(jobs: int, byte_s: float, copies: float, memory_bytes: int = 64 * MIB) -> Cost:
    """Return the cost of Hadoop's own jobs by their input's bytes: seconds for a byte, and copies held at once."""
    return Cost(
        jobs=jobs, start_s=HADOOP_JOB_S, seconds=Amounts(bytes=byte_s), disk_bytes=Amounts(bytes=copies),
        fixed_memory_bytes=memory_bytes,
    )  # fmt: skip


class Variant(Frozen):
    """A version of a workload's algorithm: what sets it apart, its jobs in their order, and what it needs.

    Engines add those that they run to VARIANTS, each as `WORKLOAD/VARIANT`; the first of a workload is its usual one.
    """

    about: str
    jobs: tuple[str, ...]
    """A job that is repeated until nothing changes stands once, with `...` after it; those of the first iteration end
    in ` 1`."""
    command: str = ""
    """The command of the engine's jar of workloads; without one the workload makes its programs by itself."""
    program: str = HADOOP_JOBS
    """The sort of program that it is written as: engines that run this sort run it."""
    cost: Cost | None = None
    """Without one, and without `like`, the workload estimates by itself."""
    like: str = ""
    """The variant whose work it does in one job."""
    start_s: float | None = None
    """Seconds that its only job takes to start, where these are not those of Hadoop's."""
    after: str = ""
    """The variant that runs while its input is staged, and whose output it reads."""
    options: tuple[str, ...] = ()
    """Options of the workload that not all of its variants have, and this one has."""
    counters: Mapping[str, str] = {}
    """What its jobs count, by their names for it, where they count other things than the workload's variants usually
    do."""
    ordered: bool = False
    """Whether its output is in order across all files, where other variants order each file by itself."""
    ships_all: bool = False
    """Whether it shuffles each record: other variants combine those of a task first."""
    in_parts: bool = False
    """Whether each of its reduce tasks leaves a part of a result that other variants leave as one number."""
    scripts: Mapping[str, Callable[[], Mapping[str, str]]] = {}
    """Files that it runs as it runs jars, by the ends of their names, each with what finds the variables of the
    client's environment that they need. That raises BadInputError where it can't."""
    scripts_alone: bool = False
    """Whether it runs no jars."""
    arguments: str = ""
    """The arguments of its programs by default, where they are others than the workload's."""
    submitted: bool = False
    """Whether a class and properties are given before the jar, and not after it."""
    not_arguments: Mapping[str, str] = {}
    """Options of what submits its programs, which are no arguments of theirs, each with what to do in its place."""

    @property
    def jobs_per_iteration(self) -> int:
        """How many jobs each iteration takes; 0 where a single job iterates."""
        return sum(job.endswith(" 1") for job in self.jobs)


class Option(NamedTuple):
    """An option of a workload: its default, a text as an experiment has it, and its line of help.

    A path of this machine is made absolute by a plan. An option with an `example` has that in the shown experiment.
    """

    default: str
    about: str
    is_path: bool = False
    example: str = ""


class WorkloadKind(Protocol):
    """A workload as experiments name it: what it says of itself, and the Workload for a spec.

    A graph that it `takes` is the experiment's dataset; its options describe any other input. `result` says what its
    output has, by line or file; `verified` how that is judged, and against what. With `plain_output` that needs files
    that aren't compressed, written by reducers. `output_replication` is the Hadoop property that says how many copies
    the output has, by default one, where `dfs.replication` does not; else empty. With `needs_files` its data are files,
    and not only lines, which any store holds. `result_kinds` declares which of the numbers that it reports of itself
    are times or rates. Reports call it after the first option of `named_by` that it has. `base` is the path in the
    store for all files of one run.
    """

    @property
    def takes(self) -> InputKind: ...  # noqa: D102
    @property
    def summary(self) -> str: ...  # noqa: D102
    @property
    def stresses(self) -> str: ...  # noqa: D102
    @property
    def source(self) -> str: ...  # noqa: D102
    @property
    def result(self) -> str: ...  # noqa: D102
    @property
    def verified(self) -> str: ...  # noqa: D102
    @property
    def known_options(self) -> Mapping[str, Option]: ...  # noqa: D102
    @property
    def plain_output(self) -> bool: ...  # noqa: D102
    @property
    def output_replication(self) -> str: ...  # noqa: D102
    @property
    def needs_files(self) -> bool: ...  # noqa: D102
    @property
    def named_by(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def result_kinds(self) -> Mapping[str, Kind]: ...  # noqa: D102

    def __call__(self, spec: WorkloadSpec, base: str, dataset: GraphInput | None = None, part: str = "") -> "Workload":
        """The workload, with the experiment's dataset if that is needed for more than checking the options.

        `part` is the last part of its paths (`/2`), where several workloads share a base.

        Raises BadInputError for an option that it does not have or that can't have this value.
        """


class Workload(Protocol):
    """A named computation: how its input gets into the store, how it runs, and how its output is judged."""

    spec: WorkloadSpec

    @property
    def input(self) -> Input:
        """What it is fed with."""

    def estimate(self) -> ResourceEstimate:
        """What one run on this input needs at most on the medium, and roughly how long it takes."""

    def stage(self, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """Bring the input into the store in the form that `run` reads; tells the jobs this took."""

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        """The computation itself, on what was staged."""

    def verify(self, store: Store, report: LaunchReport) -> tuple[CheckResult, ...]:
        """Judge the output against an independent computation. May raise: the runner makes that an unknown."""

    @property
    def base(self) -> str:
        """The path in the store below which all of this workload's files lie, and nothing else."""

    @property
    def input_path(self) -> str:
        """The path in the store below which the staged input lies; nothing lies there when there is no input."""

    @property
    def read_path(self) -> str | None:
        """The path of what its first job reads whole and once; None where that can't be told."""

    @property
    def output_path(self) -> str:
        """The output's path in the store."""
