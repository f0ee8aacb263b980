"""Proves that medians have the interval that their workload's noise allows."""

from math import exp, log

import pytest
from scipy.stats import t

from assay.model.trial import NoisePrior
from assay.stats.noise import median_of, moderated

PRIOR = NoisePrior(deviation=0.1, freedom=4, source="assumption")


def test_two_values_have_students_interval_with_the_moderated_noise():
    noise = moderated(0.02, 6, PRIOR)
    found = median_of([10.0, 11.0], noise)
    half = t.ppf(0.975, 10) * noise.deviation / 2**0.5
    assert (found.value, found.values) == (10.5, 2)
    assert (found.interval.low, found.interval.high) == (
        pytest.approx(exp(log(10.5) - half)), pytest.approx(exp(log(10.5) + half)),
    )  # fmt: skip


def test_more_values_and_less_noise_make_it_narrower():
    def width(values, noise):
        interval = median_of(values, noise).interval
        return interval.high - interval.low

    calm, restless = moderated(0.01, 20, PRIOR), moderated(1.0, 20, PRIOR)
    assert width([10.0] * 8, calm) < width([10.0] * 2, calm) < width([10.0] * 2, restless)


def test_what_is_assumed_alone_makes_no_interval():
    assert median_of([10.0], moderated(0.0, 0, PRIOR)).interval is None
