"""Stores: the storage subsystem that holds the data set."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

from assay.model.base import Frozen
from assay.model.errors import AssayError
from assay.model.fault import Kept, Redundancy
from assay.model.layout import Directory, Layout
from assay.model.record import Promise
from assay.model.running_cluster import RunningCluster
from assay.model.trial import Landed

FILES = "files"
"""What a store may hold: files, which Hadoop's clients reach by their paths. Such a store has `Files` too."""
TABLES = "tables"
"""What a store may hold: tables of lines, which jobs reach by input and output formats of the store's own. A store may
hold any other sort, by a name that its workloads ask for, such as `graph`: vertices with their edges."""

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


COMPRESSED_SUFFIXES = (".gz", ".bz2", ".deflate", ".snappy", ".lz4", ".zst", ".lzo")
"""By which Hadoop's clients know that a file is compressed (`CompressionCodecFactory`)."""


@runtime_checkable
class Files(Protocol):
    """What a store also has that holds FILES: their bytes. Paths are absolute within the store."""

    def list_files(self, path: str) -> list[StoredFile]:
        """The files directly in a directory (or the file itself) that are not hidden, by name. Raises AssayError."""

    def pieces(self, path: str, offset: int = 0, size: int | None = None) -> Iterator[bytes]:
        """The bytes of one file from `offset` on, `size` of them or all; ends early where the file does."""


class Store(ABC):
    """A storage subsystem as workloads see it: it takes lines, gives them to jobs, and gives back what these left.

    A path begins with a slash and names what is stored, wherever the store keeps that: jobs get its location. What was
    put below a path (`/run/input/part-1`) belongs to it (`/run/input`): jobs read all of that together.
    """

    streams: ClassVar[bool] = False
    """Whether it takes bytes from this machine as quickly as from jobs, by `write`: its disks are here."""

    @abstractmethod
    def location(self, path: str) -> str:
        """What jobs take as an argument for a path, to read or to write there: itself, or `SCHEME:/points`."""

    @abstractmethod
    def put(self, source: Path, path: str) -> None:
        """Take the lines of a local file. Raises AssayError when it can't be done."""

    @abstractmethod
    def lines(self, path: str) -> Iterator[bytes]:
        """All lines at and below a path, without their ends: those of a job in the order of its tasks."""

    @abstractmethod
    def size_bytes(self, path: str) -> int:
        """Bytes of all that is at and below a path, one copy each; 0 when nothing is there."""

    @abstractmethod
    def delete(self, path: str) -> None:
        """Remove all that is at and below a path; no error when nothing is there."""

    def put_all(self, files: Iterable[tuple[Path, str]]) -> None:
        """Take the lines of local files as `put` does, each with its path, at once where that costs less.

        A file is read before the next one is asked for, which may lie in its place. Raises AssayError.
        """
        for source, path in files:
            self.put(source, path)

    def write(self, path: str, pieces: Iterable[bytes]) -> None:  # noqa: ARG002 - see those that stream
        """Take these bytes as `put` takes those of a file, if it `streams`. Raises AssayError when it can't be done."""
        raise AssayError(f"{type(self).__name__} takes no bytes for {path} but those of files")

    def put_bytes(self, path: str) -> int | None:
        """Bytes of what was brought below a path, one copy, uncompressed; None where it can't tell.

        One that keeps no files does not know what jobs have written there; one that does, not what compressed ones
        hold.
        """
        return self.size_bytes(path) if isinstance(self, Files) else None

    def taken(self, path: str) -> int | None:  # noqa: ARG002 - nobody counts
        """How many lines were put at and below a path; None where nobody counts, or nothing was put."""
        return None

    def kept(self, path: str) -> Kept | None:  # noqa: ARG002 - nobody counts
        """How many lines were put at and below a path, and how many are missing there now; None if nobody knows.

        Raises AssayError where they can't be read.
        """
        return None

    def expect(self, path: str, columns: int) -> None:  # noqa: ARG002 - it keeps lines as they are
        """Before anything is put there: jobs will read so many columns of the lines at and below a path, from the left.

        A store may keep these apart, so that reading them does not touch the others. Columns stand apart by commas,
        tabs or spaces, any run of which counts once. Jobs say how many they read by `assay.input.columns`.
        """
        return


