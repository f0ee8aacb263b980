"""Whether statistics judge right, and how quickly: `python benchmarks/known_effects.py [--plans 4000]`.

Made-up plans in the order of real ones, each judged as a report judges it. Noise is as it was measured on machines of
two shared cores: each plan's ratios of pairs have a standard deviation of 4 to 28 %, mostly near 10 %; the tails are
heavy (Student's t with 4 degrees of freedom), half of the plans have a slow state in which one trial of five is, and
times drift with each trial. The gates, of which none may fail (exit code 1):

- where there is no effect at all, at most 5 % of plans claim any, beyond two standard errors of so many plans;
- a true effect of 5 % is found with the planned repetitions in at least 90 % of plans, at a noise of 5 %;
- 95 % intervals of ratios cover the truth in 93 to 97 % of comparisons, and so do those of savings and storage shares;
- where the saving is exactly the threshold, at most 5 % of decisions say *worth it* or *not worth it*;
- of runs in whose jobs and phases nothing has an effect, at a noise of 10 to 30 %, at most 5 % call any of them
  significant;
- the statistics of 10,000 trials take at most 5 s of processor time and 500 MiB.

Shown, too, and not judged: how often intervals of what a placement wins back cover the truth; what happens on machines
of each noise by themselves, where few repetitions and much noise make for more false claims than 5 %; and after a
history of this machine. A few minutes, no Hadoop.

With `--noise FILE`, which `benchmarks/a_a.py` writes, plans have the noise that real trials had in an A/A run instead:
each workload's standard deviation, tails, slow state, drift and autocorrelation. Only what happens without any effect
is shown then, and not judged: it is one machine's noise, and the promise holds on average over machines. By itself:
`PYTHONPATH=$PWD/src:$PWD:$PWD/extras .assay/venv/bin/python benchmarks/known_effects.py`.
"""

import argparse
import json
import resource
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from math import exp
from pathlib import Path
from typing import NamedTuple

import numpy as np
from benchmarks.a_a import STRONG_BIC
from tests.builders import a_job, a_plan, a_record, a_trial
from tests.stats.fake_times import SLOW_SHARE, FakeTimes

from assay.engine.mapreduce import KIND
from assay.model.record import Record
from assay.model.signature import Array
from assay.model.trial import SHIPPED_PRIOR, ZERO_DELAY, NoisePrior, Plan
from assay.run import STOP_ALPHA
from assay.stats.breakdown import breakdowns
from assay.stats.comparison import Comparison, compare
from assay.stats.decision import Decision, Estimate, Verdict, decisions
from assay.stats.fit import residuals
from assay.stats.noise import fit_prior, moderated, repetitions_needed
from assay.stats.sample import PLACEMENT, Sample, samples
from assay.stats.summary import outliers
from assay_extras.factor_effects.effects import effects

