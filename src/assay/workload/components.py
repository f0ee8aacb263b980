"""Connected components: each vertex gets its component's smallest id.

As the thesis has it (section 4.2, algorithm 2), and by alternating large-star and small-star (Kiveris et al.,
Connected Components in MapReduce and Beyond, SoCC 2014) until one task's memory holds the rest. Both are iterative.
"""

from assay.model.registry import WORKLOADS
from assay.model.workload import Option, Variant
from assay.workload.graph import ExpectedValues, Oracle, VertexValues

UNTIL_SETTLED = "until settled"
_IN_MEMORY, _MOST_IN_MEMORY = "vertices-in-memory", 1 << 28


class Components(VertexValues):
    """Minima travel along edges as messages until nothing changes, or edges become stars until the rest fits."""

    summary = "gives each vertex the smallest id of its connected component"
    stresses = (
        "job starts and HDFS between jobs; `paper` reads, shuffles and writes the whole graph in each job, `tuned` "
        "ever fewer pairs of ids, and little once one task's memory holds the vertices"
    )
    source = "thesis section 4.2, algorithm 2; tuned: Kiveris et al., SoCC 2014"
    result = "`vertex<TAB>component`, in `paper` followed by a flag and the neighbours"
    verified = (
        "the component of every vertex equals NetworKit's, and the jobs' counter their number; after a given number "
        "of `iterations` each vertex has the smallest id within as many hops"
    )

    known_options = {
        "iterations": Option(
            UNTIL_SETTLED, "end after this many, with the smallest ids within as many hops; variant `paper` only"
        ),
        "max-iterations": Option("1000", "fail if vertices still change after this many"),
        _IN_MEMORY: Option(
            "1000000",
            "that a task may hold to contract what it reads, 60 bytes each; 0 for stars alone; variant `tuned` only",
        ),
    }

    def read_options(self) -> None:
        self._most = self.options.count("max-iterations")
        self._iterations = None
        if self.options.text("iterations") != UNTIL_SETTLED:
            self._iterations = self.options.count("iterations")
        self._held = self.options.count(_IN_MEMORY, least=0)
        if self._held == 1 or self._held > _MOST_IN_MEMORY:
            raise self.options.refusal(_IN_MEMORY, f"0, or from 2 to {_MOST_IN_MEMORY}")

    def command_options(self) -> tuple[str, ...]:
        values = {_IN_MEMORY: self._held, "iterations": self._iterations}
        further = [f"--{name}={values[name]}" for name in self.variant.options if values[name] is not None]
        return (f"--max-iterations={self._most}", *further)

    def likely_jobs(self, variant: Variant) -> float | None:
        if self._iterations is None or variant.cost is None:
            return None
        return min(1 + self._iterations, variant.cost.jobs)

    def expected(self, oracle: Oracle) -> ExpectedValues:
        if self._iterations is None:
            labels, check = oracle.components(), "the partition equals NetworKit's"
        else:
            labels = oracle.smallest_within(self._iterations)
            check = f"each vertex has the smallest id within {self._iterations} hops"
        # A part is named by a vertex that has kept its own id.
        parts = int((labels == oracle.vertices).sum())
        return ExpectedValues(labels, check, f"{parts} components", {"components": parts})


WORKLOADS.add("components", Components, place=3)
