"""Job history files of any number of tasks, in both forms: the events that a job has, with counters as many as Hadoop's.

The schema has the fields of Hadoop's events that are read, and some that are not.
"""

import io
import json

JOB = "job_1795226383840_0042"
BEGAN_MS = 1_795_226_400_000
EVENTS = "org.apache.hadoop.mapreduce.jobhistory"
TASK_NAMES = [
    "CPU_MILLISECONDS", "GC_TIME_MILLIS", "PHYSICAL_MEMORY_BYTES", "SPILLED_RECORDS", "MAP_INPUT_RECORDS",
    "MAP_OUTPUT_RECORDS", "MAP_OUTPUT_BYTES", "REDUCE_INPUT_RECORDS", "REDUCE_OUTPUT_RECORDS", "REDUCE_SHUFFLE_BYTES",
    *(f"OTHER_{number}" for number in range(20)),
]  # fmt: skip
FILE_NAMES = ["FILE_BYTES_READ", "FILE_BYTES_WRITTEN", "HDFS_BYTES_READ", "HDFS_BYTES_WRITTEN"]


def record(name, /, **fields):
    return {"type": "record", "name": name, "fields": [{"name": key, "type": kind} for key, kind in fields.items()]}


COUNTERS = record("JhCounters", name="string", groups={"type": "array", "items": record(
    "JhCounterGroup", name="string", displayName="string", counts={"type": "array", "items": record(
        "JhCounter", name="string", displayName="string", value="long",
    )},
)})  # fmt: skip
ATTEMPT = {"taskid": "string", "attemptId": "string", "taskType": "string"}
KINDS = {
    "JobFinished": {"jobid": "string", "finishTime": "long", "totalCounters": COUNTERS},
    "JobInited": {
        "jobid": "string", "launchTime": "long", "totalMaps": "int", "totalReduces": "int", "uberized": "boolean",
    },
    "JobSubmitted": {"jobid": "string", "submitTime": "long", "jobName": "string"},
    "JobUnsuccessfulCompletion": {"jobid": "string", "finishTime": "long", "jobStatus": "string"},
    "MapAttemptFinished": {**ATTEMPT, "finishTime": "long", "counters": "JhCounters"},
    "ReduceAttemptFinished": {
        **ATTEMPT, "shuffleFinishTime": "long", "sortFinishTime": "long", "finishTime": "long", "counters": "JhCounters",
    },
    "TaskAttemptStarted": {
        **ATTEMPT, "startTime": "long", "trackerName": "string", "httpPort": "int", "containerId": "string",
        "avataar": ["null", "string"],
    },
    "TaskAttemptUnsuccessfulCompletion": {
        **ATTEMPT, "finishTime": "long", "error": "string", "counters": ["null", "JhCounters"],
    },
    "TaskFinished": {"taskid": "string", "taskType": "string", "finishTime": "long", "counters": "JhCounters"},
    "TaskStarted": {"taskid": "string", "taskType": "string", "startTime": "long"},
}  # fmt: skip
TYPES = {
    "JOB_SUBMITTED": "JobSubmitted", "JOB_INITED": "JobInited", "JOB_FINISHED": "JobFinished",
    "JOB_KILLED": "JobUnsuccessfulCompletion", "TASK_STARTED": "TaskStarted", "TASK_FINISHED": "TaskFinished",
    "MAP_ATTEMPT_STARTED": "TaskAttemptStarted", "REDUCE_ATTEMPT_STARTED": "TaskAttemptStarted",
    "MAP_ATTEMPT_FINISHED": "MapAttemptFinished", "REDUCE_ATTEMPT_FINISHED": "ReduceAttemptFinished",
    "MAP_ATTEMPT_FAILED": "TaskAttemptUnsuccessfulCompletion",
    "REDUCE_ATTEMPT_KILLED": "TaskAttemptUnsuccessfulCompletion",
}  # fmt: skip
SCHEMA = {
    "type": "record", "name": "Event", "namespace": EVENTS,
    "fields": [
        {"name": "type", "type": {"type": "enum", "name": "EventType", "symbols": list(TYPES)}},
        {"name": "event", "type": [record(name, **fields) for name, fields in KINDS.items()]},
    ],
}  # fmt: skip


