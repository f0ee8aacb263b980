"""What all pages are made with: templates with the words that they share, addresses of headings, tables of contents."""

import re
from collections.abc import Collection
from typing import Any

from assay.model.naming import bytes_text
from assay.report.answer import interval_text, percent
from assay.report.bias import bias_text
from assay.report.words import number_text, seconds_text, significant_text

HEADING = re.compile(r"<h([2-4])([^>]*)>(.*?)</h\1>", re.DOTALL)
HERE = "<!-- contents -->"
"""Where a page wants its table of contents."""
LEAST = 3
"""Fewer sections are seen at a glance."""
MOST_WITHIN = 12
"""Parts of one section that are listed."""


def with_contents(html: str) -> str:
    """The page with an `id` and a link for each heading of levels 2 to 4, and the table of contents in its place.

    An address is made of the heading's words and those of what it lies in, so that it stays the same as long as they
    do; headings that have an `id` keep it.
    """
    from markupsafe import Markup

    sections: list[tuple[dict[str, str], list[dict[str, str]]]] = []
    taken = set(re.findall(r'\bid="([^"]+)"', html))
    above: dict[int, str] = {}

    def linked(found: re.Match[str]) -> str:
        level, attributes, words = int(found[1]), found[2], Markup(found[3]).striptags()  # noqa: S704 - made here
        own = re.search(r'\bid="([^"]+)"', attributes)
        place = own[1] if own else address(f"{above.get(level - 1, '') if level > 2 else ''} {words}", taken)
        taken.add(place)
        above.update(dict.fromkeys(range(level, 5), place))
        shown = "headline" not in attributes  # an answer is seen before the contents
        if shown and level == 2:
            sections.append(({"id": place, "words": words}, []))
        elif shown and level == 3 and sections:
            sections[-1][1].append({"id": place, "words": words})
        named = attributes if own else f'{attributes} id="{place}"'
        link = f'<a class="anchor" href="#{place}" aria-label="link to this heading">#</a>'
        return f"<h{level}{named}>{found[3]} {link}</h{level}>"

    linked_html = HEADING.sub(linked, html)
    contents = template("macros.html.j2").module.contents(sections, MOST_WITHIN) if len(sections) >= LEAST else ""
    return linked_html.replace(HERE, str(contents), 1)


def address(words: str, taken: Collection[str]) -> str:
    """Words as an address within a page, with a number where it is taken."""
    base = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-") or "part"
    numbered = (base if number == 1 else f"{base}-{number}" for number in range(1, len(taken) + 2))
    return next(one for one in numbered if one not in taken)


def template(name: str, package: str = "assay.report") -> Any:
    """One that lies in a package; it may include those of the reports, and has what all of them use."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    loader = ChoiceLoader([PackageLoader(fromkey, ".") for fromkey in dict.fromkeys((package, "assay.report"))])
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    environment.filters |= {
        "seconds": seconds_text,
        "size": bytes_text,
        "number": number_text,
        "significant": significant_text,
        "exactly": lambda value: "" if value is None else repr(value),  # all digits, for those who take them away
        # words between back quotes as code; escaped before
        "coded": lambda words: Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(words)))),  # noqa: S704
        "percent": percent,
        "interval": interval_text,
        "bias": bias_text,
        "p_value": lambda p: "not tested" if p is None else "under 0.001" if p < 0.001 else f"{p:.3f}",
    }
    return environment.get_template(name)
