"""The whole life of a trial, in nested scopes: medium > cluster > store > probes > staged data > jobs > verify.

What measures it is a guest (`assay.probe.sampler`): a probe that fails is a Doubt, and the trial goes on. An interrupt
passes through, and nothing is read then, since the trial leaves no record.

Nothing here knows which kinds of things there are: they come with the trial's setup, and tests bring fakes.
"""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Literal

from assay.model.dataset import GraphFacts
from assay.model.doubt import Doubt, Outcome, Verdict, doubt_kind
from assay.model.energy import Span
from assay.model.engine import Engine, JobReference
from assay.model.errors import AssayError
from assay.model.fault import DRIVE, FaultReport, worker_number
from assay.model.installed import stack_of
from assay.model.layout import ROLES, Layout
from assay.model.limits import LimitUse
from assay.model.medium import Device, Doubtful, Medium
from assay.model.platform import Platform, RunningPlatform, TrialSetup
from assay.model.probe import Scene
from assay.model.progress import Progress
from assay.model.record import (
    Amount,
    DeviceReport,
    JobRecord,
    Output,
    Part,
    Record,
    Sample,
    Status,
    Step,
    Totals,
    totals,
)
from assay.model.result import TrialResult
from assay.model.scale import ScaleReport, StrikeSeen
from assay.model.signature import Signature
from assay.model.store import Placer, Redundant, Store
from assay.model.task import TaskAttempt, TaskPhases
from assay.model.trial import Landed, MediumSpec, Trial
from assay.plan.layout import lay_out
from assay.probe.sampler import Measurement, measured
from assay.record.scale_rules import drives_seen, judged, scale_doubts
from assay.stats.blocked import by_phase
from assay.stats.fault_losses import with_losses
from assay.stats.signature import signature
from assay.stats.trial_doubts import (
    cached,
    counted,
    crowded,
    dropped,
    fault_missed,
    fewer_nodes,
    given_back,
    misplaced,
    of_media,
    off_budget,
    out_of_memory,
    refuse_elsewhere,
    unremembered,
    unseen,
)


