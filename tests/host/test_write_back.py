"""Proves that the kernel's age of dirty pages is changed for a lease's time and comes back, however its owner ends."""

import fcntl
import os
import subprocess
import threading

import pytest

from assay.host.lease import Lease, leases, release_stale
from assay.host.write_back import VM, age_dirty_pages
from tests.host.owners import start_owner

AGES = ("dirty_expire_centisecs", "dirty_writeback_centisecs")


@pytest.fixture
def vm(tmp_path):
    folder = tmp_path / "vm"
    folder.mkdir()
    for name, value in zip(AGES, ("3000", "500"), strict=True):
        (folder / name).write_text(f"{value}\n")
    return folder


def ages(vm):
    return [(vm / name).read_text().strip() for name in AGES]


@pytest.mark.parametrize(
    ("age_s", "centiseconds"), [(1.0, ["100", "16"]), (0.1, ["10", "1"]), (0.001, ["1", "1"]), (30, ["3000", "500"])]
)
def test_the_kernel_looks_six_times_in_the_age(vm, tmp_path, age_s, centiseconds):
    with Lease(tmp_path, "cluster") as lease:
        assert age_dirty_pages(lease, age_s, vm) == ""
        assert ages(vm) == centiseconds
    assert ages(vm) == ["3000", "500"]
    assert leases(tmp_path) == []


def test_an_interrupt_gives_the_age_back(vm, tmp_path):
    def interrupted():
        with Lease(tmp_path, "cluster") as lease:
            age_dirty_pages(lease, 1.0, vm)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert ages(vm) == ["3000", "500"]


def test_what_a_killed_run_changed_comes_back_with_the_next_one(vm, tmp_path):
    owner = start_owner(tmp_path, f"assert not age_dirty_pages(lease, 1.0, Path({str(vm)!r}))")
    release_stale(tmp_path)
    assert ages(vm) == ["100", "16"], "its owner lives"
    owner.kill()
    owner.wait()
    assert ages(vm) == ["100", "16"]
    assert len(release_stale(tmp_path)) == 1
    assert ages(vm) == ["3000", "500"]


@pytest.mark.parametrize("first_ends_first", [True, False])
def test_of_two_leases_the_last_one_gives_back_what_was_before_both(vm, tmp_path, first_ends_first):
    first, second = (Lease(tmp_path, name) for name in ("first", "second"))
    age_dirty_pages(first, 1.0, vm)
    age_dirty_pages(second, 2.0, vm)
    ending = (first, second) if first_ends_first else (second, first)
    ending[0].release()
    assert ages(vm) == ["200", "33"], "the other still holds it"
    ending[1].release()
    assert ages(vm) == ["3000", "500"]


def test_of_two_leases_whose_releases_overlap_the_one_that_looks_last_gives_back_what_was_before_both(
    vm, tmp_path, monkeypatch
):
    first, second = (Lease(tmp_path, name) for name in ("first", "second"))
    for lease in (first, second):
        age_dirty_pages(lease, 1.0, vm)
    tearing_down = [second]
    monkeypatch.setattr("assay.host.lease.let_go", lambda _: tearing_down.pop().release() if tearing_down else None)
    first.release()
    assert ages(vm) == ["3000", "500"]
    assert leases(tmp_path) == []


@pytest.mark.parametrize("act", [lambda lease, vm: age_dirty_pages(lease, 2.0, vm), lambda lease, _: lease.release()])
def test_settings_are_neither_changed_nor_given_back_while_another_lease_does_so(vm, tmp_path, act):
    lease = Lease(tmp_path, "cluster")
    age_dirty_pages(lease, 1.0, vm)
    folder = os.open(tmp_path / "leases", os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    acting = threading.Thread(target=act, args=(lease, vm))
    acting.start()
    acting.join(0.2)
    assert acting.is_alive()
    assert ages(vm) == ["100", "16"]
    os.close(folder)
    acting.join(10)
    assert not acting.is_alive()
    assert ages(vm) != ["100", "16"]
    lease.release()


def test_a_setting_that_can_not_be_given_back_keeps_nothing_else_and_is_given_back_later(vm, tmp_path):
    lease = Lease(tmp_path, "cluster")
    data = lease.make_directory(tmp_path / "data")
    age_dirty_pages(lease, 1.0, vm)
    (vm / AGES[0]).unlink()
    (vm / AGES[0]).mkdir()
    process = subprocess.Popen(["sleep", "300"], env=lease.environment(os.environ))
    with pytest.raises(IsADirectoryError):
        lease.release()
    assert process.wait(10) != 0
    assert not data.exists()
    assert (vm / AGES[1]).read_text().strip() == "500"
    (held,) = leases(tmp_path)
    assert held.settings == {str(vm / AGES[0]): "3000"}
    (vm / AGES[0]).rmdir()
    held.release()
    assert ages(vm) == ["3000", "500"]
    assert leases(tmp_path) == []


def test_what_was_changed_before_a_reboot_is_not_given_back(vm, tmp_path):
    old = Lease(tmp_path, "cluster")
    age_dirty_pages(old, 1.0, vm)
    old._owner = old._owner._replace(boot_id="an earlier one")
    old._write()
    (vm / AGES[0]).write_text("1500")
    with Lease(tmp_path, "cluster") as lease:
        age_dirty_pages(lease, 2.0, vm)
        assert lease.settings[str(vm / AGES[0])] == "1500"
    old.release()
    assert ages(vm) == ["1500", "16"]


def test_a_setting_that_can_not_be_had_is_said_and_not_held(tmp_path):
    with Lease(tmp_path, "cluster") as lease:
        assert (
            age_dirty_pages(lease, 1.0, tmp_path) == "vm.dirty_expire_centisecs can't be 100: No such file or directory"
        )
        assert lease.settings == {}


def test_the_settings_are_those_of_linux():
    assert all((VM / name).is_file() for name in AGES)
