"""Sort: Hadoop's own sort of random pairs, whose outputs are sorted file by file.

The format, by the documentation of org.apache.hadoop.io.SequenceFile (version 6):

    header:  `SEQ`, a byte with the version, key class and value class (each a length and UTF-8), a byte for compressed
             records, a byte for compressed blocks, pairs of metadata (their number in 4 bytes, then texts), 16 bytes of
             a sync mark
    record:  length of key and value in 4 bytes, length of the key in 4 bytes, key, value
    between: -1 in 4 bytes and the sync mark again, about every 100 kB

All numbers are big-endian. A length of a text is Hadoop's variable-length integer: below 128 a single byte.

Unchanged, from hadoop-mapreduce-examples (org.apache.hadoop.examples.RandomWriter and Sort); the hybrid storage study's
only workload (sections II.B and III: 40 files per data set, 11 or 21 reducers, replication 2).
"""

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import ClassVar, NamedTuple

from assay.model.doubt import Verdict, verdict
from assay.model.engine import Engine, LaunchReport
from assay.model.errors import AssayError, BadInputError
from assay.model.input import Dataset, Graph, GraphFacts
from assay.model.progress import Progress
from assay.model.record import TASK_COUNTERS
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.model.trial import Estimate, WorkloadSpec
from assay.model.workload import Variant
from assay.workload.base import BYTES_S, JOB_S, PACKAGE, MadeWorkload, example

VERSION = 6
SYNC_BYTES = 16
_SINGLE_BYTE = 128
_ESCAPE = -1


class Header(NamedTuple):
    """What a file says of itself."""

    key_class: str
    value_class: str
    sync: bytes


def read_pairs(pieces: Iterator[bytes], name: str, key_class: str, value_class: str) -> Iterator[tuple[bytes, bytes]]:
    """Keys and values as they are serialized, in the file's order. `name` is for messages.

    Raises AssayError for a file of another kind or class, a compressed one, and one that is damaged or ends early.
    """
    stream = _Stream(pieces, name)
    header = _read_header(stream, name)
    if (header.key_class, header.value_class) != (key_class, value_class):
        raise AssayError(f"{name} holds {header.key_class} and {header.value_class}, not {key_class} and {value_class}")
    while not stream.ended():
        length = stream.number()
        if length == _ESCAPE:
            if stream.take(SYNC_BYTES) != header.sync:
                raise AssayError(f"{name} is damaged: a sync mark is not the header's")
            continue
        key_length = stream.number()
        if not 0 <= key_length <= length:
            raise AssayError(f"{name} is damaged: a key of {key_length} bytes in a record of {length}")
        record = stream.take(length)
        yield record[:key_length], record[key_length:]


def _read_header(stream: "_Stream", name: str) -> Header:
    magic, version = stream.take(3), stream.take(1)[0]
    if (magic, version) != (b"SEQ", VERSION):
        raise AssayError(f"{name} is not a SequenceFile of version {VERSION}: it begins with {magic!r} and {version}")
    key_class, value_class = stream.text(), stream.text()
    if any(stream.take(2)):
        raise AssayError(
            f"{name} is compressed, which can't be read here; leave mapreduce.output.fileoutputformat.compress off"
        )
    for _ in range(stream.number()):
        stream.text()
        stream.text()
    return Header(key_class, value_class, stream.take(SYNC_BYTES))


