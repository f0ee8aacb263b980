"""Proves that what emulated drives lack on a machine is said in a sentence each, before anything is attached."""

import hashlib
from pathlib import Path

import pytest

from assay.media.emulated import attachment
from assay.media.emulated.attachment import BlockQueue, check_loop_devices, scheduler_to_use, schedulers, set_queue
from assay.media.emulated.emulator import Emulator
from assay.media.emulated.medium import EMULATED, EmulatedMedium
from assay.model.errors import AssayError, BadInputError
from assay.model.trial import MediumSpec
from tests.builders import an_installation
from tests.media.faking import FakeSystem

ROOT = Path(__file__).parents[2]


@pytest.fixture
def installation(tmp_path):
    """A checkout with the shipped profiles and nothing built."""
    (tmp_path / "emulator").symlink_to(ROOT / "emulator")
    (tmp_path / "parts").mkdir()
    return an_installation(tmp_path, tmp_path / "parts", cache=tmp_path / "cache", state=tmp_path / "state")


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """A machine without root, FUSE, loop devices and tools."""
    monkeypatch.setattr(attachment, "may_mount", lambda: False)
    monkeypatch.setattr(attachment.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(attachment, "FUSE", tmp_path / "fuse")
    monkeypatch.setattr("assay.media.emulated.attachment.CONTROL", tmp_path / "loop-control")
    monkeypatch.setattr(attachment, "check_loop_devices", lambda: check_loop_devices(tmp_path / "loop-control"))
    monkeypatch.setenv("PATH", str(tmp_path))


def test_everything_that_is_missing_is_said(bare, installation):
    said = attachment.missing(installation, "xfs")
    wanted = [
        "need root",
        "need FUSE",
        "need loop devices",
        "no losetup: install util-linux",
        "no mount",
        "no mkfs.xfs",
    ]
    assert [any(words in sentence for sentence in said) for words in wanted] == [True] * len(wanted)
    assert said[-1] == "the drive emulator is not built: run setup/prepare emulator"
    assert len(said) == len(wanted) + 1


def test_a_medium_is_refused_with_all_of_it(bare, installation):
    medium = EmulatedMedium(MediumSpec(name="hdd", kind="emulated", profile="wd10ezex"), installation)
    with pytest.raises(BadInputError, match=r"medium 'hdd': emulated drives need root, .*; .* need FUSE"):
        medium.space()


def test_a_profile_is_looked_for_first(bare, installation):
    medium = EmulatedMedium(MediumSpec(name="hdd", kind="emulated", profile="wd10ezx"), installation)
    with pytest.raises(BadInputError, match="did you mean 'wd10ezex'"):
        medium.space()
    with pytest.raises(BadInputError, match="needs a profile"):
        EmulatedMedium(MediumSpec(name="hdd", kind="emulated"), installation)


def test_root_without_the_right_to_mount(bare, installation, monkeypatch):
    monkeypatch.setattr(attachment.os, "geteuid", lambda: 0)
    assert "CAP_SYS_ADMIN" in attachment.missing(installation)[0]


def test_set_ups_reason_is_told(installation):
    (installation.parts / "emulator.missing").write_text("there is no Rust; install one\n/usr/bin/cargo\n")
    assert Emulator(installation).missing() == "the drive emulator is not built: there is no Rust; install one"
    with pytest.raises(AssayError, match="there is no Rust"):
        Emulator(installation).figures()


def test_no_free_loop_device(tmp_path, monkeypatch):
    (tmp_path / "control").touch()

    def none_free(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("assay.media.emulated.attachment.fcntl.ioctl", none_free)
    with pytest.raises(BadInputError, match="no loop device is free and none can be made"):
        check_loop_devices(tmp_path / "control")
    monkeypatch.setattr("assay.media.emulated.attachment.fcntl.ioctl", lambda *_: 999)
    with pytest.raises(BadInputError, match="mknod /dev/loop999 b 7 999"):
        check_loop_devices(tmp_path / "control")


def test_a_scheduler_that_the_kernel_does_not_offer(tmp_path, monkeypatch):
    queue = tmp_path / "block" / "loop7" / "queue"
    queue.mkdir(parents=True)
    device = Path("/dev/loop7")
    assert schedulers(device, tmp_path) == ()
    (queue / "scheduler").write_text("none [mq-deadline] kyber\n")
    assert schedulers(device, tmp_path) == ("mq-deadline", "none", "kyber")
    (queue / "scheduler").write_text("[none]\n")
    assert schedulers(device, tmp_path) == ("none",)
    assert scheduler_to_use("mq-deadline", ("none",)) == "none"
    assert scheduler_to_use("mq-deadline", ("none", "mq-deadline")) == "mq-deadline"
    assert scheduler_to_use("mq-deadline", ()) == "mq-deadline"
    system = FakeSystem()
    monkeypatch.setattr("assay.media.emulated.attachment.schedulers", lambda _device: ("none",))
    set_queue(device, BlockQueue(rotational=True, scheduler="mq-deadline", depth=32), system)
    assert "scheduler=mq-deadline" not in system.log


@pytest.mark.parametrize(("is_on", "written"), [(0, True), (1, False), (None, False)])
def test_a_loop_device_whose_statistics_are_off_counts_again(monkeypatch, is_on, written):
    values = {"iostats": is_on}
    monkeypatch.setattr(attachment, "whole_number_in", lambda file: values.get(file.name))
    monkeypatch.setattr(attachment, "schedulers", lambda _device: ("none",))
    system = FakeSystem()
    set_queue(Path("/dev/loop7"), BlockQueue(rotational=True, scheduler="none", depth=32), system)
    assert ("iostats=1" in system.log) is written


def test_the_facts_say_so(installation, monkeypatch):
    medium = EmulatedMedium(
        MediumSpec(name="hdd", kind="emulated", profile="wd10ezex", path=installation.parts), installation
    )
    monkeypatch.setattr("assay.media.emulated.medium.check_loop_devices", lambda: Path("/dev/loop7"))
    for offered, scheduler in [(("none", "mq-deadline"), "mq-deadline"), (("none", "bfq"), "none")]:
        monkeypatch.setattr("assay.media.emulated.medium.schedulers", lambda _device, offered=offered: offered)
        facts = medium.facts()
        assert facts["scheduler"] == scheduler
        assert ("scheduler_of_drive" in facts) == (scheduler == "none")
        assert "slower" not in facts["drive"]
    slower = EmulatedMedium(medium.spec.model_copy(update={"slowdown": 8}), installation).facts()
    assert slower["drive"] == f"{facts['drive']}, 8 times slower"
    assert slower["profile_digest"] != facts["profile_digest"]
    shared = EmulatedMedium(medium.spec.model_copy(update={"shared_by": 12}), installation)
    with pytest.raises(BadInputError, match="medium hdd: a hard disk with several users is slower .* say `slowdown`"):
        shared.facts()
    ssd = MediumSpec(name="ssd", kind="emulated", profile="intel-s4500-960gb", path=installation.parts, shared_by=12)
    assert str(EmulatedMedium(ssd, installation).facts()["drive"]).startswith("1/12 of Intel")
    assert EMULATED.described(ssd) == "emulated 1/12 of intel-s4500-960gb"


def test_an_emulator_is_known_by_its_program(installation):
    assert Emulator(installation).digest == ""
    program = Emulator(installation).binary
    program.parent.mkdir(parents=True)
    program.write_bytes(b"one")
    first = Emulator(installation).digest
    program.write_bytes(b"other")
    assert first == hashlib.sha256(b"one").hexdigest()[:16] != Emulator(installation).digest


def test_a_queue_that_can_not_be_set_is_an_error():
    queue = BlockQueue(rotational=True, scheduler="mq-deadline", depth=32)
    with pytest.raises(AssayError, match="loop7/queue/scheduler does not take 'mq-deadline'"):
        set_queue(Path("/dev/loop7"), queue, FakeSystem(fail_at="scheduler=mq-deadline"))
