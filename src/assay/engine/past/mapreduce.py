"""One job's history file, read event by event: sums over its tasks are kept, and no task longer than it is needed.

Any file makes a job, however little of it can be read: what it lacks is named in the job, and nothing is guessed.
"""

import gzip
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, NamedTuple, cast
from xml.etree import ElementTree as ET

from assay.engine.directing import of_mapreduce
from assay.engine.jhist_files import events, opened, read_history
from assay.engine.past.formats import FORMS, Directing, PastForm
from assay.engine.past.histories import ENDINGS, SETTINGS_ENDING, job_id
from assay.engine.past.job import (
    BROKEN,
    MAP,
    OF_STORE,
    PLACES,
    REDUCE,
    REMOTE,
    SETTINGS,
    SUCCEEDED,
    PastJob,
    StageSums,
    Uncertain,
    Work,
    by_host,
    is_unplaced,
    unread,
    without_places,
)
from assay.engine.past.mapreduce_advice import RULES
from assay.engine.past.query_names import QUERY_TEXT, query_of_job
from assay.engine.past.taken_over import OF_MAPREDUCE, taken_over
from assay.engine.past.task_times import (
    COLLECTORS,
    IMPOSSIBLE,
    LONGEST_MS,
    SILENT,
    ReadSpan,
    computed_of,
    impossible_words,
    is_possible,
    overlap,
    skewed_words,
    sums_of,
    unknown_bytes,
)
from assay.host.files import why
from assay.model.engine import HADOOP_JOBS, JobReference
from assay.model.task import TaskAttempt

_FILES, _TASKS = ("FileSystemCounter", "FileSystemCounters"), ("TaskCounter", "Task$Counter")
"""Endings of the groups' names, in Hadoop 2 and 3 and before."""
_FORMS = (b"Avro-Json", b"Avro-Binary")
_BYTES_OF_TASKS = ("REDUCE_SHUFFLE_BYTES", "MAP_OUTPUT_BYTES", "MAP_OUTPUT_MATERIALIZED_BYTES")
_MOST_PREFACE_LINES, _LONGEST_PREFACE_LINE = 64, 1 << 12
_FORMER_NAMES = {
    "io.sort.mb": "mapreduce.task.io.sort.mb", "io.sort.factor": "mapreduce.task.io.sort.factor",
    "io.sort.spill.percent": "mapreduce.map.sort.spill.percent",
    "mapred.compress.map.output": "mapreduce.map.output.compress", "dfs.block.size": "dfs.blocksize",
    "mapred.reduce.slowstart.completed.maps": "mapreduce.job.reduce.slowstart.completedmaps",
    "mapred.reduce.tasks": "mapreduce.job.reduces",
}  # fmt: skip
KEPT = SETTINGS | {QUERY_TEXT, *PLACES}
"""What is kept of a job's configuration: what decides how it ran, its query's text, and its places."""
CUT_SHORT = "its end: the file was cut short, or the job still runs; take the file from the folder of finished jobs"
SEVERAL = "a file of its own: this one holds several jobs; take the files as they were written"
RESTARTED = (
    "its application master was started again: its history lacks what tasks did before that, but for those that were "
    "taken over"
)
NO_COUNTERS = "its tasks' counters: look whether its tasks ended, or ask for the job of a newer Hadoop"


def read_file(file: Path) -> PastJob:
    """The job of a history file, plain or gzip, with the settings in the `_conf.xml` beside it. Never raises for one.

    A file that can't be read is a job without a name of its own, which says so.
    """
    name = job_id(file.name)
    try:
        with opened(file) as content:
            return read_job(content, settings_beside(file, name), name, str(file))
    except OSError as error:
        return unread(name, str(file), why(error))