def counters(tasks=1, stage="MAP"):
    """Those of so many tasks: a map reads 100 records and 1000 bytes."""
    task = {"CPU_MILLISECONDS": 900, "MAP_INPUT_RECORDS": 100} if stage == "MAP" else {"REDUCE_SHUFFLE_BYTES": 70}
    file = {"HDFS_BYTES_READ": 1000, "FILE_BYTES_WRITTEN": 300} if stage == "MAP" else {"HDFS_BYTES_WRITTEN": 40}
    groups = {"FileSystemCounter": (FILE_NAMES, file), "TaskCounter": (TASK_NAMES, task)}
    return {
        "name": "COUNTERS",
        "groups": [
            {
                "name": f"org.apache.hadoop.mapreduce.{group}", "displayName": group,
                "counts": [
                    {"name": name, "displayName": name.title(), "value": tasks * values.get(name, 0)} for name in names
                ],
            }
            for group, (names, values) in groups.items()
        ],
    }  # fmt: skip


def task_events(stage, number, **times):
    """Those of a task whose only attempt succeeds."""
    letter = "m" if stage == "MAP" else "r"
    task = f"{JOB.replace('job', 'task')}_{letter}_{number:06d}"
    of = {"taskid": task, "attemptId": f"{task.replace('task', 'attempt')}_0", "taskType": stage}
    began, ended = BEGAN_MS + 10 * number, BEGAN_MS + 10 * number + times.get("length_ms", 4000)
    container = f"{JOB.replace('job', 'container')}_01_{number + 2:06d}"
    yield "TASK_STARTED", {"taskid": task, "taskType": stage, "startTime": began}
    yield f"{stage}_ATTEMPT_STARTED", {
        **of, "startTime": began, "trackerName": f"worker-{number % 3}", "httpPort": 8042, "containerId": container,
        "avataar": "VIRGIN",
    }  # fmt: skip
    phases = {"shuffleFinishTime": began + 1000, "sortFinishTime": began + 1500} if stage == "REDUCE" else {}
    yield f"{stage}_ATTEMPT_FINISHED", {**of, **phases, "finishTime": ended, "counters": counters(stage=stage)}
    own = {"taskid": task, "taskType": stage, "finishTime": ended, "counters": counters(stage=stage)}
    yield "TASK_FINISHED", own


def job_events(maps, reduces, between=()):
    """A whole job's; `between` come before its end."""
    yield "JOB_SUBMITTED", {"jobid": JOB, "submitTime": BEGAN_MS - 3000, "jobName": "made"}
    inited = {"totalMaps": maps, "totalReduces": reduces, "uberized": False}
    yield "JOB_INITED", {"jobid": JOB, "launchTime": BEGAN_MS - 1000, **inited}
    for number in range(maps):
        yield from task_events("MAP", number)
    for number in range(reduces):
        yield from task_events("REDUCE", number)
    yield from between
    ended = BEGAN_MS + 10 * max(maps, reduces) + 5000
    yield "JOB_FINISHED", {"jobid": JOB, "finishTime": ended, "totalCounters": counters(maps)}


def as_json(events):
    """As EventWriter writes them with `mapreduce.jobhistory.jhist.format` json, an empty line after each."""
    lines = ["Avro-Json", json.dumps(SCHEMA)]
    for kind, event in events:
        union = {
            name: {"string" if isinstance(event[name], str) else f"{EVENTS}.JhCounters": event[name]}
            for name, of in KINDS[TYPES[kind]].items()
            if isinstance(of, list) and event[name] is not None
        }
        lines += [
            json.dumps({"type": kind, "event": {f"{EVENTS}.{TYPES[kind]}": {**event, **union}}}, separators=(",", ":")),
            "",
        ]  # fmt: skip
    return "\n".join(lines).encode() + b"\n"


def as_binary(events):
    """As EventWriter writes them by default."""
    from fastavro import parse_schema, schemaless_writer

    parsed, content = parse_schema(SCHEMA), io.BytesIO()
    for kind, event in events:
        schemaless_writer(content, parsed, {"type": kind, "event": (f"{EVENTS}.{TYPES[kind]}", event)})
    return b"Avro-Binary\n" + json.dumps(SCHEMA).encode() + b"\n" + content.getvalue()
