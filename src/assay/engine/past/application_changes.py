"""Cheaper changes than a drive that a Spark application's own metrics suggest, each with the metric it rests on."""

from collections.abc import Callable, Iterator

from assay.engine.past.change import MANY_PIECES, MUCH_BYTES, SMALL_PIECE_BYTES, Change
from assay.engine.past.job import PastJob
from assay.model.naming import bytes_text


def _spills(job: PastJob) -> Iterator[Change]:
    spilled = sum(stage.whole.local_read for stage in job.stages)
    if spilled < MUCH_BYTES:
        return
    widest = max(job.stages, key=lambda stage: stage.whole.local_read)
    yield Change(
        "spills",
        "more partitions (spark.sql.shuffle.partitions, or the number that the shuffle is given) or more memory for "
        "each core of an executor: what fits into memory is not spilled",
        f"Disk Bytes Spilled {bytes_text(spilled)}, {bytes_text(widest.whole.local_read)} of it in {widest.name}",
    )


def _small_blocks(job: PastJob) -> Iterator[Change]:
    fetched, blocks = job.whole.fetched, job.whole.fetches
    if blocks < MANY_PIECES or fetched < MUCH_BYTES or fetched / blocks >= SMALL_PIECE_BYTES:
        return
    yield Change(
        "small pieces",
        "fewer partitions, larger input splits, or adaptive execution that joins small ones "
        "(spark.sql.adaptive.enabled): each block costs a hard disk a positioning",
        f"{bytes_text(fetched)} fetched in {blocks:,} blocks of {bytes_text(fetched / blocks)}",
    )


def _compression(job: PastJob) -> Iterator[Change]:
    if job.setting("spark.shuffle.compress", "true").lower() != "false" or job.whole.local_written < MUCH_BYTES:
        return
    yield Change(
        "compression",
        "spark.shuffle.compress=true, as it is by default: fewer bytes to write and fetch",
        f"Shuffle Bytes Written {bytes_text(job.whole.map_output_on_disk)}, and spark.shuffle.compress is false",
    )


RULES: tuple[Callable[[PastJob], Iterator[Change]], ...] = (_spills, _compression, _small_blocks)
