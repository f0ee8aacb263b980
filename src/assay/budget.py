"""A bound of time for a run: which trials still fit into what is left of it."""

import time
from collections.abc import Callable, Mapping, Sequence

from assay.model.trial import Estimate, Plan, Trial
from assay.stats.expected import Expected


class Budget:
    """So many seconds from now on. What trials take is foretold by those that this run has finished."""

    def __init__(
        self, seconds: float, plan: Plan, estimates: Mapping[str, Estimate], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`estimates` are those of the plan's trials, by their ids, and hold for their repetitions too.

        `clock` tells seconds.
        """
        self._clock = clock
        self._end_s = clock() + seconds
        self._estimates = {str(trial.factors): estimates[trial.id] for trial in plan.trials if trial.id in estimates}
        self._expected = Expected([])
        self._estimated_s = self._took_s = 0.0

    @property
    def left_s(self) -> float:
        """What is left; below 0 when the time is over."""
        return self._end_s - self._clock()

    def allows(self, trials: Sequence[Trial]) -> bool:
        """Whether all of these can be expected to end in time."""
        return sum(map(self._expected_s, trials)) <= self.left_s

    def took(self, trial: Trial, seconds: float) -> None:
        """A trial has ended."""
        self._expected.add(trial, seconds)
        estimate = self._estimates.get(str(trial.factors))
        if estimate is not None:
            self._estimated_s += estimate.seconds
            self._took_s += seconds

    def _expected_s(self, trial: Trial) -> float:
        """As long as others like it, else as estimated, as far as estimates were right up to now."""
        found = self._expected.of(trial)
        if found is not None:
            return found.seconds
        estimate = self._estimates.get(str(trial.factors))
        if estimate is None:
            return 0.0
        return estimate.seconds * (self._took_s / self._estimated_s if self._estimated_s else 1.0)
