"""Proves that a run's comparisons are one family, and that what is compared depends on counts alone."""

from assay.stats.questions import asked
from assay.testing.fake_times import FakeTimes

WORKLOAD, SETTINGS = {"sort": 1.0}, {"defaults": 1.0, "customs": 0.9}
PLACEMENT = {"hdd": 1.0, "ssd": 0.8}


def asked_of(repetitions, **factors):
    return asked(FakeTimes(factors={"workload": WORKLOAD, **factors}).samples(repetitions, 1))


def test_the_question_and_what_stands_beside_it_are_corrected_together():
    found = asked_of(9, settings=SETTINGS, placement=PLACEMENT)
    assert [one.factor for one in found.question] == ["placement"] * 2
    assert [one.factor for one in found.beside] == ["settings"] * 2
    assert {one.comparisons for one in found.all} == {4}


def test_a_factor_of_many_levels_does_not_change_how_others_are_compared():
    many = {f"{number}m": 1.0 for number in range(5)}
    found = asked_of(20, settings={**SETTINGS, "containers": 1.0}, buffers=many, placement=PLACEMENT)
    assert found.every == {"settings", "placement"}
    settings = {(one.base, one.level) for one in found.beside if one.factor == "settings"}
    assert settings == {("containers", "customs"), ("containers", "defaults"), ("customs", "defaults")}
    assert {one.base for one in found.beside if one.factor == "buffers"} == {"0m"}


def test_what_stands_beside_the_question_never_makes_it_untellable():
    """5 against 5 trials tell among at most 6 comparisons: 4 of the question and 10 beside it would tell nothing."""
    many = {f"s{number}": 1.0 for number in range(4)}
    assert not asked_of(5, settings=many, placement=PLACEMENT).beside
    assert asked_of(9, settings=many, placement=PLACEMENT).beside


def test_without_placements_to_compare_the_other_factors_are_the_question():
    found = asked_of(8, settings=SETTINGS, placement={"ssd": 1.0})
    assert [one.factor for one in found.question] == ["settings"]
    assert not found.beside
    assert asked([]).all == ()
