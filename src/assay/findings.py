"""What a trial has found so far."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from assay.model.doubt import Doubt, Verdict
from assay.model.graph import GraphFacts
from assay.model.limits import LimitUse
from assay.model.placement import Landed
from assay.model.progress import Progress
from assay.model.record import Amount, JobRecord, Output, Sample, Step, TaskAttempt, Totals, totals
from assay.model.signature import Signature
from assay.model.task import TaskPhases


@dataclass
class Findings:
    """What a trial has found so far: the record is made from it, also when the trial fails half-way.

    `histories_whole` says that none of the workload's own jobs is missing in `jobs`.
    """

    facts: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    dataset: GraphFacts | None = None
    steps: list[Step] = field(default_factory=list)
    staging_jobs: list[JobRecord] = field(default_factory=list)
    jobs: list[JobRecord] = field(default_factory=list)
    histories_whole: bool = True
    attempts: list[TaskAttempt] = field(default_factory=list)
    phases: list[TaskPhases] = field(default_factory=list)
    samples: list[Sequence[Sample]] = field(default_factory=list)
    signature: Signature | None = None
    amounts: list[Amount] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    landed: list[Landed] = field(default_factory=list)
    devices: dict[str, dict[str, Mapping[str, object]]] = field(default_factory=dict)
    limits: LimitUse | None = None
    verdicts: list[Verdict] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)

    @property
    def totals(self) -> Totals | None:
        """Of all jobs; None where the times of some are not known, since a sum without them would look whole."""
        if not self.jobs or not self.histories_whole:
            return None
        return totals(tuple(self.jobs), tuple(self.staging_jobs))

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
