"""Whether statistics judge right, and how quickly: `python benchmarks/known_effects.py [--seeds 2000]`.

Made-up plans with noise of 3 to 5 %, drift and disturbed trials, each judged as a report would. Bounds: a true effect
of 5 % is found with the repetitions that planning asks for in at least 90 % of plans, whether the noise is known or
comes from a pilot of 5 repetitions; where there is no effect at all, at most 5 % of plans claim any. Intervals of
ratios and effects cover the truth in at least 93 % of plans (those of medians are shown: few values can't). Statistics
of 10,000 trials take at most 5 s and 500 MiB. Exit code 1 where one does not hold. About 5 minutes, no Hadoop.
"""

import argparse
import resource
import sys
import time
from collections.abc import Sequence

from assay.stats.comparison import Comparison, compare
from assay.stats.effect import effects
from assay.stats.interval import medians
from assay.stats.outlier import outliers
from assay.stats.planning import Noise, repetitions_needed
from assay.stats.sample import Sample, combinations
from assay.testing.fake_times import FakeTimes

LEAST_FOUND, MOST_CLAIMED, LEAST_COVERED = 0.90, 0.05, 0.93
MOST_SECONDS, MOST_MIB = 5.0, 500.0
PILOT = 5
PLACEMENTS = ("hdd", "hybrid", "nvme", "ssd")
TWO = {"placement": {"hdd": 1.0, "ssd": 1.05}}
MANY = {"workload": {"sort": 1.0, "count": 0.3}, "placement": {"hdd": 1.0, "hybrid": 1.0, "nvme": 1.0, "ssd": 1.05}}


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2000, help="made-up plans for each line")
    seeds = parser.parse_args().seeds
    held = [_speed()]
    for noise in (0.03, 0.04, 0.05):
        held += [_two(noise, seeds), _pilot(noise, seeds), _many(noise, max(100, seeds // 4))]
    _more_disturbed(seeds)
    held += [_medians(seeds), _effects(max(100, seeds // 4))]
    return 0 if all(held) else 1


def _two(noise: float, seeds: int) -> bool:
    """Two placements, noise known: that of a pair's ratio is the root of 2 times that of a time."""
    count = repetitions_needed(Noise(2**0.5 * noise)) or 0
    fake, same = FakeTimes(factors=TWO, noise=noise), FakeTimes(factors=_none(TWO), noise=noise)
    found = [_only(compare(fake.samples(count, seed), ["placement"])) for seed in range(seeds)]
    claimed = [_only(compare(same.samples(count, seed), ["placement"])).told for seed in range(seeds)]
    covered = _share([one.interval is not None and 1.05 in one.interval for one in found])
    print(f"two placements, noise {noise:.0%}, {count} repetitions: ", end="")  # noqa: T201
    return _judge(_share([one.told for one in found]), _share(claimed), covered)


def _pilot(noise: float, seeds: int) -> bool:
    """The pilot says how many repetitions; those are added to its own."""
    fake, same = FakeTimes(factors=TWO, noise=noise), FakeTimes(factors=_none(TWO), noise=noise)
    found, counts = zip(*(_after_pilot(fake, seed) for seed in range(seeds)), strict=True)
    claimed = [_after_pilot(same, seed)[0].told for seed in range(seeds)]
    covered = _share([one.interval is not None and 1.05 in one.interval for one in found])
    middle = sorted(counts)[len(counts) // 2]
    print(f"  after a pilot of {PILOT}, then {min(counts)} to {max(counts)} (median {middle}): ", end="")  # noqa: T201
    return _judge(_share([one.told for one in found]), _share(claimed), covered)


def _after_pilot(fake: FakeTimes, seed: int) -> tuple[Comparison, int]:
    needed = _only(compare(fake.samples(PILOT, seed), ["placement"])).needed or 200
    count = max(PILOT, needed)
    return _only(compare(fake.samples(count, seed), ["placement"])), count


def _more_disturbed(seeds: int) -> None:
    """Shown, not judged: planning allows for 2 % of trials."""
    count = repetitions_needed(Noise(2**0.5 * 0.04)) or 0
    for share in (0.0, 0.05, 0.1):
        fake = FakeTimes(factors=TWO, disturbed=share)
        found = [_only(compare(fake.samples(count, seed), ["placement"])).told for seed in range(seeds)]
        print(f"noise 4%, {count} repetitions, {share:.0%} of trials disturbed: found {_share(found):.1%}")  # noqa: T201


def _many(noise: float, seeds: int) -> bool:
    """Two workloads, four placements: six comparisons, of which two have an effect, or none."""
    count = repetitions_needed(Noise(2**0.5 * noise), comparisons=6) or 0
    fake, same = FakeTimes(factors=MANY, noise=noise), FakeTimes(factors=_none(MANY), noise=noise)
    found = [
        one.told
        for seed in range(seeds)
        for one in compare(fake.samples(count, seed), ["placement"])
        if one.level == "ssd"
    ]
    claimed = [any(one.told for one in compare(same.samples(count, seed), ["placement"])) for seed in range(seeds)]
    print(f"  six comparisons, {count} repetitions: ", end="")  # noqa: T201
    return _judge(_share(found), _share(claimed), 1.0)


def _medians(seeds: int) -> bool:
    """How often intervals of few values cover the true median, beside the most that they can."""
    fake = FakeTimes(factors={"placement": {"hdd": 1.0}}, drift=0.0, disturbed=0.0)
    told = []
    for count in (3, 5, 8, 12, 20):
        groups = tuple(tuple(one.elapsed_s for one in fake.samples(count, seed)) for seed in range(seeds))
        found = [one.interval for one in medians(groups) if one.interval]
        told.append(f"{count} values {_share([fake.base_s in one for one in found]):.1%} of {found[0].level:.1%}")
    print("medians cover the truth:", ", ".join(told))  # noqa: T201
    return True


def _effects(seeds: int) -> bool:
    """Two factors that change each other's effect: how often intervals cover the truth."""
    held = []
    for count in (3, 5, 10):
        factors = {"settings": {"a": 1.0, "b": 1.2}, "placement": {"hdd": 1.0, "ssd": 0.8}}
        fake = FakeTimes(factors=factors, together={("b", "ssd"): 1.1**4}, disturbed=0.0)
        covered = []
        for seed in range(seeds):
            (found,) = effects(fake.samples(count, seed))
            interaction = next(one for one in found.effects if len(one.factors) == 2)
            # Of both at their second level what is beyond each by itself: the fourth root of the product.
            covered += [one.interval is not None and 1.1 in one.interval for one in interaction.levels[-1:]]
        print(f"effects of two factors together, {count} repetitions: covered {_share(covered):.1%}")  # noqa: T201
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
    began = time.perf_counter()
    told = _statistics(found)
    seconds = time.perf_counter() - began
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


def _only(compared: Sequence[Comparison]) -> Comparison:
    (one,) = compared
    return one


def _share(said: Sequence[bool]) -> float:
    return sum(said) / len(said)


def _judge(found: float, claimed: float, covered: float) -> bool:
    print(f"found {found:.1%}, claimed without effect {claimed:.1%}, covered {covered:.1%}")  # noqa: T201
    return found >= LEAST_FOUND and claimed <= MOST_CLAIMED and covered >= LEAST_COVERED


if __name__ == "__main__":
    sys.exit(main())
