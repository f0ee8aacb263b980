"""The predictor of times on other drives: from what a run's trials ask of drives, by a network of queues."""

from collections.abc import Mapping, Sequence
from math import exp, hypot, log, sqrt
from statistics import fmean, stdev
from typing import NamedTuple

from assay.model.demand import DriveDemand, OtherDrive
from assay.model.prediction import PredictedTrial, PredictedVerdict
from assay.model.registry import PREDICTORS
from assay.model.trial_summary import MeasuredRun, TrialSummary
from assay.report.words import percent
from assay.stats.closed_network import computing_time, network_time
from assay.stats.drive_use import ended_before_its_writes
from assay.stats.estimate import Estimate
from assay.stats.sample import PLACEMENT, Trials, is_valid
from assay.stats.threshold import predicted_verdict

NAME = "replay"
"""What reports call this predictor."""
ERROR_95 = 0.25
"""By how much the predicted time was off at most in the kept run whose requests are replayed, as a natural logarithm:
28 % more, or 22 % less. With so few cases that is what 95 % of them have (`docs/make_predictions.py` prints it and the
ranges below)."""
NORMAL_95 = 1.96


class Range(NamedTuple):
    """What was seen of something in the runs by which predictions were judged."""

    title: str
    low: float
    high: float


DEPTH = Range("requests under way at once", 1.1, 20)
REQUEST_BYTES = Range("bytes a request", 90_000, 430_000)
"""Half of the least and twice the most mean of the trials of `experiments/prediction.yaml`."""
DRIVES = Range("busy drives in a node", 0, 2)
"""As in the kept runs."""


class OnDrive(NamedTuple):
    """What one trial, whose time is `elapsed_s`, would have taken on another drive.

    `computing_s` follows from its time. `busy_s` is how long its busiest drives were busy, stage by stage added up,
    `busy_there_s` how long they would be with the other drive among them.
    """

    trial: str
    elapsed_s: float
    predicted_s: float
    computing_s: float
    busy_s: float
    busy_there_s: float


class DrivePrediction(NamedTuple):
    """A group of like trials on one placement, and its predicted time on another drive.

    `factors` tell the group from others, the placement left out. `low_s` and `high_s` are the 95 % interval. The
    verdict is by the interval of the saving, but where there is a `reason` to know nothing; the `reason` may be that
    nothing moves, too.
    """

    factors: Mapping[str, str]
    placement: str
    demand: DriveDemand
    trials: Sequence[OnDrive]
    low_s: float
    high_s: float
    verdict: PredictedVerdict
    reason: str
    surer: str

    @property
    def drive(self) -> OtherDrive:
        """The drive that it is predicted on."""
        return self.demand.drive

    @property
    def elapsed_s(self) -> float:
        """The mean of the measured times."""
        return fmean(trial.elapsed_s for trial in self.trials)

    @property
    def predicted_s(self) -> float:
        """The mean of the predicted times."""
        return fmean(trial.predicted_s for trial in self.trials)

    @property
    def saving(self) -> Estimate:
        """The share of the measured time that it saves."""
        ratios = (seconds / self.elapsed_s for seconds in (self.predicted_s, self.high_s, self.low_s))
        value, low, high = (1 - ratio for ratio in ratios)
        return Estimate(value=value, low=low, high=high)

    @property
    def basis(self) -> str:
        """What it rests on, in a few words."""
        count = len(self.trials)
        trials = "a trial" if count == 1 else f"{count} trials"
        return f"from {trials} on {self.placement} alone: {lies_on(self.demand)}"


def lies_on(demand: DriveDemand) -> str:
    """What data lie on the other drive, in a few words."""
    lies = f"data of {', '.join(demand.drive.roles)}" if demand.drive.roles else "all data"
    drive = demand.title if demand.drive.shared_by else f"one {demand.title}"  # a title has the part of a shared drive
    *others, last = demand.replaced or ("",)  # a trial may have no data of these roles
    of_several = f" of {', '.join(others)} and {last} together" if others else ""
    return f"{lies}{of_several} on {drive}"


def predictions(run: MeasuredRun, error_95: float = ERROR_95) -> list[DrivePrediction]:
    """The times of all groups of like trials whose demands on other drives are known.

    Of trials on several kinds of machine those on the first count. `error_95` is the error of a predicted time, as a
    natural logarithm, that 95 % of predictions do not exceed.
    """
    by_id = {summary.id: summary for summary in run.trials if is_valid(summary)}
    machines = Trials.of(run.trials).machine_by_trial
    groups: dict[tuple[tuple[str, str], ...], list[tuple[TrialSummary, DriveDemand]]] = {}
    for demand in run.demands:
        summary = by_id.get(demand.trial)
        if summary is not None and summary.elapsed_s == demand.elapsed_s:  # else it is of an earlier record
            levels = {**summary.factors, PLACEMENT: demand.drive.name}
            group = groups.setdefault(tuple(levels.items()), [])
            if not group or machines[group[0][0].id] == machines[summary.id]:
                group.append((summary, demand))
    return [_prediction(group, run.plan.worth, run.plan.prior.deviation, error_95) for group in groups.values()]