def settings_beside(file: Path, job: str) -> Mapping[str, str]:
    """What the configuration beside a history says of how the job ran; nothing where there is none, or it is broken."""
    before = file.name.partition(job)[0] if job else ""
    for name in (f"{before}{job}{SETTINGS_ENDING}", f"{before}{job}{SETTINGS_ENDING}.gz"):
        beside = file.with_name(name)
        with (
            suppress(*BROKEN, ET.ParseError),
            gzip.open(beside) if beside.suffix == ".gz" else beside.open("rb") as content,
        ):
            return read_settings(cast(BinaryIO, content))
    return {}


def read_settings(content: BinaryIO) -> Mapping[str, str]:
    """The properties of a job's configuration that are kept, by their present names: see `KEPT`.

    Raises ET.ParseError for what is no XML.
    """
    settings: dict[str, str] = {}
    for _, element in ET.iterparse(content):  # noqa: S314 - expat bounds what entities grow to
        if element.tag == "property":
            name = (element.findtext("name") or "").strip()
            name = _FORMER_NAMES.get(name, name)
            if name in KEPT:
                settings[name] = (element.findtext("value") or "").strip()
            element.clear()
    return settings


def read_job(content: BinaryIO, settings: Mapping[str, str], name: str = "", source: str = "") -> PastJob:
    """A job of the events in a history file; `name` is the id by which the file is called."""
    made = JobReading(name, source)

    def count_line(number: int, line: bytes) -> None:
        is_event = line.lstrip()[:1] == b"{"
        made.garbled += is_event
        made.garbled_line = made.garbled_line or (number if is_event else 0)
        made.foreign += not is_event

    try:
        _go_to_form(content)
        for kind, event in events(content, count_line):
            try:
                made.take(kind, event)
            except (LookupError, TypeError, AttributeError, ValueError):  # an event without its fields
                made.garbled += 1
    except BROKEN as error:
        made.broken = (str(error).splitlines() or ["its content is damaged"])[0][:100]
    return made.job(settings)


def is_head_of_history(head: bytes) -> bool:
    """Whether a file that begins so is a job history."""
    return any(line.strip() in _FORMS for line in head.splitlines()[:_MOST_PREFACE_LINES])


def _go_to_form(content: BinaryIO) -> None:
    """To the line that names the file's form; comments may stand before it. Raises ValueError where there is none."""
    for _ in range(_MOST_PREFACE_LINES):
        before = content.tell()
        line = content.readline(_LONGEST_PREFACE_LINE)
        if line.strip() in _FORMS:
            content.seek(before)
            return
        if not line:
            break
    raise ValueError("it is no job history: no line says Avro-Json or Avro-Binary")


class Attempt(NamedTuple):
    """An attempt that ended: when it ran, how long it computed at least, and a reducer's times of its phases."""

    begin_ms: int
    end_ms: int
    cpu_ms: int
    gc_ms: int
    phases_ms: tuple[int, ...] = ()
    """A map's end of its map phase; the ends of a reducer's shuffle and merge."""
    skewed: bool = False
    """Whether its own start can't be right: then it waited from `begin_ms` on at most."""
    needless: bool = False
    """As of `ReadSpan`."""

    @property
    def computed_ms(self) -> int:
        """As `computed_of` tells."""
        length_ms, cpu_ms = self.end_ms - self.begin_ms, self.cpu_ms
        if 2 * COLLECTORS * self.gc_ms > length_ms:  # much of it may be the collectors', which stop the task meanwhile
            cpu_ms -= (COLLECTORS - 1) * self.gc_ms
        return 0 if self.skewed else computed_of(length_ms, cpu_ms, self.gc_ms)


