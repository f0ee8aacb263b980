"""Proves when two values differ, when nobody can tell, and what interval their ratio has."""

import pytest

from assay.study.difference import difference, published_direction


def repeated(*values):
    return dict(enumerate(values, 1))


@pytest.mark.parametrize(
    ("first", "second", "direction"),
    [
        ([100.0], [90.0], -1),
        ([100.0], [97.0], 0),  # no interval: less than 5 % may be noise
        ([100.0, 102.0, 101.0], [97.0, 98.5, 98.0], -1),  # each pair says so
        ([100.0, 102.0, 101.0], [97.0, 103.0, 98.0], 0),
        ([1.0], [1.4], 0),  # less than half a second
        ([0.0], [3.0], 1),
        ([0.0], [0.0], 0),
    ],
)
def test_directions(first, second, direction):
    found = difference(repeated(*first), repeated(*second), least=0.5)
    assert found is not None
    assert found.direction == direction


def test_only_repetitions_that_both_have_are_compared():
    found = difference({1: 10.0, 2: 20.0}, {2: 10.0, 3: 99.0})
    assert found is not None
    assert (found.ratio, found.pairs) == (0.5, 1)
    assert difference({1: 10.0}, {2: 10.0}) is None


def test_the_interval_is_of_order_statistics():
    three = difference(repeated(10, 10, 10), repeated(9, 8, 7))
    assert three is not None
    assert (three.low, three.high, three.level) == (0.7, 0.9, 0.75)
    ten = difference(repeated(*[10] * 10), repeated(*range(1, 11)))
    assert ten is not None
    # Of ten values the second from each end: 1 - 2 * (1 + 10) / 1024.
    assert (ten.low, ten.high) == (0.2, 0.9)
    assert ten.level == pytest.approx(0.978515625)


def test_what_is_the_same():
    assert difference({1: 100.0}, {1: 104.0}).within(0.1) == "yes"
    assert difference({1: 100.0}, {1: 108.0}).within(0.1) == "unclear"
    assert difference({1: 100.0}, {1: 130.0}).within(0.1) == "no"
    assert difference({1: 0.1}, {1: 0.3}, least=0.5).within(0.1) == "yes"
    assert difference({1: 0.0}, {1: 3.0}, least=0.5).within(0.1) == "no"


def test_published_seconds_are_rounded():
    assert published_direction(10, 11) == 0
    assert published_direction(10, 12) == 1
    assert published_direction(5053, 5020) == 0
    assert published_direction(5053, 4163) == -1
