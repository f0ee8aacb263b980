"""Results: what running one trial gives, all of which is written into its record's folder."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from assay.model.record import Record, Sample, TaskAttempt
from assay.model.signature import Signature
from assay.model.task import TaskPhases
from assay.model.walked import Walked


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
