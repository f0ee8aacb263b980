"""What the workloads share that make their own input: options with defaults, checked before anything starts."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from pydantic import ByteSize, TypeAdapter, ValidationError

from assay.model.dataset import Dataset
from assay.model.doubt import Verdict
from assay.model.engine import Engine, LaunchReport
from assay.model.errors import BadInputError
from assay.model.graph import Graph, GraphFacts
from assay.model.naming import nearest
from assay.model.progress import Progress
from assay.model.store import Store
from assay.model.trial import Estimate, WorkloadSpec

# Rough costs of Hadoop's own jobs on a present-day disk and core pair, used for estimates before a run only.
JOB_S = 12.0
BYTES_S = 80e6


class MadeWorkload:
    """A workload that needs no dataset. Its options are those in `defaults`, all texts as an experiment has them."""

    makes_input: ClassVar[bool] = True
    variants: ClassVar[tuple[str, ...]]
    defaults: ClassVar[Mapping[str, str]]

    def __init__(self, spec: WorkloadSpec, base: str) -> None:
        """Raises BadInputError for an option that is unknown."""
        for name in spec.options:
            if name not in self.defaults:
                raise BadInputError(
                    f"workload {spec.name} has no option {name!r}; {nearest(name, list(self.defaults))}"
                )
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

    def _count(self, option: str) -> int:
        """A number of things, at least one. Raises BadInputError."""
        text = self.spec.options.get(option, self.defaults[option])
        if not text.isdecimal() or int(text) < 1:
            raise self._refusal(option, text, "a whole number from 1 on")
        return int(text)

    def _bytes(self, option: str) -> int:
        """A size in bytes, at least one. Raises BadInputError."""
        text = self.spec.options.get(option, self.defaults[option])
        try:
            size = int(TypeAdapter(ByteSize).validate_python(text))
        except ValidationError:
            size = 0
        if size < 1:
            raise self._refusal(option, text, "a size such as 128MiB (1024s) or 800MB (1000s)")
        return size

    def _refusal(self, option: str, text: str, wanted: str) -> BadInputError:
        return BadInputError(f"workload {self.spec.name}: {option} is {text!r}, and must be {wanted}")
