"""Proves that of drives and interfaces each byte is counted once, by what a device is, or by what else is there."""

from pathlib import Path

import pytest

from assay.node.devices import (
    device_path,
    devices_by_name,
    drives,
    drives_by_name,
    interfaces,
    interfaces_by_name,
    sysfs_name,
    without_paths,
)
from assay.node.readings import ReadingNode, drives_in_use

DISKSTATS = "8 0 {} {} 0 0 0 0 0 0 0 0 0 0\n"


def a_node(*listing, **requests):
    node = ReadingNode("worker-1", [Path("/sys", path) for path in listing])
    lines = [DISKSTATS.format(name.replace("__", "/"), count) for name, count in requests.items()]
    node.files = {Path("/proc/diskstats"): "".join(lines)}
    return node


@pytest.mark.parametrize(
    ("counted", "left_out"),
    [
        ("sda sdb", "sda1 sda2 sdb14 dm-0 dm-13 md127 md0p1 md_d0"),
        ("mmcblk0 mmcblk0boot0", "mmcblk0p1 mmcblk0p12"),
        ("nvme0n1 nvme0n10", "nvme0n1p1 nvme0n10p2"),
        ("nvme1n1", "nvme1c0n1 nvme1c1n1 nvme1n1p3"),
        ("nvme1c0n1 nvme1c1n1", ""),  # a kernel that counts nothing for the drive as a whole
        ("vda xvdb dasda", "vda15 xvdb1 dasda1"),
        ("sda1 sda2", ""),  # whoever names no disks names each partition once
        ("cciss/c0d0", "cciss/c0d0p1"),
        ("sdaa", "sdaa9 bcache0 bcache0p1 drbd1 zd16"),
        ("sda sdb", "emcpowera emcpowera1 emcpoweraa sddlmaa sddlmaa1"),
    ],
)
def test_names_of_drives_tell_by_what_else_is_there(counted, left_out):
    counted, left_out = set(counted.split()), set(left_out.split())
    assert drives_by_name({*counted, *left_out, "loop0", "ram1", "zram0", "sr0", "fd0"}) == (counted, left_out)


@pytest.mark.parametrize(
    ("idle", "counted"),
    [
        ("", "nvme0n1 sda"), ("nvme0c0n1 nvme0c1n1", "nvme0n1 sda"), ("nvme0c0n1 nvme0c1n1 nvme0n1", "nvme0n1 sda"),
        ("nvme0n1", "nvme0c0n1 nvme0c1n1 sda"), ("nvme0n1 nvme0c1n1", "nvme0c0n1 sda"),
    ],
)  # fmt: skip
def test_paths_stand_for_a_drive_for_which_nothing_is_counted(idle, counted):
    assert without_paths({"nvme0n1", "nvme0c0n1", "nvme0c1n1", "sda"}, idle.split()) == set(counted.split())


@pytest.mark.parametrize(
    ("counted", "left_out"),
    [
        ("em1 p1p1 hsn0 ib0 eno1 ens3 enp3s0f1 enx00e04c680001 wlp2s0 eth1", ""),
        ("eth0", "eth0.100 vlan200 docker0 br-1f2e virbr0 veth1a2b cali9 flannel.1 tunl0 wg0 macvlan0 tap3 lxcbr0"),
        ("eth0 eth1", "bond0 bond0.7 team0"),
        ("bond0", "bond0.7 bond0.8"),  # whoever hides a bond's members
        ("ib0 ib0.8001", ""),  # a child counts for itself
        ("", "docker0 veth7"),
    ],
)
def test_names_of_interfaces_tell_by_what_else_is_there(counted, left_out):
    counted, left_out = set(counted.split()), set(left_out.split())
    assert interfaces_by_name({*counted, *left_out, "lo"}) == (counted, left_out)


def test_what_is_known_to_lie_above_others_has_any_name():
    assert interfaces_by_name(["lo", "eth0", "eth1", "int"], above=["int"]).counted == {"eth0", "eth1"}


def test_drives_are_those_with_hardware_and_in_use():
    node = a_node(
        "block/sda/device", "block/sr0/device", "block/cciss!c0d0/device", "block/nvme0n1/device",
        "block/nvme0c1n1/device", sda=7, sda1=7, dm_0=7, cciss__c0d0=2, sr0=0, nvme0n1=4, nvme0c1n1=4,
    )  # fmt: skip
    assert drives(node) == {"sda", "sr0", "cciss!c0d0", "nvme0n1", "nvme0c1n1"}
    names, doubts = drives_in_use(a_node("block/sr0/device", sr0=0))
    assert (set(names), doubts) == (set(), ())
    names, doubts = drives_in_use(node)
    assert (set(names), doubts) == ({"sda", "cciss!c0d0", "nvme0n1"}, ())


def test_paths_count_where_the_kernel_counts_nothing_for_the_whole_drive():
    listing = ("block/nvme0n1/device", "block/nvme0c0n1/device", "block/nvme0c1n1/device")
    names, _ = drives_in_use(a_node(*listing, nvme0c0n1=5, nvme0c1n1=6))
    assert names == {"nvme0c0n1", "nvme0c1n1"}


def test_a_node_that_shows_no_hardware_is_told_by_names_with_a_doubt():
    names, (doubt,) = drives_in_use(a_node("class/net/eth0/device", vda=1, vda1=1, **{"dm-0": 3}))
    assert names == {"vda"}
    assert (doubt.kind, doubt.what) == (
        "devices-by-name", "of the drives vda are counted by their names, and dm-0, vda1 are not"
    )  # fmt: skip


def test_interfaces_are_those_with_hardware():
    net = "class/net"
    node = a_node(
        f"{net}/lo", f"{net}/em1/device", f"{net}/em2/device", f"{net}/int/lower_em1", f"{net}/int/lower_em2",
        f"{net}/int.9/lower_int", f"{net}/docker0/bridge", f"{net}/tun0/tun_flags", f"{net}/veth1",
    )  # fmt: skip
    assert interfaces(node) == {"em1", "em2"}


def test_names_in_sysfs_and_device_files_belong_together():
    for path, name in (("/dev/cciss/c0d0", "cciss!c0d0"), ("/dev/sda", "sda")):
        assert sysfs_name(Path(path)) == name
        assert device_path(name) == Path(path)


def test_where_nothing_was_left_out_there_is_no_doubt():
    assert list(devices_by_name("drives", drives_by_name(["sda", "loop1"]), "p")) == []
    (doubt,) = devices_by_name("drives", drives_by_name(["sda", *(f"dm-{number}" for number in range(5))]), "p")
    assert doubt.what.endswith("and dm-0, dm-1, dm-2 and 2 more are not")
