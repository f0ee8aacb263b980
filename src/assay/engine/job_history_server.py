"""Job history from the JobHistoryServer's REST interface (Hadoop: MapReduce History Server REST API).

Of a history file that was cut short the server still lists tasks and attempts, but it has no end of the job and refuses
to tell of the job itself (503 "Name is null", or "Could not load history file" where not even the file's head is
whole). Such a job is an AssayError: its elapsed time is not known. The trial that it belongs to goes on without it.
"""

import socket
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from assay.engine.tasks import COUNTERS, FILE_SYSTEM_COUNTERS, STAGES, TASK_COUNTERS, MapReduceAttempt, counted_alike
from assay.host.http import Authorize, client
from assay.host.kerberos import NoTicketError
from assay.model.engine import HISTORY_INCOMPLETE, Counted, History, JobReference, amounts_in
from assay.model.errors import AssayError
from assay.model.host_names import host_of
from assay.model.node import Connect
from assay.model.record import Counters, JobRecord, Stage
from assay.model.task import TaskAttempt, covered_ms

if TYPE_CHECKING:
    import httpx

PATIENCE_S, ANSWER_S = 30.0, 30.0
AT_ONCE = 4
"""Tasks that are asked for at the same time: a job of thousands has two requests for each."""
POLL_S = 0.1
_REASON_CHARACTERS = 300

# As the jobs' own driver reports them (org.assay.jobs.driver.Settings).
RELEVANT = frozenset({
    "dfs.blocksize", "dfs.replication", "fs.defaultFS", "io.file.buffer.size", "mapreduce.cluster.local.dir",
    "mapreduce.framework.name", "mapreduce.input.fileinputformat.split.maxsize",
    "mapreduce.input.fileinputformat.split.minsize", "mapreduce.job.jvm.numtasks", "mapreduce.job.queuename",
    "mapreduce.job.reduce.slowstart.completedmaps", "mapreduce.job.reduces", "mapreduce.job.ubertask.enable",
    "mapreduce.map.cpu.vcores", "mapreduce.map.java.opts", "mapreduce.map.memory.mb", "mapreduce.map.output.compress",
    "mapreduce.map.output.compress.codec", "mapreduce.map.sort.spill.percent", "mapreduce.map.speculative",
    "mapreduce.output.fileoutputformat.compress", "mapreduce.output.fileoutputformat.compress.codec",
    "mapreduce.reduce.cpu.vcores", "mapreduce.reduce.input.buffer.percent", "mapreduce.reduce.java.opts",
    "mapreduce.reduce.memory.mb", "mapreduce.reduce.merge.inmem.threshold",
    "mapreduce.reduce.shuffle.input.buffer.percent", "mapreduce.reduce.shuffle.memory.limit.percent",
    "mapreduce.reduce.shuffle.merge.percent", "mapreduce.reduce.shuffle.parallelcopies",
    "mapreduce.reduce.speculative", "mapreduce.task.io.sort.factor", "mapreduce.task.io.sort.mb",
})  # fmt: skip