@dataclass
class Findings:
    """What a trial has found so far: the record is made from it, also when the trial fails half-way.

    Fields of the record have its names. `histories_whole` says that none of the workload's own jobs is missing in
    `jobs`.
    """

    trial: Trial
    facts: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    dataset: GraphFacts | None = None
    steps: list[Step] = field(default_factory=list)
    staging_jobs: list[JobRecord] = field(default_factory=list)
    jobs: list[JobRecord] = field(default_factory=list)
    histories_whole: bool = True
    attempts: list[TaskAttempt] = field(default_factory=list)
    phases: list[TaskPhases] = field(default_factory=list)
    samples: Collection[Sample] = ()
    signature: Signature | None = None
    amounts: list[Amount] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    landed: list[Landed] = field(default_factory=list)
    devices: dict[str, dict[str, DeviceReport]] = field(default_factory=dict)
    limits: LimitUse | None = None
    fault: FaultReport | None = None
    usual_media: dict[str, MediumSpec] = field(default_factory=dict)
    scale: ScaleReport | None = None
    verdicts: list[Verdict] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)
    logs: bytes = b""

    @property
    def totals(self) -> Totals | None:
        """Of all jobs; None where the times of some are not known, since a sum without them would look whole."""
        if not self.jobs or not self.histories_whole:
            return None
        return totals(tuple(self.jobs), tuple(self.staging_jobs))

    def result(self, error: str | None) -> TrialResult:
        """The record, and what lies beside it; without an error the trial has finished."""
        self.doubts += [*crowded(self.trial.placement.name, self.amounts), *fewer_nodes(self.trial)]
        if error is None:
            self.doubts += fault_missed(self.trial, self.fault)
        found = {name: getattr(self, name) for name in Record.model_fields if hasattr(self, name)}
        status = Status.FINISHED if error is None else Status.FAILED
        record = Record(status=status, error=error, **found)
        return TrialResult(record, self.attempts, self.samples, self.phases, self.signature, self.logs)

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

    def look(self, placer: Placer | None, when: Literal["staged", "run"], **paths: str) -> None:
        """Where the bytes of some roles lie now, each below a path of the store; nothing where nobody can see."""
        for role in ROLES:
            if placer is not None and role in paths:
                self.landed.append(placer.landed(role, when, paths[role]))

    def remember(self, running: RunningPlatform, staging: Sequence[JobReference], own: Sequence[JobReference]) -> None:
        """All that the engines know of the jobs and their tasks; what they have forgotten is a doubt.

        The tables of tasks have the form of the jobs' engine: those of another that staged are not among them.
        """
        self.staging_jobs += self._histories(running.stager or running.engine, staging)
        if running.stager is not None:
            self.attempts.clear()
        self.jobs += self._histories(running.engine, own)
        self.histories_whole = len(self.jobs) == len(own)
        seen = running.engine.phases(self.attempts)
        self.phases += seen.phases
        self.doubts += seen.doubts
        if self.histories_whole:
            self.landed = counted(self.trial.engine, self.landed, self.jobs)

    def _histories(self, engine: Engine, jobs: Sequence[JobReference]) -> Iterator[JobRecord]:
        for job in jobs:
            try:
                history = engine.history(job)
            except AssayError as error:
                self.doubts.append(unremembered(job, error))
            else:
                self.attempts += history.attempts
                self.doubts += history.doubts
                yield history.job

    @contextmanager
    def struck(self, running: RunningPlatform) -> Iterator[None]:
        """The trial's fault may strike meanwhile; what it did is kept also when the trial fails."""
        if running.injector is None:
            yield
            return
        running.injector.arm()
        try:
            yield
        finally:
            self.fault = running.injector.report()

    def count_losses(self, running: RunningPlatform, layout: Layout) -> None:
        """What history and store tell of the fault; one that struck when the jobs had ended did not strike."""
        planned = self.trial.cluster.fault
        if self.fault is None or planned is None:
            return
        if self.histories_whole:
            self.fault = with_losses(self.fault, planned, self.jobs, self.attempts)
        of_store = {daemon.role for daemon in stack_of(self.trial.store, None).daemons}
        if of_store & self.fault.processes.keys() and isinstance(running.placer, Redundant):
            data = layout.nodes[planned.worker].data
            with suppress(AssayError):  # who can't be asked is one of the fault's victims
                self.fault = self.fault.model_copy(update={"redundancy": running.placer.redundancy(data)})

    def weigh(self, running: RunningPlatform) -> None:
        """Whether a scale model was kept to while the jobs ran."""
        if running.scale is None:
            return
        run, planned = self.steps[-1], self.trial.cluster.fault
        ended_ms = run.started_ms + round(1000 * run.seconds)
        strike = None
        if planned is not None and planned.kill and self.fault is not None and self.fault.struck_ms is not None:
            before = running.scale(run.started_ms, self.fault.struck_ms).heartbeats
            after = running.scale(self.fault.struck_ms, ended_ms).heartbeats
            strike = StrikeSeen(killed=planned.kill, before=before, after=after)
        watched = running.scale(run.started_ms, ended_ms)
        seen = watched.model_copy(update={"strike": strike, "drives": drives_seen(self.devices)})
        self.scale = judged(ScaleReport(dilation=seen.dilation, seen=seen))
        self.doubts += scale_doubts(self.scale)

    def judge(self, media: Sequence[Medium], use: LimitUse | None, *, placed: bool) -> None:
        """All that what was found says about the figures. Raises AssayError for bytes that lie elsewhere."""
        refuse_elsewhere(self.trial, self.landed)
        self.doubts += [
            *misplaced(self.trial, self.landed),
            *unseen(self.trial, self.landed, placed=placed),
            *(cached(self.trial, self.jobs, self.facts, self.devices) if self.histories_whole else ()),
            *of_media(self.trial, self.facts),
            *given_back(self.facts),
            *dropped(self.facts, self.jobs),
            *out_of_memory(use),
            *off_budget(use, self.jobs),
            *(doubt for medium in media if isinstance(medium, Doubtful) for doubt in medium.doubts()),
        ]


_WRITE_OUT_EVERY_S = 0.5
_PATIENCE_S = 5.0


@contextmanager
def writing_out(devices: Sequence[Device]) -> Iterator[None]:
    """Have the kernel write to them as it goes for the time of a scope, instead of keeping all for its end."""
    ended = Event()

    def keep_on() -> None:
        while not ended.wait(_WRITE_OUT_EVERY_S):
            try:
                for device in devices:
                    device.write_out()
            except AssayError:  # the device has died: whoever uses it says so
                return

    writer = Thread(target=keep_on, daemon=True)
    writer.start()
    patience_s: float | None = _PATIENCE_S  # a device that hangs is ended after the scope
    try:
        yield
        patience_s = None
    finally:
        ended.set()
        writer.join(patience_s)


