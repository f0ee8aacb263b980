"""Proves under which conditions a scale model's times are believed, and that a failed one strikes them out by name."""

import pytest

from assay.model.scale import HeartbeatsSeen, LinkSeen, ScaleReport, ScaleSeen
from assay.stats.sample import counts, is_struck_out
from assay.stats.scale import (
    around_strike,
    drive_check,
    heartbeat_check,
    idle_check,
    judged,
    link_check,
    scale_doubts,
    wake_check,
)
from tests.builders import a_record, device_reports

GOOD = ScaleSeen(
    4, idle_shares=[0.3] * 100, late_us=[60] * 1000, links={"worker-1": LinkSeen(101, 2.0, 50.0)},
    heartbeats={"namenode": HeartbeatsSeen(30, 3, 120.0, 12.0)},
)  # fmt: skip
DEVICES = device_reports({"worker-1/hdd": {"run": {"elapsed_seconds": 100.0, "late_seconds": 1.0}}})


def test_a_model_that_was_kept_to_passes_all_checks():
    report = judged(GOOD, DEVICES)
    assert [check.passed for check in report.checks] == [True] * 5
    assert (report.dilation, report.clock, report.modelled, report.failed) == (4, "wall", True, ())
    assert scale_doubts(report) == []


def test_one_window_of_a_hundred_may_lack_idle_time_and_not_two():
    assert idle_check([0.05] + [0.5] * 99).passed
    assert idle_check([0.05] * 2 + [0.5] * 98).passed is False
    assert idle_check([]).passed is None
    assert (idle_check([0.05] + [0.5] * 99).lowest, idle_check([]).lowest) == (0.05, None)


def test_the_99th_percentile_of_late_wakes_counts():
    assert wake_check([50] * 990 + [5000] * 9, 1).passed
    failed = wake_check([50] * 970 + [5000] * 30, 1)
    assert (failed.passed, failed.value) == (False, 5000)
    assert wake_check([50], 1).passed is None


def test_late_wakes_count_by_the_models_clock():
    """2.2 ms of this machine are 0.55 ms of a model that is four times slower, and 1.1 ms of one twice as slow."""
    seen = [50] * 900 + [2200] * 100
    assert (wake_check(seen, 4).value, wake_check(seen, 4).passed, wake_check(seen, 2).passed) == (550, True, False)


def test_late_drives():
    late = device_reports({"a/hdd": {"run": {"elapsed_seconds": 100.0, "late_seconds": 1.0}},
                           "b/hdd": {"run": {"elapsed_seconds": 100.0, "late_seconds": 2.0}}})  # fmt: skip
    check = drive_check(late)
    assert check.passed is False
    assert "b/hdd" in check.detail
    assert drive_check({}).passed is None


def test_lateness_is_also_said_beside_the_time_in_which_the_drive_was_busy():
    run = {"elapsed_seconds": 100.0, "late_seconds": 1.87, "busy_seconds": 3.74}
    check = drive_check(device_reports({"worker-8/hdd": {"run": run}}))
    assert check.passed
    assert "1.87% of the run (worker-8/hdd, 50% of the time in which it was busy), below 2%" in check.detail


@pytest.mark.parametrize(("sent", "passed"), [(95, True), (105, True), (94, False), (106, False)])
def test_links_with_a_backlog_keep_their_rate(sent, passed):
    assert link_check({"worker-1": LinkSeen(sent, 2.0, 50.0)}, 10.0).passed is passed


@pytest.mark.parametrize(("run_s", "passed"), [(20, True), (19, False), (0, False)])
def test_a_link_off_its_rate_for_a_hundredth_of_the_run_is_allowed(run_s, passed):
    check = link_check({"worker-1": LinkSeen(90, 2.0, 50.0), "worker-2": LinkSeen(99, 2.0, 50.0)}, run_s)
    assert check.passed is passed
    assert f"or 1% of the run in all: it was {0.2 / run_s if run_s else 1:.2%}" in check.detail


def test_a_link_without_a_second_of_backlog_tells_nothing():
    assert link_check({"worker-1": LinkSeen(1, 0.5, 50.0)}, 10.0).passed is None


@pytest.mark.parametrize(("count", "passed"), [(30, True), (25, True), (24, False), (0, False)])
def test_heartbeats_come_within_a_fifth_of_their_interval(count, passed):
    """30 of 3 nodes in 120 s are one every 12 s."""
    assert heartbeat_check({"namenode": HeartbeatsSeen(count, 3, 120.0, 12.0)}).passed is passed


@pytest.mark.parametrize(
    ("killed", "of_resourcemanager", "of_namenode"), [("node", 2.5, 2.5), ("datanode", 3, 2.5), ("nodemanager", 2.5, 3)]
)
def test_a_node_that_was_killed_sends_no_more_heartbeats_and_is_not_waited_for(killed, of_resourcemanager, of_namenode):
    """3 nodes for a minute, then 2: 15 and 10 heartbeats where each comes every 12 s."""
    before = dict.fromkeys(["resourcemanager", "namenode"], HeartbeatsSeen(15, 3, 60.0, 12.0))
    after = dict.fromkeys(["resourcemanager", "namenode"], HeartbeatsSeen(10, 3, 60.0, 12.0))
    found = around_strike(before, after, killed)
    assert {role: one.nodes for role, one in found.items()} == {
        "resourcemanager": of_resourcemanager, "namenode": of_namenode,
    }  # fmt: skip
    assert {one.beats for one in found.values()} == {25}
    assert heartbeat_check({"namenode": found["namenode"]}).value == pytest.approx(of_namenode * 120 / 25 / 12)
    assert around_strike(before, {}, killed) == before


def test_a_third_decimal_shows_what_two_would_hide():
    assert "every 1.205 intervals" in heartbeat_check({"namenode": HeartbeatsSeen(2390, 3, 9600.0, 10.0)}).detail
    assert (
        "every 1.200 intervals in the mean (25 of 3 nodes), at most 1.2 is allowed"
        in heartbeat_check({"namenode": HeartbeatsSeen(25, 3, 120.0, 12.0)}).detail
    )


def test_too_few_intervals_tell_nothing_of_heartbeats():
    assert heartbeat_check({"namenode": HeartbeatsSeen(3, 3, 60.0, 12.0)}).passed is None


def test_a_failed_check_strikes_the_time_out_and_says_why():
    report = judged(GOOD._replace(idle_shares=[0.0] * 10), DEVICES)
    (doubt,) = scale_doubts(report)
    assert doubt.kind == "scale-model-not-kept"
    assert "idle for at least 10% of the time in 0.0% of 10 windows" in doubt.what
    record = a_record(scale=report)
    assert record.struck_out
    assert not counts(record)
    assert is_struck_out(record)
    assert counts(a_record(scale=judged(GOOD, DEVICES)))
    assert counts(a_record(scale=ScaleReport(dilation=4)))


def test_what_every_trial_should_show_and_did_not_is_doubted():
    report = judged(GOOD._replace(late_us=[]), DEVICES)
    (doubt,) = scale_doubts(report, ["no thread to wake up could be started"])
    assert doubt.kind == "scale-model-not-seen"
    assert "no thread" in doubt.what
