"""The time of a run's jobs on a drive that did not run, from the trials of a run that kept their drives' requests."""

from collections.abc import Collection, Mapping, Sequence
from math import exp, log, sqrt
from statistics import fmean, median, stdev
from typing import NamedTuple

from assay.model.drive_profile import DriveProfile
from assay.model.errors import BadInputError
from assay.model.record import Record, Span
from assay.model.signature import Requests
from assay.model.trial_summary import TrialSummary
from assay.predict.replay import Replay, busy_elsewhere_s, busy_s, by_node
from assay.record.folder import RunFolder
from assay.report.words import percent
from assay.stats.closed_network import computing_time, network_time
from assay.stats.drive_use import LATE_SHARE
from assay.stats.sample import is_valid
from assay.stats.trial_summary import summaries_of

ERROR_95 = 0.21
"""Of 95 % of the kept runs' cases the predicted time was off by at most this factor, as a natural logarithm
(`benchmarks/prediction.py`): 23 % more, or 19 % less."""
NORMAL_95 = 1.96


class OnDrive(NamedTuple):
    """What one trial, whose time is `elapsed_s`, would have taken on another drive.

    `busy_s` is how long its drives were busy while its jobs ran, `busy_there_s` how long they would be with the other
    drive among them; of several nodes, those of the busiest node. `computing_s` follows from the time. `replaced` are
    the media whose data the other drive holds, `late_share` what of the bytes moved was written after the jobs had
    ended: it is in no busy time.
    """

    elapsed_s: float
    predicted_s: float
    computing_s: float
    busy_s: Sequence[float]
    busy_there_s: Sequence[float]
    replaced: Sequence[str]
    late_share: float


class DrivePrediction(NamedTuple):
    """A group of like trials on one placement, and its predicted time on another drive.

    `factors` tell the group from others, the placement left out. `low_s` and `high_s` are the 95 % interval. `worth` is
    True or False where all of it lies beyond or within the threshold. None is not known: the threshold lies within it,
    or for the `reason`.
    """

    factors: Mapping[str, str]
    placement: str
    trials: Sequence[OnDrive]
    low_s: float
    high_s: float
    worth: bool | None
    reason: str

    @property
    def elapsed_s(self) -> float:
        """The mean of the measured times."""
        return fmean(trial.elapsed_s for trial in self.trials)

    @property
    def predicted_s(self) -> float:
        """The mean of the predicted times."""
        return fmean(trial.predicted_s for trial in self.trials)


def predict_drive(
    folder: RunFolder, drive: DriveProfile, roles: Collection[str] | None, replay: Replay, placement: str | None = None
) -> list[DrivePrediction]:
    """Predict the times of all groups of a run with the data of some roles, or of all, on another drive.

    From the trials of one `placement`; by default the first of the plan. Raises BadInputError where the run kept no
    requests, where the placement or a role is unknown, or where times are those of a scale model.
    """
    plan = folder.plan()
    summaries, _ = summaries_of(folder, plan)
    names = list(dict.fromkeys(trial.placement.name for trial in plan.trials if not trial.zero_delay))
    chosen = names[0] if placement is None else placement
    if chosen not in names:
        raise BadInputError(f"{folder.path} has no placement {chosen!r}; it has {', '.join(names)}")
    groups: dict[tuple[tuple[str, str], ...], list[OnDrive]] = {}
    for summary in summaries:
        if summary.trial.placement.name == chosen and is_valid(summary):
            trial = _on_drive(folder, summary, drive, roles, replay)
            factors = {name: level for name, level in summary.factors.items() if name != "placement"}
            groups.setdefault(tuple(factors.items()), []).append(trial)
    if not groups:
        raise BadInputError(f"{folder.path} has no valid trial with placement {chosen}, so nothing can be predicted")
    return [_prediction(dict(factors), chosen, trials, plan.worth) for factors, trials in groups.items()]


