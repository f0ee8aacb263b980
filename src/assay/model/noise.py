"""How much equal trials differ: what is assumed of a machine before a run's own trials say it."""

from typing import Literal

from assay.model.base import Frozen


class NoisePrior(Frozen):
    """The standard deviation of the logarithm of one trial's time (about its share: 0.05 is 5 %), before a run.

    `freedom` is the weight of this prior in degrees of freedom. `source` says whether it is an assumption or comes
    from earlier trials on this machine; then from `trials` trials of `workloads` workloads.
    """

    deviation: float
    freedom: float
    source: Literal["assumption", "history"]
    trials: int = 0
    workloads: int = 0


SHIPPED_PRIOR = NoisePrior(deviation=0.07, freedom=4, source="assumption")
"""What repeated trials showed on machines of two shared cores: log ratios of pairs had a standard deviation of 4 to
28 %, of 10 % usually, which is 7 % of one trial. With this freedom intervals cover the truth as often as they promise
on average over such machines (benchmarks/known_effects.py)."""

PART_PRIOR = NoisePrior(deviation=0.2, freedom=4, source="assumption")
"""Of one job or one phase, which differ more than whole runs: 10 to 30 % between equal trials, where they take seconds.
Chosen by simulation: of runs without any effect whose parts have such noise about 1 % call any part significant, and at
30 % in all parts 5 % (benchmarks/known_effects.py), while a part that takes twice as long is still seen in one mirrored
repetition."""
