"""Proves that the spin test uses each processor that this process may use, for as much work as it was asked for."""

import os

from assay.probe.spin import spin, spins


def test_each_processor_works_and_none_is_left_bound():
    before = os.sched_getaffinity(0)
    assert len(spins(1000)) == len(before)
    assert os.sched_getaffinity(0) == before


def test_more_work_takes_more_processor_time():
    assert min(one.busy_s for one in spins(200_000)) > max(one.busy_s for one in spins(1000))


def test_the_amounts_are_of_the_time_before_the_jobs():
    values = {one.series: one.value for one in spin(1000)}
    assert {one.part for one in spin(1000)} == {"staging"}
    assert values["busy_s"] > 0
    assert values["slowest_s"] >= values["elapsed_s"]
