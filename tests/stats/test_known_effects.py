"""Proves that in a real plan's order a true effect is found as often as planned, and a false one seldom claimed.

`benchmarks/known_effects.py` proves the same at length.
"""

import numpy as np
import pytest

from assay.stats.comparison import compare, holm
from assay.stats.pairing import couples_of
from assay.stats.planning import Noise, repetitions_needed
from assay.stats.ranks import signed_rank
from assay.testing.fake_times import FakeTimes

SEEDS = 400
NOISE = 0.04
TWO, FOUR = ("hdd", "ssd"), ("hdd", "memory", "nvme", "ssd")


def told(effect, placements):
    """Of planned plans with noise, drift and disturbed trials, which comparisons with the first placement are told."""
    levels = {"placement": dict.fromkeys(placements, 1.0) | {"ssd": effect}}
    fake = FakeTimes(factors=levels, noise=NOISE)
    repetitions = repetitions_needed(Noise(2**0.5 * NOISE), comparisons=len(placements) - 1)
    plans = [fake.samples(repetitions, seed) for seed in range(SEEDS)]
    pairs = [couple.differences for plan in plans for couple in couples_of(plan, "placement", None, every=False)]
    chances = signed_rank(np.array(pairs)).p.reshape(SEEDS, -1)
    found = np.array([holm(row) for row in chances.tolist()]) <= 0.05
    # All plans at once, which tells the same as one at a time.
    assert [one.told for one in compare(plans[0], ["placement"])] == found[0].tolist()
    return found


@pytest.mark.parametrize("placements", [TWO, FOUR])
def test_a_true_effect_of_five_percent_is_found_with_the_planned_repetitions(placements):
    assert told(1.05, placements)[:, -1].mean() >= 0.9


@pytest.mark.parametrize("placements", [TWO, FOUR])
def test_no_effect_is_seldom_claimed_over_all_comparisons_together(placements):
    assert told(1.0, placements).any(axis=1).mean() <= 0.05 + 2 * (0.05 * 0.95 / SEEDS) ** 0.5


def test_trials_run_in_the_order_of_a_real_plan():
    """Placements side by side, and turned from one repetition to the next."""
    fake = FakeTimes(factors={"settings": {"a": 1.0, "b": 1.0}, "placement": dict.fromkeys(TWO, 1.0)})
    found = fake.samples(2, 1)
    turns = [tuple(one.level("placement") for one in found[at : at + 2]) for at in range(0, 8, 2)]
    assert turns[0] == turns[1] == turns[2][::-1] == turns[3][::-1]
    assert [{one.level("settings") for one in found[at : at + 2]} for at in (0, 4)] != [{"a", "b"}] * 2
    assert [one.repetition for one in found] == [1] * 4 + [2] * 4
