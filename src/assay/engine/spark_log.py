"""Event logs of Spark applications: a JSON event in each line (Spark: EventLoggingListener, JsonProtocol).

A log is a file, or since Spark 3 a folder `eventlog_v2_APPLICATION` of files `events_NUMBER_APPLICATION` that were
begun one after the other (Spark: RollingEventLogFilesWriter); `events_NUMBER_APPLICATION.compact` stands for all files
up to its own number, without the tasks of jobs that had ended (EventLogFileCompactor). Files may be compressed with
zstd, LZ4 or Snappy (Spark: CompressionCodec), or with gzip or lz4 by somebody else; what they are their first bytes
tell, whatever they are called.

Logs are read as they stream, and lines that tell of no task, stage, job, executor or persisted RDD are not parsed:
plans of queries take most of some logs, and only the file systems that they name are taken from them. A log that ends
in the middle, or has damaged lines, gives what can be read of it; lines of others among them are skipped and counted.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from assay.engine.job_history_server import average_seconds, with_attempts
from assay.engine.packed_lines import Lines, file_of, json_of
from assay.engine.spark_persisted import RDD_BLOCK, PersistedRdds
from assay.engine.spark_tasks import (
    COUNTERS,
    COUNTERS_GROUP,
    PHASES,
    SparkAttempt,
    attempt_of,
    spilled_by_photon,
    stage_called,
    sums,
)
from assay.host.files import why
from assay.model.doubt import Doubt, doubt_kind
from assay.model.engine import HISTORY_INCOMPLETE, History, JobReference
from assay.model.errors import AssayError
from assay.model.record import JobRecord, Stage

FOLDER_PREFIX = "eventlog_v2_"
_RUNNING_ENDING = ".inprogress"
_EVENTS_FILE = re.compile(r"events_(\d+)_.+")
_PIECE = re.compile(r"eventlog-\d{4}-\d{2}-\d{2}--\d{2}-\d{2}(\.\w+)?")
"""What Databricks calls the hours of a log."""
_COMPACT_ENDING = ".compact"
_LOG_NAME = re.compile(
    r"(?:application_\d+_\d+|app-\d{14}-\d{4}|local-\d+|spark-[0-9a-f]{32})(?:_\d+)?"
    r"(?:\.(?:zstd|lz4|snappy|lzf|gz))*(?:\.inprogress)?"
)
"""An application's id on YARN, on a standalone cluster, in local mode and on Kubernetes, and what Spark adds to it."""

_RDD_BLOCK = f'"{RDD_BLOCK}'.encode()
_EVENT = re.compile(rb'\s*\{\s*"Event"\s*:\s*"([\w.$]+)"')
PLAN = "SQLExecutionStart"
"""A plan begins: of its event only the schemes are kept that its scans read."""
UNLIKE = (ValueError, LookupError, TypeError, AttributeError, OverflowError)
"""What taking an event raises where it is not as Spark writes it."""
JAVA_COMMAND, WORKING_FOLDER = "sun.java.command", "user.dir"
_KNOWN = "3."
_DISMISSED = "killed by driver"
"""In the reason why an executor was removed that had nothing to do (dynamic allocation)."""
_MASTER = "yarn-am"
"""What a driver calls the application master that has told it of itself (Spark: ApplicationMaster.AMEndpoint)."""
_ENGINES = ("spark.databricks.clusterUsageTags.runtimeEngine", "spark.databricks.clusterUsageTags.sparkVersion")
"""Where Databricks says which engine runs the tasks."""
_CONTAINER = re.compile(r"container_\w+")

RDDS = "RDDs"
"""The group of counters of what an application persisted, in memory or with drives, too."""

LOG_OF_OTHER_SPARK = doubt_kind(
    "event-log-of-other-spark", "job", instrument="event-log",
    when="an application's event log is of another version than Spark 3, or not of an application on YARN",
    why="amounts may lack that such a Spark does not count; without YARN the executors' nodes, memory and local "
    "directories are not those of containers",
    cure="compare it only with applications that ran in the same way",
)  # fmt: skip

