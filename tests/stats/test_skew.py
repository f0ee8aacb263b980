"""Proves the figures of reducer skew by hand-counted values, and on a real job."""

import pytest

from assay.stats.tasks import reducer_skew
from tests.engine.captures import history_of
from tests.stats.attempts import an_attempt


def a_reducer(number, shuffled_bytes, reduce_s, **changes):
    return an_attempt(f"r{number}_0", 10, 20, 21, 21 + reduce_s, shuffled_bytes=shuffled_bytes, **changes)


def test_one_reducer_has_most_of_the_work():
    reducers = [a_reducer(0, 100, 2), a_reducer(1, 100, 2), a_reducer(2, 400, 8)]
    by_bytes, by_time = reducer_skew(reducers)
    assert (by_bytes.measure, by_bytes.reducers, by_bytes.largest[-10:]) == ("shuffled_bytes", 3, "r_000002_0")
    assert (by_bytes.median, by_bytes.maximum, by_bytes.max_over_median) == (100, 400, 4.0)
    assert by_bytes.variation == pytest.approx((20000**0.5) / 200)
    assert (by_time.measure, by_time.median, by_time.maximum, by_time.max_over_median) == ("reduce_s", 2.0, 8.0, 4.0)


def test_even_reducers_have_none():
    (by_bytes, _) = reducer_skew([a_reducer(0, 50, 1), a_reducer(1, 50, 1)])
    assert (by_bytes.max_over_median, by_bytes.variation) == (1.0, 0.0)


def test_most_reducers_with_nothing_have_no_ratio():
    by_bytes, _ = reducer_skew([a_reducer(0, 0, 1), a_reducer(1, 0, 1), a_reducer(2, 9, 1)])
    assert (by_bytes.max_over_median, by_bytes.maximum) == (None, 9)
    by_bytes, _ = reducer_skew([a_reducer(0, 0, 1), a_reducer(1, 0, 1)])
    assert by_bytes.variation is None


def test_one_reducer_alone_maps_and_attempts_that_did_not_succeed_do_not_count():
    assert reducer_skew([]) == ()
    assert reducer_skew([a_reducer(0, 5, 1), a_reducer(1, 50, 1, state="KILLED"), an_attempt("m0_0", 1, 2)]) == ()


def test_a_reducer_whose_merges_end_is_unknown_has_bytes_but_no_seconds():
    (found,) = reducer_skew([a_reducer(0, 5, 1), a_reducer(1, 50, 1, merge_finished_ms=0)])
    assert found.measure == "shuffled_bytes"


def test_each_job_by_itself():
    jobs = [a_reducer(0, 5, 1), a_reducer(1, 5, 1), *(a_reducer(n, 7, 1, job="job_1_0002") for n in range(3))]
    assert [(skew.job, skew.reducers) for skew in reducer_skew(jobs)] == [
        ("job_1_0001", 2), ("job_1_0001", 2), ("job_1_0002", 3), ("job_1_0002", 3),
    ]  # fmt: skip


def test_a_real_job():
    by_bytes, by_time = reducer_skew(history_of("speculation").attempts)
    assert (by_bytes.reducers, by_bytes.maximum) == (2, 31249436)
    assert by_bytes.max_over_median == pytest.approx(31249436 / ((31249436 + 31150636) / 2))
    assert by_time.maximum == 1.5
