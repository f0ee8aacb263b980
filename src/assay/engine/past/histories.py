"""What the JobHistoryServer calls the files of finished jobs (Hadoop: FileNameIndexUtils), and what a source gives."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from assay.engine.past.job import PastJob

MOST_HISTORIES = 100_000
"""More take an hour and more to read, and are most likely years of which days were meant."""
ENDINGS = (".jhist", ".jhist.gz")
SETTINGS_ENDING = "_conf.xml"
NAME_THE_FOLDER = (
    "name the folder that holds the .jhist files (mapreduce.jobhistory.done-dir) or Spark's event logs "
    "(spark.eventLog.dir)"
)
"""What to do where a folder is another."""
_JOB = re.compile(r"job_\d+_\d+")
_FINISHED_PLACE = 4
"""Of the parts of a file's name: id, submission, user, job's name, end, maps, reduces, state, queue, start."""


class Unread(NamedTuple):
    """A file or folder that was not read, and why, in a clause."""

    file: str
    reason: str


@dataclass
class Histories:
    """How many histories there may be, and their jobs as they are read.

    When all jobs are read, `older` counts those that were left out as too old, and `unread` names the files that tell
    of no job.
    """

    total: int
    jobs: Iterator[PastJob]
    older: int = 0
    unread: list[Unread] = field(default_factory=list)


def merged(parts: Sequence[Histories]) -> Histories:
    """Those of several places as one."""
    whole = Histories(sum(part.total for part in parts), iter(()))

    def jobs() -> Iterator[PastJob]:
        for part in parts:
            yield from part.jobs
            whole.older += part.older
            whole.unread = list(dict.fromkeys([*whole.unread, *part.unread]))

    whole.jobs = jobs()
    return whole


def job_id(name: str) -> str:
    """The job's id in a file's name; empty where there is none."""
    match = _JOB.search(name)
    return match[0] if match else ""


def finished_ms(name: str) -> int:
    """When a job ended, by the name of its history's file; 0 where that does not say."""
    job = job_id(name)
    parts = name[name.find(job) :].split("-") if job else []
    return int(parts[_FINISHED_PLACE]) if len(parts) > _FINISHED_PLACE and parts[_FINISHED_PLACE].isdecimal() else 0