class JobReading:
    """What the events of a history have told so far."""

    def __init__(self, job: str, source: str) -> None:
        self.broken = ""
        self.garbled = self.garbled_line = self.foreign = 0
        self._repeated = self._skewed = 0
        self._source = source
        self._id, self._name, self._user, self._queue, self._state = job, "", "", "", ""
        self._times_ms = {"submitted": 0, "started": 0, "finished": 0}
        self._uberized = False
        self._tasks = {MAP: 0, REDUCE: 0}
        self._begun: dict[str, tuple[int, str]] = {}
        self._ended: set[str] = set()
        self._done: set[str] = set()
        """The tasks of which an attempt ended well."""
        self._attempts: dict[str, list[Attempt]] = {MAP: [], REDUCE: []}
        self._nodes: dict[str, dict[str, Work]] = {MAP: {}, REDUCE: {}}
        self._uncounted = 0
        self._ids: set[str] = set()
        self._silent: list[Attempt] = []
        self._impossible: list[Attempt] = []
        self._unplaced: set[str] = set()
        self._masters_ms: dict[str, int] = {}
        """The starts of its application masters."""

    def take(self, kind: str, event: Mapping[str, Any]) -> None:
        """One event more."""
        subject, _, how = kind.rpartition("_")
        if subject in {"MAP_ATTEMPT", "REDUCE_ATTEMPT"}:
            self._take_attempt(MAP if subject.startswith("MAP") else REDUCE, how, event)
        elif kind == "JOB_SUBMITTED":
            self._ids.add(event["jobid"])
            self._id, self._name = event["jobid"], str(event.get("jobName") or "")
            self._user, self._queue = str(event.get("userName") or ""), str(event.get("jobQueueName") or "")
            self._times_ms["submitted"] = event["submitTime"]
        elif kind == "JOB_QUEUE_CHANGED":
            self._queue = str(event.get("jobQueueName", ""))
        elif kind == "JOB_INITED":
            self._times_ms["started"] = event["launchTime"]
            self._tasks = {MAP: event["totalMaps"], REDUCE: event["totalReduces"]}
            self._uberized = bool(event.get("uberized", False))
        elif kind == "AM_STARTED":
            self._masters_ms[str(event["applicationAttemptId"])] = int(event["startTime"])
        elif kind == "JOB_INFO_CHANGED":
            self._times_ms |= {"submitted": event["submitTime"], "started": event["launchTime"]}
        elif kind == "JOB_FINISHED":
            self._times_ms["finished"], self._state = event["finishTime"], SUCCEEDED
        elif kind in {"JOB_FAILED", "JOB_KILLED", "JOB_ERROR"}:
            self._times_ms["finished"], self._state = event["finishTime"], str(event.get("jobStatus", "FAILED"))

    def _take_attempt(self, stage: str, how: str, event: Mapping[str, Any]) -> None:
        name = event["attemptId"]
        if how == "STARTED":
            self._begun[name] = (event["startTime"], str(event.get("trackerName", "")))
            return
        if name in self._ended:
            self._repeated += 1
            return
        self._ended.add(name)
        begin_ms, node = self._begun.pop(name, (0, ""))
        end_ms = event.get("finishTime", 0)
        skewed = not is_possible(begin_ms, end_ms)
        files, tasks = _values(event.get("counters"))
        impossible = has_impossible(files, tasks)
        work = counted(stage, 1, 0 if skewed else end_ms - begin_ms, files, tasks)
        needless = how != "FINISHED" or _task_of(name) in self._done
        if needless:
            work = work._replace(needless_cpu_ms=work.cpu_ms)
        if end_ms <= 0 or (skewed and how != "FINISHED" and not work.cpu_ms):  # it never ran
            return
        self._skewed += skewed
        self._unplaced.update(unplaced_schemes(files))
        if how == "FINISHED":
            ends = ("mapFinishTime",) if stage == MAP else ("shuffleFinishTime", "sortFinishTime")
            phases = tuple(event.get(end, 0) for end in ends)
            self._uncounted += not work.cpu_ms and not _has_bytes(work)
            self._done.add(_task_of(name))
        else:
            phases = ()
        attempt = Attempt(begin_ms, end_ms, work.cpu_ms, work.gc_ms, phases, skewed, needless)
        self._attempts[stage].append(attempt)
        if how != "FINISHED" and not _has_bytes(work):
            self._silent.append(attempt)
        if impossible:
            self._impossible.append(attempt)
        by_node = self._nodes[stage]
        by_node[node] = by_node.get(node, Work()).plus(work)

    def job(self, settings: Mapping[str, str]) -> PastJob:
        """Build the job from the events that were read."""
        settings, paths = without_places(settings)
        query = query_of_job(self._name, settings.pop(QUERY_TEXT, ""))
        maps, reduces = ([self._bounded(attempt) for attempt in self._attempts[name]] for name in (MAP, REDUCE))
        maps_end_ms = max((attempt.end_ms for attempt in maps), default=0)
        hosts = by_host({node for by_node in self._nodes.values() for node in by_node})
        slots = most_at_once([*maps, *reduces])
        stages = [
            stage_of(name, attempts, begin_ms, merged_by(hosts, self._nodes[name]), slots)
            for name, attempts, begin_ms in ((MAP, maps, 0), (REDUCE, reduces, maps_end_ms))
            if attempts
        ]
        nodes = sorted(set(filter(None, hosts.values())))
        return PastJob(
            self._id, self._name, self._user, self._queue, self._state,
            self._times_ms["submitted"], self._started_ms, self._times_ms["finished"],
            self._uberized, self._tasks[MAP], self._tasks[REDUCE], tuple(stages), tuple(nodes), settings,
            tuple(self._missing(len(maps) + len(reduces))), self._source, unplaced=tuple(sorted(self._unplaced)),
            doubts=tuple(self._doubts()), uncertain=tuple(self._uncertain()), paths=paths,
            query=query,
        )  # fmt: skip

    @property
    def _started_ms(self) -> int:
        """When it began; where that can't be right, its first attempt did. 0 where nothing tells."""
        started_ms = self._times_ms["started"]
        whole = [attempt for attempts in self._attempts.values() for attempt in attempts if not attempt.skewed]
        ended_ms = self._times_ms["finished"] or max((attempt.end_ms for attempt in whole), default=0)
        if not started_ms or 0 < started_ms > ended_ms - LONGEST_MS:
            return started_ms
        return min((attempt.begin_ms for attempt in whole), default=0)

    def _bounded(self, attempt: Attempt) -> Attempt:
        """The same, whose start is the job's where its own can't be right."""
        if not attempt.skewed:
            return attempt
        began_ms = self._started_ms or self._times_ms["submitted"]
        return attempt._replace(begin_ms=min(began_ms, attempt.end_ms))

    def _uncertain(self) -> Iterator[Uncertain]:
        """What its attempts did although nobody counted it."""
        lost_s = (max(self._masters_ms.values(), default=0) - self._started_ms) / 1000
        if len(self._masters_ms) > 1 and lost_s > 0:
            yield Uncertain(f"{RESTARTED}, in up to {lost_s:,.0f} s of its time", lost_s)
        for attempts, which in ((self._silent, SILENT), (self._impossible, IMPOSSIBLE)):
            if attempts:
                bounded = map(self._bounded, attempts)
                yield unknown_bytes([ReadSpan(of.begin_ms, of.end_ms, of.computed_ms) for of in bounded], which)

    def _doubts(self) -> Iterator[str]:
        """What is odd in the history and prevents no bound."""
        if self.foreign:
            yield f"{self.foreign:,} of its lines are no events, such as those of a logger, and are left out"
        if self._repeated:
            yield f"{self._repeated:,} ends of attempts are repeated in it, and count once"
        if self._skewed:
            yield skewed_words(self._skewed)
        if self._impossible:
            yield impossible_words(len(self._impossible))
        if len(self._masters_ms) > 1:
            yield RESTARTED
        if self._started_ms != self._times_ms["started"]:
            yield "its start can't be right: it counts from the start of its first task"

    def _missing(self, ended: int) -> Iterator[str]:
        if self.broken and not self._state:
            yield f"a whole file ({self.broken}); copy it again"
        elif not self._state:
            yield CUT_SHORT
        elif self._state != SUCCEEDED:
            yield f"a good end: the job was {self._state.lower()}; runs of it that succeeded tell more"
        if len(self._ids) > 1:
            yield SEVERAL
        if self.garbled:
            line = f" ({'such as ' if self.garbled > 1 else ''}line {self.garbled_line})" if self.garbled_line else ""
            yield f"{self.garbled} of its events, which can't be read{line}; copy the file again"
        if self._state == SUCCEEDED and not ended and any(self._tasks.values()):
            yield "its tasks: the file has none of them; copy it again"
        elif ended and self._uncounted == ended:
            yield NO_COUNTERS
        if self._state and not self._started_ms:
            yield "the time of its start; copy the file again"


