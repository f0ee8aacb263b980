"""The kernel's page cache: write it out, drop it, and count what it keeps of some files."""

import ctypes
import fcntl
import mmap
import os
from contextlib import suppress
from pathlib import Path

from assay.host.files import opened
from assay.model.doubt import doubt_kind

PAGE_BYTES = mmap.PAGESIZE

CACHE_NOT_QUITE_COLD = doubt_kind(
    "cache-not-quite-cold",
    "medium",
    when=("caches were dropped file by file, without root, or some pages of an emulated drive's files stayed cached"),
    why="what stayed in the page cache is read faster than from a cold medium",
    cure="run as root, and let nothing else use the medium",
    severity=40,
)


def resident_bytes(place: Path) -> int:
    """Bytes of all files below a place, on its own file system, that lie in the page cache.

    Counted by mincore(2) on a mapping, which touches none of their pages. Files that vanish meanwhile count as nothing.
    """
    pages = 0
    for folder, folders, names in os.walk(place):
        folders[:] = [name for name in folders if not os.path.ismount(Path(folder, name))]
        for name in names:
            pages += _file_pages(Path(folder, name))
    return pages * PAGE_BYTES


def _file_pages(file: Path) -> int:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        size = os.fstat(descriptor).st_size
        if size == 0:
            return 0
        flags = (ctypes.c_ubyte * -(-size // PAGE_BYTES))()
        with mmap.mmap(descriptor, size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE) as mapped:
            start = ctypes.c_ubyte.from_buffer(mapped)
            ctypes.CDLL(None).mincore(ctypes.c_void_p(ctypes.addressof(start)), ctypes.c_size_t(size), flags)
            del start  # a mapping that is referred to can't be closed
        return sum(flag & 1 for flag in flags)
    finally:
        os.close(descriptor)


FLUSH_BUFFERS = 0x1261
"""BLKFLSBUF (linux/fs.h): write out and drop a block device's own cached pages."""


def write_out(place: Path) -> None:
    """syncfs(2): write out this file system only, not all of the machine's. Raises OSError when its device fails."""
    with opened(place) as descriptor:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syncfs(descriptor):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(place))


def forget_files(place: Path) -> None:
    """posix_fadvise(2): ask the kernel to forget the clean pages of every file below a place."""
    for folder, _, names in os.walk(place):
        for name in names:
            # A pipe or a socket has no pages.
            with suppress(OSError), opened(Path(folder, name), os.O_NOFOLLOW | os.O_NONBLOCK) as descriptor:
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def make_cold(point: Path, device: Path) -> int:
    """Write out one file system and drop what the kernel caches of it; bytes of its files that stay cached.

    Touches no other file system. Data, directories and allocation tables are read from the device again; what stays are
    inodes and names that the kernel holds in their own form (a few KiB for a trial's files).
    """
    write_out(point)
    forget_files(point)
    with opened(device) as descriptor:
        fcntl.ioctl(descriptor, FLUSH_BUFFERS)
    return resident_bytes(point)
