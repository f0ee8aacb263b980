"""Graphs as inputs: staged in normal form; and those in a file of the user's."""

from abc import abstractmethod
from functools import cached_property
from pathlib import Path

from assay.host.files import whole
from assay.input.formats import FileLayout, recognise
from assay.input.graph import all_facts, as_graph
from assay.input.reading import InputFacts, ReadCounts, checksum, load, read, save, write_edges, write_lines
from assay.input.staging import scratch_directory
from assay.model.dataset import Amounts, DatasetSpec, Graph, GraphFacts, StagedFile
from assay.model.doubt import CheckResult
from assay.model.engine import Engine, Launch, LaunchReport
from assay.model.errors import BadInputError
from assay.model.input import GraphInput
from assay.model.progress import Progress, Silent
from assay.model.store import Files, Store, raw

VERSION = 4
"""Goes up whenever a file would be read otherwise, or refused, so that old cache entries are not taken for new."""


# `u<TAB>v`, at most about.
_EDGE_LINE_BYTES = 20
_LINES_FILE = "lines.txt"


class GraphFile(GraphInput):
    """A graph that is a local file once it is prepared; `_layout` says how that is to be read."""

    def __init__(self, spec: DatasetSpec, path: Path) -> None:
        self.spec = spec
        self._path = path

    @abstractmethod
    def file(self, progress: Progress) -> StagedFile:
        """The prepared file, as it is to be put into a store."""

    @abstractmethod
    def _known(self, progress: Progress) -> InputFacts:
        """Prepare the file and return what is known of it."""

    @property
    @abstractmethod
    def _layout(self) -> FileLayout: ...

    def prepare(self, progress: Progress) -> None:
        self.file(progress)

    def facts(self) -> GraphFacts:
        """The graph's counts; the triangles only where they are quickly counted."""
        return self._known(Silent()).facts

    def counts(self) -> ReadCounts:
        """The counts of the file's parts: comments, self-loops, duplicates and so on."""
        return self._known(Silent()).counts

    def verdicts(self) -> tuple[CheckResult, ...]:
        """Judge each count that is known from elsewhere; of a user's file none is."""
        return ()

    def graph(self) -> Graph:
        """Read the graph into memory: 16 bytes an edge, and half as much again meanwhile."""
        self._known(Silent())
        return as_graph(read(self._path, self._layout)[0])

    def size(self) -> Amounts:
        """Return the size; a file still to be normalised lies in the store beside its normal form for a while."""
        file, facts = self.file(Silent()), self.facts()
        return (
            facts.size(file.bytes) if file.canonical else facts.size(file.bytes + 2 * _EDGE_LINE_BYTES * facts.edges, 2)
        )

    def put_bytes(self) -> int:
        """Return those of the file, whatever a job makes of it."""
        return self.file(Silent()).bytes

    def stage(self, path: str, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """Put the file; unless it is canonical already, normalise it by a job and drop the raw copy."""
        file = self.file(progress)
        if file.canonical:
            store.put(file.path, f"{path}/{file.name}")
            return LaunchReport(jobs=(), result={})
        raw_path = raw(path)
        options = file.normalise_options
        if self._layout.skip_bytes and not isinstance(store, Files):
            options = self._put_without_header(raw_path, store)
        else:
            store.put(file.path, f"{raw_path}/{file.name}")
        launch = Launch(command="normalise", input=raw_path, output=path, options=options)
        report = engine.run(launch, progress)
        store.delete(raw_path)
        return report

    def _put_without_header(self, path: str, store: Store) -> tuple[str, ...]:
        """Put the lines behind the header, and return the options for them: lines of a table have no offset."""
        with scratch_directory() as scratch:
            write_lines(self._path, self._layout, scratch / _LINES_FILE)
            store.put(scratch / _LINES_FILE, f"{path}/{_LINES_FILE}")
        return self._layout.without_header().normalise_options()


class UserGraph(GraphFile):
    """A file that is staged as it is, in any format that `formats` recognises, and made canonical by the jobs.

    It is read once, whole, when it is prepared, so that a line that can't be used is known before anything starts;
    the counts are then kept in `cache` by the content's checksum. A file in which the ends of an edge aren't the first
    two numbers of a line is staged as a copy in normal form.
    """

    def __init__(self, spec: DatasetSpec, path: Path, cache: Path) -> None:
        super().__init__(spec, path)
        self._cache = cache

    def file(self, progress: Progress) -> StagedFile:
        self._known(progress)
        if not self._layout.columns.plain:
            file = self._canonical()
            return StagedFile(path=file, name=file.name, bytes=file.stat().st_size, canonical=True)
        return StagedFile(
            path=self._path, name=self._layout.name, bytes=self._path.stat().st_size, canonical=False,
            normalise_options=self._layout.normalise_options(),
        )  # fmt: skip

    @cached_property
    def _layout(self) -> FileLayout:
        if not self._path.is_file():
            problem = "is a folder" if self._path.is_dir() else "doesn't exist"
            raise BadInputError(f"{self._path}: {problem}; check the `file` of dataset `{self.spec.name}`.")
        return recognise(self._path, self.spec)

    def _canonical(self) -> Path:
        """Make a copy in normal form beside the counts, since the jobs read the first two columns only."""
        file = self._entry().with_name("edges.tsv")
        if not file.exists():
            graph = as_graph(read(self._path, self._layout)[0])
            with whole(file) as partial:
                write_edges([(graph.edges[:, 0], graph.edges[:, 1])], partial, graph.lone.tolist())
        return file

    @cached_property
    def _checksum(self) -> str:
        return checksum(self._path)

    def _entry(self) -> Path:
        ends = "-".join(str(end + 1) for end in self._layout.columns.ends)
        lines = "auto" if self.spec.header_lines is None else self.spec.header_lines
        reading = f"{self.spec.format}-{lines}-{ends}"
        return self._cache / "datasets" / f"file-{self._checksum[:16]}-{reading}-v{VERSION}" / "facts.json"

    def _known(self, progress: Progress) -> InputFacts:
        layout = self._layout  # first: a missing file has no checksum
        known = load(self._entry(), self._checksum)
        if known is None:
            simple, counts = read(self._path, layout, progress)
            known = InputFacts(sha256=self._checksum, facts=all_facts(simple), counts=counts)
            save(self._entry(), known)
        return known
