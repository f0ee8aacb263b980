"""A store of key and value, spread over the platform's nodes: what is put under a path lies whole on one of them."""

from assay.model.registry import STORES
from assay.model.store import StoredFile
from assay.model.trial import Landed


class KeyValueStore:
    """See `assay.model.store.Store`; a value is a file's bytes."""

    def __init__(self, nodes):
        self.shards = {node.name: {} for node in nodes}

    @property
    def _whole(self):
        return {key: value for shard in self.shards.values() for key, value in shard.items()}

    def list_files(self, path):
        return sorted(StoredFile(key, len(value)) for key, value in self._whole.items() if key.startswith(path))

    def pieces(self, path, offset=0, size=None):
        yield self._whole[path][offset : None if size is None else offset + size]

    def put(self, source, path):
        self.write(path, [b"0\t1\n"])

    def write(self, path, pieces):
        fewest = min(self.shards.values(), key=len)
        fewest[path] = b"".join(pieces)

    def lines(self, path):
        for file in self.list_files(path):
            yield from self._whole[file.path].splitlines()

    def size_bytes(self, path):
        return sum(file.bytes for file in self.list_files(path))

    def delete(self, path):
        for shard in self.shards.values():
            for key in [key for key in shard if key.startswith(path)]:
                del shard[key]


class ShardPlacer:
    """See `assay.model.store.Placer`."""

    def __init__(self, store, layout):
        self._store, self._layout = store, layout

    def prepare(self, base, input_path):
        pass

    def landed(self, role, when, path):
        size = self._store.size_bytes(path)
        (medium,) = {one.medium for one in self._layout.data if role in one.roles}
        return Landed(role=role, when=when, bytes=size, shares={medium: 1.0}, of_bytes=size)


class KeyValue:
    """See `assay.model.store.StoreKind`."""

    holds = frozenset({"values"})
    daemons = existing = ()

    def properties(self, layout, host, addresses):
        return {}

    def copies(self, properties, nodes):
        return 1

    def open_own(self, cluster, layout):
        store = KeyValueStore([one.node for one in cluster.nodes])
        return store, ShardPlacer(store, layout)

    def open_foreign(self, cluster, environment):
        return self.open_own(cluster, None)[0]


STORES.add("key-value", KeyValue())