class HistoryServer:
    """Reads finished jobs, their counters and their task attempts."""

    def __init__(
        self, url: str, patience_s: float = PATIENCE_S, connect: Connect = socket.create_connection,
        ca_file: Path | None = None, slower: int = 1, authorize: Authorize | None = None,
    ) -> None:  # fmt: skip
        """A server that is so many times `slower` than others is waited for so many times longer."""
        self._jobs_url = url.rstrip("/") + "/ws/v1/history/mapreduce/jobs"
        import httpx  # reading records needs none

        self._broken = (httpx.HTTPError, NoTicketError)
        self._client = client(connect, ANSWER_S * slower, {"Accept": "application/json"}, ca_file, authorize)
        self._patience_s = patience_s * slower

    def read(self, reference: JobReference) -> History:
        """A job's history, waited for a while because the server learns of a job only after its end.

        What it does not tell of the job's tasks is a doubt. Raises AssayError when the server has no data of the job
        itself within that time, or leaves out what a history must have.
        """
        try:
            job = self._wait_for(reference.id)
            counters = self._get(f"{reference.id}/counters")["jobCounters"].get("counterGroup", [])
            with ThreadPoolExecutor(AT_ONCE) as threads:
                tasks = _listed(self._get(f"{reference.id}/tasks"), "tasks", "task")
                attempts_by_task = threads.map(lambda task: list(self._task(reference.id, task["id"])), tasks)
                attempts = [attempt for task_attempts in attempts_by_task for attempt in task_attempts]
            failed = sum(task.get("state") == "FAILED" for task in tasks)
            record = job_record(reference.name, job, _counters(counters, "totalCounterValue"))
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise AssayError(
                f"the history of {reference.id} is incomplete or malformed: {error}; its file may be cut short"
            ) from error
        return with_attempts(record, attempts, failed_tasks=failed)

    def failure(self, job: str) -> list[str]:
        """What the first failed attempt of a task said, in lines; none where no attempt failed. Raises AssayError."""
        self._wait_for(job)
        for task in _listed(self._get(f"{job}/tasks"), "tasks", "task"):
            for attempt in self._attempts(job, task["id"]):
                if attempt.get("state") == "FAILED" and attempt.get("diagnostics"):
                    return str(attempt["diagnostics"]).splitlines()
        return []

    def _task(self, job: str, task: str) -> Iterator[MapReduceAttempt]:
        for attempt in self._attempts(job, task):
            content = self._get(f"{job}/tasks/{task}/attempts/{attempt['id']}/counters")
            groups = _listed(content, "jobTaskAttemptCounters", "taskAttemptCounterGroup")
            yield task_attempt(job, attempt, _counters(groups, "value"))

    def _attempts(self, job: str, task: str) -> list[dict[str, Any]]:
        return _listed(self._get(f"{job}/tasks/{task}/attempts"), "taskAttempts", "taskAttempt")

    def settings(self, reference: JobReference) -> dict[str, str]:
        """Read the properties of a job that decide how it ran (`RELEVANT`)."""
        self._wait_for(reference.id)
        properties = _listed(self._get(f"{reference.id}/conf"), "conf", "property")
        return {property_["name"]: property_["value"] for property_ in properties if property_["name"] in RELEVANT}

    def _wait_for(self, job: str) -> dict[str, Any]:
        deadline = time.monotonic() + self._patience_s
        while True:
            try:
                job_status: dict[str, Any] = self._get(job)["job"]
            except AssayError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(POLL_S)
            else:
                return job_status

    def _get(self, path: str) -> Any:
        url = f"{self._jobs_url}/{path}"
        try:
            answer = self._client.get(url)
        except self._broken as error:
            raise AssayError(f"the JobHistoryServer did not answer {url}: {error}") from error
        if answer.is_success:
            try:
                return answer.json()
            except ValueError as error:
                raise AssayError(f"the JobHistoryServer's answer to {url} is not JSON: {error}") from error
        if answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
            why = _remote_reason(answer)
            raise AssayError(f"the JobHistoryServer has no data of {path} ({why}); its history file may be cut short")
        raise AssayError(f"the JobHistoryServer did not answer {url}: {answer.status_code} {_remote_reason(answer)}")


def with_attempts(
    record: JobRecord, attempts: Sequence[TaskAttempt], places: Mapping[Counted, tuple[str, str]] = COUNTERS,
    failed_tasks: int = 0,
) -> History:  # fmt: skip
    """A job's history, with a doubt where tasks are missing; `places` are those of the job's counters.

    A job may allow that some tasks fail (`mapreduce.map.failures.maxpercent`).
    """
    record = record.model_copy(update={"active_s": active_seconds(attempts)})
    # Of a job that succeeded each other task must have an attempt that did.
    done = {attempt.task for attempt in attempts if attempt.state == "SUCCEEDED" and attempt.finished_ms}
    lost = record.tasks - len(done) - failed_tasks
    loss = f"the history of {record.name} ({record.id}) lacks {lost} of its {record.tasks} tasks"
    lacks = record.state == "SUCCEEDED" and lost > 0
    doubts = (HISTORY_INCOMPLETE.doubt(loss, record.id),) if lacks else ()
    counted = amounts_in(record.counters, places)
    return History(job=record, attempts=tuple(attempts), counted=counted, doubts=doubts)


def job_record(name: str, job: dict[str, Any], counters: Counters) -> JobRecord:
    """A job as history's `job` tells it, and its counters; averages come in milliseconds."""
    if job["state"] != "SUCCEEDED":  # one that ended before it began has no tasks
        job = {"startTime": job["submitTime"], "mapsTotal": 0, "reducesTotal": 0, **job}
    return JobRecord(
        name=name,
        id=job["id"],
        state=job["state"],
        submitted_ms=job["submitTime"],
        started_ms=job["startTime"],
        finished_ms=job["finishTime"],
        stages=(
            Stage(name="map", tasks=job["mapsTotal"], failed_attempts=job.get("failedMapAttempts", 0)),
            Stage(name="reduce", tasks=job["reducesTotal"], failed_attempts=job.get("failedReduceAttempts", 0)),
        ),
        uberized=job.get("uberized", False),
        phases={phase: job.get(f"avg{phase.title()}Time", 0) / 1000 for stage in STAGES for phase in stage.phases},
        counters=counters,
    )


