"""The history of a MapReduce job that Tez ran as a DAG, from the file that its application master writes.

Or of a session of Hive's: its DAGs count as one job, and its vertices as maps and reducers by what they are called.
The file has a JSON record for each event, ended by the character U+0001 and a line break, and is whole once the
application master has ended (Tez: SimpleHistoryLoggingService, HistoryEventJsonConversion). A record's `entity` says
what it is of: `dag_TIME_APP_DAG`, `vertex_TIME_APP_DAG_V`, `task_TIME_APP_DAG_V_T` or
`attempt_TIME_APP_DAG_V_T_A`. Its `otherinfo` holds times in milliseconds since the epoch, and counters.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pydantic_core import from_json

from assay.engine.job_history_server import average_seconds, reason_in, with_attempts
from assay.engine.tasks import counted_alike
from assay.engine.tez_tasks import COUNTERS, FILE_SYSTEM_COUNTERS, MAP, REDUCE, STAGES, TASK_COUNTERS, TezAttempt
from assay.model.engine import History, JobReference
from assay.model.errors import AssayError
from assay.model.record import Counters, JobRecord, Stage

RECORD_END = "\x01"

TezRecord = Mapping[str, Any]


def file_prefix(job: str) -> str:
    """How the names of a job's history files begin; the number of the application master's attempt follows."""
    return f"history.txt.{job.replace('job', 'appattempt', 1)}_"


def is_whole(text: str) -> bool:
    """Whether a file tells the end of its DAG."""
    return '"DAG_FINISHED"' in text.rpartition(RECORD_END)[0]


def read_history(text: str, job: JobReference) -> History:
    """A finished job with its task attempts. Raises AssayError for a file that is cut short or garbled."""
    try:
        return _History(_records(text), stage_of).of(job)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise AssayError(f"the history file of {job.id} is incomplete or malformed: {error}") from error


def stage_of(vertex: str) -> str:
    """The stage that a vertex counts as: Hive's `Reducer 2` is one of reducers, and `Map 1` of maps (BaseWork)."""
    return REDUCE if vertex == REDUCE or vertex.startswith("Reducer ") else MAP


class Entities:
    """What the records of a file say of each entity: its information, its relatives, and the times of its events."""

    def __init__(self) -> None:
        self.info: dict[str, dict[str, Any]] = defaultdict(dict)
        self.related: dict[str, dict[str, str]] = defaultdict(dict)
        self.times: dict[str, dict[str, int]] = defaultdict(dict)

    def take(self, record: TezRecord) -> str:
        """One record more; gives its entity. Raises LookupError, TypeError, AttributeError or ValueError."""
        entity = str(record["entity"])
        self.info[entity].update({**(record.get("primaryfilters") or {}), **(record.get("otherinfo") or {})})
        for relative in record.get("relatedEntities") or []:
            self.related[entity][relative["entitytype"]] = relative["entity"]
        for event in record.get("events") or []:
            self.times[entity][event["eventtype"]] = int(event["ts"])
        return entity

    def drop(self, entity: str) -> None:
        """Forget an entity: a file may tell of a hundred thousand."""
        for facts in (self.info, self.related, self.times):
            facts.pop(entity, None)

    def place_of(self, attempt: str) -> tuple[str, str]:
        """The node and the container of an attempt; empty where they are not known."""
        facts = {**self.info[attempt], **self.related[attempt]}
        return str(facts.get("nodeId", "")).rpartition(":")[0], str(facts.get("containerId", ""))


def attempts_in(records: Iterable[TezRecord]) -> list[TezAttempt]:
    """All attempts of tasks, of any number of DAGs. Raises AssayError for records that lack what all have."""
    try:
        return _History(records).attempts()
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise AssayError(f"its records are incomplete or malformed: {error}") from error


