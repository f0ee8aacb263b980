"""The file system on an emulated drive: made, mounted, thrown away, and made cold."""

import ctypes
import fcntl
import os
import re
import struct
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Literal

from assay.media.residency import resident_bytes
from assay.media.system import System

Kind = Literal["ext4", "xfs"]

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

FLUSH_BUFFERS = 0x1261
"""BLKFLSBUF (linux/fs.h): write out and drop a block device's own cached pages."""


def options(kind: Kind, kernel: str) -> str:
    """Mount options that a kernel of this release (`6.1.0-13-amd64`) understands."""
    release = tuple(int(number) for number in re.findall(r"\d+", kernel)[:2])
    chosen = OPTIONS[kind].split(",")
    return ",".join(one for one in chosen if one != "no_prefetch_block_bitmaps" or release >= PREFETCH_SINCE)


def make_file_system(device: Path, kind: Kind, system: System) -> None:
    """An empty file system on all of a device."""
    system.run(*MAKE[kind], str(device))


def mount(device: Path, kind: Kind, point: Path, system: System, scope: ExitStack) -> None:
    """Mount a device's file system; it is unmounted with the scope.

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
    with suppress(OSError):
        descriptor = os.open(point, os.O_RDONLY | os.O_CLOEXEC)
        try:
            if os.fstat(descriptor).st_dev == device.stat().st_rdev:
                fcntl.ioctl(descriptor, SHUT_DOWN, struct.pack("I", WITHOUT_LOG))
        finally:
            os.close(descriptor)


def write_out(place: Path) -> None:
    """syncfs(2): write out this file system only, not all of the machine's. Raises OSError when its device fails."""
    descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syncfs(descriptor):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(place))
    finally:
        os.close(descriptor)


def forget_files(place: Path) -> None:
    """posix_fadvise(2): ask the kernel to forget the clean pages of every file below a place."""
    for folder, _, names in os.walk(place):
        for name in names:
            try:
                descriptor = os.open(Path(folder, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            except OSError:
                continue
            try:
                with suppress(OSError):  # a pipe or a socket has no pages
                    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)


def make_cold(point: Path, device: Path) -> int:
    """Write out one file system and drop what the kernel caches of it; bytes of its files that stay cached.

    Touches no other file system. Data, directories and allocation tables are read from the device again; what stays are
    inodes and names that the kernel holds in their own form (a few KiB for a trial's files).
    """
    write_out(point)
    forget_files(point)
    descriptor = os.open(device, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.ioctl(descriptor, FLUSH_BUFFERS)
    finally:
        os.close(descriptor)
    return resident_bytes(point)