# Plans of queries say where their scans read (`InMemoryFileIndex(1 paths)[s3a://bucket/table]`), and RDDs of files are
# called by their path (Spark: SparkContext.hadoopFile). A table of Hive's, for example, does not say where it lies.
_PLACES = b"FileIndex"
_PLACE = re.compile(rb"FileIndex(?:\((\d+) paths\))?[^\[\]]{0,40}\[([^\[\]]*)")
_PATHS = re.compile(rb"(?:^|,\s*)([A-Za-z][\w+.-]*):/")
_MORE = b", ..."
_WRITES = re.compile(rb"InsertIntoHadoopFsRelationCommand ([A-Za-z][\w+.-]*:/[^,\s\"\\]+)")
_PATH = re.compile(r"([A-Za-z][\w+.-]*):/")
_BY_PLAN = "FileScanRDD"
_NO_FILES = frozenset({"ParallelCollectionRDD", "EmptyRDD", "JDBCRDD"})

Event = tuple[str, Mapping[str, Any]]


def read_application(log: Path | Iterable[bytes], job: JobReference) -> History:
    """What an application's event log tells of it: the path of a file or rolled folder, or the pieces of a file.

    With no id in `job` it is of whichever application the log is. What is missing is a doubt. Raises AssayError for
    what is no event log, can't be read or decompressed, is of another application, or tells of no beginning.
    """
    application = Application()
    subject = f"the event log of {job.id}" if job.id else "it"
    attempts: list[SparkAttempt] = []
    try:
        with ExitStack() as opened:
            content = opened_log(log, opened) if isinstance(log, Path) else EventLog([file_of(log)])
            for kind, event in content:
                attempt = application.take(kind, event)
                if attempt is not None:
                    attempts.append(attempt)
    except OSError as error:
        raise AssayError(f"{subject} can't be read: {why(error)}") from None
    except ValueError as error:
        raise AssayError(f"{subject} {error}") from None
    if not application.id:
        raise AssayError(f"{subject} has no event of an application's start; take the whole log")
    if job.id not in {"", application.id}:
        raise AssayError(f"{subject} is of {application.id}")
    return application.history(job.name or application.name, _as_they_ended(attempts), content)


def log_of(application: str, folder: Path) -> Path | None:
    """The log that a driver wrote into a folder, plain, compressed (`ID.zstd`) or rolled; None where there is none.

    One whose driver was killed ends in `.inprogress`.
    """
    rolled = folder / f"{FOLDER_PREFIX}{application}"
    logs = [rolled, folder / application, *folder.glob(f"{application}.*")]
    return min(filter(Path.exists, logs), key=lambda log: log.name.endswith(_RUNNING_ENDING), default=None)


def files_of(folder: Path) -> list[tuple[int, Path]]:
    """The files of a rolled log by number, from the last compacted one on. Raises ValueError where there are none."""
    if any(_PIECE.fullmatch(file.name) for file in folder.iterdir()):
        raise ValueError("is in pieces of an hour each (eventlog-DATE--HH-MM); join them, unpacked, into one file")
    named = [(int(match[1]), file) for file in folder.iterdir() if (match := _EVENTS_FILE.fullmatch(file.name))]
    compacted = max((pair for pair in named if pair[1].name.endswith(_COMPACT_ENDING)), default=None)
    kept = sorted(pair for pair in named if compacted is None or pair == compacted or pair[0] > compacted[0])
    if not kept:
        raise ValueError("has no file of events (events_1_...); name the folder that holds them")
    return kept


def opened_log(log: Path, opened: ExitStack) -> "EventLog":
    """The events of a file or rolled folder. Raises OSError, and ValueError for a folder without files of events."""
    files = files_of(log) if log.is_dir() else [(1, log)]
    events = EventLog([opened.enter_context(file.open("rb")) for _, file in files])
    gaps = files[-1][0] - files[0][0] + 1 - len(files)
    if gaps > 0:
        events.gaps.append(f"{gaps} of its files {'is' if gaps == 1 else 'are'} missing")
    if files[0][1].name.endswith(_COMPACT_ENDING):
        events.gaps.append(
            "tasks of jobs that had ended were removed from it (spark.history.fs.eventLog.rolling.maxFilesToRetain)"
        )
    return events


def is_log_name(name: str) -> bool:
    """Whether a file is called as logs are."""
    return _LOG_NAME.fullmatch(name) is not None


