"""Communities by label propagation, synchronous and without chance (1 job, and 1 per iteration).

A vertex takes the label that occurs most often among its own and its neighbours' labels, each counted once per vertex
that has it, all from the iteration before; of several the smallest. Labels are at first the vertices' own ids.
"""

import numpy as np

from assay.model.registry import WORKLOADS
from assay.model.workload import Option, Variant
from assay.workload.graph import ExpectedValues, Oracle, VertexValues


class LabelPropagation(VertexValues):
    """All labels change at once; on bipartite parts they may alternate forever, so the iterations are bounded."""

    summary = "finds communities: each vertex takes the most frequent label among its own and its neighbours'"
    stresses = "the shuffle of many small records: two messages per edge and the whole graph in each iteration"
    source = (
        "Raghavan, Albert, Kumara 2007; synchronous, with ties to the smallest label, as in "
        "LDBC Graphalytics (CDLP), plus the vertex's own vote"
    )
    result = "`vertex<TAB>label<TAB>flag<TAB>neighbours`; flag 1 if the last iteration changed the label"
    verified = (
        "every label, and the counters, equal those of the same rule as products of sparse matrices (scipy); the "
        "verdict states NetworKit's modularity of the communities"
    )
    known_options = {"iterations": Option("5", "the largest number of iterations")}

    def read_options(self) -> None:
        self._iterations = self.options.count("iterations")

    def command_options(self) -> tuple[str, ...]:
        return (f"--iterations={self._iterations}",)

    def likely_jobs(self, variant: Variant) -> float:
        return 1 + self._iterations

    def expected(self, oracle: Oracle) -> ExpectedValues:
        labels, done, changed = oracle.labels(self._iterations)
        counters = {
            "vertices": len(labels),
            "iterations": done,
            "changed": changed,
            "messages": done * 2 * len(oracle.sources),
        }
        quality = f", modularity {oracle.modularity(labels):.4f}" if len(oracle.sources) else ""
        summary = f"{len(np.unique(labels))} communities after {done} iterations{quality}"
        return ExpectedValues(labels, "the labels equal those by sparse matrices", summary, counters)


WORKLOADS.add("label-propagation", LabelPropagation, place=8)
