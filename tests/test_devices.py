"""Proves that devices are written out while a scope lasts, no longer, and that a dead one stops nothing."""

import time

import pytest

from assay import trial as devices
from assay.model.errors import AssayError
from assay.model.trial import MediumSpec
from assay.trial import writing_out
from assay_extras.testing.fakes import FakeDrive, Script

SPEC = MediumSpec(name="hdd", kind="emulated")


class DeadDrive(FakeDrive):
    def write_out(self):
        super().write_out()
        raise AssayError("the drive died")


@pytest.fixture(autouse=True)
def _often(monkeypatch):
    monkeypatch.setattr(devices, "_WRITE_OUT_EVERY_S", 0.001)


def written_out(script, count):
    deadline = time.monotonic() + 10
    while script.log.count("write out") < count:
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_it_is_written_out_again_and_again_and_not_after_the_scope():
    script = Script()
    with writing_out([FakeDrive(script, SPEC)]):
        written_out(script, 3)
    ended = len(script.log)
    time.sleep(0.02)
    assert script.log == ["write out"] * ended


def test_a_failure_in_the_scope_ends_it_too():
    script = Script()

    def fail():
        with writing_out([FakeDrive(script, SPEC)]):
            written_out(script, 1)
            raise AssayError("no room")

    with pytest.raises(AssayError, match="no room"):
        fail()
    ended = len(script.log)
    time.sleep(0.02)
    assert len(script.log) == ended


def test_a_dead_device_is_asked_once_and_the_scope_goes_on():
    script = Script()
    with writing_out([DeadDrive(script, SPEC)]):
        written_out(script, 1)
        time.sleep(0.02)
    assert script.log == ["write out"]
