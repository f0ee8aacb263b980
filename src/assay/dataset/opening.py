"""From a dataset's description to the dataset."""

from pathlib import Path

from assay.dataset.catalogue import CatalogueDataset
from assay.dataset.file import FileDataset
from assay.dataset.generated import GeneratedDataset
from assay.model.dataset import DatasetSpec
from assay.model.errors import BadInputError

AnyDataset = FileDataset | CatalogueDataset | GeneratedDataset


def open_dataset(spec: DatasetSpec, cache: Path, mirror: str | None = None) -> AnyDataset:
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
        return CatalogueDataset(spec, spec.get, cache, mirror)
    if spec.make is not None:
        return GeneratedDataset(spec, spec.make, cache)
    assert spec.file is not None  # noqa: S101 - one of the three is given
    return FileDataset(spec, spec.file, cache)
