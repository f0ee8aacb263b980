"""Stores of which one keeps what jobs read and another what they write."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import Any, Literal

from assay.model.errors import BadInputError
from assay.model.existing import Site
from assay.model.fault import Kept, Redundancy
from assay.model.layout import Directory, Layout
from assay.model.registry import SERVICES, STORES
from assay.model.running_cluster import RunningCluster
from assay.model.service import Discovery, Service
from assay.model.store import TABLES, Placer, Store, StoreKind, below, raw
from assay.model.trial import Landed


class DividedStore(Store):
    """Asks the store that keeps a path; nothing is input until its placer says which path that is."""

    streams = True

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
            self.store_of(first[1]).put_all(chain([first], group))

    def write(self, path: str, pieces: Iterable[bytes]) -> None:
        self.store_of(path).write(path, pieces)

    def expect(self, path: str, columns: int) -> None:
        self.store_of(path).expect(path, columns)

    def lines(self, path: str) -> Iterator[bytes]:
        return self.store_of(path).lines(path)

    def put_bytes(self, path: str) -> int | None:
        return self.store_of(path).put_bytes(path)

    def size_bytes(self, path: str) -> int:
        return self.store_of(path).size_bytes(path)

    def taken(self, path: str) -> int | None:
        return self.store_of(path).taken(path)

    def kept(self, path: str) -> Kept | None:
        return self.store_of(path).kept(path)

    def delete(self, path: str) -> None:
        """Remove a path from both: what lies below it may be in either."""
        self.of_input.delete(path)
        self.of_output.delete(path)


class DividedPlacer(Placer):
    """Each store's own placer places what that store keeps."""

    def __init__(self, store: DividedStore, of_input: Placer, of_output: Placer) -> None:
        self._store = store
        self._of_input, self._of_output = of_input, of_output
        self._by_role = {role: placer for placer in (of_input, of_output) for role in placer.own_paths}
        self.output_properties = of_output.output_properties
        self.own_paths = {**of_input.own_paths, **of_output.own_paths}

    def prepare(self, base: str, input_path: str) -> None:
        self._store.input_path = input_path
        self._of_input.prepare(base, input_path)
        self._of_output.prepare(base, input_path)

    def landed(self, role: str, when: Literal["staged", "run"], path: str) -> Landed:
        by_path = self._of_input if self._store.store_of(path) is self._store.of_input else self._of_output
        return self._by_role.get(role, by_path).landed(role, when, path)

    def redundancy(self, lost: Sequence[Directory]) -> Redundancy | None:
        """Return that of the store of the input, where it keeps several copies, else that of the other one.

        Both may keep theirs in one store below, so they are not added up.
        """
        of_input = self._of_input.redundancy(lost)
        return self._of_output.redundancy(lost) if of_input is None else of_input


def _divided(kinds: Mapping[str, StoreKind]) -> tuple[str, StoreKind]:
    """The name and the kind of a store of two: one for the input, whose promises it makes, and one for all else.

    Both have clients and placers on one cluster.
    """
    name = "-to-".join(kinds)
    of_input, of_output = kinds.values()

    def client(cluster: RunningCluster) -> DividedStore:
        return DividedStore(of_input.open(cluster), of_output.open(cluster))

    def placer(cluster: RunningCluster, layout: Layout) -> DividedPlacer:
        placers = filter(None, (kind.placer_on(cluster, layout) for kind in kinds.values()))
        return DividedPlacer(cluster.client(name, DividedStore), *placers)

    def not_there_yet(_options: Mapping[str, Any], site: Site) -> Mapping[str, str]:
        """Raises BadInputError: on a cluster of somebody else's there is no placer to tell what is input."""
        raise BadInputError(
            f"{name} runs on clusters that Assay starts, not yet on that of {site.conf_dir}; leave conf_dir out, "
            f"or name one store for both, {' or '.join(kinds)}", "store",
        )  # fmt: skip

    needs = (*of_input.services, *of_output.services)
    SERVICES.add(name, Service(name, needs=needs, client=client, discovery=Discovery(not_there_yet)))
    return name, StoreKind(
        open=lambda cluster: cluster.client(name, DividedStore),
        services=(name,),
        holds=frozenset({TABLES}),
        promise=of_input.promise,
        promise_while_staging=of_input.promise_while_staging,
        placer=placer,
        copies_property=of_input.copies_property,
        space_factor=lambda *given: max(kind.space_factor(*given) for kind in kinds.values()),
        memory_factor=lambda *given: max(kind.memory_factor(*given) for kind in kinds.values()),
        least_rooms=lambda *given: [room for kind in kinds.values() for room in kind.least_rooms(*given)],
    )


def add_divided(store: tuple[str, StoreKind], other: tuple[str, StoreKind], place: int) -> None:
    """Register both ways to divide work between two kinds of store, as the module of the later one does.

    Formats by which jobs reach one of them must reach the other too.
    """
    for number, pair in enumerate(((store, other), (other, store))):
        STORES.add(*_divided(dict(pair)), place=place + number)
