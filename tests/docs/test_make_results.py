"""Proves that the results in the pages are what the kept records say, and that each kept run is quoted."""

import pytest
from docs.make_results import RESULT_TEXTS, RESULTS, ROOT, filled, keep, named, pages, unpacked

pytestmark = pytest.mark.slow
QUOTING = [page for page in pages() if named(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", QUOTING, ids=[str(page.relative_to(ROOT)) for page in QUOTING])
def test_a_page_quotes_what_the_records_say(page):
    text = page.read_text(encoding="utf-8")
    assert filled(text) == text, "run docs/make_results.py"


def test_every_result_is_quoted():
    assert {name for page in QUOTING for name in named(page.read_text(encoding="utf-8"))} == set(RESULT_TEXTS)


def test_a_page_with_another_number_is_noticed():
    name = next(iter(RESULT_TEXTS))
    page = f"<!-- result {name}: begin -->\n99 %\n<!-- result {name}: end -->"
    assert filled(page) != page


def test_packing_a_kept_run_again_changes_nothing(tmp_path):
    archive = next(RESULTS.glob("*.tar.xz"))
    name = archive.name.removesuffix(".tar.xz")
    before = archive.read_bytes()
    with unpacked(name) as run:
        files = sorted(str(file.relative_to(run)) for file in run.rglob("*") if file.is_file())
        assert "plan.json" in files
        keep(run, name)
    assert archive.read_bytes() == before
