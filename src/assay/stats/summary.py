"""What a run says in short: medians per combination of factors, ratios between placements, outliers.

Source: B. Iglewicz and D. Hoaglin, How to Detect and Handle Outliers (1993): modified z-scores above 3.5.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import exp, hypot, log
from operator import attrgetter
from statistics import median

import numpy as np
from pydantic import ConfigDict

from assay.model.base import Frozen
from assay.model.doubt import Outcome
from assay.model.record import Phases, Source
from assay.model.trial import SHIPPED_PRIOR, ZERO_DELAY, NoisePrior
from assay.model.trial_summary import TrialSummary
from assay.stats.comparison import Comparison, compare
from assay.stats.estimate import known_median
from assay.stats.fit import noise_by_combination
from assay.stats.noise import ConfidenceInterval, Median, Noise, median_of
from assay.stats.sample import (
    MACHINE,
    PLACEMENT,
    Levels,
    Trials,
    TrialSample,
    by_levels,
    combinations,
    in_plan_order,
    is_struck_out,
    is_valid,
    is_wrong,
)

LEAST_VALUES = 5
"""Of fewer there is no telling which of them is the odd one."""
MOST_DEVIATIONS = 3.5
NORMAL = 1.4826
"""The standard deviation of normal values is so many times the median of their distances from the median."""


class Outlier(Frozen):
    """One trial and how it lies: `times` its combination's median time, so many robust standard deviations off.

    `deviations` is None where all the others took the same time, so that any other is infinitely far off.
    """

    trial: str
    factors: Levels
    elapsed_s: float
    times: float
    deviations: float | None

    @property
    def words(self) -> str:
        """In one clause."""
        off = "the others took all the same" if self.deviations is None else f"{self.deviations:.0f} deviations off"
        return f"{self.trial} took {self.times:.2f} times its combination's median, {off}"


def outliers(trials: Sequence[TrialSample]) -> list[Outlier]:
    """In the order of the samples' combinations; of combinations with fewer than 5 trials none are known."""
    marked = []
    for levels, alike in combinations(trials).items():
        if len(alike) < LEAST_VALUES:
            continue
        logs = np.log([sample.elapsed_s for sample in alike])
        distance = logs - np.median(logs)
        # The median of few distances is too small.
        scale = float(np.median(np.abs(distance)) * NORMAL * len(alike) / (len(alike) - 0.8))
        for sample, off in zip(alike, distance, strict=True):
            if abs(off) > MOST_DEVIATIONS * scale:
                marked.append(
                    Outlier(
                        trial=sample.trial, factors=levels, elapsed_s=sample.elapsed_s, times=float(np.exp(off)),
                        deviations=float(abs(off) / scale) if scale else None,
                    )
                )  # fmt: skip
    return marked


def in_words(comparison: Comparison) -> str:
    """One sentence without its full stop: the ratio, its interval, and whether it is significant.

    How many more repetitions are worth their time depends on a question: `stats.decision.More` says it of the verdict.
    """
    took = f"{comparison.level} took {comparison.ratio:.2f} times as long as {comparison.base}"
    if comparison.p is None:
        why = "there are no repetitions" if comparison.noise.own_freedom < 1 else "both take less than half a second"
        return f"{took}, not tested: {why}"
    intervals = (comparison.interval, comparison.own_interval)
    borrowed, own = (interval and f"{interval.low:.2f} to {interval.high:.2f}" for interval in intervals)
    alone = f", {own} by this run's repetitions alone" if own and own != borrowed else ""
    interval = f"95 % interval {borrowed}{alone}; " if comparison.shown_interval else ""
    if comparison.significant:
        return f"{took} ({interval}{basis(comparison)})"
    return f"{took}, not significant ({interval}{basis(comparison)})"


def basis(comparison: Comparison) -> str:
    """The trials that it comes from."""
    if comparison.pairs:
        return f"{comparison.pairs} pair{'' if comparison.pairs == 1 else 's'}"
    return f"{comparison.runs} against {comparison.base_runs} trials, unpaired"


