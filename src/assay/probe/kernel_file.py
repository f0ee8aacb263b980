"""Files of /proc and /sys that stay open: opening one twice a second for each process would cost most of a sample."""

import os
from contextlib import suppress
from pathlib import Path


class KernelFile:
    """A file that the kernel writes anew for each reading from its beginning. Raises OSError when it can't be opened.

    It stays that of the process or device that it was opened for, whoever has the number or name later.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor: int | None = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def read(self, most_bytes: int = 8192) -> str:
        """As it is now; the kernel gives about a page at most. Raises OSError, also once it has been closed."""
        if self._descriptor is None:
            raise OSError("it has been closed")
        return os.pread(self._descriptor, most_bytes, 0).decode(errors="replace")

    def close(self) -> None:
        """Close it; again does nothing."""
        if self._descriptor is not None:
            with suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = None
