"""What an experiment takes over of a site's settings: what decides how often a job's bytes meet a drive."""

from collections.abc import Mapping
from typing import NamedTuple

from assay.engine.mapreduce_service import TASK_BYTES, offered_for, tasks_within
from assay.engine.yarn import OFFERED

_SLOW_START, _USUAL_SLOW_START = "mapreduce.job.reduce.slowstart.completedmaps", "0.05"
_COMPRESS, _CODEC = "mapreduce.map.output.compress", "mapreduce.map.output.compress.codec"
_UNCHANGED = (_SLOW_START, _COMPRESS, _CODEC, "mapreduce.task.io.sort.factor")
"""Properties whose values fit anywhere; sizes belong to the machine."""
_BLOCK_SIZE, _SORT_MB, _REDUCES = "dfs.blocksize", "mapreduce.task.io.sort.mb", "mapreduce.job.reduces"
_MOST_SORT_MB = 512
"""Of the heap of a map in a container of Hadoop's own size."""
USUAL_CONTAINER_BYTES = 8 << 30
"""What yarn-default.xml offers where the site says nothing, or says -1 without looking for the machine's memory."""

_OF_HADOOP = "org.apache.hadoop.io.compress."
_QUICK, _DENSE = f"{_OF_HADOOP}SnappyCodec", f"{_OF_HADOOP}DefaultCodec"
BUNDLED_CODECS = frozenset(
    {_QUICK, _DENSE, *(f"{_OF_HADOOP}{name}" for name in ("BZip2Codec", "DeflateCodec", "GzipCodec"))}
)
"""The bundled jars have no native library: Hadoop's other codecs need libhadoop (ZStandardCodec), or a jar that Hadoop
does not bring (Lz4Codec)."""
_DENSE_NAMES = ("zstandard", "zstd", "gzip", "deflate", "zlib", "bzip2")
"""Parts of the names of codecs that make outputs about as small as zlib does; most others are as quick as Snappy."""


class TakenOver(NamedTuple):
    """Properties of an experiment, and a sentence on what stands in place of something that Hadoop lacks here."""

    properties: Mapping[str, str]
    replaced: str = ""


def taken_over(settings: Mapping[str, str], *, bundled: bool = True) -> TakenOver:
    """What a test of a job elsewhere takes over. A codec that the `bundled` Hadoop lacks is replaced by the nearest."""
    properties = {name: settings[name] for name in _UNCHANGED if name in settings}
    if settings:  # what a site leaves out has Hadoop's value there, and another one in Assay's usual profile
        properties.setdefault(_SLOW_START, _USUAL_SLOW_START)
    codec = properties.get(_CODEC, _DENSE).strip()
    if not bundled or codec in BUNDLED_CODECS:
        return TakenOver(properties)
    if properties.get(_COMPRESS, "").strip().lower() != "true":
        del properties[_CODEC]
        return TakenOver(properties)
    name = codec.rpartition(".")[2]
    nearest = _DENSE if any(part in name.lower() for part in _DENSE_NAMES) else _QUICK
    alike = "makes them about as small" if nearest == _DENSE else "is about as quick"
    return TakenOver(
        {**properties, _CODEC: nearest},
        f"the bundled Hadoop lacks {codec}, so {nearest.rpartition('.')[2]} compresses the outputs of maps, "
        f"which {alike}",
    )


def for_sample(
    settings: Mapping[str, str], sample_bytes: int, reduces_per_byte: float | None, *, bundled: bool
) -> TakenOver:
    """Those for a sample of the job's own input: splits and sort buffers as they are, reducers in proportion."""
    unchanged, replaced = taken_over(settings, bundled=bundled)
    properties = dict(unchanged)
    if _BLOCK_SIZE in settings:
        properties[_BLOCK_SIZE] = settings[_BLOCK_SIZE]
    if settings.get(_SORT_MB, "").isdecimal():
        properties[_SORT_MB] = str(min(int(settings[_SORT_MB]), _MOST_SORT_MB))
    if reduces_per_byte is not None:
        properties[_REDUCES] = str(max(1, round(reduces_per_byte * sample_bytes)))
    return TakenOver(properties, replaced)


def tasks_on_drive(tasks: float | None, drives: int, properties: Mapping[str, str], memory_bytes: float) -> TakenOver:
    """What has as many tasks at once share a test's drive as share one of today's `drives` of a node that runs `tasks`.

    `properties` are those that a user sets: nothing, where these say it. No more than `memory_bytes` have room for.
    """
    if OFFERED in properties:
        return TakenOver({})
    if tasks is None:
        unknown = "how many tasks share a drive on your nodes is not known; --tasks says how many a node runs at once"
        return TakenOver({}, unknown)
    share = max(1, round(tasks / drives))
    number = max(1, min(share, int(memory_bytes // TASK_BYTES)))
    fewer = "" if number == share else f", of which this machine has memory for {number}"
    text = f"{share} tasks at once share one of today's drives on your nodes{fewer}"
    return TakenOver(offered_for(number, properties), text)


def tasks_of_node(of_containers: int | None, site: Mapping[str, str]) -> int | None:
    """How many tasks of the site's size fit at once into what containers may take; None where either is not known."""
    return tasks_within(of_containers, site) if of_containers and site else None


def container_bytes(settings: Mapping[str, str]) -> int | None:
    """How much of a node's memory containers may take; None where the settings don't say it."""
    offered = settings.get(OFFERED, "")
    return int(offered) << 20 if offered.isdecimal() else None
