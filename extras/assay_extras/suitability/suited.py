"""Which workload suits which of two levels of a factor, such as two stores: what it moves, against the ratio of times.

A workload is placed by the bytes that it moves on the base's media for each second that its tasks compute. Beside it
stands the time with the other level over that with the base. Through the workloads' logarithms goes a line by least
squares, with the interval of its mean by Student's t; it is not drawn from fewer than three workloads. Each
combination of the other factors' levels has a line of its own: one workload on two drives is one workload twice, and no
two points of a line. See docs/explanation/statistics.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import combinations
from math import exp, log, sqrt
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np

from assay.model.base import Frozen
from assay.model.installed import counted_by_tasks, why_not_held
from assay.model.record import JOBS, Record
from assay.model.trial import Plan
from assay.model.trial_summary import TrialSummary
from assay.stats.comparison import LEAST_SECONDS, holm
from assay.stats.estimate import Estimate
from assay.stats.fit import Contrast, Fit, fits
from assay.stats.nodes import whole_use
from assay.stats.noise import ALPHA, LEVEL
from assay.stats.sample import BASES, WORK, Levels, Trials, TrialSample, by_levels, in_plan_order
from assay.stats.threshold import threshold_of

LEAST_WORKLOADS = 3
"""Through two points any line goes."""
STEPS = 200
"""Places at which a line's interval is looked at between its ends."""
FACTORS = ("store",)
"""The factors that a workload's bytes for its computing may tell about."""


class Side(StrEnum):
    """On which side of the reader's threshold a workload lies."""

    BASE = "base"
    LEVEL = "level"
    EITHER = "either"
    NOT_KNOWN_YET = "not known yet"


class SuitedWorkload(Frozen):
    """One workload, all else equal (`levels`).

    `moved` are the bytes that it read and wrote on the base's media for a second of its tasks' processor time, with the
    interval over the base's `base_trials` (none for one). Where a device is not the nodes' own, some of them are
    `moved_estimated`: those of the nodes' processes. `ratio` is the time with the level over that with the base, with
    its 95 % interval, which borrows noise as all comparisons do (none where nothing was repeated).
    """

    levels: Mapping[str, str]
    base_trials: int
    trials: int
    moved: Estimate
    moved_estimated: bool
    ratio: Estimate
    side: Side


class ImpossibleWorkload(Frozen):
    """One workload that ran with the base and can't run with the level, and why."""

    levels: Mapping[str, str]
    reason: str


class SuitabilityLine(Frozen):
    """log(ratio) = `intercept` + `slope` x log(bytes per processor second), from `workloads` points.

    `deviation` is that of a workload from the line, as a logarithm; `middle` and `squares` are the mean of the
    logarithms of bytes and the sum of their squared distances from it. `least` and `most` are the ends of what was
    measured: beyond them the line says nothing.
    """

    intercept: float
    slope: float
    deviation: float
    workloads: int
    middle: float
    squares: float
    least: float
    most: float

    @property
    def freedom(self) -> int:
        """Degrees of freedom."""
        return self.workloads - 2

    @property
    def slope_interval(self) -> tuple[float, float]:
        """The slope's 95 % interval."""
        off = self._quantile * self.deviation / sqrt(self.squares)
        return self.slope - off, self.slope + off

    @property
    def tells(self) -> bool:
        """Whether the ratio clearly depends on what is moved."""
        low, high = self.slope_interval
        return low > 0 or high < 0

    def ratio(self, moved: float) -> Estimate:
        """The ratio of times of a workload that moves so many bytes per processor second, on average over such."""
        away = log(moved) - self.middle
        middle = self.intercept + self.slope * log(moved)
        off = self._quantile * self.deviation * sqrt(1 / self.workloads + away**2 / self.squares)
        return Estimate(value=exp(middle), low=exp(middle - off), high=exp(middle + off))

    def crossing(self, threshold: float) -> Estimate | None:
        """Where it crosses a ratio, in bytes per processor second; None where it does not within what was measured.

        An end of the interval is None where the line's own interval holds the threshold up to the end of what was
        measured.
        """
        if (
            not self.slope
            or not self.least <= (value := exp((log(threshold) - self.intercept) / self.slope)) <= self.most
        ):
            return None
        places = self.places
        inside = [self._holds(place, threshold) for place in places]
        low = (
            None
            if inside[0]
            else next((place for place, is_inside in zip(places, inside, strict=True) if is_inside), value)
        )
        high = (
            None
            if inside[-1]
            else next((place for place, is_inside in zip(places[::-1], inside[::-1], strict=True) if is_inside), value)
        )
        return Estimate(value=value, low=low, high=high)

    @property
    def places(self) -> list[float]:
        """Bytes per processor second from the least to the most that was measured, evenly by their logarithms."""
        return [float(place) for place in np.geomspace(self.least, self.most, STEPS + 1)]

    def _holds(self, moved: float, threshold: float) -> bool:
        known = self.ratio(moved)
        return (known.low or 0.0) <= threshold <= (known.high or 0.0)

    @property
    def _quantile(self) -> float:
        from scipy.special import stdtrit

        return float(stdtrit(self.freedom, (1 + LEVEL) / 2))


