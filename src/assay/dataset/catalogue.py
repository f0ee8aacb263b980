"""A published graph that is downloaded once, and checked against the published counts each time it is prepared."""

import tarfile
import zlib
from functools import cached_property
from pathlib import Path

from assay.dataset.download import fetch
from assay.dataset.entry import whole
from assay.dataset.file import FileDataset
from assay.dataset.published import Counts, published
from assay.dataset.reading import ReadCounts
from assay.model.dataset import DatasetSpec
from assay.model.errors import BadInputError
from assay.model.graph import Graph, GraphFacts, StagedFile
from assay.model.progress import Progress, Silent


class CatalogueDataset:
    """A graph of the catalogue, in the cache under its name.

    `mirror` is an address that has the files under their own names (`file://` too), asked instead of the original.
    """

    def __init__(self, spec: DatasetSpec, name: str, cache: Path, mirror: str | None = None) -> None:
        self.spec = spec
        self.published = published(name, "get")
        self._cache = cache
        file_name = self.published.url.rsplit("/", 1)[1]
        self._url = f"{mirror.rstrip('/')}/{file_name}" if mirror else self.published.url
        self._folder = cache / "datasets" / f"get-{name}"
        self._download = self._folder / file_name
        member = self.published.member
        self._path = self._folder / f"{member.rsplit('/', 1)[1]}.txt" if member else self._download

    def prepare(self, progress: Progress) -> StagedFile:
        """Downloads the graph unless the cache has it, and checks its nodes, edges and, if quick, triangles.

        Raises:
            BadInputError: no network and no file put there by hand, broken data, or other counts than published.
        """
        self._obtain(progress)
        staged = self._file.prepare(progress)
        problem = mismatch(self.published.counts, self._file.facts(), self._file.counts())
        if problem:
            raise BadInputError(
                f"{self._path}: {problem}; delete it and get it again, or use it as a `file` if its publisher "
                "changed it."
            )
        return staged

    def facts(self) -> GraphFacts:
        """The counts of the downloaded graph; the triangles as published where counting them would take long."""
        self._obtain(Silent())
        facts = self._file.facts()
        return (
            facts
            if facts.triangles is not None
            else facts.model_copy(update={"triangles": self.published.counts.triangles})
        )

    def counts(self) -> ReadCounts:
        """What the downloaded file is made of."""
        self._obtain(Silent())
        return self._file.counts()

    def graph(self) -> Graph:
        """The graph in memory."""
        self._obtain(Silent())
        return self._file.graph()

    @cached_property
    def _file(self) -> FileDataset:
        spec = self.spec.model_copy(update={"format": self.published.format, "header_lines": None})
        return FileDataset(spec, self._path, self._cache)

    def _obtain(self, progress: Progress) -> None:
        if self._path.is_file():
            return
        if not self._download.is_file():
            fetch(self._url, self._download, progress)
        if self.published.member:
            progress.detail(f"unpack {self._download.name}")
            _extract(self._download, self.published.member, self._path)


def mismatch(counts: Counts, facts: GraphFacts, read: ReadCounts) -> str | None:
    """What differs from the published counts, with both numbers; None if nothing does.

    A source may count the simple edges, or also loops, or the lines: any of them may match.
    """
    if facts.nodes != counts.nodes:
        return f"has {facts.nodes:,} nodes, but {counts.nodes:,} are published"
    if counts.edges not in (facts.edges, facts.edges + read.self_loops, read.edge_lines):
        return f"has {facts.edges:,} edges, but {counts.edges:,} are published"
    if facts.triangles is not None and counts.triangles not in (None, facts.triangles):
        return f"has {facts.triangles:,} triangles, but {counts.triangles:,} are published"
    return None


def _extract(archive: Path, member: str, target: Path) -> None:
    """Copies one file out of a tar archive, whole or not at all."""
    try:
        with tarfile.open(archive) as tar, whole(target) as part:
            source = tar.extractfile(member)
            if source is None:
                raise KeyError(member)
            with source, part.open("wb") as copy:
                while chunk := source.read(1 << 20):
                    copy.write(chunk)
    except (tarfile.TarError, EOFError, OSError, KeyError, zlib.error) as error:
        raise BadInputError(f"{archive}: can't be unpacked ({error}); delete it and get it again.") from error
