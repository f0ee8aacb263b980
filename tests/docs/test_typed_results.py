"""Proves that a page's measured result is made from kept data, or says that its records were not kept."""

import re

import pytest
from benchmarks.triage_truth import excluded
from docs.kept_runs import ROOT
from docs.make_results import kept_triage_cases, pages

_NOT_KEPT = re.compile(r"the records( of this table)? were not kept")
_BLOCK = re.compile(r"<!-- result (?P<name>[^:>]+): begin -->.*?<!-- result (?P=name): end -->", re.DOTALL)
_TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
_MEASURED = re.compile(r"^~*-?[0-9][0-9,.]*( to -?[0-9.,]+)?( %| s| ms| us)?( \(.* to .*\))?~*$")
_RESULT = re.compile(r"\d %? ?\(-?[\d.]+ to -?[\d.]+( %)?[);]|\d % less time")
NO_MEASUREMENTS = (
    "| noise of a ratio |", "| noise of one trial |",  # calculated
    "| profile | property |", "| property | brisk |", "| property | value |", "| property | `small` |",  # settings
    "| experiment | data in the study |", "| graph | jobs of `paper` |",  # sizes, which any run gives again
)  # fmt: skip
"""How tables of numbers begin that say nothing of a run's times."""
EXAMPLES = ("`230 (120 to 490)`", "took 21 % less time than on the 11 others")
"""Results that show a form."""


def typed_tables(text):
    """The tables outside of made blocks with two rows or more that have two measured numbers, and what stands before."""
    text = _BLOCK.sub("", text)
    for table in _TABLE.finditer(text):
        rows = [line.strip("| ").split("|") for line in table[0].splitlines()[2:]]
        if sum(sum(bool(_MEASURED.match(cell.strip())) for cell in row) >= 2 for row in rows) >= 2:
            yield text[: table.start()].rstrip().rpartition("\n\n")[2], table[0]


def typed_sentences(text):
    """The paragraphs outside of made blocks and of tables that have a result with its interval, or a saving."""
    for paragraph in _TABLE.sub("", _BLOCK.sub("", text)).split("\n\n"):
        if _RESULT.search(paragraph) and not any(example in paragraph for example in EXAMPLES):
            yield " ".join(paragraph.split())


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_typed_result_says_that_its_records_were_not_kept(page):
    text = page.read_text(encoding="utf-8")
    for before, table in typed_tables(text):
        assert table.startswith(NO_MEASUREMENTS) or _NOT_KEPT.search(" ".join(before.lower().split())), table
    for sentence in typed_sentences(text):
        assert _NOT_KEPT.search(sentence.lower()), sentence


def test_what_the_page_on_triage_says_of_its_cases_is_so():
    cases = kept_triage_cases()
    older = [case for case in cases if not case.run.startswith("exclusions-")]
    assert not [case for worth in (0.05, 0.1, 0.2) for case in excluded(older, worth) if "ssd" not in case.drive]
    assert {case.other for case in excluded(older, 0.1)} == {"zero-delay"}
    failed = [case for case in cases if not case.holds]
    assert len(failed) == 12
    assert all(case.saved == pytest.approx(case.saved_low) for case in failed)  # single trials
    assert max((case.saved - case.bound) * case.elapsed_s for case in failed) <= 1
    may_matter = [case for case in cases if case.bound >= 0.1]
    assert len(may_matter) > len(cases) / 2 > 0
    assert sum(case.saved >= 0.1 for case in may_matter) < len(may_matter) / 2


def test_the_findings_of_the_studies_have_no_typed_ratio():
    text = (ROOT / "docs" / "research" / "studies.md").read_text(encoding="utf-8")
    text = text[text.index("## Score") : text.index("## Experiments")]
    assert not re.findall(r"\b\d\.\d\d\b|\d %|\d of \d", _BLOCK.sub("", text).replace("95 %", ""))


def test_a_new_result_is_noticed():
    table = "| K | time |\n| --- | --- |\n| 3 | 14.4 (12.6 to 16.4) |\n| 6 | 15.7 (13.7 to 17.9) |\n"
    assert [found for _, found in typed_tables(f"It took:\n\n{table}")] == [table]
    assert not list(typed_tables(f"<!-- result x: begin -->\n{table}<!-- result x: end -->\n"))
    saving = "The SSD saves 32 % (21 to 42 %)."
    assert list(typed_sentences(f"{saving}\n\nIt is an SSD.")) == [saving]
    assert list(typed_sentences("It takes\n32 % less time."))