def noise_words(noises: Sequence[Noise]) -> str:
    """A sentence: how much equal trials differ, and how much of that is borrowed from where; empty where none are."""
    if not noises:
        return ""
    differ, borrowed = _percents([noise.deviation for noise in noises]), _percents([noise.borrowed for noise in noises])
    where = prior_words(noises[0].prior)
    return f"Equal trials differ by about {differ}; {borrowed} of the weight of that figure is borrowed from {where}."


def prior_words(prior: NoisePrior) -> str:
    """`an assumption (8 % on any machine)`, or `64 earlier trials on this machine (3 %)`."""
    percent = f"{100 * prior.deviation:.0f} %"
    if prior.source == "history":
        return f"{prior.trials} earlier trials on this machine ({percent})"
    return f"an assumption ({percent} on any machine)"


def borrowed_words(noises: Sequence[Noise]) -> str:
    """A sentence: how much of the noise behind some intervals is borrowed from where; `noises` are at least one."""
    borrowed, where = _percents([noise.borrowed for noise in noises]), prior_words(noises[0].prior)
    return f"{borrowed} of the noise estimate behind these intervals comes from {where}, not from this run."


def _percents(shares: Sequence[float]) -> str:
    low, high = f"{100 * min(shares):.0f}", f"{100 * max(shares):.0f}"
    return f"{low} %" if low == high else f"{low} to {high} %"


class Group(Frozen):
    """All factors but the placement: what is compared within it differs in the placement only.

    Further factors of an experiment are fields as well. `machine` is a short name of the kind of machine: trials of
    unequal machines are never in one group.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    workload: str
    variant: str
    options: str
    dataset: str
    settings: str
    store: str
    engine: str
    nodes: str
    network: str
    memory: str
    page_cache: str
    write_back: str
    cpus: str
    dilation: str
    fault: str
    cache: str
    probes: str
    machine: str


class PredictedRatio(Frozen):
    """A predicted time over the measured one of the `base`; no `interval` where the base's time has none."""

    base: str
    ratio: float
    interval: ConfidenceInterval | None

    @property
    def shown_interval(self) -> ConfidenceInterval | None:
        """The interval: what is predicted is not tested."""
        return self.interval


class Row(Frozen):
    """One combination of factors over its repetitions, warm-ups left out; or one that a predictor foretells.

    `elapsed_s` is the median of the jobs' added elapsed times, in `elapsed` with its interval; `run_s` and `durable_s`
    are medians of the trials', `phases` of the phases' added averages. `comparison` is with the group's base, one of
    those that all of the report is made from (None for the base itself, for zero storage delay, and where no other
    placement finished); `ratio` is its ratio of elapsed times. `outliers` are trials that lie far off; they count like
    all others. `finished` are the trials that count, `wrong` those whose output is wrong, which do not. `source` says
    whether they ran on a scale model; `struck_out` of its trials do not count since it was not kept to, and `struck_s`
    is the median of their times. `outcome` is the worst of the repetitions.

    Of a `predictor` there are no trials, no comparison and no outcome; `elapsed` is its time with its interval, and
    `basis` what that rests on.
    """

    group: Group
    placement: str
    trials: int = 0
    finished: int = 0
    wrong: int = 0
    source: Source
    struck_out: int = 0
    struck_s: float | None = None
    elapsed_s: float | None
    elapsed: Median | None
    run_s: float | None = None
    durable_s: float | None = None
    phases: Phases | None = None
    ratio: float | None
    comparison: Comparison | None = None
    outliers: tuple[Outlier, ...] = ()
    outcome: Outcome | None = None
    predictor: str = ""
    predicted: PredictedRatio | None = None
    basis: str = ""

    @property
    def words(self) -> str:
        """What can be said of the placement against the base, in one sentence; empty where nothing is compared."""
        if self.predicted is not None:
            took = f"{self.placement} is predicted to take {self.predicted.ratio:.2f} times as long"
            interval = self.predicted.interval
            within = f" (95 % interval {interval.low:.2f} to {interval.high:.2f})" if interval else ""
            return f"{took} as {self.predicted.base}{within}"
        return "" if self.comparison is None else in_words(self.comparison)


