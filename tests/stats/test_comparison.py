"""Proves that what is compared differs in one factor only, that noise is judged right, and that words claim no more."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import permutation_test

from assay.model.trial import SHIPPED_PRIOR, NoisePrior
from assay.stats.comparison import benjamini_hochberg, compare, holm, sign_flip_ps
from assay.stats.noise import ConfidenceInterval
from assay.stats.sample import MACHINE, RUN, TrialSample, samples
from assay.stats.summary import in_words, noise_words
from tests.builders import summaries
from tests.stats.fake_times import FakeTimes
from tests.stats.terasort import terasort_run

NOISE = (0.03, -0.02, 0.01, -0.04, 0.02, 0.0, -0.01, 0.04, 0.05, -0.03)
TERASORT = {
    "hdd": (47.2, 46.9, 43.6, 42.6),
    "ssd": (35.3, 29.0, 26.3, 27.9),
    "zero-delay": (34.3, 26.9, 29.5, 27.2),
}
"""Seconds of a TeraSort of 400 MB within 1400 MiB of memory on a machine of two cores."""


def trials(placement, times, machine="A", **factors):
    levels = tuple({"workload": "sort", "placement": placement, **factors, MACHINE: machine}.items())
    return [TrialSample(f"{placement}-{n}", levels, n, time) for n, time in enumerate(times, 1) if time]


def noisy(base, count, shift=0):
    return [base * (1 + NOISE[(n + shift) % len(NOISE)]) for n in range(count)]


def only(found):
    (one,) = found
    return one


@pytest.mark.parametrize("baseline", [False, True], ids=["two drives", "with zero delay"])
@pytest.mark.parametrize("pairs", [2, 3, 4])
def test_a_third_less_time_is_significant_from_two_pairs(pairs, baseline):
    names = ["hdd", "ssd", "zero-delay"] if baseline else ["hdd", "ssd"]
    one = only(compare([sample for name in names for sample in trials(name, TERASORT[name][:pairs])]))
    assert (one.base, one.level, one.pairs, one.family, one.significant) == ("hdd", "ssd", pairs, "headline", True)
    assert one.noise.own_freedom == pairs - 1
    assert 0.6 < one.ratio < 0.7
    assert one.ratio in one.interval
    assert 1 not in one.interval


def test_one_pair_is_never_significant_as_nothing_but_an_assumption_would_say_so():
    one = only(compare([*trials("hdd", [100.0]), *trials("ssd", [1.0])]))
    assert (one.p, one.p_adjusted, one.significant, one.noise.borrowed) == (None, None, False, 1)
    assert in_words(one) == "ssd took 0.01 times as long as hdd, not tested: there are no repetitions"


@pytest.mark.parametrize("pairs", [2, 4, 10, 20])
def test_two_percent_at_a_noise_of_five_are_not_significant(pairs):
    source = np.random.default_rng(5)
    times = np.exp(source.normal(0, 0.05, (2, pairs)))
    times /= np.exp(np.log(times).mean(axis=1, keepdims=True))  # so that the ratio is exactly 1.02
    one = only(compare([*trials("hdd", times[0]), *trials("ssd", 1.02 * times[1])]))
    assert one.ratio == pytest.approx(1.02)
    assert not one.significant
    assert 1 in one.interval


def test_zero_delay_is_compared_with_nothing_and_never_wins():
    found = [sample for name, times in TERASORT.items() for sample in trials(name, times)]
    beside = trials("nvme", [31.0, 30.0, 29.0, 30.0])
    compared = compare([*found, *beside])
    assert {(one.base, one.level) for one in compared} == {("hdd", "nvme"), ("hdd", "ssd"), ("nvme", "ssd")}
    assert {one.noise.own_freedom for one in compared} == {3}


def test_what_the_machine_did_to_a_whole_repetition_drops_out():
    slower = [1.0, 1.3, 1.7, 2.2, 2.9, 3.6, 4.5]
    found = [*trials("hdd", [10 * one for one in slower]), *trials("ssd", [5.1 * one for one in slower])]
    one = only(compare(found))
    assert (one.pairs, one.significant, one.sign_flip_p) == (7, True, 2 / 2**7)
    assert one.ratio == pytest.approx(0.51)
    assert in_words(one) == (
        f"ssd took 0.51 times as long as hdd (95 % interval {one.interval.low:.2f} to {one.interval.high:.2f}, "
        "0.51 to 0.51 by this run's repetitions alone; 7 pairs)"
    )


def test_any_factor_is_compared_with_all_else_equal():
    fake = FakeTimes(
        factors={"workload": {"sort": 1, "count": 0.3}, "memory": {"1GiB": 1, "2GiB": 0.5, "16GiB": 0.4}}, disturbed=0
    )
    found = compare(fake.samples(8, 1))
    assert {dict(one.others)["workload"] for one in found} == {"sort", "count"}
    to_base = [one for one in found if one.base == "1GiB"]
    assert [one.level for one in to_base] == ["2GiB", "16GiB"] * 2
    assert [one.ratio for one in to_base] == pytest.approx([0.5, 0.4] * 2, rel=0.06)
    assert {(one.comparisons, one.family) for one in found} == {(6, "further")}


def test_a_base_of_ones_own_and_more_levels_than_can_all_be_compared():
    found = [*trials("a", noisy(9, 6)), *trials("b", noisy(6, 6, 1)), *trials("c", noisy(3, 6, 2))]
    assert [(one.base, one.level) for one in compare(found, orders={"placement": ["c"]})] == [
        ("c", "a"), ("c", "b"), ("a", "b"),
    ]  # fmt: skip
    assert [(one.base, one.level) for one in compare(found, orders={"placement": ["failed", "b", "c"]})] == [
        ("b", "c"), ("b", "a"), ("c", "a"),
    ]  # fmt: skip
    more = [sample for name in "abcde" for sample in trials(name, noisy(9, 6))]
    assert [(one.base, one.level) for one in compare(more)] == [("a", level) for level in "bcde"]


def test_a_headline_for_each_workload_and_all_else_equal_is_the_fastest_against_the_base():
    factors = {"workload": {"sort": 1, "count": 0.3}, "placement": {"hdd": 1.0, "nvme": 0.5, "ssd": 0.8}}
    found = compare(FakeTimes(factors=factors).samples(4, 1))
    head = [one for one in found if one.family == "headline"]
    assert [(dict(one.others)["workload"], one.base, one.level) for one in head] == [
        ("sort", "hdd", "nvme"), ("count", "hdd", "nvme"),
    ]  # fmt: skip
    assert {one.comparisons for one in head} == {4}
    assert len(found) == 6
    # Picked from two placements, corrected for two workloads, and with four fifths of the false claims.
    larger, smaller = sorted((one.p * 2 / 0.8 for one in head), reverse=True)
    assert sorted(one.p_adjusted for one in head) == pytest.approx(sorted([2 * smaller, max(larger, 2 * smaller)]))


@pytest.mark.slow
def test_further_comparisons_are_held_to_a_false_discovery_rate():
    from statsmodels.stats.multitest import multipletests

    factors = {"memory": {"1GiB": 1.0, "2GiB": 0.9}, "placement": {"hdd": 1.0, "nvme": 0.9, "ssd": 0.8}}
    found = compare(FakeTimes(factors={"workload": {"w": 1.0}, **factors}).samples(4, 1))
    rest = [one for one in found if one.family == "further"]
    assert [one.p_adjusted for one in rest] == pytest.approx(
        multipletests([min(1, one.p / 0.2) for one in rest], method="fdr_bh")[1]
    )


def test_six_pairs_and_more_are_checked_by_a_permutation_test():
    """One wild pair makes the mean large, but half of all signs would make it as large."""
    hdd, ssd = [10.0] * 6, [9.9, 10.1, 9.9, 10.1, 9.9, 4.0]
    one = only(compare([*trials("hdd", hdd), *trials("ssd", ssd)]))
    assert one.sign_flip_p > 0.05
    assert not one.significant
    assert only(compare([*trials("hdd", hdd[:5]), *trials("ssd", ssd[:5])])).sign_flip_p is None


@pytest.mark.parametrize("count", [6, 9, 12, 20])
def test_the_permutation_test_is_scipys(count):
    values = np.random.default_rng(count).normal(0.4, 1, count)
    oracle = permutation_test((values,), np.mean, permutation_type="samples", n_resamples=50_000, rng=1).pvalue
    assert only(sign_flip_ps([values])) == pytest.approx(oracle, abs=1e-12 if count <= 12 else 0.01)


def test_a_permutation_test_has_the_same_answer_each_time_and_beside_any_others():
    values, shorter = np.random.default_rng(1).normal(0.4, 1, 30), [0.1, 0.2, -0.3]
    alone = only(sign_flip_ps([values]))
    assert alone > 0
    others = list(np.random.default_rng(2).normal(0, 1, (250, 30)))
    assert sign_flip_ps([shorter, *others, values])[0] is None
    assert sign_flip_ps([shorter, *others, values])[-1] == alone


def test_a_failed_trial_leaves_the_others_of_its_repetition_useful():
    times = noisy(10, 7)
    times[3] = 0
    one = only(compare([*trials("hdd", times), *trials("ssd", noisy(5, 7, 2))]))
    assert (one.pairs, one.base_runs, one.runs, one.significant) == (6, 6, 7, True)


def test_levels_that_took_no_turns_are_compared_and_that_is_said():
    other = [sample._replace(repetition=sample.repetition + 50) for sample in trials("ssd", noisy(5, 6))]
    one = only(compare([*trials("hdd", noisy(10, 6)), *other]))
    assert (one.pairs, one.sign_flip_p, one.significant) == (0, None, True)
    assert one.ratio == pytest.approx(0.5, rel=0.05)
    assert "6 against 6 trials, unpaired" in in_words(one)


def test_runs_take_no_turns_and_are_compared_with_the_first_only():
    found = [
        TrialSample(str(n), (("placement", "hdd"), (RUN, run), (MACHINE, "A")), n, time)
        for run, times in (("a", noisy(10, 6)), ("b", noisy(8, 6)), ("c", noisy(8, 6)))
        for n, time in enumerate(times)
    ]
    assert [(one.base, one.level, one.pairs) for one in compare(found, [RUN])] == [("a", "b", 0), ("a", "c", 0)]


def test_trials_of_unequal_machines_are_never_pooled():
    found = [
        *trials("hdd", noisy(10, 6)), *trials("ssd", noisy(5, 6)),
        *trials("hdd", noisy(20, 6), "B"), *trials("ssd", noisy(18, 6), "B"),
    ]  # fmt: skip
    assert [(dict(one.others)[MACHINE], round(one.ratio, 2)) for one in compare(found)] == [("A", 0.5), ("B", 0.9)]


def test_times_below_half_a_second_are_not_tested_and_weigh_on_no_other():
    found = [
        *trials("hdd", noisy(10, 4)), *trials("ssd", noisy(5, 4, 3)),
        *trials("hdd", noisy(0.4, 4), variant="short"), *trials("ssd", noisy(0.2, 4, 3), variant="short"),
    ]  # fmt: skip
    long, short = compare(found, ["placement"])
    assert (short.p, short.p_adjusted, short.significant) == (None, None, False)
    assert short.ratio == pytest.approx(0.5, rel=0.05)
    assert (long.comparisons, long.p_adjusted) == (1, long.p)
    assert in_words(short).endswith("not tested: both take less than half a second")


def test_what_is_significant_leaves_1_out_of_the_interval():
    for repetitions, seed in product((2, 5, 9), range(30)):
        fake = FakeTimes(factors={"workload": {"w": 1.0}, "placement": {"hdd": 1.0, "ssd": 0.93}})
        one = only(compare(fake.samples(repetitions, seed)))
        assert not (one.significant and 1 in one.interval)


def test_words_leave_the_number_of_repetitions_to_the_decision():
    one = only(compare([*trials("hdd", noisy(10, 8)), *trials("ssd", noisy(10, 8, 2))]))
    assert (one.significant, one.needed > 8) == (False, True)
    assert in_words(one).endswith("; 8 pairs)")
    assert "repetitions would" not in in_words(one)


@pytest.mark.slow
@pytest.mark.parametrize("chances", [[0.01, 0.04, 0.03, 0.005], [0.7, 0.6], [0.2], [0.001] * 5])
def test_corrections_are_statsmodels(chances):
    from statsmodels.stats.multitest import multipletests

    assert holm(chances) == pytest.approx(multipletests(chances, method="holm")[1])
    assert benjamini_hochberg(chances) == pytest.approx(multipletests(chances, method="fdr_bh")[1])


def test_words_say_what_is_borrowed_and_from_where():
    found = [*trials("hdd", noisy(10, 4)), *trials("ssd", noisy(10, 4, 2))]
    own = compare(found)[0].noise
    assumed = noise_words([own])
    assert assumed.startswith(f"Equal trials differ by about {100 * own.deviation:.0f} %; 50 % of the weight ")
    assert assumed.endswith(f"from an assumption ({100 * SHIPPED_PRIOR.deviation:.0f} % on any machine).")
    history = NoisePrior(deviation=0.03, freedom=6, source="history", trials=64, workloads=4)
    assert noise_words([compare(found, prior=history)[0].noise]).endswith("64 earlier trials on this machine (3 %).")
    assert noise_words([]) == ""


def test_nothing_to_compare_compares_nothing():
    assert (holm([]), benjamini_hochberg([])) == ([], [])
    assert compare([]) == []
    assert compare(trials("hdd", [1, 2, 3])) == []
    with pytest.raises(KeyError):
        compare(trials("hdd", [1]), ["colour"])


def test_an_interval_is_shown_only_where_it_says_the_same_as_the_significance():
    def seen(one, **changes):
        return one.model_copy(update=changes).shown_interval

    one = next(iter(compare(samples(summaries(terasort_run()[1])))))
    apart, around = ConfidenceInterval(low=1.16, high=2.01), ConfidenceInterval(low=0.9, high=1.2)
    assert seen(one, interval=apart, significant=True, p=0.01) == apart
    assert seen(one, interval=apart, significant=False, p=0.04) is None, "significant alone, not after correction"
    assert seen(one, interval=apart, significant=False, p=None) is None, "not tested"
    assert seen(one, interval=around, significant=False, p=0.5) == around
