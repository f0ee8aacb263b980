"""Proves that odd trials are marked, plain ones are not, and that nothing is dropped."""

from assay.stats.comparison import compare
from assay.stats.sample import TrialSample
from assay.stats.summary import outliers


def combination(*times, placement="hdd"):
    return [TrialSample(f"{placement}-{n}", (("placement", placement),), n, time) for n, time in enumerate(times, 1)]


def test_a_disturbed_trial_is_marked_and_says_how_far_off_it_is():
    (odd,) = outliers(combination(10.0, 10.2, 9.9, 15.1, 10.1, 9.8))
    assert (odd.trial, odd.elapsed_s, round(odd.times, 2)) == ("hdd-4", 15.1, 1.5)
    assert "hdd-4 took 1.50 times its combination's median" in odd.words


def test_each_combination_is_judged_by_itself():
    assert not outliers([*combination(10.0, 10.2, 9.9, 10.1, 9.8), *combination(5, 5.1, 4.9, 5.2, 5, placement="ssd")])


def test_of_four_trials_none_is_the_odd_one():
    assert not outliers(combination(10, 10, 10, 90))


def test_beside_times_that_are_all_alike_any_other_is_marked():
    (odd,) = outliers(combination(10, 10, 10, 10, 10, 11))
    assert (odd.deviations, odd.words.endswith("the others took all the same")) == (None, True)


def test_marked_trials_count_in_comparisons():
    found = [*combination(10, 10.1, 9.9, 10.2, 9.8, 30), *combination(5, 5.1, 4.9, 5.2, 5, 5, placement="ssd")]
    (one,) = compare(found, ["placement"])
    assert (len(outliers(found)), one.runs, one.base_runs, one.pairs) == (1, 6, 6, 6)
