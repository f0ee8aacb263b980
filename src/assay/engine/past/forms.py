"""The forms of histories that are read: job history files, and Spark's event logs, which are files or folders.

What a file is its content tells; a name that histories have spares a look into it.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from assay.engine.packed_lines import head_of
from assay.engine.past.application import SPARK, read_event_log
from assay.engine.past.histories import ENDINGS, SETTINGS_ENDING, job_id
from assay.engine.past.job import PastJob
from assay.engine.past.reading import BROKEN, is_head_of_history, read_file, unread
from assay.engine.past.taken_over import TakenOver, taken_over
from assay.engine.spark_log import is_event_log, is_head_of_event_log, is_rolled
from assay.host.files import why

_EVENT_LOG = re.compile(
    r"(?:application_\d+_\d+|app-\d{14}-\d{4}|local-\d+|spark-[0-9a-f]{32})(?:_\d+)?"
    r"(?:\.(?:zstd|lz4|snappy|lzf|gz))*(?:\.inprogress)?"
)
"""An application's id on YARN, on a standalone cluster, in local mode and on Kubernetes, and what Spark adds to it."""
_BESIDE = re.compile(rf"\..*|.*{re.escape(SETTINGS_ENDING)}(?:\.gz)?|.*\.summary|appstatus_.*|_SUCCESS")
"""Configurations, checksums, summaries of the JobHistoryServer's, and marks."""
_OTHERS = {
    b"PK\x03\x04": "it is a zip archive: unpack it", b"BZh": "it is compressed with bzip2: unpack it",
    b"\xfd7zXZ": "it is compressed with xz: unpack it", b'Meta VERSION="1"': "it is a history of Hadoop 1",
    b'{"entity"': "it is a history of Tez", b'{"timestamp"': "it is a history of Tez",
}  # fmt: skip
"""What other files begin with, and why these are not read."""
_MOMENT = re.compile(rb'"(?:Timestamp|Submission Time|submitTime)"\s*:\s*(\d{12,14})')
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


def is_history_folder(name: str, files: Iterable[str]) -> bool:
    """Whether the files of a folder are one history together, by what it and they are called."""
    return is_rolled(name, files)


def is_beside(name: str) -> bool:
    """Whether a file is called as those are that lie beside histories and are none."""
    return _BESIDE.fullmatch(name) is not None


def why_no_history(file: Path) -> str:
    """Why a file is no history that can be read, by what it begins with, in a clause; empty where it is one."""
    try:
        head = head_of(file)
    except OSError as error:
        return f"it can't be read: {why(error)}"
    except ValueError as error:
        return f"it {error}"
    if is_head_of_event_log(head) or is_head_of_history(head):
        return ""
    known = next((words for begin, words in _OTHERS.items() if head.startswith(begin)), "")
    return known or (f"it is no job history: it begins with {_shown(head[:16])}" if head else "it is empty")


def _shown(head: bytes) -> str:
    """A file's first line, or its first bytes in hexadecimal where they are no text."""
    line = head.decode("ascii", errors="ignore").splitlines()[0:1]
    return f"`{line[0]}`" if line and head.isascii() and line[0].isprintable() else head.hex(" ")


def moment_in(file: Path) -> int:
    """A moment at which the job of a history ran, in milliseconds since the epoch; 0 if its first lines tell none."""
    try:
        match = _MOMENT.search(head_of(file))
    except (OSError, ValueError):
        return 0
    return int(match[1]) if match else 0


def read_history_of(place: Path) -> PastJob:
    """The job of a history, whatever its form; by its content where its name does not tell. Never raises for one."""
    try:
        if place.name.endswith(ENDINGS):
            return read_file(place)
        with suppress(OSError):
            if is_history(place.name) or is_event_log(place):
                return read_event_log(place)
        return read_file(place)
    except BROKEN as error:  # one file ends the reading of no other
        reason = f"it holds what no history holds ({type(error).__name__}: {str(error)[:100]})"
        return unread(job_id(place.name), str(place), reason)
