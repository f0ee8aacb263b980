"""Proves what single claims find in made-up values, and that a claim over a field needs more than one of its levels."""

import pytest

from assay_extras.studies.claims import Compare, Interaction, Like, Over, SpreadGap, Steps, some, where
from assay_extras.studies.comparison import judge
from assay_extras.studies.published import Statement
from assay_extras.studies.values import StudyPoint, StudyTable

JOB = where(metric="elapsed")


def measured(times: dict[tuple[str, float], float]) -> StudyTable:
    """Seconds by share of SSD and sort buffer, three repetitions with a little noise."""
    return StudyTable(
        {
            StudyPoint("sort", medium=share, buffer=buffer): {turn: seconds * (1 + 0.001 * turn) for turn in (1, 2, 3)}
            for (share, buffer), seconds in times.items()
        }
    )


def truths(claim, times) -> list[str]:
    return [one.truth for one in claim.findings(measured(times))]


@pytest.mark.parametrize(
    ("quarter", "truth"), [(100.0, "yes"), (96.0, "yes"), (90.0, "unclear"), (80.0, "no"), (115.0, "no")]
)
def test_a_share_is_like_one_end_where_it_is_near_it_beside_the_other(quarter, truth):
    times = {("0", 100.0): 100.0, ("25", 100.0): quarter, ("100", 100.0): 60.0}
    assert truths(Like("medium", "25", "0", "100", JOB), times) == [truth]


def test_between_ends_that_do_not_differ_a_share_is_like_neither():
    times = {("0", 100.0): 60.0, ("25", 100.0): 60.0, ("100", 100.0): 60.1}
    assert truths(Like("medium", "25", "0", "100", JOB), times) == ["unclear"]
    assert truths(Like("medium", "25", "0", "100", JOB), {("0", 100.0): 60.0, ("25", 100.0): 60.0}) == []


def test_what_is_said_of_all_levels_is_not_seen_at_one():
    ahead = Over("buffer", Compare("medium", "100", "less", "0", JOB))
    one = {("0", 100.0): 100.0, ("100", 100.0): 60.0}
    assert truths(ahead, one) == []
    assert truths(ahead, {**one, ("0", 20.0): 120.0, ("100", 20.0): 130.0}) == ["yes", "no"]
    # A level without a pair is no further one.
    assert truths(ahead, {**one, ("0", 20.0): 120.0}) == []


def test_two_levels_are_no_steps():
    steps = Steps("medium", JOB)
    assert truths(steps, {("0", 100.0): 100.0, ("100", 100.0): 60.0}) == []
    assert truths(steps, {("0", 100.0): 100.0, ("50", 100.0): 80.0, ("100", 100.0): 90.0}) == ["yes", "no"]


def test_further_apart_is_so_either_way():
    apart = Interaction("medium", "0", "100", "buffer", 100.0, 20.0, JOB, "more apart")
    even = {("0", 20.0): 100.0, ("100", 20.0): 95.0}
    assert truths(apart, {**even, ("0", 100.0): 100.0, ("100", 100.0): 60.0}) == ["yes"]
    assert truths(apart, {**even, ("0", 100.0): 60.0, ("100", 100.0): 100.0}) == ["yes"]
    assert truths(apart, {**even, ("0", 100.0): 100.0, ("100", 100.0): 100.0}) == ["no"]


def test_where_a_change_does_nothing_at_either_level_it_does_no_more_at_one():
    gain = Interaction("medium", "0", "100", "buffer", 100.0, 20.0, JOB)
    even = {("0", 20.0): 100.0, ("100", 20.0): 100.0, ("0", 100.0): 100.0}
    assert truths(gain, {**even, ("100", 100.0): 90.0}) == ["yes"]
    assert truths(gain, {**even, ("100", 100.0): 110.0}) == ["no"]
    # Ratios of 1.00 and 0.996, each the same in all repetitions; but less than half a second.
    assert truths(gain, {**even, ("100", 100.0): 99.6}) == ["unclear"]


def test_a_spread_is_much_less_below_half_of_the_other():
    narrow = SpreadGap("buffer", "medium", "100", "0", JOB)
    hdd = {("0", 20.0): 100.0, ("0", 100.0): 140.0}
    assert truths(narrow, {**hdd, ("100", 20.0): 60.0, ("100", 100.0): 63.0}) == ["yes"]
    assert truths(narrow, {**hdd, ("100", 20.0): 60.0, ("100", 100.0): 78.0}) == ["no"]


def test_a_spread_that_is_noise_on_both_sides_says_nothing():
    narrow = SpreadGap("buffer", "medium", "100", "0", JOB)
    times = {
        ("0", 20.0): (100.0, 102.0, 100.0), ("0", 100.0): (101.0, 100.0, 101.0),
        ("100", 20.0): (50.0, 62.0, 50.0), ("100", 100.0): (60.0, 50.0, 61.0),
    }  # fmt: skip
    seen = StudyTable(
        {
            StudyPoint("sort", medium=share, buffer=buffer): dict(enumerate(own, 1))
            for (share, buffer), own in times.items()
        }
    )
    (found,) = narrow.findings(seen)
    assert found.truth == "unclear"
    assert found.text.endswith("slowest over fastest: SSD +22 %, hard disk +1 %, no more than noise")


def test_most_of_a_whole_is_more_than_half():
    half = Compare("metric", "reduce", "most of", "total", where())
    for reduce_s, truth in ((90.0, "yes"), (40.0, "no")):
        values = {"reduce": reduce_s, "total": 100.0}
        seen = StudyTable(
            {StudyPoint("sort", metric=name): dict.fromkeys((1, 2, 3), one) for name, one in values.items()}
        )
        assert [one.truth for one in half.findings(seen)] == [truth]


def test_what_is_said_of_some_case_is_not_refuted_by_others():
    statement = Statement(
        id="S1", study="hybrid", section="1", claim="Somewhere the hard disk is ahead.", support="yes"
    )
    check = (some(Compare("medium", "0", "less", "100", JOB)),)
    for hdd, verdict in ((50.0, "confirmed"), (100.0, "undecided")):
        seen = measured({("0", 100.0): hdd, ("100", 100.0): 60.0})
        (found,) = judge([statement], {"S1": check}, {}, seen)
        assert found.verdict == verdict
