"""Job history straight from the files that application masters write (`.jhist`): thousands of tasks in seconds.

A file's first line names its form, its second is the Avro schema of its events (Hadoop: jobhistory.EventWriter). Then
come the events: as Avro's JSON, one in a line (`Avro-Json`), or in its binary form one after the other (`Avro-Binary`,
the default of Hadoop 3: mapreduce.jobhistory.jhist.format). What is made of them is what the JobHistoryServer makes of
them (Hadoop: JobHistoryParser, JobInfo).

The server keeps finished jobs' files in `done/YEAR/MONTH/DAY/SERIAL/`, by the day of their end and the first six of
the nine digits of their number (Hadoop: JobHistoryUtils). It moves them there every three minutes; before, they are in
`done_intermediate/USER/`.
"""

import glob
import gzip
import io
import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import date, timedelta
from pathlib import Path
from typing import Any, BinaryIO, cast

from assay.engine.job_history_server import job_record, task_attempt, with_attempts
from assay.engine.packed_lines import json_of
from assay.engine.tasks import FILE_SYSTEM_COUNTERS, TASK_COUNTERS, MapReduceAttempt
from assay.model.doubt import doubt_kind
from assay.model.engine import History, JobReference
from assay.model.errors import AssayError
from assay.model.record import Counters
from assay.model.store import literal

_GZIP = b"\x1f\x8b"

HISTORY_FILE_UNREAD = doubt_kind(
    "history-file-unread", "job", instrument="job-history",
    when="a job's history file was not found or can't be read, and the JobHistoryServer was asked instead",
    why="what the server tells is as good; of a job with thousands of tasks it takes minutes",
    cure="name the folder that holds mapreduce.jobhistory.done-dir and intermediate-done-dir as `history`, and have "
    "the right to read the files there",
)  # fmt: skip

PATIENCE_S, POLL_S = 30.0, 1.0
HADOOP_S = 120.0
_READ_BYTES = 1 << 18
_JSON, _BINARY = "Avro-Json", "Avro-Binary"
_FIRST_LINE = 3
"""Of the events: the form and the schema stand before them."""
_UNLIKE = (ValueError, LookupError, TypeError, AttributeError, OverflowError, StopIteration)
"""What reading and taking events raises where they are not as Hadoop writes them."""
_TYPE = re.compile(rb'\s*\{\s*"type"\s*:\s*"(\w+)"')
# Each has all counters of its task once more.
_UNUSED = {"TASK_STARTED", "TASK_FINISHED", "TASK_UPDATED", "NORMALIZED_RESOURCE"}
_SCHEMA = "record"
"""The type of the schema, which stands again where a file was appended to itself."""
_OF_ATTEMPTS = frozenset({FILE_SYSTEM_COUNTERS, TASK_COUNTERS})
_ENDS = {"FINISHED": "SUCCEEDED", "FAILED": "FAILED", "KILLED": "KILLED"}

Event = tuple[str, Mapping[str, Any]]


