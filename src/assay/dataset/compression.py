"""Opening a text file that may be compressed: judged by its first bytes, never by its name."""

import bz2
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, cast

from assay.files import refuse_irregular, why
from assay.model.errors import BadInputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Compression = Literal["none", "gzip", "bzip2"]

_SUFFIX: dict[Compression, str] = {"none": "", "gzip": ".gz", "bzip2": ".bz2"}
_HADOOP_SUFFIXES = (".gz", ".bz2", ".deflate", ".snappy", ".lz4", ".zst", ".lzo")
_PIECE_BYTES = 1 << 18
_REFUSED = {
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
    b"\x04\x22\x4d\x18": "lz4",
    b"7z\xbc\xaf": "7z",
}


def compression_of(path: Path) -> Compression:
    """How the file is compressed, from its magic bytes (RFC 1952 for gzip, `BZh` for bzip2).

    Raises:
        BadInputError: the file can't be opened, or is compressed in a way that isn't read here.
    """
    refuse_irregular(path)
    try:
        with path.open("rb") as stream:
            magic = stream.read(6)
    except OSError as error:
        raise BadInputError(f"{path}: can't be read ({why(error)}); check the dataset's `file`.") from error
    for signature, name in _REFUSED.items():
        if magic.startswith(signature):
            raise BadInputError(f"{path}: is compressed with {name}; unpack it, or compress it with gzip or bzip2.")
    if magic.startswith(b"\x1f\x8b"):
        return "gzip"
    return "bzip2" if magic.startswith(b"BZh") else "none"


@contextmanager
def uncompressed(path: Path) -> Iterator[BinaryIO]:
    """The file's bytes without compression, as a stream that is closed at the end.

    Raises:
        BadInputError: also when the compressed data turn out broken or cut off while they are read.
    """
    compression = compression_of(path)
    try:
        with _open(path, compression) as stream:
            yield stream
    except (EOFError, OSError, ValueError, zlib.error) as error:
        if compression == "none" or isinstance(error, BadInputError):
            raise
        raise BadInputError(
            f"{path}: the {compression} data are broken or cut off ({error}); fetch it again."
        ) from error


def _open(path: Path, compression: Compression) -> BinaryIO:
    if compression == "gzip":
        return cast("BinaryIO", gzip.open(path, "rb"))
    return cast("BinaryIO", BufferedReader(_Bzip2(path))) if compression == "bzip2" else path.open("rb")


class _Bzip2(RawIOBase):
    """What one or several bzip2 streams hold; what follows them and is none is refused, where bz2 leaves it out."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._stream = bz2.BZ2Decompressor()
        self._pending = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Raises EOFError where a stream is cut off, OSError for what is no bzip2."""
        room = memoryview(buffer)
        while True:
            if self._stream.eof:
                self._pending = self._stream.unused_data or self._file.read(_PIECE_BYTES)
                if not self._pending:
                    return 0
                self._stream = bz2.BZ2Decompressor()
            elif self._stream.needs_input and not self._pending:
                self._pending = self._file.read(_PIECE_BYTES)
                if not self._pending:
                    raise EOFError("they end within a stream")
            piece, self._pending = self._stream.decompress(self._pending, len(room)), b""
            if piece:
                room[: len(piece)] = piece
                return len(piece)

    def close(self) -> None:
        self._file.close()
        super().close()


def store_name(path: Path, compression: Compression) -> str:
    """The name to give the file in a store, so that Hadoop's codec factory sees its true compression.

    Source: `org.apache.hadoop.io.compress.CompressionCodecFactory`, which goes by the suffix alone.
    """
    suffix = _SUFFIX[compression]
    if suffix:
        return path.name if path.name.endswith(suffix) else path.name + suffix
    return path.name + ".txt" if path.name.endswith(_HADOOP_SUFFIXES) else path.name