def is_head_of_event_log(head: bytes) -> bool:
    """Whether a file that begins so is an event log, whose first lines may be a logger's."""
    return any(_EVENT.match(line) for line in head.splitlines())


def is_rolled(folder: str, names: Iterable[str]) -> bool:
    """Whether a folder is a rolled log, by its own name or those of its files."""
    return folder.startswith(FOLDER_PREFIX) or any(
        _EVENTS_FILE.fullmatch(name) or _PIECE.fullmatch(name) for name in names
    )


class EventLog:
    """The events of a log's files, one after the other, of those kinds that are read.

    `gaps` says what it lacks before its end, and `cut` how it ends too early, where it does.
    """

    def __init__(self, files: Iterable[BinaryIO]) -> None:
        self._files = files
        self.gaps: list[str] = []
        self.cut = ""
        self.garbled = self.foreign = self.skipped = 0
        """Events that can't be read, lines that are no events at all, and lines that are too long."""

    def __iter__(self) -> Iterator[Event]:
        """Raises ValueError for what is no event log, or compressed in a way that can't be read; OSError."""
        empty = True
        for file in self._files:
            if self.cut:
                self.gaps.append(self.cut)
            lines = Lines(file)
            empty &= lines.empty or lines.head.isspace()
            if lines.head.lstrip()[:1] not in {b"", b"{"} and not is_head_of_event_log(lines.head):
                raise ValueError(
                    f"is no event log of Spark, or compressed in a way that can't be read: it begins with "
                    f"{lines.head[:8]!r}; Spark compresses logs with zstd, lz4 or snappy "
                    "(spark.eventLog.compression.codec)"
                )
            for line in lines:
                if (event := self._event(line)) is not None:
                    yield event
            self.skipped += lines.skipped
            self.cut = lines.cut
        if empty:
            raise ValueError("is empty")

    def _event(self, line: bytes) -> Event | None:
        match = _EVENT.match(line)
        if match is None:
            begin = line.lstrip()[:1]
            self.garbled += begin == b"{"
            self.foreign += begin not in {b"", b"{"}
            return None
        kind = match[1].decode().rpartition(".")[2].removeprefix("SparkListener")
        if kind == PLAN:
            return PLAN, {"schemes": schemes_of_plan(line), "paths": paths_of_plan(line)}
        if kind not in READ or (kind == "BlockUpdated" and _RDD_BLOCK not in line):
            return None
        try:
            return kind, json_of(line)
        except ValueError:
            self.garbled += 1
            return None


READ = frozenset({
    "LogStart", "ApplicationStart", "ApplicationEnd", "EnvironmentUpdate", "JobStart", "JobEnd", "StageSubmitted",
    "StageCompleted", "TaskStart", "TaskEnd", "ExecutorAdded", "ExecutorRemoved",
    "MiscellaneousProcessAdded", "BlockUpdated", "UnpersistRDD",
})  # fmt: skip
"""The events that are read, without what their names begin with."""


def _as_they_ended(attempts: Iterable[SparkAttempt]) -> list[SparkAttempt]:
    """Each attempt once, by what was said of it last: a start, its end, and the loss of its output."""
    by_id: dict[str, SparkAttempt] = {}
    for attempt in attempts:
        known = by_id.get(attempt.attempt)
        # Of an output that was lost Spark repeats no metrics.
        by_id[attempt.attempt] = (
            known.model_copy(update={"lost": True, "reason": attempt.reason})
            if attempt.lost and known is not None
            else attempt
        )
    return list(by_id.values())


def schemes_of_plan(line: bytes) -> set[str]:
    """The schemes that a plan's scans read, in lower case, from the line of its event; an empty one if there are more.

    Spark names the first few paths of a scan that reads many.
    """
    schemes: set[str] = set()
    for count, paths in _PLACE.findall(line) if _PLACES in line else ():
        named = [scheme.decode().lower() for scheme in _PATHS.findall(paths)]
        schemes.update(named)
        if named and (len(named) < int(count or 1) or _MORE in paths):
            schemes.add("")
    return schemes


def paths_of_plan(line: bytes) -> list[str]:
    """What a plan's scans read and its commands write, from the line of its event; without paths that Spark cuts."""
    places = _PLACE.findall(line) if _PLACES in line else ()
    named = [*(path for _, paths in places for path in paths.split(b", ")), *_WRITES.findall(line)]
    return [path.decode(errors="replace") for path in named if b"/" in path and b"..." not in path]


