"""What the trials of a run would ask of a drive that did not run, from the requests that they kept."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

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
    folder: RunFolder, drives: Sequence[tuple[OtherDrive, DriveProfile]], replay: Replay, placement: str | None = None,
    *, present: Mapping[str, DriveProfile],
) -> list[DriveDemand]:  # fmt: skip
    """What all valid trials of one placement would ask of other drives with these profiles, drive after drive.

    By default the first placement of the plan. A trial that has no data of a drive's roles asks nothing of it.
    `present` are profiles of the run's own media: by them a drive serves the data that stay on it, where the record
    says that the trial had the same. Raises BadInputError, before the first replay, where the run kept no requests,
    where the placement is unknown, where no trial has data of a role, where it is not known how much slower a drive is
    to be, or where times are those of a scale model.
    """
    valid = _valid_trials(folder, placement)
    known: set[str] = set()
    for asked in (_Asked.of(folder, summary) for summary in valid):
        known.update(role for log in asked.logs.values() for role in log.roles)
        for drive, _ in drives:
            _slowdown(drive, asked.trial)
    for role in (role for drive, _ in drives for role in drive.roles):
        if role not in known:
            jobs = " and ".join(dict.fromkeys(summary.trial.workload.name for summary in valid))
            raise BadInputError(
                f"no request of {jobs} on placement {valid[0].trial.placement.name} is of role {role!r}; the roles of "
                f"all requests are {', '.join(sorted(known))}"
            )
    demands: list[list[DriveDemand]] = [[] for _ in drives]
    for asked in (_Asked.of(folder, summary) for summary in valid):  # again: a run's logs may not fit into memory
        for (drive, profile), of_drive in zip(drives, demands, strict=True):
            of_drive.append(_demand(asked, drive, profile, replay, present))
    return [demand for of_drive in demands for demand in of_drive]


def _valid_trials(folder: RunFolder, placement: str | None) -> list[TrialSummary]:
    plan = folder.plan()
    summaries, _ = summaries_of(folder, plan)
    names = list(plan.placements or dict.fromkeys(t.placement.name for t in plan.trials if not t.zero_delay))
    chosen = names[0] if placement is None else placement
    if chosen not in names:
        raise BadInputError(f"{folder.path} has no placement {chosen!r}; it has {', '.join(names)}")
    valid = [summary for summary in summaries if summary.trial.placement.name == chosen and is_valid(summary)]
    if not valid:
        raise BadInputError(f"{folder.path} has no valid trial with placement {chosen}, so nothing can be predicted")
    return valid


Busy = list[tuple[float, ...]]
"""For each stage how long each drive of a node was busy, in seconds."""


class _Asked(NamedTuple):
    """A trial with what its drives were asked: the names of its stages, the time of each, and how busy drives were.

    `digests` tell the profiles of those media that are the same on all nodes.
    """

    trial: Trial
    elapsed_s: float
    logs: Mapping[str, Requests]
    names: Sequence[str]
    spans: Sequence[Span]
    busy: Busy
    digests: Mapping[str, object]

    @classmethod
    def of(cls, folder: RunFolder, summary: TrialSummary) -> "_Asked":
        """Read a trial's logs. Raises BadInputError where they can't be replayed, or contradict its time."""
        trial, logs, record = summary.trial, folder.requests(summary.id), folder.record(summary.id)
        if record.modelled:
            cure = "predict from trials on a cluster of full speed"
            raise BadInputError(f"trial {trial.id} ran on a scale model: {cure}")
        _check(logs, trial)
        names, spans = _stages(record, folder.attempts(trial))
        nodes = [[busy_s(log, spans) for log in of_node.values()] for of_node in by_node(logs).values()]
        busy = _busiest_node([[*zip(*of_drives, strict=True)] for of_drives in nodes])
        digests = {
            medium.name: record.facts_of(medium.name).get("profile_digest") for medium in trial.media if not medium.on
        }
        asked = cls(trial, summary.elapsed_s or 0.0, logs, names, spans, busy, digests)
        asked._check_busy()
        return asked

    def _check_busy(self) -> None:
        seconds = sum(map(max, self.busy))
        if seconds > MOST_BUSY * self.elapsed_s:
            raise BadInputError(
                f"trial {self.trial.id} took {self.elapsed_s:.1f} s, and by the log of requests a drive was busy for "
                f"{seconds:.1f} s of it: one of the two is wrong, so that nothing can be predicted from it"
            )


def _demand(
    asked: _Asked, drive: OtherDrive, profile: DriveProfile, replay: Replay, present: Mapping[str, DriveProfile]
) -> DriveDemand:
    slowed = profile.model_copy(update={"slowdown": _slowdown(drive, asked.trial)})
    same = {name: of_medium for name, of_medium in present.items() if of_medium.digest == asked.digests.get(name)}
    busy_there = _busiest_node(
        [
            [*zip(*_busy_with(of_node, asked.spans, drive.roles, slowed, replay, same), strict=True)]
            for of_node in by_node(asked.logs).values()
        ]
    )
    stages = zip(asked.names, asked.spans, asked.busy, busy_there, strict=True)
    return DriveDemand(
        trial=asked.trial.id,
        drive=drive,
        title=profile.title,
        replaced=tuple(
            sorted({log.medium.rpartition("/")[2] for log in asked.logs.values() if _has(log, drive.roles)})
        ),
        elapsed_s=asked.elapsed_s,
        stages=tuple(
            StageDemand(stage=name, elapsed_s=span.seconds, busy_s=here, busy_there_s=there)
            for name, span, here, there in stages
        ),
        **_shape(asked.logs.values()),
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


def _busiest_node(nodes: Sequence[Busy]) -> Busy:
    """In each stage the drives of the node whose busiest drive was busiest."""
    return [max(of_stage, key=max) for of_stage in zip(*nodes, strict=True)]


def _busy_with(
    logs: Mapping[str, Requests], spans: Sequence[Span], roles: Collection[str], drive: DriveProfile, replay: Replay,
    present: Mapping[str, DriveProfile],
) -> Iterator[list[float]]:  # fmt: skip
    """For each of a node's drives, with the other drive among them, how long it would be busy in each span."""
    kept = {role for log in logs.values() for role in log.roles} - {*roles} if roles else set()
    for medium, log in logs.items() if kept else ():
        if medium in present and _has(log, roles):  # alone, the data that stay make it seek less
            yield busy_elsewhere_s([log], spans, kept, present[medium], replay)
        else:
            yield busy_s(log, spans, kept)
    yield busy_elsewhere_s([*logs.values()], spans, roles or None, drive, replay)


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
