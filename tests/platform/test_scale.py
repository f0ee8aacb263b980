"""Proves what is read of a scale model while its jobs run: idle ticks, backlogs, heartbeats, and the times they are of."""

from array import array
from pathlib import Path

import pytest

from assay.model.installed import stack_of
from assay.model.running_cluster import ClusterNode, RunningCluster
from assay.model.scale import HeartbeatsSeen, LinkSeen
from assay.network.queues import LinkQueue
from assay.platform.distribution import known_properties
from assay.platform.scale import ScaleWatch, backlogged, counted, idle_ticks, seconds_of
from tests.builders import an_installation

STAT = """\
cpu  100 0 50 1000 20 0 5 0 0 0
cpu0 50 0 25 600 10 0 5 0 0 0
cpu1 50 0 25 400 10 0 0 0 0 0
intr 12345
"""
ROOT = Path(__file__).parents[2]


def test_a_processor_that_waits_for_a_disk_is_idle():
    assert idle_ticks(STAT, {0, 1}) == 1020
    assert idle_ticks(STAT, {1}) == 410


def test_a_link_counts_where_something_waits_at_both_ends_of_a_window():
    before = {1: LinkQueue(100, 5), 2: LinkQueue(100, 0), 3: LinkQueue(100, 5)}
    after = {1: LinkQueue(300, 9), 2: LinkQueue(300, 9), 3: LinkQueue(300, 0), 4: LinkQueue(9, 9)}
    assert backlogged(before, after) == {1: 200}


@pytest.mark.parametrize(("value", "unit_s", "seconds"), [("12", 1.0, 12.0), ("200", 1e-3, 0.2), ("200ms", 1.0, 0.2)])
def test_a_timer_has_a_unit_of_its_own_or_the_propertys(value, unit_s, seconds):
    assert seconds_of(value, unit_s) == pytest.approx(seconds)


def test_only_what_was_seen_between_two_times_counts(tmp_path):
    nodes = (ClusterNode(None), ClusterNode(None, container_logs=tmp_path), ClusterNode(None, container_logs=tmp_path))
    watch = ScaleWatch(
        4,
        (),
        RunningCluster(Path("hadoop"), tmp_path, "3", {}, nodes, properties={"dfs.heartbeat.interval": "12"}),
        stack_of(),
    )
    watch._idle = [((0, 1000), 0.5), ((1000, 2000), 0.25), ((2000, 3000), 0.0)]
    watch._late = [(500, array("I", [9])), (1500, array("I", [1, 2]))]
    watch._links = [
        ((1000, 1200), "worker-1", LinkSeen(sent_bytes=10, seconds=0.2, rate_bytes_per_s=50.0)),
        ((1200, 1400), "worker-1", LinkSeen(sent_bytes=9, seconds=0.2, rate_bytes_per_s=50.0)),
    ]
    watch._beats = {"namenode": [(0, 1), (1000, 5), (2000, 8)], "resourcemanager": [(1500, 7)]}
    seen = watch.seen(1000, 2000)
    assert list(seen.idle_shares) == [0.25]
    assert seen.late_us == {1: 1, 2: 1}
    assert seen.links == {"worker-1": LinkSeen(sent_bytes=19, seconds=0.4, rate_bytes_per_s=50.0)}
    assert seen.heartbeats == {"namenode": HeartbeatsSeen(beats=3, nodes=2, seconds=1.0, interval_s=12.0)}


def test_wake_ups_are_counted_in_steps_of_a_64th_that_end_where_they_say():
    assert counted([0, 5, 127, 128, 129, 130, 1000, 1001, 70_000]) == {
        0: 1, 5: 1, 127: 1, 129: 2, 131: 1, 1007: 2, 70_655: 1,
    }  # fmt: skip
    assert all(late <= end <= late * 65 / 64 for late in range(1, 5000) for end in counted([late]))


def test_the_table_of_timers_has_hadoops_own_defaults():
    known = known_properties(an_installation(ROOT, ROOT / ".assay"))
    if not known:
        pytest.skip("Hadoop's jars are not here")
    timers = stack_of().timers
    assert {name: known.get(name) for name in timers} == timers
