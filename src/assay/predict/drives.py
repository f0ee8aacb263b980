"""What the trials of a run would ask of a drive that did not run, from the requests that they kept."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from assay.model.demand import DriveDemand, OtherDrive, StageDemand
from assay.model.drive_profile import DriveProfile
from assay.model.errors import BadInputError
from assay.model.record import Record, Span
from assay.model.signature import READ_KIND, WRITE_KIND, Requests
from assay.model.task import TaskAttempt
from assay.model.trial import Trial
from assay.model.trial_summary import TrialSummary
from assay.predict.replay import Replay, busy_elsewhere_s, busy_s, by_node
from assay.record.folder import RunFolder
from assay.stats.sample import is_valid
from assay.stats.timeline import merged
from assay.stats.trial_summary import summaries_of

MOST_BUSY = 1.02
"""A drive that was busy for more of a job's time than this contradicts it; less is the rounding of clocks."""
IDLE_REQUEST_BYTES = 1 << 18
"""Taken for the size of requests where there are none: they change nothing."""


def demands_on(
    folder: RunFolder, drive: OtherDrive, profile: DriveProfile, replay: Replay, placement: str | None = None
) -> list[DriveDemand]:
    """What all valid trials of one placement would ask of another drive, whose profile is known.

    By default the first placement of the plan. A trial that has no data of the drive's roles asks nothing of it. Raises
    BadInputError where the run kept no requests, where the placement is unknown, where no trial has data of a role,
    where it is not known how much slower the drive is to be, or where times are those of a scale model.
    """
    plan = folder.plan()
    summaries, _ = summaries_of(folder, plan)
    names = list(plan.placements or dict.fromkeys(t.placement.name for t in plan.trials if not t.zero_delay))
    chosen = names[0] if placement is None else placement
    if chosen not in names:
        raise BadInputError(f"{folder.path} has no placement {chosen!r}; it has {', '.join(names)}")
    valid = [summary for summary in summaries if summary.trial.placement.name == chosen and is_valid(summary)]
    if not valid:
        raise BadInputError(f"{folder.path} has no valid trial with placement {chosen}, so nothing can be predicted")
    demands: list[DriveDemand] = []
    known: set[str] = set()
    for summary in valid:
        logs = folder.requests(summary.id)
        known.update(role for log in logs.values() for role in log.roles)
        demands.append(_demand(folder, summary, logs, drive, profile, replay))
    for role in drive.roles:
        if role not in known:
            raise BadInputError(
                f"no request of a trial with placement {chosen} is of role {role!r}; their roles are "
                f"{', '.join(sorted(known))}"
            )
    return demands


def _demand(
    folder: RunFolder, summary: TrialSummary, logs: Mapping[str, Requests], drive: OtherDrive, profile: DriveProfile,
    replay: Replay,
) -> DriveDemand:  # fmt: skip
    trial, record = summary.trial, folder.record(summary.id)
    if record.modelled:
        raise BadInputError(f"trial {trial.id} ran on a scale model: predict from trials on a cluster of full speed")
    _check(logs, trial)
    names, spans = _stages(record, folder.attempts(trial))
    elapsed_s = summary.elapsed_s or 0.0
    roles = drive.roles or None
    slowed = profile.model_copy(update={"slowdown": _slowdown(drive, trial)})
    by_nodes = [_of_node(list(of_node.values()), spans, roles, slowed, replay) for of_node in by_node(logs).values()]
    stages = []
    for place, (name, span) in enumerate(zip(names, spans, strict=True)):
        before = max((before[place] for before, _ in by_nodes), key=max)
        there = max((there[place] for _, there in by_nodes), key=max)
        stages.append(StageDemand(stage=name, elapsed_s=span.seconds, busy_s=before, busy_there_s=there))
    _check_busy(trial, elapsed_s, stages)
    return DriveDemand(
        trial=trial.id,
        drive=drive,
        title=profile.title,
        replaced=tuple(sorted({log.medium.rpartition("/")[2] for log in logs.values() if _has(log, drive.roles)})),
        elapsed_s=elapsed_s,
        stages=tuple(stages),
        **_shape(logs.values()),
    )


