"""Assay: which storage do my Hadoop jobs need, and what would I gain?"""

from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.record.tables import Run

__version__ = "0.1.0"


def load(run: "str | PathLike[str]") -> "Run":
    """A run folder's results as tables, each read when it is asked for. Raises BadInputError when it is no run."""
    from pathlib import Path

    from assay.record.tables import Run

    return Run(Path(run))
