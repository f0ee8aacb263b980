"""Recurring jobs before and after a change: how many times as long they take, beside what their input and drift did.

The logarithm of a time is that of its job, of its input by a slope, of its night, of the change, and chance. All jobs
of a night share what disturbs it, so that nights are what is counted: an interval comes from how much they differ among
themselves, on either side of the change (Welch). What a night did to the controls, which the change cannot touch, is
taken out of all jobs of that night, and so is a drift from the nights before to those after.

A slope lies between 0 (the time does not depend on the input) and 1 (it grows in proportion). As jobs say little of
their own where their inputs hardly vary, each slope is drawn towards what all jobs say together, and that towards the
middle: each as far as it is uncertain, by the variance of a number that lies anywhere from 0 to 1.

Sources: B. Welch, The generalization of Student's problem when several different population variances are involved,
Biometrika 34 (1947); R. DerSimonian and N. Laird, Meta-analysis in clinical trials, Controlled Clinical Trials 7
(1986).
"""

from enum import StrEnum
from math import exp, log
from typing import NamedTuple

import numpy as np

from assay.model.signature import Array
from assay.stats.fit import Contrast
from assay.stats.noise import ALPHA

LEAST_NIGHTS = 3
"""On either side of the change: of two, the spread of some job among many is nearly nothing by chance."""
MOST_NIGHTS = 60
"""Nobody waits for more."""
_MIDDLE, _ANYWHERE = 0.5, 1 / 12
"""The mean and the variance of a slope that lies anywhere from 0 to 1."""
_LEAST_VARIANCE = 1e-10
"""Times are whole milliseconds, so that equal ones differ unseen."""


class ChangeVerdict(StrEnum):
    """What is known of a change's effect."""

    HELPED = "helped"
    LONGER = "took longer"
    NO_DIFFERENCE = "no difference"
    NOT_KNOWN = "not known"
    CHANGED = "changed, but nobody knows by what"


class JobNights(NamedTuple):
    """Times by row and night, (rows, nights), NaN where there is none.

    `log_s` are logarithms of seconds and `log_bytes` of the bytes of input, 0 in all nights of a row whose input is not
    known. `after` tells which nights are after the change, `jobs` which rows are whole jobs, in place of parts or sums
    of them, and `controls` which jobs the change cannot touch.
    """

    log_s: Array
    log_bytes: Array
    after: Array
    jobs: Array
    controls: Array


class Effect(NamedTuple):
    """The logarithm of how many times as long something takes after a change.

    `variances` are those of its mean before and after, by so many `nights` each; `of_input` is that of its adjustment
    for input, which more nights do not change.
    """

    log: float
    variances: tuple[float, float]
    nights: tuple[int, int]
    of_input: float

    def contrast(self, more: int = 0) -> Contrast:
        """With its standard error and degrees of freedom, as they would be with so many more nights after."""
        nights = (self.nights[0], self.nights[1] + more)
        before, after = (
            max(_LEAST_VARIANCE, variance * known / count)
            for variance, known, count in zip(self.variances, self.nights, nights, strict=True)
        )
        whole = before + after + self.of_input
        freedom = whole**2 / (before**2 / (nights[0] - 1) + after**2 / (nights[1] - 1))
        return Contrast(self.log, whole**0.5, freedom)

    def more_nights(self, worth: float, comparisons: int = 1, unseen: float = 0.0) -> int | None:
        """How many more nights after the change would tell, if all else stays as it is; None for over 60."""
        for more in range(1, MOST_NIGHTS + 1):
            contrast = self.contrast(more)
            if verdict_of(contrast, contrast.p() * comparisons, worth, unseen) is not ChangeVerdict.NOT_KNOWN:
                return more
        return None


def verdict_of(contrast: Contrast, p: float, worth: float, unseen: float = 0.0) -> ChangeVerdict:
    """What a contrast, whose corrected p-value is `p`, tells of a difference of `worth` (0.1 is 10 %) or more.

    `unseen` is the share of their time that the controls may have gained by the change themselves: so much more may
    others have gained than is seen beside the controls.
    """
    if p <= ALPHA:
        return ChangeVerdict.HELPED if contrast.log < 0 else ChangeVerdict.LONGER
    interval = contrast.interval()
    if interval.low * (1 - unseen) > 1 - worth and interval.high < 1 + worth:
        return ChangeVerdict.NO_DIFFERENCE
    return ChangeVerdict.NOT_KNOWN


class _Slopes(NamedTuple):
    """Of each row the slope, its variance beside that of the `shared` slope, and how far it follows that one."""

    value: Array
    variance: Array
    followed: Array
    shared_variance: float


