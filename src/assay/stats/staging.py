"""What staging took: time, bytes on media and between nodes, processors and memory, apart from what the jobs took.

Bytes of media are those that its devices counted until the staged data was on them, or, where nodes share a device,
those of the nodes' processes. Amplification is the ratio of bytes on media to bytes of input: all copies of what a
store wrote, read again to compact it, or keeps. Where the kernel still held a part of it when staging had ended (a warm
cache on a medium of this machine) the figures are too small by that.
"""

from collections.abc import Mapping, Sequence
from statistics import median

from assay.model.installed import counter_titles
from assay.model.record import Part, Record
from assay.model.trial_summary import StagingUse
from assay.stats.nodes import NodeUse, Transfer, node_uses, traffic_bytes, transfers, whole_use

STAGING: tuple[Part, ...] = ("staging",)
STEP = "stage"
COUNTERS = "daemon-counters"
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