class Sources:
    """What the events of an application have told so far: `schemes` in lower case, and whether these are `all`.

    `paths` are those that it read and wrote, as far as they are named.
    """

    def __init__(self) -> None:
        self.schemes: set[str] = set()
        self.paths: dict[str, None] = {}
        self.all = True

    def of_plan(self, schemes: Iterable[str]) -> None:
        """A query begins, whose scans read these; an empty one stands for more."""
        self.schemes.update(filter(None, schemes))
        self.all &= "" not in schemes

    def of_stage(self, stage: Mapping[str, Any]) -> None:
        """A stage begins, by its `Stage Info`."""
        for rdd in stage.get("RDD Info") or []:
            name = str(rdd.get("Name", ""))
            if match := _PATH.match(name):
                self.schemes.add(match[1].lower())
                self.paths.update(dict.fromkeys(name.split(",")))
            elif not rdd.get("Parent IDs") and name != _BY_PLAN and name not in _NO_FILES:
                self.all = False


class SeenStage(NamedTuple):
    """A stage as it was submitted: Spark's name with its job's, its tasks, and how its last attempt ended.

    `ended_ms` is 0 where no event tells of that; `whole` is whether it ended without a failure.
    """

    name: str
    tasks: int
    whole: bool = False
    ended_ms: int = 0


class SeenJob(NamedTuple):
    """A job that an action of the application began: its times, 0 if unknown, and whether it failed."""

    begin_ms: int
    end_ms: int = 0
    failed: bool = False


