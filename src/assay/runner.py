"""The whole life of a trial, in nested scopes: medium > cluster > store > probes > staged data > jobs > verify.

Nothing here knows which kinds of things there are: they come from Parts, and tests bring fakes.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Literal

from assay.devices import count_anew, take_reports, write_out, writing_out
from assay.doubts import (
    cached,
    counted,
    crowded,
    given_back,
    misplaced,
    out_of_memory,
    unlike_a_disk,
    unremembered,
    unseen,
)
from assay.findings import Findings
from assay.layout import lay_out
from assay.measuring import measured
from assay.model.cluster import Cluster, Layout, RunningCluster
from assay.model.doubt import Doubt, Outcome, Verdict
from assay.model.engine import Engine, JobReference, LaunchReport
from assay.model.errors import AssayError
from assay.model.medium import Device, Doubtful, Medium
from assay.model.parts import Parts
from assay.model.placement import Role
from assay.model.progress import Progress
from assay.model.record import JobRecord, Output, Record, Status
from assay.model.result import Joined, TrialResult
from assay.model.store import Placer, Store
from assay.model.trial import Trial


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
        *unlike_a_disk(trial, findings.facts),
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
