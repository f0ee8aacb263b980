"""Proves that free memory is held beyond its command, that facts tell of it, and that it is known where it goes back."""

import pytest

from assay.host.lease import Lease, leases
from assay.host.machine import FREE_MEMORY, GOES_BACK, HELD, STAYS, memory_bytes
from assay.host.mounts import Mount, mount_of
from assay.host.processes import end_processes
from assay.model.errors import AssayError
from assay_extras.held_memory import holding
from assay_extras.held_memory.holding import goes_back, held_bytes, hold, let_go, memory_facts
from tests.builders import an_installation

ALL = memory_bytes("MemTotal")
"""So much may stay free that next to nothing is taken: what is held of the machine's memory is others' to notice."""


@pytest.fixture
def installation(tmp_path):
    if mount_of(tmp_path).file_system not in holding.FILE_SYSTEMS:
        pytest.skip("the directory for tests lies on no such file system")
    yield an_installation(tmp_path, state=tmp_path / "state")
    let_go(tmp_path / "state")


def test_what_is_held_stays_until_it_is_let_go(installation):
    assert hold(installation, ALL) == held_bytes(installation.state) > 0
    (lease,) = leases(installation.state)
    (directory,) = lease.directories
    assert lease.kept
    assert memory_facts(installation.state) == {FREE_MEMORY: HELD}
    before = lease.processes()
    hold(installation, ALL)
    assert [one.processes() for one in leases(installation.state)] == [before], "what is held is held once"
    assert let_go(installation.state)
    assert not directory.exists()
    assert lease.processes() == []
    assert not let_go(installation.state)


@pytest.mark.slow
def test_a_process_that_is_gone_holds_nothing_and_is_followed_by_another(installation, monkeypatch):
    monkeypatch.setattr(holding, "goes_back", lambda: True)
    hold(installation, ALL)
    (first,) = leases(installation.state)
    end_processes(first.processes, grace_s=0)
    assert memory_facts(installation.state) == {FREE_MEMORY: GOES_BACK}
    hold(installation, ALL)
    (second,) = leases(installation.state)
    assert second.id != first.id


def test_what_can_not_be_held_says_why_and_leaves_nothing(installation, monkeypatch):
    monkeypatch.setattr(holding.sys, "executable", "/bin/false")
    with pytest.raises(AssayError, match="can't be held here: its process was ended"):
        hold(installation)
    assert leases(installation.state) == []
    monkeypatch.setattr(holding, "mount_of", lambda place: Mount("0:1", str(place), "tmpfs", "tmpfs", ""))
    with pytest.raises(AssayError, match="lies on tmpfs"):
        hold(installation)
    assert not list((installation.parts / "work").iterdir())


@pytest.mark.parametrize(("back", "told"), [(True, GOES_BACK), (False, STAYS)])
def test_facts_say_where_free_memory_goes(tmp_path, monkeypatch, back, told):
    monkeypatch.setattr(holding, "goes_back", lambda: back)
    Lease(tmp_path, "medium").keep()
    assert memory_facts(tmp_path) == {FREE_MEMORY: told}


@pytest.mark.parametrize(
    ("features", "expected"),
    [("0110010100", True), ("0110000100", False), ("", False)],
)
def test_the_sixth_feature_of_the_balloon_is_free_page_reporting(tmp_path, features, expected):
    device = tmp_path / "virtio0"
    device.mkdir()
    (device / "features").write_text(features + "\n")
    assert goes_back(tmp_path) is expected


def test_a_machine_without_a_balloon_keeps_its_memory(tmp_path):
    assert goes_back(tmp_path / "nowhere") is False
