"""Proves that attaching a drive takes its steps in order, and that whatever fails, all that was taken is given back."""

import os
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest

from assay.host.lease import Lease, leases
from assay.media.emulated import attachment as file_system
from assay.media.emulated.attachment import can_punch_holes, limit_dirty, options, queue_of
from assay.media.emulated.emulator import Drive
from assay.media.emulated.medium import EmulatedMedium
from assay.model.drive_profile import DriveProfile
from assay.model.errors import AssayError, BadInputError
from assay.model.medium import Device, HoldsBack
from assay.model.trial import MediumSpec
from tests.builders import an_installation
from tests.media.faking import REPORT, FakeSystem

PROFILE = """
name: slow
kind: hdd
figures:
  capacity_bytes: 1000000000
"""

STEPS = [
    "emulator", "losetup", "scheduler=none", "nr_requests=32", "rotational=1", "scheduler=mq-deadline",
    "max_sectors_kb=1024", "read_ahead_kb=128", "mkfs.ext4", "measure", "mount", "ask begin",
]  # fmt: skip
UNDONE = ["ask report", "shut down mount", "unmount mount", "detach /dev/loop7", "ask stop", "unmount drive"]


@pytest.fixture
def installation(tmp_path):
    (tmp_path / "parts" / "work").mkdir(parents=True)
    return an_installation(tmp_path, tmp_path / "parts", cache=tmp_path / "cache", state=tmp_path / "state")


@pytest.fixture
def attach(tmp_path, installation, monkeypatch):
    """Makes a medium on a fake system; what is shut down is noted, and so is a directory on the mount point."""
    (tmp_path / "slow.yaml").write_text(PROFILE)

    def make(system, **changes):
        spec = MediumSpec(name="hdd", kind="emulated", profile=str(tmp_path / "slow.yaml"), **changes)
        monkeypatch.setattr(
            "assay.media.emulated.attachment.shut_down",
            lambda point, _device: system.log.append(f"shut down {point.name}"),
        )
        return EmulatedMedium(spec, installation, emulator=system, system=system)

    return make


def test_the_steps_and_their_undoing(attach, installation):
    system = FakeSystem()
    with attach(system).attached() as directory:
        assert directory.is_dir()
        assert list(directory.iterdir()) == []
        assert system.log == STEPS
        (lease,) = leases(installation.state)
        assert system.environment["ASSAY_LEASE"] == lease.id
        home = lease.directories[0]
        assert (home / "disk.img").stat().st_size == 1_000_000_000 // 4096 * 4096
        assert (home / "disk.img").stat().st_blocks == 0
        seed = system.command[system.command.index("--seed") + 1]
        assert int(seed) == Drive(home).seed
        assert (home / "lease").read_text() == str(lease.file)
    wanted = [*STEPS, *UNDONE]
    assert [step for step in system.log if step != "ask report"] == [step for step in wanted if step != "ask report"]
    assert not home.exists()
    assert leases(installation.state) == []


def test_a_dirty_limit_holds_for_the_scope_and_is_a_fact(attach):
    system = FakeSystem()
    medium = attach(system, dirty_limit_bytes=64 << 20)
    with medium.attached():
        assert system.log[-2:] == ["strict_limit=1", f"max_bytes={64 << 20}"]
        assert medium.facts()["dirty_limit_bytes"] == 64 << 20
        assert medium.doubts() == ()


@pytest.mark.parametrize(("own", "limit"), [({}, 208 << 20), ({"dirty_limit_bytes": 64 << 20}, 64 << 20)])
def test_a_node_s_limit_holds_for_a_drive_that_names_none(attach, own, limit):
    system = FakeSystem()
    medium = attach(system, **own)
    assert isinstance(medium, HoldsBack)
    medium.hold_back(208 << 20)
    with medium.attached():
        assert system.log[-1] == f"max_bytes={limit}"
        assert medium.facts()["dirty_limit_bytes"] == limit


def test_a_kernel_that_does_not_take_a_dirty_limit_is_doubted(attach):
    medium = attach(FakeSystem(fail_at=f"max_bytes={64 << 20}"), dirty_limit_bytes=64 << 20)
    with medium.attached():
        assert "dirty_limit_bytes" not in medium.facts()
        assert [doubt.kind for doubt in medium.doubts()] == ["dirty-limit-missing"]


def test_a_dirty_limit_that_a_killed_run_left_on_a_loop_device_is_lifted(tmp_path):
    bdi = tmp_path / "block" / "loop7" / "bdi"
    bdi.mkdir(parents=True)
    for strict, log in (("0", []), ("1", ["max_ratio=100", "strict_limit=0"])):
        (bdi / "strict_limit").write_text(strict)
        system = FakeSystem()
        assert limit_dirty(Path("/dev/loop7"), None, system, tmp_path)
        assert system.log == log


