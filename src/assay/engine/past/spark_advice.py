"""What the counters and settings of a past application of Spark suggest: cheaper changes than a drive, and a test.

Sources: Spark 3.5's documentation (Configuration), `UnifiedMemoryManager`.
"""

from collections.abc import Iterator, Mapping
from math import ceil

from assay.engine.mapreduce_service import offered_for
from assay.engine.past.formats import MANY_PIECES, MUCH_BYTES, SMALL_PIECE_BYTES, Rule, Suggestion
from assay.engine.past.job import PastJob
from assay.engine.past.taken_over import (
    BLOCK_SIZE,
    TASKS_UNKNOWN,
    SampledJob,
    SampleRules,
    TakenOver,
    tasks_text,
)
from assay.engine.spark_service import (
    CORES,
    DRIVER_MEMORY,
    INSTANCES,
    LEAST_HEAP_MB,
    MEMORY,
    PARTITIONS,
    TASK_CORES,
    NodeRoom,
    executors_of,
    master_mb,
    mib_of,
)
from assay.engine.yarn import MIB, MOST_CORES, MOST_CORES_OF_ONE, MOST_OF_ONE, OFFERED, OFFERED_CORES, offer_of
from assay.model.naming import bytes_text

_UNCHANGED = (
    "spark.io.compression.codec", "spark.memory.fraction", "spark.memory.storageFraction", "spark.serializer",
    "spark.shuffle.compress", "spark.shuffle.spill.compress", "spark.sql.adaptive.enabled",
)  # fmt: skip
"""Properties whose values fit anywhere; sizes belong to the machine."""
_SPLITS = (BLOCK_SIZE, "spark.sql.files.maxPartitionBytes")
_MASTER, _ALL_CORES = "spark.master", ("spark:", "mesos")
"""The address of the master, and how those begin whose executors have all cores of their nodes."""
_USUAL = {
    MEMORY: "1g", DRIVER_MEMORY: "1g", CORES: "1", TASK_CORES: "1", "spark.sql.shuffle.partitions": "200", _MASTER: "",
}  # fmt: skip
"""Spark's own values, of cores on YARN and Kubernetes."""
_RESERVED_MB = 300
"""Of an executor's heap, what no task gets."""
_OVERHEAD_SHARE = 0.1


def taken_over(settings: Mapping[str, str]) -> TakenOver:
    """What a test of an application elsewhere takes over."""
    return TakenOver({name: settings[name] for name in _UNCHANGED if name in settings})


def for_sample(job: SampledJob) -> TakenOver:
    """Those for a sample of the application's input: splits as they are, partitions of shuffles in proportion."""
    properties = dict(taken_over(job.settings).properties)
    properties |= {name: job.settings[name] for name in _SPLITS if name in job.settings}
    if job.share is not None:
        given = _numbers(job.settings)
        properties |= {name: str(max(1, round(given[name] * job.share))) for name in PARTITIONS if name in given}
    return TakenOver(properties)


def executor_on_drive(job: SampledJob) -> TakenOver:
    """One executor with as many tasks at once as share a drive on a node, each with as much of its heap as there.

    Nothing, where the user says how large executors are.
    """
    if {INSTANCES, CORES, TASK_CORES, MEMORY, OFFERED} & job.said.keys():
        return TakenOver({})
    if job.on_drive is None:
        return TASKS_UNKNOWN
    task_mb = _task_heap_mb(job)
    most_heap_mb = job.memory_bytes / MIB / (1 + _OVERHEAD_SHARE)
    number = max(1, min(job.on_drive, int((most_heap_mb - _RESERVED_MB) / max(1.0, task_mb))))
    heap_mb = max(LEAST_HEAP_MB, _RESERVED_MB + ceil(number * task_mb))
    executor, offer = {INSTANCES: "1", CORES: str(number), MEMORY: f"{heap_mb}m"}, offer_of(job.said)
    container_mb = offer.rounded(executors_of({**job.said, **executor}, NodeRoom(offer, offer.memory_mb)).memory_mb)
    needed_mb = offer.rounded(master_mb(job.said)) + container_mb
    # MapReduce stages the input.
    offered = str(max(needed_mb, int(offered_for(1, job.said)[OFFERED])))
    # Where a log has any of Spark's properties, it has this one.
    known = "" if _MASTER in job.settings else " (assumed: Spark's default)"
    return TakenOver(
        {
            **executor, OFFERED: offered, MOST_OF_ONE: offered,
            **(dict.fromkeys((MOST_CORES_OF_ONE, OFFERED_CORES), str(number)) if number > MOST_CORES else {}),
        },
        f"{tasks_text(job.on_drive, number)}; an executor of {heap_mb} MiB runs them, so that each has as much memory "
        f"as there{known}",
    )  # fmt: skip


def _task_heap_mb(job: SampledJob) -> float:
    """What of the heap of an executor there each of the tasks has that it runs at once, in MiB."""
    given, numbers = {**_USUAL, **job.settings}, _numbers(job.settings)
    master = given[_MASTER]
    in_driver = master.partition("[")[0] == "local"
    size = given[DRIVER_MEMORY if in_driver else MEMORY].strip()
    heap_mb = mib_of(f"{size}m" if size.isdecimal() else size) or 1024
    at_once: float = numbers[CORES] // max(1, numbers[TASK_CORES])
    if in_driver or (CORES not in job.settings and master.startswith(_ALL_CORES)):
        at_once = job.tasks or 1.0
    return max(0.0, heap_mb - _RESERVED_MB) / max(1.0, at_once)


def _numbers(settings: Mapping[str, str]) -> dict[str, int]:
    """Spark's own whole numbers and those of settings, which may say `auto` in place of one."""
    given = {name: text for name, text in settings.items() if text.isdecimal()}
    return {name: int(text) for name, text in {**_USUAL, **given}.items() if text.isdecimal()}


OF_SPARK = SampleRules(for_sample, executor_on_drive, own_processes=False)


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
        ("- spark.shuffle.compress=false", "+ spark.shuffle.compress=true"),
    )


RULES: tuple[Rule, ...] = (_spills, _shuffle_compression, _small_blocks)
