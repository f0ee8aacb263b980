"""Stores: the storage subsystem that holds the data set."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from assay.model.base import Frozen
from assay.model.fault import Kept, Redundancy
from assay.model.layout import Directory, Layout
from assay.model.record import Promise
from assay.model.running_cluster import RunningCluster
from assay.model.trial import Landed

FILES = "files"
"""What a store may hold: files, which Hadoop's clients reach by their paths. Such a store has `Files` too."""
TABLES = "tables"
"""What a store may hold: tables of lines, which jobs reach by input and output formats of the store's own."""

_STORED = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")


def literal(path: str) -> str:
    """A path, perhaps with a store's address before it, as the pattern of Hadoop's client that matches it alone."""
    address = re.match(r"(?:\w[\w.+-]*:(?://[^/]*)?)?", path)
    begin = address.end() if address else 0
    return path[:begin] + re.sub(r"[\\*?\[\]{}]", r"\\\g<0>", path[begin:])


def names_store(path: str) -> bool:
    """Whether a path says which store it is in (`SCHEME:/logs`), instead of being one of this machine."""
    return _STORED.match(path) is not None


def below(path: str, folder: str) -> bool:
    """Whether a path in a store is another one, or lies below it."""
    return f"{path}/".startswith(f"{folder}/")


def raw(path: str) -> str:
    """Where an input lies that a job has still to bring into the form that `path` gets: beside it."""
    return f"{path}-raw"


class StoredFile(NamedTuple):
    """A file in a store: its path and its length."""

    path: str
    bytes: int


class FoundFile(NamedTuple):
    """A file below a folder, when it was changed last (milliseconds since the epoch), and its length."""

    path: str
    changed_ms: int
    """By Hadoop's client to the minute."""
    bytes: int


@runtime_checkable
class Files(Protocol):
    """What a store also has that holds files: their bytes. Paths are absolute within the store."""

    def list_files(self, path: str) -> list[StoredFile]:
        """The files directly in a directory (or the file itself) that are not hidden, by name. Raises AssayError."""

    def pieces(self, path: str, offset: int = 0, size: int | None = None) -> Iterator[bytes]:
        """The bytes of one file from `offset` on, `size` of them or all; ends early where the file does."""


@runtime_checkable
class Store(Protocol):
    """A storage subsystem as workloads see it: it takes lines, gives them to jobs, and gives back what these left.

    A path begins with a slash and names what is stored, wherever the store keeps that: jobs get its location. What was
    put below a path (`/run/input/part-1`) belongs to it (`/run/input`): jobs read all of that together.
    """

    def location(self, path: str) -> str:
        """What jobs take as an argument for a path, to read or to write there: itself, or `SCHEME:/points`."""

    def put(self, source: Path, path: str) -> None:
        """Take the lines of a local file. Raises AssayError when it can't be done."""

    def lines(self, path: str) -> Iterator[bytes]:
        """All lines at and below a path, without their ends: those of a job in the order of its tasks."""

    def size_bytes(self, path: str) -> int:
        """Bytes of all that is at and below a path, one copy each; 0 when nothing is there."""

    def delete(self, path: str) -> None:
        """Remove all that is at and below a path; no error when nothing is there."""


def files_of(store: Store) -> Files:
    """The store's files. Raises TypeError where it holds none: a workload that needs them says so."""
    if not isinstance(store, Files):
        raise TypeError(f"{type(store).__name__} holds no files")
    return store


@runtime_checkable
class Streaming(Protocol):
    """What a store also is that takes bytes from this machine as quickly as from jobs: its disks are here."""

    def write(self, path: str, pieces: Iterable[bytes]) -> None:
        """Take these bytes as `Store.put` takes those of a file. Raises AssayError when it can't be done."""


@runtime_checkable
class Counting(Protocol):
    """What a store also is that counts the lines that it has taken, so that lost ones are found."""

    def taken(self, path: str) -> int | None:
        """How many lines were put at and below a path; None if nobody knows."""

    def kept(self, path: str) -> Kept | None:
        """How many lines were put at and below a path, and how many are missing there now; None if nobody knows.

        Raises AssayError where they can't be read.
        """


@runtime_checkable
class Gathering(Protocol):
    """What a store also is that takes several files at less cost than one after another."""

    def put_all(self, files: Iterable[tuple[Path, str]]) -> None:
        """Take the lines of local files as `Store.put` does, each with its path.

        A file is read before the next one is asked for, which may lie in its place. Raises AssayError.
        """


def put_all(store: Store, files: Iterable[tuple[Path, str]]) -> None:
    """Put files, at once where the store can; see `Gathering`."""
    if isinstance(store, Gathering):
        store.put_all(files)
        return
    for source, path in files:
        store.put(source, path)


COMPRESSED_SUFFIXES = (".gz", ".bz2", ".deflate", ".snappy", ".lz4", ".zst", ".lzo")
"""By which Hadoop's clients know that a file is compressed (`CompressionCodecFactory`)."""


@runtime_checkable
class Measuring(Protocol):
    """What a store also is whose size is not that of the uncompressed lines that it was given: it can tell that too."""

    def put_bytes(self, path: str) -> int | None:
        """Bytes of what was brought below a path, one copy, uncompressed; None where it can't tell.

        One that keeps no files does not know what jobs have written there; one that does, not what compressed ones
        hold.
        """


