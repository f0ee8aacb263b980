"""What the network-analysis workloads share: the same input, staged the same way, one command of the jobs jar."""

from abc import abstractmethod
from collections.abc import Collection, Mapping
from typing import ClassVar

from assay.model.dataset import Dataset
from assay.model.doubt import Verdict
from assay.model.engine import Engine, Launch, LaunchReport
from assay.model.graph import Graph, GraphFacts
from assay.model.progress import Progress
from assay.model.store import Store
from assay.model.trial import Estimate, WorkloadSpec
from assay.model.workload import Variant
from assay.workload.options import Options

# Rough costs of the jobs on one present-day core pair, used for estimates before a run only.
JOB_S = 9.0
RECORD_S = 1.6e-6


class GraphWorkload:
    """A workload on a graph in canonical text: `u<TAB>v` with u < v, each edge once, lone vertices alone.

    Its options are those in `defaults`, each with a line in `option_help`, and go to the variant's command under the
    same names. Those in `path_options` are paths of this machine: a plan makes them absolute. `example`
    has those that must be given.
    """

    makes_input: ClassVar[bool] = False
    summary: ClassVar[str]
    stresses: ClassVar[str]
    source: ClassVar[str]
    variants: ClassVar[Mapping[str, Variant]]
    option_help: ClassVar[Mapping[str, str]] = {}
    path_options: ClassVar[Collection[str]] = ()
    example: ClassVar[Mapping[str, str]] = {}
    defaults: ClassVar[Mapping[str, str]] = {}

    def __init__(self, spec: WorkloadSpec, base: str) -> None:
        """Raises BadInputError for an option that is unknown, or neither on nor off where it has to be."""
        self.options = Options(spec, self.defaults)
        for name in filter(self._is_flag, self.defaults):
            self.options.flag(name)
        self.spec = spec
        self.base = base

    @property
    def output(self) -> str:
        """The output directory in the store."""
        return f"{self.base}/output"

    @property
    def input(self) -> str:
        """The input directory in the store."""
        return f"{self.base}/input"

    def stage(self, dataset: Dataset, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """Put the file; unless it is canonical already, normalise it by a job and drop the raw copy."""
        staged = dataset.prepare(progress)
        if staged.canonical:
            store.put(staged.path, f"{self.input}/{staged.name}")
            return LaunchReport(jobs=(), result={})
        raw = f"{self.base}/raw"
        store.put(staged.path, f"{raw}/{staged.name}")
        launch = Launch(command="normalise", input=raw, output=self.input, options=staged.normalise_options)
        report = engine.run(launch, progress)
        store.delete(raw)
        return report

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        """The workload's own command on the staged graph."""
        launch = Launch(
            command=self.variants[self.spec.variant].command,
            input=self.input,
            output=self.output,
            options=self.command_options(),
            properties=self.spec.hadoop,
        )
        return engine.run(launch, progress)

    def command_options(self) -> tuple[str, ...]:
        """The command's options: `--name` for one that is on, nothing for one that is off, else `--name=value`."""
        words: list[str] = []
        for name, value in self.spec.options.items():
            if not self._is_flag(name):
                words.append(f"--{name}={value}")
            elif self.options.flag(name):
                words.append(f"--{name}")
        return tuple(words)

    def _is_flag(self, name: str) -> bool:
        return self.defaults[name] in {"true", "false"}

    @abstractmethod
    def estimate(self, facts: GraphFacts, staged_bytes: int) -> Estimate:
        """Bytes on the medium at the worst moment, and rough seconds."""

    @abstractmethod
    def verify(self, graph: Graph, store: Store, report: LaunchReport) -> tuple[Verdict, ...]:
        """Judge the output against NetworKit."""
