"""Proves that a page's table of measured numbers is made from kept data, or says that its records were not kept."""

import re

import pytest
from docs.make_results import ROOT, pages

NOT_KEPT = "the records of this table were not kept"
_BLOCK = re.compile(r"<!-- result (?P<name>[^:>]+): begin -->.*?<!-- result (?P=name): end -->", re.DOTALL)
_TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
_MEASURED = re.compile(r"^~*-?[0-9][0-9,.]*( to -?[0-9.,]+)?( %| s| ms| us)?( \(.* to .*\))?~*$")
MADE = {"docs/explanation/studies.md"}
"""Pages that are made as a whole."""

NO_MEASUREMENTS = (
    "| noise of a ratio |", "| noise of one trial |",  # calculated
    "| page cache | map |",  # from docs/explanation/causes.json
    "| profile | property |", "| property | brisk |", "| property | value |", "| property | `small` |",  # settings
    "| experiment | data in the study |", "| graph | jobs of `paper` |",  # sizes, which any run gives again
)  # fmt: skip
"""How tables of numbers begin that say nothing of a run's times."""


def typed_tables(text):
    """The tables outside of made blocks with two rows or more that have two measured numbers, and what stands before."""
    text = _BLOCK.sub("", text)
    for table in _TABLE.finditer(text):
        rows = [line.strip("| ").split("|") for line in table[0].splitlines()[2:]]
        if sum(sum(bool(_MEASURED.match(cell.strip())) for cell in row) >= 2 for row in rows) >= 2:
            yield text[: table.start()].rstrip().rpartition("\n\n")[2], table[0]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_typed_table_says_that_its_records_were_not_kept(page):
    name = page.relative_to(ROOT).as_posix()
    if name in MADE:
        return
    for before, table in typed_tables(page.read_text(encoding="utf-8")):
        assert table.startswith(NO_MEASUREMENTS) or NOT_KEPT in " ".join(before.lower().split()), table


def test_a_new_table_of_numbers_is_noticed():
    table = "| K | time |\n| --- | --- |\n| 3 | 14.4 (12.6 to 16.4) |\n| 6 | 15.7 (13.7 to 17.9) |\n"
    assert [found for _, found in typed_tables(f"It took:\n\n{table}")] == [table]
    assert not list(typed_tables(f"<!-- result x: begin -->\n{table}<!-- result x: end -->\n"))
