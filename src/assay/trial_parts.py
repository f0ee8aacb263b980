"""What the scopes of a trial give: each its part, as a value that does not change; the record is composed of them.

A part is empty until its scope gives it, so that the record of a failed trial has all that came before.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from assay.model.dataset import GraphFacts
from assay.model.doubt import CheckResult, Doubt
from assay.model.fact import Fact
from assay.model.fault import FaultReport
from assay.model.limits import LimitUse
from assay.model.progress import Progress
from assay.model.record import (
    Amount,
    DeviceReport,
    DriveReports,
    JobRecord,
    Part,
    Record,
    Sample,
    StagedInput,
    Status,
    Step,
    StoredOutput,
    Totals,
    totals,
)
from assay.model.result import TrialResult
from assay.model.scale import ScaleReport
from assay.model.signature import Requests, Signature
from assay.model.task import TaskAttempt, TaskPhases
from assay.model.trial import Landed, MediumSpec, Trial
from assay.record.scale_rules import scale_doubts
from assay.stats.trial_doubts import budget_cause, counted, crowded, fault_missed, fewer_nodes


class Attached(NamedTuple):
    """The media that are attached so far.

    `places` are their directories, by node and name; `facts` are what they say of themselves. `usual` has, by name, the
    medium whose facts stand for those of all nodes with the same drive.
    """

    places: Mapping[str, Mapping[str, Path]] = {}
    facts: Mapping[str, Mapping[str, Fact]] = {}
    usual: Mapping[str, MediumSpec] = {}


class Started(NamedTuple):
    """What a platform that has started says of itself."""

    facts: Mapping[str, Fact] = {}
    settings: Mapping[str, str] = {}
    doubts: Sequence[Doubt] = ()


class Staged(NamedTuple):
    """Where the input landed, and what making the media cold left in doubt."""

    landed: Sequence[Landed] = ()
    doubts: Sequence[Doubt] = ()


class Ran(NamedTuple):
    """What the jobs' run left: the settings that they ran with, what the fault did, what was seen of a scale model."""

    settings: Mapping[str, str] = {}
    fault: FaultReport | None = None
    scale: ScaleReport | None = None


class JobHistories(NamedTuple):
    """What an engine remembers of some jobs; `doubts` name what it has forgotten.

    `read_records` are those that the first of the jobs read, if it counted them.
    """

    jobs: Sequence[JobRecord] = ()
    attempts: Sequence[TaskAttempt] = ()
    doubts: Sequence[Doubt] = ()
    read_records: int | None = None


class Remembered(NamedTuple):
    """All that the engines know of the trial's jobs and their tasks.

    `whole` says that none of the workload's jobs is missing in `jobs`, and `read_records` are those that the first of
    them read, if it counted them. The tables of tasks have the form of the jobs' engine: those of another that staged
    are not among them.
    """

    staging_jobs: Sequence[JobRecord] = ()
    jobs: Sequence[JobRecord] = ()
    whole: bool = False
    read_records: int | None = None
    attempts: Sequence[TaskAttempt] = ()
    phases: Sequence[TaskPhases] = ()
    doubts: Sequence[Doubt] = ()


class Settled(NamedTuple):
    """What the store tells once the jobs have ended: where bytes landed, and what the fault cost it."""

    landed: Sequence[Landed] = ()
    fault: FaultReport | None = None


class Verified(NamedTuple):
    """The outputs, what their checks say, and how much had been staged."""

    outputs: Sequence[StoredOutput] = ()
    verdicts: Sequence[CheckResult] = ()
    staged: StagedInput | None = None


class IntervalEnd(NamedTuple):
    """What was seen of an interval of the trial when it ended, by probes and by the media's devices.

    Of devices by node, where there are several, and medium.
    """

    name: Part
    landed: Sequence[Landed]
    devices: Mapping[tuple[str | None, str], DeviceReport]


class Measured(NamedTuple):
    """What the probes saw of the whole trial."""

    samples: Collection[Sample] = ()
    amounts: Sequence[Amount] = ()
    signature: Signature | None = None
    requests: Sequence[Requests] = ()
    doubts: Sequence[Doubt] = ()


