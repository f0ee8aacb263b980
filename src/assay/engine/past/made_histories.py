"""Job history files as application masters write them, of made jobs of any size: for examples, tests and benchmarks.

Events and counters are those of Hadoop 3, with its display names, so that files are as long as real ones. A made job's
tasks share its bytes and its computing evenly, wave after wave.
"""

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

Form = Literal["json", "binary"]
Event = tuple[str, dict[str, Any]]
_PACKAGE = "org.apache.hadoop.mapreduce.jobhistory"
_CLUSTER = 1_795_226_383_840
_FILE_COUNTERS = (
    "FILE_BYTES_READ", "FILE_BYTES_WRITTEN", "FILE_READ_OPS", "FILE_LARGE_READ_OPS", "FILE_WRITE_OPS",
    "HDFS_BYTES_READ", "HDFS_BYTES_WRITTEN", "HDFS_READ_OPS", "HDFS_LARGE_READ_OPS", "HDFS_WRITE_OPS",
    "HDFS_BYTES_READ_EC",
)  # fmt: skip
_TASK_COUNTERS = (
    "MAP_INPUT_RECORDS", "MAP_OUTPUT_RECORDS", "MAP_OUTPUT_BYTES", "MAP_OUTPUT_MATERIALIZED_BYTES", "SPLIT_RAW_BYTES",
    "COMBINE_INPUT_RECORDS", "COMBINE_OUTPUT_RECORDS", "REDUCE_INPUT_GROUPS", "REDUCE_SHUFFLE_BYTES",
    "REDUCE_INPUT_RECORDS", "REDUCE_OUTPUT_RECORDS", "SPILLED_RECORDS", "SHUFFLED_MAPS", "FAILED_SHUFFLE",
    "MERGED_MAP_OUTPUTS", "GC_TIME_MILLIS", "CPU_MILLISECONDS", "PHYSICAL_MEMORY_BYTES", "VIRTUAL_MEMORY_BYTES",
    "COMMITTED_HEAP_BYTES",
)  # fmt: skip


