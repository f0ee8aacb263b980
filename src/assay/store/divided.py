"""Stores of which one keeps what jobs read and another what they write."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import Any, Literal

from assay.model.errors import AssayError, BadInputError
from assay.model.existing import Site
from assay.model.fault import Kept, Redundancy
from assay.model.layout import Directory, Layout
from assay.model.plugins import LAST
from assay.model.record import Promise
from assay.model.registry import SERVICES, STORES
from assay.model.running_cluster import RunningCluster
from assay.model.service import Found, Service
from assay.model.store import (
    TABLES,
    Columnar,
    Counting,
    LeastRoom,
    Placer,
    Redundant,
    Store,
    Streaming,
    below,
    least_rooms,
    output_properties,
    own_paths,
    promise_while_staging,
    put_all,
    put_bytes,
    raw,
)
from assay.model.trial import Landed


class DividedStore:
    """See `model.store.Store`; nothing is input until its placer says which path that is."""

    def __init__(self, of_input: Store, of_output: Store) -> None:
        self.of_input, self.of_output = of_input, of_output
        self.input_path: str | None = None

    def store_of(self, path: str) -> Store:
        """The store that keeps a path."""
        inputs = () if self.input_path is None else (self.input_path, raw(self.input_path))
        is_input = any(below(path, folder) for folder in inputs)
        return self.of_input if is_input else self.of_output

    def location(self, path: str) -> str:
        return self.store_of(path).location(path)

    def put(self, source: Path, path: str) -> None:
        self.store_of(path).put(source, path)

    def put_all(self, files: Iterable[tuple[Path, str]]) -> None:
        """Put files that follow each other into one store together."""
        for _, some in groupby(files, key=lambda file: self.store_of(file[1]) is self.of_input):
            group = iter(some)
            first = next(group)
            put_all(self.store_of(first[1]), chain([first], group))

    def write(self, path: str, pieces: Iterable[bytes]) -> None:
        store = self.store_of(path)
        assert isinstance(store, Streaming)  # noqa: S101 - both are, on a cluster of Assay's own
        store.write(path, pieces)

    def expect(self, path: str, columns: int) -> None:
        store = self.store_of(path)
        if isinstance(store, Columnar):
            store.expect(path, columns)

    def lines(self, path: str) -> Iterator[bytes]:
        return self.store_of(path).lines(path)

    def put_bytes(self, path: str) -> int | None:
        return put_bytes(self.store_of(path), path)

    def size_bytes(self, path: str) -> int:
        return self.store_of(path).size_bytes(path)

    def taken(self, path: str) -> int | None:
        store = self.store_of(path)
        return store.taken(path) if isinstance(store, Counting) else None

    def kept(self, path: str) -> Kept | None:
        store = self.store_of(path)
        return store.kept(path) if isinstance(store, Counting) else None

    def delete(self, path: str) -> None:
        """Remove a path from both: what lies below it may be in either."""
        self.of_input.delete(path)
        self.of_output.delete(path)


class DividedPlacer:
    """See `model.store.Placer`; each store's own places what that store keeps."""

    def __init__(self, store: DividedStore, of_input: Placer | None, of_output: Placer | None) -> None:
        self._store = store
        self._of_input, self._of_output = of_input, of_output
        placers = [placer for placer in (of_input, of_output) if placer is not None]
        self._by_role = {role: placer for placer in placers for role in own_paths(placer)}
        self.output_properties = output_properties(of_output)
        self.own_paths = {role: path for placer in placers for role, path in own_paths(placer).items()}

    def prepare(self, base: str, input_path: str) -> None:
        self._store.input_path = input_path
        for placer in filter(None, (self._of_input, self._of_output)):
            placer.prepare(base, input_path)

    def landed(self, role: str, when: Literal["staged", "run"], path: str) -> Landed:
        by_path = self._of_input if self._store.store_of(path) is self._store.of_input else self._of_output
        placer = self._by_role.get(role, by_path)
        return Landed(role=role, when=when, bytes=0, shares={}) if placer is None else placer.landed(role, when, path)

    def redundancy(self, lost: Sequence[Directory]) -> Redundancy:
        """Return that of the store of the input, where it keeps several copies, else that of the other one.

        Both may keep theirs in one store below, so they are not added up. Raises AssayError where neither can tell.
        """
        for placer in (self._of_input, self._of_output):
            if isinstance(placer, Redundant):
                return placer.redundancy(lost)
        raise AssayError("neither store tells of its copies")


class Divided:
    """See `model.store.StoreKind`: of two kinds, by their names, whose clients are both on one cluster."""

    holds = frozenset({TABLES})

    def __init__(self, of_input: str, of_output: str, needs: Sequence[str]) -> None:
        """`needs` are the names of the services of both."""
        self.name = f"{of_input}-to-{of_output}"
        self.services: tuple[str, ...] = (self.name,)
        self._of_input, self._of_output = of_input, of_output
        SERVICES.add(
            self.name,
            Service(self.name, needs=tuple(needs), client=self._client, found=Found(self._not_there_yet)),
        )

    def promise(self, properties: Mapping[str, str], nodes: int) -> Promise:
        """Return that of the store where the input is staged."""
        return STORES.find(self._of_input).promise(properties, nodes)

    def promise_while_staging(self, properties: Mapping[str, str], nodes: int) -> Promise:
        """Return that of the same store."""
        return promise_while_staging(STORES.find(self._of_input), properties, nodes)

    def space_factor(self, properties: Mapping[str, str], line_bytes: float | None) -> float:
        """Return that of the store which takes more."""
        return max(STORES.find(name).space_factor(properties, line_bytes) for name in (self._of_input, self._of_output))

    def least_rooms(self, properties: Mapping[str, str], nodes: int) -> Sequence[LeastRoom]:
        """Return those of both."""
        kinds = (STORES.find(name) for name in (self._of_input, self._of_output))
        return [room for kind in kinds for room in least_rooms(kind, properties, nodes)]

    def open(self, cluster: RunningCluster) -> Store:
        return cluster.client(self.name, DividedStore)

    def placer(self, cluster: RunningCluster, layout: Layout) -> DividedPlacer:
        placers = (STORES.find(name).placer(cluster, layout) for name in (self._of_input, self._of_output))
        return DividedPlacer(cluster.client(self.name, DividedStore), *placers)

    def _not_there_yet(self, _options: Mapping[str, Any], site: Site) -> Mapping[str, str]:
        """Raises BadInputError: on a cluster of somebody else's there is no placer to tell what is input."""
        raise BadInputError(
            f"{self.name} runs on clusters that Assay starts, not yet on that of {site.conf_dir}; leave conf_dir out, "
            f"or name one store for both, {' or '.join((self._of_input, self._of_output))}", "store",
        )  # fmt: skip

    def _client(self, cluster: RunningCluster) -> DividedStore:
        return DividedStore(*(STORES.find(name).open(cluster) for name in (self._of_input, self._of_output)))


def add_divided(store: str, other: str, needs: Sequence[str], place: int = LAST) -> None:
    """Register both ways to divide work between two kinds of store, as the module of the later one does.

    Formats by which jobs reach one of them must reach the other too; `needs` are the names of the services of both.
    """
    for number, (of_input, of_output) in enumerate(((store, other), (other, store))):
        divided = Divided(of_input, of_output, needs)
        STORES.add(divided.name, divided, place=place + number)
