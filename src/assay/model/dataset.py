"""Datasets: what an experiment names as its input, and the counts and sizes of what that is."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from assay.model.base import Frozen, Number, UserPath, Whole


class InputKind(StrEnum):
    """What a workload can be fed with. `datasets` of an experiment are graphs; a workload's options name the others."""

    GRAPH = "graph"
    DIRECTED_GRAPH = "directed graph"
    TEXT = "text"
    POINTS = "points"
    RECORDS = "records"
    FILES = "files"


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

    def size(self, staged_bytes: float, forms: int = 1) -> "Amounts":
        """The size of the input; unknown counts are replaced by upper bounds.

        So many `forms` of it, of a line per edge, are in the store at once.
        """
        counts = self.model_dump(exclude={"wedges"})
        counts["wedges_by_degree"] = self.wedges if self.wedges_by_degree is None else self.wedges_by_degree
        counts["triangles"] = counts["wedges_by_degree"] if self.triangles is None else self.triangles
        return Amounts(bytes=staged_bytes, lines=forms * self.edges, **counts)


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


def _two_columns(value: Any) -> Any:
    two = value is None or (isinstance(value, list | tuple) and len(value) == 2 and value[0] != value[1])
    if not two or not all(
        column if isinstance(column, str) else type(column) is int and column > 0 for column in value or ()
    ):
        raise PydanticCustomError("columns", "Must be two different columns, such as [source, target] or [2, 3]")
    return value


class DatasetSpec(Frozen):
    """Which input a trial uses: exactly one of `file`, `get` and `make`, or none: the workload makes its own input."""

    name: str
    file: UserPath | None = None
    """A graph file of yours, one edge per line."""
    format: Literal["auto", "snap", "konect", "csv", "matrix-market", "edges"] = "auto"
    """The [format](#file-formats) of `file`; recognised by default."""
    header_lines: Annotated[Whole | None, Field(ge=0)] = None
    """Lines before the first edge of `file` that are not comments; recognised by default."""
    columns: Annotated[
        tuple[int | str, int | str] | None,
        BeforeValidator(_two_columns),
        Field(exclude_if=lambda columns: columns is None),
    ] = None
    """The two columns of `file` that hold the ends of an edge, by their names in its first line or by number from 1,
    such as `[source, target]`; recognised by default."""
    get: str | None = None
    """A published graph, downloaded once and checked. `assay data list` shows the names."""
    make: str | None = None
    """A graph generated with the proportions of this published graph."""
    seed: Annotated[Whole, Field(ge=0, le=MOST_SEED)] = 1
    """For `make`: the seed of the random numbers. Another seed makes another graph of the same kind."""
    scale: Number = 1.0
    """For `make`: the size as a fraction of the published graph's nodes and edges, at most 100. The smallest fraction
    depends on the graph."""

    @property
    def is_none(self) -> bool:
        """Whether there is no dataset."""
        return self.file is None and self.get is None and self.make is None


# The word for the experiment's dataset where a workload's option may name any input.
DATASET = "dataset"

NO_DATASET = DatasetSpec(name="none")


class Amounts(Frozen):
    """The size of an input in bytes and, of a graph, in its counts; or so much of something for each of these.

    `lines` is 0 where nobody knows. `triangles` are at most as many as `wedges_by_degree` where they aren't known.
    Source: `GraphFacts`.
    """

    bytes: float = 0
    lines: float = 0
    nodes: float = 0
    edges: float = 0
    wedges_by_id: float = 0
    wedges_by_degree: float = 0
    degree_squares: float = 0
    triangles: float = 0

    def __add__(self, other: "Amounts") -> "Amounts":
        return Amounts(**{name: value + getattr(other, name) for name, value in self})

    def __rmul__(self, factor: float) -> "Amounts":
        return Amounts(**{name: factor * value for name, value in self})

    @property
    def line_bytes(self) -> float | None:
        """Bytes of a line; None where nobody knows."""
        return self.bytes / self.lines if self.lines else None

    def of(self, size: "Amounts") -> float:
        """Return the sum for all of an input of this size."""
        return float(sum(value * getattr(size, name) for name, value in self))
