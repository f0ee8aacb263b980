"""The ten graphs of the storage studies: where to get them, what is known of them, and how to make their like.

The data are in `published.json`, one object a graph. A count is null where no source for it is known; a count under
`steering` was not published for this very file, and only steers the generator.
"""

from functools import cache
from importlib import resources

from pydantic import TypeAdapter

from assay.model.base import Frozen
from assay.model.errors import BadInputError


class Counts(Frozen):
    """Published counts of a graph: of the simple graph, unless the source counts loops as edges."""

    nodes: int
    edges: int
    triangles: int | None = None
    wedges: int | None = None
    components: int | None = None
    largest_component: int | None = None
    max_degree: int | None = None


class Steering(Frozen):
    """What the generator needs beside the published counts; see `social.Shape`."""

    wedges: int
    triangles: int
    max_degree: int
    components: int
    largest_component: int
    community_share: float
    community_size: int
    community_density: float
    mirrored: float
    id_order: int


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
    counts: Counts
    sources: str
    licence: str
    citation: str
    steering: Steering


@cache
def all_published() -> dict[str, Published]:
    """The graphs by name, in the order of their size in the studies."""
    text = resources.files("assay.dataset").joinpath("published.json").read_bytes()
    graphs = TypeAdapter(tuple[Published, ...]).validate_json(text)
    return {graph.name: graph for graph in graphs}


def published(name: str, wanted_by: str) -> Published:
    """One graph by its name; `wanted_by` is the field that names it (`get` or `make`).

    Raises:
        BadInputError: there is no such graph; says which there are.
    """
    graphs = all_published()
    if name not in graphs:
        raise BadInputError(f"`{wanted_by}: {name}`: there is no such graph; there are {', '.join(graphs)}.")
    return graphs[name]
