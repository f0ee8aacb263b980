"""Proves that the spin test uses each processor that this process may use, for as much work as it was asked for."""

import os

from assay.probe.spin import memory_spins, spin, spins


def test_each_processor_works_and_none_is_left_bound():
    before = os.sched_getaffinity(0)
    assert len(spins(1000)) == len(before)
    assert os.sched_getaffinity(0) == before


def test_more_work_takes_more_processor_time():
    for work, little, much in ((spins, 1000, 200_000), (memory_spins, 1, 8_000_000)):
        assert min(one.busy_s for one in work(much)) > max(one.busy_s for one in work(little))


def test_the_amounts_are_of_the_time_before_the_jobs():
    found = spin(1000, 1)
    assert {one.part for one in found} == {"staging"}
    values = {one.series: one.value for one in found}
    for kind in ("", "memory_"):
        assert values[f"{kind}busy_s"] > 0
        assert values[f"{kind}slowest_s"] >= values[f"{kind}elapsed_s"]
