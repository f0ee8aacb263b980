"""Sections: what a run's report has beside its answer, from the core or a plug-in."""

from typing import Protocol


class SectionView(Protocol):
    """A section of one run's report; each method's text is put in as it is, and may be empty but for JSON."""

    def summary_html(self) -> str:
        """A sentence for the page's first screen, with a link to the section."""

    def html(self) -> str:
        """The section of the page, from its `<h2 id=...>` on."""

    def text(self) -> str:
        """The section on a terminal."""

    def markdown(self) -> str:
        """The section in Markdown, from its `##` heading on."""

    def json(self) -> str:
        """A JSON value, which stands under the section's name."""