class Application:
    """What the events of a log have told of its application so far. Times are milliseconds since the epoch."""

    def __init__(self) -> None:
        self.id = self.name = self.user = self.spark = self.master = ""
        self.ids: set[str] = set()
        """Of all applications that the log begins: one, unless somebody has put several logs into it."""
        self.submitted_ms = self.master_ms = self.finished_ms = self.last_ms = 0
        self._last_job_succeeded = True
        self._is_photon = False
        self.settings: Mapping[str, str] = {}
        self.system: Mapping[str, str] = {}
        """Of the properties of the driver's JVM those that tell what it ran."""
        self.stages: dict[int, SeenStage] = {}
        self.jobs: dict[int, SeenJob] = {}
        self.job_of_stage: dict[int, int] = {}
        self.containers: dict[str, str] = {}
        self.executors_lost: set[str] = set()
        self.executors_added_ms: dict[str, int] = {}
        self.persisted = PersistedRdds()
        self.sources = Sources()
        self.unlike = 0

    def take(self, kind: str, event: Mapping[str, Any]) -> SparkAttempt | None:
        """One event more: the attempt of a task that it is of, if any."""
        try:
            return self._take(kind, event)
        except UNLIKE:
            self.unlike += 1
            return None

    def _take(self, kind: str, event: Mapping[str, Any]) -> SparkAttempt | None:
        if kind in {"TaskStart", "TaskEnd"}:
            return self._attempt(event)
        if kind in {"StageSubmitted", "StageCompleted"}:
            self._take_stage(event["Stage Info"], completed=kind == "StageCompleted")
        elif kind in {"JobStart", "JobEnd"}:
            self._take_job(kind, event)
        elif kind == PLAN:
            self.sources.of_plan(event["schemes"])
            self.sources.paths.update(dict.fromkeys(event["paths"]))
        elif kind in {"ExecutorAdded", "ExecutorRemoved"}:
            self._take_executor(kind, event)
        elif kind == "BlockUpdated":
            self.persisted.updated(event["Block Updated Info"])
        elif kind == "UnpersistRDD":
            self.persisted.unpersisted(event["RDD ID"])
        elif kind == "LogStart":
            self.spark = str(event["Spark Version"])
        elif kind == "EnvironmentUpdate":
            both = {**(event.get("Hadoop Properties") or {}), **event["Spark Properties"]}
            self.settings = {str(name): str(value) for name, value in both.items()}
            self.master = self.settings.get("spark.master", "")
            self._is_photon = any("photon" in self.settings.get(name, "").lower() for name in _ENGINES)
            system = event.get("System Properties") or {}
            self.system = {name: str(system[name]) for name in (JAVA_COMMAND, WORKING_FOLDER) if name in system}
        elif kind == "ApplicationStart":
            self._begin(event)
        elif kind == "ApplicationEnd":
            self.finished_ms = event["Timestamp"]
        elif kind == "MiscellaneousProcessAdded" and event["processId"] == _MASTER:
            self.master_ms = self.master_ms or int(event["time"])
        return None

    def _begin(self, event: Mapping[str, Any]) -> None:
        name = str(event.get("App ID") or "")
        self.ids.add(name)
        if len(self.ids) == 1:
            self.id, self.name, self.user = name, str(event["App Name"] or ""), str(event.get("User") or "")
            self.submitted_ms = event["Timestamp"]

    def _attempt(self, event: Mapping[str, Any]) -> SparkAttempt:
        executor = str(event["Task Info"]["Executor ID"])
        stage = self.stages.get(event["Stage ID"])
        attempt = attempt_of(self.id, event, stage.name if stage else "", self.containers.get(executor, ""))
        self.last_ms = max(self.last_ms, attempt.finished_ms, attempt.started_ms)
        if self._is_photon and (spilled := spilled_by_photon(event["Task Info"])) > attempt.spilled_disk_bytes:
            attempt = attempt.model_copy(update={"spilled_disk_bytes": spilled})
        if attempt.input_bytes and self.persisted.are_read_from_memory(event["Stage ID"]):
            return attempt.model_copy(update={"cached_bytes": attempt.input_bytes})
        return attempt

    def _take_job(self, kind: str, event: Mapping[str, Any]) -> None:
        number = event["Job ID"]
        if kind == "JobStart":
            begin_ms = event.get("Submission Time", 0)
            self.jobs.setdefault(number, SeenJob(begin_ms))
            self.job_of_stage |= {stage: number for stage in event["Stage IDs"] if stage not in self.job_of_stage}
            self.last_ms = max(self.last_ms, begin_ms)
            return
        end_ms = event.get("Completion Time", 0)
        self.last_ms = max(self.last_ms, end_ms)
        self._last_job_succeeded = event["Job Result"]["Result"] == "JobSucceeded"
        begin_ms = self.jobs[number].begin_ms if number in self.jobs else 0
        self.jobs[number] = SeenJob(begin_ms, end_ms or self.last_ms, not self._last_job_succeeded)

    def _take_stage(self, info: Mapping[str, Any], *, completed: bool) -> None:
        number = info["Stage ID"]
        tasks = max(int(info["Number of Tasks"]), self.stages[number].tasks if number in self.stages else 0)
        job = self.job_of_stage.get(number)
        name = str(info["Stage Name"]) if job is None else f"job {job}: {info['Stage Name']}"
        ended_ms = info.get("Completion Time") or self.last_ms or 1 if completed else 0
        self.stages[number] = SeenStage(name, tasks, completed and not info.get("Failure Reason"), ended_ms)
        self.last_ms = max(self.last_ms, ended_ms)
        if completed:
            self.persisted.note_levels(info)
        else:
            self.persisted.submitted(info)
            self.sources.of_stage(info)

    def _take_executor(self, kind: str, event: Mapping[str, Any]) -> None:
        executor = str(event["Executor ID"])
        if kind == "ExecutorAdded":
            info = event["Executor Info"]
            named = [(info.get("Attributes") or {}).get("CONTAINER_ID", ""), *(info.get("Log Urls") or {}).values()]
            containers = (match[0] for text in named if (match := _CONTAINER.search(str(text))))
            self.containers[executor] = next(containers, "")
            self.executors_added_ms[executor] = int(event["Timestamp"])
            return
        self.persisted.executor_removed(executor)
        if not self.finished_ms and _DISMISSED not in str(event.get("Removed Reason", "")):
            self.executors_lost.add(executor)

    @property
    def succeeded(self) -> bool:
        """Whether all of its jobs ended, the last of them well: of a driver that fails later no event tells."""
        return self._last_job_succeeded and not self.unended

    @property
    def unended(self) -> list[int]:
        """The jobs of whose end no event tells."""
        return [number for number, job in self.jobs.items() if not job.end_ms]

    @property
    def started_ms(self) -> int:
        """When its application master began, as far as the log tells: where the driver is a client on YARN.

        Else when its driver did; on YARN that is within the master.
        """
        return max(self.submitted_ms, self.master_ms)

    @property
    def deployment(self) -> str:
        """Where it ran, in words; empty on YARN, and where that is not known."""
        if self.master.startswith(("spark:", "local-cluster")):
            return "on a standalone cluster"
        if self.master.startswith("local"):
            return "in local mode, within its driver"
        return "" if self.master.startswith("yarn") or not self.master else f"on {self.master.partition(':')[0]}"

    def history(self, name: str, attempts: list[SparkAttempt], log: EventLog) -> History:
        """The whole application, as one job; `name` is its job's."""
        done = {(attempt.stage, attempt.task) for attempt in attempts if attempt.state == "SUCCEEDED"}
        failed = Counter(attempt.stage for attempt in attempts if attempt.state == "FAILED")
        succeeded = Counter(stage for stage, _ in done)
        stages = tuple(
            # Of a stage that was cancelled, or is not known to have ended, no more tasks were needed than ended well.
            Stage(
                name=stage_called(number),
                tasks=seen.tasks if self.is_whole(number) else succeeded[stage_called(number)],
                failed_attempts=failed[stage_called(number)],
            )
            for number, seen in sorted(self.stages.items())
        )
        counted = {
            COUNTERS_GROUP: sums(attempts, persisted=bool(self.persisted.numbers)),
            RDDS: {
                "persisted": len(self.persisted.numbers),
                "persisted_on_disk": len(self.persisted.on_drives),
            },
            "executors": {"added": len(self.executors_added_ms), "lost": len(self.executors_lost)},
        }
        record = JobRecord(
            name=name, id=self.id, state=self._state(), submitted_ms=self.submitted_ms, started_ms=self.started_ms,
            finished_ms=self.finished_ms or self.last_ms, stages=stages,
            phases=average_seconds(attempts, PHASES), counters=counted,
        )  # fmt: skip
        history = with_attempts(record, attempts, COUNTERS)
        return history.model_copy(update={"doubts": (*history.doubts, *self._doubts(log))})

    def _state(self) -> str:
        if not self.finished_ms:
            return "UNKNOWN"
        return "SUCCEEDED" if self.succeeded else "FAILED"

    def is_whole(self, number: int) -> bool:
        """Whether all tasks of a stage ended well: as its own end says, or that of its job where its own is missing."""
        stage, job = self.stages[number], self.jobs.get(self.job_of_stage.get(number, -1))
        return stage.whole or (not stage.ended_ms and job is not None and job.end_ms > 0 and not job.failed)

    def whole_stages(self) -> Iterator[tuple[str, SeenStage]]:
        """The stages all of whose tasks ended well, by name."""
        return ((stage_called(number), self.stages[number]) for number in sorted(self.stages) if self.is_whole(number))

    def damages(self, log: EventLog) -> Iterator[str]:
        """Which of the log's lines can't be read, in words."""
        if damaged := log.garbled + self.unlike:
            yield f"{damaged} of its lines can't be read"

    def lacks(self, log: EventLog) -> list[str]:
        """What is missing in its log, in words."""
        without_end = "it has no end: it was cut short, or the application still ran or was killed"
        return [*log.gaps, *filter(None, [log.cut]), *([] if self.finished_ms else [without_end]), *self.damages(log)]

    def unusual(self) -> str:
        """What is unlike Spark 3 on YARN, in words: another version, or where it ran."""
        other = "" if not self.spark or self.spark.startswith(_KNOWN) else f"by Spark {self.spark}"
        return " ".join(filter(None, (other, self.deployment)))

    def _doubts(self, log: EventLog) -> Iterator[Doubt]:
        if lacks := self.lacks(log):
            yield HISTORY_INCOMPLETE.doubt(
                f"the event log of {self.name} ({self.id}) is not whole: {'; '.join(lacks)}", self.id,
                cure="take the log again when the application has ended",
            )  # fmt: skip
        if unusual := self.unusual():
            yield LOG_OF_OTHER_SPARK.doubt(f"{self.name} ({self.id}) was run {unusual}", self.id)
