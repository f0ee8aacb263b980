"""Whether statistics judge right, and how quickly: `python benchmarks/known_effects.py [--seeds 10000]`.

Made-up plans with noise of 3 to 5 %, drift and disturbed trials, each judged by the tests that a report makes. Bounds:
a true effect of 5 % is found with the planned repetitions in at least 90 % of plans; where there is no effect at all,
at most 5 % of plans claim any, beyond two standard errors of so many plans (some of the tests are exact to 4.9 %).
Intervals of ratios and effects cover the truth in at least 93 % of plans (those of medians are shown: few values
can't). Shown, too, is what comes of it when a pilot tells the noise and its trials count in the end. Statistics of
10,000 trials take at most 5 s of processor time and 500 MiB. Exit code 1 where one does not hold. About 5 minutes, no
Hadoop.
"""

import argparse
import resource
import sys
import time
from collections.abc import Sequence
from itertools import count
from math import log

import numpy as np
from assay.stats.pairing import couples_of
from assay.stats.planning import ALPHA, MOST_REPETITIONS, Noise, noise_of, repetitions_needed
from assay.stats.ranks import Shift, signed_rank

from assay.stats.comparison import compare, holm
from assay.stats.effect import effects
from assay.stats.interval import medians
from assay.stats.outlier import outliers
from assay.stats.sample import Sample, combinations
from assay.testing.fake_times import FakeTimes