class _Stream:
    """Pieces of bytes, taken by number."""

    def __init__(self, pieces: Iterator[bytes], name: str) -> None:
        self._pieces = pieces
        self._name = name
        self._bytes = b""
        self._at = 0

    def ended(self) -> bool:
        """There is no byte more."""
        while self._at == len(self._bytes):
            piece = next(self._pieces, None)
            if piece is None:
                return True
            self._bytes, self._at = piece, 0
        return False

    def take(self, count: int) -> bytes:
        """So many bytes. Raises AssayError when there are fewer."""
        end = self._at + count
        if end > len(self._bytes):
            self._fill(count)
            end = count
        taken = self._bytes[self._at : end]
        self._at = end
        return taken

    def number(self) -> int:
        """Of 4 bytes."""
        return int.from_bytes(self.take(4), "big", signed=True)

    def text(self) -> str:
        """A length and as many bytes of UTF-8."""
        length = self.take(1)[0]
        if length >= _SINGLE_BYTE:
            # The first byte tells how many follow: 0x8f is one, 0x8e two, ...
            length = int.from_bytes(self.take(0x90 - length), "big") if 0x8C <= length < 0x90 else 0
        return self.take(length).decode(errors="replace")

    def _fill(self, count: int) -> None:
        """Make `count` bytes start at the buffer's beginning."""
        parts = [self._bytes[self._at :]]
        held = len(parts[0])
        while held < count:
            piece = next(self._pieces, None)
            if piece is None:
                raise AssayError(f"{self._name} ends within a record")
            parts.append(piece)
            held += len(piece)
        self._bytes, self._at = b"".join(parts), 0


MIB = 1 << 20
_PREFIX = "mapreduce.randomwriter"
_WRITTEN = f"{PACKAGE}.RandomWriter$Counters"
_REDUCES, _REDUCES_PER_HOST = "mapreduce.job.reduces", "mapreduce.sort.reducesperhost"
_RANGES = "mapreduce.totalorderpartitioner.path"
_CLASS = "org.apache.hadoop.io.BytesWritable"
_LENGTH_BYTES = 4
# Keys drawn for the ranges of a total order: so often, so many, from so many splits, as Sort's documentation has it.
_SAMPLE = ("0.1", "10000", "10")
# A tenth of the pairs is drawn, and each range needs a few of them.
_PAIRS_PER_REDUCER = 100
_COPIES = 5
_CHECK_BYTES_S = 400e6
_SUM = (1 << 64) - 1


class Digest(NamedTuple):
    """What the pairs of some files are, whatever their order; and how often a key is below the one before it.

    `across` counts the files whose first key is below the last of the files before.
    """

    files: int = 0
    pairs: int = 0
    checksum: int = 0
    falls: int = 0
    across: int = 0


