"""Records: all that a trial left. Judging and reporting read nothing else."""

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import Literal

from pydantic import ConfigDict

from assay.model.base import Frozen
from assay.model.doubt import Doubt, Outcome, Verdict, overall
from assay.model.input import GraphFacts
from assay.model.platform import LimitUse
from assay.model.trial import Landed, Trial

SCHEMA_VERSION: Literal[3] = 3

Counters = Mapping[str, Mapping[str, int]]
"""Hadoop's, by group and name."""

FILE_SYSTEM_COUNTERS = "org.apache.hadoop.mapreduce.FileSystemCounter"
TASK_COUNTERS = "org.apache.hadoop.mapreduce.TaskCounter"
PROCESSOR_TIME = "CPU_MILLISECONDS"  # of all tasks, among TASK_COUNTERS


Phases = Mapping[str, float]
"""Average seconds per task in each phase, by the engine's names and in their order; over several jobs added up."""


class Stage(Frozen):
    """A stage of a job: tasks that do the same to different parts of the data."""

    name: str
    """The engine's name for it; MapReduce has `map` and `reduce`."""
    tasks: int
    """Number of tasks (MapReduce: `mapsTotal`, `reducesTotal`)."""
    failed_attempts: int = 0
    """Number of failed attempts (MapReduce: `failedMapAttempts`, `failedReduceAttempts`)."""


class JobRecord(Frozen):
    """A job, from `/ws/v1/history/mapreduce/jobs/ID` and its counters. Times are milliseconds since the epoch."""

    name: str
    """The job's name within its workload, such as `triads`."""
    id: str
    """Hadoop's id."""
    state: str
    """`SUCCEEDED`, for all jobs of a finished trial."""
    submitted_ms: int
    """When the client submitted it (`submitTime`)."""
    started_ms: int
    """When its application master began it (`startTime`)."""
    finished_ms: int
    """When it ended (`finishTime`). *Elapsed* is this less `started_ms`."""
    stages: tuple[Stage, ...]
    """The job's stages, in order."""
    uberized: bool = False
    """Whether its tasks ran in its application master; then its shuffle reads local files, and its times are not
    comparable."""
    active_s: float | None = None
    """Seconds during which at least one attempt of its tasks ran; the rest is start-up and waiting. Null if its
    tasks are not known."""
    phases: Phases
    """Averages per task."""
    counters: Counters
    """Values by group and name, Hadoop's own and those of the jobs."""

    @property
    def elapsed_s(self) -> float:
        """Seconds from the job's start to its end, as history has them."""
        return (self.finished_ms - self.started_ms) / 1000

    @property
    def submitted_s(self) -> float:
        """Seconds from the job's submission to its end."""
        return (self.finished_ms - self.submitted_ms) / 1000

    @property
    def tasks(self) -> int:
        """Number of tasks in all stages."""
        return sum(stage.tasks for stage in self.stages)

    def tasks_in(self, stage: str) -> int:
        """Number of tasks in a stage; 0 where the job has no such stage."""
        return sum(one.tasks for one in self.stages if one.name == stage)


class TaskAttempt(Frozen):
    """An attempt of a task, from `.../tasks/ID/attempts` and its counters, failed attempts too.

    Times are milliseconds since the epoch, 0 if a phase does not apply. Counters are of the groups `FileSystemCounter`
    and `TaskCounter`; a counter that an attempt lacks is 0, and a killed attempt has only those of its processor use.
    They count what the task asked for; the page cache may have answered.
    """

    job: str
    """The job's id."""
    attempt: str
    """The attempt's id."""
    stage: str
    """The stage that the task belongs to."""
    node: str
    """The node's host name."""
    state: str
    """Hadoop's state of the attempt, such as `SUCCEEDED`."""
    started_ms: int
    """Launch of its container (`startTime`)."""
    shuffle_finished_ms: int
    """End of the shuffle; 0 for maps."""
    merge_finished_ms: int
    """End of the last merge; 0 for maps."""
    finished_ms: int
    """End (`finishTime`)."""
    hdfs_read_bytes: int
    """`HDFS_BYTES_READ`."""
    hdfs_written_bytes: int
    """`HDFS_BYTES_WRITTEN`."""
    local_read_bytes: int
    """`FILE_BYTES_READ`: intermediate data."""
    local_written_bytes: int
    """`FILE_BYTES_WRITTEN`: intermediate data."""
    shuffled_bytes: int
    """`REDUCE_SHUFFLE_BYTES`; 0 for maps."""
    spilled_records: int
    """`SPILLED_RECORDS`."""
    input_records: int = 0
    """`MAP_INPUT_RECORDS` or `REDUCE_INPUT_RECORDS`."""
    output_records: int = 0
    """`MAP_OUTPUT_RECORDS` or `REDUCE_OUTPUT_RECORDS`."""
    map_output_bytes: int = 0
    """`MAP_OUTPUT_BYTES`: the serialised records."""
    map_output_materialized_bytes: int = 0
    """`MAP_OUTPUT_MATERIALIZED_BYTES`: their files, after combining and compression; 0 for reduces."""
    fetched_map_outputs: int = 0
    """`SHUFFLED_MAPS`."""
    failed_fetches: int = 0
    """`FAILED_SHUFFLE`."""
    merged_map_outputs: int = 0
    """`MERGED_MAP_OUTPUTS`."""
    cpu_ms: int = 0
    """`CPU_MILLISECONDS`: user and system time of its processes after the task's start-up (Hadoop subtracts what
    was used before the task was initialised)."""
    gc_ms: int = 0
    """`GC_TIME_MILLIS`: wall time of the garbage collectors."""
    physical_memory_bytes: int = 0
    """`PHYSICAL_MEMORY_BYTES`: resident memory at the end."""
    container: str = ""
    """The container's id (`assignedContainerId`)."""
    reason: str = ""
    """Why it failed or was killed, in Hadoop's words (`diagnostics`)."""

    @property
    def task(self) -> str:
        """The task that it is an attempt of."""
        return self.attempt.replace("attempt", "task", 1).rpartition("_")[0]

    @property
    def outrun(self) -> bool:
        """Killed because another attempt of its task, started beside it on speculation, was done first."""
        return self.state == "KILLED" and self.reason.startswith("Speculation:")


