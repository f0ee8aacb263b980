"""Whether statistics judge right, and how quickly: `python benchmarks/known_effects.py [--plans 4000]`.

Made-up plans in the order of real ones, each judged as a report judges it. Noise is as it was measured on machines of
two shared cores: each plan's ratios of pairs have a standard deviation of 4 to 28 %, mostly near 10 %; the tails are
heavy (Student's t with 4 degrees of freedom), half of the plans have a slow state in which one trial of five is, and
times drift with each trial. The gates, of which none may fail (exit code 1):

- where there is no effect at all, at most 5 % of plans claim any, beyond two standard errors of so many plans;
- a true effect of 5 % is found with the planned repetitions in at least 90 % of plans, at a noise of 5 %;
- 95 % intervals of ratios cover the truth in 93 to 97 % of comparisons;
- the statistics of 10,000 trials take at most 5 s of processor time and 500 MiB.

Shown, too, and not judged: what happens on machines of each noise by themselves, where few repetitions and much noise
make for more false claims than 5 %; and after a history of this machine. A few minutes, no Hadoop.
"""

import argparse
import resource
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from math import exp
from typing import NamedTuple

import numpy as np

from assay.model.noise import SHIPPED_PRIOR, NoisePrior
from assay.model.trial import ZERO_DELAY
from assay.rounds import STOP_ALPHA
from assay.stats.comparison import Comparison, compare
from assay.stats.effect import effects
from assay.stats.fit import residuals
from assay.stats.noise import fit_prior, moderated, repetitions_needed
from assay.stats.outlier import outliers
from assay.stats.sample import PLACEMENT, Sample
from assay.testing.fake_times import FakeTimes

LEAST_FOUND, MOST_CLAIMED, COVERED = 0.90, 0.05, (0.93, 0.97)
MOST_SECONDS, MOST_MIB = 5.0, 500.0
EFFECT = 1.05
LEAST_NOISE, USUAL_NOISE, MOST_NOISE, SPREAD = 0.04, 0.10, 0.28, 0.5
"""Of pairs' log ratios: bounds, median, and the standard deviation of its logarithm from plan to plan."""
STATES, DRIFT = 0.3, 0.003

Factors = Mapping[str, Mapping[str, float]]
TWO: Factors = {"workload": {"sort": 1.0}, "placement": {"hdd": 1.0, "ssd": 1.0}}
BASELINE: Factors = {"workload": {"sort": 1.0}, "placement": {"hdd": 1.0, "ssd": 1.0, ZERO_DELAY: 1.0}}
FOUR: Factors = {
    "workload": {"sort": 1.0, "count": 0.3},
    "placement": dict.fromkeys(("hdd", "hybrid", "nvme", "ssd"), 1.0),
}
SETTINGS: Factors = {
    "workload": {"sort": 1.0, "count": 0.3},
    "memory": dict.fromkeys(("1GiB", "2GiB", "4GiB"), 1.0),
    "placement": {"hdd": 1.0, "ssd": 1.0},
}


KNOWN = NoisePrior(deviation=0.05, freedom=20, source="history")


class Scenario(NamedTuple):
    """One kind of plan; `mirrored` runs there and back in each repetition."""

    name: str
    factors: Factors
    repetitions: int
    mirrored: bool = False


SCENARIOS = (
    Scenario("the quickstart: hdd, ssd, zero, ssd, hdd", BASELINE, 1, mirrored=True),
    Scenario("two placements, 2 repetitions", TWO, 2),
    Scenario("two placements and zero delay, 2 repetitions", BASELINE, 2),
    Scenario("two placements, 3 repetitions", TWO, 3),
    Scenario("two placements, 5 repetitions", TWO, 5),
    Scenario("two placements, 10 repetitions", TWO, 10),
    Scenario("two workloads, four placements, 2 repetitions", FOUR, 2),
    Scenario("two workloads, four placements, 5 repetitions", FOUR, 5),
    Scenario("two workloads, three sizes of memory, 3 repetitions", SETTINGS, 3),
)


