"""A store of key and value: on each worker a daemon keeps its share, all values in one file that only it can read."""

import json
import re
import sys
from http.client import HTTPConnection
from urllib.parse import quote

from assay.model.layout import INPUT, OUTPUT, Role
from assay.model.record import Promise
from assay.model.registry import SERVICES, STORES
from assay.model.running_cluster import counting_bytes
from assay.model.service import DaemonKind, Service
from assay.model.store import Placer, Store, StoreKind
from assay.model.trial import Landed
from assay.model.value_bounds import ValueBounds

SCHEME = "values"
"""What the locations of values begin with, which jobs get."""
ADDRESS = "key-value.address"
COPIES = "key-value.copies"
"""The property that says on how many workers each value is."""
LOG = "log"
ROLES = (
    Role(INPUT, "the values that jobs read"),
    Role(OUTPUT, "the values that jobs write", beside=INPUT),
    Role(LOG, "the log of all values, from which a shard that died could be restored", follows=OUTPUT),
)
SHARD = """
import json, os, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

settings = json.loads(Path(sys.argv[1]).read_text())
folder, logs = Path(settings["folder"]), Path(settings["logs"])
for directory in (folder, logs):
    directory.mkdir(parents=True, exist_ok=True)
log, values = ((place / name).open("a+b", buffering=0) for place, name in ((logs, "values.log"), (folder, "values")))
places = {}

class Shard(BaseHTTPRequestHandler):
    def do_GET(self):
        # A value, or the sizes of all values whose keys begin with what stands before an asterisk.
        if not self.path.endswith("*"):
            offset, size = places[unquote(self.path)]
            return self.answer(os.pread(values.fileno(), size, offset))
        begin = unquote(self.path)[:-1]
        self.answer(json.dumps({key: size for key, (_, size) in places.items() if key.startswith(begin)}).encode())

    def do_PUT(self):
        # Before it may be lost in the page cache, a value is in the log.
        key, value = unquote(self.path), self.rfile.read(int(self.headers["Content-Length"]))
        log.write(value)
        os.fsync(log.fileno())
        head = json.dumps([key, len(value)]).encode() + b"\\n"
        places[key] = (os.fstat(values.fileno()).st_size + len(head), len(value))
        values.write(head + value)
        self.answer(b"")

    def do_DELETE(self):
        del places[unquote(self.path)]
        self.answer(b"")

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

host, _, port = settings["address"].rpartition(":")
server = ThreadingHTTPServer((host, int(port)), Shard)
print("shard listens on", settings["address"], flush=True)
server.serve_forever()
"""


def configuration(node, properties):
    """Of the shard on a node: it keeps all values in one directory, and its log in one."""
    folder, logs = node.layout.of(INPUT)[0].path, node.layout.of(LOG)[0].path
    settings = {"address": properties[ADDRESS], "folder": str(folder), "logs": str(logs)}
    return {"shard.json": json.dumps(settings)}


SHARDS = DaemonKind(
    "shard", program=lambda node: [sys.executable, "-c", SHARD, str(node.conf_dir / "shard.json")], on_workers=True,
    ports={ADDRESS: "values"}, ready_text="shard listens on",
)  # fmt: skip


def addresses(cluster, role):
    """Where the daemons of a role listen, as their logs tell, by their nodes' names."""
    return {
        one.node.name: re.search(r"listens on (\S+)", one.node.read(daemon.log))[1]
        for one in cluster.nodes
        for daemon in one.daemons
        if daemon.role == role
    }


def ask(cluster, address, path, method="GET", body=None):
    """What a daemon answers to a client on the master."""
    host, _, port = address.rpartition(":")
    connection = HTTPConnection(host, int(port))
    connection.sock = cluster.connect((host, int(port)), 30)
    try:
        connection.request(method, quote(path, safe="/*"), body)
        return connection.getresponse().read()
    finally:
        connection.close()


class KeyValueStore(Store):
    """What is put is a value, and its path the key; a further copy's key has its number after `#`."""

    streams = True

    def __init__(self, cluster):
        self._cluster = cluster
        self._shards = addresses(cluster, "shard")
        self._copies = copies(cluster.properties, len(self._shards))

    def _keys(self, path):
        """The keys that begin with a path, in order: the shard of each and the size of its value."""
        kept = {
            key: (shard, size)
            for shard in self._shards.values()
            for key, size in json.loads(ask(self._cluster, shard, f"{path}*")).items()
        }
        return dict(sorted(kept.items()))

    def _values(self, path):
        """The same of the first copies alone."""
        return {key: kept for key, kept in self._keys(path).items() if "#" not in key}

    def location(self, path):
        return f"{SCHEME}:{path}"

    def put(self, source, path):
        self.write(path, [source.read_bytes()])

    def write(self, path, pieces):
        """To the shards with the fewest bytes."""
        kept, value = list(self._keys("/").values()), b"".join(counting_bytes(pieces, self._cluster.took))
        shards = sorted(self._shards.values(), key=lambda shard: sum(size for at, size in kept if at == shard))
        for number, shard in enumerate(shards[: self._copies], 1):
            ask(self._cluster, shard, path if number == 1 else f"{path}#{number}", "PUT", value)

    def lines(self, path):
        for key, (shard, _) in self._values(path).items():
            yield from ask(self._cluster, shard, key).splitlines()

    def size_bytes(self, path):
        return sum(size for _, size in self._values(path).values())

    def all_bytes(self, path):
        """Of all copies."""
        return sum(size for _, size in self._keys(path).values())

    def delete(self, path):
        for key, (shard, _) in self._keys(path).items():
            ask(self._cluster, shard, key, "DELETE")


class ShardPlacer(Placer):
    """All that a shard keeps lies in its node's first directory."""

    def __init__(self, store, layout):
        self._store, self._layout = store, layout

    def prepare(self, base, input_path):
        pass

    def landed(self, role, when, path):
        sizes = {}
        for directory in self._layout.of(INPUT):
            lying = sum(size for key, size in lying_in(directory.path / "values") if key.startswith(path))
            sizes[directory.medium] = sizes.get(directory.medium, 0) + lying
        total = sum(sizes.values())
        shares = {medium: size / total for medium, size in sizes.items() if size}
        return Landed(role=role, when=when, bytes=total, shares=shares, of_bytes=self._store.all_bytes(path))


def lying_in(file):
    """The keys of the values in a shard's file, and how many bytes of each are there."""
    with file.open("rb") as values:
        while head := values.readline():
            key, size = json.loads(head)
            yield key, len(values.read(size))


SERVICE = Service(
    "key-value",
    daemons=(SHARDS,),
    roles=ROLES,
    files=configuration,
    properties=lambda node: {ADDRESS: f"{node.host}:{node.addresses[ADDRESS].rpartition(':')[2]}"},
    client=KeyValueStore,
    bounds={COPIES: ValueBounds(1)},
    first_words=frozenset({"key-value"}),
    properties_key="key-value",
    traffic={"values_to_server": "values put", "values_from_server": "values got"},
)
SERVICES.add(SERVICE.name, SERVICE)


def copies(properties, workers):
    return min(int(properties.get(COPIES, "1")), workers)


STORES.add(
    "key-value",
    StoreKind(
        open=lambda cluster: cluster.client(SERVICE.name, KeyValueStore),
        services=(SERVICE.name,),
        holds=frozenset({"values"}),
        promise=lambda properties, nodes: Promise(copies=copies(properties, nodes), reach="in a log that is synced"),
        placer=lambda cluster, layout: ShardPlacer(cluster.client(SERVICE.name, KeyValueStore), layout),
        copies_property=COPIES,
    ),
)