def _task_of(attempt: str) -> str:
    return attempt.rpartition("_")[0]


def _has_bytes(work: Work) -> bool:
    return any((work.store_read, work.local_read, work.local_written, work.store_written, work.map_output))


def _values(counters: Mapping[str, Any] | None) -> tuple[dict[str, int], dict[str, int]]:
    """What a task counted, of file systems and of the task."""
    files: dict[str, int] = {}
    tasks: dict[str, int] = {}
    for group in (counters or {}).get("groups", ()):
        if group["name"].endswith(_FILES):
            files = {counter["name"]: counter["value"] for counter in group["counts"]}
        elif group["name"].endswith(_TASKS):
            tasks = {counter["name"]: counter["value"] for counter in group["counts"]}
    return files, tasks


def unplaced_schemes(files: Mapping[str, int]) -> Iterator[str]:
    """Of the counters of file systems, those file systems with bytes that may lie on the nodes' drives or elsewhere."""
    for name, value in files.items():
        scheme, counter, _ = name.rpartition("_BYTES_")
        if value and counter and is_unplaced(scheme):
            yield scheme.lower()


def has_impossible(files: Mapping[str, int], tasks: Mapping[str, int]) -> bool:
    """Whether any of the bytes that were counted are below 0."""
    return any(value < 0 for value in (*files.values(), *(tasks.get(name, 0) for name in _BYTES_OF_TASKS)))


