"""Files for the dataset tests."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.input.catalogue import open_dataset
from assay.input.graph_file import UserGraph
from assay.model.dataset import DatasetSpec

Opener = Callable[..., UserGraph]


@pytest.fixture
def opener(tmp_path: Path) -> Opener:
    """Opens a file with the given content (text, or bytes as they are) as a dataset."""

    def open_content(content: str | bytes, name: str = "graph.txt", **fields: object) -> UserGraph:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        spec = DatasetSpec.model_validate({"name": "test", "file": path, **fields})
        dataset = open_dataset(spec, tmp_path / "cache")
        assert isinstance(dataset, UserGraph)
        return dataset

    return open_content


@pytest.fixture
def real_graphs() -> Path:
    """The folder of published graphs, which isn't part of the project."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "graphs"
    folder = Path(os.environ.get("ASSAY_TEST_GRAPHS", beside))
    if not folder.is_dir():
        pytest.skip(f"no published graphs at {folder}; set ASSAY_TEST_GRAPHS to a folder that has them")
    return folder
