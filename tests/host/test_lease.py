"""Proves that what is held under a lease is found again and ended, also after its owner was killed."""

import os
import signal
import subprocess
import sys
import time

from assay.host.lease import Lease, leases, release_stale
from assay.model.errors import AssayError
from tests.host.owners import start_owner

SLEEPER = [sys.executable, "-c", "import subprocess, time; subprocess.Popen(['sleep', '300']); time.sleep(300)"]


def wait_until(condition):
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def test_release_ends_descendants_and_removes_directories(tmp_path):
    with Lease(tmp_path, "test") as lease:
        place = lease.make_directory(tmp_path / "data")
        (place / "file").write_text("x")
        process = subprocess.Popen(SLEEPER, env=lease.environment(os.environ), start_new_session=True)
        wait_until(lambda: len(lease.processes()) == 2)
    assert process.wait() == -signal.SIGKILL
    assert lease.processes() == []
    assert not place.exists()
    assert leases(tmp_path) == []


def test_a_killed_owners_lease_is_stale_and_a_living_ones_is_not(tmp_path):
    owner = start_owner(
        tmp_path,
        f"lease.make_directory(Path({str(tmp_path / 'data')!r}));"
        "subprocess.Popen(['sleep', '300'], env=lease.environment(os.environ), start_new_session=True)",
    )
    assert release_stale(tmp_path) == []
    owner.kill()
    owner.wait()
    (left,) = leases(tmp_path)
    assert left.stale
    assert len(left.processes()) == 1
    assert [lease.id for lease in release_stale(tmp_path)] == [left.id]
    assert left.processes() == []
    assert not (tmp_path / "data").exists()


def test_a_left_over_in_use_does_not_keep_the_others(tmp_path, monkeypatch, capsys):
    lefts = [Lease(tmp_path, name) for name in ("first", "second", "third")]
    for lease in lefts:
        lease.make_directory(tmp_path / lease.id)
        lease._owner = lease._owner._replace(pid=1 << 22, started=0)
        lease._write()
    busy = lefts[1].directories[0]

    def let_go(directories):
        if busy in directories:
            raise AssayError(f"{busy} can't be unmounted: Device or resource busy")

    monkeypatch.setattr("assay.host.lease.let_go", let_go)
    said = []
    assert [lease.purpose for lease in release_stale(tmp_path, said.append)] == ["first", "third"]
    assert [lease.id for lease in leases(tmp_path)] == [lefts[1].id]
    assert busy.is_dir()
    (sentence,) = said
    assert sentence.startswith(f"what a killed run left behind ({lefts[1].id}) stays for now: {busy} can't be unm")
    assert release_stale(tmp_path) == []
    assert capsys.readouterr().err == f"assay: {sentence}\n"
    monkeypatch.undo()
    assert [lease.purpose for lease in release_stale(tmp_path)] == ["second"]


def test_a_kept_lease_is_never_stale(tmp_path):
    lease = Lease(tmp_path, "cluster")
    lease.keep()
    lease._owner = lease._owner._replace(pid=1 << 22, started=0)
    lease._write()
    (found,) = leases(tmp_path)
    assert found.kept
    assert not found.stale
    found.release()
