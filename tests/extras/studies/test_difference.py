"""Proves when two values differ, when nobody can tell, what interval their ratio has, and what chance is left."""

import random
from itertools import combinations
from math import exp

import pytest

from assay_extras.studies.comparison import beyond_chance
from assay_extras.studies.values import StudyPoint, StudyTable, difference, published_direction


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


@pytest.mark.slow
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


def without_effects(chance, *, repetitions, unlike):
    """Values of 48 places that differ by chance alone, by some 8 %; the larger `unlike`, the more the noise differs."""
    noise = {}
    values = {}
    for metric in ("map", "shuffle", "reduce", "elapsed"):
        for job in ("triads", "closing"):
            noise[job, metric] = 0.08 * exp(chance.gauss(0, unlike))
            for settings in ("defaults", "containers", "customs"):
                for medium in ("hdd", "ssd2"):
                    own = noise[job, metric] * exp(chance.gauss(0, unlike / 2))
                    place = StudyPoint("triangles", job, settings, "YouTube", medium, metric)
                    values[place] = {number: 10 * exp(chance.gauss(0, own)) for number in range(repetitions)}
    return StudyTable(values)


@pytest.mark.slow
@pytest.mark.parametrize(("repetitions", "unlike"), [(3, 0.0), (4, 0.3), (4, 0.6)])
def test_without_effects_one_comparison_in_twenty_has_a_direction(repetitions, unlike):
    chance, directions = random.Random(3), []
    for _ in range(8):
        measured = without_effects(chance, repetitions=repetitions, unlike=unlike)
        for first, second in combinations(measured.where({}), 2):
            if (
                sum(one != other for one, other in zip(first, second, strict=True)) == 1
                and first.metric == second.metric
            ):
                found = measured.difference(first, second)
                assert found is not None
                directions.append(found.direction != 0)
    assert 0.02 <= sum(directions) / len(directions) <= 0.085


def test_pairs_of_a_run_lend_each_other_their_noise():
    """Equal noise everywhere: three pairs show 15 % at a noise of 6 %, which alone they rarely do."""
    chance, alone, together = random.Random(5), 0, 0
    places = [StudyPoint("sort", medium=str(share), metric="elapsed") for share in range(8)]
    for _ in range(40):
        slower = {places[0]: 1.15}
        measured = StudyTable(
            {
                place: {
                    number: 10 * slower.get(place, 1.0) * exp(chance.gauss(0, 0.06 / 2**0.5)) for number in range(3)
                }
                for place in places
            }
        )
        known = measured.difference(places[0], places[1])
        own = difference(measured.of(places[0]), measured.of(places[1]))
        assert known is not None
        assert own is not None
        assert known.ratio == own.ratio
        together, alone = together + (known.direction == -1), alone + (own.direction == -1)
    assert together >= 34
    assert alone <= 28


def test_without_other_pairs_nothing_is_borrowed():
    first, second = (StudyPoint("sort", medium=medium) for medium in ("0", "100"))
    measured = StudyTable({first: repeated(10.0, 11.0, 12.0), second: repeated(8.0, 9.5, 9.0)})
    assert measured.noise(first) is None
    assert measured.difference(first, second) == difference(measured.of(first), measured.of(second))
