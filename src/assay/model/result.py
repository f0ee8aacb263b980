"""Results: what running one trial gives, all of which is written into its record's folder."""

from abc import ABC
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple, overload

from assay.model.record import Record, Sample, TaskAttempt
from assay.model.signature import Signature
from assay.model.task import TaskPhases


class Walked(Sequence[Sample], ABC):
    """Whoever says how many there are and gives them one by one is a sequence with it."""

    @overload
    def __getitem__(self, index: int) -> Sample: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Sample]: ...

    def __getitem__(self, index: int | slice) -> Sample | Sequence[Sample]:
        """By position in the order of iteration; slow."""
        return list(self)[index]


class TrialResult(NamedTuple):
    """A trial's record, and the tables and the signature beside it; `signature` is None where no probe saw requests."""

    record: Record
    attempts: Sequence[TaskAttempt] = ()
    samples: Sequence[Sample] = ()
    phases: Sequence[TaskPhases] = ()
    signature: Signature | None = None


class Joined(Walked):
    """Several probes' samples as one sequence; none is copied, since a long trial has millions."""

    def __init__(self, parts: Sequence[Sequence[Sample]]) -> None:
        self._parts = parts

    def __len__(self) -> int:
        """Samples of all parts."""
        return sum(map(len, self._parts))

    def __iter__(self) -> Iterator[Sample]:
        """Part by part."""
        return chain.from_iterable(self._parts)
