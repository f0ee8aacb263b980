"""Proves that an emulator that hangs becomes a failure in a bounded time, and one that is only late does not."""

import os
import signal
import socket
from contextlib import ExitStack, suppress
from types import SimpleNamespace

import pytest

from assay.media.emulated import emulator as drives
from assay.media.emulated.emulator import Drive, EmulatorSilentError


@pytest.fixture
def clock(monkeypatch):
    """Time that only goes on when a test says so."""
    now = SimpleNamespace(s=1000.0)
    monkeypatch.setattr(drives.time, "monotonic", lambda: now.s)
    return now


@pytest.fixture
def hung(tmp_path, monkeypatch):
    """A drive whose emulator takes connections, as the kernel does for it, and never answers."""
    monkeypatch.setattr(drives, "QUICK_S", 0.01)
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("control")
        listener.listen(200)
        yield Drive(tmp_path)


def looks(drive, clock, seconds):
    found = []
    for _ in range(seconds):
        clock.s += 1
        found.append(drive.failure())
    return found


def test_no_answer_for_long_is_a_failure(hung, clock):
    with pytest.raises(EmulatorSilentError, match="does not answer to 'report'"):
        hung.ask("report", 0.01)
    found = looks(hung, clock, 40)
    assert found[:29] == [None] * 29
    assert found[-1].startswith("the drive emulator does not answer since 39 s")


@pytest.mark.slow
def test_a_late_answer_begins_anew(hung, clock, monkeypatch):
    assert looks(hung, clock, 29) == [None] * 29
    with monkeypatch.context() as answering:
        answering.setattr(hung, "ask", lambda _command, _patience_s: {"begun": True})
        assert hung.failure() is None
        assert hung.seen == {"begun": True}
    assert looks(hung, clock, 29) == [None] * 29


def test_few_looks_over_a_long_time_are_no_failure(hung, clock):
    """As when Assay itself was stopped in between."""
    assert hung.failure() is None
    clock.s += 3600
    assert [hung.failure() for _ in range(3)] == [None] * 3
    assert "does not answer since" in hung.failure()


def test_a_full_queue_of_connections_is_no_answer_either(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with ExitStack() as scope:
        listener = scope.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind("control")
        listener.listen(0)
        for _ in range(4):
            waiting = scope.enter_context(socket.socket(socket.AF_UNIX))
            waiting.setblocking(False)
            with suppress(BlockingIOError):
                waiting.connect("control")
        with pytest.raises(EmulatorSilentError):
            Drive(tmp_path).ask("report", 0.05)


def test_nobody_there_is_a_failure_at_once(tmp_path):
    assert Drive(tmp_path).failure() == "the drive emulator is gone"


def test_each_lease_has_its_own_seed_and_keeps_it(tmp_path):
    seeds = [Drive(tmp_path / f"assay-medium-{name}").seed for name in ("a", "b", "a")]
    assert seeds[0] == seeds[2] != seeds[1]
    assert all(0 <= seed < 1 << 32 for seed in seeds)


def test_one_that_hangs_is_ended(tmp_path):
    pid = os.fork()
    if pid == 0:
        signal.pause()
        os._exit(0)
    drive = Drive(tmp_path)
    drive.kill()
    drive.process = SimpleNamespace(pid=pid, poll=lambda: None)
    drive.kill()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    drive.kill()