class MadeJob(NamedTuple):
    """A job to be made: times in milliseconds, bytes in all. `cpu` is the share of its time that a task computes."""

    number: int = 1
    name: str = "made job"
    user: str = "nobody"
    queue: str = "default"
    submitted_ms: int = 1_795_226_400_000
    maps: int = 4
    reduces: int = 1
    map_ms: int = 8000
    reduce_ms: int = 6000
    cpu: float = 0.5
    nodes: int = 2
    slots: int = 4
    """How many tasks run at once on all nodes."""
    read_bytes: int = 0
    map_output_bytes: int = 0
    written_bytes: int = 0
    spills: int = 1
    """How often maps write each record."""
    state: str = "SUCCEEDED"
    uberized: bool = False
    counters: bool = True

    @property
    def id(self) -> str:
        """Its id."""
        return f"job_{_CLUSTER}_{self.number:04d}"

    @property
    def started_ms(self) -> int:
        """When its application master began it."""
        return self.submitted_ms + 3000

    def waves(self, tasks: int) -> int:
        """In how many waves so many tasks run."""
        return -(-tasks // max(1, self.slots))

    @property
    def maps_end_ms(self) -> int:
        """When its last map ends."""
        return self.started_ms + 2000 + self.waves(self.maps) * self.map_ms

    @property
    def finished_ms(self) -> int:
        """When it ends."""
        return self.maps_end_ms + self.waves(self.reduces) * self.reduce_ms + 500

    @property
    def file_name(self) -> str:
        """As the JobHistoryServer calls its file."""
        return self.head.file_name

    @property
    def head(self) -> "JobHead":
        """What its events say of it as a whole."""
        return JobHead(
            self.id, self.name, self.user, self.queue, self.submitted_ms, self.started_ms, self.finished_ms, self.maps,
            self.reduces, self.state, self.uberized, self.counters,
        )  # fmt: skip


class JobHead(NamedTuple):
    """What events say of a job as a whole."""

    id: str
    name: str
    user: str
    queue: str
    submitted_ms: int
    started_ms: int
    finished_ms: int
    maps: int
    reduces: int
    state: str = "SUCCEEDED"
    uberized: bool = False
    counters: bool = True

    @property
    def file_name(self) -> str:
        """As the JobHistoryServer calls its file."""
        name, queue = (quote(word, safe="+").replace("-", "%2D") for word in (self.name, self.queue))
        return (
            f"{self.id}-{self.submitted_ms}-{self.user}-{name}-{self.finished_ms}-{self.maps}-{self.reduces}-"
            f"{self.state}-{queue}-{self.started_ms}.jhist"
        )


class MadeAttempt(NamedTuple):
    """An attempt of a task to be made: `stage` is MAP or REDUCE, `ends_ms` of its phases by Hadoop's names."""

    id: str
    stage: str
    node: str
    began_ms: int
    ended_ms: int
    values: Mapping[str, int]
    """Its counters, of both groups."""
    ends_ms: Mapping[str, int]
    state: str = "SUCCEEDED"
    counters: bool = True


def _record(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": key, "type": kind} for key, kind in fields.items()]}


_COUNTER = _record("JhCounter", {"name": "string", "displayName": "string", "value": "long"})
_GROUP = _record(
    "JhCounterGroup",
    {"name": "string", "displayName": "string", "counts": {"type": "array", "items": _COUNTER}},
)
_COUNTERS = _record("JhCounters", {"name": "string", "groups": {"type": "array", "items": _GROUP}})
_ATTEMPT = {"taskid": "string", "attemptId": "string", "taskType": "string"}
_KINDS: dict[str, dict[str, Any]] = {
    "JobFinished": {"jobid": "string", "finishTime": "long", "totalCounters": _COUNTERS},
    "JobInited": {
        "jobid": "string", "launchTime": "long", "totalMaps": "int", "totalReduces": "int", "jobStatus": "string",
        "uberized": "boolean",
    },
    "JobSubmitted": {
        "jobid": "string", "jobName": "string", "userName": "string", "submitTime": "long", "jobQueueName": "string",
    },
    "JobUnsuccessfulCompletion": {"jobid": "string", "finishTime": "long", "jobStatus": "string"},
    "MapAttemptFinished": {
        **_ATTEMPT, "mapFinishTime": "long", "finishTime": "long", "hostname": "string", "counters": "JhCounters",
    },
    "ReduceAttemptFinished": {
        **_ATTEMPT, "shuffleFinishTime": "long", "sortFinishTime": "long", "finishTime": "long", "hostname": "string",
        "counters": "JhCounters",
    },
    "TaskAttemptUnsuccessfulCompletion": {
        **_ATTEMPT, "status": "string", "finishTime": "long", "hostname": "string", "error": "string",
        "counters": "JhCounters",
    },
    "TaskAttemptStarted": {
        **_ATTEMPT, "startTime": "long", "trackerName": "string", "httpPort": "int", "containerId": "string",
    },
    "TaskFinished": {
        "taskid": "string", "taskType": "string", "finishTime": "long", "counters": "JhCounters",
    },
    "TaskStarted": {"taskid": "string", "taskType": "string", "startTime": "long"},
}  # fmt: skip
_TYPES = {
    "JOB_SUBMITTED": "JobSubmitted", "JOB_INITED": "JobInited", "JOB_FINISHED": "JobFinished",
    "JOB_FAILED": "JobUnsuccessfulCompletion", "JOB_KILLED": "JobUnsuccessfulCompletion",
    "TASK_STARTED": "TaskStarted", "TASK_FINISHED": "TaskFinished",
    "MAP_ATTEMPT_STARTED": "TaskAttemptStarted", "REDUCE_ATTEMPT_STARTED": "TaskAttemptStarted",
    "MAP_ATTEMPT_FAILED": "TaskAttemptUnsuccessfulCompletion",
    "MAP_ATTEMPT_KILLED": "TaskAttemptUnsuccessfulCompletion",
    "REDUCE_ATTEMPT_FAILED": "TaskAttemptUnsuccessfulCompletion",
    "REDUCE_ATTEMPT_KILLED": "TaskAttemptUnsuccessfulCompletion",
    "MAP_ATTEMPT_FINISHED": "MapAttemptFinished", "REDUCE_ATTEMPT_FINISHED": "ReduceAttemptFinished",
}  # fmt: skip
_SCHEMA = {
    "type": "record", "name": "Event", "namespace": _PACKAGE,
    "fields": [
        {"name": "type", "type": {"type": "enum", "name": "EventType", "symbols": list(_TYPES)}},
        {"name": "event", "type": [_record(name, fields) for name, fields in _KINDS.items()]},
    ],
}  # fmt: skip


def _counters(values: Mapping[str, int], known: bool) -> dict[str, Any]:  # noqa: FBT001 - of a made job
    groups = (("FileSystemCounter", _FILE_COUNTERS), ("TaskCounter", _TASK_COUNTERS)) if known else ()
    return {
        "name": "COUNTERS",
        "groups": [
            {
                "name": f"org.apache.hadoop.mapreduce.{group}", "displayName": group,
                "counts": [
                    {"name": name, "displayName": name.replace("_", " ").title(), "value": int(values.get(name, 0))}
                    for name in names
                ],
            }
            for group, names in groups
        ],
    }  # fmt: skip


def events(job: MadeJob) -> Iterator[Event]:
    """A job's events in their order; one that did not succeed ends after its maps."""
    yield from job_events(job.head, _tasks(job))


def job_events(job: JobHead, of_tasks: Iterator[Event]) -> Iterator[Event]:
    """The events of a job around those of its tasks."""
    of_job = {"jobid": job.id}
    yield "JOB_SUBMITTED", {
        **of_job, "jobName": job.name, "userName": job.user, "submitTime": job.submitted_ms, "jobQueueName": job.queue,
    }  # fmt: skip
    yield "JOB_INITED", {
        **of_job, "launchTime": job.started_ms, "totalMaps": job.maps, "totalReduces": job.reduces,
        "jobStatus": "INITED", "uberized": job.uberized,
    }  # fmt: skip
    yield from of_tasks
    if job.state == "SUCCEEDED":
        yield "JOB_FINISHED", {**of_job, "finishTime": job.finished_ms, "totalCounters": _counters({}, job.counters)}
    else:
        yield f"JOB_{job.state}", {**of_job, "finishTime": job.finished_ms, "jobStatus": job.state}


def _tasks(job: MadeJob) -> Iterator[Event]:
    for number in range(job.maps):
        yield from _task(job, "MAP", number, job.started_ms + 2000, job.map_ms, _map_counters(job))
    if job.state == "SUCCEEDED":
        for number in range(job.reduces):
            yield from _task(job, "REDUCE", number, job.maps_end_ms, job.reduce_ms, _reduce_counters(job))


def _map_counters(job: MadeJob) -> dict[str, int]:
    output, records = job.map_output_bytes // job.maps, max(1, job.map_output_bytes // job.maps // 100)
    written = output * job.spills if job.reduces else 0
    merged = output * (job.spills - 1) if job.reduces else 0
    return {
        "FILE_BYTES_READ": merged, "FILE_BYTES_WRITTEN": written + 250_000,
        "HDFS_BYTES_READ": job.read_bytes // job.maps,
        "HDFS_BYTES_WRITTEN": 0 if job.reduces else job.written_bytes // job.maps,
        "MAP_INPUT_RECORDS": records, "MAP_OUTPUT_RECORDS": records, "MAP_OUTPUT_BYTES": output,
        "MAP_OUTPUT_MATERIALIZED_BYTES": output if job.reduces else 0,
        "SPILLED_RECORDS": records * job.spills if job.reduces else 0,
        "CPU_MILLISECONDS": round(job.cpu * job.map_ms), "GC_TIME_MILLIS": job.map_ms // 50,
    }  # fmt: skip


def _reduce_counters(job: MadeJob) -> dict[str, int]:
    fetched = job.map_output_bytes // max(1, job.reduces)
    return {
        "FILE_BYTES_READ": fetched, "FILE_BYTES_WRITTEN": fetched + 250_000,
        "HDFS_BYTES_WRITTEN": job.written_bytes // max(1, job.reduces), "REDUCE_SHUFFLE_BYTES": fetched,
        "SHUFFLED_MAPS": job.maps, "MERGED_MAP_OUTPUTS": job.maps, "SPILLED_RECORDS": fetched // 100,
        "REDUCE_INPUT_RECORDS": fetched // 100, "CPU_MILLISECONDS": round(job.cpu * job.reduce_ms),
        "GC_TIME_MILLIS": job.reduce_ms // 50,
    }  # fmt: skip


def _task(
    job: MadeJob, stage: str, number: int, begin_ms: int, length_ms: int, values: dict[str, int]
) -> Iterator[Event]:
    began = begin_ms + number // max(1, job.slots) * length_ms
    ended = began + length_ms
    ends = (
        {"mapFinishTime": ended - length_ms // 10} if stage == "MAP"
        else {"shuffleFinishTime": began + length_ms // 3, "sortFinishTime": began + length_ms // 2}
    )  # fmt: skip
    made = MadeAttempt(
        f"{job.id.replace('job', 'attempt')}_{stage[0].lower()}_{number:06d}_0", stage,
        f"worker-{number % max(1, job.nodes)}", began, ended, values, ends, counters=job.counters,
    )  # fmt: skip
    yield from attempt_events(made)


def attempt_events(attempt: MadeAttempt) -> Iterator[Event]:
    """The events of a task's attempt, and of its task where it ended well."""
    task = attempt.id.replace("attempt", "task").rpartition("_")[0]
    of = {"taskid": task, "attemptId": attempt.id, "taskType": attempt.stage}
    _, cluster, job, _, number, _ = attempt.id.split("_")
    yield "TASK_STARTED", {"taskid": task, "taskType": attempt.stage, "startTime": attempt.began_ms}
    yield f"{attempt.stage}_ATTEMPT_STARTED", {
        **of, "startTime": attempt.began_ms, "trackerName": attempt.node, "httpPort": 8042,
        "containerId": f"container_{cluster}_{job}_01_{int(number) + 2:06d}",
    }  # fmt: skip
    counters = _counters(attempt.values, attempt.counters)
    at_end = {**of, "finishTime": attempt.ended_ms, "hostname": attempt.node, "counters": counters}
    if attempt.state != "SUCCEEDED":
        yield f"{attempt.stage}_ATTEMPT_{attempt.state}", {**at_end, "status": attempt.state, "error": "made"}
        return
    yield f"{attempt.stage}_ATTEMPT_FINISHED", {**at_end, **attempt.ends_ms}
    yield "TASK_FINISHED", {
        "taskid": task, "taskType": attempt.stage, "finishTime": attempt.ended_ms, "counters": counters,
    }  # fmt: skip


def history(made: MadeJob | Sequence[Event], form: Form = "json") -> bytes:
    """A file's content, of a job or of events that a test has changed."""
    made_events = list(events(made)) if isinstance(made, MadeJob) else made
    if form == "binary":
        from fastavro import parse_schema, schemaless_writer

        parsed, content = parse_schema(_SCHEMA), io.BytesIO()
        for kind, event in made_events:
            schemaless_writer(content, parsed, {"type": kind, "event": (f"{_PACKAGE}.{_TYPES[kind]}", event)})
        return b"Avro-Binary\n" + json.dumps(_SCHEMA).encode() + b"\n" + content.getvalue()
    lines = ["Avro-Json", json.dumps(_SCHEMA)]
    for kind, event in made_events:
        lines += [
            json.dumps({"type": kind, "event": {f"{_PACKAGE}.{_TYPES[kind]}": event}}, separators=(",", ":")), ""
        ]  # fmt: skip
    return "\n".join(lines).encode() + b"\n"


def write_history(folder: Path, job: MadeJob, form: Form = "json", settings: Mapping[str, str] | None = None) -> Path:
    """The history's file as the server calls it, and beside it the configuration, if any."""
    return write_events(folder, job.head, list(events(job)), form, settings)


def write_events(
    folder: Path, job: JobHead, made: Sequence[Event], form: Form, settings: Mapping[str, str] | None
) -> Path:
    """The same of events that are there."""
    file = folder / job.file_name
    file.write_bytes(history(made, form))
    if settings is not None:
        properties = "".join(
            f"<property><name>{name}</name><value>{value}</value></property>" for name, value in settings.items()
        )
        conf = f'<?xml version="1.0"?><configuration>{properties}</configuration>'
        (folder / f"{job.id}_conf.xml").write_text(conf, encoding="utf-8")
    return file