def active_seconds(attempts: Iterable[TaskAttempt]) -> float | None:
    """During how many seconds at least one of these ran; None where none has both its times."""
    ran = [
        (attempt.started_ms, attempt.finished_ms)
        for attempt in attempts
        if attempt.finished_ms > attempt.started_ms > 0
    ]
    return covered_ms(ran) / 1000 if ran else None


def average_seconds(attempts: Iterable[TaskAttempt], phases: Iterable[str]) -> dict[str, float]:
    """Seconds of each of these phases, on average over the attempts that succeeded; without those that none had."""
    spent: dict[str, list[float]] = {phase: [] for phase in phases}
    for attempt in attempts:
        if attempt.state == "SUCCEEDED":
            begun_ms = attempt.started_ms
            for phase, ended_ms in attempt.phase_ends():
                spent[phase].append((ended_ms - begun_ms) / 1000)
                begun_ms = ended_ms
    return {phase: fmean(seconds) for phase, seconds in spent.items() if seconds}


def task_attempt(job: str, attempt: dict[str, Any], counters: Counters) -> MapReduceAttempt:
    """Make an attempt from history's `taskAttempt` and its counters."""
    files, task = counters.get(FILE_SYSTEM_COUNTERS, {}), counters.get(TASK_COUNTERS, {})
    stage = "map" if attempt["type"] == "MAP" else "reduce"
    # Of a reducer that did not end well history gives its end as that of all phases (Hadoop: JobHistoryParser).
    phases = attempt if attempt["state"] == "SUCCEEDED" else {}
    return MapReduceAttempt(
        job=job,
        attempt=attempt["id"],
        stage=stage,
        node=host_of(attempt.get("nodeHttpAddress", "")),
        state=attempt["state"],
        # -1 where history does not know.
        started_ms=max(0, attempt["startTime"]),
        shuffle_finished_ms=max(0, phases.get("shuffleFinishTime", 0)),
        merge_finished_ms=max(0, phases.get("mergeFinishTime", 0)),
        finished_ms=max(0, attempt["finishTime"]),
        **counted_alike(files, task),
        shuffled_bytes=task.get("REDUCE_SHUFFLE_BYTES", 0),
        input_records=task.get(f"{stage.upper()}_INPUT_RECORDS", 0),
        output_records=task.get(f"{stage.upper()}_OUTPUT_RECORDS", 0),
        map_output_bytes=task.get("MAP_OUTPUT_BYTES", 0),
        map_output_materialized_bytes=task.get("MAP_OUTPUT_MATERIALIZED_BYTES", 0),
        fetched_map_outputs=task.get("SHUFFLED_MAPS", 0),
        failed_fetches=task.get("FAILED_SHUFFLE", 0),
        merged_map_outputs=task.get("MERGED_MAP_OUTPUTS", 0),
        container=attempt.get("assignedContainerId", ""),
        reason=reason_in(attempt.get("diagnostics", "")),
    )


def reason_in(diagnostics: str) -> str:
    """The first line of what an engine says of an attempt's end, cut where it is long."""
    return diagnostics.strip().partition("\n")[0][:_REASON_CHARACTERS]


def _counters(groups: list[dict[str, Any]], value: str) -> Counters:
    return {
        group["counterGroupName"]: {counter["name"]: counter[value] for counter in group.get("counter", [])}
        for group in groups
    }


def _remote_reason(answer: "httpx.Response") -> str:
    """The exception that Hadoop's web applications put into an answer (GenericExceptionHandler), or its first words."""
    try:
        return str(answer.json()["RemoteException"]["message"])
    except (ValueError, KeyError, TypeError):
        return answer.text[:200] or answer.reason_phrase


def _listed(content: dict[str, Any], outer: str, inner: str) -> list[dict[str, Any]]:
    """A list of the interface, which leaves out what is empty and may say null."""
    items: list[dict[str, Any]] = (content.get(outer) or {}).get(inner) or []
    return items
