"""Proves that named figures are taken from the right points, and judged by their bounds and the machine's ceiling."""

import pytest

from assay.model.drive_profile import EXPECTED
from assay_extras.calibration.calibration import AccessPattern, Knee
from assay_extras.calibration.fidelity import BOUNDS, compare, named_figures
from tests.extras.calibration.builders import a_calibration, a_point, expecting

MIB = 1 << 20


def test_a_whole_calibration_has_every_name():
    knee = Knee(knee_bytes=3_000_000_000, before_mb_s=410, beyond_mb_s=140)
    assert set(named_figures(a_calibration(knee=knee))) == set(BOUNDS)


def test_the_whole_disk_is_taken_before_a_file():
    file = AccessPattern(direction="read", pattern="random", block_bytes=4096)
    disk = file.model_copy(update={"span": "device"})
    figures = named_figures(a_calibration(points=(a_point(disk, 0.4096), a_point(file, 1.0))))
    assert figures["random_read_4k_iops_depth1"] == pytest.approx(100)


def test_a_rotating_disks_sequential_rate_is_that_of_its_outer_tracks():
    zones = [
        AccessPattern(
            direction="read", pattern="sequential", block_bytes=MIB, depth=8, span="device", start_share=share
        )
        for share in (0.0, 0.5, 0.97)
    ]
    points = tuple(a_point(zone, mb_s) for zone, mb_s in zip(zones, (180, 150, 90), strict=True))
    assert named_figures(a_calibration(points=points)) == {"sequential_read_mb_s": 180}


@pytest.mark.parametrize(
    ("expected", "ceiling", "judgement"),
    [
        (100.0, None, "pass"),
        (105.2, None, "pass"),
        (106.0, None, "fail"),
        (94.0, None, "fail"),
        (500.0, 120.0, "beyond this machine"),
        (106.0, 120.0, "fail"),
        (110.0, 114.0, "beyond this machine"),
    ],
)
def test_bounds_and_ceilings(expected, ceiling, judgement):
    calibration = a_calibration(expected=expecting(sequential_read_mb_s=expected))
    (one,) = compare(calibration, {} if ceiling is None else {"sequential_read_mb_s": ceiling})
    assert one.judgement == judgement
    assert one.error == pytest.approx(100 / expected - 1)


def test_what_was_not_measured_is_said():
    (one,) = compare(a_calibration(expected=expecting(write_cache_knee_bytes=3e9)))
    assert (one.measured, one.error, one.judgement) == (None, None, "not measured")


def test_what_may_be_expected_is_what_is_measured():
    assert set(EXPECTED) == set(BOUNDS)
