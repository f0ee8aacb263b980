"""Proves what the network formula promises: bounds, monotony, and that a job's own drives give its own time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.closed_network import computing_time, network_time

SECONDS = st.floats(0.01, 10_000)
TASKS = st.floats(1.0, 50)


@given(st.lists(SECONDS, min_size=1, max_size=4))
def test_one_task_takes_the_sum(busy_s):
    assert network_time(busy_s, 1) == pytest.approx(sum(busy_s), rel=0.01)


@given(st.lists(SECONDS, min_size=1, max_size=4), TASKS)
def test_a_time_lies_between_the_longest_and_the_sum(busy_s, tasks):
    assert max(busy_s) * 0.999 <= network_time(busy_s, tasks) <= sum(busy_s) * 1.01


@given(SECONDS, SECONDS, st.floats(0.01, 0.99), TASKS)
def test_a_faster_drive_gives_no_longer_time_and_none_below_computing(computing_s, busy_s, share, tasks):
    time_s = network_time([computing_s, busy_s], tasks)
    faster_s = network_time([computing_s, busy_s * share], tasks)
    assert computing_s * 0.999 <= faster_s <= time_s * 1.001


@given(st.lists(SECONDS, min_size=1, max_size=3), st.floats(1.05, 20), TASKS)
def test_its_own_drives_give_a_job_its_own_time(busy_s, longer, tasks):
    time_s = network_time([1e-6, *busy_s], tasks) * longer
    assert network_time([computing_time(time_s, busy_s, tasks), *busy_s], tasks) == pytest.approx(time_s, rel=0.01)


def test_equally_busy_stations_and_idle_ones_are_no_difficulty():
    assert network_time([10, 10], 1.7) == pytest.approx(10 * 2.7 / 1.7, rel=0.001)
    assert network_time([10, 0], 1.7) == 10
    assert network_time([]) == 0
    assert network_time([10, 10, 10], 1000) == pytest.approx(10, rel=0.01)
    assert network_time([10] * 13, 1.7) == pytest.approx(10 * (13 + 0.7) / 1.7, rel=0.001)


def test_drives_that_explain_all_of_a_time_leave_no_computing():
    assert computing_time(10, [12.0]) == 0
