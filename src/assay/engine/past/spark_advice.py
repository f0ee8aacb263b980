"""What the counters and settings of a past application of Spark suggest: cheaper changes than a drive, and a test."""

from collections.abc import Iterator, Mapping

from assay.engine.past.formats import MANY_PIECES, MUCH_BYTES, SMALL_PIECE_BYTES, Rule, Suggestion
from assay.engine.past.job import PastJob
from assay.engine.past.taken_over import TakenOver
from assay.model.naming import bytes_text

_UNCHANGED = (
    "spark.io.compression.codec", "spark.serializer", "spark.shuffle.compress", "spark.shuffle.spill.compress",
    "spark.sql.adaptive.enabled",
)  # fmt: skip
"""Properties whose values fit anywhere; sizes belong to the machine."""


def taken_over(settings: Mapping[str, str]) -> TakenOver:
    """What a test of an application elsewhere takes over."""
    return TakenOver({name: settings[name] for name in _UNCHANGED if name in settings})


def _spills(job: PastJob) -> Iterator[Suggestion]:
    spilled = sum(stage.whole.local_read for stage in job.stages)
    if spilled < MUCH_BYTES:
        return
    widest = max(job.stages, key=lambda stage: stage.whole.local_read)
    yield Suggestion(
        "spills",
        "more partitions (spark.sql.shuffle.partitions, or the number that the shuffle is given) or more memory for "
        "each core of an executor: what fits into memory is not spilled",
        f"Disk Bytes Spilled {bytes_text(spilled)}, {bytes_text(widest.whole.local_read)} of it in {widest.name}",
    )


def _small_blocks(job: PastJob) -> Iterator[Suggestion]:
    fetched, blocks = job.whole.fetched, job.whole.fetches
    if blocks < MANY_PIECES or fetched < MUCH_BYTES or fetched / blocks >= SMALL_PIECE_BYTES:
        return
    yield Suggestion(
        "small pieces",
        "fewer partitions, larger input splits, or adaptive execution that joins small ones "
        "(spark.sql.adaptive.enabled): each block costs a hard disk a positioning",
        f"{bytes_text(fetched)} fetched in {blocks:,} blocks of {bytes_text(fetched / blocks)}",
    )


def _shuffle_compression(job: PastJob) -> Iterator[Suggestion]:
    if job.setting("spark.shuffle.compress", "true").lower() != "false" or job.whole.local_written < MUCH_BYTES:
        return
    yield Suggestion(
        "compression",
        "spark.shuffle.compress=true, as it is by default: fewer bytes to write and fetch",
        f"Shuffle Bytes Written {bytes_text(job.whole.map_output_on_disk)}, and spark.shuffle.compress is false",
    )


RULES: tuple[Rule, ...] = (_spills, _shuffle_compression, _small_blocks)
