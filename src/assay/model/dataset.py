"""Datasets: named inputs that are read, downloaded and checked, or generated from a seed."""

from pathlib import Path
from typing import Literal, Protocol

from pydantic import Field

from assay.model.base import Frozen
from assay.model.graph import Graph, GraphFacts, StagedFile
from assay.model.progress import Progress

MOST_SEED = 2**31 - 1


class DatasetSpec(Frozen):
    """Which input a trial uses: exactly one of `file`, `get` (a catalogue name) and `make` (a preset's name).

    None of them stands for no dataset: the workload makes its own input.

    `format` names the form of a file where it can't be recognised (`edges`: every line counts); `header_lines` how
    many lines that aren't comments stand before the first edge (None: recognise). `seed` and `scale` belong to `make`
    (`scale` 0.1 is a tenth of the preset's nodes and edges).
    """

    name: str
    file: Path | None = None
    format: Literal["auto", "snap", "konect", "csv", "matrix-market", "edges"] = "auto"
    header_lines: int | None = Field(default=None, ge=0)
    get: str | None = None
    make: str | None = None
    seed: int = Field(default=1, ge=0)
    scale: float = 1.0

    @property
    def is_none(self) -> bool:
        """There is no dataset."""
        return self.file is None and self.get is None and self.make is None


# The word for the experiment's dataset where a workload's option may name any input.
DATASET = "dataset"

NO_DATASET = DatasetSpec(name="none")


class Dataset(Protocol):
    """A named input graph."""

    spec: DatasetSpec

    def prepare(self, progress: Progress) -> StagedFile:
        """Make the file available locally (read, download and check, or generate; cached). Idempotent.

        Raises BadInputError with file, line and cure when the input can't be used.
        """
        ...

    def facts(self) -> GraphFacts:
        """The counts of the prepared graph (cached beside it)."""
        ...

    def graph(self) -> Graph:
        """The prepared graph in memory, read by Assay's own reader, not by the jobs."""
        ...
