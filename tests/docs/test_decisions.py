"""Proves that every decision stands in the index, with its title and date."""

import re
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "research" / "decisions"


def test_every_decision_stands_in_the_index_with_its_date():
    rows = re.findall(
        r"^\| (\d+) \| \[(.+)\]\((.+)\) \| \d{4}-\d\d-\d\d \|$", (FOLDER / "README.md").read_text("utf-8"), re.MULTILINE
    )
    titles = {file.name: file.read_text("utf-8").partition("\n")[0] for file in sorted(FOLDER.glob("0*.md"))}
    assert {name: f"# {number}. {title}" for number, title, name in rows} == titles
    assert (
        [int(number) for number, _, _ in rows] == [int(name[:4]) for name in titles] == list(range(1, len(titles) + 1))
    )
