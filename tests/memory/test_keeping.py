"""Proves that free memory is held as memory that stays available, that facts tell of it, and that nothing is left."""

from pathlib import Path

import pytest

from assay.lease import Lease, leases
from assay.machine import FREE_MEMORY, GOES_BACK, HELD, memory_bytes
from assay.memory import keeping
from assay.memory.keeping import held_bytes, hold, let_go, memory_facts
from assay.model.errors import AssayError
from assay.model.installation import Installation
from assay.mounts import Mount, mount_of

MIB = 1 << 20


@pytest.fixture
def installation(tmp_path):
    if mount_of(tmp_path).file_system in keeping.IN_MEMORY:
        pytest.skip("the directory for tests is in memory")
    yield Installation(root=tmp_path, parts=tmp_path, jobs_jar=tmp_path, cache=tmp_path, state=tmp_path / "state")
    let_go(tmp_path / "state")


def test_free_memory_is_held_and_stays_available(installation):
    available = memory_bytes("MemAvailable")
    held = hold(installation, memory_bytes("MemFree") - 1024 * MIB)
    assert held > 128 * MIB, "others may have taken some meanwhile"
    assert memory_bytes("MemAvailable") > available - 512 * MIB
    assert memory_facts(installation.state) == {FREE_MEMORY: HELD}
    (lease,) = leases(installation.state)
    assert lease.kept
    (directory,) = lease.directories
    assert (directory / "hole").stat().st_blocks == 0
    assert let_go(installation.state)
    assert not directory.exists()
    assert lease.processes() == []
    assert held_bytes(installation.state) == 0
    assert not let_go(installation.state)


def test_what_is_held_anew_is_held_once(installation):
    for _ in range(2):
        hold(installation, memory_bytes("MemTotal"))
    assert len(leases(installation.state)) == 1


def test_what_can_not_be_held_leaves_nothing(installation, monkeypatch):
    monkeypatch.setattr(keeping.sys, "executable", "/bin/false")
    with pytest.raises(AssayError, match=r"Linux 5\.14"):
        hold(installation)
    assert leases(installation.state) == []
    monkeypatch.setattr(keeping, "mount_of", lambda place: Mount("0:1", str(place), "tmpfs", "tmpfs", ""))
    with pytest.raises(AssayError, match="lies on tmpfs"):
        hold(installation)
    assert not list((installation.parts / "work").iterdir())


@pytest.mark.parametrize("back", [True, False])
def test_facts_say_where_free_memory_goes_unless_it_stays(tmp_path, monkeypatch, back):
    monkeypatch.setattr(keeping, "goes_back", lambda: back)
    assert memory_facts(tmp_path) == ({FREE_MEMORY: GOES_BACK} if back else {})


def test_a_process_that_is_gone_holds_nothing(tmp_path):
    lease = Lease(tmp_path, keeping.PURPOSE)
    lease.keep()
    assert held_bytes(tmp_path) == 0
    assert let_go(tmp_path)
    assert list(Path(tmp_path / "leases").iterdir()) == []
