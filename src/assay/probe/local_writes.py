"""What tasks wrote into the NodeManager's local directories: intermediates, by medium, counted as files are closed.

Tasks remove their spills themselves and the NodeManager the rest, so nothing is left to look at afterwards. The
kernel tells of each file closed after writing (inotify(7)); its size is read then. A task renames its only spill at
once, so a renamed file is followed. Only spills and `output` folders of applications count: localised jars are no
intermediates.
"""

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from inotify_simple import INotify, flags

from assay.model.platform import LocalDirectory
from assay.model.trial import Landed

_INTERMEDIATE = re.compile(r"/appcache/application_[0-9_]+/(output/|attempt_[^/]+_spill_[0-9]+\.out)")
_EVENTS = flags.CREATE | flags.CLOSE_WRITE | flags.MOVED_TO | flags.ONLYDIR
_PATIENCE_MS = 100


class LocalWrites:
    """Bytes written so far, by medium."""

    def __init__(self, directories: Sequence[LocalDirectory]) -> None:
        self._roots = {one.path: one.medium for one in directories}
        self._bytes: dict[str, int] = {}
        self._watched: dict[int, tuple[Path, str]] = {}
        # Files that have been counted, whatever their names are now: device, inode and time of the last write.
        self._counted: set[tuple[int, int, int]] = set()
        # Sizes of files that were there when their directory began to be watched: closed already, or still to be.
        self._found: dict[tuple[int, int], tuple[str, int]] = {}
        self._trouble: str | None = None

    @contextmanager
    def watching(self) -> Iterator["LocalWrites"]:
        """Count while the scope is open; the directories must be there."""
        done = threading.Event()
        with INotify() as kernel:
            for directory, medium in self._roots.items():
                self._watch(kernel, directory, medium)
            thread = threading.Thread(target=self._follow, args=(kernel, done), name="probe-local-writes", daemon=True)
            thread.start()
            try:
                yield self
            finally:
                done.set()
                thread.join()

    def landed(self) -> Landed:
        """Where intermediates were written."""
        written = dict(self._bytes)
        for medium, size in dict(self._found).values():
            written[medium] = written.get(medium, 0) + size
        total = sum(written.values())
        shares = {medium: size / total for medium, size in written.items() if total}
        return Landed(role="intermediate", when="run", bytes=total, shares=shares, trouble=self._trouble)

    def _follow(self, kernel: INotify, done: threading.Event) -> None:
        """Until done, and then what is still in the queue."""
        try:
            while True:
                last = done.is_set()
                for event in kernel.read(timeout=0 if last else _PATIENCE_MS):
                    if event.mask & flags.Q_OVERFLOW:
                        self._trouble = "the kernel's queue of notices ran over"
                    if event.wd in self._watched:
                        directory, medium = self._watched[event.wd]
                        self._take(kernel, event.mask, directory / event.name, medium)
                if last:
                    return
        except OSError as error:  # most likely fs.inotify.max_user_watches
            self._trouble = f"the local directories could no longer be watched: {error}"

    def _take(self, kernel: INotify, mask: int, path: Path, medium: str) -> None:
        if mask & flags.ISDIR:
            if mask & flags.CREATE:
                self._watch(kernel, path, medium)
        elif _INTERMEDIATE.search(str(path)) and mask & (flags.CLOSE_WRITE | flags.MOVED_TO):
            self._count(path, medium)

    def _count(self, path: Path, medium: str) -> None:
        """Add a file's size, once; one that was renamed before it was looked at counts under its new name."""
        with suppress(FileNotFoundError):
            status = path.stat()
            identity = (status.st_dev, status.st_ino, status.st_mtime_ns)
            self._found.pop(identity[:2], None)
            if identity not in self._counted:
                self._counted.add(identity)
                self._bytes[medium] = self._bytes.get(medium, 0) + status.st_size

    def _watch(self, kernel: INotify, directory: Path, medium: str) -> None:
        """Watch a directory and what is in it already; one that is gone again is of no interest."""
        with suppress(FileNotFoundError, NotADirectoryError):
            self._watched[kernel.add_watch(directory, _EVENTS)] = (directory, medium)
            for entry in directory.iterdir():
                if entry.is_dir():
                    self._watch(kernel, entry, medium)
                elif _INTERMEDIATE.search(str(entry)):
                    self._find(entry, medium)

    def _find(self, path: Path, medium: str) -> None:
        """A file that was there before its directory was watched: it is closed, or a notice of that will come."""
        with suppress(FileNotFoundError):
            status = path.stat()
            if (status.st_dev, status.st_ino, status.st_mtime_ns) not in self._counted:
                self._found[status.st_dev, status.st_ino] = (medium, status.st_size)
