"""Local directories for what is made or fetched on the way: gone when they are done with, also after a kill.

They lie where the system's temporary files do (`TMPDIR`, else `/tmp`). A directory is locked as long as its process
lives, so that one whose process was killed can be told, and is removed by the next that needs such a directory.
"""

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from assay.model.errors import AssayError
from assay.removal import remove_directory

PREFIX = "assay-scratch-"
_ROOM_BYTES = 64 << 20


@contextmanager
def scratch_directory(wanted_bytes: int = 0) -> Iterator[Path]:
    """A fresh directory of this process alone. Raises AssayError where there isn't room for `wanted_bytes`."""
    parent = Path(tempfile.gettempdir())
    _remove_left_overs(parent)
    free = shutil.disk_usage(parent).free
    if wanted_bytes and wanted_bytes + _ROOM_BYTES > free:
        raise AssayError(
            f"{wanted_bytes} bytes are made in {parent} before they are staged, and {free} are free there; "
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
    """A fresh directory with its lock's descriptor; another process may take it for a left-over before it is locked."""
    while True:
        directory = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        with suppress(FileNotFoundError):
            lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if directory.exists():
                return directory, lock
            os.close(lock)


def _remove_left_overs(parent: Path) -> None:
    """Remove the directories of this user that no living process has locked."""
    for directory in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                status = os.fstat(lock)
                if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid():
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    remove_directory(directory)
            finally:
                os.close(lock)
