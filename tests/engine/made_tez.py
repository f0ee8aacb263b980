"""DAGs of Tez as both of its loggers write them, of any size: records in JSON, and messages in a sequence file."""

import json
import zlib
from pathlib import Path
from typing import NamedTuple

BEGAN_MS = 1_795_597_600_000
MIB = 1 << 20
_FILES = "org.apache.tez.common.counters.FileSystemCounter"
_TASKS = "org.apache.tez.common.counters.TaskCounter"
_IN_FILES = ("FILE_", "HDFS_", "S3A_")
CODEC = "org.apache.hadoop.io.compress.DefaultCodec"


class MadeTask(NamedTuple):
    """An attempt: seconds after the DAG's start, and what it counts."""

    begin_s: float = 1
    end_s: float = 5
    node: str = "worker-0"
    container: int = 2
    state: str = "SUCCEEDED"
    counters: dict = {}
    task: int = -1
    """The task that it is of; one of its own by default."""
    attempt: int = 0
    extra: dict = {}
    """Counters of further groups."""


class MadeVertex(NamedTuple):
    """A vertex; `reads` is whether it has inputs beside its edges."""

    name: str
    tasks: tuple[MadeTask, ...] = (MadeTask(),)
    reads: bool = False
    scheduler: str = "TezYarn"


class MadeDag(NamedTuple):
    """A DAG: vertices, and edges as (from, to, movement)."""

    vertices: tuple[MadeVertex, ...] = (MadeVertex("Map 1", reads=True),)
    edges: tuple[tuple[str, str, str], ...] = ()
    number: int = 1
    application: int = 7
    name: str = "made dag"
    query: str = ""
    began_ms: int = BEGAN_MS
    elapsed_s: float = 60
    state: str = "SUCCEEDED"
    planned: bool = True
    stats: dict = {}
    counters: dict = {}
    """The sums of its tasks."""

    @property
    def id(self):
        return f"1795597626963_{self.application:04d}_{self.number}"


def application(made, settings=()):
    """The records of a session before its DAGs."""
    master = f"appattempt_{made.id.rpartition('_')[0]}_000001"
    of_app = f"tez_application_{made.id.rpartition('_')[0]}"
    yield _record(of_app, None, made.began_ms, user="hive", config={"a": "b", **dict(settings)})
    yield _record(f"tez_{master}", "AM_LAUNCHED", made.began_ms - 3000, appSubmitTime=made.began_ms - 5000)


def records(made):
    """The records of a DAG, in the order of their times as far as readers go by it."""
    dag = f"dag_{made.id}"
    facts = {"dagName": made.name, "queueName": "root.etl"}
    if made.planned:
        facts["dagPlan"] = _plan(made)
    yield {
        **_record(dag, "DAG_SUBMITTED", made.began_ms - 1000, **facts),
        "relatedEntities": [{"entitytype": "user", "entity": "hive"}],
    }
    yield _record(dag, "DAG_STARTED", made.began_ms, status="RUNNING")
    done = 0
    for number, vertex in enumerate(made.vertices):
        of_vertex = f"{made.id}_{number:02d}"
        yield _record(
            f"vertex_{of_vertex}", "VERTEX_INITIALIZED", made.began_ms, vertexName=vertex.name,
            numTasks=len(vertex.tasks), servicePlugin={"taskSchedulerName": vertex.scheduler},
        )  # fmt: skip
        tasks = set()
        for at, task in enumerate(vertex.tasks):
            place = at if task.task < 0 else task.task
            yield from _attempt(made, f"attempt_{of_vertex}_{place:06d}_{task.attempt}", task)
            if task.state == "SUCCEEDED":
                tasks.add(place)
        done += len(tasks)
        yield _record(
            f"vertex_{of_vertex}",
            "VERTEX_FINISHED",
            made.began_ms + 1,
            status="SUCCEEDED",
            counters=_counters({"CPU_MILLISECONDS": 1}),
        )
    if made.state:
        failed = sum(task.state == "FAILED" for vertex in made.vertices for task in vertex.tasks)
        killed = sum(task.state == "KILLED" for vertex in made.vertices for task in vertex.tasks)
        stats = {
            "numSucceededTasks": done,
            "numFailedTaskAttempts": failed,
            "numKilledTaskAttempts": killed,
            **made.stats,
        }
        counted = {"counters": _counters(made.counters)} if made.counters else {}
        ended_ms = made.began_ms + round(1000 * made.elapsed_s)
        yield _record(dag, "DAG_FINISHED", ended_ms, status=made.state, **stats, **counted)


def _attempt(made, entity, task):
    begin_ms, end_ms = (made.began_ms + round(1000 * at_s) for at_s in (task.begin_s, task.end_s))
    container = f"container_{made.id.rpartition('_')[0]}_01_{task.container:06d}"
    place = {"nodeId": f"{task.node}:45454", "containerId": container}
    yield {
        **_record(entity, "TASK_ATTEMPT_STARTED", begin_ms, status="RUNNING"),
        "relatedEntities": [{"entitytype": key, "entity": value} for key, value in place.items()],
    }
    if task.state:
        yield _record(
            entity,
            "TASK_ATTEMPT_FINISHED",
            end_ms,
            status=task.state,
            startTime=begin_ms,
            counters=_counters(task.counters, task.extra),
        )


