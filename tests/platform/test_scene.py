"""Proves that probes are told of the daemons, the media's devices and Assay itself."""

import os
from pathlib import Path

import pytest

from assay.host.lease import Lease
from assay.host.mounts import Mount
from assay.media.directory import block_device
from assay.model.installed import kind_of
from assay.model.layout import Directory, Layout
from assay.model.probe import WatchedDisk, WatchedProcess
from assay.model.running_cluster import ClusterNode, DaemonFacts, RunningCluster
from assay.model.service import DaemonKind
from assay.model.trial import MediumSpec
from assay.node.local import LocalNode
from assay.platform import scene
from assay.platform.scene import build_scene, with_sharing
from assay_extras.testing.fakes import FakeMedium, Script


class WatchedMedium(FakeMedium):
    def watched_disk(self, directories):
        return WatchedDisk(medium=self.spec.name, own=True, place=Path("/m"), device=Path("/dev/loop7"))

    def watched_processes(self):
        return (WatchedProcess(group="emulator", pid=77),)


def medium(name):
    return WatchedMedium(Script(), MediumSpec(name=name, kind="emulated"))


def opened(kind, name, tmp_path):
    spec = MediumSpec(name=name, kind=kind)
    return kind_of(spec).open(spec, Lease(tmp_path / "state", "test"), None)


@pytest.fixture
def layout(tmp_path):
    (tmp_path / "trial").mkdir()
    return Layout(
        neutral=tmp_path,
        directories=(
            Directory(path=tmp_path / "trial" / "data", medium="disk"),
            Directory(path=tmp_path / "trial" / "local", medium="ram", roles=("intermediate",)),
        ),
    )


@pytest.fixture
def running(tmp_path):
    daemons = (
        DaemonFacts(role="nodemanager", pid=11, log=tmp_path / "absent"),
        DaemonFacts(role="datanode", pid=12, log=tmp_path / "absent"),
    )
    return RunningCluster(
        hadoop=tmp_path, conf_dir=tmp_path, addresses={}, version="3.4.2",
        nodes=(ClusterNode(LocalNode(), daemons),),
    )  # fmt: skip


def test_daemons_the_emulator_and_assay_are_watched(running, layout):
    built = build_scene(running, layout, (medium("hdd"),), [DaemonKind("nodemanager", "Main", children="containers")])
    assert [(one.group, one.pid) for one in built.processes] == [
        ("nodemanager", 11), ("datanode", 12), ("emulator", 77), ("assay", os.getpid()),
    ]  # fmt: skip
    assert [one.pid for one in built.processes if one.children == "containers"] == [11]
    assert [node.name for node in built.nodes] == ["127.0.0.1"]
    assert built.ports == {}
    assert built.disks[0].device == Path("/dev/loop7")


def test_a_directory_has_its_mounts_device_and_memory_has_none(running, layout, tmp_path):
    built = build_scene(running, layout, (opened("directory", "disk", tmp_path), opened("memory", "ram", tmp_path)), ())
    disk, ram = built.disks
    assert (disk.medium, disk.place) == ("disk", tmp_path / "trial")
    assert disk.shared, "the trial's own logs lie on it too"
    assert disk.device is None or disk.device.is_block_device()
    assert (ram.in_memory, ram.device, ram.shared) == (True, None, False)


def test_a_medium_that_nothing_lies_on_is_no_disk(running, layout, tmp_path):
    assert build_scene(running, layout, (opened("directory", "idle", tmp_path),), ()).disks == ()


def test_a_device_is_found_by_its_number_or_by_the_mounts_source(tmp_path):
    device = tmp_path / "dev" / "block" / "259:2"
    device.mkdir(parents=True)
    (device / "uevent").write_text("MAJOR=259\nMINOR=2\nDEVNAME=nvme0n1p2\nDEVTYPE=partition\n")
    assert block_device(Mount("259:2", "/", "ext4", "/dev/root", "rw"), tmp_path) == Path("/dev/nvme0n1p2")
    assert block_device(Mount("0:40", "/", "overlay", "overlay", "rw"), tmp_path) is None
    assert block_device(Mount("0:41", "/b", "btrfs", "/dev/null", "rw"), tmp_path) is None


def test_swap_may_lie_in_a_file_with_a_name_in_any_encoding(layout, tmp_path):
    (tmp_path / "swaps").write_bytes(b"Filename Type Size Used Priority\n/caf\xe9/swap file 1 0 -2\n")
    assert with_sharing((), layout, [], tmp_path / "swaps") == ()


class TestWhetherOthersUseADevice:
    """Device numbers are made up: the disk lies on 8:1 and the logs on 8:2."""

    @pytest.fixture
    def shared(self, layout, tmp_path, monkeypatch):
        numbers = {tmp_path / "disk": "8:1", tmp_path / "other": "8:1", layout.neutral: "8:2", Path("/swap"): "8:1"}
        monkeypatch.setattr(scene, "_number_of", lambda place: numbers.get(place, "8:3"))
        swaps = tmp_path / "swaps"

        def told(*points, swap="/dev/sdc1", media=("disk",), neutral="8:2"):
            numbers[layout.neutral] = neutral
            swaps.write_text(f"Filename Type Size Used Priority\n{swap} partition 1 0 -2\n")
            mounted = [Mount("8:1", point, "ext4", "/dev/sda1", "rw") for point in points]
            disks = [WatchedDisk(medium=name, place=tmp_path / name, device=Path("/dev/sda1")) for name in media]
            return [disk.shared for disk in with_sharing(disks, layout, mounted, swaps)]

        return told

    def test_a_disk_of_its_own_is_not_shared(self, shared):
        assert shared("/mnt/disk") == [False]

    def test_root_another_mount_swap_logs_or_another_medium_share_it(self, shared):
        assert shared("/") == [True]
        assert shared("/mnt/disk", "/home") == [True]
        assert shared("/mnt/disk", swap="/swap") == [True]
        assert shared("/mnt/disk", neutral="8:1") == [True]
        assert shared("/mnt/disk", media=("disk", "other")) == [True, True]

    def test_an_emulated_drive_is_nobody_elses(self, layout, tmp_path):
        drive = WatchedDisk(medium="hdd", own=True, place=tmp_path, device=Path("/dev/loop7"))
        assert with_sharing([drive], layout) == (drive,)


def test_a_device_number_is_a_block_devices_own_or_that_of_what_lies_on_it(tmp_path):
    number = tmp_path.stat().st_dev
    assert scene._number_of(tmp_path / "absent" / "file") == f"{os.major(number)}:{os.minor(number)}"
