"""Summaries of trials: what judgements need of every trial of a run, worked out once from its whole record.

A record has most of a megabyte, a summary some kilobytes. Predicted trials, which nobody ran, are summaries too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pydantic import ConfigDict

from assay.model.demand import DriveDemand
from assay.model.doubt import CheckResult, Doubt, Outcome
from assay.model.fact import Fact, fact_text
from assay.model.fault import FaultReport
from assay.model.record import (
    Machine,
    Phases,
    Promise,
    Record,
    Source,
    StagedInput,
    Status,
    machine_told,
)
from assay.model.scale import ScaleReport
from assay.model.signature import Signature
from assay.model.trial import Plan, Trial

OF_MEDIA = "medium."
"""How the names of media's facts begin where they are shown beside others."""

Figure = int | float
"""A number that is read again as it was written: 5 stays a whole number, and 5.0 none."""


@dataclass(frozen=True, slots=True)
class JobTime:
    """A job's seconds from start to end, and those in which any task ran; None where its tasks are not known."""

    name: str
    elapsed_s: Figure
    active_s: Figure | None


@dataclass(frozen=True, slots=True)
class StagingUse:
    """What one trial's staging took; None is what nobody counted.

    `seconds` is the time until the store had taken the input; `input_bytes` is one copy of that, uncompressed.
    `promise` is what the store guarantees afterwards, and `guaranteed` that in words, with what it did meanwhile.
    `read_bytes` and `written_bytes` are of all media, `traffic` what passed between processes by purpose, `kinds` what
    the store's daemons counted by its title (one copy). `kept_bytes` lie on the media afterwards, logs included.
    """

    trial: str
    seconds: Figure
    input_bytes: int | None
    promise: Promise
    guaranteed: str
    read_bytes: Figure | None
    written_bytes: Figure | None
    disks_estimated: bool
    kept_bytes: Figure | None
    processor_s: Figure | None
    memory_bytes: Figure | None
    traffic: Mapping[str, Figure]
    kinds: Mapping[str, Figure]

    @property
    def write_amplification(self) -> float | None:
        """Bytes written to media for each byte of input, all copies together."""
        return _ratio(self.written_bytes, self.input_bytes)

    @property
    def write_amplification_of_copy(self) -> float | None:
        """The same for each copy that the store keeps."""
        return _ratio(self.written_bytes, self.input_bytes and self.input_bytes * self.promise.copies)

    @property
    def read_amplification(self) -> float | None:
        """Bytes read from media for each byte of input."""
        return _ratio(self.read_bytes, self.input_bytes)

    @property
    def space_amplification(self) -> float | None:
        """Bytes that lie on media when staging has ended, for each byte of input: all copies, logs included."""
        return _ratio(self.kept_bytes, self.input_bytes)


