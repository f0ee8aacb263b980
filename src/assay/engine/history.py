"""Job history from the JobHistoryServer's REST interface (Hadoop: MapReduce History Server REST API)."""

import time
from typing import Any

import httpx

from assay.model.engine import History, JobReference
from assay.model.errors import AssayError
from assay.model.record import Counters, JobRecord, Phases, TaskAttempt

PATIENCE_S = 30.0
POLL_S = 0.1
FILE_SYSTEM = "org.apache.hadoop.mapreduce.FileSystemCounter"
TASK = "org.apache.hadoop.mapreduce.TaskCounter"

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

    def __init__(self, url: str, patience_s: float = PATIENCE_S) -> None:
        self._jobs_url = url.rstrip("/") + "/ws/v1/history/mapreduce/jobs"
        self._client = httpx.Client(timeout=30, trust_env=False, headers={"Accept": "application/json"})
        self._patience_s = patience_s

    def read(self, reference: JobReference) -> History:
        """A job's history, waited for a while because the server learns of a job only after its end."""
        job = self._wait_for(reference)
        counters = self._get(f"{reference.id}/counters")["jobCounters"].get("counterGroup", [])
        attempts = [
            self._attempt(reference.id, attempt)
            for task in _listed(self._get(f"{reference.id}/tasks"), "tasks", "task")
            for attempt in _listed(
                self._get(f"{reference.id}/tasks/{task['id']}/attempts"), "taskAttempts", "taskAttempt"
            )
        ]
        return History(job=job_record(reference.name, job, counters), attempts=tuple(attempts))

    def settings(self, reference: JobReference) -> dict[str, str]:
        """Those of a job's properties that decide how it ran (`RELEVANT`)."""
        self._wait_for(reference)
        properties = _listed(self._get(f"{reference.id}/conf"), "conf", "property")
        return {one["name"]: one["value"] for one in properties if one["name"] in RELEVANT}

    def _wait_for(self, reference: JobReference) -> dict[str, Any]:
        deadline = time.monotonic() + self._patience_s
        while True:
            try:
                job: dict[str, Any] = self._get(reference.id)["job"]
            except AssayError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(POLL_S)
            else:
                return job

    def _attempt(self, job: str, attempt: dict[str, Any]) -> TaskAttempt:
        task = attempt["id"].replace("attempt", "task", 1).rpartition("_")[0]
        content = self._get(f"{job}/tasks/{task}/attempts/{attempt['id']}/counters")
        groups = _listed(content, "jobTaskAttemptCounters", "taskAttemptCounterGroup")
        return task_attempt(job, attempt, groups)

    def _get(self, path: str) -> Any:
        url = f"{self._jobs_url}/{path}"
        try:
            answer = self._client.get(url)
            answer.raise_for_status()
        except httpx.HTTPError as error:
            raise AssayError(f"the JobHistoryServer did not answer {url}: {error}") from error
        return answer.json()


def job_record(name: str, job: dict[str, Any], groups: list[dict[str, Any]]) -> JobRecord:
    """A job as history's `job` and `jobCounters` tell it; averages come in milliseconds."""
    return JobRecord(
        name=name,
        id=job["id"],
        state=job["state"],
        submitted_ms=job["submitTime"],
        started_ms=job["startTime"],
        finished_ms=job["finishTime"],
        maps=job["mapsTotal"],
        reduces=job["reducesTotal"],
        failed_maps=job.get("failedMapAttempts", 0),
        failed_reduces=job.get("failedReduceAttempts", 0),
        uberized=job.get("uberized", False),
        phases=Phases(
            map_s=job.get("avgMapTime", 0) / 1000,
            shuffle_s=job.get("avgShuffleTime", 0) / 1000,
            merge_s=job.get("avgMergeTime", 0) / 1000,
            reduce_s=job.get("avgReduceTime", 0) / 1000,
        ),
        counters=_counters(groups, "totalCounterValue"),
    )


def task_attempt(job: str, attempt: dict[str, Any], groups: list[dict[str, Any]]) -> TaskAttempt:
    """One attempt as history's `taskAttempt` and its counters tell it."""
    counters = _counters(groups, "value")
    files, task = counters.get(FILE_SYSTEM, {}), counters.get(TASK, {})
    return TaskAttempt(
        job=job,
        attempt=attempt["id"],
        kind="map" if attempt["type"] == "MAP" else "reduce",
        node=attempt.get("nodeHttpAddress", "").partition(":")[0],
        state=attempt["state"],
        started_ms=attempt["startTime"],
        shuffle_finished_ms=attempt.get("shuffleFinishTime", 0),
        merge_finished_ms=attempt.get("mergeFinishTime", 0),
        finished_ms=attempt["finishTime"],
        hdfs_read_bytes=files.get("HDFS_BYTES_READ", 0),
        hdfs_written_bytes=files.get("HDFS_BYTES_WRITTEN", 0),
        local_read_bytes=files.get("FILE_BYTES_READ", 0),
        local_written_bytes=files.get("FILE_BYTES_WRITTEN", 0),
        shuffled_bytes=task.get("REDUCE_SHUFFLE_BYTES", 0),
        spilled_records=task.get("SPILLED_RECORDS", 0),
    )


def _counters(groups: list[dict[str, Any]], value: str) -> Counters:
    return {
        group["counterGroupName"]: {counter["name"]: counter[value] for counter in group.get("counter", [])}
        for group in groups
    }


def _listed(content: dict[str, Any], outer: str, inner: str) -> list[dict[str, Any]]:
    """A list of the interface, which leaves out what is empty and may say null."""
    found: list[dict[str, Any]] = (content.get(outer) or {}).get(inner) or []
    return found
