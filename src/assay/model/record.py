"""Records: all that a trial left. Judging and reporting read nothing else."""

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import Literal

from assay.model.base import Frozen
from assay.model.doubt import Doubt, Outcome, Verdict, overall
from assay.model.input import GraphFacts
from assay.model.platform import LimitUse
from assay.model.trial import Landed, Trial

SCHEMA_VERSION: Literal[2] = 2

Counters = Mapping[str, Mapping[str, int]]
"""Hadoop's, by group and name."""

FILE_SYSTEM_COUNTERS = "org.apache.hadoop.mapreduce.FileSystemCounter"
TASK_COUNTERS = "org.apache.hadoop.mapreduce.TaskCounter"
PROCESSOR_TIME = "CPU_MILLISECONDS"  # of all tasks, among TASK_COUNTERS


class Phases(Frozen):
    """Average seconds per task in each phase, as the JobHistoryServer computes them (`avgMapTime`, ...).

    Over several jobs the averages are added up, as the thesis does for its iterative jobs.
    """

    map_s: float
    shuffle_s: float
    merge_s: float
    reduce_s: float

    def __add__(self, other: "Phases") -> "Phases":
        return Phases(
            map_s=self.map_s + other.map_s,
            shuffle_s=self.shuffle_s + other.shuffle_s,
            merge_s=self.merge_s + other.merge_s,
            reduce_s=self.reduce_s + other.reduce_s,
        )


NO_PHASES = Phases(map_s=0, shuffle_s=0, merge_s=0, reduce_s=0)


class JobRecord(Frozen):
    """One MapReduce job, with the times of its history in milliseconds since the epoch.

    `active_s` are the seconds during which at least one attempt of its tasks ran, None where its tasks are not known:
    the rest of its time is start-up and waiting.
    """

    name: str
    id: str
    state: str
    submitted_ms: int
    started_ms: int
    finished_ms: int
    maps: int
    reduces: int
    failed_maps: int = 0
    failed_reduces: int = 0
    uberized: bool = False
    active_s: float | None = None
    phases: Phases
    counters: Counters

    @property
    def elapsed_s(self) -> float:
        """Seconds from the job's start to its end, as history has them."""
        return (self.finished_ms - self.started_ms) / 1000

    @property
    def submitted_s(self) -> float:
        """Seconds from the job's submission to its end."""
        return (self.finished_ms - self.submitted_ms) / 1000


class TaskAttempt(Frozen):
    """One attempt of one task, as history and its counters tell it.

    Milliseconds since the epoch, 0 where a phase does not apply or its end is not known; bytes and the like by counter.
    A killed attempt has no counters but those of its processor use. `container` is where its log lies; `reason` why it
    failed or was killed, in Hadoop's words.

    `cpu_ms` is its process tree's user and system time after the task's start-up (CPU_MILLISECONDS: Hadoop's Task takes
    off what was used before it was initialised), `gc_ms` what collectors took of it in wall time (GC_TIME_MILLIS);
    `physical_memory_bytes` its resident memory at the end. `map_output_bytes` are serialised records,
    `map_output_materialized_bytes` the files of them, after combining and compression; `fetched_map_outputs`,
    `failed_fetches` and `merged_map_outputs` are SHUFFLED_MAPS, FAILED_SHUFFLE and MERGED_MAP_OUTPUTS.
    """

    job: str
    attempt: str
    kind: Literal["map", "reduce"]
    node: str
    state: str
    started_ms: int
    shuffle_finished_ms: int
    merge_finished_ms: int
    finished_ms: int
    hdfs_read_bytes: int
    hdfs_written_bytes: int
    local_read_bytes: int
    local_written_bytes: int
    shuffled_bytes: int
    spilled_records: int
    input_records: int = 0
    output_records: int = 0
    map_output_bytes: int = 0
    map_output_materialized_bytes: int = 0
    fetched_map_outputs: int = 0
    failed_fetches: int = 0
    merged_map_outputs: int = 0
    cpu_ms: int = 0
    gc_ms: int = 0
    physical_memory_bytes: int = 0
    container: str = ""
    reason: str = ""

    @property
    def task(self) -> str:
        """The task that it is an attempt of."""
        return self.attempt.replace("attempt", "task", 1).rpartition("_")[0]

    @property
    def outrun(self) -> bool:
        """Killed because another attempt of its task, started beside it on speculation, was done first."""
        return self.state == "KILLED" and self.reason.startswith("Speculation:")