@pytest.mark.parametrize("step", [step for step in STEPS if step != "max_sectors_kb=1024"])  # it may be refused
def test_a_failing_step_leaves_nothing(attach, installation, step):
    system = FakeSystem(fail_at=step)
    medium = attach(system)
    with pytest.raises(AssayError), medium.attached():
        pytest.fail("it was attached")
    taken = STEPS[: STEPS.index(step)]
    if "emulator" in taken:
        assert system.process.code == 0
    assert ("detach /dev/loop7" in system.log) == ("losetup" in taken)
    assert ("shut down mount" in system.log) == ("mount" in taken)
    order = [what for what in UNDONE if what in system.log]
    assert [what for what in system.log if what in order and what != "ask report"] == order
    assert list((installation.parts / "work").iterdir()) == []
    assert leases(installation.state) == []


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, ZeroDivisionError])
def test_what_fails_in_the_scope_undoes_all(attach, installation, interrupt):
    system = FakeSystem()
    with pytest.raises(interrupt), attach(system).attached():
        raise interrupt
    assert [what for what in system.log if what in UNDONE and what != "ask report"] == UNDONE[1:]
    assert leases(installation.state) == []


def test_an_undoing_that_fails_does_not_stop_the_others(attach):
    system = FakeSystem(fail_at="unmount mount")
    with pytest.raises(AssayError, match="scripted failure of unmount mount"), attach(system).attached():
        pass
    assert system.log[-3:] == ["detach /dev/loop7", "ask stop", "unmount drive"]


def test_an_emulator_that_ends_at_once_says_why(attach, monkeypatch):
    system = FakeSystem()
    system.says, system.process.code = "no such figure\n", 2
    monkeypatch.setattr(system, "_serve", lambda _listener, _directory, bound: bound.set())
    message = "ended with exit code 2 before it was ready; its last words: no such figure"
    with pytest.raises(AssayError, match=message), attach(system).attached():
        pass


def test_a_dead_emulator_is_the_reason_whatever_failed(attach):
    system = FakeSystem()
    medium = attach(system)

    def work():
        assert medium.failure() is None
        system.process.code = -signal.SIGKILL
        assert "SIGKILL" in medium.failure()
        raise OSError(5, "Input/output error")

    message = r"medium 'hdd': the drive emulator was killed by SIGKILL"
    with pytest.raises(AssayError, match=message) as raised, medium.attached():
        work()
    assert isinstance(raised.value.__cause__, OSError)
    assert medium.failure() is None


def test_a_full_backing_disk_is_a_failure(attach):
    system = FakeSystem(report={**REPORT, "backing_errors": {"count": 3, "reasons": ["No space left on device"]}})
    with pytest.raises(AssayError, match=r"failed 3 times \(No space left on device\)"), attach(system).attached():
        pass


def test_doubts_come_from_the_report_and_outlive_the_scope(attach):
    report = {
        **REPORT,
        "elapsed_seconds": 10.0,
        "late": {"requests": 9, "share": 0.02, "worst_us": 4000.0, "seconds": 0.5},
        "late_seconds": 0.5,
        "memory_locked": False,
    }
    medium = attach(FakeSystem(report=report))
    assert isinstance(medium, Device)
    assert medium.doubts() == ()
    with medium.attached():
        pass
    late, unlocked = medium.doubts()
    assert (late.kind, unlocked.kind) == ("emulator-was-late", "emulator-memory-not-locked")
    assert "took 0.5 s longer than its profile says, within 10.0 s (staging)" in late.what
    assert medium.device_report() == report


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"size_bytes": 2_000_000_000}, "more than the drive slow has"),
        ({"size_bytes": 2 << 20}, "too few: ext4 needs"),
        ({"size_bytes": 100 << 20, "file_system": "xfs"}, "too few: xfs needs"),
    ],
)
def test_a_size_that_does_not_fit(attach, changes, message):
    system = FakeSystem()
    with pytest.raises(BadInputError, match=message), attach(system, **changes).attached():
        pass
    assert system.log == []


def test_a_backing_disk_that_is_too_small(attach, monkeypatch):
    monkeypatch.setattr("assay.media.emulated.attachment.LEAST_FREE_BYTES", 1 << 60)
    system = FakeSystem()
    with pytest.raises(BadInputError, match="too small for the backing file of slow"), attach(system).attached():
        pass
    assert system.log == []


def test_a_place_that_can_not_free_parts_of_a_file(attach, installation, monkeypatch):
    monkeypatch.setattr("assay.media.emulated.attachment.can_punch_holes", lambda _descriptor: False)
    system = FakeSystem()
    with pytest.raises(BadInputError, match="can't give back parts of a file, .* name a place on another") as raised:
        attach(system).attached().__enter__()
    assert str(installation.parts / "work") in str(raised.value)
    assert system.log == []
    assert list((installation.parts / "work").iterdir()) == []


def test_whether_parts_of_a_file_can_be_freed_is_tried(tmp_path):
    with (tmp_path / "file").open("xb") as file:
        file.truncate(1 << 20)
        assert can_punch_holes(file.fileno())
        assert os.fstat(file.fileno()).st_size == 1 << 20
    reader, writer = os.pipe()
    assert can_punch_holes(writer) in {True, False}
    os.close(reader)
    os.close(writer)


