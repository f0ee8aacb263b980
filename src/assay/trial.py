"""The whole life of a trial, in nested scopes: medium > cluster > store > probes > staged data > jobs > verify.

Each scope gives its part (`assay.trial_parts`), of which the record is composed, also when the trial fails half-way.
What measures it is a guest (`assay.probe.sampler`): a probe that fails is a Doubt, and the trial goes on. An interrupt
passes through, and nothing is read then, since the trial leaves no record.

Nothing here knows which kinds of things there are: they come with the trial's setup, and tests bring fakes.
"""

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Literal

from assay.host.files import bytes_below
from assay.model.doubt import CheckResult, Doubt, Outcome, doubt_kind, verdict
from assay.model.engine import Engine, JobReference
from assay.model.errors import AssayError
from assay.model.fact import whole_number
from assay.model.fault import DRIVE, Fault, FaultReport, worker_number
from assay.model.layout import INPUT, OUTPUT, Directory, Layout
from assay.model.medium import Device, Doubtful, Medium
from assay.model.naming import bytes_text
from assay.model.platform import Platform, RunningPlatform, TrialSetup
from assay.model.probe import Scene
from assay.model.progress import Progress
from assay.model.record import DeviceReport, JobRecord, Part, Span, StagedInput, StoredOutput
from assay.model.result import TrialResult
from assay.model.scale import ScaleReport, StrikeSeen
from assay.model.service import Stack
from assay.model.signature import Signature
from assay.model.store import Placer, Store
from assay.model.task import TaskAttempt
from assay.model.trial import Landed, Trial
from assay.plan.layout import lay_out
from assay.probe.sampler import Measurement, measured
from assay.record.scale_rules import drives_seen, report_of
from assay.stats.blocked import by_phase
from assay.stats.fault_cost import with_losses
from assay.stats.signature import signature
from assay.stats.trial_doubts import (
    cached,
    dropped,
    given_back,
    misplaced,
    of_media,
    off_budget,
    out_of_memory,
    refuse_elsewhere,
    unremembered,
    unseen,
)
from assay.trial_parts import (
    Attached,
    IntervalEnd,
    JobHistories,
    Measured,
    Ran,
    Remembered,
    Settled,
    Staged,
    Started,
    TrialParts,
    Verified,
)


def run_trial(trial: Trial, setup: TrialSetup, progress: Progress) -> TrialResult:
    """Run one trial from facts to verdicts; a failure is a record too, with its reason. Interrupts pass through."""
    parts = TrialParts(trial, platform_facts=dict(setup.platform.facts()))
    error = None
    try:
        _live(setup, parts, progress)
    except AssayError as failure:
        error = str(failure)
    except Exception as failure:  # the plan goes on with the next trial, and this one says what happened to it
        error = f"{type(failure).__name__}: {failure}"
    return parts.result(error)


