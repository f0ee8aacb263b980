"""Tables of lines, through Hadoop's client: a store's file system of its own shows them as folders of text files.

Lines are put by one client, as the properties of the cluster say. See `org.assay.rows` in `jobs`.
"""

import bz2
import gzip
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import IO, BinaryIO, ClassVar, Self, cast

from assay.host.processes import last_telling
from assay.model.errors import AssayError
from assay.model.fault import Kept
from assay.model.running_cluster import RunningCluster, counting_bytes, unnoticed, with_classpath
from assay.model.store import Store, below
from assay.store.hadoop_fs import PIECE_BYTES, SILENT, HadoopFs, watched

_ODD = re.compile(r"_|[^\w/-]|(?<=/)-", re.ASCII)
"""What parts of a table's path can't have, and what stands for it."""


def formats(package: str) -> Mapping[str, str]:
    """The properties by which jobs reach tables by their paths, whose formats are in a package of Java's."""
    return {
        "mapreduce.job.inputformat.class": f"{package}.LinesInputFormat",
        "mapreduce.job.outputformat.class": f"{package}.LinesOutputFormat",
    }


def table_path(path: str) -> str:
    """The path of the table that keeps a path's lines; no other path has the same (`/user/a.b` is `/user/a_2eb`)."""
    return _ODD.sub(lambda odd: "__" if odd[0] == "_" else "".join(f"_{byte:02x}" for byte in odd[0].encode()), path)


def _unpacked(stored: BinaryIO, suffix: str) -> IO[bytes]:
    """A file's content, unpacked as its suffix says."""
    if suffix == ".gz":
        return cast(IO[bytes], gzip.GzipFile(fileobj=stored))
    return cast(IO[bytes], bz2.BZ2File(stored)) if suffix == ".bz2" else stored


def _is_complaint(line: str) -> bool:
    """Whether a line says why; how a command is used comes after it."""
    return line.lstrip("-").startswith("put: ")


def _lines_of(source: Path, took: Callable[[int], None]) -> Iterator[bytes]:
    """Yield pieces of a file, unpacked as its suffix says, of which the last one ends a line.

    When whoever takes a piece asks for the next one, `took` is told how many bytes of the file it came from.
    """
    last, read_bytes = b"\n", 0
    with source.open("rb") as stored:
        file = _unpacked(stored, source.suffix)
        for piece in iter(partial(file.read, PIECE_BYTES), b""):
            yield piece
            last = piece[-1:]
            took(stored.tell() - read_bytes)
            read_bytes = stored.tell()
    if last != b"\n":
        yield b"\n"