def test_staging_that_was_late_is_doubted_after_a_good_run(attach):
    late = {
        **REPORT,
        "elapsed_seconds": 10.0,
        "late": {"requests": 90, "share": 0.5, "worst_us": 4000.0, "seconds": 0.5},
        "late_seconds": 0.5,
    }
    system = FakeSystem(report=late)
    medium = attach(system)
    with medium.attached():
        medium.device_report()
        medium.reset_report()
        system.report = REPORT
        medium.device_report()
        assert [doubt.kind for doubt in medium.doubts()] == ["emulator-was-late"]
        assert isinstance(medium.facts()["seed"], int)
    assert [doubt.kind for doubt in medium.doubts()] == ["emulator-was-late"]
    system = FakeSystem()
    medium = attach(system)
    with medium.attached():
        pass
    assert medium.doubts() == ()


def test_a_left_attached_drive_is_not_undone(attach, installation):
    from assay.media.emulated.attached_drives import attach as attach_for_good
    from assay.media.emulated.attached_drives import drives

    system = FakeSystem()
    medium = attach(system)
    medium.check = lambda: None
    kept = attach_for_good(medium, installation)
    assert (kept.state, kept.profile, kept.device) == ("attached", "slow", "/dev/loop7")
    del medium
    assert not {*UNDONE[1:]} & {*system.log}
    (found,) = [one for one in drives(installation) if one.id == kept.id]
    assert found == kept
    system.process.code = -9
    (lease,) = leases(installation.state)
    lease.release()


def test_queues_are_those_of_real_drives(tmp_path):
    def profile(kind, **figures):
        return DriveProfile.model_validate({"name": "x", "kind": kind, "figures": figures, "file": tmp_path})

    assert queue_of(profile("hdd")).model_dump() == {
        "rotational": True, "scheduler": "mq-deadline", "depth": 32, "read_ahead_kb": 128, "further": {},
    }  # fmt: skip
    sata, nvme = queue_of(profile("ssd")), queue_of(profile("ssd", queue_depth=1024))
    assert (sata.rotational, sata.scheduler, sata.depth) == (False, "mq-deadline", 32)
    assert (nvme.scheduler, nvme.depth) == ("none", 128)


def test_a_mount_point_in_use_is_refused(attach, installation, tmp_path):
    from assay.media.emulated.attached_drives import attach as attach_for_good

    medium = attach(FakeSystem())
    medium.check = lambda: None
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    for point, message in [("full", "is not empty"), ("slow.yaml", "not a directory"), ("no/where", "is not there")]:
        with pytest.raises(BadInputError, match=message):
            attach_for_good(medium, installation, tmp_path / point)
    assert leases(installation.state) == []


def test_shutting_down_what_is_gone_is_fine(tmp_path):
    file_system.shut_down(tmp_path / "absent", tmp_path / "absent")


def test_only_a_file_system_on_the_given_device_is_shut_down(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(file_system.fcntl, "ioctl", lambda _, number, *__: asked.append(number))
    file_system.shut_down(tmp_path, Path("/dev/null"))
    assert asked == []
    number = tmp_path.stat().st_dev
    monkeypatch.setattr(Path, "stat", lambda self: SimpleNamespace(st_rdev=number))
    file_system.shut_down(tmp_path, Path("/dev/loop7"))
    assert asked == [file_system.SHUT_DOWN]


def test_a_lease_is_needed_for_nothing_else(attach, installation):
    with Lease(installation.state, "test") as other:
        with attach(FakeSystem()).attached():
            assert {lease.id for lease in leases(installation.state)} > {other.id}
        assert [lease.id for lease in leases(installation.state)] == [other.id]


def test_probes_are_told_of_the_device_the_emulator_and_its_log_of_requests(attach):
    system = FakeSystem()
    medium = attach(system)
    assert medium.watched_processes() == ()
    with pytest.raises(AssayError, match="hdd is not attached"):
        medium.watched_disk()
    with medium.attached() as directory:
        disk = medium.watched_disk()
        assert medium.watched_disk() == disk
        assert (disk.medium, disk.own, disk.device) == ("hdd", True, Path("/dev/loop7"))
        assert (disk.place, disk.rotational, disk.shared) == (directory.parent, True, False)
        assert disk.log is not None
        assert (disk.log.name, disk.log.parent) == ("requests.log", directory.parents[1])
        assert [(one.group, one.pid) for one in medium.watched_processes()] == [("emulator", system.process.pid)]
    assert system.log.count("ask trace") == 1


def test_an_emulator_that_refuses_to_log_is_watched_without(attach):
    medium = attach(FakeSystem(fail_at="ask trace"))
    with medium.attached():
        assert medium.watched_disk().log is None


def test_a_mount_option_that_an_older_kernel_does_not_know_is_left_out():
    assert options("ext4", "6.1.0-13-amd64") == "discard,noinit_itable,no_prefetch_block_bitmaps"
    assert options("ext4", "5.10.0-28-amd64") == "discard,noinit_itable"
    assert options("xfs", "5.10.0") == "discard"
