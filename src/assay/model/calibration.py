"""Calibrations: what fio measured of a medium, and which of its figures have names."""

from collections.abc import Mapping
from typing import Literal

from assay.model.base import Frozen
from assay.model.doubt import Doubt
from assay.model.drive_profile import Figure

SCHEMA_VERSION: Literal[1] = 1


class Access(Frozen):
    """One way of using a medium.

    `depth` requests are in flight per stream, `streams` run at once, each in a part of its own. `buffered` goes through
    the page cache (which is cold for reads), else with O_DIRECT. `fsync`: `end` writes out once, inside the measured
    time, `each` after every block. `span` is what it happens on: a test file, or the whole block device; a sequential
    access begins at `start_share` of it, 0 to 1.
    """

    direction: Literal["read", "write"]
    pattern: Literal["sequential", "random"]
    block_bytes: int
    depth: int = 1
    streams: int = 1
    buffered: bool = False
    fsync: Literal["never", "end", "each"] = "never"
    span: Literal["file", "device"] = "file"
    start_share: float = 0.0


class Point(Access):
    """One access as it was measured for `seconds`.

    `mb_s` is 10^6 bytes a second over all streams, `iops` requests of `block_bytes` a second. Latencies are of one
    request from submission to completion; with `fsync: each` they are of the fsync that follows it.
    """

    mb_s: float
    iops: float
    latency_us_median: float
    latency_us_p99: float
    seconds: float

    @property
    def access(self) -> Access:
        """What was done, without what came of it."""
        return Access(**{name: getattr(self, name) for name in Access.model_fields})


class Knee(Frozen):
    """Where a long sequential write falls from the write cache's rate to the rate beyond it."""

    knee_bytes: int
    before_mb_s: float
    beyond_mb_s: float


Form = Literal["named", "brief", "full"]


class Calibration(Frozen):
    """All that was measured of one medium at one time, with the facts it holds for.

    `form` says how finely, `budget_s` for how long.
    `medium` is its name for people; a calibration is good for exactly these `facts`. `file_bytes` is the test file's
    size, `device_bytes` the block device's where it was measured as a whole. `expected` is empty but for emulated
    drives.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    medium: str
    facts: Mapping[str, str]
    fio_version: str
    taken: str
    form: Form = "brief"
    budget_s: float = 0.0
    file_bytes: int
    device_bytes: int | None = None
    points: tuple[Point, ...]
    knee: Knee | None = None
    doubts: tuple[Doubt, ...] = ()
    expected: Mapping[str, Figure] = {}
