"""Whether an experiment asked its question well: did the bytes reach the drives, and were these busy?

Emulated drives count what was read from them, written to them and how long they were busy; of other media only the
busy time is known, from the kernel's statistics (/proc/diskstats).
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from assay.model.base import Frozen
from assay.model.record import FILE_SYSTEM_COUNTERS, TASK_COUNTERS, Record

READ_SHARE, WRITTEN_SHARE, BUSY_SHARE = 0.6, 0.8, 0.5
"""The least that must be read from the drives, be on them before the jobs end, and the base's drives be busy."""

READ, WRITTEN, BUSY = "read-from-drive", "written-before-the-end", "base-busy"


class Condition(Frozen):
    """Something that must hold for the experiment to ask its question well: a share (0 to 1) and the least it may be.

    `subject` is the placement that it was measured on; `share` is None where it could not be measured.
    """

    kind: str
    subject: str
    share: float | None
    least: float

    @property
    def met(self) -> bool:
        """Whether it was measured and is large enough."""
        return self.share is not None and self.share >= self.least


def conditions(by_placement: Mapping[str, Sequence[Record]], base: str) -> tuple[Condition, ...]:
    """Of the trials of each placement but the baseline, by the median; none where drives are not emulated."""
    if not all(_emulated(record) for own in by_placement.values() for record in own):
        return ()
    found = []
    for placement, own in by_placement.items():
        found.append(Condition(kind=READ, subject=placement, share=_median(own, read_share), least=READ_SHARE))
        found.append(Condition(kind=WRITTEN, subject=placement, share=_median(own, written_share), least=WRITTEN_SHARE))
    busy = _median(by_placement.get(base, ()), busy_share)
    return (*found, Condition(kind=BUSY, subject=base, share=busy, least=BUSY_SHARE))


def busy_seconds(record: Record) -> float | None:
    """How long the trial's drives were busy while its jobs ran, added up; None where nobody measured all of them."""
    seconds = 0.0
    measured = {(one.subject, one.series): one.value for one in record.amounts if one.part == "run"}
    for medium in record.trial.media:
        reports = record.devices.get(medium.name)
        if reports is not None:
            own: Any = reports.get("run", {})
            seconds += float(own.get("busy_seconds", 0.0))
        elif (medium.name, "busy_s") in measured:
            seconds += measured[medium.name, "busy_s"]
        elif medium.kind != "memory":
            return None
    return seconds


def read_share(record: Record) -> float | None:
    """What came from the drives of all that the jobs read: from HDFS, from local directories and in the shuffle."""
    if record.totals is None:
        return None
    files = record.totals.counters.get(FILE_SYSTEM_COUNTERS, {})
    tasks = record.totals.counters.get(TASK_COUNTERS, {})
    wanted = files.get("FILE_BYTES_READ", 0) + files.get("HDFS_BYTES_READ", 0) + tasks.get("REDUCE_SHUFFLE_BYTES", 0)
    return min(1.0, _device_bytes(record, "run", "reads") / wanted) if wanted else None


def written_share(record: Record) -> float | None:
    """What was on the drives when the jobs ended, of all that the jobs wrote to HDFS and local directories."""
    if record.totals is None:
        return None
    files = record.totals.counters.get(FILE_SYSTEM_COUNTERS, {})
    wanted = files.get("FILE_BYTES_WRITTEN", 0) + files.get("HDFS_BYTES_WRITTEN", 0)
    return min(1.0, _device_bytes(record, "run", "writes") / wanted) if wanted else None


def busy_share(record: Record) -> float | None:
    """How much of the time from submission to end the busiest of the drives was busy."""
    if record.totals is None or not record.totals.submitted_s:
        return None
    reports: Any = [own.get("run", {}) for own in record.devices.values()]
    busiest = max((float(one.get("busy_seconds", 0.0)) for one in reports), default=0.0)
    return min(1.0, busiest / record.totals.submitted_s)


def _emulated(record: Record) -> bool:
    return all(medium.kind == "emulated" and medium.name in record.devices for medium in record.trial.media)


def _device_bytes(record: Record, part: str, way: str) -> int:
    reports: Any = record.devices.values()
    return sum(int(one[part][way]["bytes"]) for one in reports if part in one)


def _median(records: Sequence[Record], share: Callable[[Record], float | None]) -> float | None:
    known = [value for record in records if (value := share(record)) is not None]
    return median(known) if known else None