LEAST_FOUND, MOST_CLAIMED, LEAST_COVERED = 0.90, 0.05, 0.93
MOST_SECONDS, MOST_MIB = 5.0, 500.0
EFFECT = 1.05
PLACEMENTS = ("hdd", "hybrid", "nvme", "ssd")
TWO = {"placement": {"hdd": 1.0, "ssd": EFFECT}}
MANY = {"workload": {"sort": 1.0, "count": 0.3}, "placement": {"hdd": 1.0, "hybrid": 1.0, "nvme": 1.0, "ssd": EFFECT}}


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10_000, help="made-up plans for each line")
    plans = parser.parse_args().seeds
    held = [_speed(), _as_in_reports()]
    for noise in (0.03, 0.04, 0.05):
        held += [_two(noise, plans), _many(noise, plans // 4)]
        _pilots(noise, plans)
    held += [_few_repetitions(plans // 20)]
    _more_disturbed(plans)
    held += [_medians(plans // 5), _effects(plans // 20)]
    return 0 if all(held) else 1


class Made:
    """Made-up plans with two or more placements; no two of them have the same seed."""

    _seeds = count()

    def __init__(self, fake: FakeTimes, plans: int) -> None:
        self._fake = fake
        self.seeds = [next(self._seeds) for _ in range(plans)]

    def shift(self, repetitions: int) -> Shift:
        """A row for each comparison of each plan."""
        return signed_rank(self.differences(repetitions, self.seeds))

    def told(self, repetitions: int) -> np.ndarray:
        """For each plan, which of its comparisons are told: they are corrected together."""
        chances = self.shift(repetitions).p.reshape(len(self.seeds), -1)
        return np.array([holm(row) for row in chances.tolist()]) <= ALPHA

    def judged(self, repetitions: int) -> np.ndarray:
        """For each plan, which of its comparisons a report tells."""
        plans = (self._fake.samples(repetitions, seed) for seed in self.seeds)
        return np.array([[one.told for one in compare(plan, ["placement"])] for plan in plans])

    def differences(self, repetitions: int, seeds: Sequence[int]) -> np.ndarray:
        """Those within the pairs of each comparison. A seed begins with the same ones, however many there are."""
        plans = (self._fake.samples(repetitions, seed) for seed in seeds)
        couples = (one for plan in plans for one in couples_of(plan, "placement", None, every=False))
        return np.array([one.differences for one in couples])


def _as_in_reports() -> bool:
    """What is worked out here for many plans at once is what a report says of each."""
    made = Made(FakeTimes(factors=MANY), 20)
    return bool((made.judged(20) == made.told(20)).all())


def _two(noise: float, plans: int) -> bool:
    """Two placements, noise known: that of a pair's ratio is the root of 2 times that of a time."""
    repetitions = repetitions_needed(Noise(2**0.5 * noise)) or 0
    found = Made(FakeTimes(factors=TWO, noise=noise), plans).shift(repetitions)
    claimed = Made(FakeTimes(factors=_none(TWO), noise=noise), plans).told(repetitions)
    covered = (found.low <= log(EFFECT)) & (log(EFFECT) <= found.high)
    print(f"two placements, noise {noise:.0%}, {repetitions} repetitions: ", end="")  # noqa: T201
    return _judge((found.p <= ALPHA).mean(), claimed, covered.mean())


def _many(noise: float, plans: int) -> bool:
    """Two workloads, four placements: six comparisons, of which two have an effect, or none."""
    repetitions = repetitions_needed(Noise(2**0.5 * noise), comparisons=6) or 0
    found, claimed = (
        Made(FakeTimes(factors=factors, noise=noise), plans).told(repetitions) for factors in (MANY, _none(MANY))
    )
    # Of each workload the last comparison is the ssd with the hdd.
    print(f"  six comparisons, {repetitions} repetitions: ", end="")  # noqa: T201
    return _judge(found[:, [2, 5]].mean(), claimed)


def _few_repetitions(plans: int) -> bool:
    """So many comparisons that pairs can't tell anything: by ranks of all trials, which drift makes more careful."""
    factors = {"settings": {f"s{number}": 1 + number / 20 for number in range(12)}, "placement": {"hdd": 1, "ssd": 1.5}}
    repetitions = 7
    found, claimed = (
        Made(FakeTimes(factors=levels, drift=0.0), plans).judged(repetitions) for levels in (factors, _none(factors))
    )
    print(f"12 comparisons without drift, an effect of 50%, {repetitions} repetitions: ", end="")  # noqa: T201
    return _judge(found.mean(), claimed)


def _pilots(noise: float, plans: int) -> None:
    """Shown, not judged: the pilot says how many repetitions, and its own are among them."""
    for pilot in (5, 10):
        found, needed = _after_pilot(Made(FakeTimes(factors=TWO, noise=noise), plans), pilot)
        claimed, _ = _after_pilot(Made(FakeTimes(factors=_none(TWO), noise=noise), plans), pilot)
        print(  # noqa: T201
            f"  after a pilot of {pilot}, then {needed.min()} to {needed.max()} (median {np.median(needed):.0f}): "
            f"found {(found <= ALPHA).mean():.1%}, claimed without effect {(claimed <= ALPHA).mean():.1%}"
        )


def _after_pilot(made: Made, pilot: int) -> tuple[np.ndarray, np.ndarray]:
    """What chance each plan has in the end, and after how many repetitions."""
    noises = [noise_of([row]) for row in made.differences(pilot, made.seeds)]
    needed = np.array([max(pilot, (noise and repetitions_needed(noise)) or MOST_REPETITIONS) for noise in noises])
    chances = np.ones(len(needed))
    for repetitions in np.unique(needed).tolist():
        some = np.flatnonzero(needed == repetitions)
        chances[some] = signed_rank(made.differences(repetitions, [made.seeds[place] for place in some])).p
    return chances, needed


def _more_disturbed(plans: int) -> None:
    """Shown, not judged: planning allows for 2 % of trials."""
    repetitions = repetitions_needed(Noise(2**0.5 * 0.04)) or 0
    for share in (0.0, 0.05, 0.1):
        found = Made(FakeTimes(factors=TWO, disturbed=share), plans).told(repetitions).mean()
        print(f"noise 4%, {repetitions} repetitions, {share:.0%} of trials disturbed: found {found:.1%}")  # noqa: T201


def _medians(seeds: int) -> bool:
    """How often intervals of few values cover the true median, beside the most that they can."""
    fake = FakeTimes(factors={"placement": {"hdd": 1.0}}, drift=0.0, disturbed=0.0)
    told = []
    for values in (3, 5, 8, 12, 20):
        groups = tuple(tuple(one.elapsed_s for one in fake.samples(values, seed)) for seed in range(seeds))
        found = [one.interval for one in medians(groups) if one.interval]
        told.append(f"{values} values {_share([fake.base_s in one for one in found]):.1%} of {found[0].level:.1%}")
    print("medians cover the truth:", ", ".join(told))  # noqa: T201
    return True


def _effects(seeds: int) -> bool:
    """Two factors that change each other's effect: how often intervals cover the truth."""
    held = []
    for repetitions in (3, 5, 10):
        factors = {"settings": {"a": 1.0, "b": 1.2}, "placement": {"hdd": 1.0, "ssd": 0.8}}
        fake = FakeTimes(factors=factors, together={("b", "ssd"): 1.1**4}, disturbed=0.0)
        covered = []
        for seed in range(seeds):
            (found,) = effects(fake.samples(repetitions, seed))
            interaction = next(one for one in found.effects if len(one.factors) == 2)
            # Of both at their second level what is beyond each by itself: the fourth root of the product.
            covered += [one.interval is not None and 1.1 in one.interval for one in interaction.levels[-1:]]
        print(f"effects of two factors together, {repetitions} repetitions: covered {_share(covered):.1%}")  # noqa: T201
        held.append(_share(covered) >= LEAST_COVERED)
    return all(held)


def _speed() -> bool:
    """500 combinations of four factors, 20 repetitions each, judged for each factor."""
    fake = FakeTimes(
        factors={
            "workload": {name: 2.0**place for place, name in enumerate("abcde")},
            "settings": {name: 1.0 + place / 10 for place, name in enumerate("abcde")},
            "memory": {name: 1.0 + place / 20 for place, name in enumerate("abcde")},
            "placement": {name: 1.0 - place / 10 for place, name in enumerate(PLACEMENTS)},
        }
    )
    found = fake.samples(20, 1)
    began = time.process_time()
    told = _statistics(found)
    seconds = time.process_time() - began
    mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(found)} trials, {told} comparisons: {seconds:.1f} s, {mib:.0f} MiB")  # noqa: T201
    return seconds <= MOST_SECONDS and mib <= MOST_MIB


def _statistics(found: Sequence[Sample]) -> int:
    medians(tuple(tuple(one.elapsed_s for one in own) for own in combinations(found).values()))
    compared = compare(found, ["settings", "memory", "placement"])
    effects(found)
    effects(found, within=("workload",))
    outliers(found)
    return len(compared)


def _none(factors: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """The same factors without any effect."""
    return {name: dict.fromkeys(levels, 1.0) for name, levels in factors.items()}


def _share(said: Sequence[bool]) -> float:
    return sum(said) / len(said)


def _judge(found: float, told: np.ndarray, covered: float | None = None) -> bool:
    """`told` are the claims of plans without an effect."""
    claimed = told.any(axis=1).mean()
    error = (MOST_CLAIMED * (1 - MOST_CLAIMED) / len(told)) ** 0.5
    shown = "" if covered is None else f", covered {covered:.1%}"
    print(f"found {found:.1%}, claimed without effect {claimed:.1%} (standard error {error:.1%}){shown}")  # noqa: T201
    return found >= LEAST_FOUND and claimed <= MOST_CLAIMED + 2 * error and (covered or 1.0) >= LEAST_COVERED


if __name__ == "__main__":
    sys.exit(main())