def _live(setup: TrialSetup, parts: TrialParts, progress: Progress) -> None:
    """The nested scopes, from the outside in."""
    trial, platform, step = parts.trial, setup.platform, partial(parts.step, progress=progress)
    media, workload = platform.media(), setup.workload()
    devices = [medium for medium in media if isinstance(medium, Device)]
    with step("prepare dataset"):
        workload.input.prepare(progress)
        parts.dataset = workload.input.facts()
    with ExitStack() as scopes:
        # The platform's stop is a step too, and its end comes before the directories it uses are removed.
        neutral = scopes.enter_context(platform.neutral())
        scopes.enter_context(_logs_kept(platform, neutral, parts))
        with step("attach media"):
            for medium in media:
                parts.attached = scopes.enter_context(_attached(medium, parts.attached, trial.cluster.fault))
        layout = lay_out(
            trial.placement, parts.attached.places, neutral, setup.kinds.stack.roles, trial.workload.directed_media
        )  # fmt: skip
        running = scopes.enter_context(_started(platform, layout, parts, progress))
        scopes.enter_context(
            _tidied(running.store, workload.base, parts, progress, stays=not setup.kinds.platform.is_managed)
        )
        mark = scopes.enter_context(_measured(setup, running.scene(), parts))
        interval = partial(_interval, devices=devices, mark=mark, parts=parts)
        for device in devices:
            device.reset_report()
        with interval("staging"):
            with step("stage"), writing_out(devices), _staging_struck(running, workload.input.put_bytes(), parts):
                if running.placer is not None:
                    running.placer.prepare(workload.base, workload.input_path)
                staging = workload.stage(running.store, running.stager or running.engine, progress)
                parts.staged = Staged(_landings(running.placer, "staged", {INPUT: workload.input_path}))
                refuse_elsewhere(trial, parts.landed)
                if trial.strict_placement:
                    misplaced(trial, parts.landed)
            with step("cold cache"):
                cooled = media if trial.cache == "cold" else ()
                doubts = [doubt for medium in cooled for doubt in medium.make_cold()]
                parts.staged = parts.staged._replace(doubts=doubts)
            for device in devices:
                device.write_out()
        with interval("run"), step("run"), _struck(running, parts):
            report = workload.run(running.engine, progress)
        parts.ran = parts.ran._replace(settings=report.settings, scale=_scale(running, parts))
        if devices:
            with interval("write out"), step("write out"):
                for device in devices:
                    device.write_out()
        with interval("collect"):
            with step("job history"):
                parts.remembered = _remembered(running, staging.jobs, report.jobs)
                paths = {INPUT: workload.input_path, OUTPUT: workload.output_path}
                landed = _landings(running.placer, "run", paths)
                losses = _losses(running, layout, parts, setup.kinds.stack_of_store, workload.input_path)
                parts.settled = Settled([*landed, *_lying(trial, layout, landed)], losses)
                staged = _staged(setup, running.store, trial)
                parts.checked = _checked(running, media, parts, staged)
            for device in devices:  # nothing is measured any more, and outputs lie on the slowest drives too
                device.release()
            with step("verify"):
                parts.verified = Verified(
                    (_output(running.store, workload.output_path, report.result),),
                    (
                        *_all_kept(losses),
                        *_all_read(running.store, workload.read_path, parts.remembered.read_records),
                        *_verdicts(lambda: workload.verify(running.store, report)),
                    ),
                    staged,
                )


@contextmanager
def _logs_kept(platform: Platform, neutral: Path, parts: TrialParts) -> Iterator[None]:
    """The platform's logs are kept when the trial fails; all that writes them has ended by then."""
    try:
        yield
    except Exception:
        with suppress(Exception):  # the failure itself is what counts
            parts.logs = platform.logs(neutral)
        raise


@contextmanager
def _attached(medium: Medium, before: Attached, fault: Fault | None) -> Iterator[Attached]:
    """An attached medium beside those before; its facts are read while it is.

    Of several nodes' the first one's stand for all that are of the same drive. Those of another drive, which a fault
    slows or an experiment chose, have the node in their name.
    """
    name, spec, node = medium.spec.name, medium.spec, medium.node
    slowed = fault is not None and fault.slows(DRIVE, worker_number(node)) > 1
    usual = before.usual if slowed else {name: spec, **before.usual}
    owner = name if not slowed and spec == usual[name] else f"{name}.{node}"
    with medium.attached() as place:
        facts = before.facts if owner in before.facts else {**before.facts, owner: medium.facts()}
        places = {**before.places, node: {**before.places.get(node, {}), name: place}}
        yield Attached(places, facts, usual)


@contextmanager
def _started(platform: Platform, layout: Layout, parts: TrialParts, progress: Progress) -> Iterator[RunningPlatform]:
    """A running platform whose data and intermediates lie where the layout says; start and stop are timed."""
    with _full_medium_named(layout), ExitStack() as scope:
        with parts.step("start cluster", progress):
            running = scope.enter_context(platform.running(layout, parts.trial.settings.properties, progress))
        parts.started = Started(running.facts, running.settings, running.doubts)
        try:
            yield running
        except Exception as failure:
            # A client only sees that nobody answers; the platform knows which daemon died and its last words.
            reason = running.failure()
            if reason is not None and reason not in str(failure):
                raise AssayError(reason) from failure
            raise
        finally:
            with parts.step("stop cluster", progress):
                scope.close()
            parts.limits = running.limit_use()


def _output(store: Store, path: str, summary: Mapping[str, int | float]) -> StoredOutput:
    return StoredOutput(path=path, bytes=store.size_bytes(path), summary=summary)


