"""Datasets by name: published graphs, downloaded once and checked against their published counts, and graphs like them.

`published.json` has one object for each published graph. A count is null where no source for it is known; a count
under `steering` was not published for this very file, and only steers the generator.
"""

import http.client
import shutil
import tarfile
import urllib.error
import urllib.request
import zlib
from functools import cache
from importlib import resources
from pathlib import Path
from typing import cast
from urllib.response import addinfourl

from pydantic import TypeAdapter

from assay.host.files import whole
from assay.input.formats import FileLayout
from assay.input.generated import GraphShape, Steering, generate
from assay.input.graph import Simple, all_facts
from assay.input.graph_file import GraphFile, UserGraph
from assay.input.reading import InputFacts, ReadCounts, checksum, load, save, write_canonical
from assay.model.base import Frozen
from assay.model.dataset import Amounts, DatasetSpec, Graph, GraphFacts, StagedFile
from assay.model.doubt import CheckResult, Outcome, verdict
from assay.model.errors import AssayError, BadInputError
from assay.model.input import GraphInput
from assay.model.naming import nearest
from assay.model.progress import Progress

_CHUNK = 1 << 20
_PATIENCE_S = 60
_SCHEMES = ("https://", "http://", "file://")


def fetch(url: str, target: Path, progress: Progress) -> None:
    """Download `url` to `target`, which appears by one rename when the download is complete. Raises BadInputError."""
    if not url.startswith(_SCHEMES):
        raise BadInputError(f"{url}: isn't an address that can be fetched; it has to begin with https://.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        opened = cast("addinfourl", urllib.request.urlopen(url, timeout=_PATIENCE_S))  # noqa: S310 - checked above
        with opened as response, whole(target) as partial, partial.open("wb") as copy:
            size = int(response.headers.get("Content-Length") or 0)
            of_all = f" of {size / 1e6:,.1f}" if size else ""
            while chunk := response.read(_CHUNK):
                copy.write(chunk)
                progress.detail(f"downloaded {copy.tell() / 1e6:,.1f}{of_all} MB")
            if size not in (0, copy.tell()):
                raise OSError("the connection ended too early")
    except (OSError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        status = f"{error.code} " if isinstance(error, urllib.error.HTTPError) else ""
        raise BadInputError(
            f"{url} can't be downloaded ({status}{reason}); without a network, put the file at {target} by hand, "
            "or generate a graph like it (`make` in an experiment, `assay data make`)."
        ) from error


class PublishedCounts(Frozen):
    """Published counts of a graph: of the simple graph, unless the source counts loops as edges."""

    nodes: int
    edges: int
    triangles: int | None = None
    wedges: int | None = None
    components: int | None = None
    largest_component: int | None = None
    max_degree: int | None = None


class Published(Frozen):
    """One graph: its counts and their `sources`, its download, its licence, and its preset for the generator.

    `member` names the edge file inside a tar archive. `download_mb` is approximate, in 10^6 bytes.
    """

    name: str
    title: str
    about: str
    url: str
    member: str | None = None
    download_mb: int | None = None
    format: str
    counts: PublishedCounts
    sources: str
    licence: str
    citation: str
    steering: Steering


@cache
def all_published() -> dict[str, Published]:
    """Return the graphs by name, in the order of their size in the studies."""
    text = resources.files("assay.input").joinpath("published.json").read_bytes()
    graphs = TypeAdapter(tuple[Published, ...]).validate_json(text)
    return {graph.name: graph for graph in graphs}


def is_downloaded(name: str, cache: Path) -> bool:
    """Tell whether the cache has a graph."""
    return any(file.suffix != ".part" for file in (cache / "datasets" / f"get-{name}").glob("*"))


def published(name: str, wanted_by: str) -> Published:
    """Find the graph that the field `wanted_by` (`get` or `make`) names. Raises BadInputError where there is none."""
    graphs = all_published()
    if name not in graphs:
        raise BadInputError(f"`{wanted_by}: {name}`: there is no such graph; {nearest(name, list(graphs))}")
    return graphs[name]


class PublishedGraph(UserGraph):
    """A graph of the catalogue, in the cache under its name.

    `mirror` is an address that has the files under their own names (`file://` too), asked instead of the original.
    """

    def __init__(self, spec: DatasetSpec, name: str, cache: Path, mirror: str | None) -> None:
        self.published = published(name, "get")
        folder = cache / "datasets" / f"get-{name}"
        file_name = self.published.url.rsplit("/", 1)[1]
        self._url = f"{mirror.rstrip('/')}/{file_name}" if mirror else self.published.url
        self._download = folder / file_name
        member = self.published.member
        path = folder / f"{member.rsplit('/', 1)[1]}.txt" if member else self._download
        spec = spec.model_copy(update={"format": self.published.format, "header_lines": None, "columns": None})
        super().__init__(spec, path, cache)

    def file(self, progress: Progress) -> StagedFile:
        """Download the graph unless the cache has it, and check its nodes, edges and, if quick, triangles."""
        known = self._known(progress)
        problem = mismatch(self.published.counts, known.facts, known.counts)
        if problem:
            raise BadInputError(
                f"{self._path}: {problem}; delete it and get it again, or use it as a `file` if its publisher "
                "changed it."
            )
        return super().file(progress)

    def verdicts(self) -> tuple[CheckResult, ...]:
        problem = mismatch(self.published.counts, self.facts(), self.counts())
        detail = problem or "nodes and edges are as published"
        return (verdict("published counts", passed=not problem, detail=detail),)

    def _known(self, progress: Progress) -> InputFacts:
        """Read the counts, with the published triangles where counting them would take long."""
        if not self._path.is_file():
            if not self._download.is_file():
                fetch(self._url, self._download, progress)
            if self.published.member:
                progress.detail(f"unpack {self._download.name}")
                _extract(self._download, self.published.member, self._path)
        known = super()._known(progress)
        if known.facts.triangles is not None:
            return known
        facts = known.facts.model_copy(update={"triangles": self.published.counts.triangles})
        return known.model_copy(update={"facts": facts})


def mismatch(counts: PublishedCounts, facts: GraphFacts, read: ReadCounts) -> str | None:
    """Say what differs from the published counts, with both numbers; None if nothing does.

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
    """Copy one file out of a tar archive, whole or not at all."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(archive) as tar, whole(target) as partial:
            source = tar.extractfile(member)
            if source is None:
                raise KeyError(member)
            with source, partial.open("wb") as copy:
                shutil.copyfileobj(source, copy)
    except (tarfile.TarError, EOFError, OSError, KeyError, zlib.error) as error:
        raise BadInputError(f"{archive}: can't be unpacked ({error}); delete it and get it again.") from error


GENERATOR_VERSION = 1
"""Goes up whenever the same seed would give another graph, so that old cache entries are not taken for new."""

_LARGEST_SCALE = 100.0
_NEAR = 2.0
_BY_ID_SHARE, _BY_DEGREE = 0.65, 2.0
"""Of graphs as they are made: the share of wedges that lead to larger ids, and how many lead to higher degrees for each
triangle."""


def shape_of(graph: Published, scale: float) -> GraphShape:
    """Return a preset's shape at a scale, which changes counts and leaves degrees and communities as they are.

    Raises BadInputError for a graph so small that its vertices couldn't bear the edges, or absurdly large.
    """
    steering = graph.steering
    least = max(16 * graph.counts.edges / graph.counts.nodes**2, 20 / graph.counts.nodes)
    if not least <= scale <= _LARGEST_SCALE:  # which no NaN is
        raise BadInputError(
            f"`scale: {scale:g}` of `make: {graph.name}` can't be made; it has to be from {least:.1g} to "
            f"{_LARGEST_SCALE:g}."
        )
    nodes, edges = round(graph.counts.nodes * scale), round(graph.counts.edges * scale)
    small = round((steering.components - 1) * scale)
    lost = max(2 * small, round((graph.counts.nodes - steering.largest_component) * scale)) if small else 0
    scaled = {
        "nodes": nodes, "edges": edges, "wedges": round(steering.wedges * scale),
        "triangles": round(steering.triangles * scale), "max_degree": min(steering.max_degree, (nodes - lost) // 4),
        "components": small + 1, "largest_component": nodes - lost,
    }  # fmt: skip
    return GraphShape(**{**steering.model_dump(), **scaled})


class GeneratedGraph(GraphFile):
    """A preset's graph in normal form, in the cache under its preset, seed, scale and the generator's version."""

    _layout = FileLayout(form="edges", compression="none", name="edges.tsv", lone_lines=True)

    def __init__(self, spec: DatasetSpec, preset: str, cache: Path) -> None:
        self.like = published(preset, "make")
        self.shape = shape_of(self.like, spec.scale)
        self._folder = cache / "datasets" / f"make-{preset}-s{spec.seed}-x{spec.scale:g}-v{GENERATOR_VERSION}"
        super().__init__(spec, self._folder / "edges.tsv")

    def file(self, progress: Progress) -> StagedFile:
        self._known(progress)
        return StagedFile(path=self._path, name=self._path.name, bytes=self._path.stat().st_size, canonical=True)

    def verdicts(self) -> tuple[CheckResult, ...]:
        """Check that the size is exact, and that wedges and triangles are near those of the preset."""
        facts, aim = self.facts(), self.shape
        size = verdict(
            "size",
            passed=facts.nodes == aim.nodes and facts.edges == aim.edges,
            detail=f"{facts.nodes:,} nodes of {aim.nodes:,}, {facts.edges:,} edges of {aim.edges:,}",
        )
        return size, _near("wedges", facts.wedges, aim.wedges), _near("triangles", facts.triangles, aim.triangles)

    def _known(self, progress: Progress) -> InputFacts:
        known = load(self._folder / "facts.json") if self._path.is_file() else None
        if known:
            return known
        shape = self.shape
        progress.detail(f"generate {shape.edges:,} edges like {self.like.title}")
        keys = generate(shape, self.spec.seed)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with whole(self._path) as partial:
            progress.detail(f"write {keys.size:,} edges")
            write_canonical(keys, partial)
        counts = ReadCounts(lines=keys.size, edge_lines=keys.size)
        known = InputFacts(sha256=checksum(self._path), facts=all_facts(Simple(keys)), counts=counts)
        save(self._folder / "facts.json", known)
        return known


class LikelyGraph(GraphInput):
    """A graph of the catalogue, or one to be made, by its published counts alone: for estimates before it is there."""

    def __init__(self, spec: DatasetSpec) -> None:
        """Raises BadInputError for a file of the user's, of which nothing is known before it is read."""
        self._name = spec.get or spec.make
        if self._name is None:
            raise BadInputError(f"dataset {spec.name} is a file, whose size is known when it has been read")
        self._shape = shape_of(published(self._name, "get" if spec.get else "make"), spec.scale)

    def facts(self) -> GraphFacts:
        """Those that it will have, by those of such graphs where nothing is published."""
        shape = self._shape
        return GraphFacts(
            nodes=shape.nodes, edges=shape.edges, wedges=shape.wedges, degree_squares=2 * (shape.wedges + shape.edges),
            wedges_by_id=round(_BY_ID_SHARE * shape.wedges), wedges_by_degree=round(_BY_DEGREE * shape.triangles),
            triangles=shape.triangles,
        )  # fmt: skip

    def graph(self) -> Graph:
        """Raises AssayError: it has no edges yet."""
        raise AssayError(f"the graph {self._name} is only known by its counts")

    def size(self) -> Amounts:
        """Return the size of its normal form, of ids that are nearly as long as the longest."""
        facts = self.facts()
        return facts.size(2.0 * len(str(facts.nodes)) * facts.edges)


def _near(check: str, count: int | None, target: int) -> CheckResult:
    if count is None:
        return CheckResult(check=check, outcome=Outcome.UNKNOWN, detail="too many to be counted quickly")
    near = target / _NEAR <= count <= target * _NEAR
    return verdict(check, passed=near, detail=f"{count:,}; {target:,} aimed at, within a factor of {_NEAR:g}")


def open_dataset(spec: DatasetSpec, cache: Path, mirror: str | None = None) -> GraphFile:
    """Return the dataset that `spec` describes; nothing is read, downloaded or generated yet.

    `cache` is the folder that keeps downloads, generated graphs and counts, under `datasets/`. `mirror` is an address
    to download from instead of the published ones. Raises BadInputError for a spec that describes no graph.
    """
    given = [name for name in ("file", "get", "make") if getattr(spec, name) is not None]
    if len(given) != 1:
        has = " and ".join(f"`{name}`" for name in given) or "none"
        raise BadInputError(f"dataset `{spec.name}`: give exactly one of `file`, `get` and `make`; it has {has}.")
    if spec.get is not None:
        return PublishedGraph(spec, spec.get, cache, mirror)
    if spec.make is not None:
        return GeneratedGraph(spec, spec.make, cache)
    assert spec.file is not None  # noqa: S101 - one of the three is given
    return UserGraph(spec, spec.file, cache)
