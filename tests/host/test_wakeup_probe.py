"""Proves that a thread that wants to wake up tells how late it did, and is gone at the scope's end."""

import time

import pytest

from assay.host.wakeup_probe import WAKE_UPS_PER_LINE, wakeup_probe


@pytest.mark.slow
def test_it_tells_each_second_how_late_it_woke():
    with wakeup_probe() as process:
        at_ms, *late = map(int, process.stdout.readline().split())
        assert abs(at_ms - 1000 * time.time()) < 5000
        assert len(late) == WAKE_UPS_PER_LINE
        assert all(one >= 0 for one in late)
        assert process.poll() is None
    assert process.poll() is not None