class Suitability(Frozen):
    """One level of a factor against its base over several workloads, by the reader's threshold.

    A level suits a workload if it saves at least the share `worth` of its time, the base if it saves as much of the
    level's; in between either does. `others` are the levels of all other factors, which its workloads share. Each of
    `workloads` is another one; they come with what moves most first. `impossible` are those that a store can't hold.
    `line` is None for fewer than 3 that differ in what they move.
    """

    factor: str
    base: str
    level: str
    worth: float
    others: Mapping[str, str]
    workloads: tuple[SuitedWorkload, ...]
    impossible: tuple[ImpossibleWorkload, ...]
    line: SuitabilityLine | None

    def suits(self, workload: SuitedWorkload) -> str:
        """Which one suits a workload: the base's or the level's name, `either`, or `not known yet`."""
        return {Side.BASE: self.base, Side.LEVEL: self.level}.get(workload.side, str(workload.side))

    @property
    def level_suits_below(self) -> float:
        """The ratio of times from which on the level suits."""
        return 1 - self.worth

    @property
    def base_suits_above(self) -> float:
        """The ratio of times from which on the base suits."""
        return 1 / (1 - self.worth)


class _Pair(NamedTuple):
    """One workload with two levels, before sides are corrected for all of them."""

    others: Levels
    fit: Fit
    contrast: Contrast
    moved: Estimate
    moved_estimated: bool
    base_trials: int


class _Compared(NamedTuple):
    """Two levels of a factor, and the share of the time that is worth a change."""

    factor: str
    base: str
    level: str
    worth: float


def suitabilities(plan: Plan, summaries: Sequence[TrialSummary], factors: Sequence[str] = FACTORS) -> list[Suitability]:
    """One for each two levels of a factor that at least two workloads ran with and whose bytes are known.

    There is one for each combination of the other factors' levels, such as the drives. The base is the usual one of the
    factor's levels where that is one of them, else the first.
    """
    by_id = {summary.id: summary for summary in summaries}
    suited: list[Suitability] = []
    for factor in factors:
        counted = [sample for sample in Trials.of(summaries).samples if factor in dict(sample.factors)]
        fitted = fits(counted, factor, plan.prior)
        levels = in_plan_order({level for fit in fitted.values() for level in fit.levels}, BASES.get(factor, ()))
        for base, level in combinations(levels, 2):
            by_others: dict[Levels, list[_Pair]] = {}
            for pair in _pairs(fitted, base, level, by_id):
                by_others.setdefault(_but_work(pair.others), []).append(pair)
            several = {others: pairs for others, pairs in by_others.items() if len(pairs) > 1}
            worth = threshold_of(plan).of(level)
            sides = _sides([pair for pairs in several.values() for pair in pairs], base, level, worth)
            suited += [
                _suitability(_Compared(factor, base, level, worth), others, pairs, sides, plan)
                for others, pairs in several.items()
            ]
    return suited


class MediaBytes(NamedTuple):
    """What a trial's media read and wrote together, and whether that is what the nodes' processes did."""

    bytes: float
    estimated: bool


def moved_by_processor_second(record: Record) -> MediaBytes | None:
    """Bytes on media for each second of the tasks' processor time; None where either is not known, or nothing moved."""
    milliseconds = record.totals and counted_by_tasks(record.trial.engine, record.totals.counters).get("cpu_ms")
    moved = media_bytes(record)
    if moved is None or not moved.bytes or not milliseconds:
        return None
    return moved._replace(bytes=moved.bytes / milliseconds * 1000)


def media_bytes(record: Record) -> MediaBytes | None:
    """Bytes that all media read and wrote while the jobs ran and what they wrote was written out; None if not known.

    By the devices' own reports where they make some, else by the machines' counters; of a device that nodes share with
    each other or with other programs, what the nodes' processes read and wrote.
    """
    use = whole_use(record, JOBS)
    return None if use.disk_bytes is None else MediaBytes(use.disk_bytes, use.disks_estimated)


def _pairs(fitted: Mapping[Levels, Fit], base: str, level: str, by_id: Mapping[str, TrialSummary]) -> Iterator[_Pair]:
    """Each workload that ran with both, where its bytes are known."""
    for others in by_levels(fitted):
        fit = fitted[others]
        if {base, level} <= set(fit.levels):
            figures = [by_id[sample.trial].figures.get("suitability") for sample in fit.trials[base]]
            moved = [MediaBytes(**figure) for figure in figures if figure is not None]
            if moved:
                mean, estimated = _mean([value.bytes for value in moved]), any(value.estimated for value in moved)
                yield _Pair(others, fit, fit.contrast(level, base), mean, estimated, len(moved))