class HistoryFiles:
    """The history files below a folder of this machine (an absolute path), or of a file system that Hadoop knows."""

    def __init__(
        self, folder: str, hadoop: Path, environment: Mapping[str, str], patience_s: float = PATIENCE_S
    ) -> None:
        self._place = folder.rstrip("/")
        self._hadoop = [str(hadoop), "fs"]
        self._environment = dict(environment)
        self._patience_s = patience_s

    def read(self, job: JobReference) -> History:
        """A finished job's history; its file is waited for a while, since it appears only after the job's end.

        Raises AssayError when it can't be had within that time, or is not whole.
        """
        deadline_s = time.monotonic() + self._patience_s
        while (content := self._content(job.id)) is None:
            if time.monotonic() > deadline_s:
                raise AssayError(f"no file of it that this user may read is in {self._place}")
            time.sleep(POLL_S)
        return read_history(io.BytesIO(content), job)

    def _content(self, job: str) -> bytes | None:
        today = date.today()  # noqa: DTZ011 - the server's days are those of its own zone
        here = self._place.startswith("/")
        place = glob.escape(self._place) if here else literal(self._place)
        names = [f"{place}/{folder}{job}-*.jhist" for folder in _folders(job, today)]
        if here:
            for name in names:
                for file in sorted(Path("/").glob(name[1:])):
                    with suppress(OSError):
                        return file.read_bytes()
            return None
        with suppress(subprocess.TimeoutExpired):
            listed = self._run("-ls", "-C", *names).stdout.decode().splitlines()
            if listed:
                read = self._run("-cat", literal(listed[0]))
                return read.stdout if read.returncode == 0 else None
        return None

    def _run(self, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
        command = [*self._hadoop, *arguments]
        return subprocess.run(command, capture_output=True, check=False, env=self._environment, timeout=HADOOP_S)


def _folders(job: str, today: date) -> Iterator[str]:
    """Where below the folder a job's file may be: in it, or as the server puts it into this folder or one of both.

    By days around today, since the server's clock may have another zone.
    """
    serial = job.rpartition("_")[2].zfill(9)[:6]
    days = [f"{today + timedelta(day):%Y/%m/%d}/{serial}/" for day in (0, -1, 1)]
    yield from ("", "*/", "done_intermediate/*/", *days, *(f"done/{day}" for day in days))


@contextmanager
def opened(file: Path) -> Iterator[BinaryIO]:
    """Open what a history file holds, unpacked where it is gzip. Raises OSError."""
    with file.open("rb") as plain:
        packed = plain.peek(2)[:2] == _GZIP
        with cast(BinaryIO, gzip.open(plain)) if packed else plain as content:
            yield content


def read_history(file: BinaryIO, job: JobReference) -> History:
    """What a history file tells of its job; with no id in `job`, of whichever job it is.

    Raises AssayError for one that is none, of another job, or cut short.
    """
    made = _Made(job)
    try:
        for kind, event in events(file):
            made.take(kind, event)
        return made.history()
    except (ValueError, EOFError) as error:
        subject = f"the history file of {job.id}" if job.id else "it"
        raise AssayError(f"{subject} is cut short or garbled ({error})") from error


def events(file: BinaryIO, garbled: Callable[[int, bytes], object] | None = None) -> Iterator[Event]:
    """The events of a history file in their order: each one's type and fields; without those that only repeat others'.

    Raises ValueError, or EOFError, where the file is not whole; lines that can't be read go to `garbled` instead, if
    that is given.
    """
    form = file.readline().decode(errors="replace").strip()
    if form not in {_JSON, _BINARY}:
        raise ValueError(f"it begins with {form[:40]!r} and not with {_JSON} or {_BINARY}")
    try:
        schema = json.loads(file.readline())
    except ValueError:
        raise ValueError("its second line is not the schema of its events") from None
    return _json_events(file, garbled) if form == _JSON else _binary_events(file, schema)


def _json_events(file: BinaryIO, garbled: Callable[[int, bytes], object] | None) -> Iterator[Event]:
    for number, line in enumerate(file, _FIRST_LINE):
        try:
            event = _json_event(line)
        except (ValueError, LookupError, TypeError, AttributeError):
            if garbled is None:
                damage = "can't be read" if line.endswith(b"\n") else "is cut short"
                raise ValueError(f"line {number} {damage}: {line[:40].decode(errors='replace')!r}") from None
            garbled(number, line)
            continue
        if event is not None:
            yield event


def _json_event(line: bytes) -> Event | None:
    """Parse the event in a line; None where there is none, or it only repeats others.

    A union's value is a map with its type's name (Avro: JSON encoding).
    """
    match = _TYPE.match(line)
    if match is None:
        if line.strip():
            raise ValueError(f"a line begins with {line[:40]!r}")
        return None
    if (kind := match[1].decode()) in {*_UNUSED, _SCHEMA}:
        return None
    (fields,) = json_of(line)["event"].values()
    counters = fields.get("counters")
    if isinstance(counters, dict) and "groups" not in counters:
        (fields["counters"],) = counters.values()
    return kind, fields


def _binary_events(file: BinaryIO, schema: Any) -> Iterator[Event]:
    from fastavro import parse_schema, schemaless_reader
    from fastavro.schema import SchemaParseException

    try:
        parsed = parse_schema(schema)
    except (SchemaParseException, *_UNLIKE):
        raise ValueError("its second line is not the schema of its events") from None
    content = io.BufferedReader(cast(io.RawIOBase, file), _READ_BYTES)
    number = 0
    while content.peek(1):
        number += 1
        try:
            event = cast(dict[str, Any], schemaless_reader(content, parsed, None, handle_unicode_errors="replace"))
            kind, fields = event["type"], event["event"]
        except EOFError:
            raise EOFError(f"it ends in its event {number}") from None
        except _UNLIKE:
            raise ValueError(f"its event {number} can't be read") from None
        if kind not in _UNUSED:
            yield kind, fields


class _Made:
    """A job as its events have told it so far, in the words of the JobHistoryServer's REST interface."""

    def __init__(self, job: JobReference) -> None:
        self._name = job.name
        self._id = job.id
        self._job: dict[str, Any] = {}
        self._counters: Counters = {}
        self._attempts: dict[str, dict[str, Any]] = {}
        self._counters_of: dict[str, Counters] = {}
        self._failed_tasks: set[str] = set()

    def take(self, kind: str, event: Mapping[str, Any]) -> None:
        """Take one more event. Raises ValueError for one that is not as Hadoop writes it."""
        try:
            self._take(kind, event)
        except _UNLIKE:
            raise ValueError(f"its event {kind} is not as Hadoop writes it") from None

    def _take(self, kind: str, event: Mapping[str, Any]) -> None:
        subject, _, how = kind.rpartition("_")
        if subject in {"MAP_ATTEMPT", "REDUCE_ATTEMPT"}:
            self._take_attempt(subject.partition("_")[0], how, event)
        elif kind == "TASK_FAILED":
            self._failed_tasks.add(event["taskid"])
        elif kind == "JOB_SUBMITTED":
            self._job |= {"id": event["jobid"], "submitTime": event["submitTime"]}
        elif kind == "JOB_INITED":
            self._job |= {
                "startTime": event["launchTime"], "mapsTotal": event["totalMaps"],
                "reducesTotal": event["totalReduces"], "uberized": event["uberized"],
            }  # fmt: skip
        elif kind == "JOB_INFO_CHANGED":
            self._job |= {"submitTime": event["submitTime"], "startTime": event["launchTime"]}
        elif kind == "JOB_FINISHED":
            self._job |= {"finishTime": event["finishTime"], "state": "SUCCEEDED"}
            self._counters = _counters(event["totalCounters"])
        elif kind in {"JOB_FAILED", "JOB_KILLED", "JOB_ERROR"}:
            self._job |= {"finishTime": event["finishTime"], "state": event["jobStatus"]}

    def _take_attempt(self, stage: str, how: str, event: Mapping[str, Any]) -> None:
        name = event["attemptId"]
        attempt = self._attempts.setdefault(name, {"id": name, "type": stage, "startTime": -1, "finishTime": -1})
        if how == "STARTED":
            attempt |= {
                "startTime": event["startTime"], "assignedContainerId": event["containerId"],
                "nodeHttpAddress": f"{event['trackerName']}:{event['httpPort']}",
            }  # fmt: skip
            return
        attempt |= {"state": _ENDS[how], "finishTime": event["finishTime"], "diagnostics": event.get("error", "")}
        if stage == "REDUCE" and how == "FINISHED":
            attempt |= {"shuffleFinishTime": event["shuffleFinishTime"], "mergeFinishTime": event["sortFinishTime"]}
        self._counters_of[name] = _counters(event.get("counters"), _OF_ATTEMPTS)

    def history(self) -> History:
        """Return the whole history. Raises ValueError where it is another job's, or its beginning or end is missing."""
        if "id" not in self._job:
            raise ValueError("the beginning of the job is missing")
        if self._id not in {"", self._job["id"]}:
            raise ValueError(f"it is of {self._job['id']}")
        if "finishTime" not in self._job:
            raise ValueError("the end of the job is missing")
        try:
            return self._history()
        except _UNLIKE:
            raise ValueError("it lacks times or states that Hadoop writes") from None

    def _history(self) -> History:
        # Attempts without an end ran when the job ended: the server does not tell of their counters, either.
        attempts = [
            task_attempt(self._job["id"], {"state": "KILLED", **attempt}, self._counters_of.get(name, {}))
            for name, attempt in self._attempts.items()
        ]
        averages = _averages(attempts)
        failed = {
            f"failed{stage.title()}Attempts": sum(
                attempt.stage == stage and attempt.state == "FAILED" for attempt in attempts
            )
            for stage in ("map", "reduce")
        }
        record = job_record(self._name, {**self._job, **averages, **failed}, self._counters)
        return with_attempts(record, attempts, failed_tasks=len(self._failed_tasks))


def _counters(counters: Mapping[str, Any] | None, group_names: frozenset[str] | None = None) -> Counters:
    """Those of all groups, or of these."""
    return {
        group["name"]: {counter["name"]: counter["value"] for counter in group["counts"]}
        for group in (counters or {}).get("groups", ())
        if group_names is None or group["name"] in group_names
    }


def _averages(attempts: list[MapReduceAttempt]) -> dict[str, int]:
    """Average the attempts that succeeded, in whole milliseconds (Hadoop: JobInfo.countTasksAndAttempts)."""
    maps = [attempt for attempt in attempts if (attempt.stage, attempt.state) == ("map", "SUCCEEDED")]
    reduces = [attempt for attempt in attempts if (attempt.stage, attempt.state) == ("reduce", "SUCCEEDED")]
    times = {
        "avgMapTime": [attempt.finished_ms - attempt.started_ms for attempt in maps],
        "avgShuffleTime": [attempt.shuffle_finished_ms - attempt.started_ms for attempt in reduces],
        "avgMergeTime": [attempt.merge_finished_ms - attempt.shuffle_finished_ms for attempt in reduces],
        "avgReduceTime": [attempt.finished_ms - attempt.merge_finished_ms for attempt in reduces],
    }
    return {name: sum(durations_ms) // len(durations_ms) if durations_ms else 0 for name, durations_ms in times.items()}
