"""What the JobHistoryServer calls the files of finished jobs (Hadoop: FileNameIndexUtils), and what a source gives."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from assay.engine.past.job import PastJob
from assay.model.errors import BadInputError

MOST_HISTORIES = 100_000
"""More take an hour and more to read, and are most likely years of which days were meant."""
ENDINGS = (".jhist", ".jhist.gz")
SETTINGS_ENDING = "_conf.xml"
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


class NoHistoriesError(BadInputError):
    """A place tells of no job that was asked for; `older` of its histories are too old, `unread` are none."""

    def __init__(self, place: str, reason: str, older: int = 0, unread: Sequence[Unread] = ()) -> None:
        super().__init__(f"{place} {reason}")
        self.place, self.reason, self.older, self.unread = place, reason, older, unread


def merged(places: Iterable[Callable[[], Histories]]) -> Histories:
    """Those of several places as one; a place that tells of no job counts as not read.

    Raises BadInputError if no place tells of one, at the latest when the last is read.
    """
    whole = Histories(0, iter(()))
    empty: list[NoHistoriesError] = []
    parts: list[Histories] = []

    def pass_over(error: NoHistoriesError) -> None:
        empty.append(error)
        whole.older += error.older
        whole.unread += error.unread
        if error.older or not error.unread:
            whole.unread.append(Unread(error.place, f"it {error.reason}"))

    def jobs() -> Iterator[PastJob]:
        for part in parts:
            try:
                yield from part.jobs
            except NoHistoriesError as error:
                pass_over(error)
                _check_any(empty, count)
                continue
            whole.older += part.older
            whole.unread += part.unread
        whole.unread = list(dict.fromkeys(whole.unread))

    count = 0
    for place in places:
        count += 1
        try:
            parts.append(place())
        except NoHistoriesError as error:
            pass_over(error)
    _check_any(empty, count)
    whole.total = sum(part.total for part in parts)
    whole.jobs = jobs()
    return whole


def _check_any(empty: Sequence[NoHistoriesError], count: int) -> None:
    if len(empty) == count:
        raise empty[0] if count == 1 else BadInputError("; ".join(map(str, empty)))


def job_id(name: str) -> str:
    """The job's id in a file's name; empty where there is none."""
    match = _JOB.search(name)
    return match[0] if match else ""


def finished_ms(name: str) -> int:
    """When a job ended, by the name of its history's file; 0 where that does not say."""
    job = job_id(name)
    parts = name[name.find(job) :].split("-") if job else []
    return int(parts[_FINISHED_PLACE]) if len(parts) > _FINISHED_PLACE and parts[_FINISHED_PLACE].isdecimal() else 0
