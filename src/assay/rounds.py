"""What a plan is repeated with while time is left: whole repetitions of what is compared with each other.

A round is the next repetition that the plan would have if it asked for more, so the same experiment with more
repetitions goes on from it. Where a whole one does not fit, it is that repetition's trials of one work (a workload with
its options on a dataset): no comparison crosses its border, so each factor's pairs are always of one round, and close
in time. How many rounds there are hangs on time alone. Which work the last ones repeat hangs on how wide its intervals
are, and never on which level is ahead.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import count

from assay.model.record import Record
from assay.model.trial import Plan, Trial
from assay.stats.uncertainty import least_certain, levels_of, never_finished, work_of

Allows = Callable[[Sequence[Trial]], bool]


class Rounds:
    """The rounds of one plan."""

    def __init__(self, plan: Plan, more: Iterator[tuple[Trial, ...]]) -> None:
        """`plan` has the combinations to repeat; `more` are repetitions of these and others, without end."""
        self._wanted = {levels_of(trial) for trial in plan.trials if not trial.warm_up}
        self._more = more
        self._repetitions: list[tuple[Trial, ...]] = []

    def following(self, held: Collection[str], records: Sequence[Record], allows: Allows) -> tuple[Trial, ...]:
        """The next round, of what `allows` says still fits; empty where nothing does.

        `held` are the ids of the trials that the run has already: no round has one of theirs. `records` are all that
        there are. Combinations that never finish are left out.
        """
        wanted = self._wanted - never_finished(records)
        if not wanted:
            return ()
        whole = self._free(held, lambda trial: levels_of(trial) in wanted)
        if allows(whole):
            return whole
        for work in least_certain(whole, records):
            own = self._free(held, lambda trial: levels_of(trial) in wanted and work_of(trial) == work)  # noqa: B023
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