class Adjusted:
    """Times without what their input did to them, and what their nights did to the controls."""

    def __init__(self, nights: JobNights) -> None:
        """Without controls nothing is known of the nights, and drift stays in all effects."""
        nights = nights._replace(log_bytes=np.where(np.isnan(nights.log_s), np.nan, nights.log_bytes))
        self._after = nights.after
        self._slopes = _slopes(nights)
        self._by_input = nights.log_s - self._slopes.value[:, None] * nights.log_bytes
        self._controls = nights.controls / max(1, nights.controls.sum())
        before, after = self._both(nights.log_bytes)
        self._grown = np.nan_to_num(after - before)
        self._left = self._by_input
        if nights.controls.any():
            before, after = self._both(self._by_input[nights.controls])
            self._left = self._by_input - _means(
                self._by_input[nights.controls] - (before + after)[:, None] / 2, axis=0
            )

    def row(self, row: int) -> Effect | None:
        """The effect on one row; None where it has fewer than three nights, with controls in them, on a side."""
        return self._effect(self._only(row), self._left, self._controls)

    def drift(self, row: int | None = None) -> Effect | None:
        """What happened to all controls, or to one row, beside its input: the change's effect is in a row's."""
        weights = self._controls if row is None else self._only(row)
        return self._effect(weights, self._by_input, np.zeros_like(self._controls))

    def total(self, seconds: Array) -> Effect | None:
        """The effect on the sum of rows that take so many seconds before the change; 0 is left out."""
        shares = np.zeros(len(seconds))
        for row in np.flatnonzero(seconds):
            if effect := self.row(int(row)):
                # The mean of a ratio is above that of its logarithm, by chance alone.
                shares[row] = seconds[row] * exp(effect.log - effect.contrast().error ** 2 / 2)
        used = shares > 0
        if not used.any():
            return None
        effect = self._effect(shares / shares.sum(), self._left, self._controls)
        return effect and effect._replace(log=log(shares.sum() / seconds[used].sum()))

    def _effect(self, weights: Array, values: Array, beside: Array) -> Effect | None:
        """The weighted mean of rows' effects, beside that of other rows whose inputs were adjusted for, too."""
        used = weights != 0
        difference, variances, counts = 0.0, [], []
        for sign, period in ((-1, ~self._after), (1, self._after)):
            chosen = values[np.ix_(used, period)]
            known = ~np.isnan(chosen)
            of_row = known.sum(axis=1)
            if not len(of_row) or of_row.min() < LEAST_NIGHTS:
                return None
            means = _means(chosen, axis=1)
            left = np.where(known, chosen - means[:, None], 0.0) * (of_row / (of_row - 1))[:, None] ** 0.5
            by_night = (weights[used] / of_row) @ left
            difference += sign * float(weights[used] @ means)
            variances.append(float(by_night @ by_night))
            counts.append(int(known.any(axis=0).sum()))
        grown = (weights - beside) * self._grown
        of_rows = float(grown**2 @ self._slopes.variance)
        shared = float(grown @ self._slopes.followed) ** 2 * self._slopes.shared_variance
        return Effect(difference, (variances[0], variances[1]), (counts[0], counts[1]), of_rows + shared)

    def _only(self, row: int) -> Array:
        weights = np.zeros(len(self._grown))
        weights[row] = 1.0
        return weights

    def _both(self, values: Array) -> tuple[Array, Array]:
        """The rows' means before and after."""
        return _means(values[:, ~self._after], axis=1), _means(values[:, self._after], axis=1)


def _means(values: Array, axis: int) -> Array:
    """Of what is there; NaN where nothing is."""
    known = ~np.isnan(values)
    counts = known.sum(axis=axis)
    sums = np.where(known, values, 0.0).sum(axis=axis)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _slopes(nights: JobNights) -> _Slopes:
    """How much of its input's growth a time follows, by what varies within the nights on either side."""
    centred = []
    for values in (nights.log_bytes, nights.log_s):
        left = values.copy()
        for period in (~nights.after, nights.after):
            left[:, period] -= _means(values[:, period], axis=1)[:, None]
        centred.append(np.nan_to_num(left))
    inputs, times = centred
    squares = (inputs**2).sum(axis=1)
    varies = squares > 0
    by_row = np.divide((inputs * times).sum(axis=1), squares, out=np.zeros_like(squares), where=varies)
    freedom = np.maximum(1, (~np.isnan(nights.log_s)).sum(axis=1) - 3)
    variance = np.maximum(_LEAST_VARIANCE, ((times - by_row[:, None] * inputs) ** 2).sum(axis=1) / freedom)
    precision = squares / variance
    weights = np.where(varies & nights.jobs, precision / (1 + precision * _ANYWHERE), 0.0)
    shared_precision = float(weights.sum()) + 1 / _ANYWHERE
    shared = (float(weights @ by_row) + _MIDDLE / _ANYWHERE) / shared_precision
    followed = 1 / (1 + precision * _ANYWHERE)
    value = np.clip((1 - followed) * by_row + followed * shared, 0.0, 1.0)
    return _Slopes(value, _ANYWHERE * followed, followed, 1 / shared_precision)
