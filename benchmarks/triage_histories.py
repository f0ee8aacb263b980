"""Writes the jobs of run records as history files: `python benchmarks/triage_histories.py FOLDER RUN...`.

Records keep the attempts of each job's tasks, with their times and counters, and no history file: the files are written
again from these, with the trial's settings beside them, so that `assay triage --history FOLDER` reads them as a site's.
The job's name is that of its workload and its own, and its queue the run's.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.engine.past.made_histories import (
    Event,
    JobHead,
    MadeAttempt,
    attempt_events,
    job_events,
    write_events,
)
from assay.engine.tasks import MapReduceAttempt
from assay.engine.tez_history import RECORD_END, file_prefix
from assay.engine.tez_tasks import FILE_SYSTEM_COUNTERS, MAP, REDUCE, TASK_COUNTERS, TezAttempt
from assay.model.doubt import Outcome
from assay.model.record import JobRecord, Record, Status
from assay.model.task import TaskAttempt
from assay.record.folder import RunFolder

SUBMITTER = "assay"


def head_of(job: JobRecord, workload: str = "", queue: str = "default") -> JobHead:
    """What a record says of a job as a whole."""
    maps, reduces = (sum(stage.tasks for stage in job.stages if stage.name == name) for name in ("map", "reduce"))
    return JobHead(
        job.id, f"{workload} {job.name}".strip(), SUBMITTER, queue, job.submitted_ms, job.started_ms, job.finished_ms,
        maps, reduces, job.state, job.uberized,
    )  # fmt: skip


def events_of(job: JobRecord, attempts: Sequence[TaskAttempt]) -> list[Event]:
    """The events of a job, by the attempts of its tasks that ended."""
    return list(job_events(head_of(job), _of_tasks(attempts)))


def _of_tasks(attempts: Sequence[TaskAttempt]) -> Iterator[Event]:
    of_mapreduce = (attempt for attempt in attempts if isinstance(attempt, MapReduceAttempt))
    for attempt in sorted(of_mapreduce, key=lambda attempt: attempt.started_ms):
        ends = (
            {"mapFinishTime": attempt.finished_ms} if attempt.stage == "map"
            else {"shuffleFinishTime": attempt.shuffle_finished_ms, "sortFinishTime": attempt.merge_finished_ms}
        )  # fmt: skip
        made = MadeAttempt(
            attempt.attempt, attempt.stage.upper(), attempt.node, attempt.started_ms, attempt.finished_ms,
            _counters(attempt), ends, attempt.state,
        )  # fmt: skip
        yield from attempt_events(made)


def _counters(attempt: MapReduceAttempt) -> dict[str, int]:
    kind = attempt.stage.upper()
    return {
        "FILE_BYTES_READ": attempt.local_read_bytes, "FILE_BYTES_WRITTEN": attempt.local_written_bytes,
        "HDFS_BYTES_READ": attempt.hdfs_read_bytes, "HDFS_BYTES_WRITTEN": attempt.hdfs_written_bytes,
        f"{kind}_INPUT_RECORDS": attempt.input_records, f"{kind}_OUTPUT_RECORDS": attempt.output_records,
        "MAP_OUTPUT_BYTES": attempt.map_output_bytes,
        "MAP_OUTPUT_MATERIALIZED_BYTES": attempt.map_output_materialized_bytes,
        "REDUCE_SHUFFLE_BYTES": attempt.shuffled_bytes, "SHUFFLED_MAPS": attempt.fetched_map_outputs,
        "SPILLED_RECORDS": attempt.spilled_records, "CPU_MILLISECONDS": attempt.cpu_ms,
        "GC_TIME_MILLIS": attempt.gc_ms,
    }  # fmt: skip


def tez_history_of(job: JobRecord, attempts: Sequence[TezAttempt], settings: Mapping[str, str]) -> bytes:
    """The log of a job that Tez ran, by the attempts of its tasks that ended."""
    number = f"{job.id.removeprefix('job_')}_1"
    plan = {
        "vertices": [{"vertexName": MAP, "additionalInputs": [{"name": "MRInput"}]}, {"vertexName": REDUCE}],
        "edges": [{"inputVertexName": MAP, "outputVertexName": REDUCE, "dataMovementType": "SCATTER_GATHER"}],
    }
    vertices = {attempt.attempt.split("_", 1)[1].rsplit("_", 2)[0]: attempt.stage for attempt in attempts}
    dag = f"dag_{number}"
    records = [
        _tez_record(f"tez_application_{number.rpartition('_')[0]}", {}, config=dict(settings)),
        _tez_record(
            dag, {"DAG_SUBMITTED": job.submitted_ms, "DAG_STARTED": job.started_ms}, dagName=job.name, dagPlan=plan
        ),
        *(_tez_record(f"vertex_{vertex}", {}, vertexName=name) for vertex, name in vertices.items()),
        *(_tez_attempt(attempt) for attempt in attempts),
        _tez_record(dag, {"DAG_FINISHED": job.finished_ms}, status=job.state),
    ]
    return "".join(f"{json.dumps(record)}{RECORD_END}\n" for record in records).encode()


def _tez_record(entity: str, events: Mapping[str, int], **info: Any) -> dict[str, Any]:
    times = [{"eventtype": name, "ts": at_ms} for name, at_ms in events.items()]
    return {"entity": entity, "entitytype": "TEZ_ENTITY", "events": times, "otherinfo": info}


def _tez_attempt(attempt: TezAttempt) -> dict[str, Any]:
    files = {
        "FILE_BYTES_READ": attempt.local_read_bytes, "FILE_BYTES_WRITTEN": attempt.local_written_bytes,
        "HDFS_BYTES_READ": attempt.hdfs_read_bytes, "HDFS_BYTES_WRITTEN": attempt.hdfs_written_bytes,
    }  # fmt: skip
    tasks = {
        "SHUFFLE_BYTES": attempt.shuffled_bytes, "OUTPUT_BYTES": attempt.output_bytes,
        "OUTPUT_BYTES_PHYSICAL": attempt.output_materialized_bytes, "SPILLED_RECORDS": attempt.spilled_records,
        "CPU_MILLISECONDS": attempt.cpu_ms, "GC_TIME_MILLIS": attempt.gc_ms,
        "SHUFFLE_PHASE_TIME": attempt.shuffle_ms, "MERGE_PHASE_TIME": attempt.merged_ms,
    }  # fmt: skip
    groups = [
        {
            "counterGroupName": name,
            "counters": [{"counterName": counter, "counterValue": value} for counter, value in values.items()],
        }
        for name, values in ((FILE_SYSTEM_COUNTERS, files), (TASK_COUNTERS, tasks))
    ]  # fmt: skip
    return _tez_record(
        attempt.attempt, {"TASK_ATTEMPT_STARTED": attempt.started_ms, "TASK_ATTEMPT_FINISHED": attempt.finished_ms},
        status=attempt.state, nodeId=f"{attempt.node}:0", containerId=attempt.container,
        counters={"counterGroups": groups},
    )  # fmt: skip


def jobs_of(folder: RunFolder) -> Iterator[tuple[Record, JobRecord, list[TaskAttempt]]]:
    """The jobs of a run's finished trials whose outputs are not wrong, with the attempts of their tasks that ended."""
    for record in folder.records()[0]:
        if record.outcome is not Outcome.FAIL and record.status is Status.FINISHED and not record.trial.warm_up:
            attempts = folder.attempts(record.trial)
            for job in record.jobs:
                yield record, job, [
                    attempt for attempt in attempts
                    if attempt.job == job.id and attempt.finished_ms
                ]  # fmt: skip


