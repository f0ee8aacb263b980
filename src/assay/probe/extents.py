"""Where a file's bytes lie on the device below its file system: the FIEMAP ioctl (filesystems/fiemap.rst, Linux).

Asked without FIEMAP_FLAG_SYNC: nothing is written out for it. What the file system has not yet found a place for
(delayed allocation) has no extent.
"""

import errno
import fcntl
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

FS_IOC_FIEMAP = 0xC020660B
_HEADER = struct.Struct("=QQIIII")
_EXTENT = struct.Struct("=QQQQQIIII")
_AT_ONCE = 64
_LAST, _UNKNOWN, _DELAYED, _INLINE = 0x1, 0x2, 0x4, 0x200
UNSUPPORTED = frozenset({errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL, errno.ENOSYS})

Asking = Callable[[int, int, bytearray], int]


class Placed(NamedTuple):
    """A file's ranges on its device, (first byte, byte after the last), and whether some of it has no place yet."""

    ranges: tuple[tuple[int, int], ...]
    delayed: bool


def placed(path: Path, ask: Asking = fcntl.ioctl) -> Placed:
    """Raises OSError: the file is gone, or (`UNSUPPORTED`) its file system does not tell."""
    # Without O_NOATIME our looking would write access times to the medium under test.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOATIME)
    try:
        return _placed(descriptor, ask)
    finally:
        os.close(descriptor)


def _placed(descriptor: int, ask: Asking) -> Placed:
    ranges: list[tuple[int, int]] = []
    delayed, start = False, 0
    while True:
        buffer = bytearray(_HEADER.size + _AT_ONCE * _EXTENT.size)
        _HEADER.pack_into(buffer, 0, start, (1 << 64) - 1 - start, 0, 0, _AT_ONCE, 0)
        ask(descriptor, FS_IOC_FIEMAP, buffer)
        count = _HEADER.unpack_from(buffer)[3]
        flags = 0
        for number in range(count):
            logical, physical, length, _, _, flags, *_ = _EXTENT.unpack_from(
                buffer, _HEADER.size + number * _EXTENT.size
            )
            start = logical + length
            if flags & _DELAYED:
                delayed = True
            elif not flags & (_UNKNOWN | _INLINE):
                _append(ranges, physical, physical + length)
        if count < _AT_ONCE or flags & _LAST:
            return Placed(tuple(ranges), delayed)


def _append(ranges: list[tuple[int, int]], begin: int, end: int) -> None:
    """Neighbours become one."""
    if ranges and ranges[-1][1] == begin:
        ranges[-1] = (ranges[-1][0], end)
    else:
        ranges.append((begin, end))