def _mean(values: Sequence[float]) -> Estimate:
    """The geometric mean, with Student's interval where there are several values."""
    from scipy.special import stdtrit

    logs = [log(value) for value in values]
    middle = fmean(logs)
    if len(logs) < 2:
        return Estimate(value=exp(middle))
    off = float(stdtrit(len(logs) - 1, (1 + LEVEL) / 2)) * stdev(logs) / sqrt(len(logs))
    return Estimate(value=exp(middle), low=exp(middle - off), high=exp(middle + off))


def _but_work(others: Levels) -> Levels:
    """The levels of all factors that do not say what is computed."""
    return tuple(item for item in others if item[0] not in {*WORK, "variant"})


def _suitability(
    compared: _Compared, others: Levels, pairs: Sequence[_Pair], sides: Mapping[Levels, Side], plan: Plan
) -> Suitability:
    """Of one combination of the other factors' levels."""
    base, level = compared.base, compared.level
    workloads = []
    ordered = sorted(pairs, key=lambda pair: -pair.moved.value)
    for pair in ordered:
        interval = pair.contrast.interval() if _is_repeated(pair, base, level) else None
        low, high = (interval.low, interval.high) if interval else (None, None)
        workloads.append(
            SuitedWorkload(
                levels=dict(pair.others), base_trials=pair.base_trials, trials=len(pair.fit.trials[level]),
                moved=pair.moved, moved_estimated=pair.moved_estimated,
                ratio=Estimate(value=pair.contrast.ratio, low=low, high=high), side=sides[pair.others],
            )
        )  # fmt: skip
    return Suitability(
        **compared._asdict(), others=dict(others), workloads=tuple(workloads),
        impossible=tuple(_impossible(plan, compared, others)), line=_line(ordered),
    )  # fmt: skip


def _impossible(plan: Plan, compared: _Compared, others: Levels) -> Iterator[ImpossibleWorkload]:
    """The workloads of a plan that the base holds and the level can't, at these levels of the other factors."""
    if compared.factor != "store":
        return
    on_base = [trial for trial in plan.trials if trial.store.kind == compared.base]
    planned = {tuple(item for item in trial.factors.items() if item[0] != "store"): trial.workload for trial in on_base}
    for levels, workload in planned.items():
        known = dict(levels)
        reasons = filter(None, (why_not_held(spec.name, compared.level) for spec in workload.each))
        if all(known.get(name, level) == level for name, level in others) and (reason := next(reasons, "")):
            yield ImpossibleWorkload(levels=known, reason=reason)


def _sides(pairs: Sequence[_Pair], base: str, level: str, worth: float) -> dict[Levels, Side]:
    """Each workload's side; corrected for all of them, on all levels of other factors, and both thresholds (Holm)."""
    below, above = log(1 - worth), -log(1 - worth)
    asked = holm([pair.contrast.p(threshold) for pair in pairs for threshold in (below, above)])
    return {
        pair.others: _side(pair.contrast.log, below, above, p_below, p_above)
        if _is_repeated(pair, base, level) and _is_long(pair, base, level)
        else Side.NOT_KNOWN_YET
        for pair, p_below, p_above in zip(pairs, asked[::2], asked[1::2], strict=True)
    }


def _is_repeated(pair: _Pair, base: str, level: str) -> bool:
    return bool(pair.fit.noise_of(level, base).own_freedom)


def _is_long(pair: _Pair, base: str, level: str) -> bool:
    times: list[TrialSample] = [*pair.fit.trials[base], *pair.fit.trials[level]]
    return max(trial.elapsed_s for trial in times) >= LEAST_SECONDS


def _side(ratio: float, below: float, above: float, p_below: float, p_above: float) -> Side:
    """By the logarithm of a ratio, and how likely it is that it lies at either threshold."""
    if ratio < below and p_below <= ALPHA:
        return Side.LEVEL
    if ratio > above and p_above <= ALPHA:
        return Side.BASE
    return Side.EITHER if below < ratio < above and max(p_below, p_above) <= ALPHA else Side.NOT_KNOWN_YET


def _line(pairs: Sequence[_Pair]) -> SuitabilityLine | None:
    """Least squares; a workload lies off it by no less than its ratio's own error."""
    places = np.log([pair.moved.value for pair in pairs])
    ratios = np.array([pair.contrast.log for pair in pairs])
    if len({round(float(place), 9) for place in places}) < LEAST_WORKLOADS:
        return None
    middle = float(places.mean())
    squares = float(((places - middle) ** 2).sum())
    slope = float(((places - middle) * ratios).sum()) / squares
    intercept = float(ratios.mean()) - slope * middle
    off = float(((ratios - intercept - slope * places) ** 2).sum()) / (len(pairs) - 2)
    error = fmean(pair.contrast.error**2 for pair in pairs)
    return SuitabilityLine(
        intercept=intercept, slope=slope, deviation=sqrt(max(off, error)), workloads=len(pairs), middle=middle,
        squares=squares, least=exp(float(places.min())), most=exp(float(places.max())),
    )  # fmt: skip
