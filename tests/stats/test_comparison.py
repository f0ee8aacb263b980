"""Proves that what is compared differs in one factor only, in pairs where there are any, and that words claim no more."""

from math import ceil

import pytest

from assay.stats.comparison import compare, holm
from assay.stats.sample import MACHINE, RUN, Sample
from assay.stats.wording import can_never_tell, in_words
from assay.testing.fake_times import FakeTimes

NOISE = (0.03, -0.02, 0.01, -0.04, 0.02, 0.0, -0.01, 0.04, 0.05, -0.03)


def trials(placement, times, machine="A", **factors):
    levels = tuple({"placement": placement, **factors, MACHINE: machine}.items())
    return [Sample(f"{placement}-{n}", levels, n, time) for n, time in enumerate(times, 1) if time]


def noisy(base, count, shift=0):
    return [base * (1 + NOISE[(n + shift) % len(NOISE)]) for n in range(count)]


def only(found):
    (one,) = found
    return one


def test_pairs_take_out_what_the_machine_did_to_both():
    slower = [1.0, 1.3, 1.7, 2.2, 2.9, 3.6, 4.5]
    found = [*trials("hdd", [10 * one for one in slower]), *trials("ssd", [5.1 * one for one in slower])]
    one = only(compare(found, ["placement"]))
    assert (one.base, one.level, one.pairs, one.test, one.told) == ("hdd", "ssd", 7, "signed-rank", True)
    assert one.ratio == pytest.approx(0.51)
    assert (one.interval.low, one.interval.high) == (pytest.approx(0.51), pytest.approx(0.51))
    assert in_words(one) == "ssd took 0.51 times as long as hdd (0.51 to 0.51 times as long; 7 pairs)"


def test_any_factor_is_compared_with_all_else_equal():
    fake = FakeTimes(
        factors={"workload": {"sort": 1, "count": 0.3}, "memory": {"1GiB": 1, "2GiB": 0.5, "16GiB": 0.4}}, disturbed=0
    )
    found = compare(fake.samples(8, 1), ["memory"])
    assert {dict(one.others)["workload"] for one in found} == {"sort", "count"}
    assert [(one.base, one.level) for one in found] == [("1GiB", "2GiB"), ("1GiB", "16GiB")] * 2
    assert [one.ratio for one in found] == pytest.approx([0.5, 0.4] * 2, rel=0.06)
    assert {one.comparisons for one in found} == {4}


def test_a_base_of_ones_own_and_every_two():
    found = [*trials("a", noisy(9, 6)), *trials("b", noisy(6, 6, 1)), *trials("c", noisy(3, 6, 2))]
    assert [(one.base, one.level) for one in compare(found, ["placement"], {"placement": "c"})] == [
        ("c", "a"), ("c", "b"),
    ]  # fmt: skip
    assert [(one.base, one.level) for one in compare(found, ["placement"], every=["placement"])] == [
        ("a", "b"), ("a", "c"), ("b", "c"),
    ]  # fmt: skip


def test_a_trial_without_its_pair_is_left_out_of_the_ratio_and_that_is_said():
    times = noisy(10, 7)
    times[3] = 0
    one = only(compare([*trials("hdd", times), *trials("ssd", noisy(5, 7, 2))], ["placement"]))
    assert (one.pairs, one.base_runs, one.runs) == (6, 6, 7)
    assert "6 pairs, 1 trial without a pair left out" in in_words(one)


def test_without_pairs_all_trials_are_compared_and_that_is_said():
    other = [sample._replace(repetition=sample.repetition + 50) for sample in trials("ssd", noisy(5, 6))]
    one = only(compare([*trials("hdd", noisy(10, 6)), *other], ["placement"]))
    assert (one.pairs, one.test, one.told) == (0, "rank-sum", True)
    assert one.ratio == pytest.approx(0.5, rel=0.05)
    assert "6 against 6 trials without pairs, so drift of the machine is not taken out" in in_words(one)


def test_runs_and_machines_take_no_turns_so_they_have_no_pairs():
    found = [
        Sample(str(n), (("placement", "hdd"), (RUN, run), (MACHINE, "A")), n, time)
        for run, times in (("old", noisy(10, 6)), ("new", noisy(8, 6)))
        for n, time in enumerate(times)
    ]
    assert only(compare(found, [RUN])).pairs == 0


def test_trials_of_unequal_machines_are_never_pooled():
    found = [
        *trials("hdd", noisy(10, 6)), *trials("ssd", noisy(5, 6)),
        *trials("hdd", noisy(20, 6), "B"), *trials("ssd", noisy(18, 6), "B"),
    ]  # fmt: skip
    assert [(dict(one.others)[MACHINE], round(one.ratio, 2)) for one in compare(found, ["placement"])] == [
        ("A", 0.5), ("B", 0.9),
    ]  # fmt: skip


