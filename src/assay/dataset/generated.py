"""A graph that is generated from a seed: a stand-in for a published one, for use without a network."""

from pathlib import Path

from assay.dataset.canonical import Simple, as_graph
from assay.dataset.entry import Known, checksum, load, save, whole
from assay.dataset.facts import all_facts
from assay.dataset.formats import Layout
from assay.dataset.published import Published, published
from assay.dataset.reading import ReadCounts, read
from assay.dataset.social import Shape, generate
from assay.dataset.writing import write_canonical
from assay.model.dataset import DatasetSpec
from assay.model.errors import BadInputError
from assay.model.graph import Graph, GraphFacts, StagedFile
from assay.model.progress import Progress, Silent

VERSION = 1
"""Goes up whenever the same seed would give another graph, so that old cache entries are not taken for new."""

_LAYOUT = Layout(form="edges", compression="none", name="edges.tsv", lone_lines=True)
_LARGEST_SCALE = 100.0


def shape_of(graph: Published, scale: float) -> Shape:
    """The shape of a preset at a scale: counts shrink or grow with it, degrees and communities keep their size.

    Raises:
        BadInputError: so small that the vertices couldn't bear the edges, or absurdly large.
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
    return Shape(
        nodes=nodes,
        edges=edges,
        wedges=round(steering.wedges * scale),
        max_degree=min(steering.max_degree, (nodes - lost) // 4),
        components=small + 1,
        largest_component=nodes - lost,
        **steering.model_dump(
            include={"community_share", "community_size", "community_density", "mirrored", "id_order"}
        ),
    )


class GeneratedDataset:
    """A preset's graph in normal form, in the cache under its preset, seed, scale and the generator's version."""

    def __init__(self, spec: DatasetSpec, preset: str, cache: Path) -> None:
        self.spec = spec
        self.like = published(preset, "make")
        self.shape = shape_of(self.like, spec.scale)
        self._folder = cache / "datasets" / f"make-{preset}-s{spec.seed}-x{spec.scale:g}-v{VERSION}"
        self._path = self._folder / "edges.tsv"

    def prepare(self, progress: Progress) -> StagedFile:
        """Generates the graph, or finds it in the cache."""
        self._known(progress)
        return StagedFile(path=self._path, name=self._path.name, bytes=self._path.stat().st_size, canonical=True)

    def facts(self) -> GraphFacts:
        """The graph's counts; the triangles only of a graph where they are quickly counted."""
        return self._known(Silent()).facts

    def counts(self) -> ReadCounts:
        """What the file is made of: edges only."""
        return self._known(Silent()).counts

    def graph(self) -> Graph:
        """The graph in memory, read from the file."""
        self._known(Silent())
        return as_graph(read(self._path, _LAYOUT).simple)

    def _known(self, progress: Progress) -> Known:
        known = load(self._folder / "facts.json") if self._path.is_file() else None
        return known or self._generate(progress)

    def _generate(self, progress: Progress) -> Known:
        shape = self.shape
        progress.detail(f"generate {shape.edges:,} edges like {self.like.title}")
        keys = generate(shape, self.spec.seed)
        with whole(self._path) as part:
            progress.detail(f"write {keys.size:,} edges")
            write_canonical(keys, part)
        counts = ReadCounts(lines=keys.size, edge_lines=keys.size)
        known = Known(sha256=checksum(self._path), facts=all_facts(Simple(keys)), counts=counts)
        save(self._folder / "facts.json", known)
        return known
