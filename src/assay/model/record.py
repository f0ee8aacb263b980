"""Records: all that a trial left. Judging and reporting read nothing else."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple

from pydantic import ConfigDict, Field

from assay.model.base import Frozen
from assay.model.dataset import GraphFacts
from assay.model.doubt import CheckResult, Doubt, Outcome, overall
from assay.model.fact import Fact, whole_number
from assay.model.fault import FaultReport
from assay.model.gets import GROUP, GetTimes, get_times
from assay.model.limits import LimitUse
from assay.model.quantity import ClockTimeS, KnownClockTimeS, MomentMs
from assay.model.scale import ScaleReport
from assay.model.trial import Landed, Trial

SCHEMA_VERSION: Literal[5] = 5

Counters = Mapping[str, Mapping[str, int]]
"""The engine's, by group and name."""

Phases = Mapping[str, float]
"""Average seconds per task in each phase, by the engine's names and in their order; over several jobs added up."""


class Stage(Frozen):
    """A stage of a job: tasks that do the same to different parts of the data."""

    name: str
    """The engine's name for it, such as `map`."""
    tasks: int
    """Number of tasks."""
    failed_attempts: int = 0
    """Number of failed attempts."""


class JobRecord(Frozen):
    """A job, from the engine's history. Times are milliseconds since the epoch."""

    name: str
    """The job's name within its workload, such as `triads`."""
    id: str
    """Hadoop's id."""
    state: str
    """`SUCCEEDED`, for all jobs of a finished trial."""
    submitted_ms: MomentMs
    """When the client submitted it (`submitTime`)."""
    started_ms: MomentMs
    """When its application master began it (`startTime`)."""
    finished_ms: MomentMs
    """When it ended (`finishTime`). *Elapsed* is this less `started_ms`."""
    stages: tuple[Stage, ...]
    """The job's stages, in order."""
    uberized: bool = False
    """Whether its tasks ran in its application master; then its shuffle reads local files, and its times are not
    comparable."""
    active_s: KnownClockTimeS = None
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
        return sum(counts.tasks for counts in self.stages if counts.name == stage)


class Sample(Frozen):
    """A sample of a probe."""

    probe: str
    """The probe's name."""
    subject: str = ""
    """A medium, a group of processes, an interface, or a component; empty for the machine as a whole."""
    series: str
    """The series' name, which ends in its unit."""
    time_ms: int
    """End of the sampled time, in milliseconds since the epoch."""
    value: float
    """The value."""
    node: str | None = None
    """The node that it is of; null if there is one only."""


class SeriesKey(NamedTuple):
    """What tells a series of a trial's samples from others.

    `node` is empty for the only node, and for the first of several, which is this machine or its master; never for one
    that was read from afar. An empty `subject` is the machine as a whole.
    """

    probe: str
    subject: str
    series: str
    node: str = ""


class Series(NamedTuple):
    """One series of samples: milliseconds since the epoch, rising, and the value at each."""

    times_ms: Sequence[int]
    values: Sequence[float]


REMOTE_NODES = "nodes"
"""The probe whose samples and amounts exist for each node of another machine, whose counters were read there."""

CLOCK_SERIES = "clock_offset_ms"
"""By how much such a node's clock was ahead."""

Part = Literal["staging", "run", "write out", "collect"]
Basis = Literal["measured", "modelled", "estimated"]

Source = Literal["measured", "modelled", "predicted"]
"""Where a trial's time comes from: a cluster, a scale model of one, or a predictor."""


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
    node: str | None = None
    """The node that it is of; null if there is one only."""


class Step(Frozen):
    """A step of a trial."""

    name: str
    """The step's name."""
    started_ms: MomentMs
    """Its start, in milliseconds since the epoch."""
    seconds: ClockTimeS
    """How long it took."""


class Span(Frozen):
    """A stretch of time, in milliseconds since the epoch."""

    begin_ms: int
    end_ms: int

    @property
    def seconds(self) -> float:
        """How long it is."""
        return (self.end_ms - self.begin_ms) / 1000


_PARTS: Mapping[Part, tuple[str, Literal["begins", "ends"]]] = {
    "staging": ("run", "begins"), "run": ("run", "ends"), "write out": ("write out", "ends"),
    "collect": ("verify", "ends"),
}  # fmt: skip
"""Each part is over when a step begins or ends; the first begins with `stage`, each other where the last one ended."""

JOBS: tuple[Part, ...] = ("run", "write out")
"""The parts that are the jobs' own: what they wrote and the kernel held back still goes to the drives after them."""

INSTRUMENTS = frozenset({"emulator", "assay"})
"""Groups of processes that are no part of the cluster."""


class Promise(Frozen):
    """What a store guarantees of a byte once it has said that it has it."""

    copies: int
    """The copies that there are."""
    reach: str
    """How far each is: on the `drives` of its server (synced: it outlives a loss of power), in its server's `memory`,
    to be written to drives later, or, whatever the copies, in the memory of `one server` alone. A store may say it in
    other words, which follow `3 copies`, such as `in a log that is synced each second`."""

    @property
    def words(self) -> str:
        """`3 copies on drives`."""
        if self.reach == "one server":
            return "nothing but one server's memory"
        return f"{self.copies} {'copy' if self.copies == 1 else 'copies'} {_WHERE.get(self.reach, self.reach)}"


