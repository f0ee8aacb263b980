"""What jobs wrote into files that are gone when they have ended: by role and medium, counted as files are closed.

Tasks remove their spills themselves and daemons the rest, so nothing is left to look at afterwards. The kernel tells of
each file closed after writing (inotify(7)); its size is read then. A task renames its only spill at once, so a renamed
file is followed. Which files count, the role of a directory says (`passing`).
"""

import re
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.layout import Directory
from assay.model.probe import Evaluated, ProbeKind, Scene
from assay.model.record import Part
from assay.model.registry import PROBES
from assay.model.trial import Landed

if TYPE_CHECKING:
    from inotify_simple import INotify

_PATIENCE_MS = 100
_PATIENCE_S = 10.0


class LocalWrites(Evaluated):
    """Where the bytes of passing files were written while the jobs ran."""

    name = "local-writes"

    def __init__(self) -> None:
        self._kernel: INotify | None = None
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._wanted, self._caught_up = threading.Event(), threading.Event()
        self._bytes: Counter[tuple[str, str]] = Counter()
        self._before: Counter[tuple[str, str]] = Counter()
        self._roots: Sequence[Directory] = ()
        self._watched: dict[int, tuple[Path, Directory]] = {}
        # Files that have been counted, whatever their names are now: device, inode and time of the last write.
        self._counted: set[tuple[int, int, int]] = set()
        # Roles, media and sizes of files that were there before their folder was watched: closed, or still to be.
        self._sizes_before: dict[tuple[int, int], tuple[tuple[str, str], int]] = {}
        self._trouble: str | None = None

    def attach(self, scene: Scene) -> None:
        """Watch the directories of passing files, which must be there. Raises OSError where no watches are left."""
        self._roots = [directory for directory in scene.layout.directories if directory.passing]
        if not self._roots:
            return
        from inotify_simple import INotify

        self._kernel = INotify()
        for directory in self._roots:
            self._watch(self._kernel, directory.path, directory)
        self._thread = threading.Thread(
            target=self._follow, args=(self._kernel,), name="probe-local-writes", daemon=True
        )
        self._thread.start()

    def mark(self, part: Part | None) -> Sequence[Landed]:
        """Where passing files were written while the jobs ran; what other parts wrote is of no interest."""
        if self._thread is None or part not in ("staging", "run"):
            return ()
        self._caught_up.clear()
        self._wanted.set()
        if self._thread.is_alive() and not self._caught_up.wait(_PATIENCE_S):
            self._trouble = "the kernel's notices could not be read in time"
        written = Counter(self._bytes)
        for place, size in dict(self._sizes_before).values():
            written[place] += size
        before, self._before = self._before, written
        if part == "staging":
            return ()
        roles = dict.fromkeys(directory.roles[0] for directory in self._roots)
        return [self._landed(role, written - before) for role in roles]

    def _landed(self, role: str, written: Counter[tuple[str, str]]) -> Landed:
        sizes = {medium: size for (of_role, medium), size in written.items() if of_role == role}
        total = sum(sizes.values())
        shares = {medium: size / total for medium, size in sizes.items()}
        return Landed(role=role, when="run", bytes=total, shares=shares, trouble=self._trouble)

    def close(self) -> None:
        """Watch no more."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_PATIENCE_S)
        if self._kernel is not None:
            self._kernel.close()

    def _follow(self, kernel: "INotify") -> None:
        """Until stopped. When it is wanted, all that was in the queue by then is read."""
        from inotify_simple import flags

        try:
            while not self._stop.is_set():
                is_marked = self._wanted.is_set()
                for event in kernel.read(timeout=0 if is_marked else _PATIENCE_MS):
                    if event.mask & flags.Q_OVERFLOW:
                        self._trouble = "the kernel's queue of notices ran over"
                    if event.wd in self._watched:
                        folder, root = self._watched[event.wd]
                        path = folder / event.name
                        if event.mask & flags.ISDIR:
                            if event.mask & flags.CREATE:
                                self._watch(kernel, path, root)
                        elif event.mask & (flags.CLOSE_WRITE | flags.MOVED_TO) and counts(path, root):
                            self._count(path, root)
                if is_marked:
                    self._wanted.clear()
                    self._caught_up.set()
        except OSError as error:  # most likely fs.inotify.max_user_watches
            self._trouble = f"the local directories could no longer be watched: {error}"
            self._caught_up.set()

    def _count(self, path: Path, root: Directory) -> None:
        """Add a file's size, once; one that was renamed before it was looked at counts under its new name."""
        with suppress(FileNotFoundError):
            status = path.stat()
            identity = (status.st_dev, status.st_ino, status.st_mtime_ns)
            self._sizes_before.pop(identity[:2], None)
            if identity not in self._counted:
                self._counted.add(identity)
                self._bytes[root.roles[0], root.medium] += status.st_size

    def _watch(self, kernel: "INotify", folder: Path, root: Directory) -> None:
        """Watch a directory and what is in it already; one that is gone again is of no interest."""
        from inotify_simple import flags

        with suppress(FileNotFoundError, NotADirectoryError):
            events = flags.CREATE | flags.CLOSE_WRITE | flags.MOVED_TO | flags.ONLYDIR
            self._watched[kernel.add_watch(folder, events)] = (folder, root)
            for entry in folder.iterdir():
                if entry.is_dir():
                    self._watch(kernel, entry, root)
                elif counts(entry, root):
                    # Its file is closed, or a notice of that will come.
                    place = root.roles[0], root.medium
                    with suppress(FileNotFoundError):
                        status = entry.stat()
                        if (status.st_dev, status.st_ino, status.st_mtime_ns) not in self._counted:
                            self._sizes_before[status.st_dev, status.st_ino] = (place, status.st_size)


def counts(path: Path, root: Directory) -> bool:
    """Whether a file below a directory is one of its passing files."""
    return re.search(root.passing, str(path)) is not None


PROBES.add(LocalWrites.name, ProbeKind(lambda _: LocalWrites(), needed=True), place=21)