def test_few_pairs_are_judged_by_ranks_of_all_trials_which_can_tell_with_fewer():
    one = only(compare([*trials("hdd", noisy(10, 4)), *trials("ssd", noisy(5, 4, 3))], ["placement"]))
    assert (one.pairs, one.unused_pairs, one.test, one.p, one.told) == (0, 4, "rank-sum", pytest.approx(2 / 70), True)
    assert (one.interval.level, one.interval.method) == (0.95, "rank-sum")
    assert "4 against 4 trials, as 4 pairs are too few, so drift of the machine is not taken out" in in_words(one)


@pytest.mark.parametrize("repetitions", [4, 5, 9])
def test_what_is_told_leaves_1_out_of_the_interval_that_is_shown(repetitions):
    fake = FakeTimes(factors={"workload": {"w": 1.0}, "placement": {"hdd": 1.0, "ssd": 0.93}}, drift=0.0)
    found = [only(compare(fake.samples(repetitions, seed), ["placement"])) for seed in range(30)]
    assert any(one.told for one in found)
    assert not [one for one in found if one.told and 1 in one.interval]
    assert all(one.ratio in one.interval and one.interval.method == one.test for one in found)


def test_nothing_is_told_of_equal_times():
    """Where many are equal, the test's law is not that of the interval."""
    one = only(compare([*trials("hdd", [10] * 9), *trials("ssd", [*[10] * 3, *[9] * 6])], ["placement"]))
    assert 1 in one.interval
    assert not one.told


def test_three_pairs_can_tell_nothing_however_large():
    one = only(compare([*trials("hdd", noisy(30, 3)), *trials("ssd", noisy(5, 3, 3))], ["placement"]))
    assert can_never_tell(one)
    assert not one.told
    assert "so few can't tell even the largest difference" in in_words(one)
    assert "more repetitions would tell 5 %" in in_words(one)


def test_two_trials_have_a_ratio_but_no_interval_and_no_test():
    one = only(compare([*trials("hdd", [10, 11]), *trials("ssd", [5, 5.2])], ["placement"]))
    assert (one.interval, one.test, one.p, one.told) == (None, None, None, False)
    assert in_words(one).startswith("2 pairs can't tell a difference of ssd from hdd; ")
    one = only(compare([*trials("hdd", [10]), *trials("ssd", [5])], ["placement"]))
    assert in_words(one) == "1 pair can't tell a difference of ssd from hdd; at least 4 of each are needed"


def test_no_difference_says_how_many_more_would_tell_one():
    restless = [10 * (1 + 2 * one) for one in NOISE]
    one = only(compare([*trials("hdd", restless[:8]), *trials("ssd", restless[2:])], ["placement"]))
    assert not one.told
    assert one.medians_overlap
    words = in_words(one)
    assert words.startswith("no difference of ssd from hdd can be told (")
    assert "the medians' intervals overlap" in words
    assert words.endswith(f"; {one.needed - 8} more repetitions would tell 5 %")


def test_no_difference_of_calm_trials_says_how_small_any_is():
    """Whatever more repetitions would do: what was seen leaves no room for a large one."""
    calm = [10 * (1 + one / 20) for one in NOISE]
    one = only(compare([*trials("hdd", calm), *trials("ssd", [*calm[3:], *calm[:3]])], ["placement"]))
    assert not one.told
    assert one.interval.high < 1.01 < 1.01 / one.interval.low < 1.02
    assert in_words(one).endswith("; if there is one, it is below 1 %")


def test_enough_repetitions_say_how_large_a_difference_may_still_be():
    """They had 9 chances of 10: to promise that more would tell it would be to hope for the tenth."""
    fake = FakeTimes(factors={"placement": {"hdd": 1.0, "ssd": 1.03}}, noise=0.03, disturbed=0)
    found = [only(compare(fake.samples(40, seed), ["placement"])) for seed in range(20)]
    missed = [one for one in found if not one.told]
    assert missed
    for one in missed:
        assert one.needed <= 40
        assert in_words(one).endswith(f"; if there is one, it is below {ceil(100 * (one.interval.high - 1))} %")


def test_an_interval_of_few_pairs_is_no_bound():
    one = only(compare([*trials("hdd", [10, 10.01, 10.02]), *trials("ssd", [10.01, 10.02, 10])], ["placement"]))
    assert (one.told, one.interval.level) == (False, 0.75)
    assert "if there is one" not in in_words(one)


def test_holms_correction():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.7, 0.6]) == [1.0, 1.0]


def test_correction_says_that_chance_would_give_such_a_one():
    fake = FakeTimes(factors={"option": {f"o{n}": 1.0 for n in range(20)}}, disturbed=0)
    found = compare(fake.samples(12, 7), ["option"])
    lucky = [one for one in found if one.p <= 0.05 and not one.told]
    assert lucky
    assert all("among 19 comparisons chance gives such a one too often" in in_words(one) for one in lucky)


def test_nothing_to_compare_compares_nothing():
    assert compare([], ["placement"]) == []
    assert compare(trials("hdd", [1, 2, 3]), ["placement"]) == []
    with pytest.raises(KeyError):
        compare(trials("hdd", [1]), ["colour"])
