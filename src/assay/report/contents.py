"""A page's table of contents, and an address and a link for each of its headings."""

import re
from html import unescape
from typing import NamedTuple

HEADING = re.compile(r"<h([2-4])([^>]*)>(.*?)</h\1>", re.DOTALL)
HERE = "<!-- contents -->"
"""Where a page wants its table of contents."""
LEAST = 3
"""Fewer sections are seen at a glance."""
MOST_WITHIN = 12
"""Parts of one section that are listed."""


class Heading(NamedTuple):
    """One heading: its level, its address within the page, and its words as HTML."""

    level: int
    id: str
    words: str


def with_contents(html: str) -> str:
    """The page with an `id` and a link for each heading of levels 2 to 4, and the table of contents in its place.

    An address is made of the heading's words and those of what it lies in, so that it stays the same as long as they
    do; headings that have an `id` keep it.
    """
    headings: list[Heading] = []
    taken = set(re.findall(r'\bid="([^"]+)"', html))
    above: dict[int, str] = {}

    def linked(found: re.Match[str]) -> str:
        level, attributes, words = int(found[1]), found[2], found[3]
        own = re.search(r'\bid="([^"]+)"', attributes)
        address = own[1] if own else _address(words, above.get(level - 1, "") if level > 2 else "", taken)
        taken.add(address)
        for lower in range(level, 5):
            above[lower] = address
        if "headline" not in attributes:  # an answer is seen before the contents
            headings.append(Heading(level, address, words))
        named = attributes if own else f'{attributes} id="{address}"'
        link = f'<a class="anchor" href="#{address}" aria-label="link to this heading">#</a>'
        return f"<h{level}{named}>{words} {link}</h{level}>"

    linked_html = HEADING.sub(linked, html)
    return linked_html.replace(HERE, _contents(headings), 1)


def _address(words: str, above: str, taken: set[str]) -> str:
    plain = unescape(re.sub(r"<[^>]*>", "", words)).lower()
    own = re.sub(r"[^a-z0-9]+", "-", plain).strip("-") or "part"
    base = f"{above}-{own}" if above else own
    return next(one for number in range(1, 10**6) if (one := base if number == 1 else f"{base}-{number}") not in taken)


def _contents(headings: list[Heading]) -> str:
    """Sections, each with its parts; nothing for a page of few."""
    sections = [one for one in headings if one.level == 2]
    if len(sections) < LEAST:
        return ""
    within: dict[str, list[Heading]] = {}
    section = ""
    for one in headings:
        if one.level == 2:
            section = one.id
        elif one.level == 3:
            within.setdefault(section, []).append(one)
    lines = [f"<li>{_link(one)}{_parts(within.get(one.id, []))}</li>" for one in sections]
    return f'<nav id="contents" aria-label="contents"><ol>{"".join(lines)}</ol></nav>'


def _parts(headings: list[Heading]) -> str:
    if len(headings) < 2:
        return ""
    more = f"<li>and {len(headings) - MOST_WITHIN} more</li>" if len(headings) > MOST_WITHIN else ""
    return f"<ul>{''.join(f'<li>{_link(one)}</li>' for one in headings[:MOST_WITHIN])}{more}</ul>"


def _link(heading: Heading) -> str:
    return f'<a href="#{heading.id}">{re.sub(r"<[^>]*>", "", heading.words)}</a>'
