"""Proves that the page on adding a kind shows the very files that the other tests here run."""

import re
from pathlib import Path

import pytest

TOYS = Path(__file__).parent
PAGE = TOYS.parents[1] / "docs" / "how-to" / "add-a-kind.md"
SHOWN = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.mark.parametrize("kind", ["medium", "workload", "probe", "store", "engine"])
def test_the_page_shows_the_file_of_each_kind(kind):
    assert (TOYS / f"{kind}.py").read_text() in SHOWN


def test_it_shows_nothing_else():
    assert len(SHOWN) == 5
