"""What staging took: time, bytes on media and between nodes, processors and memory, apart from what the jobs took.

Bytes of media are those that its devices counted until the staged data was on them, or, where nodes share a device,
those of the nodes' processes. Amplification is the ratio of bytes on media to bytes of input: all copies of what a
store wrote, read again to compact it, or keeps. Where the kernel still held a part of it when staging had ended (a warm
cache on a medium of this machine) the figures are too small by that.
"""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from assay.model.installed import counter_titles
from assay.model.record import Part, Promise, Record
from assay.record.reading import Needed
from assay.stats.nodes import USE_READING, NodeUse, Transfer, node_uses, traffic_bytes, transfers, whole_use

STAGING: tuple[Part, ...] = ("staging",)
STEP = "stage"
COUNTERS = "daemon-counters"
NEEDED = Needed(
    frozenset((probe, part, series) for part in STAGING for probe, series in USE_READING)
    | {(probe, part, "") for part in STAGING for probe in ("network", COUNTERS)},
    frozenset((part, side) for part in STAGING for side in ("reads", "writes")),
)
"""What this module reads of every record."""


class StagingUse(NamedTuple):
    """What one trial's staging took; None is what nobody counted.

    `seconds` is the time until the store had taken the input; `input_bytes` is one copy of that, uncompressed.
    `promise` is what the store guarantees afterwards, and `guaranteed` that in words, with what it did meanwhile.
    `read_bytes` and `written_bytes` are of all media, `traffic` what passed between processes by purpose, `kinds` what
    the store's daemons counted by its title (one copy). `kept_bytes` lie on the media afterwards, logs included.
    """

    trial: str
    seconds: float
    input_bytes: int | None
    promise: Promise
    guaranteed: str
    read_bytes: float | None
    written_bytes: float | None
    disks_estimated: bool
    kept_bytes: int | None
    processor_s: float | None
    memory_bytes: float | None
    traffic: Mapping[str, float]
    kinds: Mapping[str, float]

    @property
    def write_amplification(self) -> float | None:
        """Bytes written to media for each byte of input, all copies together."""
        return _ratio(self.written_bytes, self.input_bytes)

    @property
    def write_amplification_of_copy(self) -> float | None:
        """The same for each copy that the store keeps."""
        return _ratio(self.written_bytes, self.input_bytes and self.input_bytes * self.promise.copies)

    @property
    def read_amplification(self) -> float | None:
        """Bytes read from media for each byte of input."""
        return _ratio(self.read_bytes, self.input_bytes)

    @property
    def space_amplification(self) -> float | None:
        """Bytes that lie on media when staging has ended, for each byte of input: all copies, logs included."""
        return _ratio(self.kept_bytes, self.input_bytes)


FIGURES: Mapping[str, str] = {
    "seconds": "staging_s",
    "input_bytes": "staged_bytes",
    "read_bytes": "staging_read_bytes",
    "written_bytes": "staging_written_bytes",
    "kept_bytes": "staging_kept_bytes",
    "processor_s": "staging_processor_s",
    "memory_bytes": "staging_memory_bytes",
    "write_amplification": "write_amplification",
    "write_amplification_of_copy": "write_amplification_of_copy",
    "read_amplification": "read_amplification",
    "space_amplification": "space_amplification",
}
"""The figures of a `StagingUse`, and what CSV and JSON call them, units last (amplifications are ratios)."""


def staging_use(record: Record) -> StagingUse | None:
    """What a trial's staging took; None of one whose record does not tell how much was staged."""
    step = next((step for step in record.steps if step.name == STEP), None)
    if record.staged is None or step is None:
        return None
    use = whole_use(record, STAGING)
    landed = [landed.bytes for landed in record.landed if landed.when == "staged"]
    return StagingUse(
        trial=record.trial.id, seconds=step.seconds,
        input_bytes=record.staged.bytes if record.staged.basis == "measured" else None,
        promise=record.staged.lasting, guaranteed=record.staged.guaranteed,
        read_bytes=use.read_bytes, written_bytes=use.written_bytes, disks_estimated=use.disks_estimated,
        kept_bytes=sum(landed) if landed else None, processor_s=use.processor_s, memory_bytes=use.memory_bytes,
        traffic=traffic_bytes(record, STAGING), kinds=_kinds(record),
    )  # fmt: skip


def staging_nodes(record: Record) -> tuple[tuple[NodeUse, ...], tuple[Transfer, ...]]:
    """What each of several nodes did while staging, and what passed between every two; nothing for one node."""
    return node_uses(record, STAGING), transfers(record, STAGING)


def figures(use: StagingUse) -> dict[str, float | None]:
    """Its figures as CSV and JSON have them."""
    return {name: getattr(use, field) for field, name in FIGURES.items()}


def medians(uses: Sequence[StagingUse]) -> dict[str, float | None]:
    """The median of each figure over the trials that know it."""
    known = {name: [value for use in uses if (value := figures(use)[name]) is not None] for name in FIGURES.values()}
    return {name: median(values) if values else None for name, values in known.items()}


def _kinds(record: Record) -> dict[str, float]:
    titles = counter_titles()
    counted: dict[str, float] = {}
    for amount in record.amounts:
        if (amount.probe, amount.part) == (COUNTERS, "staging") and (title := titles.get(amount.series)):
            counted[title] = counted.get(title, 0.0) + amount.value
    return {title: counted[title] for title in titles.values() if title in counted}


def _ratio(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None
