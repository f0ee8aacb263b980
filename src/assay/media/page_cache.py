"""Writes out and drops the kernel's page cache, and counts the pages that it holds of files."""

import ctypes
import fcntl
import mmap
import os
from contextlib import suppress
from pathlib import Path

import numpy as np

from assay.host.files import opened
from assay.model.doubt import doubt_kind

PAGE_BYTES = mmap.PAGESIZE
_MAPPED_BYTES = 1 << 36  # of a file at once: each page takes a byte of memory

CACHE_NOT_QUITE_COLD = doubt_kind(
    "cache-not-quite-cold",
    "medium",
    when=("caches were dropped file by file, without root, or some pages of an emulated drive's files stayed cached"),
    why="what stayed in the page cache is read faster than from a cold medium",
    cure="run as root, and let nothing else use the medium",
    severity=40,
)


def resident_bytes(directory: Path) -> int:
    """Count the bytes of all files below a directory, on its file system, that lie in the page cache.

    mincore(2) counts them on a mapping, which touches none of their pages. Files that vanish meanwhile don't count.
    """
    pages = 0
    for folder, folders, names in os.walk(directory):
        folders[:] = [name for name in folders if not os.path.ismount(Path(folder, name))]
        pages += sum(_file_pages(Path(folder, name)) for name in names)
    return pages * PAGE_BYTES


def _file_pages(file: Path) -> int:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        pages, size = 0, os.fstat(descriptor).st_size
        for offset in range(0, size, _MAPPED_BYTES):
            length = min(_MAPPED_BYTES, size - offset)
            flags = np.zeros(-(-length // PAGE_BYTES), np.uint8)
            # Read-only and shared, so that the kernel does not reserve memory for it.
            with mmap.mmap(descriptor, length, access=mmap.ACCESS_READ, offset=offset) as mapped:
                start = np.frombuffer(mapped, np.uint8).ctypes.data
                ctypes.CDLL(None).mincore(ctypes.c_void_p(start), ctypes.c_size_t(length), flags.ctypes)
            pages += int((flags & 1).sum())
        return pages
    finally:
        os.close(descriptor)


FLUSH_BUFFERS = 0x1261  # BLKFLSBUF (linux/fs.h): write out and drop a block device's own cached pages


def write_out(directory: Path) -> None:
    """Write out this file system only (syncfs(2)). Raises OSError where its device fails."""
    with opened(directory) as descriptor:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syncfs(descriptor):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(directory))


def forget_files(directory: Path) -> None:
    """Ask the kernel to forget the clean pages of every file below a directory (posix_fadvise(2))."""
    for folder, _, names in os.walk(directory):
        for name in names:
            # A pipe or a socket has no pages.
            with suppress(OSError), opened(Path(folder, name), os.O_NOFOLLOW | os.O_NONBLOCK) as descriptor:
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def make_cold(point: Path, device: Path) -> int:
    """Write out one file system and drop what the kernel caches of it; return the bytes of files that stay cached.

    It touches no other file system. Data, directories and allocation tables are read from the device again; what stays
    are inodes and names that the kernel holds in their own form (a few KiB for a trial's files).
    """
    write_out(point)
    forget_files(point)
    with opened(device) as descriptor:
        fcntl.ioctl(descriptor, FLUSH_BUFFERS)
    return resident_bytes(point)
