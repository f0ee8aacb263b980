"""Which of a node's drives and network interfaces count bytes that none of its other devices counts.

sysfs tells what a device is: hardware has a `device`, and what is made of drives or lies above an interface has none
(partitions, device mapper, software RAID, bcache, loop and compressed memory; bridges, bonds, VLANs, virtual pairs,
tunnels). Where only names are known, what else is there decides: `nvme0n1p1` beside `nvme0n1`, `eth0.9` beside `eth0`.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from assay.model.doubt import Doubt, doubt_kind
from assay.model.naming import first_few
from assay.model.node import NodeFiles

BLOCK, NET = Path("/sys/block"), Path("/sys/class/net")
LOOPBACK, INFINIBAND = "lo", "ib"

_PATH = re.compile(r"(nvme\d+)c\d+(n\d+)")
"""One of several ways to a namespace: NVMe's own multipath, where the kernel shows them (nvme_set_disk_name)."""
_NO_DRIVE = re.compile(r"(loop|ram|zram|sr|fd|nbd)\d+")
_MADE_OF_DRIVES = re.compile(r"(dm-|md|md_d|bcache|drbd|zd)\d+(p\d+)?")
_OF_PATHS = re.compile(r"(emcpower|sddlm)[a-z]+\d*")
"""Volumes with several paths of PowerPath and of HDLM, which are no mapped devices."""
_BOND = re.compile(r"(bond|team).*")
_VIRTUAL = re.compile(
    r"(veth|docker|br|virbr|vmbr|lxcbr|lxdbr|lxc|cni|cbr|kube|podman|nodelocaldns|flannel|cali|cilium|vnet|vif|tap|tun|wg"
    r"|tailscale|ppp|sit|gre|erspan|ip6|ipip|ip_vti|vxlan|geneve|dummy|ifb|macv|ipvl|ovs|vlan|nlmon).*"
)


class Choice(NamedTuple):
    """The devices to be counted, and those that are left out because a counted device has their bytes too."""

    counted: frozenset[str]
    left_out: frozenset[str]


def sysfs_name(device: Path) -> str:
    """Return the name of a device in sysfs: `cciss!c0d0` for `/dev/cciss/c0d0`."""
    below = device.relative_to("/dev") if device.is_relative_to("/dev") else Path(device.name)
    return "!".join(below.parts)


def device_path(name: str) -> Path:
    """Return the device file for a name in sysfs."""
    return Path("/dev", name.replace("!", "/"))


def drives(node: NodeFiles) -> frozenset[str]:
    """Return the names in sysfs of a node's hardware drives, in use or not. Raises OSError where there is no sysfs."""
    return frozenset(name for name in node.names(BLOCK) if "device" in _entries(node, BLOCK / name))


def is_of_paths(name: str) -> bool:
    """Whether a device has several paths that are listed like drives, as its name alone tells."""
    return _OF_PATHS.fullmatch(name) is not None


def without_paths(names: Collection[str], idle: Collection[str] = ()) -> frozenset[str]:
    """Leave out the single paths to a drive whose multipath device is among the names and counts for all of them.

    Where that is `idle` and they are not, they count, and it is left out: some kernels count in the paths alone.
    """
    drive_of = {name: path[1] + path[2] for name in names if (path := _PATH.fullmatch(name))}
    counting = {name for name, drive in drive_of.items() if drive in idle and name not in idle}
    left_out = {name for name, drive in drive_of.items() if drive in names} - counting
    return frozenset(names) - left_out - {drive_of[name] for name in counting}


def drives_by_name(names: Collection[str]) -> Choice:
    """Choose the drives to be counted by their names alone."""
    candidates = {name for name in names if not _NO_DRIVE.fullmatch(name)}
    whole = {name for name in candidates if not (_is_made_of_drives(name) or _is_partition(name, candidates))}
    counted = without_paths(whole)
    return Choice(counted, frozenset(candidates - counted))


def interfaces(node: NodeFiles) -> frozenset[str]:
    """Return the interfaces that count each byte to or from a node once. Raises OSError where there is no sysfs.

    In a container there is no hardware: what lies above no interface of its own counts there.
    """
    entries = {name: _entries(node, NET / name) for name in node.names(NET) if name != LOOPBACK}
    lowers = {
        name: {entry.removeprefix("lower_") for entry in of if entry.startswith("lower_")}
        for name, of in entries.items()
    }
    hardware = {name for name, of in entries.items() if "device" in of}
    if not hardware:
        above = {name for name, of in entries.items() if lowers[name] or of & {"bridge", "tun_flags"}}
        return interfaces_by_name(entries, above).counted
    # Of a paravirtual interface and the function of a card below it (netvsc, net_failover) the upper one counts all.
    return frozenset(hardware.difference(*(lowers[name] for name in hardware)))


def interfaces_by_name(names: Collection[str], above: Collection[str] = ()) -> Choice:
    """Choose the interfaces to be counted by their names; those in `above` are known to lie above others."""
    candidates = set(names) - {LOOPBACK}
    left = {
        name for name in candidates if not (name in above or _VIRTUAL.fullmatch(name) or _is_vlan(name, candidates))
    }
    bonds = {name for name in left if _BOND.fullmatch(name)}
    counted = frozenset(left - bonds or bonds)
    return Choice(counted, frozenset(candidates - counted))


def devices_by_name(kind: str, choice: Choice, instrument: str) -> Iterator[Doubt]:
    """Yield a doubt where the choice left any device out."""
    if choice.left_out:
        names = sorted(choice.left_out)
        counted = ", ".join(sorted(choice.counted)) or "none"
        detail = f"of the {kind} {counted} are counted by their names, and {first_few(names)} are not"
        yield DEVICES_BY_NAME.doubt(detail, instrument=instrument)


DEVICES_BY_NAME = doubt_kind(
    "devices-by-name", "cluster",
    when="only the names of a node's devices tell which of them stand for others, and some were left out for that",
    why="the bytes of partitions, bonds, VLANs and the like are taken for those of the devices below them; one that is "
    "a device of its own is missing",
    cure="read the nodes by `ssh` where sysfs is mounted: it tells what each device is",
)  # fmt: skip


def _is_made_of_drives(name: str) -> bool:
    return is_of_paths(name) or _MADE_OF_DRIVES.fullmatch(name) is not None


def _is_partition(name: str, names: Iterable[str]) -> bool:
    """`sda1` beside `sda`; where the drive's name ends in a digit, with a p between: `mmcblk0p1` beside `mmcblk0`."""
    drive = name.rstrip("0123456789")
    if drive == name:
        return False
    if drive.endswith("p") and drive[-2:-1].isdigit():
        drive = drive[:-1]
    return drive in names


def _is_vlan(name: str, names: Iterable[str]) -> bool:
    """Tell a VLAN from its parent; children of an InfiniBand interface are counted themselves."""
    return name.rpartition(".")[0] in names and not name.startswith(INFINIBAND)


def _entries(node: NodeFiles, folder: Path) -> set[str]:
    with suppress(OSError):  # it has gone, or is a file
        return set(node.names(folder))
    return set()
