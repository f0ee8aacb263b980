"""What the variants in degree order share: what they move, for estimates, and how many open triads they must list.

An edge leads from its end of lower degree to the other, and between equal degrees to the larger id.
"""

import numpy as np

from assay.model.doubt import Verdict, verdict
from assay.model.engine import LaunchReport
from assay.model.graph import GraphFacts
from assay.workload.oracle import Oracle

# A record of small ids in the shuffle: packed keys and values, and the frame around them. Spilled, and merged on each
# side.
SHIPPED_BYTES = 3 * 14
# Each edge is shipped from both its ends, and lies in lists, in each of the two jobs that find and compare the degrees.
LIST_BYTES = 2 * 4


def directing_disk_bytes(facts: GraphFacts, staged_bytes: int) -> int:
    """What finding the degrees and directing the edges needs on the medium, the input included."""
    return 2 * staged_bytes + (facts.nodes + 2 * facts.edges) * (SHIPPED_BYTES + LIST_BYTES)


def directing_records(facts: GraphFacts) -> int:
    """Records that are shipped until the edges are directed: each edge from both ends, twice."""
    return 4 * facts.edges + facts.nodes


def count_wedges(oracle: Oracle) -> int:
    """The number of pairs of edges that leave the same vertex."""
    low, high = oracle.sources.astype(np.int64), oracle.targets.astype(np.int64)
    degree = oracle.degrees
    leaving = np.bincount(np.where(degree[low] <= degree[high], low, high), minlength=len(oracle.vertices))
    return int((leaving * (leaving - 1) // 2).sum())


def counted_right(oracle: Oracle, report: LaunchReport) -> Verdict:
    """The jobs' counters of vertices, edges, open triads in degree order and triangles equal those of the graph."""
    expected = {
        "vertices": len(oracle.vertices),
        "edges": len(oracle.sources),
        "wedges": count_wedges(oracle),
        "triangles": oracle.triangles,
    }
    told = {name: report.result.get(name) for name in expected}
    wrong = [f"{name} {told[name]} instead of {expected[name]}" for name in expected if told[name] != expected[name]]
    return verdict(
        "counters of vertices, edges, wedges and triangles equal the graph's",
        passed=not wrong,
        detail=", ".join(wrong) or f"{expected['wedges']} wedges in degree order",
    )
