"""The whole life of a trial, in nested scopes: medium > cluster > store > probes > staged data > jobs > verify.

A probe is a guest of the trial: whatever it raises becomes a Doubt of its own, and touches neither the other probes nor
the trial. An interrupt passes through, and nothing is read then, since the trial leaves no record.

Nothing here knows which kinds of things there are: they come from Parts, and tests bring fakes.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Literal

from assay.host.self_cost import Weight, weighed
from assay.model.doubt import Doubt, Outcome, Verdict
from assay.model.engine import Engine, JobReference, LaunchReport
from assay.model.errors import AssayError
from assay.model.input import GraphFacts
from assay.model.medium import Device, Doubtful, Medium
from assay.model.parts import Parts
from assay.model.platform import Cluster, Layout, LimitUse, RunningCluster
from assay.model.probe import Closing, Probe, Reading, Scene
from assay.model.progress import Progress
from assay.model.record import (
    Amount,
    Basis,
    JobRecord,
    Output,
    Part,
    Record,
    Sample,
    Status,
    Step,
    TaskAttempt,
    Totals,
    totals,
)
from assay.model.result import Joined, TrialResult
from assay.model.signature import Signature, Traced
from assay.model.store import Placer, Store
from assay.model.task import TaskPhases
from assay.model.trial import Landed, Role, Trial
from assay.plan.layout import lay_out
from assay.stats.signature import signature
from assay.stats.trial_doubts import (
    cached,
    counted,
    crowded,
    given_back,
    misplaced,
    of_media,
    out_of_memory,
    unremembered,
    unseen,
)


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


_WRITE_OUT_EVERY_S = 0.5
_PATIENCE_S = 5.0


def write_out(media: Sequence[Medium]) -> None:
    """Have the kernel write to them what it holds back, so that their next report has all of it."""
    for medium in media:
        if isinstance(medium, Device):
            medium.write_out()


@contextmanager
def writing_out(media: Sequence[Medium]) -> Iterator[None]:
    """Have the kernel write to them as it goes for the time of a scope, instead of keeping all for its end."""
    ended = Event()

    def keep_on() -> None:
        while not ended.wait(_WRITE_OUT_EVERY_S):
            try:
                write_out(media)
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


def count_anew(media: Sequence[Medium]) -> None:
    """Their next reports begin here."""
    for medium in media:
        if isinstance(medium, Device):
            medium.reset_report()


def take_reports(media: Sequence[Medium], part: Part, findings: Findings) -> None:
    """What they saw since the last time; they count anew from here."""
    for medium in media:
        if isinstance(medium, Device):
            findings.devices.setdefault(medium.spec.name, {})[part] = medium.device_report()
            medium.reset_report()


OWN_COST: Literal["own-cost"] = "own-cost"


@contextmanager
def measured(probes: Sequence[Probe], scene: Scene, findings: Findings) -> Iterator[Callable[[Part], None]]:
    """Measure under probes; gives what tells them all that a part of the trial has ended.

    What they saw is kept at the scope's end, also when the trial fails: the parts that were marked by then are whole.
    """
    guests = [_Guest(probe, findings) for probe in probes]
    try:
        with ExitStack() as scope:
            for guest in guests:
                scope.enter_context(guest.attached(scene))
            for guest in guests:
                guest.begin()
            yield partial(_mark, guests)
    except Exception:
        _evaluate(guests, findings)
        raise
    else:
        _evaluate(guests, findings)
    finally:
        for guest in guests:
            guest.close()


def _mark(guests: Sequence["_Guest"], part: Part) -> None:
    for guest in guests:
        guest.mark(part)


def _evaluate(guests: Sequence["_Guest"], findings: Findings) -> None:
    """Read them all; what that takes is part of what measuring costs."""
    if not guests:
        return
    with weighed() as weight:
        for guest in guests:
            guest.read()
    findings.amounts += _own_cost(weight)


def _own_cost(weight: Weight) -> Iterator[Amount]:
    told: tuple[tuple[str, float | None, Basis], ...] = (
        ("busy_s", weight.busy_s, "measured"),
        ("resident_growth_bytes", weight.growth_bytes, "estimated"),
    )
    for series, value, basis in told:
        if value is not None:
            yield Amount(
                probe=OWN_COST, subject="evaluation", series=series, part="collect", value=float(value), basis=basis
            )


class _Guest:
    """One probe on its way through a trial. After a failure it hears of no further part; what it saw is still read."""

    def __init__(self, probe: Probe, findings: Findings) -> None:
        self._probe = probe
        self._findings = findings
        self._reading: Reading | None = None
        self._failed = False

    @contextmanager
    def attached(self, scene: Scene) -> Iterator[None]:
        """For the time of a scope, if it can be."""
        scope = ExitStack()
        with self._doubting("be attached"):
            self._reading = scope.enter_context(self._probe.attached(scene))
        try:
            yield
        finally:
            with self._doubting("be detached"):
                scope.close()

    def begin(self) -> None:
        """See Reading.begin."""
        if self._reading is not None and not self._failed:
            with self._doubting("begin"):
                self._reading.begin()

    def mark(self, part: Part) -> None:
        """See Reading.mark. After one that failed the next would take the lost part's figures for its own."""
        if self._reading is not None and not self._failed:
            with self._doubting(f"tell the end of the part {part!r}"):
                self._reading.mark(part)

    def read(self) -> None:
        """All that it saw, as far as it can be read, and the jobs' signature from its requests."""
        reading, findings = self._reading, self._findings
        if reading is None:
            return
        with self._doubting("tell its samples"):
            findings.samples.append(reading.samples())
        with self._doubting("tell its amounts"):
            findings.amounts += reading.amounts()
        with self._doubting("tell its doubts"):
            findings.doubts += reading.doubts()
        if isinstance(reading, Traced) and findings.attempts:
            with self._doubting("have its requests put down to phases"):
                findings.signature = signature(reading.requests(), reading.counted(), findings.attempts)

    def close(self) -> None:
        """See Closing.close."""
        if isinstance(self._reading, Closing):
            with self._doubting("be closed"):
                self._reading.close()

    @contextmanager
    def _doubting(self, what: str) -> Iterator[None]:
        """The first failure is told: those that follow mostly come of it."""
        try:
            yield
        except Exception as error:
            if not self._failed:
                self._findings.doubts.append(_unread(self._probe.name, what, error))
            self._failed = True


