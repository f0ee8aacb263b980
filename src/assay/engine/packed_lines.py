"""The lines of a file, which may be compressed: with zstd, LZ4, Snappy or gzip, as its first bytes tell.

Spark compresses event logs with zstd, or with lz4-java and snappy-java, whose forms are their own (Spark:
CompressionCodec). A file that ends too early gives all lines until there.
"""

import gzip
import json
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

from pydantic_core import from_json

from assay.input.files import stream_of

_ZSTD, _LZ4, _SNAPPY, _GZIP, _LZF = b"\x28\xb5\x2f\xfd", b"LZ4Block", b"\x82SNAPPY\0", b"\x1f\x8b", b"ZV"
_LZ4_FRAME = b"\x04\x22\x4d\x18"
"""What the command `lz4` writes."""
_SNAPPY_HEAD_BYTES = 16
"""The mark and two numbers of the form's version (snappy-java: SnappyCodec)."""
_LZ4_HEAD = struct.Struct("<8sBIII")
"""The mark, method and level, and of the block the compressed and plain lengths and the checksum (lz4-java:
LZ4BlockOutputStream)."""
_LZ4_PLAIN = 0x10
_MOST_BLOCK_BYTES = 64 << 20
_PIECE_BYTES = 1 << 12
"""Pieces in which zstd is decompressed: of a file that was cut short no more is lost."""
_LONGEST_LINE = 64 << 20
_HEAD_BYTES = 1 << 16


class Cut(Exception):  # noqa: N818 - not what went wrong but where a file ends
    """A file ends in the middle, or is damaged from here on; it says how."""


_DAMAGED = (Cut, EOFError, OSError, zlib.error)
"""What reading compressed content raises where that is damaged or ends too early."""


def head_of(file: Path) -> bytes:
    """What a file begins with, decompressed: some thousand bytes, or fewer. Raises OSError, and ValueError for lzf."""
    with file.open("rb") as plain:
        pieces = _unpacked(plain, plain.peek(len(_LZ4)))
        if pieces is None:
            return plain.read(_HEAD_BYTES)
        head = b""
        try:
            for piece in pieces:
                head += piece
                if len(head) >= _HEAD_BYTES:
                    break
        except _DAMAGED:
            pass
        return head