def counted(stage: str, count: int, task_ms: int, files: Mapping[str, int], tasks: Mapping[str, int]) -> Work:
    """What so many tasks counted, by the names of Hadoop's counters."""
    files, tasks = ({name: max(0, value) for name, value in of.items()} for of in (files, tasks))
    store, remote, unplaced = ({"READ": 0, "WRITTEN": 0} for _ in range(3))
    for name, value in files.items():
        scheme, _, way = name.rpartition("_BYTES_")
        if way in store and scheme != "FILE":
            if scheme in OF_STORE:  # a view's bytes may be counted by what is below it, too
                store[way] = max(store[way], value)
            else:
                (remote if scheme in REMOTE else unplaced)[way] += value
    kind = stage.upper()
    return Work(
        tasks=count, task_ms=task_ms, cpu_ms=tasks.get("CPU_MILLISECONDS", 0),
        gc_ms=tasks.get("GC_TIME_MILLIS", 0),
        store_read=store["READ"], store_written=store["WRITTEN"],
        remote_read=remote["READ"], remote_written=remote["WRITTEN"],
        unplaced_read=unplaced["READ"], unplaced_written=unplaced["WRITTEN"],
        local_read=files.get("FILE_BYTES_READ", 0), local_written=files.get("FILE_BYTES_WRITTEN", 0),
        fetched=tasks.get("REDUCE_SHUFFLE_BYTES", 0), fetches=tasks.get("SHUFFLED_MAPS", 0),
        map_output=tasks.get("MAP_OUTPUT_BYTES", 0),
        map_output_on_disk=tasks.get("MAP_OUTPUT_MATERIALIZED_BYTES", 0),
        input_records=tasks.get(f"{kind}_INPUT_RECORDS", 0), output_records=tasks.get(f"{kind}_OUTPUT_RECORDS", 0),
        spilled_records=tasks.get("SPILLED_RECORDS", 0),
    )  # fmt: skip


def merged_by(hosts: Mapping[str, str], nodes: Mapping[str, Work]) -> list[Work]:
    """What each host's tasks did, by its names."""
    merged: dict[str, Work] = {}
    for name, work in nodes.items():
        merged[hosts[name]] = merged.get(hosts[name], Work()).plus(work)
    return list(merged.values())