@contextmanager
def _measured(setup: TrialSetup, scene: Scene, findings: Findings) -> Iterator[Callable[[Part], None]]:
    """Measure under probes; gives what marks the end of a part. What was marked is kept also when the trial fails."""
    seen: Measurement | None = None

    def mark(part: Part) -> None:
        if seen is not None:
            findings.landed += seen.mark(part)

    try:
        with measured(setup.probes, scene, partial(_make_signature, findings)) as seen:
            yield mark
    finally:
        if seen is not None:
            findings.samples = seen.samples
            findings.amounts += seen.amounts
            findings.doubts += seen.doubts


def _make_signature(findings: Findings, seen: Measurement) -> None:
    """The phases' blocked time, and the jobs' signature from their requests; without it the trial stands."""
    own = {job.id: Span(begin_ms=job.started_ms, end_ms=job.finished_ms) for job in findings.jobs}
    attempts = [attempt for attempt in findings.attempts if attempt.job in own]
    seen.amounts += by_phase(seen.samples, attempts, own.values())
    if seen.requests is None or not findings.attempts:
        return
    try:
        findings.signature = signature(seen.requests, seen.counted, findings.attempts, findings.trial.engine)
    except Exception as error:
        what = f"requests could not be put down to phases: {type(error).__name__}: {error}"
        findings.doubts.append(TRACE_WITHOUT_SIGNATURE.doubt(what))


TRACE_WITHOUT_SIGNATURE = doubt_kind(
    "trace-without-signature",
    "instrument",
    when="the requests could not be summarised",
    why="the I/O signature is missing from the record",
    cure="this is a fault of Assay: please report it with this text; the trial's other figures hold",
    instrument="block-trace",
)


def run_trial(trial: Trial, setup: TrialSetup, progress: Progress) -> TrialResult:
    """Run one trial from facts to verdicts; a failure is a record too, with its reason. Interrupts pass through."""
    findings = Findings(trial, facts=dict(setup.platform.facts()))
    error = None
    try:
        _live(setup, findings, progress)
    except AssayError as failure:
        error = str(failure)
    except Exception as failure:  # the plan goes on with the next trial, and this one says what happened to it
        error = f"{type(failure).__name__}: {failure}"
    return findings.result(error)


def _live(setup: TrialSetup, findings: Findings, progress: Progress) -> None:
    """The nested scopes, from the outside in."""
    trial, platform, step = findings.trial, setup.platform, partial(findings.step, progress=progress)
    media, workload = platform.media(), setup.workload()
    devices = [medium for medium in media if isinstance(medium, Device)]
    with step("prepare dataset"):
        workload.input.prepare(progress)
        findings.dataset = workload.input.facts()
    with ExitStack() as scopes:
        # The platform's stop is a step too, and its end comes before the directories it uses are removed.
        neutral = scopes.enter_context(platform.neutral())
        scopes.enter_context(_logs_kept(platform, neutral, findings))
        with step("attach media"):
            places: dict[str, dict[str, Path]] = {}
            for medium in media:
                place = scopes.enter_context(_attached(medium, findings))
                places.setdefault(medium.node, {})[medium.spec.name] = place
        layout = lay_out(trial.placement, places, neutral)
        running = scopes.enter_context(_started(platform, layout, findings, progress))
        scopes.enter_context(_tidied(running.store, workload.base, findings, progress))
        mark = scopes.enter_context(_measured(setup, running.scene(), findings))
        part = partial(_part, devices=devices, mark=mark, findings=findings)
        for device in devices:
            device.reset_report()
        with part("staging"):
            with step("stage"), writing_out(devices):
                if running.placer is not None:
                    running.placer.prepare(workload.base, workload.input_path)
                staged = workload.stage(running.store, running.stager or running.engine, progress)
                findings.look(running.placer, "staged", input=workload.input_path)
                refuse_elsewhere(trial, findings.landed)
                if trial.strict_placement:
                    misplaced(trial, findings.landed)
            with step("cold cache"):
                for medium in media if trial.cache == "cold" else ():
                    findings.doubts += medium.make_cold()
            for device in devices:
                device.write_out()
        with part("run"), step("run"), findings.struck(running):
            report = workload.run(running.engine, progress)
        findings.weigh(running)
        if devices:
            with part("write out"), step("write out"):
                for device in devices:
                    device.write_out()
        with part("collect"):
            with step("job history"):
                findings.settings |= report.settings
                findings.remember(running, staged.jobs, report.jobs)
                findings.look(running.placer, "run", input=workload.input_path, output=workload.output_path)
                findings.count_losses(running, layout)
                findings.judge(media, running.limit_use(), placed=running.placer is not None)
            with step("verify"):
                size = running.store.size_bytes(workload.output_path)
                findings.outputs.append(Output(path=workload.output_path, bytes=size, summary=report.result))
                findings.verdicts += _judged(lambda: workload.verify(running.store, report))