class _History(Entities):
    """The records of a file by the entity that they are of."""

    def __init__(self, records: Iterable[TezRecord], called: Callable[[str], str] = str) -> None:
        """A vertex is the stage that its name is `called`."""
        super().__init__()
        for record in records:
            self.take(record)
        self._vertices = {
            entity.partition("_")[2]: called(str(info["vertexName"]))
            for entity, info in self.info.items()
            if entity.startswith("vertex_") and "vertexName" in info
        }
        self._inputs = Counter(
            (entity.partition("_")[2], edge["outputVertexName"])
            for entity, info in self.info.items() if entity.startswith("dag_")
            for edge in (info.get("dagPlan") or {}).get("edges") or ()
        )  # fmt: skip

    def attempts(self) -> list[TezAttempt]:
        return [self._attempt(entity) for entity in self.info if entity.startswith("attempt_")]

    def of(self, job: JobReference) -> History:
        dags = [entity for entity, times in self.times.items() if "DAG_FINISHED" in times]
        states = [str(self.info[dag]["status"]) for dag in dags]
        submitted_ms = min(self.times[dag]["DAG_SUBMITTED"] for dag in dags)
        attempts = self.attempts()
        failed = Counter(attempt.stage for attempt in attempts if attempt.state == "FAILED")
        tasks = Counter[str]()
        for key, name in self._vertices.items():
            tasks[name] += int(self.info[f"vertex_{key}"]["numTasks"])
        names = [stage.name for stage in STAGES if stage.name in tasks]
        stages = tuple(Stage(name=name, tasks=tasks[name], failed_attempts=failed[name]) for name in names)
        masters = [events["AM_LAUNCHED"] for events in self.times.values() if "AM_LAUNCHED" in events]
        submitted = [int(fields["appSubmitTime"]) for fields in self.info.values() if "appSubmitTime" in fields]
        phases = [phase for stage in STAGES for phase in stage.phases]
        record = JobRecord(
            name=job.name, id=job.id, state=next((state for state in states if state != "SUCCEEDED"), states[0]),
            submitted_ms=min([*submitted, *masters, submitted_ms]), started_ms=min([*masters, submitted_ms]),
            finished_ms=max(self.times[dag]["DAG_FINISHED"] for dag in dags),
            stages=stages, phases={**dict.fromkeys(phases, 0.0), **average_seconds(attempts, phases)},
            counters={**added(counters_of(self.info[dag]) for dag in dags), **self._of_stages()},
        )  # fmt: skip
        return with_attempts(record, attempts, COUNTERS)

    def _of_stages(self) -> Counters:
        """What the tasks of each stage counted, by its name."""
        of_vertices = ((name, counters_of(self.info[f"vertex_{key}"])) for key, name in self._vertices.items())
        return added({name: counters.get(TASK_COUNTERS, {})} for name, counters in of_vertices)

    def _attempt(self, entity: str) -> TezAttempt:
        info, times = self.info[entity], self.times[entity]
        number = entity.split("_", 1)[1]
        node, container = self.place_of(entity)
        counters = counters_of(info)
        files, task = counters.get(FILE_SYSTEM_COUNTERS, {}), counters.get(TASK_COUNTERS, {})
        started_ms, finished_ms = times.get("TASK_ATTEMPT_STARTED", 0), times.get("TASK_ATTEMPT_FINISHED", 0)
        succeeded = info.get("status") == "SUCCEEDED"
        vertex = number.rsplit("_", 2)[0]
        stage = self._vertices[vertex]
        inputs = self._inputs[vertex.rpartition("_")[0], self.info[f"vertex_{vertex}"].get("vertexName", "")]
        # Each input adds its time; one that sorts nothing merges nothing.
        shuffle_ms = task.get("SHUFFLE_PHASE_TIME", 0) // max(1, inputs) if succeeded else 0
        merged_ms = max(shuffle_ms, task.get("MERGE_PHASE_TIME", 0) // max(1, inputs)) if succeeded else 0
        return TezAttempt(
            job=f"job_{number.rsplit('_', 4)[0]}", attempt=entity, stage=stage,
            node=node, state=str(info.get("status", "KILLED")), started_ms=started_ms, finished_ms=finished_ms,
            shuffle_ms=shuffle_ms, merged_ms=merged_ms, container=container,
            reason=reason_in(str(info.get("diagnostics") or "")),
            shuffled_bytes=task.get("SHUFFLE_BYTES", 0), **counted_alike(files, task),
            output_bytes=task.get("OUTPUT_BYTES", 0), output_materialized_bytes=task.get("OUTPUT_BYTES_PHYSICAL", 0),
        )  # fmt: skip


def added(of_each: Iterable[Counters]) -> Counters:
    """The sum of what several have counted."""
    total: dict[str, Counter[str]] = defaultdict(Counter)
    for counters in of_each:
        for group, values in counters.items():
            total[group].update(values)
    return {group: dict(values) for group, values in total.items()}


def counters_of(info: Mapping[str, Any]) -> Counters:
    """What an entity counted, by group and name."""
    groups = (info.get("counters") or {}).get("counterGroups") or []
    return {
        group["counterGroupName"]: {
            counter["counterName"]: int(counter["counterValue"]) for counter in group.get("counters") or []
        }
        for group in groups
    }


def _records(text: str) -> Iterator[TezRecord]:
    """The whole records; what follows the last end of a record is one that is still being written."""
    for record in text.split(RECORD_END)[:-1]:
        if record.strip():
            yield from_json(record)
