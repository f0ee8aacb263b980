"""Pairs of random bytes as Hadoop's RandomWriter writes them: SequenceFiles, and the reader for their verification.

The format, by the documentation of org.apache.hadoop.io.SequenceFile (version 6):

    header:  `SEQ`, a byte with the version, key class and value class (each a length and UTF-8), a byte for compressed
             records, a byte for compressed blocks, pairs of metadata (their number in 4 bytes, then texts), 16 bytes of
             a sync mark
    record:  length of key and value in 4 bytes, length of the key in 4 bytes, key, value
    between: -1 in 4 bytes and the sync mark again, about every 100 kB

All numbers are big-endian. A length of a text is Hadoop's variable-length integer: below 128 a single byte.
"""

from collections.abc import Iterator, Mapping

from assay.input.files import stream_of
from assay.input.staging import PACKAGE, example
from assay.model.dataset import Amounts
from assay.model.engine import Engine, LaunchReport
from assay.model.errors import AssayError
from assay.model.input import Input
from assay.model.progress import Progress
from assay.model.store import Store

VERSION = 6
SYNC_BYTES = 16
_SINGLE_BYTE = 128
_ESCAPE = -1

MOST_RECORD_BYTES = 1 << 26


def read_pairs(pieces: Iterator[bytes], name: str, key_class: str, value_class: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield serialized keys and values in the file's order. `name` is for messages.

    Raises AssayError for a file of another kind or class, a compressed one, and one that is damaged or ends early.
    """
    stream = _Stream(pieces, name)
    magic, version = stream.take(3), stream.take(1)[0]
    if (magic, version) != (b"SEQ", VERSION):
        raise AssayError(f"{name} is not a SequenceFile of version {VERSION}: it begins with {magic!r} and {version}")
    classes = stream.text(), stream.text()
    if any(stream.take(2)):
        raise AssayError(
            f"{name} is compressed, which can't be read here; leave mapreduce.output.fileoutputformat.compress off"
        )
    for _ in range(2 * stream.number()):
        stream.text()
    sync = stream.take(SYNC_BYTES)
    if classes != (key_class, value_class):
        raise AssayError(f"{name} holds {' and '.join(classes)}, not {key_class} and {value_class}")
    while not stream.ended():
        length = stream.number()
        if length == _ESCAPE:
            if stream.take(SYNC_BYTES) != sync:
                raise AssayError(f"{name} is damaged: a sync mark is not the header's")
            continue
        key_length = stream.number()
        if not 0 <= key_length <= length:
            raise AssayError(f"{name} is damaged: a key of {key_length} bytes in a record of {length}")
        record = stream.take(length)
        yield record[:key_length], record[key_length:]


class _Stream:
    """A stream of pieces of bytes, from which a number of bytes can be taken."""

    def __init__(self, pieces: Iterator[bytes], name: str) -> None:
        self._stream = stream_of(pieces)
        self._name = name

    def ended(self) -> bool:
        return not self._stream.peek(1)

    def take(self, count: int) -> bytes:
        """Take so many bytes. Raises AssayError where there are fewer, and where no sound file has so many at once."""
        if not 0 <= count <= MOST_RECORD_BYTES:
            raise AssayError(f"{self._name} is damaged: a record or a name of {count:,} bytes")
        taken = self._stream.read(count)
        if len(taken) < count:
            raise AssayError(f"{self._name} ends within a record")
        return taken

    def number(self) -> int:
        return int.from_bytes(self.take(4), "big", signed=True)

    def text(self) -> str:
        """Take a length and as many bytes of UTF-8."""
        length = self.take(1)[0]
        if length >= _SINGLE_BYTE:
            # The first byte tells how many follow: 0x8f is one, 0x8e two, ...
            length = int.from_bytes(self.take(0x90 - length), "big") if 0x8C <= length < 0x90 else 0
        return self.take(length).decode(errors="replace")


_WRITTEN = f"{PACKAGE}.RandomWriter$Counters"


class RandomPairs(Input):
    """Pairs of random bytes, one file per map task; each file ends with the pair that reaches its share.

    `lengths` are RandomWriter's properties for the lengths of keys and values, without their common beginning.
    """

    def __init__(self, files: int, file_bytes: int, lengths: Mapping[str, int]) -> None:
        self._bytes = files * file_bytes
        self.count = -1
        """How many pairs were written, once they are staged."""
        prefix = "mapreduce.randomwriter"
        # Both bounds are always set, as it writes 10 GB per node without.
        self.properties = {
            f"{prefix}.totalbytes": str(self._bytes), f"{prefix}.bytespermap": str(file_bytes),
            "mapreduce.output.fileoutputformat.compress": "false",
            **{f"{prefix}.{name}": str(length) for name, length in lengths.items()},
        }  # fmt: skip

    def size(self) -> Amounts:
        return Amounts(bytes=self._bytes)

    def stage(self, path: str, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        report = engine.run_program(example("RandomWriter", (path,), self.properties, "generate"), progress)
        counted = engine.history(report.jobs[0]).job.counters.get(_WRITTEN, {})
        if "RECORDS_WRITTEN" not in counted:
            raise AssayError(f"RandomWriter counted no records (counter group {_WRITTEN})")
        self.count = counted["RECORDS_WRITTEN"]
        return report