def _ratio(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None


class Imbalance(NamedTuple):
    """How unevenly a resource was used: the most that a worker used over the mean of all, 1 where all used the same."""

    resource: str
    ratio: float
    node: str
    """The worker that used most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSummary:
    """What judgements need of one trial. Times are seconds; what nobody measured is None or empty."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    trial: Trial
    """What was planned; of a predicted trial, the trial of the run that it is like."""
    status: Status
    facts: Mapping[str, Fact]
    """The machine, the software and the cluster."""
    media_facts: Mapping[str, Mapping[str, Fact]] = field(default_factory=dict)
    """What each medium says of itself; on a node whose drive differs, by `MEDIUM.NODE`."""
    control_groups: str | None = None
    """The version of control groups that bounded the trial."""
    source: Source = "measured"

    error: str | None = None
    """Why it failed."""
    outcome: Outcome | None = None
    """The judgement of its output; None of a predicted trial."""
    failed_checks: tuple[CheckResult, ...] = ()
    """The checks of its output that did not pass."""
    doubts: tuple[Doubt, ...] = ()
    struck_out: bool = False
    """Whether its times are not to be believed, since its scale model was not kept to."""
    scale: ScaleReport | None = None
    """The checks of its scale model, without what they were made from."""
    fault: FaultReport | None = None
    clocks_apart: bool = False
    """Whether the jobs' own time contradicts that of the step that ran them."""
    still_media: tuple[str, ...] = ()
    """The media whose drives counted far fewer bytes than are known to lie on them."""

    began_ms: int = 0
    """When it began, in milliseconds since the epoch; 0 where its record does not say."""
    took_s: Figure = 0.0
    """How long it took here, from its start to its end, also where its times are another cluster's."""
    run_step_s: Figure = 0.0
    """The step that ran the jobs."""
    elapsed_s: Figure | None = None
    """The time in which any job ran."""
    low_s: float | None = None
    """The lower end of the 95 % interval of `elapsed_s`, which a predicted time has."""
    high_s: float | None = None
    """Its upper end."""
    submitted_s: Figure | None = None
    """The time in which any job was submitted and had not ended."""
    staging_submitted_s: Figure | None = None
    """The same of the staging jobs."""
    run_s: Figure | None = None
    """From the first job's start to the last one's end."""
    durable_s: Figure | None = None
    """From the first job's start until all that was written is on the drives."""
    outside_jobs_s: Figure | None = None
    """The whole trial without the time of the workload's own jobs."""
    phases: Phases | None = None
    """Average seconds per task in each phase, added up over the jobs."""
    gets: Mapping[str, int] = field(default_factory=dict)
    """How many single gets took how long, by the names of counters (`assay.model.gets`)."""
    jobs: tuple[JobTime, ...] = ()
    jobs_overlap: bool = False
    """Whether jobs ran at once, so that their times don't add up."""
    jobs_span_s: Figure | None = None
    """From the first job's submission to the last one's end."""

    busy_by_medium: Mapping[str, Figure] | None = None
    """How long the drives of each medium but memory were busy while the jobs ran, those of all nodes added up; None
    where not all were measured."""
    busiest_s: Figure = 0.0
    """How long the busiest of the drives that report for themselves was busy while the jobs ran."""
    reporting_media: tuple[str, ...] = ()
    """The media whose drives report for themselves."""
    asked_bytes: int | None = None
    """What the jobs asked to read: of the store, of local directories and in the shuffle."""
    wrote_bytes: int = 0
    """What the jobs wrote to the store and to local directories."""
    moved_bytes: int | None = None
    """What the jobs read and wrote in the store and in local directories."""
    drives_read_bytes: int = 0
    """What the drives that report for themselves had read when the jobs ended."""
    drives_written_bytes: int = 0
    """What they had written then."""
    reached_drives: bool = False
    """Whether the page cache held little of what the jobs moved."""

    cpu_ms: int | None = None
    """Processor time of all tasks, as the engine counts it, in milliseconds."""
    not_computing: float | None = None
    """The share of the tasks' own time in which they used no processor."""
    instruments_s: Figure | None = None
    """Processor time that the emulator and the probes took while the jobs ran."""
    blocked_phases: Mapping[str, Figure] = field(default_factory=dict)
    """Seconds of the clock in which tasks were blocked on storage, by phase."""
    unexplained_share: float | None = None
    """The share of the jobs' step that is neither computing, blocked, waiting nor idle; None where the probe did not
    see all four."""
    beyond_pressure_share: float | None = None
    """How far blocked time is beyond what the kernel says of waits for I/O, as a share of the jobs' step."""

    staged: StagedInput | None = None
    staging: StagingUse | None = None
    """What staging took."""
    imbalances: tuple[Imbalance, ...] = ()
    """How unevenly several workers were used."""
    seen_nodes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By probe of an existing cluster: the nodes of which it counted anything while the jobs ran."""
    figures: Mapping[str, Any] = field(default_factory=dict)
    """By the name of what counts them (`SUMMARY_FIGURES`): further figures, as JSON holds them."""

    id: str = ""
    """The trial's name; of a predicted trial one that no trial of the run has."""
    predictor: str = ""
    """Which plug-in predicted it; empty of trials that ran."""
    levels: Mapping[str, str] = field(default_factory=dict)
    """The levels of factors in which a predicted trial differs from the one that it is like."""
    basis: str = ""
    """What its prediction rests on."""
    verdict: str = ""
    """What its predictor says of a predicted trial by the plan's threshold, against the trials that are like the one
    that it is like: `worth it`, `not worth it` or `not known`; empty where it says nothing."""
    reason: str = ""
    """Why this verdict is not known whatever the interval is, or why it is known."""
    surer: str = ""
    """What would make its prediction surer."""

    @property
    def factors(self) -> Mapping[str, str]:
        """The levels of all its factors."""
        return {**self.trial.factors, **self.levels} if self.levels else self.trial.factors

    @property
    def modelled(self) -> bool:
        """Whether its times are those of a scale model."""
        return self.source == "modelled"

    @property
    def times_slower(self) -> int:
        """How many times slower its cluster ran than the one that it stands for; 1 of one that stands for itself."""
        return 1 if self.scale is None else self.scale.dilation

    @property
    def missed_fault(self) -> bool:
        """Whether a fault was planned that did not strike: then it is no trial of that fault, and none without."""
        return self.trial.cluster.fault is not None and (self.fault is None or self.fault.struck_ms is None)

    @property
    def machine(self) -> Machine:
        """What its facts say of this machine, for those who reckon with it."""
        return machine_told(self.facts)

    @property
    def facts_shown(self) -> dict[str, str]:
        """All facts as people read them; a medium's are named `medium.MEDIUM.FACT`."""
        media = {
            f"{OF_MEDIA}{medium}.{name}": fact
            for medium, facts in self.media_facts.items()
            for name, fact in facts.items()
        }
        return {name: fact_text(fact) for name, fact in {**self.facts, **media}.items()}

    def facts_of(self, medium: str) -> Mapping[str, Fact]:
        """What a medium says of itself; empty where the trial failed before it was attached."""
        return self.media_facts.get(medium, {})

    @property
    def busy_s(self) -> float | None:
        """How long all drives were busy while the jobs ran, added up; None where not all were measured."""
        return None if self.busy_by_medium is None else sum(self.busy_by_medium.values())

    @property
    def blocked_s(self) -> float | None:
        """Seconds of the clock in which tasks were blocked within the jobs' own times."""
        return sum(self.blocked_phases.values()) if self.blocked_phases else None

    @property
    def elapsed_without_instruments_s(self) -> float | None:
        """The jobs' time less what the emulator and the probes took from them: the least that they could have taken.

        None where that is not known, where the instruments had processors of their own, and on a scale model, whose
        nodes are not held up by them.
        """
        taken_s, cores = self.instruments_s, self.machine.cores
        apart = self.modelled or "processors.instruments" in self.facts
        if taken_s is None or self.elapsed_s is None or not cores or apart:
            return None
        return self.elapsed_s - taken_s / cores

    @property
    def read_share(self) -> float | None:
        """What came from the drives of all that the jobs asked to read."""
        return min(1.0, self.drives_read_bytes / self.asked_bytes) if self.asked_bytes else None

    @property
    def written_share(self) -> float | None:
        """What was on the drives when the jobs ended, of all that the jobs wrote; None where not all drives report."""
        known = self.wrote_bytes and {medium.name for medium in self.trial.media} <= {*self.reporting_media}
        return min(1.0, self.drives_written_bytes / self.wrote_bytes) if known else None

    @property
    def late_share(self) -> float | None:
        """What was not on the drives when the jobs ended, of what the jobs wrote and the drives read for them."""
        late_bytes = max(0, self.wrote_bytes - self.drives_written_bytes)
        return late_bytes / (self.wrote_bytes + self.drives_read_bytes) if self.wrote_bytes else None

    @property
    def busy_share(self) -> float | None:
        """How much of the time from submission to end the busiest of the drives was busy."""
        return min(1.0, self.busiest_s / self.submitted_s) if self.submitted_s else None


class MeasuredRun(NamedTuple):
    """A run as it is judged, and as predictors are given it: the summaries of all readable trials.

    `record` gives a trial's whole record by its id, `signature` its I/O signature, None without one. Both read a file
    at each call, and raise BadInputError for a damaged one. `demands` are what some trials would ask of other drives.
    """

    plan: Plan
    trials: Sequence[TrialSummary]
    record: Callable[[str], Record]
    signature: Callable[[str], Signature | None]
    demands: Sequence[DriveDemand] = ()
