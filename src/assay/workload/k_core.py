"""K-core decomposition: the core number of each vertex, by h-indices of estimates (1 job, and 1 per iteration)."""

from assay.model.registry import WORKLOADS
from assay.workload.graph import ExpectedValues, Oracle, VertexValues


class KCore(VertexValues):
    """Each vertex lowers its estimate, at first its degree, to the h-index of its neighbours' estimates."""

    summary = (
        "gives each vertex its core number: the largest k such that it is in a subgraph in "
        "which every vertex has k neighbours"
    )
    stresses = "the longest chains of jobs: each reads, shuffles and writes the graph with an estimate per neighbour"
    source = "Lü, Zhou, Zhang, Stanley 2016; Montresor, De Pellegrini, Miorandi 2011"
    result = "`vertex<TAB>core<TAB>0<TAB>n1:e1 n2:e2 ...`, with the last estimate that each neighbour sent"
    verified = (
        "every core number, and the counted sum of them, equals that of NetworKit's CoreDecomposition, which removes "
        "vertices one by one"
    )

    def expected(self, oracle: Oracle) -> ExpectedValues:
        cores = oracle.cores()
        counters = {"vertices": len(cores), "core_sum": int(cores.sum())}
        return ExpectedValues(
            cores, "the core numbers equal NetworKit's", f"core numbers up to {int(cores.max())}", counters
        )


WORKLOADS.add("k-core", KCore, place=7)
