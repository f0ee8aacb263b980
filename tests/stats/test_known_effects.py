"""Proves that a true effect is found as often as planned, and a false one seldom claimed.

`benchmarks/known_effects.py` proves the same at length.
"""

import numpy as np

from assay.stats.comparison import compare
from assay.stats.pairing import couples_of
from assay.stats.planning import Noise, repetitions_needed
from assay.stats.ranks import signed_rank
from assay.testing.fake_times import FakeTimes

SEEDS = 400
NOISE = 0.04


def share_told(effect, repetitions):
    """Of plans with noise, drift and disturbed trials; all in one call, which tells the same as one at a time."""
    fake = FakeTimes(factors={"placement": {"hdd": 1.0, "ssd": effect}}, noise=NOISE)
    plans = [fake.samples(repetitions, seed) for seed in range(SEEDS)]
    pairs = [couple.differences for plan in plans for couple in couples_of(plan, "placement", None, every=False)]
    chances = signed_rank(np.array(pairs)).p
    assert [compare(plan, ["placement"])[0].p for plan in plans[:3]] == chances[:3].tolist()
    return (chances <= 0.05).mean()


def test_a_true_effect_of_five_percent_is_found_with_the_planned_repetitions():
    assert share_told(1.05, repetitions_needed(Noise(2**0.5 * NOISE))) >= 0.9


def test_no_effect_is_seldom_claimed():
    assert share_told(1.0, repetitions_needed(Noise(2**0.5 * NOISE))) <= 0.05 + 2 * (0.05 * 0.95 / SEEDS) ** 0.5


def test_one_claim_in_twenty_is_for_all_comparisons_together():
    fake = FakeTimes(factors={"placement": dict.fromkeys(("hdd", "nvme", "memory", "ssd"), 1.0)}, noise=NOISE)
    claimed = [any(one.told for one in compare(fake.samples(10, seed), ["placement"])) for seed in range(30)]
    assert sum(claimed) <= 5