def most_at_once(attempts: Iterable[Attempt]) -> int:
    """How many attempts ran at once at most, whatever stages they are of."""
    return overlap([ReadSpan(attempt.begin_ms, attempt.end_ms, 0) for attempt in attempts]).peak


def stage_of(name: str, attempts: list[Attempt], begin_ms: int, nodes: list[Work], slots: int) -> StageSums:
    """A stage's sums. What its attempts did before `begin_ms`, they did while the job waited for another stage.

    `slots` are the most attempts of the job that ran at once.
    """
    spans: list[ReadSpan] = []
    early_ms = 0
    phases_ms: dict[str, int] = {}
    for attempt in attempts:
        begun_ms = max(attempt.begin_ms, begin_ms)
        if not attempt.skewed:
            early_ms += max(0, min(attempt.end_ms, begin_ms) - attempt.begin_ms)
        length_ms = attempt.end_ms - begun_ms
        if length_ms <= 0:
            continue
        # Of a reducer's processor time no one knows how much was early: then it is taken to be even.
        share = length_ms / (attempt.end_ms - attempt.begin_ms)
        spans.append(ReadSpan(begun_ms, attempt.end_ms, round(attempt.computed_ms * share), attempt.needless))
        for phase, end_ms in () if attempt.skewed else _phases(name, attempt):
            if end_ms > begun_ms:
                phases_ms[phase] = phases_ms.get(phase, 0) + end_ms - begun_ms
                begun_ms = end_ms
    return sums_of(name, spans, phases_ms, nodes, early_ms, slots)


def _phases(name: str, attempt: Attempt) -> Iterator[tuple[str, int]]:
    """The phases of an attempt and their ends; what is not known of them belongs to the last one."""
    names = (MAP, "spill and merge") if len(attempt.phases_ms) == 1 else ("shuffle", "merge", REDUCE)
    ends = attempt.phases_ms if all(attempt.phases_ms) else ()
    if ends:
        yield from zip(names, (*ends, attempt.end_ms), strict=True)
    else:
        yield (MAP if name == MAP else REDUCE), attempt.end_ms


def _attempts(file: Path) -> Sequence[TaskAttempt]:
    with opened(file) as content:
        return read_history(content, JobReference(name="", id="")).attempts


def _directed(tier: str, jar: str, tags: str) -> Mapping[str, str]:
    """Cached files whose names end in .jar are on a task's class path (MRApps), and -libjars and -files leave them."""
    return {
        **of_mapreduce(tier),
        "mapreduce.job.cache.files": f"{jar}#{PurePosixPath(jar).name}",
        **({"assay.direct.local.dirs": tags} if tags else {}),
    }


FORM = PastForm(
    noun="MapReduce job",
    program=HADOOP_JOBS,
    place="the .jhist files (mapreduce.jobhistory.done-dir)",
    is_named=lambda name: name.endswith(ENDINGS),
    is_head=is_head_of_history,
    read=lambda file: [read_file(file)],
    attempts=_attempts,
    amounts="Of MapReduce jobs, read, map output, spilled, shuffled and written are the counters HDFS_BYTES_READ, "
    "MAP_OUTPUT_BYTES, FILE_BYTES_WRITTEN, REDUCE_SHUFFLE_BYTES and HDFS_BYTES_WRITTEN; spills is how often each "
    "record that maps emitted was written to local directories.",
    idle="starts and waits for containers",
    waits="waits between heartbeats and polls",
    taken_over=taken_over,
    sample=OF_MAPREDUCE,
    directing=Directing(_directed, listing="mapreduce.job.cache.files"),
    rules=RULES,
    # Configurations, and summaries of the JobHistoryServer's.
    is_beside=lambda name: name.removesuffix(".gz").endswith(SETTINGS_ENDING) or name.endswith(".summary"),
)
FORMS.add("mapreduce", FORM, place=1)