def put_bytes(store: Store, path: str) -> int | None:
    """Bytes of what was brought below a path, one copy, uncompressed. None where nobody knows."""
    if isinstance(store, Measuring):
        return store.put_bytes(path)
    return store.size_bytes(path) if isinstance(store, Files) else None


@runtime_checkable
class Columnar(Protocol):
    """What a store also is that can keep columns of its lines apart, so that reading some does not touch the others.

    Columns stand apart by commas, tabs or spaces, any run of which counts once. Jobs say which they read by the
    property `assay.input.columns`: how many, from the left.
    """

    def expect(self, path: str, columns: int) -> None:
        """Before anything is put there: jobs will read so many columns of the lines at and below a path."""


class Placer(Protocol):
    """Steers what is written into a store to the media of its role, and tells where it landed."""

    def prepare(self, base: str, input_path: str) -> None:
        """Before anything is staged: what is written below `input_path` is input, all else below `base` output."""

    def landed(self, role: str, when: Literal["staged", "run"], path: str) -> Landed:
        """Where a path's bytes lie now, whatever was wanted; no bytes when it is not there."""


@runtime_checkable
class Keeping(Protocol):
    """What a placer also is whose store keeps bytes of further roles, such as its logs, at paths of its own."""

    own_paths: Mapping[str, str]
    """The paths by their roles: `landed` tells of these too."""


@runtime_checkable
class Steering(Protocol):
    """What a placer also is whose store places what jobs write as their properties say."""

    output_properties: Mapping[str, str]
    """Those of jobs that write output, so that it lands on the media of its role; jobs that stage have none."""


def own_paths(placer: Placer | None) -> Mapping[str, str]:
    """The paths that its store keeps of further roles."""
    return placer.own_paths if isinstance(placer, Keeping) else {}


def output_properties(placer: Placer | None) -> Mapping[str, str]:
    """The properties of jobs that write output."""
    return placer.output_properties if isinstance(placer, Steering) else {}


@runtime_checkable
class Redundant(Protocol):
    """What a placer can do besides when its store keeps several copies of what it holds."""

    def redundancy(self, lost: Sequence[Directory]) -> Redundancy:
        """How many copies there are now, when those in some directories can't be had any more. Raises AssayError."""


@runtime_checkable
class Chosen(Protocol):
    """What a kind of store can do besides when experiments say more of it than its name: it has options."""

    options: type[Frozen]
    """Those options: the keys of a map in place of its name. It refuses values that can't be."""
    found_keys: frozenset[str]
    """Those of them that say where a store of the user's own is: they need an existing cluster."""


@runtime_checkable
class Logging(Protocol):
    """What a kind of store also is that guarantees something else of what it takes as long as that is in its log."""

    def promise_while_staging(self, properties: Mapping[str, str], nodes: int) -> Promise:
        """What it guarantees of data that it has taken, until staging has ended; see `StoreKind.promise`."""


def promise_while_staging(kind: "StoreKind", properties: Mapping[str, str], nodes: int) -> Promise:
    """What a kind of store guarantees of data that it has taken while staging goes on."""
    if isinstance(kind, Logging):
        return kind.promise_while_staging(properties, nodes)
    return kind.promise(properties, nodes)


class LeastRoom(NamedTuple):
    """Bytes that must be free on each medium of some roles, and a clause that says what they are for."""

    roles: frozenset[str]
    bytes: int
    why: str


@runtime_checkable
class Reserving(Protocol):
    """What a kind of store also is that takes nothing where little is free, however little it is given."""

    def least_rooms(self, properties: Mapping[str, str], nodes: int) -> Sequence[LeastRoom]:
        """What must be free on a node's media before it takes the first byte; see `StoreKind.promise`."""


def least_rooms(kind: "StoreKind", properties: Mapping[str, str], nodes: int) -> Sequence[LeastRoom]:
    """What a kind of store wants to be free on a node's media before it takes the first byte."""
    return kind.least_rooms(properties, nodes) if isinstance(kind, Reserving) else ()


class StoreKind(Protocol):
    """A kind of store, as registered in STORES."""

    holds: frozenset[str]
    """The sorts of data that it holds, such as FILES or TABLES: a workload needs one of them."""
    services: tuple[str, ...]
    """The names of the services that keep its bytes."""

    def promise(self, properties: Mapping[str, str], nodes: int) -> Promise:
        """What it guarantees of data when staging has ended, with these properties on so many nodes of Assay's own."""

    def space_factor(self, properties: Mapping[str, str], line_bytes: float | None) -> float:
        """How many bytes it has on media for each copy of a byte that it is given, at the worst moment: an estimate.

        What it writes twice counts twice while both are there: logs, flushed files, what compactions make of them. A
        line has `line_bytes` on average; None where nobody knows.
        """

    def open(self, cluster: RunningCluster) -> Store:
        """Open it by the clients of its services."""

    def placer(self, cluster: RunningCluster, layout: Layout) -> Placer | None:
        """What steers its bytes on a cluster of Assay's own, whose directories lie on its nodes."""
