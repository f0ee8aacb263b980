"""Graphs as the datasets give them and the verifiers take them."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.model.base import Frozen


class Graph(NamedTuple):
    """A simple undirected graph in canonical form.

    `edges` has shape (m, 2), dtype int64, u < v in each row, rows distinct and sorted; `lone` holds the vertices
    without an edge, sorted, dtype int64.
    """

    edges: NDArray[np.int64]
    lone: NDArray[np.int64]


class GraphFacts(Frozen):
    """Counts that size a graph workload.

    `wedges_by_id` is the number of open triads listed when each edge points to the larger id (triangle
    counting), `wedges_by_degree` when it points to the end of higher degree, or the larger id of equal degrees (absent
    in records of earlier versions); `degree_squares` the sum of squared degrees (mutual friends).
    """

    nodes: int
    edges: int
    wedges: int
    wedges_by_id: int
    wedges_by_degree: int | None = None
    degree_squares: int
    triangles: int | None = None

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
