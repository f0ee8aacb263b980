"""Inputs: what workloads are fed with."""

from abc import abstractmethod

from assay.model.dataset import Amounts, Graph, GraphFacts
from assay.model.engine import Engine, LaunchReport
from assay.model.progress import Progress
from assay.model.store import Store


class Input:
    """What a workload is fed with; its own methods are those of no input at all."""

    def prepare(self, progress: Progress) -> None:
        """Make it ready on this machine (read and check, download, generate; cached). Idempotent.

        Raises BadInputError with file, line and cure when it can't be used.
        """

    def facts(self) -> GraphFacts | None:
        """The counts of a graph, for the record."""
        return None

    def size(self) -> Amounts:
        """How large it is, for estimates."""
        return Amounts()

    def put_bytes(self) -> int:
        """How many bytes a store's client is given of it while it is staged: of files those that they have here.

        For graphs this is less than `size`, which has room for what jobs make of them.
        """
        return int(self.size().bytes)

    def stage(self, path: str, store: Store, engine: Engine, progress: Progress) -> LaunchReport:  # noqa: ARG002
        """Bring it into the store below a path, in the form that workloads read; tells the jobs this took."""
        self.put(path, store, progress)
        return LaunchReport(jobs=(), result={})

    def put(self, path: str, store: Store, progress: Progress) -> None:
        """Stage the input without a job, from files of this machine."""


class GraphInput(Input):
    """A simple undirected graph; staged in normal form."""

    @abstractmethod
    def facts(self) -> GraphFacts:
        """The counts of the graph (cached beside it)."""

    @abstractmethod
    def graph(self) -> Graph:
        """The graph in memory, read by Assay's own reader, not by the jobs."""
