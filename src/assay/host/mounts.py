"""Lists mounts and loop devices of this machine, and releases those below a directory.

Whatever Assay mounts or attaches has its mount point or its backing file below a directory that a lease names, so a
crash leaves nothing that can't be found: no list of mounts needs to be kept.
"""

import ctypes
import errno
import fcntl
import os
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from assay.host.files import opened
from assay.model.errors import AssayError

LOOP_CLR_FD = 0x4C01
"""Detach a loop device's backing file (linux/loop.h)."""

PATIENCE_S = 15.0
RETRY_S = 0.05
OWN_SOURCES = ("assay", "assay-emulator")
"""What Assay's mounts without a block device name as their source: a tmpfs of a size, and the emulator's FUSE mount."""

FREE_S = 0.005


class Mount(NamedTuple):
    """One line of /proc/self/mountinfo (see proc(5))."""

    device_number: str
    point: str
    file_system: str
    source: str
    options: str
    root: str = "/"
    """What of the file system is mounted there."""


class Loop(NamedTuple):
    """An attached loop device, and the file it was attached to."""

    device: Path
    backing_file: Path


def mounts() -> list[Mount]:
    """List the mounts that this process sees, in the order in which they were made."""
    return parse_mounts(Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape"))


def parse_mounts(mountinfo: str) -> list[Mount]:
    """Parse a process' mountinfo."""
    all_mounts = []
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        fields, tail = before.split(), after.split()
        # The mount's own and its file system's, each once.
        options = ",".join(dict.fromkeys(",".join([fields[5], *tail[2:]]).split(",")))
        all_mounts.append(Mount(fields[2], _unescaped(fields[4]), tail[0], _unescaped(tail[1]), options, fields[3]))
    return all_mounts


def mount_of(path: Path) -> Mount:
    """Find the mount that a path lies on (by device number; the last mount of it)."""
    number = path.stat().st_dev
    device_number = f"{os.major(number)}:{os.minor(number)}"
    everything = mounts()
    same = [mount for mount in everything if mount.device_number == device_number]
    # btrfs and overlay give files other device numbers than their mounts: then the longest mount point decides.
    above = [mount for mount in everything if path.is_relative_to(mount.point)]
    return max(same or above, key=lambda mount: (path.is_relative_to(mount.point), len(mount.point)))


def loops(block: Path = Path("/sys/block")) -> list[Loop]:
    """List the loop devices that have a backing file in sysfs."""
    devices = []
    for file in block.glob("loop*/loop/backing_file"):
        with suppress(OSError):  # detached meanwhile
            backing = file.read_text(encoding="utf-8", errors="surrogateescape").rstrip("\n")
            devices.append(Loop(Path("/dev") / file.parent.parent.name, Path(backing)))
    return devices


def below(directories: Iterable[Path]) -> tuple[list[Mount], list[Loop]]:
    """Find what depends on directories: loop devices on files below them, mounts of those devices, mounts below them.

    The last one mounted comes first: the order in which they can be taken away.
    """
    tops = [directory.resolve() for directory in directories]

    def ours(path: str | Path) -> bool:
        return any(Path(path).is_relative_to(top) for top in tops)

    devices = [loop for loop in loops() if ours(loop.backing_file)]
    names = {str(loop.device) for loop in devices}
    hanging = [mount for mount in mounts() if mount.source in names or ours(mount.point)]
    return hanging[::-1], devices


def check_no_strangers(directories: Iterable[Path]) -> None:
    """Raise AssayError for a mount of somebody else's that lies below directories, or below a mount that uses them.

    Such a mount (a user's bind mount on an attached drive) and all that is in it must survive what is taken away here.
    """
    tops = [directory.resolve() for directory in directories]
    hanging, devices = below(tops)
    own_sources = {*OWN_SOURCES, *(str(loop.device) for loop in devices)}
    own_mounts = {mount for mount in hanging if mount.source in own_sources}
    covered: list[Path] = list(tops)
    for mount in mounts():
        if mount in own_mounts:
            covered.append(Path(mount.point))
        elif any(Path(mount.point).is_relative_to(directory) for directory in covered):
            raise AssayError(
                f"{mount.source} is mounted at {mount.point} and is not Assay's; "
                f"unmount it (`umount {mount.point}`) and try again"
            )


def let_go(directories: Iterable[Path], patience_s: float = PATIENCE_S) -> None:
    """Unmount and detach what Assay has mounted or attached below directories; nothing is mounted there afterwards.

    A device that has just died is busy for a second or two, so this tries again for `patience_s`. Raises AssayError
    that names what stays; at once when something of somebody else's is mounted there, and then all stays.
    """
    tops = list(directories)
    deadline = time.monotonic() + patience_s
    while True:
        check_no_strangers(tops)
        hanging, devices = below(tops)
        if not hanging and not devices:
            return
        reasons = [reason for mount in hanging if (reason := _unmounted(mount.point))]
        reasons += [reason for loop in devices if (reason := _detached(loop.device))]
        if time.monotonic() > deadline:
            raise AssayError(f"{'; '.join(reasons)}; end whatever uses it (fuser -vm shows it) and try again")
        if reasons:
            time.sleep(RETRY_S)


def unmount(point: Path) -> None:
    """Unmount the topmost mount at a point, with retries while it is busy; what isn't mounted is fine."""
    deadline = time.monotonic() + PATIENCE_S
    while reason := _unmounted(str(point)):
        if time.monotonic() > deadline:
            raise AssayError(f"{reason}; end whatever uses it (fuser -vm shows it) and try again")
        time.sleep(RETRY_S)


def detach(loop: Loop, patience_s: float = PATIENCE_S) -> None:
    """Detach a loop device and wait until it is free: while somebody has it open the kernel only promises it.

    A device that got another file meanwhile is somebody else's: it is free as far as this one is concerned.
    """
    deadline = time.monotonic() + patience_s
    promised = False
    while loop in loops():
        reason = None if promised else _detached(loop.device)
        promised = reason is None
        if time.monotonic() > deadline:
            raise AssayError(reason or f"{loop.device} is still in use; end whatever has it open and try again")
        time.sleep(RETRY_S if reason else FREE_S)


def _unmounted(point: str) -> str | None:
    """Call umount2(2) once, and return the reason where it fails."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.umount2(os.fsencode(point), 0) == 0 or ctypes.get_errno() in {errno.EINVAL, errno.ENOENT}:
        return None
    return f"{point} can't be unmounted: {os.strerror(ctypes.get_errno())}"


def _detached(device: Path) -> str | None:
    """Call LOOP_CLR_FD once, and return the reason where it fails."""
    try:
        with opened(device) as descriptor:
            fcntl.ioctl(descriptor, LOOP_CLR_FD)
    except OSError as error:
        return None if error.errno == errno.ENXIO else f"{device} can't be detached: {error.strerror}"
    return None


def _unescaped(text: str) -> str:
    """Replace octal escapes, in which the kernel writes blanks and backslashes."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
