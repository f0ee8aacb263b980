"""Proves when two values differ, when nobody can tell, what interval their ratio has, and what chance is left."""

import random

import pytest

from assay_extras.studies.comparison import beyond_chance
from assay_extras.studies.values import difference, published_direction


def repeated(*values):
    return dict(enumerate(values, 1))


@pytest.mark.parametrize(
    ("first", "second", "direction"),
    [
        ([100.0], [50.0], 0),  # one pair tells nothing, nor do two
        ([100.0, 100.0], [50.0, 50.0], 0),
        ([100.0, 102.0, 101.0], [97.0, 98.5, 98.0], -1),
        ([100.0, 102.0, 101.0], [97.0, 103.0, 98.0], 0),
        ([100.0, 100.0, 100.0], [95.0, 70.0, 99.0], 0),  # all faster, but by no means alike
        ([1.0, 1.0, 1.0], [1.4, 1.4, 1.4], 0),  # less than half a second
        ([0.0, 0.0, 0.0], [3.0, 3.1, 2.9], 1),
        ([0.0, 0.0, 0.0], [3.0, 0.1, 0.6], 0),
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], 0),
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
    assert found.words == "0.50 (1 pair, too few to tell)"
    assert difference({1: 10.0}, {2: 10.0}) is None


def test_the_interval_is_students_of_the_logarithms():
    three = difference(repeated(10, 10, 10), repeated(9, 8, 7))
    assert three is not None
    # The mean of log 0.9, 0.8, 0.7 is -0.2284, their standard deviation 0.1257, t of two degrees of freedom 4.3027.
    assert (three.ratio, three.low, three.high) == pytest.approx((0.7958, 0.5824, 1.0875), abs=1e-3)
    picked = difference(repeated(10, 10, 10), repeated(9, 8, 7), tests=6)
    assert picked is not None
    assert picked.low < three.low
    assert picked.high > three.high


def test_a_direction_that_is_none_is_told_in_one_case_of_twenty():
    draw = random.Random(7)
    told = 0
    for _ in range(2000):
        first, second = (repeated(*(100 * draw.lognormvariate(0, 0.05) for _ in range(3))) for _ in range(2))
        told += bool(difference(first, second).direction)
    assert 60 <= told <= 140


def test_what_is_the_same():
    assert difference(repeated(100, 100, 100), repeated(104, 103, 104)).within(0.1) == "yes"
    assert difference(repeated(100, 100, 100), repeated(104, 90, 112)).within(0.1) == "unclear"
    assert difference(repeated(100, 100, 100), repeated(130, 131, 130)).within(0.1) == "no"
    assert difference({1: 100.0}, {1: 100.0}).within(0.1) == "unclear"
    # Too short to tell, by either measure.
    assert difference(repeated(0.1, 0.1, 0.1), repeated(0.3, 0.3, 0.3), least=0.5).within(0.1) == "unclear"
    assert difference(repeated(0.0, 0.0, 0.0), repeated(0.0, 0.0, 0.0), least=0.5).within(0.1) == "yes"
    assert difference(repeated(0.0, 0.0, 0.0), repeated(3.0, 3.0, 3.0), least=0.5).within(0.1) == "no"


def test_published_seconds_are_rounded_and_nobody_knows_how_often_measured():
    assert published_direction(10, 11) == 0
    assert published_direction(10, 12) == 1
    assert published_direction(5053, 4850) == 0
    assert published_direction(5053, 4163) == -1


def test_of_many_places_some_point_one_way_by_chance():
    assert [beyond_chance(places) for places in (1, 2, 3, 14, 15, 50, 100)] == [1, 1, 2, 2, 3, 4, 6]