_FULL_BYTES = 5 << 28
"""A medium with less may be full to a store: some leave 1 GiB free, beside room for the next block."""


@contextmanager
def _full_medium_named(layout: Layout) -> Iterator[None]:
    """Whatever fails, a medium that has hardly any space left is named beside it: daemons and clients seldom do so."""
    try:
        yield
    except AssayError as failure:
        if not (full := _full_medium(layout)):
            raise
        raise AssayError(f"{failure}{full}") from failure


def _full_medium(layout: Layout) -> str:
    for node in (layout.nodes or {"": layout}).values():
        for directory in node.directories:
            with suppress(OSError):
                space = shutil.disk_usage(directory.path)
                if space.free < _FULL_BYTES:
                    left = f"{bytes_text(space.free)} of {bytes_text(space.total)} left"
                    return f"; the medium {directory.medium!r} has only {left}"
    return ""


@contextmanager
def _tidied(store: Store, base: str, parts: TrialParts, progress: Progress, *, stays: bool) -> Iterator[None]:
    """Whatever happens, the trial's data leave the store; one that `stays` is not thrown away afterwards.

    What of a trial that failed can't be removed there is told beside its error.
    """
    try:
        yield
    except BaseException:
        try:
            store.delete(base)
        except Exception as error:  # the failure itself is what counts
            if stays:
                parts.left = f"; what it has in the store, below {base}, could not be removed: {error}"
        raise
    with parts.step("clean up", progress):
        store.delete(base)


@contextmanager
def _measured(setup: TrialSetup, scene: Scene, parts: TrialParts) -> Iterator[Callable[[Part], Sequence[Landed]]]:
    """Measure under probes; gives what marks the end of an interval, and tells where bytes were seen to land in it."""
    seen: Measurement | None = None
    jobs_signature: Signature | None = None
    doubts: Sequence[Doubt] = ()

    def evaluated(measurement: Measurement) -> None:
        nonlocal jobs_signature, doubts
        jobs, attempts = parts.remembered.jobs, parts.remembered.attempts
        spans = {job.id: Span(begin_ms=job.started_ms, end_ms=job.finished_ms) for job in jobs}
        of_jobs = [attempt for attempt in attempts if attempt.job in spans]
        measurement.amounts += by_phase(measurement.samples, of_jobs, spans.values())
        jobs_signature, doubts = _signature(measurement, attempts, parts.trial.engine)

    try:
        with measured(setup.probes, scene, evaluated) as seen:
            yield seen.mark
    finally:
        if seen is not None:
            parts.measured = Measured(
                seen.samples,
                seen.amounts,
                jobs_signature,
                (seen.requests or ()) if parts.trial.keep_requests else (),
                (*doubts, *seen.doubts),
            )


def _signature(
    seen: Measurement, attempts: Sequence[TaskAttempt], engine: str
) -> tuple[Signature | None, tuple[Doubt, ...]]:
    """The jobs' signature from their requests; without it the trial stands."""
    if seen.requests is None or not attempts:
        return None, ()
    try:
        return signature(seen.requests, seen.counted, attempts, engine), ()
    except Exception as error:
        reason = f"requests could not be attributed to phases: {type(error).__name__}: {error}"
        return None, (TRACE_WITHOUT_SIGNATURE.doubt(reason),)


TRACE_WITHOUT_SIGNATURE = doubt_kind(
    "trace-without-signature",
    "instrument",
    when="the requests could not be summarised",
    why="the I/O signature is missing from the record",
    cure="this is a fault of Assay: please report it with this text; the trial's other figures hold",
    instrument="block-trace",
)


@contextmanager
def _interval(
    name: Part, devices: Sequence[Device], mark: Callable[[Part], Sequence[Landed]], parts: TrialParts
) -> Iterator[None]:
    """An interval of the trial, whose totals are kept apart: those of the probes and of the media's devices."""
    yield
    landed = mark(name)
    reports: dict[tuple[str | None, str], DeviceReport] = {}
    for device in devices:
        reports[device.node, device.spec.name] = DeviceReport.model_validate(device.device_report())
        device.reset_report()
    parts.intervals.append(IntervalEnd(name, landed, reports))


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


