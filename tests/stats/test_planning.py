"""Proves that planned repetitions follow noise, effect and number of comparisons, and never promise the impossible."""

import numpy as np
import pytest

from assay.stats.planning import Noise, least_repetitions, noise_of, repetitions_needed
from assay.stats.ranks import signed_rank


def test_more_noise_smaller_effects_and_more_comparisons_take_more():
    base = repetitions_needed(Noise(0.05))
    assert base < repetitions_needed(Noise(0.08))
    assert base < repetitions_needed(Noise(0.05), effect=0.02)
    assert base < repetitions_needed(Noise(0.05), comparisons=10)
    assert base < repetitions_needed(Noise(0.05), power=0.99)


@pytest.mark.parametrize(("noise", "comparisons"), [(0.05, 1), (0.04, 10), (0.07, 1)])
def test_so_many_find_it_in_nine_of_ten_plans_with_disturbed_trials_among_them(noise, comparisons):
    source = np.random.default_rng(5)
    count = repetitions_needed(Noise(noise), comparisons=comparisons)
    sides = source.normal(0, noise / 2**0.5, (2, 3000, count)) + 0.5 * (source.random((2, 3000, count)) < 0.02)
    told = signed_rank(sides[0] - sides[1] + np.log(1.05)).p <= 0.05 / comparisons
    assert 0.89 <= told.mean() <= 0.96


def test_without_noise_it_is_what_the_test_can_tell_at_all_though_a_trial_be_disturbed():
    """Six pairs must all be on one side, and one in fifty is not: 0.98^6 is below 0.9. Twelve can bear one that is not."""
    assert repetitions_needed(Noise(0.0)) == 12
    assert repetitions_needed(Noise(0.0), power=0.85) == 6
    assert repetitions_needed(Noise(0.0), comparisons=1000) > 16


def test_noise_that_few_trials_told_takes_more_than_noise_that_is_known():
    assert repetitions_needed(Noise(0.05, 4)) > repetitions_needed(Noise(0.05, 20)) > repetitions_needed(Noise(0.05))


def test_what_nobody_would_wait_for_is_not_planned():
    assert repetitions_needed(Noise(3.0)) is None


def test_one_disturbed_trial_does_not_ask_for_many_more():
    source = np.random.default_rng(1)
    calm = [source.normal(0, 0.04, 8) for _ in range(5)]
    disturbed = [calm[0] + np.array([0.8] + [0.0] * 7), *calm[1:]]
    assert noise_of(calm).deviation == pytest.approx(0.04, rel=0.2)
    assert noise_of(disturbed).deviation < 1.3 * noise_of(calm).deviation
    assert noise_of(calm).freedom == 35


def test_noise_of_single_trials_is_not_known():
    assert noise_of([np.array([0.1]), np.array([0.2])]) is None


@pytest.mark.parametrize(("comparisons", "least"), [(1, 4), (2, 5), (6, 5), (7, 6), (12, 6), (23, 6), (24, 7)])
def test_fewer_repetitions_than_these_tell_nothing(comparisons, least):
    """All of 4 above all of 4 happens in 1 of 35 cases, of 5 in 1 of 126, of 6 in 1 of 462."""
    assert least_repetitions(comparisons) == least
