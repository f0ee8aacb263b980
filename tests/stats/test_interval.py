"""Proves that medians have the intervals that their values allow, and that too few values are said to be too few."""

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as some

from assay.stats.interval import best_level, medians

TIMES = (10.2, 9.8, 10.5, 10.1, 9.9, 10.4, 10.0, 10.3)


def test_a_median_lies_in_its_interval():
    (found,) = medians((TIMES,))
    assert found.value == pytest.approx(10.15)
    assert (found.interval.method, found.interval.level, found.words) == ("BCa", 0.95, "")
    assert 9.8 <= found.interval.low < 10.15 < found.interval.high <= 10.5


@pytest.mark.parametrize(
    ("count", "words"), [(1, "1 value is too few for an interval"), (2, "2 values are too few for an interval")]
)
def test_below_three_values_there_is_none_and_that_is_said(count, words):
    (found,) = medians((TIMES[:count],))
    assert (found.interval, found.words) == (None, words)


def test_few_values_have_one_that_claims_less():
    found = medians((TIMES[:3], TIMES[:5]))
    assert [one.interval.level for one in found] == [0.75, 0.9375]
    assert "in at most 75 % of cases" in found[0].words


def test_values_that_are_all_the_same_have_a_plain_one():
    (found,) = medians(((7.0,) * 6,))
    assert (found.interval.low, found.interval.high, found.interval.method) == (7.0, 7.0, "percentile")


def test_enough_values_reach_the_level():
    assert [best_level(count) for count in (3, 4, 6, 20)] == [0.75, 0.875, 0.95, 0.95]


def test_each_group_has_its_own_whatever_stands_beside_it():
    alone = [medians((group,))[0] for group in (TIMES, TIMES[:4], TIMES[2:])]
    assert list(medians((TIMES, TIMES[:4], TIMES[2:]))) == alone


@examples(deadline=None, max_examples=8)
@given(some.lists(some.floats(0.001, 1e6), min_size=3, max_size=12))
def test_no_interval_leaves_the_values(values):
    (found,) = medians((tuple(values),))
    low, high = found.interval.low, found.interval.high
    assert min(values) * (1 - 1e-12) <= low <= high <= max(values) * (1 + 1e-12)