def _prediction(
    group: Sequence[tuple[TrialSummary, DriveDemand]], worth: float, deviation: float, error_95: float
) -> DrivePrediction:
    """The mean of a group, with its interval and what that decides."""
    summary, demand = group[0]
    demands = [demand for _, demand in group]
    trials = [on_drive(demand) for demand in demands]
    interval, spread = _interval(demands, trials, deviation, error_95)
    reason = surer = ""
    is_judged = True
    if not _moves_data(demands):
        reason = f"{summary.trial.workload.name} has no {' or '.join(demand.drive.roles)} data"
    elif unknown := _not_known(group):
        (reason, surer), is_judged = unknown, False
    else:
        surer = "repeat the trials" if NORMAL_95 * spread > error_95 else "run it on that drive, emulated"
    factors = {name: level for name, level in summary.factors.items() if name != PLACEMENT}
    placement = summary.trial.placement.name
    made = DrivePrediction(factors, placement, demand, trials, *interval, "not known", reason, surer)
    return made._replace(verdict=predicted_verdict(made.saving, worth)) if is_judged else made


def _moves_data(demands: Sequence[DriveDemand]) -> bool:
    """Whether any of the trials has data that the other drive would get."""
    return any(demand.replaced for demand in demands)


def _interval(
    demands: Sequence[DriveDemand], trials: Sequence[OnDrive], deviation: float, error_95: float
) -> tuple[tuple[float, float], float]:
    """The interval of a mean predicted time, and the standard error of the logarithm of the trials' mean ratio.

    `deviation` is that of the logarithm of one trial's time. A job gains no more than the time that its drives were
    busy, which is measured. How long the other drive is busy is not, so that it bounds nothing. The interval of the
    time has the noise of the measured times besides, from which the computing time is worked out. Where no data
    move no such time is needed, and the measured time is the prediction, without an error.
    """
    predicted_s = fmean(trial.predicted_s for trial in trials)
    if not _moves_data(demands):
        return (predicted_s, predicted_s), 0.0
    ratios = [log(trial.predicted_s / trial.elapsed_s) for trial in trials]
    ratio, spread = fmean(ratios), stdev(ratios) / sqrt(len(ratios)) if len(ratios) > 1 else 0.0
    most_gained = fmean(sum(sum(stage.busy_s) for stage in demand.stages) / demand.elapsed_s for demand in demands)
    apart = exp(NORMAL_95 * spread)
    low = max(exp(ratio - error_95), 1 - most_gained) / apart
    high = exp(ratio + error_95) * apart
    noise = NORMAL_95 * deviation / sqrt(len(trials))
    mean_s = fmean(trial.elapsed_s for trial in trials)
    low_s = min(mean_s * exp(ratio - hypot(ratio - log(low), noise)), predicted_s)
    high_s = max(mean_s * exp(ratio + hypot(log(high) - ratio, noise)), predicted_s)
    return (low_s, high_s), spread


def _not_known(group: Sequence[tuple[TrialSummary, DriveDemand]]) -> tuple[str, str] | None:
    """Why nothing is known of a group's verdict, and what would help; None where nothing is against it."""
    if any(ended_before_its_writes(summary) for summary, _ in group):
        late = max(summary.late_share or 0.0 for summary, _ in group)
        reason = f"{percent(late)} of what the jobs moved was written only after they had ended, and is in no busy time"
        return reason, "run jobs that take longer, or with less memory for the page cache"
    for _, demand in group:
        drives = max(sum(s > 0 for s in busy) for stage in demand.stages for busy in (stage.busy_s, stage.busy_there_s))
        for seen, value in ((DEPTH, demand.depth), (REQUEST_BYTES, demand.request_bytes), (DRIVES, drives)):
            if not seen.low <= value <= seen.high:
                reason = (
                    f"{value:,.3g} {seen.title} is outside of what predictions were judged by, {seen.low:,.3g} to "
                    f"{seen.high:,.3g}"
                )
                return reason, "run it on that drive, emulated"
    return None


def on_drive(demand: DriveDemand) -> OnDrive:
    """A trial's time on the other drive: that of each stage, added up.

    Each stage takes as much longer or shorter as the network does, so that equal drives give the measured time. So does
    a drive that gets no data of the trial.
    """
    predicted_s = computing_s = 0.0
    for stage in demand.stages:
        stage_computing_s = computing_time(stage.elapsed_s, stage.busy_s)
        computing_s += stage_computing_s
        here_s = network_time([stage_computing_s, *stage.busy_s])
        there_s = network_time([stage_computing_s, *stage.busy_there_s])
        predicted_s += stage.elapsed_s * there_s / here_s if here_s else 0.0
    if not demand.replaced:
        predicted_s = demand.elapsed_s
    busy_s = sum(max(stage.busy_s) for stage in demand.stages)
    busy_there_s = sum(max(stage.busy_there_s) for stage in demand.stages)
    return OnDrive(demand.trial, demand.elapsed_s, predicted_s, computing_s, busy_s, busy_there_s)


def predict(run: MeasuredRun) -> list[PredictedTrial]:
    """The trials on other drives that a run's demands foretell."""
    return [
        PredictedTrial(
            like=prediction.demand.trial,
            levels={PLACEMENT: prediction.drive.name},
            elapsed_s=prediction.predicted_s,
            low_s=prediction.low_s,
            high_s=prediction.high_s,
            basis=prediction.basis,
            verdict=prediction.verdict,
            reason=prediction.reason,
            surer=prediction.surer,
        )
        for prediction in predictions(run)
    ]


PREDICTORS.add(NAME, predict)
