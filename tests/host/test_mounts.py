"""Proves that mounts and loop devices are read right, and that only what hangs below a directory is let go of."""

import sys
from pathlib import Path

import pytest

from assay.host import mounts
from assay.host.mounts import Loop, below, let_go
from assay.model.errors import AssayError

MOUNTINFO = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
31 22 0:40 / /var/lib/a\\040place/assay-x/drive rw,nosuid - fuse.assay-emulator assay-emulator rw
32 22 7:0 / /var/lib/a\\040place/assay-x/mount rw,relatime - ext4 /dev/loop0 rw
33 22 7:0 / /mnt/hdd rw,relatime - ext4 /dev/loop0 rw
34 22 7:1 / /mnt/theirs rw,relatime - ext4 /dev/loop1 rw
35 22 0:41 / /var/lib/a\\040place/assay-xy rw - tmpfs tmpfs rw
"""
HOME = Path("/var/lib/a place/assay-x")


@pytest.fixture
def machine(monkeypatch):
    """Those mounts, and a loop device below the home and one that is not."""
    real = Path.read_text
    monkeypatch.setattr(
        Path, "read_text", lambda self, **how: MOUNTINFO if self.name == "mountinfo" else real(self, **how)
    )
    attached = [Loop(Path("/dev/loop0"), HOME / "drive" / "disk"), Loop(Path("/dev/loop1"), Path("/theirs.img"))]
    monkeypatch.setattr(mounts, "loops", lambda: list(attached))
    return attached


def test_what_hangs_below_a_directory_last_mounted_first(machine):
    hanging, devices = below([HOME])
    assert [mount.point for mount in hanging] == ["/mnt/hdd", str(HOME / "mount"), str(HOME / "drive")]
    assert [loop.device for loop in devices] == [Path("/dev/loop0")]
    assert hanging[-1].file_system == "fuse.assay-emulator"


def test_busy_ones_are_tried_again_and_then_named(machine, monkeypatch):
    tried = []
    monkeypatch.setattr(mounts, "_unmounted", lambda point: tried.append(point) or f"{point} is busy")
    monkeypatch.setattr(mounts, "_detached", lambda device: tried.append(str(device)) or f"{device} is busy")
    with pytest.raises(
        AssayError, match=r"/mnt/hdd is busy; .*assay-x/drive is busy; /dev/loop0 is busy; end whatever"
    ):
        let_go([HOME], patience_s=0.12)
    assert tried.count("/mnt/hdd") > 1
    assert not {"/mnt/theirs", "/dev/loop1", "/", str(HOME) + "y"} & set(tried)


@pytest.mark.parametrize("point", ["/mnt/hdd", "/mnt/hdd/data", "{HOME}/mount/data", "{HOME}/drive", "{HOME}/other"])
def test_a_mount_of_somebody_elses_stops_everything(machine, monkeypatch, point):
    escaped = point.replace("{HOME}", str(HOME).replace(" ", "\\040"))
    theirs = f"36 22 254:0 /data {escaped} rw - ext4 /dev/vda rw\n"
    monkeypatch.setattr(sys.modules[__name__], "MOUNTINFO", MOUNTINFO + theirs)
    monkeypatch.setattr(mounts, "_unmounted", lambda point: pytest.fail(f"{point} was unmounted"))
    monkeypatch.setattr(mounts, "_detached", lambda device: pytest.fail(f"{device} was detached"))
    with pytest.raises(
        AssayError, match=f"/dev/vda is mounted at {point.format(HOME=HOME)} and is not Assay's; unmount"
    ):
        let_go([HOME])


def test_mounts_elsewhere_stop_nothing(machine):
    mounts.check_no_strangers([HOME])


def test_a_loop_device_that_somebody_else_got_meanwhile_stays_theirs(machine, monkeypatch):
    ours = machine[0]
    asked = []

    def detached(device):
        asked.append(device)
        machine[0] = Loop(device, Path("/theirs too.img"))

    monkeypatch.setattr(mounts, "_detached", detached)
    mounts.detach(ours)
    mounts.detach(ours)
    assert asked == [ours.device]


def test_a_promised_loop_device_is_waited_for(machine, monkeypatch):
    asked = []
    monkeypatch.setattr(mounts, "_detached", asked.append)
    with pytest.raises(AssayError, match="/dev/loop0 is still in use"):
        mounts.detach(machine[0], patience_s=0.1)
    assert len(asked) == 1


def test_nothing_to_let_go_of(tmp_path):
    let_go([tmp_path])
    mounts.unmount(tmp_path / "absent")
    mounts.detach(Loop(Path("/dev/loop-of-nobody"), tmp_path / "absent"))


def test_the_root_is_a_mount():
    assert "/" in {mount.point for mount in mounts.mounts()}


def test_anybodys_loop_device_may_be_on_a_file_with_a_name_in_any_encoding(tmp_path):
    for name, backing in (("loop0", b"/srv/caf\xe9.img\n"), ("loop12", b"/srv/a.img\n")):
        (tmp_path / name / "loop").mkdir(parents=True)
        (tmp_path / name / "loop" / "backing_file").write_bytes(backing)
    attached = sorted(mounts.loops(tmp_path))
    assert [loop.device for loop in attached] == [Path("/dev/loop0"), Path("/dev/loop12")]
    assert bytes(attached[0].backing_file) == b"/srv/caf\xe9.img"
