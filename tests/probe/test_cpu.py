"""Proves that CPU shares come from differences of ticks, and that a broken source stores nothing and says why."""

import time

import pytest

from assay.node.local import LocalNode
from assay.probe.cpu import CpuProbe, busy_ticks, parse_ticks, shares, tick_gains
from tests.probe.faking import PlacedNode, a_scene, amounts_of, at, measuring, named

BEFORE = "cpu  1000 10 500 8000 300 5 15 0 0 0\ncpu0 500 5 250 4000 150 2 8 0 0 0\n"
AFTER = "cpu  1040 10 510 8030 310 5 15 10 0 0\ncpu0 520 5 255 4015 155 2 8 5 0 0\n"


def differences(before, now):
    return tick_gains(before).add(now)[0]


def test_shares_are_differences_in_percent():
    gone = differences(parse_ticks(BEFORE), parse_ticks(AFTER))
    assert shares(gone) == {
        "user_percent": 40.0, "system_percent": 10.0, "iowait_percent": 10.0, "steal_percent": 10.0, "idle_percent": 30.0
    }  # fmt: skip
    assert busy_ticks(gone) == 50


def test_counters_that_stand_still_give_no_sample():
    assert shares(differences(parse_ticks(BEFORE), parse_ticks(BEFORE))) == {}


def test_what_waiting_lost_in_a_step_back_is_not_counted_again():
    gains = tick_gains({**parse_ticks(BEFORE), "iowait": 548282})
    waited = [
        gains.add({**parse_ticks(BEFORE), "iowait": now})[0]["iowait"] for now in (548281, 548282, 548281, 548285)
    ]
    assert waited == [0, 0, 0, 3]


def test_a_counter_that_goes_back_counts_as_none():
    gone = differences(parse_ticks(AFTER), parse_ticks(BEFORE))
    assert set(gone.values()) == {0}


@pytest.mark.parametrize("text", ["cpu 1 2\n", "", "intr 1 2 3 4 5 6 7 8 9\n"])
def test_a_kernel_without_the_counters_is_refused(text):
    with pytest.raises(ValueError, match="/proc/stat begins with"):
        parse_ticks(text)


def test_totals_are_seconds_of_all_cores(tmp_path):
    stat = tmp_path / "stat"
    stat.write_text(BEFORE)
    probe = CpuProbe(PlacedNode({"/proc/stat": stat}))
    probe.attach(a_scene())
    assert set(named(probe.totals()).values()) == {0.0}
    assert probe.sample(at(0.5)) == {}
    stat.write_text(AFTER)
    assert probe.sample(at(0.505)) == {}, "the tick before a mark is told with the next one"
    assert named(probe.totals())["machine", "user_s"] == 0.4
    assert probe.sample(at(1.0))["", "user_percent"] == 40.0
    totals = named(probe.totals())
    assert totals["machine", "user_s"] == 0.4
    assert totals["machine", "iowait_s"] == 0.1
    assert totals["machine", "steal_s"] == 0.1
    assert len(totals) == 7
    probe.close()


def test_a_live_probe_samples_this_machine():
    with measuring(CpuProbe(LocalNode()), scene=a_scene(), interval_s=0.02) as reading:
        time.sleep(0.2)
    assert reading.samples
    assert all(0 <= sample.value <= 100 for sample in reading.samples)
    assert reading.doubts == ()


def test_a_source_that_is_not_there_leaves_a_doubt_and_no_samples(tmp_path):
    with measuring(CpuProbe(PlacedNode({"/proc/stat": tmp_path / "absent"})), scene=a_scene()) as reading:
        reading.mark("run")
    assert list(reading.samples) == []
    assert amounts_of(reading) == ()
    assert [doubt.kind for doubt in reading.doubts] == ["probe-missing"]
