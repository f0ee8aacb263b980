"""A job's I/O signature: what it asks of its disks, by phase and role.

`Requests` and `Counted` are what a probe saw; the record keeps only what `assay.stats.signature` makes of them.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np

from assay.model.base import Frozen
from assay.model.quantity import ClockTimeS, Count, Kind
from assay.model.record import Basis

SIGNATURE_VERSION: Literal[1] = 1

KnownLevel = Annotated[float | None, Kind.LEVEL]
KnownClockTime = Annotated[float | None, Kind.CLOCK_TIME]

Direction = Literal["read", "write"]
DIRECTIONS: tuple[Direction, ...] = ("read", "write")

OTHER = "other"
"""The role of requests that belonged to no file that was seen: the file system's own, and those of files gone before
they were looked at. The other roles are those of the cluster's directories."""

OUTSIDE = "outside"
"""The phase in which no task attempt was running; the others are the engine's."""

READ_KIND, WRITE_KIND, FLUSH_KIND, DISCARD_KIND = range(4)

Array: TypeAlias = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Requests:
    """The requests that one medium got, one element each; of no order.

    `arrived_ns` is since the epoch, `role` an index into `roles`, of which OTHER is the last, `kind` one of the
    four above, `offset` the first byte on the device. `dropped` requests were seen and could not be kept.
    """

    medium: str
    source: str
    arrived_ns: Array
    offset: Array
    bytes: Array
    latency_ns: Array
    kind: Array
    role: Array
    roles: tuple[str, ...]
    dropped: int = 0


@dataclass(frozen=True)
class Counted:
    """What a medium's counters gained in each interval, where its requests could not be seen one by one.

    `time_ns` is each interval's end since the epoch. All belongs to `role`, if the medium has a single one.
    """

    medium: str
    time_ns: Array
    requests: dict[Direction, Array]
    bytes: dict[Direction, Array]
    latency_s: dict[Direction, Array]
    role: str = OTHER


class Access(Frozen):
    """One line of a signature: what one phase of one job read or wrote of one role on one medium.

    `bytes` and `requests` are no whole numbers where phases overlapped, since a request is then shared out between
    them. `sequential_share` is the share of the bytes in requests that begin where one of the last 32 of that medium
    and direction ended. Half of the requests are of `median_request_bytes` at most; half of the bytes are in requests
    of `typical_request_bytes` at most. `streams` is how many sequential runs (two requests or more of this line) were
    under way at once, from the first's arrival to the last's answer, on average over the time in which any was; a pause
    of more than a second is no part of a run. `active_s` is how many seconds of the clock had any request of this line.
    `depth` is how many requests the medium had under way when one of these arrived, itself included, on average;
    `gap_ms_mean` and `gap_ms_median` are the time from one request of this line to the next. None is what can't be
    told: on a basis of `estimated`, or of a single request.
    """

    job: str
    phase: str
    medium: str
    role: str
    direction: Direction
    basis: Basis = "measured"
    bytes: Annotated[float, Kind.BYTES]
    requests: Annotated[float, Kind.COUNT]
    sequential_share: KnownLevel = None
    median_request_bytes: KnownLevel = None
    typical_request_bytes: KnownLevel = None
    streams: KnownLevel = None
    depth: KnownLevel = None
    latency_ms_mean: KnownClockTime = None
    latency_ms_p99: KnownClockTime = None
    gap_ms_mean: KnownClockTime = None
    gap_ms_median: KnownClockTime = None
    active_s: ClockTimeS


class PhaseUse(Frozen):
    """One phase of one job: its attempts' time added up, when any of them ran, and processor time.

    `cpu_s` is from the attempts' counters. Hadoop's (CPU_MILLISECONDS) begin after the task's start-up: what its JVM
    needs until the task is initialised is in no counter, and is most of a short attempt's processor time. It is
    measured for attempts of one phase, such as maps; one of several, such as a reduce, has one counter for all, which
    is shared out by their times, and so estimated.
    `bytes` are those of all its lines.
    """

    job: str
    phase: str
    attempts: Count
    attempt_s: ClockTimeS
    elapsed_s: ClockTimeS
    cpu_s: Annotated[float | None, Kind.PROCESSOR_TIME] = None
    cpu_basis: Basis = "measured"
    bytes: Annotated[float, Kind.BYTES] = 0.0

    @property
    def cpu_s_per_byte(self) -> float | None:
        """Processor seconds for each byte; None where there was no I/O or no counter."""
        return self.cpu_s / self.bytes if self.cpu_s is not None and self.bytes else None


class TracedMedium(Frozen):
    """How one medium's requests were seen, and how much of them could not be put down to a role.

    `bytes` and `requests` are reads and writes of the whole trial, staging included; `flushes` and `discards` are
    requests; `dropped` requests are in none of these.
    """

    medium: str
    source: str
    basis: Basis
    requests: float
    bytes: float
    other_share: float
    flushes: int = 0
    discards: int = 0
    dropped: int = 0


class Signature(Frozen):
    """The I/O signature of a trial's jobs."""

    schema_version: Literal[1] = SIGNATURE_VERSION
    accesses: tuple[Access, ...]
    phases: tuple[PhaseUse, ...]
    media: tuple[TracedMedium, ...]
