"""Proves that the reference page of records is what is generated, and that every field in it has its words."""

from pathlib import Path

from assay.record.reference import record_reference

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "record.md"


def test_the_page_is_generated():
    """Else run `./assay schema --record > docs/reference/record.md`."""
    assert PAGE.read_text() == record_reference()


def test_a_field_has_its_type_and_its_words():
    text = record_reference()
    assert "| `error` | text or null | One sentence, or null. |" in text
    assert "| `totals` | [totals](#totals) or null | Sums over `jobs`;" in text
    assert "<!--" not in text