Combination = tuple[Group, str]


def rows_of(
    summaries: Sequence[TrialSummary],
    comparisons: Sequence[Comparison] | None = None,
    prior: NoisePrior = SHIPPED_PRIOR,
    placements: Sequence[str] = (),
    predicted: Sequence[TrialSummary] = (),
) -> list[Row]:
    """One row per combination, groups in the order of their levels, zero storage delay last in each.

    `comparisons` are all that were made of the trials, where they were made before; `prior` is the noise that is
    assumed; `placements` are the plan's, in whose order rows are. Those that it does not name come by name. Each group
    is followed by the rows of the trials that are `predicted` for it; groups of these alone come last.
    """
    summaries = Trials.of(summaries)
    combined = _combined(summaries, placements)
    trials = summaries.samples
    every = compare(trials, prior=prior, orders={PLACEMENT: placements}) if comparisons is None else comparisons
    bases: dict[Group, str] = {}
    compared: dict[Combination, Comparison] = {}
    for comparison in every:
        if (
            comparison.factor == PLACEMENT
            and bases.setdefault(group := group_of(comparison.others), comparison.base) == comparison.base
        ):
            compared[group, comparison.level] = comparison
    odd: dict[Combination, list[Outlier]] = {}
    for outlier in outliers(trials):
        odd.setdefault(_combination(outlier.factors), []).append(outlier)
    own_times = combinations(trials)
    noises = noise_by_combination(own_times, PLACEMENT, prior)
    middles = {
        _combination(levels): median_of([sample.elapsed_s for sample in alike], noises[levels])
        for levels, alike in own_times.items()
    }
    rows = [_row(key, alike, middles.get(key), compared.get(key), odd.get(key, [])) for key, alike in combined.items()]
    return _with_predicted(rows, summaries, predicted)


