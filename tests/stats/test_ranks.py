"""Proves estimates, intervals and chances by ranks against enumeration, and that the three never disagree."""

from itertools import combinations, product
from statistics import median

import numpy as np
import pytest
from scipy import stats

from assay.stats.ranks import least_rank_sum_p, least_signed_rank_p, rank_sum, signed_rank, signed_rank_bound

SOURCE = np.random.default_rng(3)


def enumerated_signed_rank_p(values):
    """Of all ways to give the values signs, the share that lies as far off or farther, both sides."""
    ranks = np.argsort(np.argsort(np.abs(values))) + 1
    seen = abs(float((np.sign(values) * ranks).sum()))
    every = [abs(float((np.array(signs) * ranks).sum())) for signs in product((-1, 1), repeat=len(values))]
    return sum(one >= seen for one in every) / len(every)


def enumerated_rank_sum_p(first, second):
    both = np.argsort(np.argsort(np.concatenate([first, second])))
    middle = both.sum() * len(first) / len(both)
    seen = abs(both[: len(first)].sum() - middle)
    every = [abs(sum(some) - middle) for some in combinations(range(len(both)), len(first))]
    return sum(one >= seen - 1e-9 for one in every) / len(every)


@pytest.mark.parametrize("count", [3, 5, 6, 9])
def test_signed_ranks_chance_is_that_of_all_signs(count):
    rows = SOURCE.normal(0.5, 1, (4, count))
    assert signed_rank(rows).p.tolist() == pytest.approx([enumerated_signed_rank_p(row) for row in rows])


@pytest.mark.parametrize("sizes", [(3, 3), (4, 6), (5, 5)])
def test_rank_sums_chance_is_that_of_all_orders(sizes):
    first, second = SOURCE.normal(0, 1, (3, sizes[0])), SOURCE.normal(1, 1, (3, sizes[1]))
    expected = [enumerated_rank_sum_p(*row) for row in zip(first, second, strict=True)]
    assert rank_sum(first, second).p.tolist() == pytest.approx(expected)


@pytest.mark.parametrize("sizes", [(9, 9), (12, 20), (50, 50), (3, 60)])
def test_samples_that_lie_apart_have_the_least_chance_of_their_sizes(sizes):
    first, second = (
        np.array([[begin + place for place in range(size)]]) for begin, size in zip((0, 99), sizes, strict=True)
    )
    least = least_rank_sum_p(*sizes)
    assert rank_sum(first, second).p[0] == pytest.approx(least, rel=1e-9, abs=0)
    assert rank_sum(second, first).p[0] == pytest.approx(least, rel=1e-9, abs=0)


@pytest.mark.parametrize("sizes", [(9, 9), (12, 20), (3, 60)])
def test_rank_sums_chance_is_exact_of_larger_samples_too(sizes):
    first, second = SOURCE.normal(0, 1, (20, sizes[0])), SOURCE.normal(0.5, 1, (20, sizes[1]))
    assert rank_sum(first, second).p == pytest.approx(stats.mannwhitneyu(first, second, axis=1, method="exact").pvalue)


def test_values_that_are_equal_within_a_sample_cost_nothing_and_those_in_both_samples_only_their_row():
    apart, shared = [[1.0, 1.0, 2, 3, 4], [5.0, 6, 7, 8, 8]], [[1.0, 2, 3, 4, 5], [5.0, 6, 7, 8, 9]]
    both = rank_sum(*(np.array([one, other]) for one, other in zip(apart, shared, strict=True)))
    assert both.p[0] == pytest.approx(least_rank_sum_p(5, 5))
    assert both.p[1] == pytest.approx(stats.mannwhitneyu(*shared, method="asymptotic").pvalue)


def test_the_middle_is_that_of_all_averages_and_of_all_differences():
    values, others = [0.1, 0.4, 0.2, 0.9], [0.3, 1.1, 0.7]
    averages = [(values[i] + values[j]) / 2 for i in range(4) for j in range(i, 4)]
    assert signed_rank(np.array([values])).middle[0] == pytest.approx(median(averages))
    differences = [other - value for value in values for other in others]
    assert rank_sum(np.array([values]), np.array([others])).middle[0] == pytest.approx(median(differences))


@pytest.mark.parametrize("count", [6, 8, 15])
def test_an_interval_leaves_out_no_difference_exactly_where_the_test_says_so(count):
    rows = SOURCE.normal(0.6, 1, (300, count))
    for found in (signed_rank(rows), rank_sum(np.zeros_like(rows) + SOURCE.normal(0, 1, rows.shape), rows)):
        assert (((found.low > 0) | (found.high < 0)) == (found.p <= 0.05)).all()


def test_few_values_have_all_of_their_range_and_a_lower_level():
    found = signed_rank(np.array([[0.3, 0.1, 0.2]]))
    assert (found.low[0], found.high[0], found.level) == (pytest.approx(0.1), pytest.approx(0.3), 0.75)


def test_one_rows_ties_do_not_change_anothers_chance():
    plain = [0.11, 0.25, -0.04, 0.37, 0.5, 0.19]
    both = signed_rank(np.array([plain, [0.1] * 6]))
    assert both.p[0] == signed_rank(np.array([plain])).p[0]
    assert both.p[1] == pytest.approx(2 / 64)
    assert signed_rank(np.zeros((1, 6))).p[0] == 1


def test_what_can_be_told_at_best():
    assert (least_signed_rank_p(5), least_signed_rank_p(6)) == (0.0625, 0.03125)
    assert (least_rank_sum_p(4, 4), least_rank_sum_p(3, 3)) == (pytest.approx(2 / 70), pytest.approx(2 / 20))
    assert (signed_rank_bound(5, 0.05), signed_rank_bound(6, 0.05), signed_rank_bound(8, 0.05)) == (
        float("inf"),
        21,
        33,
    )


def test_very_many_values_are_thinned_and_stay_true():
    found = signed_rank(SOURCE.normal(1, 1, (1, 5000)))
    assert found.low[0] < 1 < found.high[0] + 0.03
    assert found.high[0] - found.low[0] == pytest.approx(2 * 1.96 / 5000**0.5, rel=0.15)
