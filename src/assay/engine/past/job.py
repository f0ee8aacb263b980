"""What triage keeps of a finished job: sums over its tasks, few enough for ten thousand jobs of a site at once."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

MAP, REDUCE = "map", "reduce"
SUCCEEDED = "SUCCEEDED"
SETTINGS = frozenset({
    "dfs.blocksize", "dfs.replication", "mapreduce.job.reduce.slowstart.completedmaps", "mapreduce.job.reduces",
    "mapreduce.map.output.compress", "mapreduce.map.output.compress.codec", "mapreduce.map.sort.spill.percent",
    "mapreduce.task.io.sort.factor", "mapreduce.task.io.sort.mb",
    "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", "yarn.nodemanager.resource.memory-mb",
})  # fmt: skip
"""The properties of a job that are kept: ten thousand jobs have to fit into memory."""
REPLICAS, SORT_MIB, SPILL_SHARE = 3, 100, 0.8
"""Hadoop's own values, where a job's configuration is not known."""


class Work(NamedTuple):
    """What tasks did: bytes by what they were of, records, milliseconds of processors and of tasks.

    `store` is the cluster's own file system (HDFS), `remote` any other, such as an object store. `local` is the
    nodes' local directories. A task counts what it asked for; the page cache may have answered.
    """

    tasks: int = 0
    task_ms: int = 0
    cpu_ms: int = 0
    gc_ms: int = 0
    store_read: int = 0
    store_written: int = 0
    remote_read: int = 0
    remote_written: int = 0
    local_read: int = 0
    local_written: int = 0
    fetched: int = 0
    fetches: int = 0
    map_output: int = 0
    map_output_on_disk: int = 0
    input_records: int = 0
    output_records: int = 0
    spilled_records: int = 0

    def plus(self, other: "Work") -> "Work":
        """The sum of both."""
        return Work(*map(sum, zip(self, other, strict=True)))

    def most(self, other: "Work") -> "Work":
        """Of each amount the larger one."""
        return Work(*map(max, zip(self, other, strict=True)))


class StageSums(NamedTuple):
    """The tasks of a stage, and the time in which the job waits for no other stage.

    That time is the maps' until the last of them ends, and the reducers' from then on.
    """

    name: str
    begin_ms: int
    end_ms: int
    """That time: milliseconds since the epoch, 0 if unknown."""
    elapsed_ms: int
    """How long at least one of its tasks ran in that time."""
    saved_ms: int
    """The most that the stage could become shorter if its tasks never waited (`docs/explanation/triage.md`)."""
    early_ms: int
    """Time of reducers before the last map's end, added up."""
    phases_ms: Mapping[str, int]
    """Time of its tasks by phase, added up, without `early_ms`."""
    peak: int
    """The most of its tasks that ran at once."""
    whole: Work
    """All of its tasks."""
    busiest: Work
    """Of each amount the most that the tasks on any one node had."""


class PastJob(NamedTuple):
    """A job as its history tells it. Times are milliseconds since the epoch, 0 if unknown."""

    id: str
    name: str
    user: str
    queue: str
    state: str
    submitted_ms: int
    started_ms: int
    finished_ms: int
    uberized: bool
    maps: int
    reduces: int
    stages: tuple[StageSums, ...]
    nodes: tuple[str, ...]
    """The nodes on which its tasks ran."""
    settings: Mapping[str, str]
    """Those of `SETTINGS` that its configuration has."""
    missing: tuple[str, ...] = ()
    """What the history lacks without which no bound can be worked out, each with how to get it."""
    source: str = ""

    @property
    def elapsed_s(self) -> float:
        """From its start to its end, in seconds; 0 where either is not known."""
        return max(0, self.finished_ms - self.started_ms) / 1000 if self.started_ms and self.finished_ms else 0.0

    @property
    def counts(self) -> bool:
        """Whether a bound can be worked out: its history lacks nothing, and says when it ran."""
        return not self.missing and self.elapsed_s > 0

    @property
    def idle_s(self) -> float:
        """When none of its tasks ran, in seconds: starts, waits for containers, and commits."""
        return max(0.0, self.elapsed_s - self.tasks_s)

    @property
    def queued_s(self) -> float:
        """From its submission to its start, in seconds."""
        return max(0, self.started_ms - self.submitted_ms) / 1000 if self.submitted_ms and self.started_ms else 0.0

    @property
    def tasks_s(self) -> float:
        """How long tasks ran while the job waited for nothing but them, in seconds."""
        return sum(stage.elapsed_ms for stage in self.stages) / 1000

    @property
    def polls_s(self) -> float:
        """What waits between Hadoop's own polls may come to, in seconds: a drive may spare them, and no byte tells.

        Of each stage the containers are asked for with a heartbeat of the application master. A reducer asks once a
        second for the maps that ended (EventFetcher), and a task that may not commit yet asks again after a second
        (Task.commit): so each stage ends with such a wait.
        """
        beat_s = self.number("yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", 1000) / 1000
        return min(self.elapsed_s, len(self.stages) * (beat_s + 1))

    @property
    def copies(self) -> float:
        """How many copies of its output the cluster's store keeps."""
        return self.number("dfs.replication", REPLICAS)

    @property
    def sort_mib(self) -> float:
        """Its maps' sort buffer, in MiB."""
        return self.number("mapreduce.task.io.sort.mb", SORT_MIB)

    @property
    def spill_share(self) -> float:
        """The share of the sort buffer that is full when its maps begin to spill."""
        return self.number("mapreduce.map.sort.spill.percent", SPILL_SHARE)

    @property
    def spill_bytes(self) -> float:
        """What a map writes at once when it spills."""
        return self.sort_mib * (1 << 20) * self.spill_share

    @property
    def whole(self) -> Work:
        """What all of its tasks did."""
        return sum_of(stage.whole for stage in self.stages)

    def stage(self, name: str) -> StageSums | None:
        """The stage of that name, if any of its tasks ended."""
        return next((stage for stage in self.stages if stage.name == name), None)

    def setting(self, name: str, default: str) -> str:
        """A property of the job, or what Hadoop takes where nothing is said."""
        return self.settings.get(name, default)

    def number(self, name: str, default: float) -> float:
        """A property of the job that is a number; the default where it is none."""
        try:
            return float(self.settings[name])
        except (KeyError, ValueError):
            return default


def sum_of(works: Iterable[Work]) -> Work:
    """The sum of any number of them."""
    total = Work()
    for work in works:
        total = total.plus(work)
    return total
