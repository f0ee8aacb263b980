"""What all pages are made with: templates with the words that they share, addresses of headings, tables of contents."""

import re
from collections.abc import Collection
from functools import cache
from typing import Any

from assay.model.naming import bytes_text
from assay.report.answer import interval_text
from assay.report.bias import bias_text
from assay.report.typed import as_typed
from assay.report.words import number_text, percent, seconds_text, shown_level, significant_text

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

    def linked(heading: re.Match[str]) -> str:
        level, attributes, text = int(heading[1]), heading[2], Markup(heading[3]).striptags()  # noqa: S704 - made here
        own_id = re.search(r'\bid="([^"]+)"', attributes)
        anchor = own_id[1] if own_id else address(f"{above.get(level - 1, '') if level > 2 else ''} {text}", taken)
        taken.add(anchor)
        above.update(dict.fromkeys(range(level, 5), anchor))
        shown = "headline" not in attributes  # an answer is seen before the contents
        if shown and level == 2:
            sections.append(({"id": anchor, "words": text}, []))
        elif shown and level == 3 and sections:
            sections[-1][1].append({"id": anchor, "words": text})
        named = attributes if own_id else f'{attributes} id="{anchor}"'
        link = f'<a class="anchor" href="#{anchor}" aria-label="link to this heading">#</a>'
        return f"<h{level}{named}>{heading[3]} {link}</h{level}>"

    linked_html = HEADING.sub(linked, html)
    contents = template("macros.html.j2").module.contents(sections, MOST_WITHIN) if len(sections) >= LEAST else ""
    return linked_html.replace(HERE, str(contents), 1)


def address(text: str, taken: Collection[str]) -> str:
    """Words as an address within a page, with a number where it is taken."""
    base = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "part"
    numbered = (base if number == 1 else f"{base}-{number}" for number in range(1, len(taken) + 2))
    return next(candidate for candidate in numbered if candidate not in taken)


def template(name: str, package: str = "assay.report") -> Any:
    """Load a package's template, which may include the reports' templates and has their filters."""
    return _environment(package).get_template(name)


@cache
def _environment(package: str) -> Any:
    """Make what loads a package's templates, which keeps those that it has compiled."""
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
        "coded": lambda text: Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", as_typed(str(escape(text))))),  # noqa: S704
        "percent": percent,
        "shown_level": shown_level,
        "interval": interval_text,
        "bias": bias_text,
        "p_value": lambda p: "not tested" if p is None else "under 0.001" if p < 0.001 else f"{p:.3f}",
    }
    return environment
