"""Calibrations: what fio measured of a medium, which of its figures have names, and where that is kept.

On disk there is one JSON file per set of facts, reused while schema, medium and facts are the same:
CACHE/calibrations/<name>-<digest of the facts>.json appears by one rename. A file that can't be read, or is of another
schema, is set aside beside it (`.damaged`), never used and never deleted.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from assay.host.files import replace_text
from assay.model.base import Frozen
from assay.model.doubt import Doubt
from assay.model.drive_profile import Figure, QueueSettings
from assay.model.fact import Fact

SCHEMA_VERSION: Literal[2] = 2


class AccessPattern(Frozen):
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


class AccessPoint(AccessPattern):
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
    def access(self) -> AccessPattern:
        """What was done, without what came of it."""
        return AccessPattern(**{name: getattr(self, name) for name in AccessPattern.model_fields})


class Knee(Frozen):
    """Where a long sequential write falls from the write cache's rate to the rate beyond it."""

    knee_bytes: int
    before_mb_s: float
    beyond_mb_s: float


class Both(Frozen):
    """Reads and writes at the same time."""

    read_mb_s: float
    write_mb_s: float

    @property
    def mb_s(self) -> float:
        """Together."""
        return self.read_mb_s + self.write_mb_s


class Burst(Frozen):
    """One direction after idleness: the latency of a short request, and for how long it exceeds its limits."""

    latency_us: float
    burst_ms: float


class Behaviour(Frozen):
    """What a medium does beside its rates.

    `sequential` is of 1 MiB at depth 8 in each direction at once, `random` of 4 KiB at depth 32. `long_read_us` is the
    time of 1 MiB that no limit holds back, `flush_us` of a flush after a written block.
    """

    sequential: Both
    random: Both
    read: Burst
    write: Burst
    long_read_us: float
    flush_us: float


Form = Literal["named", "brief", "full"]


class Calibration(Frozen):
    """All that was measured of one medium at one time, with the facts it holds for.

    `form` says how finely, `budget_s` for how long.
    `medium` is its name for people; a calibration is good for exactly these `facts`. `file_bytes` is the test file's
    size, `device_bytes` the block device's where it was measured as a whole. `expected` is empty but for emulated
    drives; `behaviour` and `queue` are only of directories on a block device with direct I/O.
    """

    schema_version: Literal[2] = SCHEMA_VERSION
    medium: str
    facts: Mapping[str, Fact]
    fio_version: str
    taken: str
    form: Form = "brief"
    budget_s: float = 0.0
    file_bytes: int
    device_bytes: int | None = None
    points: tuple[AccessPoint, ...]
    knee: Knee | None = None
    behaviour: Behaviour | None = None
    queue: QueueSettings | None = None
    doubts: tuple[Doubt, ...] = ()
    expected: Mapping[str, Figure] = {}


class CalibrationFolder:
    """The calibrations of this machine. `said` gets one sentence for every file that was set aside."""

    def __init__(self, cache: Path) -> None:
        self._folder = cache / "calibrations"
        self.said: list[str] = []

    def file(self, medium: str, facts: Mapping[str, Fact]) -> Path:
        """Where a calibration of a medium with these facts lies, whether it is there or not."""
        digest = hashlib.sha256(json.dumps(dict(facts), sort_keys=True).encode()).hexdigest()[:16]
        return self._folder / f"{_file_name(medium)}-{digest}.json"

    def load(self, medium: str, facts: Mapping[str, Fact]) -> Calibration | None:
        """The stored calibration; None when there is none for these facts, or it had to be set aside."""
        file = self.file(medium, facts)
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            self._set_aside(file, f"can't be read ({error})")
            return None
        try:
            calibration = Calibration.model_validate_json(text)
        except ValidationError as error:
            self._set_aside(file, _why(text, error))
            return None
        if dict(calibration.facts) != dict(facts):
            self._set_aside(file, "holds the facts of another medium")
            return None
        return calibration

    def store(self, calibration: Calibration) -> Path:
        """Write it where `load` finds it: whole, or not at all."""
        file = self.file(calibration.medium, calibration.facts)
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_text(file, calibration.model_dump_json(indent=1))
        return file

    def _set_aside(self, file: Path, reason: str) -> None:
        aside = file.with_name(f"{file.name}.{uuid.uuid4().hex[:4]}.damaged")
        file.rename(aside)
        self.said.append(f"the stored calibration {file.name} {reason}; it is kept as {aside.name}, measuring again")


def _why(text: str, error: ValidationError) -> str:
    try:
        version = json.loads(text)["schema_version"]
    except (ValueError, KeyError, TypeError):
        return "is damaged"
    if version != SCHEMA_VERSION:
        return f"is of another version ({version}, not {SCHEMA_VERSION})"
    first = error.errors()[0]
    return f"is damaged ({'.'.join(str(part) for part in first['loc'])}: {first['msg']})"


def _file_name(medium: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]+", "-", medium).strip("-.") or "medium"
