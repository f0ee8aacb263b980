"""Opens, lists and checks datasets."""

from pathlib import Path

from assay.input.catalogue import PublishedGraph, all_published, mismatch
from assay.input.generated import GeneratedGraph
from assay.input.graph_file import GraphFile, UserGraph
from assay.input.reading import ReadCounts
from assay.model.base import Frozen
from assay.model.doubt import Outcome, Verdict
from assay.model.errors import BadInputError
from assay.model.input import DatasetSpec, GraphFacts
from assay.model.progress import Progress, Silent


def open_dataset(spec: DatasetSpec, cache: Path, mirror: str | None = None) -> GraphFile:
    """The dataset that `spec` describes; nothing is read, downloaded or generated yet.

    `cache` is the folder that keeps downloads, generated graphs and counts, under `datasets/`. `mirror` is an address
    to download from instead of the published ones.

    Raises:
        BadInputError: not exactly one of `file`, `get` and `make` is given, or the name or the scale isn't known.
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


_NEAR = 2.0


class CheckReport(Frozen):
    """A dataset's counts, what its file was made of, and a verdict for each count that is known from elsewhere."""

    name: str
    facts: GraphFacts
    counts: ReadCounts
    verdicts: tuple[Verdict, ...]


class Listed(Frozen):
    """A graph that can be got (`get`) or made (`make`) by its name; `in_cache` says whether it was downloaded."""

    name: str
    title: str
    about: str
    nodes: int
    edges: int
    triangles: int | None
    download: str
    download_mb: int | None
    licence: str
    citation: str
    sources: str
    in_cache: bool


def listed(cache: Path) -> tuple[Listed, ...]:
    """The published graphs, from the smallest to the largest as the studies number them."""
    return tuple(
        Listed(
            name=graph.name,
            title=graph.title,
            about=graph.about,
            nodes=graph.counts.nodes,
            edges=graph.counts.edges,
            triangles=graph.counts.triangles,
            download=graph.url,
            download_mb=graph.download_mb,
            licence=graph.licence,
            citation=graph.citation,
            sources=graph.sources,
            in_cache=any(file.suffix != ".part" for file in (cache / "datasets" / f"get-{graph.name}").glob("*")),
        )
        for graph in all_published().values()
    )


def check(dataset: GraphFile, progress: Progress | None = None) -> CheckReport:
    """Prepares the dataset and compares its counts with what is known of it.

    Raises:
        BadInputError: it can't be prepared, which for a downloaded graph includes other counts than published.
    """
    dataset.prepare(progress or Silent())
    facts, counts = dataset.facts(), dataset.counts()
    verdicts: tuple[Verdict, ...] = ()
    if isinstance(dataset, PublishedGraph):
        verdicts = _as_published(dataset, facts, counts)
    if isinstance(dataset, GeneratedGraph):
        verdicts = _like_published(dataset, facts)
    return CheckReport(name=dataset.spec.name, facts=facts, counts=counts, verdicts=verdicts)


def _as_published(dataset: PublishedGraph, facts: GraphFacts, counts: ReadCounts) -> tuple[Verdict, ...]:
    problem = mismatch(dataset.published.counts, facts, counts)
    outcome = Outcome.FAIL if problem else Outcome.PASS
    return (Verdict(check="published counts", outcome=outcome, detail=problem or "nodes and edges are as published"),)


def _like_published(dataset: GeneratedGraph, facts: GraphFacts) -> tuple[Verdict, ...]:
    aim, scale = dataset.shape, dataset.spec.scale
    steering = dataset.like.steering
    exact = facts.nodes == aim.nodes and facts.edges == aim.edges
    size = Verdict(
        check="size",
        outcome=Outcome.PASS if exact else Outcome.FAIL,
        detail=f"{facts.nodes:,} nodes of {aim.nodes:,}, {facts.edges:,} edges of {aim.edges:,}",
    )
    wedges = _near("wedges", facts.wedges, aim.wedges)
    return size, wedges, _near("triangles", facts.triangles, round(steering.triangles * scale))


def _near(what: str, found: int | None, wanted: int) -> Verdict:
    if found is None:
        return Verdict(check=what, outcome=Outcome.UNKNOWN, detail="too many to be counted quickly")
    outcome = Outcome.PASS if wanted / _NEAR <= found <= wanted * _NEAR else Outcome.FAIL
    return Verdict(check=what, outcome=outcome, detail=f"{found:,}; {wanted:,} aimed at, within a factor of {_NEAR:g}")