def files_of(store: Store) -> Files:
    """The store's files. Raises TypeError where it holds none: a workload that needs them says so."""
    if not isinstance(store, Files):
        raise TypeError(f"{type(store).__name__} holds no files")
    return store


class Placer(ABC):
    """Steers what is written into a store to the media of its role, and tells where it landed.

    `own_paths` are paths that the store keeps of further roles, such as its logs, by role: `landed` tells of these too.
    `output_properties` are those of jobs that write output, where these place what jobs write; jobs that stage have
    none.
    """

    own_paths: Mapping[str, str] = {}
    output_properties: Mapping[str, str] = {}

    @abstractmethod
    def prepare(self, base: str, input_path: str) -> None:
        """Before anything is staged: what is written below `input_path` is input, all else below `base` output."""

    @abstractmethod
    def landed(self, role: str, when: Literal["staged", "run"], path: str) -> Landed:
        """Where a path's bytes lie now, whatever was wanted; no bytes when it is not there."""

    def redundancy(self, lost: Sequence[Directory]) -> Redundancy | None:  # noqa: ARG002 - it can't tell
        """How many copies there are now, when those in some directories can't be had any more; None if nobody knows.

        Raises AssayError.
        """
        return None


class LeastRoom(NamedTuple):
    """Bytes that must be free on each medium of some roles, and a clause that says what they are for."""

    roles: frozenset[str]
    bytes: int
    why: str


class StoreKind(NamedTuple):
    """A kind of store, as registered in STORES. Whatever it leaves out it does not have.

    What depends on a trial is given the trial's properties, and how many nodes of Assay's own there are.
    """

    open: Callable[[RunningCluster], Store]
    """Opens it by the clients of its services."""
    services: tuple[str, ...]
    """The names of the services that keep its bytes."""
    holds: frozenset[str]
    """The sorts of data that it holds, such as FILES or TABLES: a workload needs one of them."""
    promise: Callable[[Mapping[str, str], int], Promise]
    """What it guarantees of data when staging has ended."""
    promise_while_staging: Callable[[Mapping[str, str], int], Promise] | None = None
    """What it guarantees until then of data that it has taken, where that is something else: while it is in a log."""
    placer: Callable[[RunningCluster, Layout], Placer | None] = lambda *_: None
    """What steers its bytes on a cluster of Assay's own, whose directories lie on its nodes."""
    copies_property: str = ""
    """The property that says how many copies it keeps, for `replication` in an experiment."""
    space_factor: Callable[[Mapping[str, str], float | None], float] = lambda *_: 1.0
    """How many bytes it has on media for each copy of a byte that it is given, at the worst moment: an estimate. What
    it writes twice counts twice while both are there: logs, flushed files, what compactions make of them. A line has
    so many bytes on average; None where nobody knows."""
    memory_factor: Callable[[Mapping[str, str], float | None], float] = lambda *_: 0.0
    """How many bytes of memory it takes for each byte that it is given, beside the `costs` of its services: an
    estimate, of lines as above."""
    least_rooms: Callable[[Mapping[str, str], int], Sequence[LeastRoom]] = lambda *_: ()
    """What must be free on a node's media before it takes the first byte."""
    options: type[Frozen] = Frozen
    """What experiments may say of it beside its name: the keys of a map. It refuses values that can't be."""
    found_keys: frozenset[str] = frozenset()
    """Those keys that say where a store of the user's own is: they need an existing cluster."""

    def promised_while_staging(self, properties: Mapping[str, str], nodes: int) -> Promise:
        """What it guarantees of data that it has taken while staging goes on."""
        return (self.promise_while_staging or self.promise)(properties, nodes)

    def placer_on(self, cluster: RunningCluster, layout: Layout) -> Placer | None:
        """Its placer for a layout, of which it gets its services' own directories."""
        return self.placer(cluster, layout.seen_by(self.services[0]) if self.services else layout)