def _unread(name: str, what: str, error: Exception) -> Doubt:
    return Doubt(
        kind=f"probe-{name}-unread",
        what=f"the probe {name} could not {what}: {type(error).__name__}: {error}",
        why="what it measures is missing from the record, or ends there",
        cure="this is a fault of Assay's: please report it with this text; the trial's other figures stand",
    )


def run_trial(trial: Trial, parts: Parts, progress: Progress) -> TrialResult:
    """Run one trial from facts to verdicts; a failure is a record too, with its reason. Interrupts pass through."""
    findings = Findings(facts=dict(parts.facts()))
    error = None
    try:
        _live(trial, parts, findings, progress)
    except AssayError as failure:
        error = str(failure)
    except Exception as failure:  # the plan goes on with the next trial, and this one says what happened to it
        error = f"{type(failure).__name__}: {failure}"
    record = Record(
        trial=trial,
        status=Status.FINISHED if error is None else Status.FAILED,
        error=error,
        facts=findings.facts,
        settings=findings.settings,
        dataset=findings.dataset,
        steps=tuple(findings.steps),
        staging_jobs=tuple(findings.staging_jobs),
        jobs=tuple(findings.jobs),
        totals=findings.totals,
        outputs=tuple(findings.outputs),
        landed=tuple(findings.landed),
        devices=findings.devices,
        amounts=tuple(findings.amounts),
        limits=findings.limits,
        verdicts=tuple(findings.verdicts),
        doubts=(*findings.doubts, *crowded(trial.placement.name, findings.amounts)),
    )
    return TrialResult(record, findings.attempts, Joined(findings.samples), findings.phases, findings.signature)


def _live(trial: Trial, parts: Parts, findings: Findings, progress: Progress) -> None:
    """The nested scopes, from the outside in."""
    media, cluster, dataset, workload = parts.media(), parts.cluster(), parts.dataset(), parts.workload()
    with findings.step("prepare dataset", progress):
        dataset.prepare(progress)
        findings.dataset = None if trial.dataset.is_none else dataset.facts()
    with ExitStack() as scopes:
        # The cluster's stop is a step too, and its end comes before the directories it uses are removed.
        neutral = scopes.enter_context(parts.neutral())
        with findings.step("attach media", progress):
            places = {medium.spec.name: scopes.enter_context(_attached(medium, findings)) for medium in media}
        layout = lay_out(trial.placement, places, neutral)
        running = scopes.enter_context(_started(trial, cluster, layout, findings, progress))
        store, engine = parts.store(running), parts.engine(running, neutral, _any_failure(cluster, media))
        placer = parts.placer(running, layout)
        scopes.enter_context(_tidied(store, workload.base, findings, progress))
        mark = scopes.enter_context(measured(parts.probes(), parts.scene(running, layout, media), findings))
        count_anew(media)
        with findings.step("stage", progress), writing_out(media):
            if placer is not None:
                placer.prepare(workload.base, workload.input)
            staged = workload.stage(dataset, store, engine, progress)
            _found(placer, (("input", workload.input),), "staged", findings)
            if trial.strict_placement:
                misplaced(trial, findings.landed)
        with findings.step("cold cache", progress):
            for medium in media:
                findings.doubts += medium.make_cold() if trial.cache == "cold" else ()
        write_out(media)
        mark("staging")
        take_reports(media, "staging", findings)
        report = _run(parts, layout, lambda: workload.run(engine, progress), findings, progress)
        mark("run")
        take_reports(media, "run", findings)
        if findings.devices:
            with findings.step("write out", progress):
                write_out(media)
            mark("write out")
            take_reports(media, "write out", findings)
        with findings.step("job history", progress):
            findings.settings |= report.settings
            _see_jobs(engine, staged.jobs, report.jobs, findings)
            _found(placer, (("input", workload.input), ("output", workload.output)), "run", findings)
            if findings.histories_whole:
                findings.landed = counted(findings.landed, findings.jobs)
            findings.doubts += _doubts(trial, cluster, media, findings)
        with findings.step("verify", progress):
            size = store.size_bytes(workload.output)
            findings.outputs.append(Output(path=workload.output, bytes=size, summary=report.result))
            findings.verdicts += _judged(lambda: workload.verify(dataset.graph(), store, report))
        mark("collect")
        take_reports(media, "collect", findings)