@contextmanager
def _part(name: Part, devices: Sequence[Device], mark: Callable[[Part], None], findings: Findings) -> Iterator[None]:
    """A part of the trial, whose totals are kept apart: those of the probes and of the media's devices."""
    yield
    mark(name)
    for device in devices:
        report = DeviceReport.model_validate(device.device_report())
        of = f"{device.node}/{device.spec.name}" if device.node else device.spec.name
        findings.devices.setdefault(of, {})[name] = report
        device.reset_report()


@contextmanager
def _logs_kept(platform: Platform, neutral: Path, findings: Findings) -> Iterator[None]:
    """The platform's logs are kept when the trial fails; all that writes them has ended by then."""
    try:
        yield
    except Exception:
        with suppress(Exception):  # the failure itself is what counts
            findings.logs = platform.logs(neutral)
        raise


@contextmanager
def _attached(medium: Medium, findings: Findings) -> Iterator[Path]:
    """An attached medium; its facts are read while it is.

    Of several nodes' the first one's stand for all that are of the same drive. Those of another drive, which a fault
    slows or an experiment chose, have the node in their name.
    """
    fault, name = findings.trial.cluster.fault, medium.spec.name
    slowed = fault is not None and fault.slows(DRIVE, worker_number(medium.node)) > 1
    usual = None if slowed else findings.usual_media.setdefault(name, medium.spec)
    owner = name if medium.spec == usual else f"{name}.{medium.node}"
    with medium.attached() as place:
        facts = {f"medium.{owner}.{fact}": value for fact, value in medium.facts().items()}
        findings.facts |= {fact: value for fact, value in facts.items() if fact not in findings.facts}
        yield place


@contextmanager
def _tidied(store: Store, base: str, findings: Findings, progress: Progress) -> Iterator[None]:
    """Whatever happens, the trial's files leave the store: an existing cluster's is not thrown away afterwards."""
    try:
        yield
    except BaseException:
        with suppress(Exception):
            store.delete(base)
        raise
    with findings.step("clean up", progress):
        store.delete(base)


@contextmanager
def _started(platform: Platform, layout: Layout, findings: Findings, progress: Progress) -> Iterator[RunningPlatform]:
    """A running platform whose data and intermediates lie where the layout says; start and stop are timed."""
    with ExitStack() as scope:
        with findings.step("start cluster", progress):
            running = scope.enter_context(platform.running(layout, findings.trial.settings.properties, progress))
        findings.facts |= running.facts
        findings.settings |= running.settings
        findings.doubts += running.doubts
        try:
            yield running
        except Exception as failure:
            # A client only sees that nobody answers; the platform knows which daemon died and its last words.
            reason = running.failure()
            if reason is not None and reason not in str(failure):
                raise AssayError(reason) from failure
            raise
        finally:
            with findings.step("stop cluster", progress):
                scope.close()
            findings.limits = running.limit_use()


def _judged(check: Callable[[], tuple[Verdict, ...]]) -> tuple[Verdict, ...]:
    """A check that crashes is unknown, never pass; an output that can't even be read in its own form is a fail."""
    try:
        return check()
    except AssayError as error:
        return (Verdict(check="the output can be read", outcome=Outcome.FAIL, detail=str(error)),)
    except Exception as error:  # whatever a check trips over must neither pass nor stop the plan
        return (Verdict(check="verification", outcome=Outcome.UNKNOWN, detail=f"{type(error).__name__}: {error}"),)
