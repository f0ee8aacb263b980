"""Proves that links between pages lead somewhere: each file is there, and each anchor is a heading of its page."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/README.md")]
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


@cache
def anchors(page: Path) -> frozenset[str]:
    """As GitHub makes them of headings: lower case, without punctuation, hyphens for spaces, numbered where equal."""
    found: dict[str, int] = {}
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL), re.MULTILINE):
        words = re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "]", heading).lower()).replace(" ", "-")
        found[words] = found.get(words, -1) + 1
        if found[words]:
            found[f"{words}-{found[words]}"] = 0
    return frozenset(found)


def broken(page: Path) -> list[str]:
    """Links of a page that lead nowhere."""
    links = [link for link in LINK.findall(CODE.sub("", page.read_text())) if not re.match(r"[a-z]+:", link)]
    lost = []
    for link in links:
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            lost.append(link)
    return lost


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_a_page_lead_somewhere(page):
    assert broken(page) == []


def test_a_lost_file_and_a_lost_heading_are_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A `word`, twice\n\n[a](page.md#a-word-twice) [b](#none) [c](lost.md) `[d](code.md)`\n")
    assert broken(page) == ["#none", "lost.md"]