LEAST_FOUND, MOST_CLAIMED, COVERED = 0.90, 0.05, (0.93, 0.97)
MOST_SECONDS, MOST_MIB = 5.0, 500.0
EFFECT = 1.05
LEAST_NOISE, USUAL_NOISE, MOST_NOISE, SPREAD = 0.04, 0.10, 0.28, 0.5
"""Of pairs' log ratios: bounds, median, and the standard deviation of its logarithm from plan to plan."""
STATES, DRIFT = 0.3, 0.003
SSD, ZERO = 0.75, 0.6
"""True times of decisions whose intervals are judged; the base takes 1."""
MOST_TAILS = 30
"""With more degrees of freedom Student's t is as good as normal."""
PARTS, PART_S, PART_NOISES = 7, 2.0, (0.1, 0.3)
"""Four phases and three jobs, their seconds, and the least and most standard deviation of their log times."""

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
    parser.add_argument("--noise", type=Path, metavar="FILE", help="noise as measured in an A/A run (see a_a.py)")
    wishes = parser.parse_args()
    plans = wishes.plans
    if wishes.noise:
        return _show_measured(wishes.noise, plans)
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
    print("decisions where the saving is exactly the threshold:")  # noqa: T201
    held += [_at_the_threshold(one, plans // 2) for one in (*SCENARIOS[:5], SCENARIOS[6])]
    print(f"decisions with a storage share of {1 - ZERO:.0%} and a saving of {1 - SSD:.0%}:")  # noqa: T201
    held += [_covered(one, plans // 2) for one in (SCENARIOS[0], SCENARIOS[2])]
    print("jobs and phases without any effect:")  # noqa: T201
    held += [_parts_judged(one, plans // 2) for one in SCENARIOS[:3]]
    print(f"a true effect of {EFFECT - 1:.0%} at a noise of 5% of each trial:")  # noqa: T201
    held += [_found(TWO, 1, plans), _found(FOUR, 6, plans // 8)]
    return 0 if all(held) else 1


def _show_measured(file: Path, plans: int) -> int:
    """False claims with the noise of an A/A run, its workloads in turn."""
    content = json.loads(file.read_text(encoding="utf-8"))
    print("without any effect, noise as measured (shown, not judged):", content["source"])  # noqa: T201
    models = [measured_noise(one) for one in content["workloads"].values()]
    for name, model in zip(content["workloads"], models, strict=True):
        known = ", ".join(f"{key} {value:.3g}" for key, value in model.items())
        print(f"  {name} ({content['workloads'][name]['pairs']} pairs): {known}")  # noqa: T201
    for scenario in SCENARIOS:
        judged = []
        for seed in range(plans):
            shape = {"factors": scenario.factors, "mirrored": scenario.mirrored, "disturbed": 0.0}
            fake = FakeTimes.model_validate(shape | models[seed % len(models)])
            judged.append(compare(fake.samples(scenario.repetitions, seed)))
        _show(scenario, _rates(judged))
    return 0


def measured_noise(workload: Mapping[str, float]) -> Mapping[str, float]:
    """A `FakeTimes` with the noise of an A/A run's workload.

    Heavy tails are those of Student's t, whose excess kurtosis is 6 / (freedom - 4), and half of it in a ratio of two.
    Where there is a slow state, that is what makes the tails.
    """
    slow = workload["evidence_of_states"] > STRONG_BIC
    tails = 0 if slow or workload["kurtosis"] <= 0 else round(4 + 3 / workload["kurtosis"])
    share = workload["slow_share"]
    variance = share * (1 - share) * workload["slow_log"] ** 2 if slow else 0.0
    alike = 0.0 if slow else min(max(workload["autocorrelation"], 0.0), 0.9)
    return {
        "noise": workload["pair_deviation"] / (2 * (1 - alike)) ** 0.5,  # what both of a pair share is not in its ratio
        "tails": tails if tails <= MOST_TAILS else 0,
        "states": min(1.0, 2 * variance / workload["pair_deviation"] ** 2),
        "slow_share": share if slow else SLOW_SHARE,
        "drift": workload["drift"],
        "autocorrelation": alike,
    }


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


def run_of(found: Sequence[Sample]) -> tuple[Plan, list[Record]]:
    """The plan and records of some trials, with the first placement as base."""
    records = []
    for number, one in enumerate(found, 1):
        levels = dict(one.factors)
        trial = a_trial(number, levels[PLACEMENT], one.repetition, workload=levels["workload"])
        record = a_record(trial.model_copy(update={"zero_delay": levels[PLACEMENT] == ZERO_DELAY}))
        records.append(_with_totals(record, elapsed_s=one.elapsed_s))
    return a_plan(*(one.trial for one in records)).model_copy(update={"placements": ("hdd",)}), records


def decided(scenario: Scenario, times: Mapping[str, float], pair_noises: Sequence[float]) -> Iterator[list[Decision]]:
    """Each plan's decisions as a report makes them; `times` are placements' true times, the first one's is 1."""
    with_effect = {**scenario.factors, "placement": {**scenario.factors["placement"], **times}}
    for own in made(scenario._replace(factors=with_effect), pair_noises):
        plan, records = run_of(own)
        compared = compare(samples(records), orders={PLACEMENT: plan.placements})
        yield decisions(plan, records, compared)


def _at_the_threshold(scenario: Scenario, plans: int) -> bool:
    """How often a verdict is claimed of any decision: neither is right nor wrong, so either is chance."""
    threshold = 1 - a_plan().worth
    times = {name: threshold for name in scenario.factors["placement"] if name not in ("hdd", ZERO_DELAY)}
    claims: dict[Verdict, int] = dict.fromkeys(Verdict, 0)
    claimed = 0
    for own in decided(scenario, times, noises(plans, 5)):
        verdicts = {placement.verdict for one in own for placement in one.placements[1:]}
        for verdict in verdicts - {None}:
            claims[Verdict(verdict)] += 1
        claimed += bool(verdicts - {None, Verdict.NOT_KNOWN_YET})
    share, error = claimed / plans, (MOST_CLAIMED * (1 - MOST_CLAIMED) / plans) ** 0.5
    print(  # noqa: T201
        f"  {scenario.name}: worth it {claims[Verdict.WORTH_IT] / plans:.1%}, "
        f"not worth it {claims[Verdict.NOT_WORTH_IT] / plans:.1%}, either {share:.1%} (standard error {error:.1%})"
    )
    return share <= MOST_CLAIMED + 2 * error


def _covered(scenario: Scenario, plans: int) -> bool:
    """How often the intervals of a decision's figures hold the truth."""
    covered: dict[str, list[bool]] = {"saving": [], "storage share": [], "won back": []}
    for (one,) in decided(scenario, {"ssd": SSD, ZERO_DELAY: ZERO}, noises(plans, 6)):
        hdd, ssd = one.placements
        covered["saving"].append(_holds(ssd.saving, 1 - SSD))
        covered["storage share"] += [_holds(hdd.storage_share, 1 - ZERO), _holds(ssd.storage_share, 1 - ZERO / SSD)]
        if ssd.won_back:
            covered["won back"].append(_holds(ssd.won_back, (1 - SSD) / (1 - ZERO)))
    shares = {name: sum(own) / len(own) for name, own in covered.items()}
    shown = len(covered["won back"]) / plans
    words = ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
    print(f"  {scenario.name}: covered: {words} (shown in {shown:.0%})")  # noqa: T201
    return all(COVERED[0] <= shares[name] <= COVERED[1] for name in ("saving", "storage share"))


def _holds(one: Estimate | None, truth: float) -> bool:
    return one is not None and one.low is not None and one.high is not None and one.low <= truth <= one.high


def _parts_judged(scenario: Scenario, plans: int) -> bool:
    """How often any job or phase seems to have an effect, at part noises drawn from the range, and at its ends."""
    source = np.random.default_rng(7)
    drawn = source.uniform(*PART_NOISES, (plans, PARTS))
    mixed = _claimed_parts(scenario, drawn)
    least, most = (_claimed_parts(scenario, np.full((plans // 4, PARTS), noise)) for noise in PART_NOISES)
    error = (MOST_CLAIMED * (1 - MOST_CLAIMED) / plans) ** 0.5
    print(  # noqa: T201
        f"  {scenario.name}: claimed {mixed:.1%} (standard error {error:.1%}), with {PART_NOISES[0]:.0%} in all parts "
        f"{least:.1%}, with {PART_NOISES[1]:.0%} {most:.1%}"
    )
    return mixed <= MOST_CLAIMED + 2 * error


def _claimed_parts(scenario: Scenario, part_noises: Array) -> float:
    """Of runs with so much noise in each part, (runs, parts): the first ones are phases, the others jobs."""
    claims = 0
    for seed, own in enumerate(part_noises):
        source = np.random.default_rng(seed)
        fake = FakeTimes(factors=scenario.factors, mirrored=scenario.mirrored, noise=0.05, disturbed=0.0)
        plan, records = run_of(fake.samples(scenario.repetitions, seed))
        seconds = PART_S * np.exp(own * source.standard_t(4, (len(records), PARTS)) / 2**0.5)
        parted = [
            _with_parts(one, [float(part) for part in times]) for one, times in zip(records, seconds, strict=True)
        ]
        changes = [
            change
            for one in breakdowns(parted, decisions(plan, parted))
            for part in one.parts
            for time_of in part.times
            for change in (time_of.storage_share, time_of.saving)
        ]
        claims += any(one.significant for one in changes if one)
    return claims / len(part_noises)


def _with_parts(record: Record, seconds: Sequence[float]) -> Record:
    phases = dict(zip(KIND.phases, seconds, strict=False))
    jobs = tuple(a_job("step", own) for own in seconds[len(KIND.phases) :])
    return _with_totals(record.model_copy(update={"jobs": jobs}), phases=phases)


def _with_totals(record: Record, **values: object) -> Record:
    totals = record.totals and record.totals.model_copy(update=values)
    return record.model_copy(update={"totals": totals})


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
