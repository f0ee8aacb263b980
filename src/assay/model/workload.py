"""Workloads: named computations."""

from collections.abc import Collection, Mapping
from typing import Protocol, runtime_checkable

from assay.model.base import Frozen
from assay.model.doubt import Verdict
from assay.model.engine import Engine, LaunchReport
from assay.model.input import Dataset, Graph, GraphFacts
from assay.model.progress import Progress
from assay.model.store import Store
from assay.model.trial import Estimate, WorkloadSpec


class Variant(Frozen):
    """A version of a workload's algorithm: what sets it apart, and its jobs in their order.

    A job that is repeated until nothing changes stands once, with `...` after it. `command` is the jobs jar's, where
    the jobs are Assay's own.
    """

    about: str
    jobs: tuple[str, ...]
    command: str = ""


class WorkloadKind(Protocol):
    """A workload as experiments name it: what it says of itself, and the Workload for a spec.

    Its options are those in `defaults`, all texts as an experiment has them, each with a line in `option_help`. Those
    in `path_options` are paths of this machine: a plan makes them absolute. `example` has those that must be given.
    `base` is the path in the store for all files of one run.
    """

    @property
    def makes_input(self) -> bool:
        """Whether it needs no dataset."""
        ...

    @property
    def summary(self) -> str: ...  # noqa: D102
    @property
    def stresses(self) -> str: ...  # noqa: D102
    @property
    def source(self) -> str: ...  # noqa: D102
    @property
    def result(self) -> str:
        """What its output has, by line or file."""
        ...

    @property
    def verified(self) -> str:
        """How its output is judged, and against what."""
        ...

    @property
    def variants(self) -> Mapping[str, "Variant"]: ...  # noqa: D102
    @property
    def defaults(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def option_help(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def path_options(self) -> Collection[str]: ...  # noqa: D102
    @property
    def example(self) -> Mapping[str, str]: ...  # noqa: D102

    def __call__(self, spec: WorkloadSpec, base: str) -> "Workload":
        """The workload. Raises BadInputError for an option that it does not have or that can't have this value."""
        ...


class Workload(Protocol):
    """A named computation: how its input gets into the store, how it runs, and how its output is judged."""

    spec: WorkloadSpec

    def estimate(self, facts: GraphFacts, staged_bytes: int) -> Estimate:
        """What one run on this input needs at most on the medium, and roughly how long it takes."""
        ...

    def stage(self, dataset: Dataset, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """Bring the dataset into the store in the form that `run` reads; tells the jobs this took."""
        ...

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        """The computation itself, on what was staged."""
        ...

    def verify(self, graph: Graph, store: Store, report: LaunchReport) -> tuple[Verdict, ...]:
        """Judge the output against an independent computation. May raise: the runner makes that an unknown."""
        ...

    @property
    def base(self) -> str:
        """The path in the store below which all of this workload's files lie, and nothing else."""
        ...

    @property
    def input(self) -> str:
        """The path in the store below which the staged input lies; nothing lies there when there is no input."""
        ...

    @property
    def output(self) -> str:
        """The output's path in the store."""
        ...


@runtime_checkable
class Preparing(Protocol):
    """What a workload can do besides when its judge works out the same for all trials of a plan."""

    def prepare(self) -> None:
        """Work that out before the first trial begins, so that no trial waits for it."""
        ...
