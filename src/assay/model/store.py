"""Stores: the storage subsystem that holds the data set."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol


class Store(Protocol):
    """A storage subsystem as a client sees it. Paths are absolute within the store."""

    def put(self, source: Path, path: str) -> None:
        """Copy a local file into the store; parents are made. Raises AssayError when it can't be done."""
        ...

    def lines(self, path: str) -> Iterator[bytes]:
        """The lines of all files of a directory (or of one file), without their ends, in no promised order of files."""
        ...

    def size_bytes(self, path: str) -> int:
        """Bytes of all files under a path, one replica each; 0 when it is not there."""
        ...

    def delete(self, path: str) -> None:
        """Remove a path with all below it; no error when it is not there."""
        ...
