"""Proves that the generated pages are those that the code makes now, and that their tables say what they should."""

import pytest
from docs.make_reference import REFERENCE, pages

from assay.model.registry import WORKLOADS


@pytest.mark.parametrize("name", pages())
def test_a_page_is_up_to_date(name):
    """Else run `docs/make_reference.py`, and read what changed."""
    made = pages()[name]()
    assert (REFERENCE / name).read_text() == made
    assert "<!--" not in made


def test_a_records_field_has_its_type_and_its_words():
    text = pages()["record.md"]()
    assert "| `error` | text or null | One sentence, or null. |" in text
    assert "| `totals` | [totals](#totals) or null | Sums over `jobs`;" in text


def test_every_workload_has_its_section():
    sections = [line[4:] for line in pages()["workloads.md"]().splitlines() if line.startswith("### ")]
    assert sections == list(WORKLOADS)
