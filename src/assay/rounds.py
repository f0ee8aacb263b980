"""What a plan is repeated with while time is left: whole repetitions of the work that is not decided yet.

A round is the next repetition that the plan would have if it asked for more, so the same experiment with more
repetitions goes on from it. Where not all undecided work fits, it is that repetition's trials of one work (a workload
with its options on a dataset): no comparison crosses its border, so what is compared is always of one round, and close
in time.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import count

from assay.model.record import Record
from assay.model.trial import Plan, Trial
from assay.stats.comparison import compare
from assay.stats.decision import Verdict, decisions
from assay.stats.machine_kind import machine_of
from assay.stats.run_doubts import began_ms
from assay.stats.sample import PLACEMENT, WORK, Levels, counts, samples

STOP_ALPHA = 0.01
"""To look after each round and stop at 5 % would claim something false in far more than 5 % of runs; stopping at 1 % in
about 7 % of runs of up to 20 rounds (benchmarks/known_effects.py)."""

Allows = Callable[[Sequence[Trial]], bool]
Work = tuple[str, ...]
Decided = Callable[[Sequence[Record]], Collection[Work]]


class Rounds:
    """The rounds of one plan."""

    def __init__(self, plan: Plan, more: Iterator[tuple[Trial, ...]], decided: Decided | None = None) -> None:
        """`plan` has the combinations to repeat; `more` are repetitions of these and others, without end.

        `decided` says of which work the records at hand tell enough; by default `decided_work`.
        """
        self._wanted = {_levels_of(trial) for trial in plan.trials if not trial.warm_up}
        self._more = more
        self._decided = decided or (lambda records: decided_work(plan, records))
        self._repetitions: list[tuple[Trial, ...]] = []

    def following(self, held: Collection[str], records: Sequence[Record], allows: Allows) -> tuple[Trial, ...]:
        """The next round, of what `allows` says still fits; empty where nothing does, or where all is decided.

        `held` are the ids of the trials that the run has already: no round has one of theirs. `records` are all that
        there are. Combinations that never finish are left out.
        """
        here = _of_this_machine(records)
        decided = self._decided(here)
        wanted = self._wanted - _never_finished(here)

        def open_work(trial: Trial) -> bool:
            return _levels_of(trial) in wanted and work_of(trial) not in decided

        whole = self._free(held, open_work)
        if not whole or allows(whole):
            return whole
        for work in dict.fromkeys(map(work_of, whole)):
            own = self._free(held, lambda trial: open_work(trial) and work_of(trial) == work)  # noqa: B023
            if allows(own):
                return own
        return ()

    def _free(self, held: Collection[str], is_wanted: Callable[[Trial], bool]) -> tuple[Trial, ...]:
        """The wanted trials of the first repetition of which none has run: what began on another day stays apart."""
        for place in count():
            if place == len(self._repetitions):
                self._repetitions.append(next(self._more))
            own = tuple(filter(is_wanted, self._repetitions[place]))
            if not any(trial.id in held for trial in own):
                break
        return own


def work_of(trial: Trial) -> Work:
    """What a trial computes: trials of different work are never compared with each other."""
    return tuple(trial.factors[name] for name in WORK)


def decided_work(plan: Plan, records: Sequence[Record]) -> set[Work]:
    """The work of which each decision between placements is made; where none are compared, each comparison significant.

    A decision is made once its verdict is that a placement is worth it, or that none is, and surer than a report has to
    be: this is asked again and again.
    """
    found: dict[Work, bool] = {}
    compared = compare(samples(records), prior=plan.prior, orders={PLACEMENT: plan.placements})
    for decision in decisions(plan, records, compared, STOP_ALPHA):
        if len(decision.placements) > 1:
            work = tuple(decision.levels[name] for name in WORK)
            found[work] = found.get(work, True) and decision.verdict is not Verdict.NOT_KNOWN_YET
    for one in compared if not found else ():
        work = tuple(dict(one.others)[name] for name in WORK)
        found[work] = found.get(work, True) and one.significant and (one.p_adjusted or 0.0) <= STOP_ALPHA
    return {work for work, decided in found.items() if decided}


def _levels_of(trial: Trial) -> Levels:
    return tuple(trial.factors.items())


def _never_finished(records: Sequence[Record]) -> set[Levels]:
    """The combinations that have run and have no time: repeating them tells nothing."""
    ran = {_levels_of(record.trial) for record in records if not record.trial.warm_up}
    return ran - {_levels_of(record.trial) for record in records if counts(record)}


def _of_this_machine(records: Sequence[Record]) -> list[Record]:
    """Those of the machine that ran the last trial: what an earlier one knew is not pooled with what this one will."""
    last = max(records, key=began_ms, default=None)
    return [record for record in records if last is not None and machine_of(record) == machine_of(last)]
