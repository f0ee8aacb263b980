"""Proves that the figures of the studies in README and docs are those that the committed data give now."""

import re

import pytest
from docs.make_studies import EXPLANATION, PAGES, ROOT, blocks, documents

from assay_extras.studies.kept import read_kept
from assay_extras.studies.overview import overview

FILES = documents()
MARK = re.compile(r"<!-- studies: ([a-z ]+) -->")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_a_page_is_up_to_date(file):
    """Else run `docs/make_studies.py`, and read what changed."""
    assert file.read_text(encoding="utf-8") == FILES[file]


def test_every_block_stands_in_a_page():
    found = overview(read_kept(EXPLANATION))
    marks = [mark for page in PAGES for mark in MARK.findall(page.read_text(encoding="utf-8"))]
    assert sorted(set(marks)) == sorted(blocks(found))
    assert len(MARK.findall(PAGES[0].read_text(encoding="utf-8"))) == 1
