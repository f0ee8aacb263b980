"""Workloads: named computations."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from assay.model.base import Frozen
from assay.model.dataset import Amounts, InputKind
from assay.model.doubt import CheckResult
from assay.model.engine import HADOOP_JOBS, Engine, LaunchReport
from assay.model.input import GraphInput, Input
from assay.model.progress import Progress
from assay.model.quantity import Kind
from assay.model.store import FILES, Store
from assay.model.trial import ResourceEstimate, WorkloadSpec

JOB_S = 9.0
"""What starting a job takes, roughly."""


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


class Variant(Frozen):
    """A version of a workload's algorithm: what sets it apart, its jobs in their order, and what it needs.

    A job that is repeated until nothing changes stands once, with `...` after it. `command` is the jobs jar's, where
    the jobs are Assay's own. Without a `cost` the workload estimates by itself. `programs` are the sorts of programs
    that it is written as: engines that run one of these run it.
    """

    about: str
    jobs: tuple[str, ...]
    command: str = ""
    cost: Cost | None = None
    programs: tuple[str, ...] = (HADOOP_JOBS,)


class Option(NamedTuple):
    """An option of a workload: its default, a text as an experiment has it, and its line of help.

    A path of this machine is made absolute by a plan. An option with an `example` has that in the shown experiment.
    """

    default: str
    about: str
    is_path: bool = False
    example: str = ""


class RunsOn(NamedTuple):
    """A sort of programs that an engine must run, and a sort of data that a store must hold, for a workload to run."""

    program: str = HADOOP_JOBS
    data: str = FILES


class WorkloadKind(Protocol):
    """A workload as experiments name it: what it says of itself, and the Workload for a spec.

    A graph that it `takes` is the experiment's dataset; its options describe any other input. `result` says what its
    output has, by line or file; `verified` how that is judged, and against what. With `plain_output` that needs files
    that aren't compressed, written by reducers. `output_replication` is the Hadoop property that says how many copies
    the output has, by default one, where `dfs.replication` does not; else empty. It runs where the engine and the store
    have what one of `runs_on` asks for, in a variant that is written for the engine. `result_kinds` declares which of
    the numbers that it reports of itself are times or rates. Reports call it after the first option of `named_by` that
    it has. `base` is the path in the store for all files of one run.
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
    def variants(self) -> Mapping[str, Variant]: ...  # noqa: D102
    @property
    def known_options(self) -> Mapping[str, Option]: ...  # noqa: D102
    @property
    def plain_output(self) -> bool: ...  # noqa: D102
    @property
    def output_replication(self) -> str: ...  # noqa: D102
    @property
    def runs_on(self) -> Sequence[RunsOn]: ...  # noqa: D102
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