@dataclass
class TrialParts:
    """The parts of a trial as its scopes give them; steps and intervals are added as they end.

    `platform_facts` are those of the machine and the software. `checked` is what all findings together say about the
    trial's metrics. `logs` are the platform's of a trial that failed.
    """

    trial: Trial
    platform_facts: Mapping[str, Fact] = field(default_factory=dict)
    dataset: GraphFacts | None = None
    steps: list[Step] = field(default_factory=list)
    intervals: list[IntervalEnd] = field(default_factory=list)
    attached: Attached = field(default_factory=Attached)
    started: Started = field(default_factory=Started)
    staged: Staged = field(default_factory=Staged)
    ran: Ran = field(default_factory=Ran)
    remembered: Remembered = field(default_factory=Remembered)
    settled: Settled = field(default_factory=Settled)
    checked: Sequence[Doubt] = ()
    verified: Verified = field(default_factory=Verified)
    measured: Measured = field(default_factory=Measured)
    limits: LimitUse | None = None
    logs: bytes = b""
    left: str = ""
    """A clause for the error of a trial whose data could not be removed from the store; empty where they were."""

    @property
    def facts(self) -> dict[str, Fact]:
        """Of machine and cluster."""
        return {**self.platform_facts, **self.started.facts}

    @property
    def devices(self) -> tuple[DriveReports, ...]:
        """What the media's devices did, by interval."""
        reports: dict[tuple[str | None, str], dict[str, DeviceReport]] = {}
        for interval in self.intervals:
            for device, report in interval.devices.items():
                reports.setdefault(device, {})[interval.name] = report
        return tuple(
            DriveReports(medium=medium, node=node, reports=of_device) for (node, medium), of_device in reports.items()
        )

    @property
    def landed(self) -> list[Landed]:
        """Where the roles' bytes landed, as far as it was looked for."""
        landings = [*self.staged.landed, *(landed for interval in self.intervals for landed in interval.landed)]
        if self.remembered.whole:
            landings = counted(self.trial.engine, landings, self.remembered.jobs)
        return [*landings, *self.settled.landed]

    @property
    def fault(self) -> FaultReport | None:
        """What the trial's fault did, as far as it is known."""
        return self.settled.fault or self.ran.fault

    @property
    def totals(self) -> Totals | None:
        """Of all jobs; None where the times of some are not known, since a sum without them would look whole."""
        if not self.remembered.jobs or not self.remembered.whole:
            return None
        return totals(tuple(self.remembered.jobs), tuple(self.remembered.staging_jobs))

    @contextmanager
    def step(self, name: str, progress: Progress) -> Iterator[None]:
        """Time a step, and tell that it began; it counts also when it fails."""
        progress.step(name)
        started = time.time()
        clock = time.monotonic()
        try:
            yield
        finally:
            seconds = time.monotonic() - clock
            self.steps.append(Step(name=name, started_ms=int(started * 1000), seconds=seconds))

    def result(self, error: str | None) -> TrialResult:
        """The record, and what lies beside it; without an error the trial has finished."""
        record = Record(
            trial=self.trial,
            status=Status.FINISHED if error is None else Status.FAILED,
            error=error and error + budget_cause(error, self.limits) + self.left,
            facts=self.facts,
            media_facts=self.attached.facts,
            settings={**self.started.settings, **self.ran.settings},
            dataset=self.dataset,
            steps=tuple(self.steps),
            staged=self.verified.staged,
            staging_jobs=tuple(self.remembered.staging_jobs),
            jobs=tuple(self.remembered.jobs),
            totals=self.totals,
            outputs=tuple(self.verified.outputs),
            landed=tuple(self.landed),
            limits=self.limits,
            fault=self.fault,
            scale=self.ran.scale,
            devices=self.devices,
            amounts=tuple(self.measured.amounts),
            verdicts=tuple(self.verified.verdicts),
            doubts=self._doubts(finished=error is None),
        )
        return TrialResult(
            record,
            attempts=self.remembered.attempts,
            samples=self.measured.samples,
            phases=self.remembered.phases,
            signature=self.measured.signature,
            requests=self.measured.requests,
            logs=self.logs,
        )

    def _doubts(self, *, finished: bool) -> tuple[Doubt, ...]:
        return (
            *self.started.doubts,
            *self.staged.doubts,
            *(scale_doubts(self.ran.scale) if self.ran.scale else ()),
            *self.remembered.doubts,
            *self.checked,
            *self.measured.doubts,
            *crowded(self.trial.placement.name, self.measured.amounts),
            *fewer_nodes(self.trial),
            *(fault_missed(self.trial, self.fault) if finished else ()),
        )
