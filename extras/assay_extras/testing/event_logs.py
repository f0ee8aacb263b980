"""Event logs of Spark applications as their drivers write them, of made stages: for tests and benchmarks of readers.

Events and metrics are those of Spark 3. A made stage's tasks begin and end together, and share its bytes evenly.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

_BEGAN_MS = 1_795_226_400_000
_LEVEL = {"Use Disk": False, "Use Memory": False, "Use Off Heap": False, "Deserialized": False, "Replication": 1}

Event = dict[str, Any]


class MadeStage(NamedTuple):
    """A stage: seconds since the application's start, bytes in all; `cpu` and `fetch_wait` are shares of its time."""

    begin_s: float = 10
    seconds: float = 20
    tasks: int = 4
    cpu: float = 0.5
    fetch_wait: float = 0.0
    input_bytes: int = 0
    input_records: int = 0
    output_bytes: int = 0
    output_records: int = 0
    fetched_bytes: int = 0
    fetched_blocks: int = 0
    shuffle_write_bytes: int = 0
    spilled_disk_bytes: int = 0

    @property
    def end_s(self) -> float:
        """When its last task ends."""
        return self.begin_s + self.seconds


class MadeApplication(NamedTuple):
    """An application on YARN that ends half a second after its last stage, with an executor on each of its nodes.

    It is one job from its start to its end; a session has a job for each stage, as long as that.
    """

    number: int = 1
    name: str = "made application"
    user: str = "nobody"
    began_ms: int = _BEGAN_MS
    stages: tuple[MadeStage, ...] = ()
    nodes: int = 2
    executors_at_s: tuple[float, ...] = (5,)
    """When executors are added, one on each node."""
    settings: Mapping[str, str] = {}
    system: Mapping[str, str] = {}
    """Properties of the driver's JVM."""
    ends: bool = True
    session: bool = False

    @property
    def id(self) -> str:
        """Its id."""
        return f"application_1795226383840_{self.number:04d}"

    @property
    def finished_ms(self) -> int:
        """When it ends."""
        return self.began_ms + round(1000 * max((stage.end_s for stage in self.stages), default=1)) + 500


def write_event_log(folder: Path, application: MadeApplication) -> Path:
    """Its log in a folder, plain."""
    log = folder / application.id
    lines = (json.dumps(event, separators=(",", ":")) for event in events(application))
    log.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return log


def events(application: MadeApplication) -> Iterator[Event]:
    """All of its events."""
    yield _event("LogStart", **{"Spark Version": "3.5.6"})
    settings = {"spark.master": "yarn", "spark.app.name": application.name, **application.settings}
    of_hadoop, of_system = {"dfs.replication": "3"}, {"System Properties": application.system}
    yield _event("EnvironmentUpdate", **{"Spark Properties": settings, "Hadoop Properties": of_hadoop, **of_system})
    start = {"App Name": application.name, "App ID": application.id, "Timestamp": application.began_ms}
    yield _event("ApplicationStart", **start, User=application.user)
    for number, at_s in enumerate(application.executors_at_s):
        for node in range(application.nodes):
            executor = 1 + number * application.nodes + node
            container = f"container_1795226383840_{application.number:04d}_01_{1 + executor:06d}"
            yield _event("ExecutorAdded", **{
                "Timestamp": _at(application, at_s), "Executor ID": str(executor),
                "Executor Info": {"Host": _node(node), "Total Cores": 2, "Attributes": {"CONTAINER_ID": container}},
            })  # fmt: skip
    numbered = list(enumerate(application.stages))
    jobs = [[pair] for pair in numbered] if application.session else [numbered]
    for job, stages in enumerate(jobs):
        begin_s, end_s = (stages[0][1].begin_s, stages[0][1].end_s) if application.session else (0, None)
        submitted = {"Job ID": job, "Submission Time": _at(application, begin_s)}
        yield _event("JobStart", **submitted, **{"Stage IDs": [number for number, _ in stages]})
        for number, stage in stages:
            yield from _stage_events(application, number, stage)
        ended_ms = application.finished_ms if end_s is None else _at(application, end_s)
        yield _event("JobEnd", **{"Job ID": job, "Completion Time": ended_ms, "Job Result": {"Result": "JobSucceeded"}})
    if application.ends:
        yield _event("ApplicationEnd", Timestamp=application.finished_ms)


def _event(kind: str, **fields: Any) -> Event:
    return {"Event": f"SparkListener{kind}", **fields}


def _at(application: MadeApplication, seconds: float) -> int:
    return application.began_ms + round(1000 * seconds)


def _node(number: int) -> str:
    return f"worker-{number}"


def _stage_events(application: MadeApplication, number: int, stage: MadeStage) -> Iterator[Event]:
    info = {
        "Stage ID": number, "Stage Attempt ID": 0, "Stage Name": f"made at Made.java:{number}",
        "Number of Tasks": stage.tasks,
        "RDD Info": [{"RDD ID": number, "Name": "FileScanRDD", "Storage Level": _LEVEL}],
    }  # fmt: skip
    yield _event("StageSubmitted", **{"Stage Info": info})
    for task in range(stage.tasks):
        of_task = {
            "Stage ID": number, "Stage Attempt ID": 0, "Task Type": "ShuffleMapTask",
            "Task Info": {
                "Task ID": 1000 * number + task, "Index": task, "Attempt": 0, "Partition ID": task,
                "Launch Time": _at(application, stage.begin_s), "Executor ID": str(1 + task % application.nodes),
                "Host": _node(task % application.nodes), "Locality": "NODE_LOCAL", "Speculative": False,
                "Getting Result Time": 0, "Finish Time": _at(application, stage.end_s), "Failed": False,
                "Killed": False, "Accumulables": [],
            },
        }  # fmt: skip
        metrics = _metrics(stage)
        yield _event("TaskEnd", **of_task, **{"Task End Reason": {"Reason": "Success"}, "Task Metrics": metrics})
    yield _event("StageCompleted", **{"Stage Info": info})


def _metrics(stage: MadeStage) -> Event:
    run_ms, tasks = round(1000 * stage.seconds), stage.tasks
    return {
        "Executor Deserialize Time": 0, "Executor Deserialize CPU Time": 0, "Executor Run Time": run_ms,
        "Executor CPU Time": round(run_ms * stage.cpu * 1_000_000), "Peak Execution Memory": 0, "Result Size": 1000,
        "JVM GC Time": 0, "Result Serialization Time": 0, "Memory Bytes Spilled": 4 * stage.spilled_disk_bytes // tasks,
        "Disk Bytes Spilled": stage.spilled_disk_bytes // tasks,
        "Shuffle Read Metrics": {
            "Remote Blocks Fetched": stage.fetched_blocks // tasks, "Local Blocks Fetched": 0,
            "Fetch Wait Time": round(run_ms * stage.fetch_wait), "Remote Bytes Read": stage.fetched_bytes // tasks,
            "Remote Bytes Read To Disk": 0, "Local Bytes Read": 0, "Total Records Read": stage.fetched_bytes // 100,
        },
        "Shuffle Write Metrics": {
            "Shuffle Bytes Written": stage.shuffle_write_bytes // tasks, "Shuffle Write Time": 0,
            "Shuffle Records Written": stage.shuffle_write_bytes // 100 // tasks,
        },
        "Input Metrics": {"Bytes Read": stage.input_bytes // tasks, "Records Read": stage.input_records // tasks},
        "Output Metrics": {
            "Bytes Written": stage.output_bytes // tasks, "Records Written": stage.output_records // tasks,
        },
        "Updated Blocks": [],
    }  # fmt: skip
