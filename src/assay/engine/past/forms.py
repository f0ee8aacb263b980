"""The forms of histories that are read: job history files, and Spark's event logs, which are files or folders."""

import re
from contextlib import suppress
from pathlib import Path

from assay.engine.past.application import SPARK, read_event_log
from assay.engine.past.histories import ENDINGS
from assay.engine.past.job import PastJob
from assay.engine.past.reading import read_file
from assay.engine.past.taken_over import TakenOver, taken_over
from assay.engine.spark_log import FOLDER_PREFIX, is_event_log

_EVENT_LOG = re.compile(
    r"(?:application_\d+_\d+|app-\d{14}-\d{4}|local-\d+|spark-[0-9a-f]{32})(?:_\d+)?"
    r"(?:\.(?:zstd|lz4|snappy|lzf|gz))*(?:\.inprogress)?"
)
"""An application's id on YARN, on a standalone cluster, in local mode and on Kubernetes, and what Spark adds to it."""
_UNCHANGED = (
    "spark.io.compression.codec", "spark.serializer", "spark.shuffle.compress", "spark.shuffle.spill.compress",
    "spark.sql.adaptive.enabled",
)  # fmt: skip
"""Settings of an application whose values fit anywhere; sizes belong to the machine."""
_AMOUNTS = {
    "mapreduce": "Of MapReduce jobs, read, map output, spilled, shuffled and written are the counters HDFS_BYTES_READ, "
    "MAP_OUTPUT_BYTES, FILE_BYTES_WRITTEN, REDUCE_SHUFFLE_BYTES and HDFS_BYTES_WRITTEN.",
    SPARK: "Of Spark applications, read and written are the metrics Bytes Read and Bytes Written, map output is "
    "Shuffle Bytes Written, spilled that and Disk Bytes Spilled, and shuffled Remote and Local Bytes Read.",
}


def settings_of_test(job: PastJob) -> TakenOver:
    """What an experiment takes over of a job's settings."""
    if job.engine == SPARK:
        return TakenOver({name: job.settings[name] for name in _UNCHANGED if name in job.settings})
    return taken_over(job.settings)


def amounts_words(engine: str) -> str:
    """Which counters a list's amounts are of the jobs of an engine, in a sentence."""
    return _AMOUNTS.get(engine, "")


def is_history(name: str) -> bool:
    """Whether a file is called as histories are."""
    return name.endswith(ENDINGS) or _EVENT_LOG.fullmatch(name) is not None


def is_history_folder(name: str) -> bool:
    """Whether a folder is called as those are whose files are one history together."""
    return name.startswith(FOLDER_PREFIX)


def read_history_of(place: Path) -> PastJob:
    """The job of a history, whatever its form; by its content where its name does not tell. Never raises for one."""
    if place.name.endswith(ENDINGS):
        return read_file(place)
    with suppress(OSError):
        if is_history(place.name) or is_event_log(place):
            return read_event_log(place)
    return read_file(place)
