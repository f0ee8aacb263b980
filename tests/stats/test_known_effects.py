"""Proves, on few made-up plans, what `benchmarks/known_effects.py` proves at length: claims are seldom false and often made."""

from math import log
from statistics import stdev

import numpy as np
import pytest

from assay.model.trial import SHIPPED_PRIOR, ZERO_DELAY, NoisePrior
from assay.stats.comparison import compare
from assay.stats.decision import Verdict, decisions
from assay.stats.noise import moderated, repetitions_needed
from tests.builders import summarised
from tests.stats.fake_times import FakeTimes
from tests.stats.terasort import mirrored_run

PLANS = 300
MIRRORED = ("hdd", "ssd", ZERO_DELAY, "ssd", "hdd")
KNOWN = NoisePrior(deviation=0.05, freedom=20, source="history")


def judged(effect, repetitions, noise, prior=SHIPPED_PRIOR, spread=0.0, **changes):
    """Each plan has a noise of its own where there is a `spread`, the standard deviation of the noises' logarithms."""
    factors = {"workload": {"sort": 1.0}, "placement": {"hdd": 1.0, "ssd": effect}}
    noises = noise * np.exp(spread * np.random.default_rng(1).standard_normal(PLANS))
    for seed, own in enumerate(noises):
        fake = FakeTimes(factors=factors, noise=own, disturbed=0.0, tails=4, **changes)
        yield compare(fake.samples(repetitions, seed), prior=prior)[0]


def error(share):
    return (share * (1 - share) / PLANS) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize("repetitions", [2, 5])
def test_without_an_effect_few_plans_claim_one(repetitions):
    claims = [one.significant for one in judged(1.0, repetitions, 0.07, spread=0.5, states=0.3)]
    assert sum(claims) / PLANS <= 0.05 + 2 * error(0.05)


@pytest.mark.slow
def test_verdicts_about_a_saving_of_just_the_threshold_are_seldom_claimed():
    source = np.random.default_rng(1)
    claimed = 0
    for _ in range(PLANS):
        order = {"hdd": 40.0, "ssd": 36.0, ZERO_DELAY: 30.0}
        times = [(name, order[name] * np.exp(0.07 * source.standard_normal())) for name in MIRRORED]
        (found,) = decisions(*summarised(*mirrored_run(times)))
        claimed += found.verdict is not Verdict.NOT_KNOWN_YET
    assert claimed / PLANS <= 0.05 + 2 * error(0.05)


@pytest.mark.slow
def test_the_planned_repetitions_find_five_percent():
    repetitions = repetitions_needed(moderated(0.0, 0, KNOWN))
    found = [one.significant for one in judged(1 / 1.05, repetitions, 0.05, KNOWN)]
    assert sum(found) / PLANS >= 0.9 - 2 * error(0.9)


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "spread", "most"), [(0.07, 0.5, 0.99), (0.12, 0.3, 0.97)])
def test_intervals_cover_the_truth(noise, spread, most):
    """At little noise they are too wide, by a prior that counts less only where trials contradict it (decision 34)."""
    covered = [0.9 in one.interval for one in judged(0.9, 4, noise, spread=spread)]
    assert 0.93 - 2 * error(0.93) <= sum(covered) / PLANS <= most + 2 * error(most)


@pytest.mark.slow
def test_noise_that_is_known_from_earlier_trials_is_judged_right_where_it_is_large():
    noisy = NoisePrior(deviation=0.2, freedom=10, source="history")
    claims = [one.significant for one in judged(1.0, 2, 0.2, noisy)]
    assert sum(claims) / PLANS <= 0.05 + 2 * error(0.05)


def test_made_up_noise_is_as_large_as_it_says():
    fake = FakeTimes(factors={"placement": {"hdd": 1.0}}, noise=0.1, tails=8, states=0.3, drift=0.0, disturbed=0.0)
    assert stdev(log(one.elapsed_s) for one in fake.samples(3000, 1)) == pytest.approx(0.1, rel=0.1)
