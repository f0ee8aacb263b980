"""The values of a sequence file of Hadoop's, plain or compressed with zlib or gzip (Hadoop: SequenceFile.Reader).

After a head, which names the classes of keys and values, records follow one another. A length of -1 stands before a
mark of 16 bytes by which readers find the next record; in files that are compressed in blocks a block follows it.
"""

import io
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from assay.engine.packed_lines import Cut

MAGIC = b"SEQ"
_VERSION, _SYNC_BYTES, _ESCAPE = 6, 16, -1
_MOST_BYTES = 256 << 20
"""Of a record, or of a part of a block."""
_READABLE = frozenset(f"org.apache.hadoop.io.compress.{name}Codec" for name in ("Default", "Deflate", "Gzip"))
_EITHER_HEADER = 47
"""The argument by which zlib takes its own header or gzip's."""


class SequenceFile:
    """A sequence file whose values are read one by one.

    When all are read, `cut` says why they end too early, where they do.
    """

    def __init__(self, file: BinaryIO) -> None:
        """Read the head. Raises ValueError for a file that can't be read, in words that follow on `it`."""
        self._file, self.cut = file, ""
        try:
            if self._bytes(len(MAGIC)) != MAGIC or self._bytes(1)[0] != _VERSION:
                raise ValueError(f"is no sequence file of version {_VERSION}")
            self._text()
            self.value_class = self._text()
            self._packed, self._in_blocks = self._bytes(2)
            codec = self._text() if self._packed else ""
            for _ in range(2 * self._int()):
                self._text()
            self._sync = self._bytes(_SYNC_BYTES)
        except Cut:
            raise ValueError("ends within its head") from None
        if codec and codec not in _READABLE:
            raise ValueError(
                f"is compressed with {codec.rpartition('.')[2]}, which can't be read; write it with DefaultCodec"
            )

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._blocks() if self._in_blocks else self._records()
        except (Cut, zlib.error) as error:
            self.cut = str(error) if isinstance(error, Cut) else "its compressed content is damaged"

    def _records(self) -> Iterator[bytes]:
        while head := self._file.read(4):
            length = self._int(head)
            if length == _ESCAPE:
                self._check_sync()
                continue
            key_bytes = self._int()
            if not 0 <= key_bytes <= length <= _MOST_BYTES:
                raise Cut("the length of a record is damaged")
            value = self._bytes(length)[key_bytes:]
            yield _unpacked(value) if self._packed else value

    def _blocks(self) -> Iterator[bytes]:
        while head := self._file.read(4):
            if self._int(head) != _ESCAPE:
                raise Cut("the start of a block is damaged")
            self._check_sync()
            count = _vint(self._file)
            _, _, lengths, values = (_unpacked(self._bytes(_vint(self._file))) for _ in range(4))
            of_lengths, of_values = io.BytesIO(lengths), io.BytesIO(values)
            for _ in range(count):
                yield _whole(of_values, _vint(of_lengths))

    def _check_sync(self) -> None:
        if self._bytes(_SYNC_BYTES) != self._sync:
            raise Cut("a mark between its records is damaged")

    def _bytes(self, length: int) -> bytes:
        return _whole(self._file, length)

    def _int(self, head: bytes | None = None) -> int:
        return int.from_bytes(_whole(io.BytesIO(head), 4) if head else self._bytes(4), "big", signed=True)

    def _text(self) -> str:
        return self._bytes(_vint(self._file)).decode(errors="replace")


def _whole(file: BinaryIO, length: int) -> bytes:
    if not 0 <= length <= _MOST_BYTES:
        raise Cut("a length in it is damaged")
    content = file.read(length)
    if len(content) < length:
        raise Cut("it ends within a record")
    return content


def _vint(file: BinaryIO) -> int:
    """A number of one to nine bytes, of which the first tells how many follow (Hadoop: WritableUtils.readVLong)."""
    first = int.from_bytes(_whole(file, 1), "big", signed=True)
    if first >= -112:
        return first
    negative = first < -120
    value = int.from_bytes(_whole(file, -120 - first if negative else -112 - first), "big")
    return ~value if negative else value


def _unpacked(content: bytes) -> bytes:
    stream = zlib.decompressobj(_EITHER_HEADER)
    plain = stream.decompress(content, _MOST_BYTES)
    if not stream.eof:
        raise Cut("its compressed content is cut short")
    return plain