def _landings(placer: Placer | None, when: Literal["staged", "run"], paths: Mapping[str, str]) -> list[Landed]:
    """Where the bytes of some roles, and of those that the store keeps beside them, lie now, each below its path.

    Nothing where nobody can see.
    """
    if placer is None:
        return []
    return [placer.landed(role, when, path) for role, path in {**placer.own_paths, **paths}.items()]


def _lying(trial: Trial, layout: Layout, counted: Sequence[Landed]) -> list[Landed]:
    """Where the bytes of the other roles lie after the jobs, if those of some could be counted.

    Files that pass are left out: a probe tells of those.
    """
    others = [role for role in trial.placement.roles if role not in {landed.role for landed in counted}]
    by_role = {role: layout.of(role) for role in others} if counted else {}
    staying = {role: places for role, places in by_role.items() if not any(place.passing for place in places)}
    return [lying(role, places) for role, places in staying.items() if places]


def lying(role: str, directories: Sequence[Directory]) -> Landed:
    """What lies in the directories of a role when the jobs have ended."""
    sizes: Counter[str] = Counter()
    for directory in directories:
        sizes[directory.medium] += bytes_below(directory.path)
    total = sizes.total()
    shares = {medium: size / total for medium, size in sizes.items() if size}
    return Landed(role=role, when="run", bytes=total, shares=shares)


def _staged(setup: TrialSetup, store: Store, trial: Trial) -> StagedInput | None:
    """How much was staged, and what the store promised of it; None where nobody knows how it is configured."""
    if not setup.kinds.platform.is_managed:
        return None
    kind, properties, nodes = setup.kinds.store, trial.settings.properties, max(1, len(trial.cluster.workers))
    return StagedInput(
        bytes=store.put_bytes(setup.workload().input_path), basis="measured",
        promise=kind.promised_while_staging(properties, nodes), promise_afterwards=kind.promise(properties, nodes),
    )  # fmt: skip


@contextmanager
def _staging_struck(running: RunningPlatform, size_bytes: int, parts: TrialParts) -> Iterator[None]:
    """The fault may strike while so many bytes are put; what it did is kept also when the trial fails."""
    if running.injector is None:
        yield
        return
    running.injector.stage(size_bytes)
    try:
        yield
    finally:
        report = running.injector.report()
        parts.ran = Ran(fault=report if report.struck_ms is not None else None)


@contextmanager
def _struck(running: RunningPlatform, parts: TrialParts) -> Iterator[None]:
    """The trial's fault may strike meanwhile; what it did is kept also when the trial fails."""
    if running.injector is None:
        yield
        return
    running.injector.arm()
    try:
        yield
    finally:
        parts.ran = Ran(fault=running.injector.report())


def _scale(running: RunningPlatform, parts: TrialParts) -> ScaleReport | None:
    """Whether a scale model was kept to while the jobs ran, which the last step was."""
    if running.scale is None:
        return None
    run, planned, fault = parts.steps[-1], parts.trial.cluster.fault, parts.ran.fault
    ended_ms = run.started_ms + round(1000 * run.seconds)
    strike = None
    if planned is not None and planned.kill and fault is not None and fault.struck_ms is not None:
        before = running.scale(run.started_ms, fault.struck_ms).heartbeats
        after = running.scale(fault.struck_ms, ended_ms).heartbeats
        strike = StrikeSeen(killed=planned.kill, before=before, after=after)
    watched = running.scale(run.started_ms, ended_ms)
    return report_of(watched.model_copy(update={"strike": strike, "drives": drives_seen(parts.devices)}))


def _remembered(running: RunningPlatform, staging: Sequence[JobReference], jobs: Sequence[JobReference]) -> Remembered:
    """All that the engines know of the staging's and the workload's jobs."""
    of_staging, of_jobs = _histories(running.stager or running.engine, staging), _histories(running.engine, jobs)
    attempts = of_jobs.attempts if running.stager is not None else (*of_staging.attempts, *of_jobs.attempts)
    logged = running.engine.phases(attempts)
    return Remembered(
        staging_jobs=of_staging.jobs,
        jobs=of_jobs.jobs,
        whole=len(of_jobs.jobs) == len(jobs),
        read_records=of_jobs.read_records,
        attempts=attempts,
        phases=logged.phases,
        doubts=(*of_staging.doubts, *of_jobs.doubts, *logged.doubts),
    )