def _stages(record: Record, attempts: Sequence[TaskAttempt]) -> tuple[list[str], list[Span]]:
    """The time in which jobs ran, cut where a stage of a job had ended, and by which stage each part ends."""
    ends: dict[tuple[str, str], int] = {}
    for attempt in attempts:
        key = attempt.job, attempt.stage
        ends[key] = max(ends.get(key, 0), attempt.finished_ms)
    job_names = {job.id: job.name for job in record.jobs}
    named = {end_ms: f"{job_names[job]} {stage}" for (job, stage), end_ms in ends.items() if job in job_names}
    names, parts = [], []
    for span in merged(Span(begin_ms=job.started_ms, end_ms=job.finished_ms) for job in record.jobs):
        cuts = sorted(end_ms for end_ms in named if span.begin_ms < end_ms < span.end_ms)
        begins, part_ends = [span.begin_ms, *cuts[:-1]], [*cuts[:-1], span.end_ms]  # committing belongs to the last
        parts += [Span(begin_ms=begin, end_ms=end) for begin, end in zip(begins, part_ends, strict=True)]
        names += [named[end_ms] for end_ms in cuts] or [record.jobs[0].name]
    return names, parts


Busy = list[tuple[float, ...]]
"""For each stage how long each drive of a node was busy, in seconds."""


def _of_node(
    logs: Sequence[Requests], spans: Sequence[Span], roles: Collection[str] | None, drive: DriveProfile, replay: Replay
) -> tuple[Busy, Busy]:
    """How long a node's drives were busy, and would be with the other drive among them."""
    before = [busy_s(log, spans) for log in logs]
    kept = set() if roles is None else {role for log in logs for role in log.roles} - {*roles}
    there = [busy_s(log, spans, kept) for log in logs] if kept else []
    there.append(busy_elsewhere_s(logs, spans, roles, drive, replay))
    return list(zip(*before, strict=True)), list(zip(*there, strict=True))


def _check(logs: Mapping[str, Requests], trial: Trial) -> None:
    """Raise BadInputError where a trial's logs can't be replayed."""
    if not logs:
        cure = "run the experiment with `keep_requests: true`"
        if trial.keep_requests:
            cure = "the probe block-trace sees them on emulated drives, and as root on other drives"
        raise BadInputError(
            f"trial {trial.id} can't be predicted from: its record has no log of the requests to its drives; {cure}"
        )
    if dropped := sum(log.dropped for log in logs.values()):
        raise BadInputError(
            f"{dropped} requests are missing from the log of trial {trial.id}, so that it can't be replayed"
        )


def _check_busy(trial: Trial, elapsed_s: float, stages: Sequence[StageDemand]) -> None:
    busy = sum(max(stage.busy_s) for stage in stages)
    if busy > MOST_BUSY * elapsed_s:
        raise BadInputError(
            f"trial {trial.id} took {elapsed_s:.1f} s, and by the log of requests a drive was busy for {busy:.1f} s of "
            "it: one of the two is wrong, so that nothing can be predicted from it"
        )


def _has(log: Requests, roles: Collection[str]) -> bool:
    return not roles or bool({*log.roles} & {*roles})


def _slowdown(drive: OtherDrive, trial: Trial) -> int:
    """How many times slower the other drive is made: as a medium of the run is, else as the trial's drives were.

    Raises BadInputError where these were not all slowed alike, or shared.
    """
    if drive.slowdown is not None:
        return drive.slowdown
    options = [spec.model_extra or {} for medium in trial.media for spec in (medium, medium.elsewhere) if spec]
    slowdowns = {int(fields.get("slowdown") or 1) for fields in options}
    is_shared = any((fields.get("shared_by") or 1) > 1 for fields in options)
    if is_shared or len(slowdowns) > 1:
        why = "are shared (`shared_by`)" if is_shared else "have different slowdowns"
        raise BadInputError(
            f"how much slower {drive.name} is to be than its profile is not known: drives of trial {trial.id} {why}; "
            "name a medium of the run, or predict from a placement whose drives all have one `slowdown` and are not "
            "shared"
        )
    return max(slowdowns, default=1)


def _shape(logs: Collection[Requests]) -> Mapping[str, float]:
    """The depth and the mean size of the reads and writes of the drive with the most of them."""
    moving = [(log, np.isin(log.kind, (READ_KIND, WRITE_KIND))) for log in logs]
    log, chosen = max(moving, key=lambda pair: int(pair[1].sum()))
    if not chosen.any():
        return {"depth": 1.0, "request_bytes": float(IDLE_REQUEST_BYTES)}
    arrived = np.sort(log.arrived_ns[chosen].astype(np.int64))
    answered = np.sort((log.arrived_ns[chosen] + log.latency_ns[chosen]).astype(np.int64))
    under_way = np.arange(1, len(arrived) + 1) - np.searchsorted(answered, arrived, side="right")
    return {"depth": float(under_way.mean()), "request_bytes": float(log.bytes[chosen].mean())}
