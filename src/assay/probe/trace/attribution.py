"""Which role each request served: that of the file to which its first byte belonged when it arrived.

Polled: a directory is listed again when its time of change is another; a file is asked for its extents (FIEMAP) when it
is new, while some of it has no place yet, and then ever more rarely until it is left alone. What comes and goes between
two polls is not seen. A file keeps its identity, the inode, when a store renames it, as with a finished block.

Looking must not disturb: nothing is written out (no FIEMAP_FLAG_SYNC: what is still to be allocated has no extent), no
access time is changed, and files of the input, once placed, are not opened again: the medium stays as cold as it was.
"""

import errno
import fcntl
import os
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.host.files import opened
from assay.model.layout import INPUT, Layout
from assay.model.probe import WatchedDisk
from assay.node.devices import sysfs_name
from assay.probe.disk import CLASS, SECTOR_BYTES
from assay.probe.trace.requests import Records

if TYPE_CHECKING:
    import numpy as np

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
    ranges: list[tuple[int, int]] = []
    delayed, start = False, 0
    # Without O_NOATIME our looking would write access times to the medium under test.
    with opened(path, os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOATIME) as descriptor:
        while True:
            buffer = bytearray(_HEADER.size + _AT_ONCE * _EXTENT.size)
            _HEADER.pack_into(buffer, 0, start, (1 << 64) - 1 - start, 0, 0, _AT_ONCE, 0)
            ask(descriptor, FS_IOC_FIEMAP, buffer)
            count, flags = _HEADER.unpack_from(buffer)[3], 0
            for offset in range(_HEADER.size, _HEADER.size + count * _EXTENT.size, _EXTENT.size):
                logical, physical, length, _, _, flags, *_ = _EXTENT.unpack_from(buffer, offset)
                start = logical + length
                if flags & _DELAYED:
                    delayed = True
                elif not flags & (_UNKNOWN | _INLINE):
                    is_next = ranges and ranges[-1][1] == physical  # neighbours become one
                    ranges.append((ranges.pop()[0] if is_next else physical, physical + length))
            if count < _AT_ONCE or flags & _LAST:
                return Placed(tuple(ranges), delayed)


RACY_NS = 100_000_000
"""One that changed so shortly before it was listed may have changed again within its time stamp's resolution."""
LONGEST_PAUSE = 8
"""Polls between two looks at a file that no longer changes."""
MOST_LOOKS = 400
"""Files that are asked for their extents in one poll; the others wait."""
STILL_THERE = (1 << 63) - 1


class Root(NamedTuple):
    """A directory and the role of the files below it; with `later`, that of files that appear after the staging.

    Only a directory that serves two roles, such as input and output, needs that: paths do not tell there what the jobs
    have written.
    """

    path: Path
    role: str
    later: str = ""


class Extent(NamedTuple):
    """Bytes of a device that belonged to a file, in a span of CLOCK_MONOTONIC.

    The span is the longest possible one: from the poll before the extent was first seen, to the one that missed it.
    """

    begin: int
    end: int
    since_ns: int
    until_ns: int
    role: str


class _File:
    """A file that is there, where it was last found."""

    def __init__(self, path: Path, role: str, known_ns: int) -> None:
        self.path, self.role = path, role
        self.before_ns = known_ns
        """Until then it did not have what is found next: the last look at it, or the last poll without it."""
        self.ranges: dict[tuple[int, int], int] = {}
        self.due, self.pause = 0, 1
        self.delayed = True
        self.looked = False

    @property
    def is_settled(self) -> bool:
        """Whether it stays as it is, once the input has been staged."""
        return self.role == INPUT and self.looked and not self.delayed


@dataclass
class _Directory:
    root: Root
    changed_ns: int = -1
    listed_ns: int = 0
    files: dict[str, int] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)