class Sample(Frozen):
    """A sample of a probe."""

    probe: str
    """The probe's name."""
    series: str
    """The series' name, which ends in its unit."""
    time_ms: int
    """End of the sampled time, in milliseconds since the epoch."""
    value: float
    """The value."""


Part = Literal["staging", "run", "write out", "collect"]
Basis = Literal["measured", "modelled", "estimated"]


class Amount(Frozen):
    """A probe's total over one interval of a trial."""

    probe: str
    """The probe's name."""
    subject: str
    """A medium, a group of processes, a pair of nodes, or a component."""
    series: str
    """The series' name, which ends in its unit."""
    part: Part
    """The interval."""
    value: float
    """The total."""
    basis: Basis = "measured"
    """Whether an instrument counted it, a model computed it from what was counted, or it was derived from something
    coarser."""


class Step(Frozen):
    """A step of a trial."""

    name: str
    """The step's name."""
    started_ms: int
    """Its start, in milliseconds since the epoch."""
    seconds: float
    """How long it took."""


class DeviceRequests(Frozen):
    """Requests of one sort that a device answered; further figures are the medium's own."""

    model_config = ConfigDict(extra="allow")

    bytes: int
    """Their bytes."""
    requests: int | None = None
    """Their number."""


class DeviceReport(Frozen):
    """What a medium's own device did in one interval; further figures are the medium's own."""

    model_config = ConfigDict(extra="allow")

    elapsed_seconds: float | None = None
    """The time of the report, in seconds."""
    busy_seconds: float | None = None
    """Time with at least one request, in seconds."""
    reads: DeviceRequests | None = None
    """Reads."""
    writes: DeviceRequests | None = None
    """Writes."""
    joules: Mapping[str, float] | None = None
    """*Modelled* energy; see [media](media.md#energy-is-modelled)."""


class Totals(Frozen):
    """Sums over a trial's jobs. Staging has its own; the time between two jobs is in none."""

    elapsed_s: float
    """The jobs' elapsed times added up: what reports call *elapsed*."""
    submitted_s: float
    """The jobs' times from submission to end, which include the wait for the application master."""
    staging_submitted_s: float
    """The same of the staging jobs."""
    phases: Phases
    """The jobs' averages added up, phase by phase."""
    counters: Counters
    """The jobs' counters added up."""


class Output(Frozen):
    """A workload's output."""

    path: str
    """Its path in the store."""
    bytes: int
    """Its size (one replica)."""
    summary: Mapping[str, int | float]
    """The numbers that the workload itself reports, such as `triangles`; a unit comes last in the name."""


class Status(StrEnum):
    """How a trial ended. `finished` means that the jobs ran; whether the output is right is in the verdicts."""

    FINISHED = "finished"
    FAILED = "failed"


class Record(Frozen):
    """All that a trial left."""

    schema_version: Literal[3] = SCHEMA_VERSION
    """The version of this form."""
    trial: Trial
    """What was planned."""
    status: Status
    """`finished`: all steps ran; whether the output is right is in the verdicts. `failed`: a step did not run;
    `error` says why."""
    error: str | None = None
    """One sentence, or null."""
    facts: Mapping[str, str]
    """The machine, the media and the cluster."""
    settings: Mapping[str, str] = {}
    """The effective Hadoop properties."""
    dataset: GraphFacts | None = None
    """Counts of the graph; null without a graph, or if the trial failed before."""
    steps: tuple[Step, ...]
    """The steps of the trial."""
    staging_jobs: tuple[JobRecord, ...] = ()
    """The jobs that brought the input into its normal form."""
    jobs: tuple[JobRecord, ...] = ()
    """The workload's jobs, in order."""
    totals: Totals | None = None
    """Sums over `jobs`; null if there are none, or if the history of a job was lost (doubt `history-incomplete`)."""
    outputs: tuple[Output, ...] = ()
    """The workload's outputs."""
    landed: tuple[Landed, ...] = ()
    """Where each role's bytes landed; empty on an existing cluster."""
    limits: LimitUse | None = None
    """The use of the bounds; null without bounds."""
    devices: Mapping[str, Mapping[str, DeviceReport]] = {}
    """What the media's own devices did, by medium and interval."""
    amounts: tuple[Amount, ...] = ()
    """What probes counted, by interval; see [probes](probes.md). Empty on an existing cluster and with `probes:
    none`."""
    verdicts: tuple[Verdict, ...] = ()
    """The result of each check of the outputs."""
    doubts: tuple[Doubt, ...] = ()
    """What limits the figures."""

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
    phases: dict[str, float] = {}
    counters: dict[str, dict[str, int]] = {}
    for job in jobs:
        for name, seconds in job.phases.items():
            phases[name] = phases.get(name, 0.0) + seconds
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
