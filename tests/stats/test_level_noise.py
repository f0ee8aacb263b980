"""Proves that a ratio's noise is that of its own two levels, however they differ and however often each ran."""

import numpy as np
import pytest
from scipy.stats import ttest_ind

from assay.model.trial import SHIPPED_PRIOR, ZERO_DELAY
from assay.stats.comparison import compare
from assay.stats.fit import fits
from assay.stats.level_noise import PairSpreads, pair_noise, pair_spread
from assay.stats.noise import moderated
from assay.stats.sample import MACHINE, TrialSample, block_numbers
from tests.stats.fake_times import FakeTimes

LEVELS = {"hdd": 1.0, "nvme": 1.0, "ssd": 1.0}
NOISY_DISK = {"hdd": 0.15, "nvme": 0.04, "ssd": 0.04}


def trials(level, blocks, deviation=0.1, seed=1):
    source = np.random.default_rng([seed, *level.encode()])
    factors = (("workload", "sort"), ("placement", level), (MACHINE, "A"))
    return [
        TrialSample(f"{level}-{place}", factors, block, float(np.exp(deviation * source.standard_normal())))
        for place, block in enumerate(blocks)
    ]


@pytest.mark.parametrize(
    ("first", "second", "blocked"),
    [
        ((1, 2, 3), (1, 2, 3), True),
        ((1, 1, 2, 2), (1, 2), True),
        ((1, 1, 2, 4), (1, 2, 2, 3, 3), True),
        ((1, 2, 3), (4, 5, 6, 7, 8), False),
        ((1, 1, 2), (3, 3), True),
    ],
    ids=["whole", "mirrored", "torn", "no turns", "never together"],
)
def test_the_mixing_is_that_of_the_residuals_projection(first, second, blocked):
    one, other = trials("hdd", first), trials("ssd", second)
    spread = pair_spread(one, other, blocked=blocked)
    both = [*one, *other]
    blocks = block_numbers(both) if blocked else np.zeros(len(both), int)
    column = np.repeat([0.0, 1.0], [len(one), len(other)])
    design = np.column_stack([np.eye(blocks.max() + 1)[blocks], column])
    residual = np.eye(len(both)) - design @ np.linalg.pinv(design)
    members = np.column_stack([1 - column, column])
    left = residual @ np.log([sample.elapsed_s for sample in both])
    assert spread.squares == pytest.approx(left**2 @ members)
    assert spread.mixing == pytest.approx(members.T @ residual**2 @ members)
    assert spread.freedom == round(np.trace(residual))


def test_two_levels_in_whole_blocks_have_the_moderated_noise_of_both_together():
    spread = pair_spread(trials("hdd", range(5)), trials("ssd", range(5), 0.02), blocked=True)
    noise = pair_noise(spread, np.array([1.0, 1.0]), SHIPPED_PRIOR)
    both = moderated(float(spread.squares.sum()), 4, SHIPPED_PRIOR)
    assert noise.deviation == pytest.approx(both.deviation)
    assert (noise.freedom, noise.own_freedom) == (pytest.approx(both.freedom), 4)


def test_levels_that_took_no_turns_come_near_welchs_test_with_many_trials():
    one, other = trials("hdd", range(60), 0.15), trials("ssd", range(100, 400), 0.04)
    (fit,) = fits([*one, *other], "placement").values()
    welch = ttest_ind(*([np.log(own.elapsed_s) for own in both] for both in (other, one)), equal_var=False)
    assert not fit.blocked
    assert fit.contrast("ssd", "hdd").error == pytest.approx(welch._standard_error, rel=0.1)
    pooled = fit.noise.deviation * (1 / 60 + 1 / 300) ** 0.5
    assert welch._standard_error > 1.4 * pooled  # as it was, all levels taken together
    assert fit.contrast("ssd", "hdd").freedom < 100  # and not 358


