"""What the counters and settings of a past DAG of Tez suggest: cheaper changes than a drive, and a test."""

from collections.abc import Iterator, Mapping

from assay.engine.past.formats import MUCH_BYTES, Rule, Suggestion, compressing
from assay.engine.past.job import PastJob
from assay.engine.past.taken_over import (
    BLOCK_SIZE,
    BUNDLED_CODECS,
    SampledJob,
    SampleRules,
    TakenOver,
    tasks_on_drive,
)
from assay.model.naming import bytes_text

_COMPRESS, _CODEC = "tez.runtime.compress", "tez.runtime.compress.codec"
_UNCHANGED = (_COMPRESS, _CODEC, "tez.runtime.io.sort.factor", "tez.runtime.sorter.class")
"""Properties whose values fit anywhere; sizes belong to the machine."""


def taken_over(settings: Mapping[str, str]) -> TakenOver:
    """What a test of a DAG elsewhere takes over."""
    properties = {name: settings[name] for name in _UNCHANGED if name in settings}
    codec = properties.get(_CODEC, "").strip()
    if not codec or codec in BUNDLED_CODECS:
        return TakenOver(properties)
    del properties[_CODEC]
    return TakenOver(properties, f"the bundled Hadoop lacks {codec}, so its default codec takes its place")


def for_sample(job: SampledJob) -> TakenOver:
    """Those for a sample of a query's own input: splits as they are; Hive chooses reducers by the bytes."""
    settings = taken_over(job.settings)
    blocks = {BLOCK_SIZE: job.settings[BLOCK_SIZE]} if BLOCK_SIZE in job.settings else {}
    return settings._replace(properties={**settings.properties, **blocks})


OF_TEZ = SampleRules(for_sample, tasks_on_drive, own_processes=False)
"""Tasks share containers, one after the other."""


def _spills(job: PastJob) -> Iterator[Suggestion]:
    work = job.whole
    again = work.local_written - work.map_output_on_disk
    if again < max(MUCH_BYTES, work.map_output_on_disk):
        return
    yield Suggestion(
        "spills",
        "more memory for what vertices write (tez.runtime.io.sort.mb) and fetch "
        "(tez.runtime.shuffle.fetch.buffer.percent): what fits is written once",
        f"FILE_BYTES_WRITTEN {bytes_text(work.local_written)} for OUTPUT_BYTES_PHYSICAL "
        f"{bytes_text(work.map_output_on_disk)}",
    )


def _compression(job: PastJob) -> Iterator[Suggestion]:
    if not job.settings or job.setting(_COMPRESS, "false").lower() == "true" or job.whole.fetched < MUCH_BYTES:
        return
    yield Suggestion(
        "compression",
        f"{_COMPRESS}=true with Snappy, LZ4 or Zstandard: fewer bytes to write, fetch and merge",
        f"SHUFFLE_BYTES {bytes_text(job.whole.fetched)}, and {_COMPRESS} is false",
        compressing(job, _COMPRESS, _CODEC),
    )


RULES: tuple[Rule, ...] = (_spills, _compression)
