"""Proves that few trials' variance is moderated as Smyth has it, and that repetitions follow from a power formula."""

from math import exp, log

import numpy as np
import pytest
from scipy.special import polygamma
from scipy.stats import chi2, norm

from assay.model.trial import SHIPPED_PRIOR, NoisePrior
from assay.stats.noise import (
    Residual,
    fit_prior,
    moderated,
    repetitions_needed,
    repetitions_to_decide,
    spread,
    trigamma_inverse,
)

PRIOR = NoisePrior(deviation=0.1, freedom=4, source="assumption")
KNOWN = NoisePrior(deviation=0.05, freedom=1e6, source="assumption")


def test_the_variance_is_averaged_with_the_priors_by_degrees_of_freedom():
    found = moderated(2 * 0.05**2, 2, PRIOR)
    assert found.deviation**2 == pytest.approx((4 * 0.01 + 2 * 0.0025) / 6)
    assert (found.freedom, found.own_freedom, found.borrowed) == (6, 2, pytest.approx(4 / 6))


def test_a_prior_that_the_residuals_contradict_counts_less():
    found = moderated(2 * 0.2**2, 2, PRIOR)  # four times the prior's variance: a sixteenth of its weight
    assert found.deviation**2 == pytest.approx((4 / 16 * 0.01 + 2 * 0.04) / (4 / 16 + 2))
    assert (found.freedom, found.prior.freedom) == (2.25, 0.25)
    assert found.borrowed == pytest.approx(0.25 / 2.25)
    assert moderated(3.0**2, 1, PRIOR).freedom == 2  # two pairs that contradict it leave it one degree
    far = moderated(2 * 3.0**2, 2, PRIOR)
    assert (far.deviation, far.freedom) == (pytest.approx(3.0, rel=1e-3), pytest.approx(2, abs=1e-3))


def test_without_residuals_the_prior_is_all_there_is():
    found = moderated(0.0, 0, PRIOR)
    assert (found.deviation, found.freedom, found.own_freedom, found.borrowed) == (pytest.approx(0.1), 4, 0, 1)


def test_a_prior_without_weight_and_no_residuals_are_no_division_by_zero():
    found = moderated(0.0, 0, NoisePrior(deviation=0.1, freedom=0, source="assumption"))
    assert (found.deviation, found.freedom, found.own_freedom, found.borrowed) == (0.1, 0, 0, 1)


def test_equal_times_leave_some_noise():
    assert moderated(0.0, 10, PRIOR).deviation > 0.05


@pytest.mark.parametrize("value", [0.01, 0.5, 1.0, 3.7, 50.0])
def test_the_inverse_of_trigamma(value):
    assert polygamma(1, trigamma_inverse(value)) == pytest.approx(value)


def test_a_prior_is_fitted_to_a_history_that_was_drawn_from_one():
    """Variances of 4,000 workloads: s0^2 times d0 over chi-square(d0), each seen with 3 degrees of freedom."""
    source = np.random.default_rng(1)
    true = 0.07**2 * 6 / chi2.rvs(6, size=4000, random_state=source)
    works = [Residual(one * chi2.rvs(3, random_state=source), 3, 4) for one in true]
    found = fit_prior(works)
    assert (found.source, found.workloads, found.trials) == ("history", 4000, 16000)
    assert found.deviation == pytest.approx(0.07, rel=0.05)
    assert found.freedom == pytest.approx(6, rel=0.15)


def test_a_small_history_by_hand():
    """Smyth's moments: of log s^2 - digamma(d/2) + log(d/2) the mean, and the variance less trigamma(d/2)."""
    variances, freedom = [0.0004, 0.01, 0.09], 8
    found = fit_prior([Residual(one * freedom, freedom, 9) for one in variances])
    # digamma(4) = 1.256118; trigamma(4) = 0.283823; log(4) = 1.386294
    logs = [log(one) - 1.256118 + 1.386294 for one in variances]
    rest = np.var(logs, ddof=1) - 0.283823
    half = trigamma_inverse(rest)
    assert polygamma(1, half) == pytest.approx(rest)
    assert found.freedom == pytest.approx(2 * half)
    digamma = float(polygamma(0, half))
    assert found.deviation == pytest.approx(exp((np.mean(logs) + digamma - log(half)) / 2), rel=1e-5)


def test_a_history_of_few_or_alike_workloads_is_not_trusted_too_far():
    alike = Residual(0.01, 4, 5)
    assert fit_prior([alike] * 2) is SHIPPED_PRIOR
    assert fit_prior([Residual(0.01, 1, 2)] * 3) is SHIPPED_PRIOR
    assert fit_prior([Residual(0.0, 4, 5)] * 3) is SHIPPED_PRIOR
    assert fit_prior([alike] * 3).freedom == pytest.approx(6)
    assert fit_prior([alike] * 50).freedom == pytest.approx(20)


def test_one_pair_of_equal_times_in_a_history_is_no_certainty():
    works = [Residual(0.0, 1, 2), *[Residual(0.01, 4, 5)] * 5]
    assert 0.001 < fit_prior(works).deviation < 0.1


def test_spread_is_within_groups():
    found = spread([[1.0, exp(0.2)], [5.0, 5.0], [9.0]])
    assert found == (pytest.approx(0.02), 2, 5)


@pytest.mark.slow
def test_repetitions_for_a_known_noise_are_those_of_a_power_analysis():
    """At noise of 5 % a difference of 5 % is log(1.05) / 0.05 standard deviations."""
    from statsmodels.stats.power import TTestIndPower

    wanted = TTestIndPower().solve_power(log(1.05) / 0.05, alpha=0.05, power=0.92)
    found = repetitions_needed(moderated(0.0, 0, KNOWN))
    assert found == pytest.approx(wanted, abs=1)
    assert repetitions_needed(moderated(0.0, 0, KNOWN), comparisons=6) > found
    assert repetitions_needed(moderated(0.0, 0, KNOWN), effect=0.2) < found


def test_noise_that_is_known_from_few_trials_asks_for_more_and_too_much_for_none():
    few, many = (moderated(n * 0.01, n, PRIOR) for n in (1, 100))
    assert repetitions_needed(few) > repetitions_needed(many)
    assert repetitions_needed(moderated(10.0, 10, PRIOR)) is None


def test_repetitions_to_decide_make_the_interval_shorter_than_its_distance_from_the_threshold():
    noise = moderated(0.0, 0, KNOWN)
    error = 0.05 * (2 / 4) ** 0.5
    distance = abs(log(0.93) - log(0.9))
    count = repetitions_to_decide(log(0.93), error, noise, 4, 0.1)
    halves = [norm.ppf(0.975) * 0.05 * (2 / n) ** 0.5 for n in (count - 1, count)]
    assert halves[1] < distance <= halves[0]
    assert repetitions_to_decide(log(0.6), error, noise, 4, 0.1) == 4
    assert repetitions_to_decide(log(0.9), error, noise, 4, 0.1) is None


def test_the_shipped_prior_has_the_freedom_that_the_a_a_runs_speak_for():
    """14 pairs of each of three workloads, whose log ratios had these standard deviations."""
    pairs = {"mutual friends": 0.087, "terasort": 0.058, "triangles": 0.169}
    fitted = fit_prior([Residual(13 * deviation**2 / 2, 13, 28) for deviation in pairs.values()])
    assert SHIPPED_PRIOR.freedom == round(fitted.freedom)
    assert SHIPPED_PRIOR.deviation > fitted.deviation  # that covers on average, this one at each of the three
