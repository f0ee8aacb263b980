"""Inputs: what workloads are fed with."""

from pathlib import Path
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from assay.model.base import Frozen
from assay.model.progress import Progress


class Graph(NamedTuple):
    """A simple undirected graph in canonical form.

    `edges` has shape (m, 2), dtype int64, u < v in each row, rows distinct and sorted; `lone` holds the vertices
    without an edge, sorted, dtype int64.
    """

    edges: NDArray[np.int64]
    lone: NDArray[np.int64]


class GraphFacts(Frozen):
    """Counts of a simple graph: without directions, self loops and repeated edges."""

    nodes: int
    """Vertices."""
    edges: int
    """Edges."""
    wedges: int
    """Pairs of edges that meet in a vertex: the sum of d(d-1)/2 over the degrees d."""
    wedges_by_id: int
    """The same, counting only edges that lead to a larger id; `triangles` lists these."""
    wedges_by_degree: int | None = None
    """The same, counting only edges that lead to a higher degree, or to a larger id of the same degree; null in
    records of earlier versions."""
    degree_squares: int
    """The sum of the squared degrees; `mutual-friends` sends about as many records."""
    triangles: int | None = None
    """Triangles; null if counting takes long."""

    @property
    def most_wedges_by_degree(self) -> int:
        """`wedges_by_degree`, or all wedges where it isn't known."""
        return self.wedges if self.wedges_by_degree is None else self.wedges_by_degree


class StagedFile(Frozen):
    """A local file ready to be put into a store.

    `canonical` says that it already is in normal form (`u<TAB>v`, u < v, distinct; a lone vertex alone on its
    line). Otherwise the `normalise` job needs `normalise_options`. `name` is the file name to use in the store
    (its suffix tells Hadoop the compression). `bytes` is the size on disk.
    """

    path: Path
    name: str
    bytes: int
    canonical: bool
    normalise_options: tuple[str, ...] = ()


MOST_SEED = 2**31 - 1


class DatasetSpec(Frozen):
    """Which input a trial uses: exactly one of `file`, `get` (a catalogue name) and `make` (a preset's name).

    None of them stands for no dataset: the workload makes its own input.

    `format` names the form of a file where it can't be recognised (`edges`: every line counts); `header_lines` how
    many lines that aren't comments stand before the first edge (None: recognise). `seed` and `scale` belong to `make`
    (`scale` 0.1 is a tenth of the preset's nodes and edges).
    """

    name: str
    file: Path | None = None
    format: Literal["auto", "snap", "konect", "csv", "matrix-market", "edges"] = "auto"
    header_lines: int | None = Field(default=None, ge=0)
    get: str | None = None
    make: str | None = None
    seed: int = Field(default=1, ge=0)
    scale: float = 1.0

    @property
    def is_none(self) -> bool:
        """There is no dataset."""
        return self.file is None and self.get is None and self.make is None


# The word for the experiment's dataset where a workload's option may name any input.
DATASET = "dataset"

NO_DATASET = DatasetSpec(name="none")


class Dataset(Protocol):
    """A named input graph."""

    spec: DatasetSpec

    def prepare(self, progress: Progress) -> StagedFile:
        """Make the file available locally (read, download and check, or generate; cached). Idempotent.

        Raises BadInputError with file, line and cure when the input can't be used.
        """
        ...

    def facts(self) -> GraphFacts:
        """The counts of the prepared graph (cached beside it)."""
        ...

    def graph(self) -> Graph:
        """The prepared graph in memory, read by Assay's own reader, not by the jobs."""
        ...
