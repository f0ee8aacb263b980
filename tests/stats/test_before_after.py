"""Proves that an effect is found beside drift and input, that its interval holds, and that nights are what counts."""

from math import log

import numpy as np
import pytest
from benchmarks.compare_histories import (
    FOLLOWS_S,
    JOBS,
    Case,
    broken,
    error_of,
    goal_text,
    histories_text,
    judged,
    of_histories,
    plain,
    write_site,
)

from assay.engine.past.histories import finished_ms
from assay.stats.before_after import MOST_NIGHTS, Adjusted, ChangeVerdict, Effect, JobNights, verdict_of
from assay.stats.fit import Contrast

SITES = 150


def nights_of(log_s, log_bytes=0.0, controls=()):
    """Rows by night, of which the second half are after the change."""
    rows, nights = np.shape(log_s)
    jobs = np.full(rows, fill_value=True)
    untouched = np.isin(np.arange(rows), controls)
    filled = np.zeros((rows, nights)) + log_bytes
    return JobNights(np.array(log_s, dtype=float), filled, np.arange(nights) >= nights // 2, jobs, untouched)


def noisy(rows=4, nights=8, noise=0.05, seed=1):
    return noise * np.random.default_rng(seed).standard_normal((rows, nights))


AFTER = np.repeat([0.0, 1.0], 4)


def test_the_drift_of_controls_is_no_effect():
    times = np.outer([1, 2, 3, 4], np.ones(8)) + AFTER * log(1.05)
    times[0] += AFTER * log(0.7)
    adjusted = Adjusted(nights_of(times, controls=[2, 3]))
    assert adjusted.row(0).contrast().ratio == pytest.approx(0.7)
    assert adjusted.row(1).contrast().ratio == pytest.approx(1)
    assert adjusted.drift().contrast().ratio == pytest.approx(1.05)
    assert adjusted.drift(0).contrast().ratio == pytest.approx(0.7 * 1.05)
    alone = Adjusted(nights_of(times))
    assert alone.row(0).contrast().ratio == pytest.approx(0.7 * 1.05)


def test_what_a_night_did_to_all_jobs_makes_no_interval_wider():
    shared = np.array([0.0, 1, 0.5, 0.2, 0.9, 0.1, 0.7, 0.3])
    times = noisy(noise=0.01) + shared
    assert Adjusted(nights_of(times, controls=[2, 3])).row(0).contrast().error < 0.02
    assert Adjusted(nights_of(times)).row(0).contrast().error > 0.1


def test_a_time_that_follows_its_input_has_not_changed():
    source = np.random.default_rng(1)
    inputs = 0.2 * source.standard_normal((4, 8)) + AFTER * log(1.2)
    adjusted = Adjusted(nights_of(0.8 * inputs + noisy(noise=0.001), inputs, controls=[2, 3]))
    contrast = adjusted.row(0).contrast()
    assert contrast.ratio == pytest.approx(1, abs=0.01)
    assert contrast.error < 0.01


def test_of_an_input_that_only_jumps_nobody_knows_how_much_the_time_follows_it():
    """The interval then holds each slope from 0 to 1."""
    inputs = np.outer([1, 0, 0, 0], AFTER * log(1.2))
    for slope in (0.1, 0.9):
        contrast = Adjusted(nights_of(slope * inputs + noisy(noise=0.001), inputs, controls=[2, 3])).row(0).contrast()
        assert contrast.interval().low < 1 < contrast.interval().high
        assert contrast.error > 0.04


def test_a_slope_is_never_above_1_nor_below_0():
    source = np.random.default_rng(1)
    inputs = 0.1 * source.standard_normal((1, 8)) + AFTER
    for slope, left in ((3.0, 2.0), (-2.0, -2.0)):
        contrast = Adjusted(nights_of(slope * inputs, inputs)).row(0).contrast()
        assert contrast.log == pytest.approx(left * (inputs[0, 4:].mean() - inputs[0, :4].mean()), abs=1e-6)


def test_a_night_without_controls_is_left_out_and_a_single_one_tells_nothing():
    times = noisy()
    times[2:, 7] = np.nan
    times[0, 7] = 5.0
    assert abs(Adjusted(nights_of(times, controls=[2, 3])).row(0).contrast().log) < 0.2
    times[0, 4:7] = [1.0, np.nan, np.nan]
    assert Adjusted(nights_of(times, controls=[2, 3])).row(0) is None


def test_the_total_is_that_of_seconds_and_few_nights_of_a_job_make_it_less_certain():
    times = np.zeros((3, 8))
    times[0] = log(900) + AFTER * log(0.5)
    times[1] = log(100)
    adjusted = Adjusted(nights_of(times, controls=[2]))
    assert adjusted.total(np.array([900, 100, 0])).contrast().ratio == pytest.approx(0.55)
    assert adjusted.total(np.zeros(3)) is None
    noise = noisy(rows=2, nights=28, noise=0.1, seed=3)
    every_night = Adjusted(nights_of(noise, controls=[1])).row(0).contrast().error
    noise[0, np.arange(28) % 7 > 1] = np.nan
    assert Adjusted(nights_of(noise, controls=[1])).row(0).contrast().error > every_night


@pytest.mark.parametrize(
    ("log_ratio", "error", "unseen", "verdict"),
    [
        (-0.3, 0.05, 0.0, ChangeVerdict.HELPED),
        (0.3, 0.05, 0.0, ChangeVerdict.LONGER),
        (-0.02, 0.02, 0.0, ChangeVerdict.NO_DIFFERENCE),
        (-0.02, 0.02, 0.05, ChangeVerdict.NOT_KNOWN),
        (-0.05, 0.05, 0.0, ChangeVerdict.NOT_KNOWN),
    ],
)
def test_verdicts(log_ratio, error, unseen, verdict):
    contrast = Contrast(log_ratio, error, 30.0)
    assert verdict_of(contrast, contrast.p(), 0.1, unseen) is verdict


def test_as_many_more_nights_are_told_as_it_takes():
    effect = Effect(-0.06, (0.0001, 0.0012), (28, 7), 0.0)
    more = effect.more_nights(0.1)
    assert 1 < more < MOST_NIGHTS
    for nights, known in ((more - 1, False), (more, True)):
        contrast = effect.contrast(nights)
        assert (verdict_of(contrast, contrast.p(), 0.1) is not ChangeVerdict.NOT_KNOWN) is known
    assert effect.more_nights(0.1, comparisons=20) > more
    assert effect._replace(of_input=0.01).more_nights(0.1) is None


@pytest.mark.slow
@pytest.mark.parametrize("saved", [0.0, 0.3])
def test_intervals_hold_the_truth_beside_drift_and_grown_input(saved):
    row = judged(Case(saved, 0.15, 7, -0.05, 0.2), SITES, 1)
    assert broken([row], SITES) == []


@pytest.mark.slow
def test_drift_fools_the_plain_ratio_and_not_the_adjusted_one():
    row = judged(Case(0.0, 0.05, 28, -0.1, 0.0), SITES, 1)
    assert row["plain helped"] > 0.5
    assert row["helped"] <= 0.05 + 2 * error_of(0.05, SITES)


def test_a_promise_that_is_not_kept_is_noticed():
    kept = {"saved": 0.0, "covered": 0.95, "helped": 0.02, "any": 0.02}
    assert broken([kept], 400) == []
    assert len(broken([{**kept, "covered": 0.8}, {**kept, "covered": 1.0}, {**kept, "helped": 0.2}], 400)) == 3


def test_a_promise_of_the_batch_counts_where_it_is_made():
    kept = {"saved": 0.0, "covered": 0.95, "helped": 0.02, "batch covered": 0.95, "batch helped": 0.0}
    assert broken([kept], 400) == []
    assert len(broken([{**kept, "batch covered": 0.6}, {**kept, "batch helped": 0.5}], 400)) == 2


def test_the_page_says_the_goal_its_tolerance_and_what_lies_beyond():
    rows = [{"saved": 0.3, "covered": covered, "helped": 1.0, "any": 1.0} for covered in (0.95, 0.92, 0.98, 0.8)]
    text = goal_text(rows, 400)
    assert text.startswith("The goal is that in each of the 4 cases 93 % to 97 % of the intervals hold the truth")
    assert "3 of them lie outside of 93 % to 97 % (80.0 to 98.0 %)" in text
    assert "2.6 points below the one, 1.7 above the other" in text
    assert text.endswith(" 1 of them lie beyond that.")
    assert "0 of them lie outside of 93 % to 97 %. By" in goal_text(rows[:1], 400)


def test_jobs_of_a_site_of_histories_follow_one_another_and_its_batch_has_a_known_ratio(tmp_path):
    case = Case(0.3, 0.05, 1, 0.0, 0.0)
    written = write_site(tmp_path, case, np.random.default_rng(1))
    assert written.batch_ratio == pytest.approx(0.85, abs=0.03)
    names = sorted((file.name for file in tmp_path.glob("*.jhist")), key=finished_ms)
    ends_ms, submitted_ms = map(finished_ms, names), [int(name.split("-")[1]) for name in names]
    gaps_ms = [begun - ended for ended, begun in zip(ends_ms, submitted_ms[1:], strict=False)]
    assert len(names) == 2 * JOBS
    assert gaps_ms.count(1000 * FOLLOWS_S) == 2 * (JOBS - 1)
    assert write_site(tmp_path, case._replace(saved=0.0), np.random.default_rng(1)).batch_ratio == 1


@pytest.mark.slow
def test_a_site_is_judged_by_its_histories(tmp_path):
    row = of_histories(Case(0.3, 0.05, 4, 0.05, 0.2), 1, tmp_path)
    assert (row["helped"], row["batch helped"], row["controls right"]) == (1, 1, 1)
    assert "1 for each line, with 5 % drift, 20 % more input and 4 nights" in histories_text([row], 1)


def test_the_plain_ratio_is_that_of_mean_times():
    assert plain(nights_of(np.repeat([0.0, log(0.5)], 7) + noisy(20, 14, 1e-4))).ratio == pytest.approx(0.5, rel=1e-3)
