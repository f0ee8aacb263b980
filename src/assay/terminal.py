"""The terminal: names and texts of users and files are shown on it, and never control it."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from assay.model.naming import printable


class SafeConsole(Console):
    """Rich's console, which shows control characters of what it prints, such as an escape in a name, as text."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Rich's own control of cursor and colours stays: it stands in other segments."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)