class RowTables(Store):
    """See `model.store.Store`: what is put below a path is added to the table of that path.

    It remembers how many lines it has put; reading a table that has another number of rows raises AssayError. A store
    has its `scheme`, and may have a property `used` with the number of columns that jobs will read of the lines put.
    """

    streams = True
    scheme: ClassVar[str]
    used: ClassVar[str] = ""

    @classmethod
    def on(cls, cluster: RunningCluster) -> Self:
        """The tables of a cluster, whose jars Hadoop's client gets."""
        environment = with_classpath(cluster.environment, list(map(str, cluster.job_jars)))
        return cls(cluster.hadoop, environment, cluster.took, cluster.failure)

    def __init__(
        self, hadoop: Path, environment: Mapping[str, str],
        took: Callable[[int], None] = unnoticed, failure: Callable[[], str | None] = lambda: None,
        *, sees_files: bool = True,
    ) -> None:  # fmt: skip
        """`environment` has the class path of tables; `took` and `failure` are the cluster's.

        Without `sees_files` the store's own files can't be read, and a size is that of the lines.
        """
        self._hadoop, self._environment = hadoop, dict(environment)
        self._files = HadoopFs(hadoop, environment, failure)
        self._took, self._failure = took, failure
        self._sees_files = sees_files
        self._put_lines: Counter[str] = Counter()
        self._put_bytes: Counter[str] = Counter()
        self._columns: dict[str, int] = {}

    def location(self, path: str) -> str:
        """Return the path with the scheme by which Hadoop's clients know that it is a table's."""
        return f"{self.scheme}:{table_path(path)}"

    def expect(self, path: str, columns: int) -> None:
        """Remember it for clients that put lines there, where the store can keep these columns apart."""
        if self.used:
            self._columns[path] = columns

    def put(self, source: Path, path: str) -> None:
        """Add the lines of a file, which may be compressed as its suffix says."""
        self._write(path, _lines_of(source, self._took))

    def put_all(self, files: Iterable[tuple[Path, str]]) -> None:
        """Put those that follow each other into one table by one client, so that it is flushed and loaded once."""
        for _, some in groupby(files, key=lambda file: file[1].rpartition("/")[0]):
            group = iter(some)
            source, path = next(group)
            others = (_lines_of(other, self._took) for other, _ in group)
            self._write(path, chain(_lines_of(source, self._took), chain.from_iterable(others)))

    def write(self, path: str, pieces: Iterable[bytes]) -> None:
        """Add the lines of a stream, of which the last one needs no end."""
        self._write(path, counting_bytes(filter(None, pieces), self._took))

    def _write(self, path: str, pieces: Iterable[bytes]) -> None:
        """Give the pieces, none of which is empty, to a client's standard input."""
        used = [f"-D{self.used}={columns}" for expected, columns in self._columns.items() if below(path, expected)]
        table, _, name = path.rpartition("/")
        place = f"{self.location(table)}/{name}"
        command = [str(self._hadoop), "fs", *used, "-put", "-d", "-", place]
        lines, size, last = 0, 0, b"\n"
        with (
            tempfile.TemporaryFile() as errors,
            subprocess.Popen(command, stdin=subprocess.PIPE, stderr=errors, env=self._environment) as process,
            watched(process, self._failure),
        ):
            stream = cast(IO[bytes], process.stdin)
            try:
                for piece in pieces:
                    stream.write(piece)
                    lines, size, last = lines + piece.count(b"\n"), size + len(piece), piece[-1:]
                stream.close()
            except BrokenPipeError:  # the client says why
                with suppress(BrokenPipeError):
                    stream.close()  # what it was not given is dropped
            except BaseException:
                process.kill()
                raise
            if process.wait() != 0:
                errors.seek(0)
                said = last_telling(errors.read().decode(errors="replace"), _is_complaint, silent=SILENT)
                raise AssayError(f"lines could not be put into {place}: {said}")
        self._put_lines[table] += lines + (last != b"\n")
        self._put_bytes[table] += size

    def lines(self, path: str) -> Iterator[bytes]:
        """Yield all rows of the tables at and directly below a path, each table's in the order of its keys."""
        expected, count = self._count_put(path), 0
        for line in self._rows(path):
            count += 1
            yield line
        if expected and count != expected:
            raise AssayError(f"{self.location(path)} has {count} rows, and {expected} lines were put there")

    def taken(self, path: str) -> int | None:
        """Return how many lines were put; None where nothing was."""
        return self._count_put(path) or None

    def kept(self, path: str) -> Kept | None:
        """Count the rows that are there; None where nothing was put."""
        taken = self.taken(path)
        return Kept(taken=taken, missing=max(0, taken - sum(1 for _ in self._rows(path)))) if taken else None

    def put_bytes(self, path: str) -> int | None:
        """Return the bytes of the lines, uncompressed."""
        return sum(self._put_bytes[table] for table in self._tables_put(path)) or None

    def size_bytes(self, path: str) -> int:
        if self._sees_files:
            return self._files.size_bytes(self.location(path))
        return sum(len(line) + 1 for line in self._rows(path))

    def delete(self, path: str) -> None:
        for table in self._tables_put(path):
            del self._put_lines[table], self._put_bytes[table]
        self._files.delete(self.location(path), path)  # jobs keep files of theirs at a table's path

    def _rows(self, path: str) -> Iterator[bytes]:
        return self._files.lines_matching(f"{self.location(path)}/{{region-*,*/region-*}}")

    def _count_put(self, path: str) -> int:
        return sum(self._put_lines[table] for table in self._tables_put(path))

    def _tables_put(self, path: str) -> list[str]:
        return [table for table in self._put_lines if below(table, path)]
