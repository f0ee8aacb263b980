"""Connected components: each vertex gets its component's smallest id.

As the thesis has it (section 4.2, algorithm 2), and by alternating large-star and small-star (Kiveris et al.,
Connected Components in MapReduce and Beyond, SoCC 2014). Both are iterative.
"""

from collections.abc import Mapping
from typing import ClassVar

from assay.model.doubt import Verdict, verdict
from assay.model.engine import LaunchReport
from assay.model.input import Graph, GraphFacts
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.model.trial import Estimate, WorkloadSpec
from assay.model.workload import Variant
from assay.workload.graph import JOB_S, RECORD_S, GraphWorkload, Oracle, judge_values, read_values

# Each iteration holds the adjacency text twice in HDFS (read and written) and about three times in spills and merges.
ADJACENCY_BYTES = 10
COPIES = 5
# Social networks are small worlds; the number of iterations is the eccentricity of each component's smallest id.
LIKELY_ITERATIONS = 10
# Stars: the first job sends each edge twice, as 18 bytes that are spilled and merged, and writes a line for each. On
# real graphs the later jobs send about one pair more for each edge and ten for each vertex, all together.
PAIR_BYTES = 3 * 18
PAIR_LINE_BYTES = 16
LIKELY_STAR_JOBS = 10
PAIRS_BY_EDGE, PAIRS_BY_NODE = 3, 10
UNTIL_SETTLED = "until settled"
# Resident memory of the verification, by edge: the graph and NetworKit's copy with edge ids.
VERIFY_EDGE_BYTES = 100


class Components(GraphWorkload):
    """Minima travel along edges as messages, or edges are turned into stars, until nothing changes."""

    summary: ClassVar[str] = "gives each vertex the smallest id of its connected component"
    stresses: ClassVar[str] = (
        "job starts and HDFS between jobs; `paper` reads, shuffles and writes the whole graph in each job, `tuned` "
        "ever fewer pairs of ids"
    )
    source: ClassVar[str] = "thesis section 4.2, algorithm 2; tuned: Kiveris et al., SoCC 2014"
    result: ClassVar[str] = "`vertex<TAB>component`, in `paper` followed by a flag and the neighbours"
    verified: ClassVar[str] = (
        "the component of every vertex equals NetworKit's, and the jobs' counter their number; after a given number "
        "of `iterations` each vertex has the smallest id within as many hops"
    )
    variants: ClassVar[Mapping[str, Variant]] = {
        "paper": Variant(
            about="as published: the smallest ids travel along edges, until an iteration changes nothing",
            jobs=("friend-lists", "iteration 1", "..."),
            command="components",
        ),
        "tuned": Variant(
            about="large-star and small-star alternate: few jobs whatever the diameter, and no neighbour lists",
            jobs=("large-star 1", "small-star 1", "..."),
            command="components-tuned",
        ),
    }

    defaults: ClassVar[Mapping[str, str]] = {"iterations": UNTIL_SETTLED, "max-iterations": "1000"}
    option_help: ClassVar[Mapping[str, str]] = {
        "iterations": "end after this many, with the smallest ids within as many hops; variant `paper` only",
        "max-iterations": "fail if vertices still change after this many",
    }

    def __init__(self, spec: WorkloadSpec, base: str) -> None:
        """Raises BadInputError when an option is unknown or impossible."""
        super().__init__(spec, base)
        self._most = self.options.count("max-iterations")
        self._iterations = None
        if self.options.text("iterations") != UNTIL_SETTLED:
            self._iterations = self.options.count("iterations")
            if spec.variant != "paper":
                raise self.options.refusal("iterations", f"left out: variant {spec.variant} has no part of a result")

    def command_options(self) -> tuple[str, ...]:
        """The bounds of the iterations."""
        bound = f"--max-iterations={self._most}"
        return (bound,) if self._iterations is None else (bound, f"--iterations={self._iterations}")

    def estimate(self, facts: GraphFacts, staged_bytes: int) -> Estimate:
        """All iterations are alike, or shrink; each deletes its predecessor's output."""
        memory_bytes = VERIFY_EDGE_BYTES * (facts.nodes + facts.edges)
        if self.spec.variant == "tuned":
            pairs = facts.nodes + 2 * facts.edges
            sent = PAIRS_BY_EDGE * facts.edges + PAIRS_BY_NODE * facts.nodes
            return Estimate(
                disk_bytes=2 * staged_bytes + pairs * (PAIR_BYTES + PAIR_LINE_BYTES),
                memory_bytes=memory_bytes,
                seconds=LIKELY_STAR_JOBS * JOB_S + sent * RECORD_S,
            )
        ids = facts.nodes + 2 * facts.edges
        return Estimate(
            disk_bytes=2 * staged_bytes + ids * ADJACENCY_BYTES * COPIES,
            memory_bytes=memory_bytes,
            seconds=(1 + min(self._iterations or LIKELY_ITERATIONS, LIKELY_ITERATIONS)) * (JOB_S + ids * RECORD_S),
        )

    def verify(self, graph: Graph, store: Store, report: LaunchReport) -> tuple[Verdict, ...]:
        """The whole partition equals NetworKit's, vertex by vertex, with the smallest id as each part's name.

        Of some iterations only: each vertex has the smallest id within so many hops.
        """
        oracle = Oracle(graph)
        if self._iterations is None:
            expected, check = oracle.components(), "the partition equals NetworKit's"
        else:
            expected = oracle.smallest_within(self._iterations)
            check = f"each vertex has the smallest id within {self._iterations} hops"
        # A part is named by a vertex that has kept its own id.
        parts = int((expected == oracle.vertices).sum())
        told = report.result.get("components")
        found = read_values(store, self.output, "components")
        return (
            *judge_values(found, oracle.vertices, expected, check, seen=f"{parts} components"),
            verdict("counter equals the number of components", passed=told == parts, detail=f"{told} and {parts}"),
        )


WORKLOADS.add("components", Components, place=3)
