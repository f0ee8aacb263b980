"""Proves that every decision has a status and a date, and stands in the index with them."""

import re
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "research" / "decisions"


def test_every_decision_has_status_and_date_and_stands_in_the_index():
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = []
    for file in sorted(FOLDER.glob("0*.md")):
        text = file.read_text(encoding="utf-8")
        match = re.match(r"# (\d+)\. (.+)\n\nStatus: (.+), since (\d{4}-\d\d-\d\d)\.\n\n", text)
        assert match, file.name
        number, title, status, date = match.groups()
        assert int(number) == int(file.name[:4])
        rows.append(f"| {number} | [{title}]({file.name}) | {date} | {status} |")
    assert index.partition("| --- |\n")[2].splitlines()[-len(rows) :] == rows
