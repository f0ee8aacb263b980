"""Which study an experiment reproduces, and by how much its sizes are scaled: told by its name alone.

`thesis-table-9`, `thesis-figures-2-3`, `hybrid-figure-3a`; with `-scaled` in it, the form for a small machine.
"""

import re

from assay.model.base import Frozen
from assay.study.published import StudyName

SCALED = "-scaled"
_NAME = re.compile(r"(thesis|hybrid)-(?:tables?|figures?)-[0-9a-z]+(?:-[0-9a-z]+)*")
DATA_GB = 50.0
"""The hybrid study's data set in all figures but the one that varies it."""
DATA_FIGURE = "hybrid-figure-3a"
DATA_SCALE = 1000 / 13.3
"""In the scaled form 13.3 MB stand for 1 GB of data."""
BLOCK_FIGURES, BLOCK_SCALE = ("hybrid-figure-3b", "hybrid-figure-5a"), 4.0
"""Where blocks are varied, 1 MB of a block or of the sort buffer stands for 4 MB in the scaled form."""


class StudyExperiment(Frozen):
    """A study's experiment: its study, its name without `-scaled`, and whether it is the scaled form."""

    study: StudyName
    name: str
    scaled: bool

    def is_or_copies(self, name: str) -> bool:
        """Whether this is the experiment of that name, or one called after it: `hybrid-figure-3a-mine`."""
        return f"{self.name}-".startswith(f"{name}-")

    def data_gb(self, size_bytes: int) -> float:
        """How many GB of the hybrid study's data a size stands for."""
        if not self.scaled:
            return size_bytes / 1e9
        return round(size_bytes / 1e9 * DATA_SCALE, 3) if self.is_or_copies(DATA_FIGURE) else DATA_GB

    def block_mb(self, mib: float) -> float:
        """How many MB of the hybrid study's blocks or buffers a size stands for."""
        return mib * BLOCK_SCALE if self.scaled and any(map(self.is_or_copies, BLOCK_FIGURES)) else mib


def study_experiment(name: str) -> StudyExperiment | None:
    """The study's experiment of this name; None for any other."""
    plain = f"{name}-".replace(f"{SCALED}-", "-").removesuffix("-")
    found = _NAME.fullmatch(plain)
    if found is None:
        return None
    return StudyExperiment.model_validate({"study": found[1], "name": plain, "scaled": plain != name})
