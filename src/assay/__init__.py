"""Assay: which storage do my Hadoop jobs need, and what would I gain?"""

from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.stats.tables import Run

    __version__: str
    """The release and a digest of the source."""
else:

    def __getattr__(name: str) -> str:
        """`__version__`, when it is asked for: it takes reading the whole source."""
        if name != "__version__":
            raise AttributeError(f"module 'assay' has no attribute {name!r}")
        from assay.version import version

        return version()


def load(run: "str | PathLike[str]") -> "Run":
    """A run folder's results as tables, each read when it is asked for. Raises BadInputError when it is no run."""
    from pathlib import Path

    from assay.stats.tables import Run

    return Run(Path(run))
