"""What an experiment takes over of a site's settings: what decides how often a job's bytes meet a drive."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from assay.engine.mapreduce_service import TASK_BYTES, offered_for, tasks_within
from assay.engine.yarn import OFFERED

_SLOW_START, _USUAL_SLOW_START = "mapreduce.job.reduce.slowstart.completedmaps", "0.05"
_COMPRESS, _CODEC = "mapreduce.map.output.compress", "mapreduce.map.output.compress.codec"
_UNCHANGED = (_SLOW_START, _COMPRESS, _CODEC, "mapreduce.task.io.sort.factor")
"""Properties whose values fit anywhere; sizes belong to the machine."""
BLOCK_SIZE, _SORT_MB, _REDUCES = "dfs.blocksize", "mapreduce.task.io.sort.mb", "mapreduce.job.reduces"
_MOST_SORT_MB = 512
"""Of the heap of a map in a container of Hadoop's own size."""
USUAL_CONTAINER_BYTES = 8 << 30
"""What yarn-default.xml offers where the site says nothing, or says -1 without looking for the machine's memory."""

_OF_HADOOP = "org.apache.hadoop.io.compress."
QUICK, DENSE = f"{_OF_HADOOP}SnappyCodec", f"{_OF_HADOOP}DefaultCodec"
BUNDLED_CODECS = frozenset(
    {QUICK, DENSE, *(f"{_OF_HADOOP}{name}" for name in ("BZip2Codec", "DeflateCodec", "GzipCodec"))}
)
"""The bundled jars have no native library: Hadoop's other codecs need libhadoop (ZStandardCodec), or a jar that Hadoop
does not bring (Lz4Codec)."""
_DENSE_NAMES = ("zstandard", "zstd", "gzip", "deflate", "zlib", "bzip2")
"""Parts of the names of codecs that make outputs about as small as zlib does; most others are as quick as Snappy."""


class TakenOver(NamedTuple):
    """Properties of an experiment, and a sentence on what stands in place of something that Hadoop lacks here."""

    properties: Mapping[str, str]
    replaced: str = ""


class SampledJob(NamedTuple):
    """What is known of a job whose sample is run, and what the run here may use.

    `settings` are those of its last run, or of its site. `share` is the sample's share of the bytes that the last run
    read, None where no run is known, and `reduces` the number of that run's reducers. A node runs `tasks` at once, None
    where that is not known, on so many of today's `drives`. `said` are properties that a user sets. Tasks here may take
    `memory_bytes`. `bundled` tells that Assay's own Hadoop runs them.
    """

    settings: Mapping[str, str]
    share: float | None = None
    reduces: int = 0
    tasks: float | None = None
    drives: int = 1
    said: Mapping[str, str] = {}
    memory_bytes: float = 0
    bundled: bool = True

    @property
    def on_drive(self) -> int | None:
        """How many tasks share one of today's drives; None where that is not known."""
        return None if self.tasks is None else max(1, round(self.tasks / self.drives))


class SampleRules(NamedTuple):
    """How a sample of a job is run so that its bytes meet drives as those of the whole job do.

    `settings` are properties that fit the sample, and `at_once` those with which as many tasks share a drive.
    """

    settings: Callable[[SampledJob], TakenOver]
    at_once: Callable[[SampledJob], TakenOver]
    own_processes: bool
    """Whether each task has a process and a container of its own; else they are threads of executors."""


def taken_over(settings: Mapping[str, str], *, bundled: bool = True) -> TakenOver:
    """What a test of a job elsewhere takes over. A codec that the `bundled` Hadoop lacks is replaced by the nearest."""
    properties = {name: settings[name] for name in _UNCHANGED if name in settings}
    if settings:  # what a site leaves out has Hadoop's value there, and another one in Assay's usual profile
        properties.setdefault(_SLOW_START, _USUAL_SLOW_START)
    codec = properties.get(_CODEC, DENSE).strip()
    if not bundled or codec in BUNDLED_CODECS:
        return TakenOver(properties)
    if properties.get(_COMPRESS, "").strip().lower() != "true":
        del properties[_CODEC]
        return TakenOver(properties)
    name = codec.rpartition(".")[2]
    nearest = DENSE if any(part in name.lower() for part in _DENSE_NAMES) else QUICK
    alike = "makes them about as small" if nearest == DENSE else "is about as quick"
    return TakenOver(
        {**properties, _CODEC: nearest},
        f"the bundled Hadoop lacks {codec}, so {nearest.rpartition('.')[2]} compresses the outputs of maps, "
        f"which {alike}",
    )


def for_sample(job: SampledJob) -> TakenOver:
    """Those for a sample of the job's own input: splits and sort buffers as they are, reducers in proportion."""
    unchanged, replaced = taken_over(job.settings, bundled=job.bundled)
    properties = dict(unchanged)
    if BLOCK_SIZE in job.settings:
        properties[BLOCK_SIZE] = job.settings[BLOCK_SIZE]
    if job.settings.get(_SORT_MB, "").isdecimal():
        properties[_SORT_MB] = str(min(int(job.settings[_SORT_MB]), _MOST_SORT_MB))
    if job.share is not None and job.reduces:
        properties[_REDUCES] = str(max(1, round(job.reduces * job.share)))
    return TakenOver(properties, replaced)


TASKS_UNKNOWN = TakenOver(
    {}, "how many tasks share a drive on your nodes is not known; --tasks says how many a node runs at once"
)


def tasks_text(wanted: int, number: int) -> str:
    """How many tasks share a drive on a node, where `number` of them run here."""
    fewer = "" if number == wanted else f", of which this machine has memory for {number}"
    return f"{wanted} tasks at once share one of today's drives on your nodes{fewer}"


def tasks_on_drive(job: SampledJob) -> TakenOver:
    """What has as many tasks at once share a test's drive as share one on a node; nothing, where the user says it."""
    if OFFERED in job.said:
        return TakenOver({})
    if job.on_drive is None:
        return TASKS_UNKNOWN
    number = max(1, min(job.on_drive, int(job.memory_bytes // TASK_BYTES)))
    return TakenOver(offered_for(number, job.said), tasks_text(job.on_drive, number))


OF_MAPREDUCE = SampleRules(for_sample, tasks_on_drive, own_processes=True)


def tasks_of_node(of_containers: int | None, site: Mapping[str, str]) -> int | None:
    """How many tasks of the site's size fit at once into what containers may take; None where either is not known."""
    return tasks_within(of_containers, site) if of_containers and site else None


def container_bytes(settings: Mapping[str, str]) -> int | None:
    """How much of a node's memory containers may take; None where the settings don't say it."""
    offered = settings.get(OFFERED, "")
    return int(offered) << 20 if offered.isdecimal() else None