class Rates(NamedTuple):
    """Of some plans: the share with any claim, its standard error at 5 %, and the share of intervals with the truth."""

    claimed: float
    error: float
    covered: float


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plans", type=int, default=4000, help="made-up plans for each line")
    plans = parser.parse_args().plans
    held = [_speed()]
    print("without any effect, noise as it is here:")  # noqa: T201
    held += [_judged(one, rates(one, noises(plans, 1))) for one in SCENARIOS]
    print("after a history of six workloads on the same machine (shown, not judged):")  # noqa: T201
    for one in SCENARIOS[:4]:
        _show(one, _with_history(one, plans // 4))
    _show_extended(plans // 8)
    print("on machines of one noise (that of pairs' ratios) by themselves (shown, not judged):")  # noqa: T201
    for one in (SCENARIOS[0], SCENARIOS[1], SCENARIOS[4]):
        print(f"  {one.name}")  # noqa: T201
        for noise in (0.04, 0.07, 0.10, 0.14, 0.20, 0.28):
            found = rates(one, [noise] * (plans // 4))
            print(f"    {noise:.0%}: claimed {found.claimed:.1%}, covered {found.covered:.1%}")  # noqa: T201
    print(f"a true effect of {EFFECT - 1:.0%} at a noise of 5% of each trial:")  # noqa: T201
    held += [_found(TWO, 1, plans), _found(FOUR, 6, plans // 8)]
    return 0 if all(held) else 1


def noises(plans: int, seed: int) -> list[float]:
    """Of pairs' log ratios, one for each plan."""
    drawn = USUAL_NOISE * np.exp(SPREAD * np.random.default_rng(seed).standard_normal(plans))
    return [float(one) for one in np.clip(drawn, LEAST_NOISE, MOST_NOISE)]


def made(scenario: Scenario, pair_noises: Sequence[float], first_seed: int = 0) -> Iterator[list[Sample]]:
    """A plan's trials for each of some noises; every other one has two states."""
    for seed, noise in enumerate(pair_noises, first_seed):
        fake = FakeTimes(
            factors=scenario.factors, mirrored=scenario.mirrored, noise=noise / 2**0.5, tails=4,
            states=STATES * (seed % 2), drift=DRIFT, disturbed=0.0,
        )  # fmt: skip
        yield fake.samples(scenario.repetitions, seed)


def rates(scenario: Scenario, pair_noises: Sequence[float], prior: NoisePrior = SHIPPED_PRIOR) -> Rates:
    """Of plans in which the truth is that nothing has an effect."""
    return _rates([compare(one, prior=prior) for one in made(scenario, pair_noises)])


def _rates(judged: Sequence[Sequence[Comparison]], truth: float = 1.0) -> Rates:
    claims = [any(one.significant for one in own) for own in judged]
    covered = [truth in one.interval for own in judged for one in own]
    error = (MOST_CLAIMED * (1 - MOST_CLAIMED) / len(claims)) ** 0.5
    return Rates(sum(claims) / len(claims), error, sum(covered) / len(covered))


def _judged(scenario: Scenario, found: Rates) -> bool:
    _show(scenario, found)
    return found.claimed <= MOST_CLAIMED + 2 * found.error and COVERED[0] <= found.covered <= COVERED[1]


def _show(scenario: Scenario, found: Rates) -> None:
    print(  # noqa: T201
        f"  {scenario.name}: claimed {found.claimed:.1%} (standard error {found.error:.1%}), "
        f"covered {found.covered:.1%}"
    )


def _with_history(scenario: Scenario, plans: int) -> Rates:
    """Each plan's machine has run six workloads of like noise before, three repetitions of two placements each."""
    source = np.random.default_rng(2)
    before = Scenario("", TWO, 3)
    judged = []
    for seed, noise in enumerate(noises(plans, 3)):
        like = [float(one) for one in noise * np.exp(0.2 * source.standard_normal(7))]
        earlier = made(before, like[:6], 1_000_000 + 6 * seed)
        prior = fit_prior([one for own in earlier for one in residuals(own, PLACEMENT).values()])
        judged += [compare(own, prior=prior) for own in made(scenario, like[6:], seed)]
    return _rates(judged)


def _show_extended(plans: int) -> None:
    """What `--for` risks: it looks after each repetition, and stops once something is significant at 1 %."""
    longest = Scenario("", TWO, 20)
    claimed = 0
    for own in made(longest, noises(plans, 4), 2_000_000):
        for count in range(2, 21):
            (one,) = compare([one for one in own if one.repetition <= count])
            if one.significant and (count == 20 or (one.p_adjusted or 0.0) <= STOP_ALPHA):
                claimed += 1
                break
    print(f"  repeated 2 to 20 times, as --for does (shown, not judged): claimed {claimed / plans:.1%}")  # noqa: T201


def _found(factors: Factors, comparisons: int, plans: int) -> bool:
    """How often the last placement's effect is found with as many repetitions as a history of such noise plans."""
    repetitions = repetitions_needed(moderated(0.0, 0, KNOWN), comparisons=comparisons) or 0
    with_effect = {**factors, "placement": {**factors["placement"], "ssd": 1 / EFFECT}}
    scenario = Scenario("", with_effect, repetitions)
    judged = [compare(own, prior=KNOWN) for own in made(scenario, [0.05 * 2**0.5] * plans)]
    found = [one.significant for own in judged for one in own if (one.base, one.level) == ("hdd", "ssd")]
    covered = [1 / EFFECT in one.interval for own in judged for one in own if (one.base, one.level) == ("hdd", "ssd")]
    share, intervals = sum(found) / len(found), sum(covered) / len(covered)
    print(  # noqa: T201
        f"  {len(factors['workload'])} x {len(factors['placement'])}, {repetitions} repetitions: found {share:.1%}, "
        f"covered {intervals:.1%}"
    )
    return share >= LEAST_FOUND


def _speed() -> bool:
    """500 combinations of four factors, 20 repetitions each, judged for each factor."""
    fake = FakeTimes(
        factors={
            "workload": {name: 2.0**place for place, name in enumerate("abcde")},
            "settings": {name: 1.0 + place / 10 for place, name in enumerate("abcde")},
            "memory": {name: 1.0 + place / 20 for place, name in enumerate("abcde")},
            "placement": {name: exp(-place / 10) for place, name in enumerate(FOUR["placement"])},
        }
    )
    found = fake.samples(20, 1)
    began = time.process_time()
    told = len(compare(found))
    effects(found)
    effects(found, within=("workload",))
    outliers(found)
    seconds = time.process_time() - began
    mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(found)} trials, {told} comparisons: {seconds:.1f} s, {mib:.0f} MiB")  # noqa: T201
    return seconds <= MOST_SECONDS and mib <= MOST_MIB


if __name__ == "__main__":
    sys.exit(main())
