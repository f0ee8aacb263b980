"""What tasks wrote into the NodeManager's local directories: intermediates, by medium, counted as files are closed.

Tasks remove their spills themselves and the NodeManager the rest, so nothing is left to look at afterwards. The
kernel tells of each file closed after writing (inotify(7)); its size is read then. Only `output` folders of
applications count: localised jars and scripts are no intermediates.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from watchdog.events import FileClosedEvent, FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from assay.model.cluster import LocalDirectory
from assay.model.placement import Landed

_INTERMEDIATE = re.compile(r"/appcache/application_[0-9_]+/output/")


class LocalWrites(FileSystemEventHandler):
    """Bytes written so far, by medium."""

    def __init__(self, directories: Sequence[LocalDirectory]) -> None:
        self._media = {str(one.path.resolve()): one.medium for one in directories}
        self._bytes: dict[str, int] = {}

    @contextmanager
    def watching(self) -> Iterator["LocalWrites"]:
        """Count while the scope is open; the directories must be there."""
        observer = Observer()
        for directory in self._media:
            observer.schedule(self, directory, recursive=True, event_filter=[FileClosedEvent])
        observer.start()
        try:
            yield self
        finally:
            observer.stop()
            observer.join()

    def on_closed(self, event: FileSystemEvent) -> None:
        """One file was closed after writing; called by the observer's one thread."""
        path = str(event.src_path)
        if not _INTERMEDIATE.search(path):
            return
        medium = next(medium for directory, medium in self._media.items() if path.startswith(f"{directory}/"))
        try:
            self._bytes[medium] = self._bytes.get(medium, 0) + Path(path).stat().st_size
        except FileNotFoundError:
            return  # removed at once: the comparison with the jobs' own counters shows if that was much

    def landed(self) -> Landed:
        """Where intermediates were written."""
        total = sum(self._bytes.values())
        shares = {medium: size / total for medium, size in self._bytes.items() if total}
        return Landed(role="intermediate", when="run", bytes=total, shares=shares)
