"""Results: what running one trial gives, all of which is written into its record's folder."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from assay.model.record import Record, Sample
from assay.model.signature import Requests, Signature
from assay.model.task import TaskAttempt, TaskPhases


class TrialResult(NamedTuple):
    """A trial's record, and the tables and the signature beside it.

    `signature` is None where no probe saw requests, `requests` empty where none are to be kept. `logs` are the
    platform's of a trial that failed, as a compressed tar archive; empty where there are none.
    """

    record: Record
    attempts: Sequence[TaskAttempt] = ()
    samples: Collection[Sample] = ()
    phases: Sequence[TaskPhases] = ()
    signature: Signature | None = None
    requests: Sequence[Requests] = ()
    logs: bytes = b""
