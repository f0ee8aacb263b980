"""Every workload by the name that experiments use: a new one is a file in this folder and a line here."""

from collections.abc import Mapping

from assay.workload.breadth_first import BreadthFirstDistances
from assay.workload.clustering import ClusteringCoefficient
from assay.workload.command import Command
from assay.workload.components import Components
from assay.workload.degree_distribution import DegreeDistribution
from assay.workload.graph import GraphWorkload
from assay.workload.grep import Grep
from assay.workload.k_core import KCore
from assay.workload.k_means import KMeans
from assay.workload.label_propagation import LabelPropagation
from assay.workload.made import MadeWorkload
from assay.workload.mutual_friends import MutualFriends
from assay.workload.page_rank import PageRank
from assay.workload.sort import Sort
from assay.workload.terasort import TeraSort
from assay.workload.testdfsio import TestDfsIo
from assay.workload.triangles import Triangles
from assay.workload.word_count import WordCount
from assay.workload.word_frequency import WordFrequency

WORKLOADS: Mapping[str, type[GraphWorkload] | type[MadeWorkload]] = {
    "triangles": Triangles,
    "mutual-friends": MutualFriends,
    "components": Components,
    "degree-distribution": DegreeDistribution,
    "clustering-coefficient": ClusteringCoefficient,
    "breadth-first-distances": BreadthFirstDistances,
    "k-core": KCore,
    "label-propagation": LabelPropagation,
    "page-rank": PageRank,
    "k-means": KMeans,
    "word-frequency": WordFrequency,
    "testdfsio": TestDfsIo,
    "terasort": TeraSort,
    "sort": Sort,
    "word-count": WordCount,
    "grep": Grep,
    "command": Command,
}
