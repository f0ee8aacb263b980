"""Any files as input: of this machine, or in the store already; and what a store gives in pieces as a stream."""

import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.model.dataset import Amounts
from assay.model.errors import AssayError
from assay.model.input import Input
from assay.model.progress import Progress
from assay.model.store import Store

# So few that they stay in the processor's cache: a larger buffer is three times slower.
BUFFER_BYTES = 1 << 16


def stream_of(pieces: Iterator[bytes]) -> io.BufferedReader:
    """Make a readable file of pieces of bytes, some of which may be empty."""
    return io.BufferedReader(_Pieces(pieces), BUFFER_BYTES)


class _Pieces(io.RawIOBase):
    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        if not self._rest:
            # An empty piece is not the end.
            self._rest = memoryview(next((piece for piece in self._pieces if piece), b""))
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


class LocalFiles(Input):
    """Files of this machine with the names that they get in the store; none where the workload writes all by itself.

    `size_bytes` are those of the files, or of what the workload writes.
    """

    def __init__(self, files: Sequence[tuple[Path, str]], size_bytes: int) -> None:
        self._files, self._bytes = files, size_bytes

    def size(self) -> Amounts:
        return Amounts(bytes=self._bytes)

    def put(self, path: str, store: Store, progress: Progress) -> None:
        store.put_all((file, f"{path}/{name}") for file, name in self._files)


class StoredFiles(Input):
    """What lies in the store already, below a path of it; how much that is isn't known before."""

    def __init__(self, path: str) -> None:
        self._path = path

    def put(self, path: str, store: Store, progress: Progress) -> None:
        if store.size_bytes(self._path) == 0:
            raise AssayError(f"the input {self._path} is not there, or empty; name a path of the cluster's store")
