"""A graph in a file of the user's."""

import os
from functools import cached_property
from pathlib import Path

import numpy as np

from assay.input.formats import Layout, recognise
from assay.input.graph import all_facts, as_graph
from assay.input.reading import Known, ReadCounts, Reading, checksum, load, read, save
from assay.model.errors import BadInputError
from assay.model.input import DatasetSpec, Graph, GraphFacts, StagedFile
from assay.model.progress import Progress, Silent


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


VERSION = 2
"""Goes up whenever a file would be read otherwise, or refused, so that old cache entries are not taken for new."""


class FileDataset:
    """A file that is staged as it is, in any format that `formats` recognises, and made canonical by the jobs.

    It is read once, whole, when it is prepared, so that a line that can't be used is known before anything starts;
    the counts are then kept in `cache` by the content's checksum.
    """

    def __init__(self, spec: DatasetSpec, path: Path, cache: Path) -> None:
        self.spec = spec
        self._path = path
        self._cache = cache

    def prepare(self, progress: Progress) -> StagedFile:
        """Recognises, reads and checks the file.

        Raises:
            BadInputError: with the file, the line and the cure.
        """
        self._known(progress)
        return StagedFile(
            path=self._path,
            name=self._layout.name,
            bytes=self._path.stat().st_size,
            canonical=False,
            normalise_options=self._layout.normalise_options(),
        )

    def facts(self) -> GraphFacts:
        """The graph's counts; the triangles only of a graph where they are quickly counted."""
        return self._known(Silent()).facts

    def counts(self) -> ReadCounts:
        """What the file was made of: comments, self-loops, duplicates and so on."""
        return self._known(Silent()).counts

    def graph(self) -> Graph:
        """The graph in memory: 16 bytes an edge, and half as much again while it is read."""
        return as_graph(self._read(Silent()).simple)

    @cached_property
    def _layout(self) -> Layout:
        if not self._path.is_file():
            what = "is a folder" if self._path.is_dir() else "doesn't exist"
            raise BadInputError(f"{self._path}: {what}; check the `file` of dataset `{self.spec.name}`.")
        return recognise(self._path, self.spec)

    @cached_property
    def _checksum(self) -> str:
        return checksum(self._path)

    def _entry(self) -> Path:
        reading = f"{self.spec.format}-{'auto' if self.spec.header_lines is None else self.spec.header_lines}"
        return self._cache / "datasets" / f"file-{self._checksum[:16]}-{reading}-v{VERSION}" / "facts.json"

    def _known(self, progress: Progress) -> Known:
        layout = self._layout  # first: a missing file has no checksum
        known = load(self._entry(), self._checksum)
        if known is None:
            reading = read(self._path, layout, progress)
            known = Known(sha256=self._checksum, facts=all_facts(reading.simple), counts=reading.counts)
            save(self._entry(), known)
        return known

    def _read(self, progress: Progress) -> Reading:
        return read(self._path, self._layout, progress)
