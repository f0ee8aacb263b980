"""Proves that a real directory is calibrated by a real fio within its time, and leaves nothing behind."""

import os
import shutil
import time

import pytest

from assay.calibration.fio import find_fio
from assay.calibration.measure import Ground, measure, plan_accesses
from assay.model.progress import Silent

pytestmark = [pytest.mark.it, pytest.mark.skipif(shutil.which("fio") is None, reason="needs fio")]


def test_a_directory_is_calibrated_in_its_time(tmp_path):
    ground, began = Ground(directory=tmp_path), time.monotonic()
    measured = measure(ground, plan_accesses(ground, "brief"), find_fio(os.environ), 25, Silent())
    assert time.monotonic() - began < 40
    assert all(point.mb_s > 0 and point.latency_us_median > 0 for point in measured.points)
    assert list(tmp_path.iterdir()) == []
    deep = {
        point.depth: point.iops
        for point in measured.points
        if point.pattern == "random" and point.block_bytes == 4096 and not point.buffered and point.direction == "read"
    }
    # More requests in flight are never slower than one, on a disk or without.
    assert not deep or deep[32] > 0.8 * deep[1]