def settings_of(record: Record) -> dict[str, str]:
    """The settings that a job's own history has: a record keeps some of them, and its trial those that were set."""
    return {**record.settings, **record.trial.settings.properties}


def main() -> int:
    """Write them, in a folder for each run, since clusters of two runs may call their jobs alike."""
    folder, *runs = map(Path, sys.argv[1:])
    count = 0
    for run in runs:
        place = folder / run.name
        place.mkdir(parents=True, exist_ok=True)
        for record, job, attempts in jobs_of(RunFolder(run)):
            of_tez = [attempt for attempt in attempts if isinstance(attempt, TezAttempt)]
            if of_tez:
                log = place / f"{file_prefix(job.id)}{len(list(place.iterdir())):06d}"
                log.write_bytes(tez_history_of(job, of_tez, settings_of(record)))
                count += 1
                continue
            if not all(isinstance(attempt, MapReduceAttempt) for attempt in attempts):
                continue
            head = head_of(job, record.trial.workload.name, run.name)
            made = list(job_events(head, _of_tasks(attempts)))
            write_events(place, head, made, "binary" if count % 2 else "json", settings_of(record))
            count += 1
    sys.stdout.write(f"{count} histories in {folder}\n")
    return 0 if count else 2


if __name__ == "__main__":
    sys.exit(main())
