"""Clustering coefficients: which part of a vertex' pairs of neighbours is connected; of each vertex and of the graph.

The global coefficient (transitivity) is 3 x triangles / wedges, the average one the mean over all vertices. Vertices of
degree below 2 have coefficient 0 and count in the mean.
"""

import numpy as np
from numpy.typing import NDArray

from assay.model.doubt import CheckResult, Outcome, verdict
from assay.model.engine import LaunchReport
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.workload.base import each_once, output_table, whole
from assay.workload.graph import GraphWorkload, Oracle, judge_counters

# NetworKit's quotient may differ in the last bits; the jobs' mean is rounded to 1e-9 in each reduce task.
COEFFICIENT_ERROR = 1e-12
MEAN_ERROR = 1e-6


class ClusteringCoefficient(GraphWorkload):
    """Triangles in degree order are counted at their corners, and joined with the degrees."""

    summary = "gives each vertex the share of its neighbours' pairs that are connected, and the mean of these"
    stresses = (
        "job starts; the shuffle, with lists of as many ids as there are open triads in degree order; some computing"
    )
    source = "Watts and Strogatz 1998 (local); Schank and Wagner 2005 (triangles in degree order)"
    result = "`vertex<TAB>degree<TAB>triangles<TAB>coefficient` for each vertex; a degree below 2 has coefficient 0"
    verified = (
        "every vertex occurs once; degrees equal numpy's, triangles NetworKit's edge scores, coefficients NetworKit's"
        " LocalClusteringCoefficient to 1e-12; both averages agree to 1e-6; the counters agree"
    )

    def verify(self, store: Store, report: LaunchReport) -> tuple[CheckResult, ...]:
        output_lines = store.lines(self.output_path)
        lines = output_table(
            output_lines, self.spec.name, vertex=whole, degree=whole, triangles=whole, coefficient=float
        )
        oracle = Oracle(self.input.graph())
        once = each_once(lines["vertex"], oracle.vertices)
        wedges = int((oracle.degrees * (oracle.degrees - 1) // 2).sum())
        transitivity = 3 * oracle.triangles / wedges if wedges else 0.0
        expected = {"global_coefficient": transitivity, "average_coefficient": float(oracle.local_clustering.mean())}
        averages = [
            verdict(
                f"the {name.replace('_', ' ')} is that of the graph",
                passed=name in report.result and abs(report.result[name] - value) <= MEAN_ERROR,
                detail=f"{report.result.get(name)}, {value:.9f} expected",
            )
            for name, value in expected.items()
        ]
        vertices = _judge_vertices(lines, oracle) if once.outcome is Outcome.PASS else ()
        return (once, *vertices, *averages, *judge_counters(self.variant, oracle, report))


def _judge_vertices(lines: NDArray[np.void], oracle: Oracle) -> tuple[CheckResult, ...]:
    """Judge line by line, once the lines are known to be those of the graph's vertices."""
    local = oracle.local_clustering
    degrees = int((lines["degree"] != oracle.degrees).sum())
    triangles = int((lines["triangles"] != oracle.triangles_at()).sum())
    # In this form a coefficient that is no number differs too.
    close = np.abs(lines["coefficient"] - local) <= COEFFICIENT_ERROR
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


WORKLOADS.add("clustering-coefficient", ClusteringCoefficient, place=5)