class FileMap:
    """All extents so far. Not for two threads at once."""

    def __init__(self, roots: Sequence[Root], ask: Callable[[Path], Placed] = placed) -> None:
        self._ask = ask
        self._directories = {str(root.path): _Directory(root) for root in roots}
        self._files: dict[int, _File] = {}
        self._past: list[Extent] = []
        self._polls = 0
        self._polled_ns: int | None = None
        self._staged = False
        self.unsupported: str | None = None

    def poll(self, now_ns: int, wall_ns: int) -> None:
        """Look what has changed. `now_ns` is of CLOCK_MONOTONIC, `wall_ns` of the clock that stamps directories."""
        self._polls += 1
        since_ns = self._polled_ns if self._polled_ns is not None else 0
        appeared: dict[int, tuple[Path, str]] = {}
        lost: set[int] = set()
        for name in list(self._directories):
            if name in self._directories:
                self._list(name, wall_ns, appeared, lost)
        for inode, (path, role) in appeared.items():
            if inode in self._files:
                self._files[inode].path = path
            else:
                self._files[inode] = _File(path, role, since_ns)
        for file in [self._files.pop(inode) for inode in lost - appeared.keys() if inode in self._files]:
            self._past += [Extent(*span, since, now_ns, file.role) for span, since in file.ranges.items()]
        open_files = (file for file in self._files.values() if not (self._staged and file.is_settled))
        due = [file for file in open_files if file.due <= self._polls]
        for file in sorted(due, key=lambda file: file.due)[:MOST_LOOKS]:
            if self.unsupported is not None:
                break
            try:
                self._take(file, self._ask(file.path), now_ns)
            except OSError as error:
                if error.errno in UNSUPPORTED:
                    self.unsupported = f"{file.path}: {error.strerror}"
                file.due = self._polls + 1  # gone, most likely: the next listing will tell
        self._polled_ns = now_ns

    def staged(self) -> None:
        """The input is there: what comes from now on has the role that its directory has later."""
        self._staged = True

    def extents(self) -> list[Extent]:
        """All that was seen, of files that are gone and that are there."""
        every = [*self._past]
        for file in self._files.values():
            every += [Extent(*span, since, STILL_THERE, file.role) for span, since in file.ranges.items()]
        return every

    def _list(self, name: str, wall_ns: int, appeared: dict[int, tuple[Path, str]], lost: set[int]) -> None:
        """List one directory if it may have changed, and those that are new in it."""
        directory = self._directories[name]
        try:
            changed_ns = Path(name).stat().st_mtime_ns
            if changed_ns == directory.changed_ns and directory.listed_ns - changed_ns > RACY_NS:
                return
            files, folders = _content(name)
        except OSError:  # gone: so are its files, unless they appear elsewhere
            changed_ns, files, folders = -1, {}, set()
            if directory.files or directory.folders:
                self._drop(name, lost)
        lost |= set(directory.files.values()) - set(files.values())
        for folder in directory.folders - folders:
            self._drop(f"{name}/{folder}", lost)
            del self._directories[f"{name}/{folder}"]
        for file, inode in files.items():
            if directory.files.get(file) != inode:
                appeared[inode] = (Path(name, file), self._role_now(directory.root))
        directory.changed_ns, directory.listed_ns = changed_ns, wall_ns
        fresh = folders - directory.folders
        directory.files, directory.folders = files, folders
        for folder in fresh:
            self._directories[f"{name}/{folder}"] = _Directory(directory.root)
            self._list(f"{name}/{folder}", wall_ns, appeared, lost)

    def _role_now(self, root: Root) -> str:
        return root.later if self._staged and root.later else root.role

    def _drop(self, name: str, lost: set[int]) -> None:
        """A directory below a root is no longer there, or no longer there by this name."""
        for other in [other for other in self._directories if other.startswith(f"{name}/")]:
            lost |= set(self._directories.pop(other).files.values())
        directory = self._directories[name]
        lost |= set(directory.files.values())
        directory.files, directory.folders = {}, set()

    def _take(self, file: _File, now: Placed, now_ns: int) -> None:
        """Keep what is new of a file's extents, and end what it no longer has."""
        fresh = {span: file.ranges.get(span, file.before_ns) for span in now.ranges}
        grown = {span[0]: since for span, since in file.ranges.items()}
        for span, since in fresh.items():
            if span not in file.ranges and span[0] in grown:
                fresh[span] = min(since, grown[span[0]])
        for span, since in file.ranges.items():
            if not any(begin <= span[0] and span[1] <= end for begin, end in fresh):
                self._past.append(Extent(*span, since, now_ns, file.role))
        changed = fresh.keys() != file.ranges.keys() or not file.looked
        file.ranges, file.looked, file.delayed, file.before_ns = fresh, True, now.delayed, now_ns
        file.pause = 1 if changed or now.delayed else min(2 * file.pause, LONGEST_PAUSE)
        file.due = self._polls + file.pause