_WHERE = {"drives": "on drives", "memory": "in memory, on drives later"}


class StagedInput(Frozen):
    """What was staged, on a cluster of Assay's own."""

    bytes: int | None
    """Bytes of the input, one copy of them, uncompressed, without what the store adds. Null if nobody knows, as where
    files are compressed, or a job made the input and its store does not count bytes."""
    basis: Basis
    """`measured`; `estimated` in records of earlier versions where a job made the input and nothing counted its
    bytes."""
    promise: Promise
    """What the store guaranteed of each byte that it had taken while staging went on."""
    promise_afterwards: Promise | None = None
    """What it guarantees of them since staging ended, when a store with a log has them in files too. Null in records of
    earlier versions."""

    @property
    def lasting(self) -> Promise:
        """What is guaranteed of the input when the jobs begin; where that is not known, what was while staging."""
        return self.promise if self.promise_afterwards is None else self.promise_afterwards

    @property
    def guaranteed(self) -> str:
        """That in words, and what was guaranteed while staging where it was something else."""
        words = self.lasting.words
        return words if self.promise == self.lasting else f"{words} (while staging {self.promise.words})"


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
    """The time in which at least one of the jobs ran, which is what reports call *elapsed*: of jobs one after the other
    their elapsed times added up, of jobs at once that of the batch."""
    submitted_s: float
    """The time in which at least one of the jobs was submitted and had not ended, which includes the wait for the
    application master: of jobs one after the other their times from submission to end added up."""
    staging_submitted_s: float
    """The same of the staging jobs."""
    phases: Phases
    """The jobs' averages added up, phase by phase."""
    counters: Counters
    """The jobs' counters added up."""
    gets: Annotated[GetTimes | None, Field(exclude_if=lambda times: times is None)] = None
    """How long single gets of rows took, of all jobs together; left out where none was timed."""


class StoredOutput(Frozen):
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


class DriveReports(Frozen):
    """What a medium's own device did."""

    medium: str
    """The medium's name."""
    node: str | None = None
    """The node whose drive it is; null if there is one only."""
    reports: Mapping[str, DeviceReport]
    """A report for each interval."""

    @property
    def label(self) -> str:
        """The medium, with the node before it where there are several: `hdd`, `worker-1/hdd`."""
        return f"{self.node}/{self.medium}" if self.node else self.medium


class Machine(NamedTuple):
    """This machine, as far as figures are worked out from it; 0 and empty where a record does not tell."""

    host: str
    cores: int
    memory_bytes: int


def machine_told(facts: Mapping[str, Fact]) -> Machine:
    """What a trial's facts say of this machine."""
    return Machine(
        host=str(facts.get("host", "")),
        cores=whole_number(facts.get("cores")) or 0,
        memory_bytes=whole_number(facts.get("memory_bytes")) or 0,
    )


