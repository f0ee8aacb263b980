"""An emulated drive: what it needs of this machine, then from its backing file to a mounted file system, step by step.

Each step leaves with the caller's scope (an ExitStack) how to undo it, before or as soon as it has taken anything: the
file system is unmounted, the loop device detached, the emulator stopped; the backing file goes with the lease. A scope
that is let go of (`pop_all`) leaves the drive attached after this process ends.
"""

import ctypes
import errno
import fcntl
import os
import re
import shutil
import struct
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Literal, NamedTuple

from assay.host.files import opened, whole_number_in
from assay.host.lease import Lease
from assay.host.mounts import Loop, loops
from assay.media.emulated.emulator import Drive, Emulator, System, serve
from assay.model.base import Frozen
from assay.model.drive_profile import DriveProfile
from assay.model.errors import AssayError, BadInputError
from assay.model.installation import Installation

PURPOSE = "medium"
"""Begins the names of the leases that hold emulated drives."""

LOOP_CTL_GET_FREE = 0x4C82
"""Name a free loop device, making one if need be (linux/loop.h)."""

CONTROL = Path("/dev/loop-control")


class BlockQueue(Frozen):
    """How the kernel treats the block device.

    `depth` requests at most are given to the drive at once; those beyond wait in the scheduler, which sorts and merges
    them. The kernel's own choices for real drives: `mq-deadline` for those on SATA, `none` for NVMe (blk-mq). `further`
    are settings of a drive whose queue is known, which hold as far as a loop device can take them.
    """

    rotational: bool
    scheduler: str
    depth: int
    read_ahead_kb: int = 128
    further: Mapping[str, int] = {}


