"""Cheaper changes than a drive that the counters of a past MapReduce job suggest."""

from collections.abc import Iterator
from math import ceil

from assay.engine.past.formats import MANY_PIECES, MUCH_BYTES, SMALL_PIECE_BYTES, Rule, Suggestion, compressing
from assay.engine.past.job import MAP, REDUCE, PastJob
from assay.model.naming import bytes_text

_COMPRESS = "mapreduce.map.output.compress"
_MIB = 1 << 20
_BLOCK = 128 * _MIB
_MOST_SORT_MIB = 2047
"""Hadoop takes no larger buffer."""
_SPILLED_AGAIN = 1.1
_SMALL_SHARE, _MANY_MAPS = 0.25, 20
_LARGE_REDUCE = 1 << 30
_WAITING_SHARE = 0.1
_HEAP_SHARE = 0.8
"""Of a container, the heap that Hadoop gives a task by default (mapreduce.job.heap.memory-mb.ratio)."""
_ACCOUNTING_BYTES = 16
"""What the sort buffer needs for each record (Hadoop: MapTask.METASIZE)."""


def spills_per_record(job: PastJob) -> float | None:
    """How often maps wrote each record that they emitted; None where they emitted none. A combiner makes it small."""
    maps = job.stage(MAP)
    if maps is None or not maps.whole.output_records or not maps.whole.map_output_on_disk:
        return None
    return maps.whole.spilled_records / maps.whole.output_records


def _sort_buffer(job: PastJob) -> Iterator[Suggestion]:
    maps, ratio = job.stage(MAP), spills_per_record(job)
    if maps is None or ratio is None or ratio < _SPILLED_AGAIN or maps.whole.map_output_on_disk < MUCH_BYTES:
        return
    now = job.sort_mib
    patch: tuple[str, ...] = ()
    largest = maps.whole.map_output + maps.whole.output_records * _ACCOUNTING_BYTES
    needed_mib = ceil(largest / max(1, maps.whole.tasks) / job.spill_share / _MIB * 1.1)
    if needed_mib <= now:
        change = f"spread the map outputs evenly: the largest of them don't fit into the sort buffer of {now:.0f} MiB"
    elif needed_mib <= _MOST_SORT_MIB:
        change = (
            f"mapreduce.task.io.sort.mb from {now:.0f} to {needed_mib}, if the maps' heap has room for it: each record "
            "is then written once"
        )
        more_mib = ceil(needed_mib - now)
        patch = (
            f"- mapreduce.task.io.sort.mb={now:.0f}", f"+ mapreduce.task.io.sort.mb={needed_mib}",
            f"# trap: raise -Xmx in mapreduce.map.java.opts by {more_mib} MB, or maps run out of memory, and",
            f"#   mapreduce.map.memory.mb by {ceil(more_mib / _HEAP_SHARE)}; fewer maps may run at once then",
        )  # fmt: skip
    else:
        change = "more and smaller maps: their output does not fit into any sort buffer"
    counter = (
        f"SPILLED_RECORDS of maps {maps.whole.spilled_records:,} for MAP_OUTPUT_RECORDS {maps.whole.output_records:,}"
    )
    yield Suggestion("sort buffer", change, counter, patch)


def _small_fetches(job: PastJob) -> Iterator[Suggestion]:
    reduces = job.stage(REDUCE)
    if reduces is None or reduces.whole.fetches < MANY_PIECES or reduces.whole.fetched < MUCH_BYTES:
        return
    piece = reduces.whole.fetched / reduces.whole.fetches
    if piece < SMALL_PIECE_BYTES:
        yield Suggestion(
            "small pieces",
            "fewer maps (mapreduce.input.fileinputformat.split.minsize) or fewer reducers: each piece costs a hard "
            "disk a positioning",
            f"REDUCE_SHUFFLE_BYTES {bytes_text(reduces.whole.fetched)} in SHUFFLED_MAPS {reduces.whole.fetches:,} "
            f"pieces of {bytes_text(piece)}",
        )


def _map_output_compression(job: PastJob) -> Iterator[Suggestion]:
    reduces = job.stage(REDUCE)
    compressed = job.setting(_COMPRESS, "false").lower() == "true"
    if reduces is None or compressed or not job.settings or reduces.whole.fetched < MUCH_BYTES:
        return
    yield Suggestion(
        "compression",
        f"{_COMPRESS}=true with Snappy, LZ4 or Zstandard: fewer bytes to spill, merge and fetch",
        f"REDUCE_SHUFFLE_BYTES {bytes_text(reduces.whole.fetched)}, and {_COMPRESS} is false",
        compressing(job, _COMPRESS, f"{_COMPRESS}.codec"),
    )


def _reducers(job: PastJob) -> Iterator[Suggestion]:
    reduces, nodes = job.stage(REDUCE), len(job.nodes)
    if reduces is None or not 0 < job.reduces < nodes:
        return
    each = reduces.whole.fetched / job.reduces
    least = "at least " if job.nodes_are_sampled else ""
    if each >= _LARGE_REDUCE:
        yield Suggestion(
            "few reducers",
            f"mapreduce.job.reduces from {job.reduces} to {nodes} or more, where the result allows it: then all nodes' "
            "drives take part",
            f"REDUCE_SHUFFLE_BYTES {bytes_text(each)} for each of {job.reduces} reducers on {least}{nodes} nodes",
        )


def _small_files(job: PastJob) -> Iterator[Suggestion]:
    maps = job.stage(MAP)
    if maps is None or maps.whole.tasks < _MANY_MAPS or not maps.whole.store_read:
        return
    each = maps.whole.store_read / maps.whole.tasks
    if each < _SMALL_SHARE * job.number("dfs.blocksize", _BLOCK):
        yield Suggestion(
            "small files",
            "CombineTextInputFormat (Hive and Pig have it as a setting) or fewer, larger files: starts take most of "
            "such maps",
            f"HDFS_BYTES_READ {bytes_text(each)} for each of {maps.whole.tasks:,} maps",
        )


def _slow_start(job: PastJob) -> Iterator[Suggestion]:
    reduces = job.stage(REDUCE)
    if reduces is None or not reduces.whole.task_ms:
        return
    share = reduces.early_ms / job.whole.task_ms
    if share >= _WAITING_SHARE:
        now = job.setting("mapreduce.job.reduce.slowstart.completedmaps", "0.05")
        yield Suggestion(
            "slow start",
            f"mapreduce.job.reduce.slowstart.completedmaps from {now} to 0.8 or more: reducers hold containers while "
            "maps still run",
            f"reducers waited for maps in {share:.0%} of all task time",
        )


RULES: tuple[Rule, ...] = (
    _sort_buffer, _map_output_compression, _small_fetches, _reducers, _small_files, _slow_start,
)  # fmt: skip
