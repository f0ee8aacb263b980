"""The dataset of workloads that make their own input: nothing."""

import os
from pathlib import Path

import numpy as np

from assay.model.dataset import DatasetSpec
from assay.model.graph import Graph, GraphFacts, StagedFile
from assay.model.progress import Progress


class NoDataset:
    """An empty graph, of which no workload that gets it makes use."""

    def __init__(self, spec: DatasetSpec) -> None:
        self.spec = spec

    def prepare(self, progress: Progress) -> StagedFile:  # noqa: ARG002 - there is nothing to tell
        """An empty file."""
        return StagedFile(path=Path(os.devnull), name="none", bytes=0, canonical=True)

    def facts(self) -> GraphFacts:
        """Nothing of everything."""
        return GraphFacts(nodes=0, edges=0, wedges=0, wedges_by_id=0, wedges_by_degree=0, degree_squares=0)

    def graph(self) -> Graph:
        """No edge and no vertex."""
        return Graph(edges=np.zeros((0, 2), dtype=np.int64), lone=np.zeros(0, dtype=np.int64))
