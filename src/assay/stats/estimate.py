"""Figures of a decision with their confidence intervals, and where the time of a run went."""

from collections.abc import Iterable, Sequence
from statistics import fmean, median

from assay.model.base import Frozen
from assay.model.trial_summary import TrialSummary
from assay.stats.fit import Contrast


def known_median(values: Iterable[float | None]) -> float | None:
    """The median of those that are known."""
    known = [value for value in values if value is not None]
    return median(known) if known else None


class Estimate(Frozen):
    """A figure with its 95 % confidence interval (None where nothing says how far to trust it).

    `own_low` and `own_high` are the interval by the run's own repetitions alone, with no noise borrowed.
    """

    value: float
    low: float | None = None
    high: float | None = None
    own_low: float | None = None
    own_high: float | None = None

    @property
    def alone(self) -> "Estimate | None":
        """The figure with its interval by the run's own repetitions alone; None where there is none."""
        if self.own_low is None or self.own_high is None:
            return None
        return Estimate(value=self.value, low=self.own_low, high=self.own_high)

    def times(self, factor: float) -> "Estimate":
        """All of it by a factor; by one below 0 the ends change places."""
        ends = (self.low, self.high, self.own_low, self.own_high)
        if factor < 0:
            ends = (self.high, self.low, self.own_high, self.own_low)
        low, high, own_low, own_high = (None if end is None else end * factor for end in ends)
        return Estimate(value=self.value * factor, low=low, high=high, own_low=own_low, own_high=own_high)


class Split(Frozen):
    """Where the time of a run went, in seconds; the parts add up to the mean run, from first submission to last end.

    `storage_s` is the time above that with zero storage delay, None without a baseline (then it is in `computing_s`).
    `start_up_s` is the time within jobs during which no task ran; `between_jobs_s` that outside all jobs.
    """

    computing_s: float
    storage_s: Estimate | None
    start_up_s: float
    between_jobs_s: float


def saved_share(contrast: Contrast, own: Contrast | None = None) -> Estimate:
    """The share of the second time that the first one of a contrast is below it, with its confidence interval.

    `own` is the contrast by the run's own repetitions alone.
    """
    interval, alone = contrast.interval(), own and own.interval()
    return Estimate(
        value=1 - contrast.ratio,
        low=1 - interval.high,
        high=1 - interval.low,
        own_low=alone and 1 - alone.high,
        own_high=alone and 1 - alone.low,
    )


def split_of(summaries: Sequence[TrialSummary], storage: Estimate | None) -> Split | None:
    """By arithmetic means over the trials, since parts must add up; None where they don't, or are not known.

    Jobs that ran at once have each their own times, which don't add up to the batch's.
    """
    known = [
        summary
        for summary in summaries
        if summary.jobs and not summary.jobs_overlap and all(job.active_s is not None for job in summary.jobs)
    ]
    if not known:
        return None
    jobs_s = fmean(sum(job.elapsed_s for job in summary.jobs) for summary in known)
    active_s = fmean(sum(job.active_s or 0.0 for job in summary.jobs) for summary in known)
    whole_s = fmean(summary.jobs_span_s or 0.0 for summary in known)
    stored_s = 0.0 if storage is None else max(0.0, min(storage.value, jobs_s))
    computing_s = max(0.0, active_s - stored_s)
    return Split(
        computing_s=computing_s,
        storage_s=None if storage is None else storage.model_copy(update={"value": stored_s}),
        start_up_s=jobs_s - stored_s - computing_s,
        between_jobs_s=max(0.0, whole_s - jobs_s),
    )