def check_loop_devices(control: Path = CONTROL) -> Path:
    """Raise BadInputError where no loop device can be had."""
    try:
        descriptor = os.open(control, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise BadInputError(
            f"emulated drives need loop devices, and {control} can't be opened ({error.strerror}): load the kernel's "
            "module with `modprobe loop`, or in a container make the device available"
        ) from None
    try:
        number = fcntl.ioctl(descriptor, LOOP_CTL_GET_FREE)
    except OSError as error:
        raise BadInputError(f"no loop device is free and none can be made ({error.strerror})") from None
    finally:
        os.close(descriptor)
    device = Path(f"/dev/loop{number}")
    if not device.exists():
        raise BadInputError(
            f"no loop device is free: the kernel offers /dev/loop{number}, which is not there; "
            f"make it with `mknod /dev/loop{number} b 7 {number}`, or detach another (`losetup -l` lists them)"
        )
    return device


ADMINISTRATOR_BIT = 21
"""CAP_SYS_ADMIN (linux/capability.h): without it root can't mount, as in most containers."""

FUSE = Path("/dev/fuse")
_PACKAGES = {"losetup": "util-linux", "mount": "util-linux", "mkfs.ext4": "e2fsprogs", "mkfs.xfs": "xfsprogs"}


def may_mount() -> bool:
    """Tell whether this process may mount; root may, except in most containers."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> ADMINISTRATOR_BIT & 1)
    return os.geteuid() == 0


def missing(installation: Installation, file_system: str = "ext4") -> list[str]:
    """Say in a sentence each what keeps emulated drives with this file system from working here; empty where they work.

    Nothing is attached for it.
    """
    problems = []
    if not may_mount() and os.geteuid() != 0:
        problems.append("emulated drives need root, to mount them: start Assay as root")
    elif not may_mount():
        problems.append(
            "emulated drives need the right to mount (CAP_SYS_ADMIN), which root lacks here: give it to the container"
        )
    try:
        os.close(os.open(FUSE, os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        problems.append(
            f"emulated drives need FUSE, and {FUSE} can't be opened ({error.strerror}): load the kernel's module with "
            "`modprobe fuse`, or in a container make the device available"
        )
    try:
        check_loop_devices()
    except BadInputError as error:
        problems.append(str(error))
    tools = [tool for tool in ("losetup", "mount", f"mkfs.{file_system}") if shutil.which(tool) is None]
    problems += [f"there is no {tool}: install {_PACKAGES[tool]}" for tool in tools]
    reason = Emulator(installation).missing()
    return [*problems, reason] if reason else problems


def schedulers(device: Path, sys: Path = Path("/sys")) -> tuple[str, ...]:
    """Return the schedulers that a block device's queue offers, the current one first; empty where none are listed."""
    try:
        offered = (sys / "block" / device.name / "queue" / "scheduler").read_text(encoding="utf-8").split()
    except OSError:
        return ()
    return tuple(word.strip("[]") for word in sorted(offered, key=lambda word: "[" not in word))


def scheduler_to_use(preferred: str, offered: Collection[str]) -> str:
    """Return the preferred scheduler, or none where this kernel does not offer it."""
    return preferred if preferred in offered or not offered else "none"


def attach_loop(file: Path, queue: BlockQueue, system: System, scope: ExitStack) -> Path:
    """Attach a loop device to a file, for the time of a scope; direct I/O keeps data from being cached twice."""
    device = Path(system.run("losetup", "--find", "--show", "--direct-io=on", str(file)).strip())
    # Its file by the name that the kernel gives it: links in the path are gone from that.
    scope.callback(system.detach, next((loop for loop in loops() if loop.device == device), Loop(device, file)))
    set_queue(device, queue, system)
    return device


def set_queue(device: Path, queue: BlockQueue, system: System) -> None:
    """Make the block layer treat the device as it would the real drive. Raises AssayError when it does not.

    Where the kernel does not offer the drive's scheduler there is none.
    """
    folder = Path("/sys/block") / device.name / "queue"
    settings = (
        ("scheduler", "none"),
        # Without a scheduler this bounds what the driver is given at once; with one it would bound the scheduler's own.
        ("nr_requests", str(queue.depth)),
        ("rotational", "1" if queue.rotational else "0"),
        ("scheduler", scheduler_to_use(queue.scheduler, schedulers(device))),
    )

    def set_to(name: str, value: str) -> None:
        if not system.write(folder / name, f"{value}\n"):
            raise AssayError(f"{device} can't be set up as the drive is: {folder / name} does not take {value!r}")

    for name, value in settings:
        set_to(name, value)
    most = min(LARGEST_KB, whole_number_in(folder / "max_hw_sectors_kb") or LARGEST_KB)
    if whole_number_in(folder / "iostats") == 0:
        system.write(folder / "iostats", "1\n")  # else the kernel counts nothing of the device
    for name, number in {"max_sectors_kb": most, **queue.further}.items():
        system.write(folder / name, f"{min(number, most) if name == 'max_sectors_kb' else number}\n")
    # Last: with each limit Linux 6.17 and newer raise the read-ahead of what turns to twice the largest request.
    set_to("read_ahead_kb", str(queue.read_ahead_kb))


def limit_dirty(device: Path, limit_bytes: int | None, system: System, sys: Path = Path("/sys")) -> bool:
    """Bound the dirty bytes that the kernel holds for a device; None lifts the bound. Tells whether the kernel took it.

    A loop device keeps its bound when it is detached, also that of a run that was killed: None lifts it again. Source:
    the kernel's ABI/testing/sysfs-class-bdi.
    """
    folder = sys / "block" / device.name / "bdi"
    if limit_bytes is not None:
        strict = system.write(folder / "strict_limit", "1\n")
        return system.write(folder / "max_bytes", f"{limit_bytes}\n") and strict
    if whole_number_in(folder / "strict_limit"):
        system.write(folder / "max_ratio", "100\n")
        system.write(folder / "strict_limit", "0\n")
    return True


LARGEST_KB = 1024
"""What FUSE carries as one request: of a longer one the drive would see two, and neither its length nor its time."""

FURTHER_SETTINGS = ("nr_requests", "max_sectors_kb", "wbt_lat_usec")

SATA_DEPTH, LOOP_DEPTH = 32, 128
"""Native command queueing's depth, and what a loop device gives its file at most."""

LEAST_FREE_BYTES = 256 << 20
"""What an empty file system's own structures may take of the backing disk."""


KEEP_SIZE, PUNCH_HOLE = 1, 2
"""FALLOC_FL_KEEP_SIZE and FALLOC_FL_PUNCH_HOLE (linux/falloc.h)."""

BLOCK_BYTES = 4096


def queue_of(profile: DriveProfile) -> BlockQueue:
    """Return the queue that the profile gives the drive.

    Else as Debian's kernel treats such a drive: mq-deadline on SATA, no scheduler for NVMe, which has deeper queues.
    """
    usual = SATA_DEPTH if profile.kind in {"hdd", "ssd"} else LOOP_DEPTH
    depth = int(profile.values.get("queue_depth", usual))
    if profile.queue is not None:
        return BlockQueue(
            **profile.queue.model_dump(include={"rotational", "scheduler", "read_ahead_kb"}),
            depth=min(depth, LOOP_DEPTH),
            further=profile.queue.model_dump(include=set(FURTHER_SETTINGS), exclude_none=True),
        )
    on_sata = profile.kind == "hdd" or depth <= SATA_DEPTH
    return BlockQueue(
        rotational=profile.kind == "hdd",
        scheduler="mq-deadline" if on_sata else "none",
        depth=min(depth, LOOP_DEPTH),
    )


def attach_raw(
    profile: DriveProfile,
    size_bytes: int,
    directory: Path,
    lease: Lease,
    emulator: Emulator,
    system: System,
    scope: ExitStack,
) -> tuple[Path, Drive]:
    """Attach an empty block device and start its emulator, without delays until `begin`, for the time of a scope.

    Raises BadInputError where the disk below `directory` is too small, AssayError when a step fails; nothing stays.
    """
    drive = Drive(lease.make_directory(directory / f"assay-{lease.id}"))
    free = shutil.disk_usage(drive.home).free
    if free < LEAST_FREE_BYTES:
        raise BadInputError(
            f"the disk below {directory} is too small for the backing file of {profile.name}: {free >> 20} MiB are "
            f"free, and an empty drive may take {LEAST_FREE_BYTES >> 20} MiB; make room or name another place"
        )
    try:
        with drive.backing.open("xb") as made:  # sparse: it takes no room yet
            made.truncate(size_bytes)
            holes = can_punch_holes(made.fileno())
    except OSError as error:
        raise AssayError(
            f"a file of {size_bytes} bytes can't be made below {directory} ({error.strerror}); "
            "name a place on another file system, or take a smaller size"
        ) from None
    if not holes:
        raise BadInputError(
            f"the file system below {directory} can't give back parts of a file, which what is deleted on "
            f"{profile.name} must; name a place on another one, such as ext4, xfs, btrfs or tmpfs"
        )
    (drive.home / "profile.json").write_text(profile.for_emulator, encoding="utf-8")
    # Whose it is, for those who find it without knowing where its user keeps leases.
    (drive.home / "lease").write_text(str(lease.file), encoding="utf-8")
    serve(emulator.binary, drive, lease.environment(os.environ), system, scope)
    return attach_loop(drive.disk, queue_of(profile), system, scope), drive


@contextmanager
def raw_drive(
    profile: DriveProfile, size_bytes: int, directory: Path, lease: Lease, emulator: Emulator, system: System
) -> Iterator[tuple[Path, Drive]]:
    """Attach a block device that behaves as the profile says, with its emulator, for the time of a scope."""
    with ExitStack() as scope:
        device, drive = attach_raw(profile, size_bytes, directory, lease, emulator, system, scope)
        drive.begin(emulator.measure(device, drive.home), device)
        yield device, drive


def can_punch_holes(descriptor: int) -> bool:
    """Try on an empty file whether the file system can free a range within a file (fallocate(2))."""
    libc = ctypes.CDLL(None, use_errno=True)
    start, length = ctypes.c_int64(0), ctypes.c_int64(BLOCK_BYTES)
    failed = libc.fallocate64(descriptor, PUNCH_HOLE | KEEP_SIZE, start, length)
    return not failed or ctypes.get_errno() not in {errno.EOPNOTSUPP, errno.ENOSYS}


FileSystem = Literal["ext4", "xfs"]

# The backing file is new and reads as zeros, so nothing needs to be zeroed or discarded beforehand.
MAKE = {
    "ext4": ("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=1,lazy_journal_init=1,nodiscard"),
    "xfs": ("mkfs.xfs", "-q", "-f", "-K"),
}
# ext4 would zero its inode tables, and read its block bitmaps all over the drive, in the background and beside
# everything measured: for a minute or for hours on a large drive.
OPTIONS = {"ext4": "discard,noinit_itable,no_prefetch_block_bitmaps", "xfs": "discard"}
PREFETCH_SINCE = (5, 13)
"""Older kernels do not read them ahead, and don't know the option."""

LEAST_BYTES = {"ext4": 64 << 20, "xfs": 300 << 20}
"""What the tools accept at least (mkfs.xfs 5.19 and newer refuse less)."""

SHUT_DOWN, WITHOUT_LOG = 0x8004587D, 2
"""EXT4_IOC_SHUTDOWN and XFS_IOC_GOINGDOWN, the same number; and not to write out the log first."""


def options(kind: FileSystem, kernel: str) -> str:
    """Return the mount options that a kernel of this release (`6.1.0-13-amd64`) understands."""
    release = tuple(int(number) for number in re.findall(r"\d+", kernel)[:2])
    chosen = OPTIONS[kind].split(",")
    return ",".join(option for option in chosen if option != "no_prefetch_block_bitmaps" or release >= PREFETCH_SINCE)


def mount(device: Path, kind: FileSystem, point: Path, system: System, scope: ExitStack) -> None:
    """Mount a device's file system for the time of a scope.

    What is still unwritten then is dropped: the drive goes too, and writing gigabytes of a trial's files to an emulated
    hard disk first would only take time.
    """
    scope.callback(system.unmount, point)
    system.run("mount", "-t", kind, "-o", options(kind, os.uname().release), str(device), str(point))
    scope.callback(shut_down, point, device)


def shut_down(point: Path, device: Path) -> None:
    """Cut a file system off its device, dead or alive; its unwritten pages are dropped when it is unmounted.

    Nothing happens when what is found at the mount point lies on any other device: that is somebody else's.
    """
    with suppress(OSError), opened(point) as descriptor:
        if os.fstat(descriptor).st_dev == device.stat().st_rdev:
            fcntl.ioctl(descriptor, SHUT_DOWN, struct.pack("I", WITHOUT_LOG))


class MountedDrive(NamedTuple):
    """A mounted emulated drive."""

    drive: Drive
    device: Path
    mount_point: Path
