"""Proves which reports of an emulator and which path costs are doubted, and which are not."""

from pathlib import Path

import pytest

from assay.media.emulated.medium import doubts_of, path_us_of
from assay.model.drive_profile import DriveProfile

SSD = DriveProfile.model_validate(
    {"name": "fast", "kind": "ssd", "figures": {"read_command_us": 6, "read_latency_us": 43}, "file": Path("x")}
)
HDD = DriveProfile.model_validate({"name": "slow", "kind": "hdd", "figures": {}, "file": Path("x")})


def report(late_s=0.0, elapsed_s=40.0, median_us=0.0, mean_us=1000.0, **changes):
    return {
        "late": {"requests": 7, "share": 0.01, "worst_us": 10_000.0 * late_s, "seconds": 0.0},
        "late_seconds": late_s,
        "elapsed_seconds": elapsed_s,
        "overshoot": {"median_us": median_us, "p99_us": 10 * median_us},
        "mean_response_us": mean_us, "memory_locked": True, **changes,
    }  # fmt: skip


def path(base_us):
    return {"read": {"base_ns": base_us * 1000, "ns_per_byte": 0.5}, "write": {"base_ns": 0, "ns_per_byte": 0}}


@pytest.mark.parametrize(
    ("reports", "kinds"),
    [
        ([], []),
        ([{"begun": False, "memory_locked": True}], []),
        ([report(0.7)], []),
        ([report(0.9)], ["emulator-was-late"]),
        ([report(0.3, 10.0), report()], ["emulator-was-late"]),
        ([report(), report(0.3, 10.0)], ["emulator-was-late"]),
        ([report(0.0, 0.0)], []),
        ([report(0.1, 0.5), report()], []),
        ([report(median_us=90)], []),
        ([report(median_us=110)], ["emulator-was-slow"]),
        ([report(median_us=110, mean_us=0.0)], []),
        ([report(memory_locked=False), report()], ["emulator-memory-not-locked"]),
    ],
)
def test_reports(reports, kinds):
    assert [doubt.kind for doubt in doubts_of("hdd", HDD, {}, reports)] == kinds


def test_the_worst_is_named():
    (doubt,) = doubts_of("hdd", HDD, {}, [report(1.0), report(5.0), report(2.0)])
    assert doubt.what == (
        "requests to hdd took 5.0 s longer than its profile says, within 40.0 s; 1.0% of the emulator's replies were "
        "late, at worst by 50.0 ms, so most of it is the way to the emulator and back"
    )


def test_a_late_emulator_s_interval_is_named_and_what_is_in_memory_is_not_put_there():
    reports = [report(), report(), report(0.4, 0.5), report()]
    (doubt,) = doubts_of("ssd", SSD, {}, reports, intervals=("staging", "run", "write out"))
    assert "took 0.4 s longer than its profile says, within 0.5 s (write out); " in doubt.what
    assert "/dev/shm" in doubt.cure
    (doubt,) = doubts_of("ssd", SSD, {}, reports, in_memory=True)
    assert doubt.cure == "close other programs, or use a slower drive"


def test_a_path_that_takes_longer_than_the_drive():
    assert path_us_of(path(40)) == pytest.approx(42.048)
    assert doubts_of("nvme", SSD, path(40), []) == ()
    assert doubts_of("nvme", SSD.model_copy(update={"slowdown": 2}), path(60), []) == ()
    (doubt,) = doubts_of("nvme", SSD, path(60), [])
    assert doubt.kind == "drive-too-fast-for-this-machine"
    assert "alone add 62 us to a read of 4 KiB from nvme" in doubt.what
    assert "answers within 49 us" in doubt.what
    assert doubts_of("hdd", HDD, path(60), []) == ()
    assert doubts_of("nvme", SSD, {}, []) == ()