def _histories(engine: Engine, references: Sequence[JobReference]) -> JobHistories:
    """Of some jobs; one that the engine has forgotten is a doubt."""
    jobs: list[JobRecord] = []
    attempts: list[TaskAttempt] = []
    doubts: list[Doubt] = []
    read_records: int | None = None
    for number, job in enumerate(references):
        try:
            history = engine.history(job)
        except AssayError as error:
            doubts.append(unremembered(job, error))
        else:
            jobs.append(history.job)
            attempts += history.attempts
            doubts += history.doubts
            if number == 0:
                read_records = history.counted.get("input_records")
    return JobHistories(jobs, attempts, doubts, read_records)


def _losses(
    running: RunningPlatform, layout: Layout, parts: TrialParts, stack_of_store: Stack, input_path: str
) -> FaultReport | None:
    """What history and store tell of the fault; one that struck when the jobs had ended did not strike."""
    fault, planned, remembered = parts.ran.fault, parts.trial.cluster.fault, parts.remembered
    if fault is None or planned is None:
        return fault
    if remembered.whole:
        fault = with_losses(fault, planned, remembered.jobs, remembered.attempts)
    killed = [daemon for daemon in stack_of_store.daemons if daemon.role in fault.processes]
    struck = layout.nodes.get(planned.worker)
    if running.placer is not None and struck is not None and not all(daemon.serves_only for daemon in killed):
        with suppress(AssayError):  # who can't be asked is one of the fault's victims
            fault = fault.model_copy(update={"redundancy": running.placer.redundancy(struck.directories)})
    if killed:
        fault = fault.model_copy(update={"kept": running.store.kept(input_path)})
    return fault


def _all_kept(losses: FaultReport | None) -> tuple[CheckResult, ...]:
    """Whether the store still has the input though the fault killed a daemon of it, where it counts that."""
    if losses is None or losses.kept is None:
        return ()
    taken, missing = losses.kept.taken, losses.kept.missing
    detail = f"{missing} of {taken} lines that were staged are missing"
    return (verdict("the input is whole after the fault", passed=missing == 0, detail=detail),)


def _all_read(store: Store, path: str | None, read_records: int | None) -> tuple[CheckResult, ...]:
    """Whether the first job read each line that was staged, once, where the store and the job count them."""
    taken = store.taken(path) if path is not None else None
    if taken is None or read_records is None:
        return ()
    detail = f"{read_records} read, {taken} staged"
    return (verdict("the first job read each staged line once", passed=read_records == taken, detail=detail),)


def _checked(
    running: RunningPlatform, media: Sequence[Medium], parts: TrialParts, staged: StagedInput | None
) -> list[Doubt]:
    """All that the parts so far say about the metrics. Raises AssayError for bytes that lie elsewhere."""
    trial, landed, facts, remembered = parts.trial, parts.landed, parts.facts, parts.remembered
    use, placed = running.limit_use(), running.placer is not None
    memory_bytes = whole_number(facts.get("memory_bytes")) or 0
    refuse_elsewhere(trial, landed)
    return [
        *misplaced(trial, landed),
        *unseen(trial, landed, placed=placed),
        *(cached(trial, remembered.jobs, memory_bytes, parts.devices, staged) if remembered.whole else ()),
        *of_media(trial, parts.attached.facts),
        *given_back(facts),
        *dropped(facts, remembered.jobs),
        *out_of_memory(use),
        *off_budget(use, remembered.jobs),
        *(doubt for part in (*media, running.store) if isinstance(part, Doubtful) for doubt in part.doubts()),
    ]


def _verdicts(check: Callable[[], tuple[CheckResult, ...]]) -> tuple[CheckResult, ...]:
    """A check that crashes is unknown, never pass; an output that can't even be read in its own form is a fail."""
    try:
        return check()
    except AssayError as error:
        return (CheckResult(check="the output can be read", outcome=Outcome.FAIL, detail=str(error)),)
    except Exception as error:  # whatever a check trips over must neither pass nor stop the plan
        return (CheckResult(check="verification", outcome=Outcome.UNKNOWN, detail=f"{type(error).__name__}: {error}"),)