def _prediction(factors: Mapping[str, str], placement: str, trials: Sequence[OnDrive], worth: float) -> DrivePrediction:
    """The mean of a group, with an interval that no drive can leave.

    A job gains no more than the time that its drives were busy, and loses no more than the other drive is busy.
    """
    ratios = [log(trial.predicted_s / trial.elapsed_s) for trial in trials]
    ratio, spread = fmean(ratios), stdev(ratios) / sqrt(len(ratios)) if len(ratios) > 1 else 0.0
    most_gained = fmean(sum(trial.busy_s) / trial.elapsed_s for trial in trials)
    most_lost = fmean(sum(trial.busy_there_s) / trial.elapsed_s for trial in trials)
    noise = exp(NORMAL_95 * spread)
    low = max(exp(ratio - ERROR_95), 1 - most_gained) / noise
    high = min(exp(ratio + ERROR_95), 1 + most_lost) * noise
    reason = ""
    if (late := median(trial.late_share for trial in trials)) >= LATE_SHARE:
        reason = f"{percent(late)} of what the jobs moved was written only after they had ended, and is in no busy time"
    verdict = None if reason else True if high <= 1 - worth else False if low > 1 - worth else None
    mean_s = fmean(trial.elapsed_s for trial in trials)
    return DrivePrediction(factors, placement, trials, low * mean_s, high * mean_s, verdict, reason)


def _on_drive(
    folder: RunFolder, summary: TrialSummary, drive: DriveProfile, roles: Collection[str] | None, replay: Replay
) -> OnDrive:
    trial, record = summary.trial, folder.record(summary.id)
    if record.modelled:
        raise BadInputError(f"trial {trial.id} ran on a scale model: predict from trials on a cluster of full speed")
    logs = folder.requests(trial.id)
    if not logs:
        why = "its record has no log of the requests to its drives; run the experiment with `keep_requests: true`"
        raise BadInputError(f"trial {trial.id} can't be predicted from: {why}")
    _check(logs, roles, trial.id)
    spans = [Span(begin_ms=job.started_ms, end_ms=job.finished_ms) for job in record.jobs]
    elapsed_s = record.totals.elapsed_s if record.totals else 0.0
    slowed = drive.model_copy(update={"slowdown": _slowdown(record)})
    by_nodes = []
    for node_logs in by_node(logs).values():
        before = [busy_s(of_medium, spans) for of_medium in node_logs.values()]
        kept = (
            () if roles is None else {role for of_medium in node_logs.values() for role in of_medium.roles} - {*roles}
        )
        there = [busy_s(of_medium, spans, kept) for of_medium in node_logs.values()] if kept else []
        there.append(busy_elsewhere_s(list(node_logs.values()), spans, roles, slowed, replay))
        by_nodes.append((before, there))
    before, _ = max(by_nodes, key=lambda node: max(node[0]))
    _, there = max(by_nodes, key=lambda node: max(node[1]))
    if max(before) > elapsed_s:
        raise BadInputError(
            f"trial {trial.id} took {elapsed_s:.1f} s, and a drive was busy for {max(before):.1f} s of it"
        )
    computing_s = computing_time(elapsed_s, before)
    replaced = sorted({medium for node in by_node(logs).values() for medium, log in node.items() if _has(log, roles)})
    predicted_s = network_time([computing_s, *there])
    return OnDrive(elapsed_s, predicted_s, computing_s, before, there, replaced, summary.late_share or 0.0)


def _has(log: Requests, roles: Collection[str] | None) -> bool:
    return roles is None or bool({*log.roles} & {*roles})


def _check(logs: Mapping[str, Requests], roles: Collection[str] | None, trial: str) -> None:
    known = {role for of_medium in logs.values() for role in of_medium.roles}
    for role in roles or ():
        if role not in known:
            raise BadInputError(
                f"no request of trial {trial} is of role {role!r}; its roles are {', '.join(sorted(known))}"
            )
    dropped = sum(of_medium.dropped for of_medium in logs.values())
    if dropped:
        raise BadInputError(
            f"{dropped} requests are missing from the log of trial {trial}, so that it can't be replayed"
        )


def _slowdown(record: Record) -> int:
    """How many times slower the trial's emulated drives were made: the other drive is made as slow."""
    return max((int((medium.model_extra or {}).get("slowdown", 1)) for medium in record.trial.media), default=1)
