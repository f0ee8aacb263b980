"""How inputs get into a store: by Hadoop's example programs, by streams, and by files in scratch directories.

Scratch directories lie where the system's temporary files do (`TMPDIR`, else `/tmp`). Each is locked as long as its
process lives; the next process that needs one removes those that a killed process has left.
"""

import fcntl
import os
import shutil
import stat
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TypeVar

from assay.host.processes import remove_directory
from assay.model.engine import Program
from assay.model.errors import AssayError
from assay.model.store import Store

PACKAGE = "org.apache.hadoop.examples"


def example(tool: str, arguments: tuple[str, ...], properties: Mapping[str, str], *jobs: str) -> Program:
    """Describe a call of an example program: its class below the examples' package, and its jobs' names."""
    return Program(
        name=tool.rpartition(".")[2], jar="hadoop-mapreduce-examples-*.jar", main_class=f"{PACKAGE}.{tool}",
        arguments=arguments, properties=properties, jobs=jobs,
    )  # fmt: skip


Item = TypeVar("Item")
_DEPTH = 8  # items that are made ahead
_END: Final = object()


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """Make some items before they are asked for, in the same order; raises what making them raises.

    It pays where making and using wait for different things: another process, or calls that let go of Python's lock.
    """
    source = iter(items)
    maker = ThreadPoolExecutor(1)
    try:
        coming = deque(maker.submit(next, source, _END) for _ in range(_DEPTH))
        while (item := coming.popleft().result()) is not _END:
            coming.append(maker.submit(next, source, _END))
            yield item  # type: ignore[misc]
    finally:
        maker.shutdown(cancel_futures=True)


PREFIX = "assay-scratch-"
_ROOM_BYTES = 64 << 20


@contextmanager
def scratch_directory(needed_bytes: int = 0) -> Iterator[Path]:
    """Make a fresh directory for this process alone. Raises AssayError where `needed_bytes` don't fit."""
    parent = Path(tempfile.gettempdir())
    for left_over in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            lock = os.open(left_over, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                status = os.fstat(lock)
                if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid():
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    remove_directory(left_over)
            finally:
                os.close(lock)
    free = shutil.disk_usage(parent).free
    if needed_bytes and needed_bytes + _ROOM_BYTES > free:
        raise AssayError(
            f"{needed_bytes} bytes are made in {parent} before they are staged, and {free} are free there; "
            "name another directory in TMPDIR"
        )
    directory, lock = _locked(parent)
    try:
        yield directory
    finally:
        # Removed while it is locked, so that nobody else does it too.
        try:
            remove_directory(directory)
        finally:
            os.close(lock)


def _locked(parent: Path) -> tuple[Path, int]:
    """Make and lock a directory; another process may take it for a left-over before it is locked."""
    while True:
        directory = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        with suppress(FileNotFoundError):
            lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if directory.exists():
                return directory, lock
            os.close(lock)


def put_pieces(store: Store, path: str, pieces: Iterable[bytes], size_bytes: int) -> None:
    """Put a file of about `size_bytes` as it is made, without a local one where the store takes streams."""
    if store.streams:
        store.write(path, ahead(pieces))
        return
    with scratch_directory(size_bytes) as scratch:
        file = scratch / "made"
        with file.open("wb") as out:
            out.writelines(pieces)
        store.put(file, path)