class Lines:
    """The lines of a file, decompressed.

    `head` is what a plain file begins with. When all lines are read, `cut` says how the file ends too early, where it
    does: a last line that has no end and is no JSON is left out. `skipped` counts lines of over 64 MiB.
    """

    def __init__(self, file: Any) -> None:
        """Raises OSError, and ValueError for what is compressed with lzf."""
        self.cut = ""
        self.skipped = 0
        start = file.peek(len(_LZ4))
        self.empty = not start
        pieces = _unpacked(file, start)
        self.head: bytes = file.peek(_HEAD_BYTES) if pieces is None else b""
        self._content: Any = file if pieces is None else stream_of(self._until_cut(pieces))

    def __iter__(self) -> Iterator[bytes]:
        while line := self._content.readline(_LONGEST_LINE):
            if line.endswith(b"\n"):
                yield line
            elif len(line) < _LONGEST_LINE:
                if _is_whole(line):
                    yield line
                else:
                    self.cut = self.cut or "its last line has no end"
            else:
                self.skipped += 1
                while (line := self._content.readline(_LONGEST_LINE)) and not line.endswith(b"\n"):
                    pass

    def _until_cut(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        try:
            yield from pieces
        except _DAMAGED as error:
            self.cut = str(error) or "its end is missing"


def json_of(line: bytes) -> Any:
    """What a line of JSON says; what is no UTF-8 in it, and halves of pairs in UTF-16, are replaced as in any text.

    Raises ValueError for what is no JSON.
    """
    try:
        return from_json(line)
    except ValueError:
        # Names of jobs come from programs and shells with encodings of their own.
        repaired = json.loads(line.decode(errors="replace"))
        return from_json(json.dumps(repaired, ensure_ascii=False).encode(errors="replace"))


def _is_whole(line: bytes) -> bool:
    """Whether the last line of a file is JSON, though nothing ends it: who copies a log may drop its last byte."""
    try:
        json_of(line)
    except ValueError:
        return False
    return True


def _unpacked(file: BinaryIO, start: bytes) -> Iterator[bytes] | None:
    """What a file holds, decompressed; None where it is plain. Raises ValueError for lzf."""
    for mark, unpack in _UNPACK.items():
        if start.startswith(mark):
            return unpack(file)
    if start.startswith(_LZF):
        raise ValueError(
            "is compressed with lzf, which can't be read; let Spark write logs with spark.eventLog.compression.codec "
            "zstd, lz4 or snappy"
        )
    return None


def _zstd(file: BinaryIO) -> Iterator[bytes]:
    import pyarrow as pa

    stream = pa.CompressedInputStream(file, "zstd")
    yield from iter(lambda: stream.read(_PIECE_BYTES), b"")


def _lz4_frame(file: BinaryIO) -> Iterator[bytes]:
    import pyarrow as pa

    stream = pa.CompressedInputStream(file, "lz4")
    yield from iter(lambda: stream.read(_PIECE_BYTES), b"")


def _gzip(file: BinaryIO) -> Iterator[bytes]:
    stream = gzip.GzipFile(fileobj=file)
    yield from iter(lambda: stream.read(_PIECE_BYTES), b"")


def _lz4(file: BinaryIO) -> Iterator[bytes]:
    import pyarrow as pa

    while head := file.read(_LZ4_HEAD.size):
        if len(head) < _LZ4_HEAD.size:
            raise Cut("it ends within a block")
        mark, method, packed_bytes, plain_bytes, _ = _LZ4_HEAD.unpack(head)
        if mark != _LZ4 or max(packed_bytes, plain_bytes) > _MOST_BLOCK_BYTES:
            raise Cut("its compressed content is damaged")
        block = _whole(file, packed_bytes)
        if plain_bytes:
            yield block if method & 0xF0 == _LZ4_PLAIN else bytes(pa.decompress(block, plain_bytes, "lz4_raw"))


def _snappy(file: BinaryIO) -> Iterator[bytes]:
    import pyarrow as pa

    _whole(file, _SNAPPY_HEAD_BYTES)
    while head := file.read(4):
        if head == _SNAPPY[:4]:  # another stream begins
            _whole(file, _SNAPPY_HEAD_BYTES - 4)
            continue
        packed_bytes = int.from_bytes(head, "big")
        if len(head) < 4 or packed_bytes > _MOST_BLOCK_BYTES:
            raise Cut("its compressed content is cut short or damaged")
        block = _whole(file, packed_bytes)
        yield bytes(pa.decompress(block, _plain_bytes(block), "snappy"))


def _plain_bytes(block: bytes) -> int:
    """How long a block of Snappy is when it is decompressed: a number of seven bits in a byte, the lowest first."""
    length = 0
    for place, byte in enumerate(block[:5]):
        length |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            break
    if length > _MOST_BLOCK_BYTES:
        raise Cut("its compressed content is damaged")
    return length


def _whole(file: BinaryIO, length: int) -> bytes:
    content = file.read(length)
    if len(content) < length:
        raise Cut("it ends within a block")
    return content


_UNPACK: Mapping[bytes, Callable[[BinaryIO], Iterator[bytes]]] = {
    _ZSTD: _zstd, _LZ4: _lz4, _LZ4_FRAME: _lz4_frame, _SNAPPY: _snappy, _GZIP: _gzip,
}  # fmt: skip


def file_of(pieces: Iterable[bytes]) -> BinaryIO:
    """Pieces of bytes as a file."""
    return cast(BinaryIO, stream_of(iter(pieces)))