class Record(Frozen):
    """All that a trial left."""

    schema_version: Literal[5] = SCHEMA_VERSION
    """The version of this form."""
    trial: Trial
    """What was planned."""
    status: Status
    """`finished`: all steps ran; whether the output is right is in the verdicts. `failed`: a step did not run;
    `error` says why."""
    error: str | None = None
    """One sentence, or null."""
    facts: Mapping[str, Fact]
    """The machine, the software and the cluster."""
    media_facts: Mapping[str, Mapping[str, Fact]] = {}
    """What each medium says of itself; on a node whose drive differs, by `MEDIUM.NODE`."""
    settings: Mapping[str, str] = {}
    """The effective Hadoop properties."""
    dataset: GraphFacts | None = None
    """Counts of the graph; null without a graph, or if the trial failed before."""
    steps: tuple[Step, ...]
    """The steps of the trial."""
    staged: StagedInput | None = None
    """What was staged; null on an existing cluster, or if the trial failed before."""
    staging_jobs: tuple[JobRecord, ...] = ()
    """The jobs that brought the input into its normal form."""
    jobs: tuple[JobRecord, ...] = ()
    """The workload's jobs, in order."""
    totals: Totals | None = None
    """Sums over `jobs`; null if there are none, or if the history of a job was lost (doubt `history-incomplete`)."""
    outputs: tuple[StoredOutput, ...] = ()
    """The workload's outputs."""
    landed: tuple[Landed, ...] = ()
    """Where each role's bytes landed; empty on an existing cluster."""
    limits: LimitUse | None = None
    """The use of the bounds; null without bounds."""
    fault: FaultReport | None = None
    """What the trial's fault did; null without one, or if the trial failed before its jobs began and the
    fault had not struck while it staged."""
    scale: ScaleReport | None = None
    """The scale model that the trial ran on, and the checks of it; null without a `dilation`."""
    devices: tuple[DriveReports, ...] = ()
    """What the media's own devices did, each node's apart."""
    amounts: tuple[Amount, ...] = ()
    """What probes counted, by interval; see [probes](probes.md). Empty with `probes: none`."""
    verdicts: tuple[CheckResult, ...] = ()
    """The result of each check of the outputs."""
    doubts: tuple[Doubt, ...] = ()
    """What limits the figures."""

    @cached_property
    def machine(self) -> Machine:
        """What its facts say of this machine, for those who reckon with it."""
        return machine_told(self.facts)

    def facts_of(self, medium: str) -> Mapping[str, Fact]:
        """What a medium says of itself; empty where the trial failed before it was attached."""
        return self.media_facts.get(medium, {})

    def reports_of(self, medium: str, node: str | None = None) -> list[Mapping[str, DeviceReport]]:
        """What the devices of one medium did, those of all nodes or of one."""
        return [drive.reports for drive in self.devices if drive.medium == medium and node in {None, drive.node}]

    @property
    def modelled(self) -> bool:
        """Whether its times are those of a scale model."""
        return self.scale is not None and self.scale.modelled

    @property
    def times_slower(self) -> int:
        """How many times slower its cluster ran than the one that it stands for; 1 of one that stands for itself."""
        return 1 if self.scale is None else self.scale.dilation

    @cached_property
    def spans(self) -> Mapping[Part, Span]:
        """When each part began and ended, by the steps; a part that was not reached has no span."""
        steps = {step.name: step for step in self.steps}
        if "stage" not in steps:
            return {}
        spans: dict[Part, Span] = {}
        at = steps["stage"].started_ms
        for part, (name, edge) in _PARTS.items():
            step = steps.get(name)
            if step is not None:
                end_ms = step.started_ms + (round(step.seconds * 1000) if edge == "ends" else 0)
                if end_ms >= at:
                    spans[part] = Span(begin_ms=at, end_ms=end_ms)
                    at = end_ms
        return spans

    @property
    def took_s(self) -> float:
        """Seconds that the trial took here, from its start to its end, also where its times are another cluster's."""
        converted = self.scale is not None and self.scale.clock == "model"
        return (self.times_slower if converted else 1) * sum(step.seconds for step in self.steps)

    @property
    def source(self) -> Source:
        """Where its times come from; no record is of a predicted trial."""
        return "modelled" if self.modelled else "measured"

    @property
    def struck_out(self) -> bool:
        """Whether its times are not to be believed, since the scale model was not kept to."""
        return self.scale is not None and bool(self.scale.failed)

    @property
    def jobs_overlap(self) -> bool:
        """Whether a job was submitted before another had ended, so that the times of single jobs don't add up."""
        jobs = sorted(self.jobs, key=lambda job: job.submitted_ms)
        return any(later.submitted_ms < earlier.finished_ms for earlier, later in pairwise(jobs))

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

    @property
    def run_s(self) -> float | None:
        """Seconds from the first job's start to the last one's end: elapsed, and the gaps between jobs.

        None where the jobs' times are not known.
        """
        if self.totals is None or not self.jobs:
            return None
        return (max(job.finished_ms for job in self.jobs) - min(job.started_ms for job in self.jobs)) / 1000

    @property
    def durable_s(self) -> float | None:
        """Seconds from the first job's start until all that the jobs wrote is on the drives.

        That is known to be so at the end of the step `write out`; None where there is none, or no job's time.
        """
        written = [step for step in self.steps if step.name == "write out"]
        if self.totals is None or not self.jobs or not written:
            return None
        ended_s = max(step.started_ms / 1000 + step.seconds for step in written)
        return ended_s - min(job.started_ms for job in self.jobs) / 1000

    @cached_property
    def outcome(self) -> Outcome:
        """The trial's judgement: a trial that failed to run is a fail, whatever its checks said before."""
        return Outcome.FAIL if self.status is Status.FAILED else overall(self.verdicts)


def _stretches_s(intervals: Iterable[tuple[int, int]]) -> Iterator[float]:
    """The stretches in which at least one of some intervals (ms) lasted: of those one after the other, each one's."""
    began_ms = ended_ms = 0
    for begin_ms, end_ms in sorted(intervals):
        if begin_ms >= ended_ms:
            yield (ended_ms - began_ms) / 1000
            began_ms = begin_ms
        ended_ms = max(ended_ms, end_ms)
    yield (ended_ms - began_ms) / 1000


def _submitted_s(jobs: Iterable[JobRecord]) -> float:
    return sum(_stretches_s((job.submitted_ms, job.finished_ms) for job in jobs))


def totals(jobs: tuple[JobRecord, ...], staging_jobs: tuple[JobRecord, ...], times_slower: int = 1) -> Totals:
    """Add up a trial's jobs: elapsed times, phase averages (job by job) and counters.

    Counters are in the time of the cluster that ran, which was so many times slower than the jobs' times say.
    """
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
        elapsed_s=sum(_stretches_s((job.started_ms, job.finished_ms) for job in jobs)),
        submitted_s=_submitted_s(jobs),
        staging_submitted_s=_submitted_s(staging_jobs),
        phases=phases,
        counters=counters,
        gets=get_times(counters.get(GROUP, {}), times_slower),
    )