def _content(name: str) -> tuple[dict[str, int], set[str]]:
    """A directory's files with their inodes, and its folders; from the listing alone, without a look at each."""
    files, folders = {}, set()
    with os.scandir(name) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.add(entry.name)
            elif entry.is_file(follow_symlinks=False):
                files[entry.name] = entry.inode()
    return files, folders


class BlockPlace(NamedTuple):
    """A range of a whole disk: the disk's number as tracepoints write it, first byte, byte after the last."""

    disk: int
    begin: int
    end: int


def place_of(device: Path, folder: Path = CLASS) -> BlockPlace:
    """Find the place of a partition or a whole disk. Raises OSError or ValueError where sysfs does not tell."""
    here = (folder / sysfs_name(device.resolve())).resolve()
    is_partition = (here / "partition").exists()
    begin = int((here / "start").read_text(encoding="utf-8")) * SECTOR_BYTES if is_partition else 0
    major, minor = (
        (here.parent if is_partition else here).joinpath("dev").read_text(encoding="utf-8").strip().split(":")
    )
    end = begin + int((here / "size").read_text(encoding="utf-8")) * SECTOR_BYTES
    return BlockPlace(int(major) << 20 | int(minor), begin, end)


def roots_of(layout: Layout, medium: str) -> tuple[Root, ...]:
    """The cluster's directories on a medium."""
    return tuple(
        Root(directory.path, directory.roles[0], later=directory.roles[1] if len(directory.roles) > 1 else "")
        for directory in layout.directories
        if directory.medium == medium
    )


def single_role(layout: Layout, medium: str) -> str | None:
    """The only role that a medium serves; None where it serves several."""
    roles = {role for directory in layout.directories if directory.medium == medium for role in directory.roles}
    return next(iter(roles)) if len(roles) == 1 else None


def unmapped(disk: WatchedDisk, roots: Sequence[Root]) -> str | None:
    """Why the places of a medium's files can't be told as places on its device; None when they can."""
    if disk.device is None:
        return "there is no block device of its own below it"
    if not roots:
        return "none of the cluster's directories lies on it"
    try:
        # btrfs, overlays and network file systems have numbers of no device, and places of their own making.
        if disk.place.stat().st_dev != disk.device.stat().st_rdev:
            return f"its file system does not lie on {disk.device} directly"
    except OSError as error:
        return str(error)
    return None


_LAYER = [("begin", "i8"), ("end", "i8"), ("since_ns", "i8"), ("until_ns", "i8"), ("role", "u1")]


class Attribution:
    """The places of files, ready to be asked for whose a request is.

    Space is used again: extents that overlap are laid into layers in which none do, as few as there can be, and each
    layer is searched for the requests that are still without a role.
    """

    def __init__(self, extents: Sequence[Extent], roles: Sequence[str], shift_bytes: int) -> None:
        """`roles` are those of extents, and last that of no file; `shift_bytes` is where the file system begins."""
        import numpy as np

        self._shift_bytes, self._none = shift_bytes, len(roles) - 1
        numbers = {role: number for number, role in enumerate(roles)}
        self._layers: list[np.ndarray[Any, Any]] = []
        # The newest use of a place comes first where the same bytes begin two extents.
        left = sorted(extents, key=lambda extent: (extent.begin, -extent.since_ns))
        while left:
            layer: list[tuple[int, ...]] = []
            rest: list[Extent] = []
            upto = -1
            for extent in left:
                if extent.begin >= upto:
                    layer.append((*extent[:4], numbers[extent.role]))
                    upto = extent.end
                else:
                    rest.append(extent)
            self._layers.append(np.array(layer, _LAYER))
            left = rest

    def roles(self, records: Records) -> "np.ndarray[Any, Any]":
        """An index into the roles for each request."""
        import numpy as np

        roles = np.full(len(records), self._none, np.uint8)
        offset = records["offset"].astype(np.int64) - self._shift_bytes
        arrived = records["arrived_ns"].astype(np.int64)
        left = np.arange(len(records))
        for layer in self._layers:
            where = np.searchsorted(layer["begin"], offset[left], side="right") - 1
            extent = layer[where]
            inside = (where >= 0) & (offset[left] < extent["end"])
            inside &= (extent["since_ns"] <= arrived[left]) & (arrived[left] <= extent["until_ns"])
            roles[left[inside]] = extent["role"][inside]
            left = left[~inside]
        return roles
