"""Clustering coefficients: which part of a vertex' pairs of neighbours is connected; of each vertex and of the graph.

The global coefficient (transitivity) is 3 x triangles / wedges, the average one the mean over all vertices. Vertices of
degree below 2 have coefficient 0 and count in the mean.
"""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.model.doubt import Verdict, verdict
from assay.model.engine import LaunchReport
from assay.model.errors import AssayError
from assay.model.input import Graph, GraphFacts
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.model.trial import Estimate
from assay.model.workload import Variant
from assay.workload.graph import (
    JOB_S,
    RECORD_S,
    SHIPPED_BYTES,
    GraphWorkload,
    Oracle,
    counted_right,
    directing_disk_bytes,
    directing_records,
)

# An id in a list that is sent along an edge.
LISTED_ID_BYTES = 3 * 2
LISTED_ID_S = RECORD_S / 20
# Resident memory of the verification: by edge the graph and NetworKit's copy with edge ids, by vertex its line.
VERIFY_EDGE_BYTES = 250
VERIFY_NODE_BYTES = 400
# NetworKit's quotient may differ in the last bits; the jobs' mean is rounded to 1e-9 in each reduce task.
COEFFICIENT_ERROR = 1e-12
MEAN_ERROR = 1e-6

_LINE = np.dtype([("vertex", np.int64), ("degree", np.int64), ("triangles", np.int64), ("coefficient", np.float64)])


class ClusteringCoefficient(GraphWorkload):
    """Triangles in degree order are counted at their corners, and joined with the degrees."""

    summary: ClassVar[str] = (
        "gives each vertex the share of its neighbours' pairs that are connected, and the mean of these"
    )
    stresses: ClassVar[str] = (
        "job starts; the shuffle, with lists of as many ids as there are open triads in degree order; some computing"
    )
    source: ClassVar[str] = "Watts and Strogatz 1998 (local); Schank and Wagner 2005 (triangles in degree order)"
    result: ClassVar[str] = (
        "`vertex<TAB>degree<TAB>triangles<TAB>coefficient` for each vertex; a degree below 2 has coefficient 0"
    )
    verified: ClassVar[str] = (
        "every vertex occurs once; degrees equal numpy's, triangles NetworKit's edge scores, coefficients NetworKit's"
        " LocalClusteringCoefficient to 1e-12; both averages agree to 1e-6; the counters agree"
    )
    variants: ClassVar[Mapping[str, Variant]] = {
        "intersect": Variant(
            about="finds triangles by intersecting lists of neighbours of higher degree",
            jobs=("degrees", "directions", "corners", "coefficients"),
            command="clustering-coefficient",
        )
    }

    def estimate(self, facts: GraphFacts, staged_bytes: int) -> Estimate:
        """Lists are sent along edges, then at most one count for each vertex and two for each edge."""
        wedges = facts.most_wedges_by_degree
        lists_bytes = facts.edges * SHIPPED_BYTES + wedges * LISTED_ID_BYTES
        counts = facts.nodes + 2 * facts.edges
        return Estimate(
            disk_bytes=directing_disk_bytes(facts, staged_bytes) + lists_bytes + 2 * counts * SHIPPED_BYTES,
            memory_bytes=VERIFY_EDGE_BYTES * facts.edges + VERIFY_NODE_BYTES * facts.nodes,
            seconds=4 * JOB_S + (directing_records(facts) + facts.edges + counts) * RECORD_S + wedges * LISTED_ID_S,
        )

    def verify(self, graph: Graph, store: Store, report: LaunchReport) -> tuple[Verdict, ...]:
        """Degree, triangles and coefficient of every vertex, and both figures of the graph."""
        found = self._lines(store)
        oracle = Oracle(graph)
        same = np.array_equal(found["vertex"], oracle.vertices)
        return (
            verdict(
                "every vertex appears exactly once",
                passed=same,
                detail=f"{len(found)} lines for {len(oracle.vertices)} vertices",
            ),
            *(_judge_vertices(found, oracle) if same else ()),
            *_judge_graph(oracle, report),
            counted_right(oracle, report),
        )

    def _lines(self, store: Store) -> NDArray[np.void]:
        """The output, by vertex."""
        rows: list[tuple[int, int, int, float]] = []
        for line in store.lines(self.output):
            try:
                vertex, degree, triangles, coefficient = line.split(b"\t")
                rows.append((int(vertex), int(degree), int(triangles), float(coefficient)))
            except ValueError as error:
                raise AssayError(
                    "the output of clustering-coefficient has a line that is not `vertex, degree, triangles,"
                    f" coefficient`: {line[:80]!r}"
                ) from error
        try:
            found = np.array(rows, dtype=_LINE)
        except OverflowError as error:
            raise AssayError("the output of clustering-coefficient has a number beyond 64 bits") from error
        found.sort(order="vertex")
        return found


def _judge_vertices(found: NDArray[np.void], oracle: Oracle) -> tuple[Verdict, ...]:
    """Line by line, where the lines are those of the graph's vertices."""
    local = oracle.local_clustering
    degrees = int((found["degree"] != oracle.degrees).sum())
    triangles = int((found["triangles"] != oracle.triangles_at()).sum())
    # In this form a coefficient that is no number differs too.
    close = np.abs(found["coefficient"] - local) <= COEFFICIENT_ERROR
    return (
        verdict(
            "degrees and triangles of every vertex equal those of the graph",
            passed=degrees == triangles == 0,
            detail=f"{degrees} degrees and {triangles} counts of triangles differ",
        ),
        verdict(
            "every coefficient equals NetworKit's",
            passed=bool(close.all()),
            detail=f"{int((~close).sum())} of {len(local)} differ by more than {COEFFICIENT_ERROR:g}",
        ),
    )


def _judge_graph(oracle: Oracle, report: LaunchReport) -> tuple[Verdict, ...]:
    wedges = int((oracle.degrees * (oracle.degrees - 1) // 2).sum())
    transitivity = 3 * oracle.triangles / wedges if wedges else 0.0
    expected = {"global_coefficient": transitivity, "average_coefficient": float(oracle.local_clustering.mean())}
    return tuple(
        verdict(
            f"the {name.replace('_', ' ')} is that of the graph",
            passed=name in report.result and abs(report.result[name] - value) <= MEAN_ERROR,
            detail=f"{report.result.get(name)}, {value:.9f} expected",
        )
        for name, value in expected.items()
    )


WORKLOADS.add("clustering-coefficient", ClusteringCoefficient, place=5)
