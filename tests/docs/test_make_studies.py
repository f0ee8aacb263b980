"""Proves that the files of the studies are those that the committed data give now."""

import pytest
from docs.make_studies import ROOT, documents

FILES = documents()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_a_file_is_up_to_date(file):
    """Else run `docs/make_results.py`, and read what changed."""
    assert file.read_text(encoding="utf-8") == FILES[file]
