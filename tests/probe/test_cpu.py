"""Proves that CPU shares come from differences of ticks, and that a broken source stores nothing and says why."""

import time

import pytest

from assay.probe.cpu import CpuProbe, read_ticks, shares

BEFORE = "cpu  1000 10 500 8000 300 5 15 0 0 0\ncpu0 500 5 250 4000 150 2 8 0 0 0\n"
AFTER = "cpu  1040 10 510 8030 310 5 15 10 0 0\ncpu0 520 5 255 4015 155 2 8 5 0 0\n"


def test_shares_are_differences_in_percent():
    found = {sample.series: sample.value for sample in shares(read_ticks(BEFORE), read_ticks(AFTER), 7)}
    assert found == {
        "user_percent": 40.0, "system_percent": 10.0, "iowait_percent": 10.0, "steal_percent": 10.0, "idle_percent": 30.0
    }  # fmt: skip


def test_counters_that_stand_still_give_no_sample():
    assert shares(read_ticks(BEFORE), read_ticks(BEFORE), 7) == []


def test_a_kernel_without_the_counters_is_refused():
    with pytest.raises(ValueError, match="/proc/stat begins with 'cpu 1 2'"):
        read_ticks("cpu 1 2\n")


def test_a_live_probe_samples_this_machine():
    with CpuProbe(interval_s=0.05).attached() as reading:
        time.sleep(0.4)
    assert reading.samples()
    assert all(0 <= sample.value <= 100 for sample in reading.samples())
    assert reading.doubts() == ()


def test_a_source_that_disappears_leaves_a_doubt_and_no_samples(tmp_path):
    with CpuProbe(stat=tmp_path / "absent", interval_s=0.01).attached() as reading:
        time.sleep(0.1)
    assert reading.samples() == ()
    assert [doubt.kind for doubt in reading.doubts()] == ["probe-cpu-missing"]
