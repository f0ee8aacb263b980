"""The order of a plan's trials: how often it is repeated, and in which rounds, within a budget of time.

A round is the next repetition that the plan would have if it asked for more, so the same experiment with more
repetitions goes on from it. Where not all undecided work fits, it is that repetition's trials of one work (a workload
with its options on a dataset): no comparison crosses its border, so what is compared is always of one round, and close
in time.
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import count

from assay.model.cluster import ClusterSpec
from assay.model.trial import Plan, ResourceEstimate, Trial
from assay.model.trial_summary import TrialSummary
from assay.stats.comparison import compare
from assay.stats.decision import decisions
from assay.stats.duration_history import Expected
from assay.stats.machine_kind import machines_of
from assay.stats.sample import PLACEMENT, WORK, Levels, Trials, is_valid

Blocks = Iterator[tuple[Trial, ...]]


def fit_to_machine(plan: Plan, more: Blocks, possible: Callable[[ClusterSpec], ClusterSpec]) -> tuple[Plan, Blocks]:
    """The plan as this machine can run it, and its further repetitions.

    A trial gets what is `possible` in place of its cluster only where it stays a trial of its own, and no two levels
    that are compared become one; else all stays as it is, and the platform refuses what it can't have.
    """

    def fit(trial: Trial) -> Trial:
        cluster = possible(trial.cluster)
        return trial if cluster == trial.cluster else trial.model_copy(update={"cluster": cluster})

    trials = tuple(map(fit, plan.trials))
    changed = [trial for trial in trials if trial.cluster.instead_of]
    left = [trial for trial in trials if trial.cluster.workers]
    if not changed or left or any(medium.on for trial in changed for medium in trial.media):
        return plan, more
    if len(set(map(_compared, trials))) < len(set(map(_levels_of, plan.trials))):
        return plan, more
    return plan.model_copy(update={"trials": trials}), (tuple(map(fit, block)) for block in more)


def _compared(trial: Trial) -> Levels:
    """The levels that are not the same on one node, whatever they are; of replication all are."""
    return tuple(item for item in _levels_of(trial) if item[0] != "replication")


class Budget:
    """So many seconds from now on, and what trials can be expected to take of them.

    That is what others like them took in this run; else the estimate, times the factor by which estimates were wrong.
    """

    def __init__(
        self, seconds: float, plan: Plan, estimates: Mapping[str, ResourceEstimate],
        clock: Callable[[], float] = time.monotonic, *, fill: bool = False,
    ) -> None:  # fmt: skip
        """`estimates` of the plan's trials, by their ids, hold for their repetitions too; `clock` tells seconds.

        With `fill` the plan itself takes the time that it takes, and what is left is used though all is decided.
        """
        self.fill = fill
        self._clock = clock
        self._end_s = clock() + seconds
        known = [trial for trial in plan.trials if trial.id in estimates]
        self._estimates_s = {_levels_of(trial): estimates[trial.id].seconds for trial in known}
        self._expected = Expected([])
        self._estimated_s = self._took_s = 0.0

    @property
    def left_s(self) -> float:
        """What is left; below 0 when the time is over."""
        return self._end_s - self._clock()

    def allows(self, trials: Sequence[Trial]) -> bool:
        """Whether all of these can be expected to end in time."""
        return self.needed_s(trials) <= self.left_s

    def needed_s(self, trials: Sequence[Trial]) -> float:
        """How long all of these can be expected to take."""
        return sum(map(self._expected_s, trials))

    def took(self, trial: Trial, seconds: float) -> None:
        """A trial has ended."""
        self._expected.add(trial, seconds)
        if (estimate_s := self._estimates_s.get(_levels_of(trial))) is not None:
            self._estimated_s += estimate_s
            self._took_s += seconds

    def _expected_s(self, trial: Trial) -> float:
        if (expectation := self._expected.of(trial)) is not None:
            return expectation.seconds
        factor = self._took_s / self._estimated_s if self._estimated_s else 1.0
        return self._estimates_s.get(_levels_of(trial), 0.0) * factor


STOP_ALPHA = 0.01
"""To look after each round and stop at 5 % would claim something false in far more than 5 % of runs; stopping at 1 % in
about 6 % of runs of up to 20 rounds (benchmarks/known_effects.py)."""
Allows = Callable[[Sequence[Trial]], bool]
Work = tuple[str, ...]
Decided = Callable[[Sequence[TrialSummary]], Collection[Work]]


class RepetitionSchedule:
    """In which rounds a plan is repeated while there is time."""

    def __init__(self, plan: Plan, more: Iterator[tuple[Trial, ...]], decided: Decided | None = None) -> None:
        """`plan` has the combinations to repeat; `more` are repetitions of these and others, without end.

        `decided` says of which work the trials at hand tell enough; by default `decided_work`.
        """
        self._wanted = {_levels_of(trial) for trial in plan.trials if not trial.warm_up}
        self._more = more
        self._decided = decided or (lambda summaries: decided_work(plan, summaries))
        self._repetitions: list[tuple[Trial, ...]] = []

    def next_round(
        self, known_trials: Collection[str], summaries: Sequence[TrialSummary], allows: Allows
    ) -> tuple[Trial, ...]:
        """The next round, of what `allows` says still fits; empty where nothing does, or where all is decided.

        Where no whole repetition of any work fits, it is of the placements that are compared alone, without baseline.
        `known_trials` are the ids of the trials that the run has already: no round has them. `summaries` are of
        all that ran. Combinations that never finish are left out: repeating them tells nothing.
        """
        # What an earlier machine knew is not pooled with what that of the last trial will.
        places = list(zip(summaries, machines_of(summaries), strict=True))
        last = max(places, key=lambda entry: entry[0].began_ms, default=None)
        here = [summary for summary, machine in places if last is not None and machine == last[1]]
        decided = self._decided(here)
        ran = {_levels_of(summary.trial) for summary in here if not summary.trial.warm_up}
        open_levels = self._wanted - (ran - {_levels_of(summary.trial) for summary in here if is_valid(summary)})

        def open_work(trial: Trial) -> bool:
            return _levels_of(trial) in open_levels and work_of(trial) not in decided

        whole = self._free(known_trials, open_work)
        if not whole or allows(whole):
            return whole
        for part in (tuple, _without_baseline, _once_each):
            for work in dict.fromkeys(map(work_of, whole)):
                repetition = self._free(known_trials, lambda trial: open_work(trial) and work_of(trial) == work)  # noqa: B023
                if (trials := part(repetition)) and allows(trials):
                    return trials
        return ()

    def _free(self, known_trials: Collection[str], is_wanted: Callable[[Trial], bool]) -> tuple[Trial, ...]:
        """The wanted trials of the first repetition of which none has run: what began on another day stays apart."""
        for index in count():
            if index == len(self._repetitions):
                self._repetitions.append(next(self._more))
            repetition = tuple(filter(is_wanted, self._repetitions[index]))
            if not any(trial.id in known_trials for trial in repetition):
                break
        return repetition


def _without_baseline(repetition: Sequence[Trial]) -> tuple[Trial, ...]:
    """What decides between placements: all but zero storage delay; empty where that leaves nothing to compare."""
    real = tuple(trial for trial in repetition if not trial.zero_delay)
    return real if len(set(map(_levels_of, real))) > 1 else ()


def _once_each(repetition: Sequence[Trial]) -> tuple[Trial, ...]:
    """The first trial of each placement that is compared, where the order is there and back."""
    first: dict[Levels, Trial] = {}
    for trial in _without_baseline(repetition):
        first.setdefault(_levels_of(trial), trial)
    return tuple(first.values())


def work_of(trial: Trial) -> Work:
    """What a trial computes: trials of different work are never compared with each other."""
    return tuple(trial.factors[name] for name in WORK)


def decided_by(budget: Budget) -> Decided | None:
    """Nothing is decided where a budget is to be filled: the time alone says how often the plan is repeated."""
    return (lambda _: ()) if budget.fill else None


def decided_work(plan: Plan, summaries: Sequence[TrialSummary]) -> set[Work]:
    """The work of which each decision between placements is made; where none are compared, each comparison significant.

    A decision is made once its verdict is that a placement is worth it, or that none is; of changes each has a verdict.
    It must be surer than a report has to be: this is asked again and again.
    """
    decided_by_work: dict[Work, bool] = {}
    trials = Trials.of(summaries)
    compared = compare(trials.samples, prior=plan.prior, orders={PLACEMENT: plan.placements})
    for decision in decisions(plan, trials, compared, STOP_ALPHA):
        if len(decision.placements) > 1:
            work = tuple(decision.levels[name] for name in WORK)
            decided_by_work[work] = decided_by_work.get(work, True) and not decision.is_open
    for comparison in compared if not decided_by_work else ():
        work = tuple(dict(comparison.others)[name] for name in WORK)
        decided_by_work[work] = (
            decided_by_work.get(work, True) and comparison.significant and (comparison.p_adjusted or 0.0) <= STOP_ALPHA
        )
    return {work for work, decided in decided_by_work.items() if decided}


def _levels_of(trial: Trial) -> Levels:
    return tuple(trial.factors.items())