class Sort(MadeWorkload):
    """Pairs of random bytes, of random lengths, sorted by key within each reducer."""

    summary: ClassVar[str] = "sorts pairs of random bytes by key"
    stresses: ClassVar[str] = "everything: each byte is read, spilled, shuffled, merged and written once"
    source: ClassVar[str] = (
        "RandomWriter and Sort of hadoop-mapreduce-examples, unchanged; hybrid study, sections II.B and III"
    )
    result: ClassVar[str] = "the sorted pairs as SequenceFiles"
    verified: ClassVar[str] = (
        "one pass over input and output: as many pairs, the same sum of 64-bit BLAKE2 hashes, no key below the "
        "previous key of its file (`total-order`: of all files in order), as many files as reducers; the counters of "
        "RandomWriter, maps and reducers equal the pairs"
    )
    variants: ClassVar[Mapping[str, Variant]] = {
        "stock": Variant(
            about="keys go to reducers by their hash: each output file is sorted, all of them together are not",
            jobs=("sort",),
        ),
        "total-order": Variant(
            about="keys go to reducers by ranges from a sample of the input: the output files "
            "follow each other in order",
            jobs=("sort",),
        ),
    }
    defaults: ClassVar[Mapping[str, str]] = {
        "size": "1GB", "files": "4", "reducers": "", "min_key": "10", "max_key": "1000", "min_value": "0",
        "max_value": "20000",
    }  # fmt: skip
    option_help: ClassVar[Mapping[str, str]] = {
        "size": "keys and values together, without what a SequenceFile adds",
        "files": "number of input files and of the map tasks that write them",
        "reducers": "number of output files; by default the cluster's `mapreduce.job.reduces`",
        "min_key": "least bytes of a key",
        "max_key": "keys are shorter than this, or equal to `min_key` if both are the same",
        "min_value": "least bytes of a value",
        "max_value": "values are shorter than this, or equal to `min_value` if both are the same",
    }

    def __init__(self, spec: WorkloadSpec, base: str) -> None:
        """Raises BadInputError when an option is unknown or impossible."""
        super().__init__(spec, base)
        self._files = self.options.count("files")
        self._file_bytes = self.options.size_bytes("size") // self._files
        if not self._file_bytes:
            raise self.options.refusal("files", "at most the bytes of size")
        self._reducers = self._chosen_reducers()
        self._lengths = {
            f"{_PREFIX}.{end}{part}": length for part in ("key", "value") for end, length in self._ends(part)
        }
        if sum(self._largest(part) for part in ("key", "value")) == 0:
            raise BadInputError(f"workload {spec.name}: keys and values would all be empty; give a larger max_value")
        self._refuse_few_pairs()
        self._generated = -1

    @property
    def bytes(self) -> int:
        """Keys and values together; each file ends with the pair that reaches its share."""
        return self._files * self._file_bytes

    def estimate(self, facts: GraphFacts, staged_bytes: int) -> Estimate:
        """Input, output, and spills of both sides that may be merged once more; input and output are read again."""
        seconds = 2 * JOB_S + _COPIES * self.bytes / BYTES_S + 2 * self.bytes / _CHECK_BYTES_S
        return Estimate(disk_bytes=_COPIES * self.bytes, memory_bytes=64 * MIB, seconds=seconds)

    def stage(self, dataset: Dataset, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """RandomWriter, one file per map task; its bounds are always set, as it writes 10 GB per node without."""
        report = engine.run_program(example("RandomWriter", (self.input,), self._staging, "generate"), progress)
        counted = engine.history(report.jobs[0]).job.counters.get(_WRITTEN, {})
        if "RECORDS_WRITTEN" not in counted:
            raise AssayError(f"RandomWriter counted no records (counter group {_WRITTEN})")
        self._generated = counted["RECORDS_WRITTEN"]
        return report

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        """The sort. It would choose its reducers by the cluster's slots; here it gets those that are asked for."""
        ordered = self.spec.variant == "total-order"
        order = ("-totalOrder", *_SAMPLE) if ordered else ()
        reducers = ("-r", self._reducers) if self._reducers else ()
        # Sort passes over mapreduce.job.reduces; this property, which it does read, can refer to it.
        chosen = {} if self._reducers else {_REDUCES_PER_HOST: f"${{{_REDUCES}}}"}
        if ordered:
            # Sort looks for the ranges here, but tells the sampler so only after the job has copied its settings.
            chosen[_RANGES] = f"{self.input}/_sortPartitioning"
        arguments = (*reducers, *order, self.input, self.output)
        report = engine.run_program(example("Sort", arguments, {**chosen, **self.spec.hadoop}, "sort"), progress)
        job = engine.history(report.jobs[0]).job
        counted = job.counters.get(TASK_COUNTERS, {})
        result = {
            "pairs_made": self._generated,
            "pairs_read": counted.get("MAP_INPUT_RECORDS", -1),
            "pairs_written": counted.get("REDUCE_OUTPUT_RECORDS", -1),
            "reducers": job.reduces,
        }
        settings = {**self._staging, **report.settings, _REDUCES: str(job.reduces)}
        return report.model_copy(update={"result": result, "settings": settings})

    def verify(self, graph: Graph, store: Store, report: LaunchReport) -> tuple[Verdict, ...]:
        """One pass over the input and one over the output, pair by pair."""
        made, found = digest(store, self.input), digest(store, self.output)
        told = tuple(report.result.get(name) for name in ("pairs_made", "pairs_read", "pairs_written"))
        falls = found.falls + (found.across if self.spec.variant == "total-order" else 0)
        return (
            verdict(
                "every pair is there once",
                passed=(made.pairs, made.checksum) == (found.pairs, found.checksum),
                detail=f"{found.pairs} pairs with checksum {found.checksum:x}, "
                f"{made.pairs} with {made.checksum:x} staged",
            ),
            verdict("keys never fall", passed=falls == 0, detail=f"{falls} keys are below the one before"),
            verdict(
                "every reducer left a file",
                passed=found.files == report.result.get("reducers"),
                detail=f"{found.files} files of {report.result.get('reducers')} reducers",
            ),
            verdict(
                "counters equal the pairs",
                passed=set(told) == {made.pairs},
                detail=f"{told} made, read and written; {made.pairs} staged",
            ),
        )

    @property
    def _staging(self) -> dict[str, str]:
        return {
            f"{_PREFIX}.totalbytes": str(self.bytes), f"{_PREFIX}.bytespermap": str(self._file_bytes),
            "mapreduce.output.fileoutputformat.compress": "false",
            **{name: str(length) for name, length in self._lengths.items()},
        }  # fmt: skip

    def _chosen_reducers(self) -> str:
        """The option, or that of the workload's Hadoop properties; empty to take the cluster's."""
        given, wanted = self.options.text("reducers"), self.spec.hadoop.get(_REDUCES, "")
        if given:
            self.options.count("reducers")
        elif wanted and not wanted.isdecimal():
            raise BadInputError(f"workload {self.spec.name}: {_REDUCES} is {wanted!r}, and must be a whole number")
        if given and wanted and given != wanted:
            raise BadInputError(
                f"workload {self.spec.name}: reducers is {given} and {_REDUCES} is {wanted}; leave one of them out"
            )
        return given or wanted

    def _refuse_few_pairs(self) -> None:
        mean = max(1, sum(length / 2 for length in self._lengths.values()))
        needed = _PAIRS_PER_REDUCER * int(self._reducers or 1)
        if self.spec.variant == "total-order" and self.bytes / mean < needed:
            raise BadInputError(
                f"workload {self.spec.name}: a total order needs about {needed} pairs to sample, and size gives "
                f"{self.bytes / mean:.0f}; give a larger size or a smaller max_value"
            )

    def _ends(self, part: str) -> tuple[tuple[str, int], tuple[str, int]]:
        low, high = self.options.count(f"min_{part}", least=0), self.options.count(f"max_{part}", least=0)
        if low > high:
            raise self.options.refusal(f"min_{part}", f"at most max_{part}, which is {high}")
        return ("min", low), ("max", high)

    def _largest(self, part: str) -> int:
        """RandomWriter draws a length from `min` up to, but not with, `max`, unless they are the same."""
        (_, low), (_, high) = self._ends(part)
        return max(low, high - 1)


def digest(store: Store, path: str) -> Digest:
    """One pass over all files of a directory, in the order of their names. Raises AssayError for what isn't pairs."""
    files = pairs = checksum = falls = across = 0
    last: bytes | None = None
    for file in store.list_files(path):
        files += 1
        first = True
        for key, value in read_pairs(store.pieces(file.path), file.path, _CLASS, _CLASS):
            if int.from_bytes(key[:_LENGTH_BYTES], "big") != len(key) - _LENGTH_BYTES:
                raise AssayError(f"{file.path} is damaged: a key's length is not that of its bytes")
            # With the key's length before it, no other pair has the same bytes.
            checksum += int.from_bytes(blake2b(key + value, digest_size=8).digest(), "big")
            pairs += 1
            content = key[_LENGTH_BYTES:]
            if last is not None and content < last:
                across, falls = across + first, falls + (not first)
            last, first = content, False
    return Digest(files, pairs, checksum & _SUM, falls, across)


WORKLOADS.add("sort", Sort, place=14)
