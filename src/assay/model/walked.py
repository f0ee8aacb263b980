"""Sequences of samples made to be walked through: a long trial has millions, and no reader picks single ones."""

from abc import ABC
from collections.abc import Sequence
from typing import overload

from assay.model.record import Sample


class Walked(Sequence[Sample], ABC):
    """Whoever says how many there are and gives them one by one is a sequence with it."""

    @overload
    def __getitem__(self, index: int) -> Sample: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Sample]: ...

    def __getitem__(self, index: int | slice) -> Sample | Sequence[Sample]:
        """By position in the order of iteration; slow."""
        return list(self)[index]
