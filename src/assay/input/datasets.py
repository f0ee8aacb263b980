"""Opens the graph that a dataset's spec describes."""

from pathlib import Path

from assay.input.catalogue import PublishedGraph
from assay.input.generated import GeneratedGraph
from assay.input.graph_file import GraphFile, UserGraph
from assay.model.errors import BadInputError
from assay.model.input import DatasetSpec


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