def test_the_quiet_levels_of_a_run_do_not_narrow_the_interval_of_the_noisy_one():
    found = FakeTimes(factors={"workload": {"sort": 1.0}, "placement": LEVELS}, noises=NOISY_DISK, disturbed=0.0)
    (fit,) = fits(found.samples(40, 1), "placement").values()
    variance = (0.15**2 + 0.04**2) / 2
    assert fit.noise_of("ssd", "hdd").deviation == pytest.approx(variance**0.5, rel=0.2)
    assert fit.noise_of("ssd", "nvme").deviation == pytest.approx(0.04, rel=0.2)


ENGINES = {"workload": {"sort": 1.0}, "engine": {"mapreduce": 1.0, "tez": 1.0}, "placement": {"hdd": 1.0, "ssd": 1.0}}


def test_quiet_combinations_do_not_narrow_the_interval_of_a_noisy_one():
    found = FakeTimes(factors=ENGINES, noise=0.03, noises={"tez": 0.3}, disturbed=0.0).samples(40, 1)
    for others, fit in fits(found, "placement").items():
        deviation = {"mapreduce": 0.03, "tez": 0.3}[dict(others)["engine"]]
        assert fit.noise_of("ssd", "hdd").deviation == pytest.approx(deviation, rel=0.25)


def test_a_combination_that_ran_once_is_not_tested_by_the_noise_of_others():
    found = FakeTimes(factors=ENGINES).samples(3, 1)
    once = [one for one in found if one.level("engine") == "mapreduce" or one.repetition == 1]
    tested = {dict(one.others)["engine"]: one.p is not None for one in compare(once, ["placement"])}
    assert tested == {"mapreduce": True, "tez": False}


@pytest.mark.slow
def test_intervals_cover_the_truth_of_each_combination_where_one_is_noisier():
    plans = 300
    for deviations in ({"mapreduce": 0.03, "tez": 0.2}, {"mapreduce": 0.08, "tez": 0.16}):
        fake = FakeTimes(factors=ENGINES, noises=deviations, tails=4, disturbed=0.0)
        compared = [one for seed in range(plans) for one in compare(fake.samples(3, seed), ["placement"])]
        for engine in deviations:
            covered = [1.0 in one.interval for one in compared if dict(one.others)["engine"] == engine]
            assert sum(covered) / plans >= 0.93 - 2 * (0.93 * 0.07 / plans) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize("repetitions", [3, 5, 10])
def test_intervals_cover_the_truth_where_the_hard_disk_is_noisier(repetitions):
    plans = 400
    names = {"workload": {"sort": 1.0}, "placement": {"hdd": 1.0, "ssd": 1.0, ZERO_DELAY: 1.0}}
    fake = FakeTimes(factors=names, noise=0.04, noises={"hdd": 0.15}, tails=4, disturbed=0.0)
    covered = [1.0 in compare(fake.samples(repetitions, seed))[0].interval for seed in range(plans)]
    assert sum(covered) / plans >= 0.94 - 2 * (0.94 * 0.06 / plans) ** 0.5


def test_a_pair_is_worked_out_once():
    spreads = PairSpreads({"hdd": trials("hdd", range(3)), "ssd": trials("ssd", range(3))}, blocked=True)
    assert spreads.of("hdd", "ssd") is spreads.of("hdd", "ssd")


def test_equal_times_have_the_priors_noise_alone():
    factors = (("workload", "sort"), (MACHINE, "A"))
    found = [TrialSample(f"{name}{n}", (*factors, ("placement", name)), n, 2.0) for name in LEVELS for n in range(3)]
    (fit,) = fits(found, "placement").values()
    assert fit.contrast("ssd", "hdd").ratio == pytest.approx(1)
    assert fit.contrast("ssd", "hdd").error == pytest.approx(SHIPPED_PRIOR.deviation * (3 / 5 * 2 / 3) ** 0.5)


def test_two_levels_without_residuals_of_their_own_have_those_of_all():
    mirrored = [*trials("hdd", [1]), *trials("ssd", [1]), *trials("nvme", [1, 1, 1])]
    (fit,) = fits(mirrored, "placement").values()
    assert fit.noise_of("ssd", "hdd") == fit.noise
    assert fit.own_contrast("ssd", "hdd") is None
