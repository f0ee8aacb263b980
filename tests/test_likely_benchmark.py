"""Proves that *likely* is judged without the emulator by the kernel's counters, and that its goal can be missed."""

from itertools import product

import pytest
from benchmarks.likely import cases, goal_text, rows, worst_rows
from benchmarks.throttled_devices import UNLIMITED, placed

from assay.engine.tasks import FILE_SYSTEM_COUNTERS
from assay.model.record import Amount, totals
from assay.stats.closed_network import network_time
from tests.builders import a_job, a_record, a_trial

JOBS = ("terasort", "k-means", "word-frequency", "page-rank", "grep", "sort")
WITHOUT_S, BUSY_S = 30.0, {"slow-disk": 25.0, "slow-ssd": 8.0, UNLIMITED: 0.0}


def a_run(counted=1.0, probe="disk", of=JOBS):
    """Six jobs twice on each device, by a network of computing and the drive; the kernel counted a part."""
    records = []
    for repetition, job, (medium, busy_s) in product((1, 2), of, BUSY_S.items()):
        seconds = network_time([WITHOUT_S, busy_s])
        counters = {
            "org.apache.hadoop.mapreduce.JobCounter": {"MILLIS_MAPS": int(1700 * seconds)},
            "org.apache.hadoop.mapreduce.TaskCounter": {"CPU_MILLISECONDS": 1000},
            FILE_SYSTEM_COUNTERS: {"HDFS_BYTES_READ": 10**10, "HDFS_BYTES_WRITTEN": 10**10},
        }
        jobs = (a_job(elapsed_s=seconds).model_copy(update={"counters": counters}),)
        worked = Amount(probe=probe, subject=medium, series="busy_s", part="run", value=counted * busy_s)
        trial = a_trial(len(records) + 1, medium, repetition, job)
        records.append(a_record(trial, jobs=jobs, totals=totals(jobs, ()), amounts=(worked,)))
    return records


def judged(tmp_path, **run):
    return list(cases("made", a_run(**run), tmp_path))


def test_each_job_on_a_slow_device_is_judged_by_its_time_on_the_one_without_limits(tmp_path):
    made = judged(tmp_path)
    assert [(case.job, case.drives) for case in made] == [
        (f"{job} on mapreduce", drive) for job, drive in product(JOBS, ("slow-disk", "slow-ssd"))
    ]
    assert all(case.without_s == pytest.approx(WITHOUT_S, abs=0.01) for case in made)
    assert {case.drives: case.busy_s for case in made} == {"slow-disk": 25.0, "slow-ssd": 8.0}
    assert [row[0] for row in rows(made)] == ["no change", "at most", "busy drives", "counters"]
    said = goal_text(made)
    assert "in 6 of 6 jobs, so that it is a test" in said
    assert "in 12 cases the median error is 0.0 % (goal: 10 %)" in said
    assert said.endswith("the goal is met.")


def test_a_goal_is_missed_where_the_kernel_counts_too_little(tmp_path):
    made = judged(tmp_path, counted=0.2)
    assert "in 0 of 6 jobs, so that it is no test" in goal_text(made)
    assert goal_text(made).endswith("the goal is not met by numbers that decide nothing.")
    assert len(worst_rows(made)) == 10
    assert {row[1] for row in worst_rows(made)[:6]} == {"slow-disk"}


def test_a_case_without_busy_times_counts_as_one_whose_error_has_no_bound(tmp_path):
    made = judged(tmp_path, probe="other")
    assert "median error is no bound (goal: 10 %), the 90th percentile no bound (25 %)" in goal_text(made)
    assert worst_rows(made) == []


def test_a_command_names_mount_points_by_the_devices():
    points = {"slow-disk": "/a", "slow-ssd": "/b"}
    assert placed("--set=media.x.path={slow-disk}:{slow-ssd}:{}", points) == "--set=media.x.path=/a:/b:{}"
