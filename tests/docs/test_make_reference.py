"""Proves that the generated pages are those that the code makes now, and that their tables say what they should."""

import re

import pytest
from docs.make_reference import REFERENCE, pages

from assay.cli.workloads import workload_json
from assay.model.registry import WORKLOADS


@pytest.mark.parametrize("name", pages())
def test_a_page_is_up_to_date(name):
    """Else run `docs/make_reference.py`, and read what changed."""
    assert (REFERENCE / name).read_text() == pages()[name]()


CHANGES = {
    "no table": lambda rows: "",
    "another field": lambda rows: rows.replace("- `error` ", "- `fault` "),
    "a row more": lambda rows: f"{rows}- `surprise` (text): A field that no model has.\n",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_table_that_was_changed_by_hand_is_made_again(change, tmp_path, monkeypatch):
    text = (REFERENCE / "record.md").read_text()
    before, mark, after = text.partition("<!-- fields of Record -->\n")
    rows = after[: after.index("\n\n") + 1]
    changed = before + mark + change(rows) + after.removeprefix(rows)
    assert changed != text
    (tmp_path / "record.md").write_text(changed)
    monkeypatch.setattr("docs.make_reference.REFERENCE", tmp_path)
    assert pages()["record.md"]() == text


def test_a_mark_that_names_nothing_is_refused(tmp_path, monkeypatch):
    (tmp_path / "record.md").write_text("# Page\n\n<!-- fields of Nobody -->\n")
    monkeypatch.setattr("docs.make_reference.REFERENCE", tmp_path)
    with pytest.raises(KeyError):
        pages()["record.md"]()


def test_a_records_field_has_its_type_and_its_words():
    text = pages()["record.md"]()
    assert "- `error` (text or null): One sentence, or null." in text
    assert "- `totals` ([totals](#totals) or null): Sums over `jobs`;" in text


def test_every_workload_has_its_section():
    text = pages()["workloads.md"]()
    assert re.findall(r"^### (.+)$", text, re.MULTILINE) == list(WORKLOADS)
    with_options = [name for name in WORKLOADS if workload_json(name)["options"]]
    assert re.findall(r"^<!-- options of (.+) -->$", text, re.MULTILINE) == with_options
