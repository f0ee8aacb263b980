"""Proves that a sample's drives are made so slow that it computes as long for each second of theirs as a node does."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model.errors import BadInputError
from assay.plan.computing_ratio import Computing, NodeDrives, Processors, drive_speed

SITE = Computing(cpu_s=920, tasks=80, read_bytes=20e9, elapsed_s=1200)
"""50 s of a processor for each GB, with the starts of its tasks."""
SAMPLE = Computing(cpu_s=95, tasks=5, read_bytes=1e9, elapsed_s=60)
"""100 s."""
DISK = NodeDrives(rate_mb_s=100)
BOTH = re.compile(r"a node of yours computes for ([\d.e+-]+) s, and the sample for ([\d.e+-]+) s")


def ratios(speed):
    """Of the node and of the sample."""
    (match,) = [match for line in speed.lines if (match := BOTH.search(line))]
    return float(match[1]), float(match[2])


def test_the_slowdown_follows_from_processors_and_processor_time():
    speed = drive_speed(SITE, SAMPLE, Processors(12, "--cores"), DISK, here=2)
    assert (speed.today, speed.other, speed.cpus) == ({"slowdown": 12}, {"slowdown": 12}, None)
    # A GB takes 50 / 12 s there, and 100 / 2 s here; a disk needs 10 s for it, 12 times as much here.
    assert ratios(speed) == pytest.approx((0.42, 0.42))
    assert speed.lines[:2] == (
        "a GB that the job reads takes 50 s of a processor on your nodes, and 100 s here",
        "12 processors share a drive on your nodes (--cores), and 2 here",
    )
    assert speed.lines[3] == "so the drives are 12 times slower"


def test_a_node_with_several_drives_is_divided_by_the_kind_of_which_it_has_more():
    processors = Processors(24, "--cores")
    assert drive_speed(SITE, None, processors, NodeDrives(today=12), here=2).today == {}
    speed = drive_speed(SITE, None, processors, NodeDrives(today=1, other=6, rate_mb_s=100), here=2)
    assert (speed.today, speed.other) == ({"slowdown": 12}, {"slowdown": 2})
    assert "so today's drive is 12 times slower, and the other is 2 times slower" in speed.lines
    assert ratios(speed) == pytest.approx((50 / 24 / 10, 50 / 24 / 10), rel=0.01), "all processors share the disk"
    (line,) = [
        line for line in drive_speed(SITE, None, processors, NodeDrives(today=12), here=2).lines if "share" in line
    ]
    assert line == "2 processors share 1/12 of a node's drives on your nodes (--cores), and 2 here"


def test_drives_are_never_made_faster_but_processors_fewer():
    speed = drive_speed(SITE, None, Processors(1, "--cores"), DISK, here=2)
    assert (speed.today, speed.other, speed.cpus) == ({}, {}, 1.0)
    assert ratios(speed) == pytest.approx((5, 5))


@given(
    st.floats(1, 400), st.floats(1, 400), st.integers(1, 64), st.integers(1, 24), st.integers(1, 24), st.integers(1, 16)
)
def test_both_ratios_agree_as_far_as_a_whole_slowdown_allows(there, here_s, cores, today, other, here):
    site, sample = Computing(there, 0, 1e9, 0), Computing(here_s, 0, 1e9, 0)
    try:
        speed = drive_speed(site, sample, Processors(cores, "x"), NodeDrives(today, other, 100), here)
    except BadInputError:
        return
    of_site, of_sample = ratios(speed)
    exact = here_s / there * cores / max(today, other) / here
    if exact * here > 0.1:
        assert of_sample == pytest.approx(of_site, rel=0.55)
    if exact >= 3:
        assert of_sample == pytest.approx(of_site, rel=0.2)
    if speed.cpus is not None:
        assert "slowdown" not in speed.other
        assert speed.cpus < here


def test_what_is_not_known_is_assumed_and_said():
    speed = drive_speed(None, None, Processors(), DISK, here=2)
    assert (speed.today, speed.other, speed.cpus) == ({}, {}, None)
    assert speed.lines == (
        (
            "a byte is assumed to take as much computing on your nodes as here; --history tells, by the processor time "
            "of the job's last run"
        ),
        "as many processors are assumed to share a drive on your nodes as here (2); --cores tells how many a node has",
        "so the drives have their own speed",
    )
    assert (
        "run-job measures that before it runs an experiment"
        in drive_speed(SITE, None, Processors(), DISK, here=2).lines[0]
    )


def test_a_slowdown_is_rounded_once_for_each_drive():
    speed = drive_speed(SITE, None, Processors(17.4, "x"), NodeDrives(today=1, other=6, rate_mb_s=100), here=2)
    assert (speed.today, speed.other) == ({"slowdown": 9}, {}), "1.45 times, and six times that"
    assert "so today's drive is 9 times slower, and the other has its own speed" in speed.lines
    speed = drive_speed(SITE, None, Processors(48, "x"), NodeDrives(today=12, other=5), here=2)
    assert (speed.today, speed.other) == ({"slowdown": 2}, {"slowdown": 2, "shared_by": 2.4})
    assert (
        "so today's drive is 2 times slower, and the other is 2 times slower and has 1/2.4 of its rates" in speed.lines
    )
    speed = drive_speed(SITE, None, Processors(6, "x"), NodeDrives(today=1, other=6), here=2)
    assert (speed.today, speed.cpus) == ({"slowdown": 6}, 1)
    assert speed.lines[-1] == (
        "so the test uses 1 of the 2 processors here, and today's drive is 6 times slower, and the other has its own speed"
    )


def test_where_processors_are_not_known_what_was_measured_counts():
    speed = drive_speed(SITE, SAMPLE._replace(cpu_s=245), Processors(), DISK, here=2)
    assert speed.today == speed.other == {"slowdown": 5}
    assert drive_speed(SITE, SAMPLE._replace(cpu_s=20), Processors(), DISK, here=2).cpus == 1


def test_a_sample_whose_tasks_mostly_start_is_too_small():
    small = Computing(cpu_s=20, tasks=12, read_bytes=3e8, elapsed_s=15)
    speed = drive_speed(SITE, small, Processors(12, "x"), DISK, here=2)
    assert speed.lines[-2].startswith("this sample is too small: the starts of its 12 tasks take about 60% of")
    assert not any("too small" in line for line in drive_speed(SITE, SAMPLE, Processors(12, "x"), DISK, here=2).lines)


def test_drives_that_would_be_too_slow_are_refused():
    with pytest.raises(BadInputError, match="today's drive would have to be 128 times slower"):
        drive_speed(SITE, SAMPLE, Processors(128, "x"), DISK, here=2)
    of_24 = NodeDrives(today=1, other=24)
    with pytest.raises(BadInputError, match="today's drive would have to be 120 times slower"):
        drive_speed(SITE, None, Processors(240, "x"), of_24, here=2)
    with pytest.raises(BadInputError, match="the other drive would have to be 200 times slower"):
        drive_speed(SITE, None, Processors(), NodeDrives(today=200), here=2)


def test_data_wait_in_the_page_cache_for_as_large_a_part_of_the_sample_as_of_the_job():
    speed = drive_speed(SITE, SAMPLE, Processors(4, "x"), DISK, here=2)
    assert speed.write_back_age_s == pytest.approx(30 * 60 / 1200)
    assert speed.experiment_lines == ["write_back_age: 1500ms"]
    assert (
        "for at most 1.5 s before they are written, which are to the sample's 60 s as Linux' 30 s are"
        in speed.lines[-1]
    )
    assert drive_speed(SITE, None, Processors(4, "x"), DISK, here=2).experiment_lines == []
    unbounded = drive_speed(SITE, SAMPLE, Processors(4, "x"), DISK, here=2, is_memory_bounded=False)
    assert unbounded.experiment_lines == []
    assert not any("page cache" in line for line in unbounded.lines)
    long, short = SITE._replace(elapsed_s=1e6), SITE._replace(elapsed_s=50)
    ages = [drive_speed(site, SAMPLE, Processors(), DISK, here=2).write_back_age_s for site in (long, short)]
    assert ages == [0.1, 30], "no shorter and no longer than an experiment may say"