def _run(
    parts: Parts, layout: Layout, run: Callable[[], LaunchReport], findings: Findings, progress: Progress
) -> LaunchReport:
    """Run the workload's jobs, and see where they put their intermediates."""
    with parts.intermediates(layout) as intermediates, findings.step("run", progress):
        report = run()
    if intermediates is not None:
        findings.landed.append(intermediates())
    return report


def _doubts(trial: Trial, cluster: Cluster, media: Sequence[Medium], findings: Findings) -> list[Doubt]:
    """All that what was found says about the figures."""
    return [
        *misplaced(trial, findings.landed),
        *unseen(trial, findings.landed),
        *(cached(trial, findings.jobs, findings.facts, findings.devices) if findings.histories_whole else ()),
        *of_media(trial, findings.facts),
        *given_back(findings.facts),
        *out_of_memory(cluster.limit_use()),
        *(doubt for medium in media if isinstance(medium, Doubtful) for doubt in medium.doubts()),
    ]


@contextmanager
def _attached(medium: Medium, findings: Findings) -> Iterator[Path]:
    """An attached medium; its facts are read while it is."""
    with medium.attached() as place:
        findings.facts |= {f"medium.{medium.spec.name}.{name}": value for name, value in medium.facts().items()}
        yield place


def _any_failure(cluster: Cluster, media: Sequence[Medium]) -> Callable[[], str | None]:
    """What has died: a device of Assay's own, which explains why a daemon then died too, or a daemon."""
    devices = [medium for medium in media if isinstance(medium, Device)]

    def failure() -> str | None:
        return next((reason for device in devices if (reason := device.failure())), None) or cluster.failure()

    return failure


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
def _started(
    trial: Trial, cluster: Cluster, layout: Layout, findings: Findings, progress: Progress
) -> Iterator[RunningCluster]:
    """A running cluster whose data and intermediates lie where the layout says; start and stop are timed."""
    with ExitStack() as scope:
        with findings.step("start cluster", progress):
            running = scope.enter_context(cluster.running(layout, trial.settings.properties, progress))
        findings.facts |= {"hadoop": running.hadoop_version, "nodes": str(len(running.nodes))}
        findings.settings |= running.settings
        try:
            yield running
        except Exception as failure:
            # A client only sees that nobody answers; the cluster knows which daemon died and its last words.
            reason = cluster.failure()
            if reason is not None and reason not in str(failure):
                raise AssayError(reason) from failure
            raise
        finally:
            with findings.step("stop cluster", progress):
                scope.close()
            findings.limits = cluster.limit_use()


def _histories(engine: Engine, jobs: tuple[JobReference, ...], findings: Findings) -> list[JobRecord]:
    """What the engine remembers of some jobs; one that it has forgotten is a doubt, and the trial goes on."""
    found = []
    for job in jobs:
        try:
            history = engine.history(job)
        except AssayError as error:
            findings.doubts.append(unremembered(job, error))
        else:
            found.append(history.job)
            findings.attempts += history.attempts
            findings.doubts += history.doubts
    return found


def _see_jobs(
    engine: Engine, staging: tuple[JobReference, ...], own: tuple[JobReference, ...], findings: Findings
) -> None:
    """All that the engine remembers of the jobs and their tasks."""
    findings.staging_jobs += _histories(engine, staging, findings)
    findings.jobs += _histories(engine, own, findings)
    findings.histories_whole = len(findings.jobs) == len(own)
    seen = engine.phases(findings.attempts)
    findings.phases += seen.phases
    findings.doubts += seen.doubts


def _found(
    placer: Placer | None, paths: tuple[tuple[Role, str], ...], when: Literal["staged", "run"], findings: Findings
) -> None:
    """Write down where the bytes of some roles lie now."""
    if placer is not None:
        findings.landed += [placer.landed(role, when, path) for role, path in paths]


def _judged(check: Callable[[], tuple[Verdict, ...]]) -> tuple[Verdict, ...]:
    """A check that crashes is unknown, never pass; an output that can't even be read in its own form is a fail."""
    try:
        return check()
    except AssayError as error:
        return (Verdict(check="the output can be read", outcome=Outcome.FAIL, detail=str(error)),)
    except Exception as error:  # whatever a check trips over must neither pass nor stop the plan
        return (Verdict(check="verification", outcome=Outcome.UNKNOWN, detail=f"{type(error).__name__}: {error}"),)