def _record(entity, event, at_ms, **info):
    events = [{"ts": at_ms, "eventtype": event}] if event else []
    kind = {"dag": "DAG_ID", "vertex": "VERTEX_ID", "attempt": "TASK_ATTEMPT_ID", "tez": "APPLICATION"}
    return {
        "entity": entity,
        "entitytype": f"TEZ_{kind[entity.partition('_')[0]]}",
        "events": events,
        "otherinfo": info,
    }


def _counters(values, extra=()):
    groups = {_FILES: {}, _TASKS: {}, **dict(extra)}
    for name, value in values.items():
        groups[_FILES if name.startswith(_IN_FILES) else _TASKS][name] = value
    return {
        "counterGroups": [
            {"counterGroupName": group, "counters": [{"counterName": name, "counterValue": value} for name, value in of.items()]}
            for group, of in groups.items()
        ]
    }  # fmt: skip


def _plan(made):
    info = {"dagInfo": json.dumps({"context": "Hive", "description": made.query})} if made.query else {}
    return {
        "dagName": made.name, **info, "version": 2,
        "vertices": [
            {"vertexName": vertex.name, **({"additionalInputs": [{"name": "t"}]} if vertex.reads else {})}
            for vertex in made.vertices
        ],
        "edges": [
            {"edgeId": str(number), "inputVertexName": source, "outputVertexName": target, "dataMovementType": way}
            for number, (source, target, way) in enumerate(made.edges)
        ],
    }  # fmt: skip


def as_json(*dags, settings=()):
    """A log of a session's DAGs (SimpleHistoryLoggingService)."""
    every = [*application(dags[0], settings), *(record for made in dags for record in records(made))]
    return b"".join(json.dumps(record, separators=(",", ":")).encode() + b"\x01\n" for record in every)


def as_protobuf(made, codec=CODEC, blocks=False):
    """A file of `dag_data` (ProtoHistoryLoggingService)."""
    return sequence_file([_event(record) for record in records(made)], codec, blocks)


def write_json(folder, *dags, settings=()):
    """Write a session's log as Tez calls it."""
    file = Path(folder) / f"history.txt.appattempt_{dags[0].id.rpartition('_')[0]}_000001"
    file.write_bytes(as_json(*dags, settings=settings))
    return file


def write_protobuf(folder, made):
    """Write a DAG's file as Tez calls it."""
    file = Path(folder) / f"dag_{made.id}_1"
    file.write_bytes(as_protobuf(made))
    return file


def write_in_two(folder, made):
    """Write a DAG's two files as Tez calls them (tez.history.logging.split-dag-start)."""
    events = [_event(record) for record in records(made)]
    first = Path(folder) / f"dag_{made.id}_1"
    second = first.with_name(f"{first.name}_1")
    first.write_bytes(sequence_file(events[:2]))
    second.write_bytes(sequence_file(events[2:]))
    return first, second


def _event(record):
    (event,) = record["events"]
    fields = {1: event["eventtype"], 2: event["ts"]}
    parts = record["entity"].split("_")
    for number, kind, length in ((6, "dag", 4), (7, "vertex", 5), (8, "task", 6), (9, "attempt", 7)):
        if len(parts) >= length:
            fields[number] = "_".join([kind, *parts[1:length]])
    data = dict(record["otherinfo"])
    for relative in record.get("relatedEntities", ()):
        if relative["entitytype"] == "user":
            fields[3] = relative["entity"]
        else:
            data[relative["entitytype"]] = relative["entity"]
    pairs = [
        proto_message({1: key, 2: value if isinstance(value, str) else json.dumps(value)})
        for key, value in data.items()
    ]
    return proto_message({**fields, 10: pairs})


def proto_message(fields):
    """A message of these fields by their numbers: numbers, texts, bytes and lists of these."""
    content = b""
    for number, value in fields.items():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, int):
                content += varint(number << 3) + varint(part)
            else:
                plain = part.encode() if isinstance(part, str) else part
                content += varint(number << 3 | 2) + varint(len(plain)) + plain
    return content


def varint(value):
    """A number of protobuf's."""
    content = b""
    while value > 0x7F:
        content += bytes([value & 0x7F | 0x80])
        value >>= 7
    return content + bytes([value])


def vint(value):
    """A number of Hadoop's, which is not below 0."""
    if value < 128:
        return bytes([value])
    plain = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return bytes([256 - 112 - len(plain)]) + plain


def sequence_file(
    messages, codec=CODEC, blocks=False, value_class="org.apache.tez.dag.history.logging.proto.ProtoMessageWritable"
):
    """A sequence file of messages with their lengths before them."""
    sync, packed = bytes(range(16)), zlib.compress if codec else bytes
    texts = ["org.apache.hadoop.io.NullWritable", value_class]
    head = b"SEQ\x06" + b"".join(vint(len(text)) + text.encode() for text in texts) + bytes([bool(codec), blocks])
    if codec:
        head += vint(len(codec)) + codec.encode()
    head += (1).to_bytes(4, "big") + b"\x01k\x01v" + sync
    values = [varint(len(message)) + message for message in messages]
    mark = b"\xff\xff\xff\xff" + sync
    if not blocks:
        return head + b"".join(
            (mark if number % 3 == 2 else b"") + len(value).to_bytes(4, "big") + bytes(4) + value
            for number, value in enumerate(map(packed, values))
        )
    parts = [b"\0" * len(values), b"", b"".join(vint(len(value)) for value in values), b"".join(values)]
    return head + mark + vint(len(values)) + b"".join(vint(len(part)) + part for part in map(packed, parts))
