"""Proves the figures of skew by hand-counted values, and on a real job."""

import pytest

from assay.stats.tasks import skew
from tests.engine.captures import history_of
from tests.stats.attempts import an_attempt


def test_one_has_most_of_the_work():
    assert skew([100, 100, 400]) == 4.0


def test_even_work_has_none():
    assert skew([50, 50]) == 1.0


def test_there_is_no_ratio_to_nothing_nor_of_one_task_alone():
    assert (skew([0, 0, 9]), skew([5]), skew([])) == (None, None, None)


def test_a_reducer_whose_merges_end_is_unknown_has_no_seconds():
    reducer = an_attempt("r0_0", 10, 20, 21, 24)
    assert (reducer.reduce_s, reducer.model_copy(update={"merge_finished_ms": 0}).reduce_s) == (3.0, None)


def test_a_real_job():
    reducers = [one for one in history_of("speculation").attempts if one.stage == "reduce" and one.state == "SUCCEEDED"]
    assert skew([one.shuffled_bytes for one in reducers]) == pytest.approx(31249436 / ((31249436 + 31150636) / 2))
    assert max(one.reduce_s for one in reducers) == 1.5