def _with_predicted(rows: Sequence[Row], trials: Trials, predicted: Sequence[TrialSummary]) -> list[Row]:
    groups: dict[Group, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    bases = {  # the first placement that has a time, as of all ratios
        group: next((row for row in measured if row.elapsed and row.placement != ZERO_DELAY), None)
        for group, measured in groups.items()
    }
    for summary in predicted:
        machine = trials.machine_by_trial[summary.trial.id]
        group, placement = _combination((*summary.factors.items(), (MACHINE, machine)))
        base, like = bases.get(group), _combination((*summary.trial.factors.items(), (MACHINE, machine)))
        from_base = base is not None and like == (group, base.placement)
        groups.setdefault(group, []).append(_predicted_row(group, placement, summary, base, from_base=from_base))
    return [row for of_group in groups.values() for row in of_group]


def _predicted_row(group: Group, placement: str, summary: TrialSummary, base: Row | None, *, from_base: bool) -> Row:
    seconds, predicted = summary.elapsed_s or 0.0, None
    if base is not None and base.elapsed is not None:
        known = base.elapsed.interval
        low_s, high_s = (known.low, known.high) if known else (None, None)
        ratio, interval = ratio_to(summary, base.elapsed.value, low_s, high_s, from_base=from_base)
        predicted = PredictedRatio(base=base.placement, ratio=ratio, interval=interval)
    within = ConfidenceInterval(low=summary.low_s or seconds, high=summary.high_s or seconds)
    return Row(
        group=group,
        placement=placement,
        source=summary.source,
        elapsed_s=seconds,
        elapsed=Median(value=seconds, values=0, interval=within),
        ratio=predicted.ratio if predicted else None,
        predictor=summary.predictor,
        predicted=predicted,
        basis=summary.basis,
    )


def ratio_to(
    predicted: TrialSummary, base_s: float, low_s: float | None, high_s: float | None, *, from_base: bool
) -> tuple[float, ConfidenceInterval | None]:
    """A predicted time over a measured one, and its interval, where the measured one has one.

    The two errors, of logarithms, are independent. A time that is predicted `from_base`, from the measured trials
    themselves, has their noise in its own interval, so that this is the interval of the ratio as well.
    """
    seconds = predicted.elapsed_s or 0.0
    ratio = seconds / base_s
    if from_base:
        low_s = high_s = base_s
    if low_s is None or high_s is None or predicted.low_s is None or predicted.high_s is None:
        return ratio, None
    below = hypot(log(seconds / predicted.low_s), log(high_s / base_s))
    above = hypot(log(predicted.high_s / seconds), log(base_s / low_s))
    return ratio, ConfidenceInterval(low=ratio * exp(-below), high=ratio * exp(above))


def _combination(levels: Levels) -> Combination:
    return group_of(levels), dict(levels)[PLACEMENT]


def varying(rows: Sequence[Row]) -> list[str]:
    """The factors besides workload and placement that tell rows of one workload apart."""
    names = dict.fromkeys(name for row in rows for name in dict(row.group) if name not in {"workload", MACHINE})
    levels: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        for name in (*names, MACHINE):
            levels.setdefault((name, row.group.workload), set()).add(getattr(row.group, name, ""))
    several = {name for (name, _), different in levels.items() if len(different) > 1}
    return [name for name in (*names, MACHINE) if name in several]


@lru_cache(maxsize=1 << 14)
def group_of(levels: Levels) -> Group:
    """Trials are many, and their groups few."""
    return Group.model_validate({name: level for name, level in levels if name != PLACEMENT})


def _combined(summaries: Sequence[TrialSummary], placements: Sequence[str]) -> dict[Combination, list[TrialSummary]]:
    """By combination, in the order of their ids, but for warm-ups and varied drives; placements as planned."""
    groups: dict[Levels, dict[str, list[TrialSummary]]] = {}
    for levels, trials in Trials.of(summaries).by_levels.items():
        planned = [summary for summary in trials if summary.trial.is_repetition]
        if planned:
            others = tuple(item for item in levels if item[0] != PLACEMENT)
            groups.setdefault(others, {})[dict(levels)[PLACEMENT]] = sorted(planned, key=attrgetter("id"))
    return {
        (group_of(levels), placement): groups[levels][placement]
        for levels in by_levels(groups)
        for placement in in_plan_order(groups[levels], placements)
    }


def _row(
    key: Combination,
    summaries: Sequence[TrialSummary],
    middle: Median | None,
    comparison: Comparison | None,
    odd: Sequence[Outlier],
) -> Row:
    finished = [summary for summary in summaries if is_valid(summary)]
    phases = [summary.phases for summary in finished if summary.phases is not None]
    names = dict.fromkeys(name for averages in phases for name in averages)
    return Row(
        group=key[0],
        placement=key[1],
        trials=len(summaries),
        finished=len(finished),
        wrong=sum(map(is_wrong, summaries)),
        source="modelled" if any(summary.modelled for summary in summaries) else "measured",
        struck_out=sum(map(is_struck_out, summaries)),
        struck_s=known_median(summary.elapsed_s for summary in summaries if is_struck_out(summary)),
        elapsed_s=middle.value if middle else None,
        elapsed=middle,
        run_s=known_median(summary.run_s for summary in finished),
        durable_s=known_median(summary.durable_s for summary in finished),
        phases={name: median(phase[name] for phase in phases if name in phase) for name in names} if phases else None,
        ratio=comparison.ratio if comparison else None,
        comparison=comparison,
        outliers=tuple(odd),
        outcome=max((summary.outcome for summary in summaries if summary.outcome), key=list(Outcome).index),
    )
