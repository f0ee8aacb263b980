"""What the workloads share that make their own input."""

from abc import abstractmethod
from collections.abc import Collection, Mapping
from typing import ClassVar

from assay.model.dataset import Dataset
from assay.model.doubt import Verdict
from assay.model.engine import Engine, LaunchReport
from assay.model.graph import Graph, GraphFacts
from assay.model.progress import Progress
from assay.model.store import Store
from assay.model.trial import Estimate, WorkloadSpec
from assay.model.workload import Variant
from assay.workload.options import Options

# Rough costs of Hadoop's own jobs on a present-day disk and core pair, used for estimates before a run only.
JOB_S = 12.0
BYTES_S = 80e6


class MadeWorkload:
    """A workload that needs no dataset.

    Its options are those in `defaults`, all texts as an experiment has them, each with a line in `option_help`. Those
    in `path_options` are paths of this machine: a plan makes them absolute. `example` has those that must be given.
    """

    makes_input: ClassVar[bool] = True
    summary: ClassVar[str]
    stresses: ClassVar[str]
    source: ClassVar[str]
    variants: ClassVar[Mapping[str, Variant]]
    option_help: ClassVar[Mapping[str, str]] = {}
    path_options: ClassVar[Collection[str]] = ()
    example: ClassVar[Mapping[str, str]] = {}
    defaults: ClassVar[Mapping[str, str]]

    def __init__(self, spec: WorkloadSpec, base: str) -> None:
        """Raises BadInputError for an option that is unknown."""
        self.options = Options(spec, self.defaults)
        self.spec = spec
        self.base = base

    @property
    def input(self) -> str:
        """The staged files' directory in the store."""
        return f"{self.base}/input"

    @property
    def output(self) -> str:
        """The output directory in the store."""
        return f"{self.base}/output"

    @abstractmethod
    def estimate(self, facts: GraphFacts, staged_bytes: int) -> Estimate:
        """Bytes on the medium at the worst moment, and rough seconds; by the options alone."""

    @abstractmethod
    def stage(self, dataset: Dataset, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """Make the input."""

    @abstractmethod
    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        """Hadoop's own program."""

    @abstractmethod
    def verify(self, graph: Graph, store: Store, report: LaunchReport) -> tuple[Verdict, ...]:
        """Judge the output by another way of finding it."""