class Sample(Frozen):
    """One reading of a probe: `value` of `series` at `time_ms` since the epoch; the series' name ends in its unit."""

    probe: str
    series: str
    time_ms: int
    value: float


Part = Literal["staging", "run", "write out", "collect"]
Basis = Literal["measured", "modelled", "estimated"]


class Amount(Frozen):
    """A probe's total over one part of a trial: `value` of `series`, whose name ends in its unit.

    `subject` is what it is of: a medium, a group of processes, a pair of nodes, a component. `basis` says whether it
    was counted by an instrument, computed by a model from what was counted, or estimated from something coarser.
    """

    probe: str
    subject: str
    series: str
    part: Part
    value: float
    basis: Basis = "measured"


class Step(Frozen):
    """One step of a trial's life (`stage`, `run`, `verify`) and how long it took."""

    name: str
    started_ms: int
    seconds: float


class Totals(Frozen):
    """Sums over a trial's jobs, staging apart.

    `elapsed_s` adds the jobs' elapsed times (start to end, as history has them), `submitted_s` their times from
    submission to end, which include the wait for the application master.
    """

    elapsed_s: float
    submitted_s: float
    staging_submitted_s: float
    phases: Phases
    counters: Counters


class Output(Frozen):
    """Where the workload's output was, how large it was, and what it says in short (`triangles: 494728`).

    A quantity's unit is in its name, last.
    """

    path: str
    bytes: int
    summary: Mapping[str, int | float]


class Status(StrEnum):
    """How a trial ended. `finished` means that the jobs ran; whether the output is right is in the verdicts."""

    FINISHED = "finished"
    FAILED = "failed"


class Record(Frozen):
    """All a trial left."""

    schema_version: Literal[2] = SCHEMA_VERSION
    trial: Trial
    status: Status
    error: str | None = None
    facts: Mapping[str, str]
    settings: Mapping[str, str] = {}
    dataset: GraphFacts | None = None
    steps: tuple[Step, ...]
    staging_jobs: tuple[JobRecord, ...] = ()
    jobs: tuple[JobRecord, ...] = ()
    totals: Totals | None = None
    outputs: tuple[Output, ...] = ()
    landed: tuple[Landed, ...] = ()
    limits: LimitUse | None = None
    devices: Mapping[str, Mapping[str, object]] = {}
    amounts: tuple[Amount, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    doubts: tuple[Doubt, ...] = ()

    @property
    def outside_jobs_s(self) -> float | None:
        """Seconds from the first step's start to the last one's end, without those of the workload's own jobs.

        A job's are those from its submission to its end; staging jobs count as outside. None where the jobs' times are
        not known.
        """
        if self.totals is None or not self.steps:
            return None
        start_s = min(step.started_ms for step in self.steps) / 1000
        end_s = max(step.started_ms / 1000 + step.seconds for step in self.steps)
        return end_s - start_s - self.totals.submitted_s

    @cached_property
    def outcome(self) -> Outcome:
        """The trial's judgement: a trial that failed to run is a fail, whatever its checks said before."""
        return Outcome.FAIL if self.status is Status.FAILED else overall(self.verdicts)


def totals(jobs: tuple[JobRecord, ...], staging_jobs: tuple[JobRecord, ...]) -> Totals:
    """Add up a trial's jobs: elapsed times, phase averages (job by job) and counters."""
    phases = NO_PHASES
    counters: dict[str, dict[str, int]] = {}
    for job in jobs:
        phases += job.phases
        for group, values in job.counters.items():
            into = counters.setdefault(group, {})
            for name, value in values.items():
                into[name] = into.get(name, 0) + value
    return Totals(
        elapsed_s=sum(job.elapsed_s for job in jobs),
        submitted_s=sum(job.submitted_s for job in jobs),
        staging_submitted_s=sum(job.submitted_s for job in staging_jobs),
        phases=phases,
        counters=counters,
    )
