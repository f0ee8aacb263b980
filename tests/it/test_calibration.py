"""Proves that a real fio calibrates a directory in its time, and that a drive made of a calibration is like the first."""

import os
import shutil
import time

import pytest

from assay.media.emulated.attachment import missing
from assay.model.progress import Silent
from assay_extras.calibration.command import Calibrator, Wish, facts_of, spec_of, write_profile
from assay_extras.calibration.fidelity import compare
from assay_extras.calibration.fio import find_fio
from assay_extras.calibration.measure import Ground, measure, plan_accesses
from tests.it.driving import Place

pytestmark = [
    pytest.mark.it,
    pytest.mark.alone,
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("fio") is None, reason="needs fio"),
]


def one_of_each_kind(accesses):
    """The first of each kind; those with 32 requests in flight are kinds of their own."""
    kinds = {}
    for access in accesses:
        kind = (access.direction, access.pattern, access.buffered, access.fsync, access.depth == 32)
        kinds.setdefault(kind, access)
    return [*kinds.values()]


def test_a_directory_is_calibrated_in_its_time(tmp_path):
    ground, began = Ground(directory=tmp_path), time.monotonic()
    accesses = one_of_each_kind(plan_accesses(ground, "brief"))
    measured = measure(ground, accesses, find_fio(os.environ), 12, Silent())
    assert time.monotonic() - began < 40
    assert len(measured.points) == len(accesses)
    assert all(point.mb_s > 0 and point.latency_us_median > 0 for point in measured.points)
    assert list(tmp_path.iterdir()) == []
    deep = {
        point.depth: point.iops
        for point in measured.points
        if point.pattern == "random" and point.block_bytes == 4096 and not point.buffered and point.direction == "read"
    }
    # More requests in flight are never slower than one, on a disk or without.
    assert not deep or deep[32] > 0.8 * deep[1]


def calibrated(medium, place):
    """Only the figures that have names, in two thirds of a minute."""
    spec = spec_of(str(medium), place.installation)
    facts = facts_of(spec, place.installation)
    wish = Wish(seconds=40, form="named")
    return Calibrator(wish, find_fio(os.environ), place.installation, Silent()).calibrate(spec, facts)


def test_a_drive_made_of_a_drives_calibration_is_like_it(tmp_path):
    place = Place(tmp_path)
    if lacking := missing(place.installation):
        pytest.skip("; ".join(lacking))
    file = tmp_path / "mine.yaml"
    assert write_profile(calibrated("wd10ezex", place), file, None, place.installation) == "wd10ezex"
    again = {one.name: one for one in compare(calibrated(file, place))}
    assert again["sequential_read_mb_s"].judgement == "pass"
    # Both were measured for seconds only: a tenth of the random accesses of a minute.
    for name in ("random_read_4k_iops_depth1", "random_write_4k_iops_depth1", "streams_4_read_mb_s"):
        assert abs(again[name].error) < 0.2, again[name]
