"""Cassandra as a store: on each worker a daemon keeps its share of all tables, whose rows are spread by a hash.

Tables of the input and of the output are in a keyspace each, which lies in the directories of its role; the commit log
is in those of the role `log`. Files of jobs are in HDFS. See `jobs/cassandra`.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from assay.model.cluster import EmbeddedSpec
from assay.model.errors import BadInputError
from assay.model.layout import INPUT, OUTPUT, Layout, Role
from assay.model.naming import nearest
from assay.model.record import Promise
from assay.model.registry import SERVICES, STORES
from assay.model.running_cluster import RunningCluster
from assay.model.service import Costs, DaemonKind, NodeContext, Programs, Service
from assay.model.store import TABLES, LeastRoom, StoreKind
from assay.model.value_bounds import ValueBounds
from assay.store.hdfs import HDFS, HDFS_SERVICE, HdfsPlacer, WebHdfs, directories_of
from assay.store.on_workers import FolderPlacer, RoleFolders, hosts, port, started_only
from assay.store.row_tables import RowTables, formats

NAME = "cassandra"
LOG = "log"
KEYSPACES = {INPUT: "assay_input", OUTPUT: "assay_output"}
"""The keyspaces of tables by their roles."""
_LOG_FOLDER = "commitlog"
FOLDERS = RoleFolders(NAME, {**KEYSPACES, LOG: _LOG_FOLDER})
_NATIVE, _STORAGE = "cassandra.native.address", "cassandra.storage.address"
CONTACTS = "cassandra.contact-points"
KEYSPACE = "cassandra.assay.keyspace"
"""The property with the keyspace of new tables."""
COPIES, RANGES = "cassandra.assay.copies", "cassandra.assay.ranges"
SYNC, PERIODIC, BATCH = "cassandra.assay.commitlog-sync", "periodic", "batch"
"""What a put waits for: its log is in the server's memory and written each ten seconds, or is on the drives."""
_KNOWN = (COPIES, RANGES, SYNC)
_TOKENS = 16
"""The tokens of each node, as Cassandra's own configuration has it."""
_ROW_BYTES = 40
"""What a row has beside its line: its number, times, lengths, and its share of its partition's key and index."""
_ROW_MOST = 4.5
"""Bytes of rows for each byte of lines of which nothing is known: those of the shortest, edges with 12 bytes."""
_PATIENCE = "60000ms"
"""How long a node works at a request, as long as clients wait: while slow drives take a memtable, puts wait for it. By
default a put fails after 2 s, and no client sends it again."""
_SEGMENTS_BYTES = 128 << 20
"""Segments of the commit log of 32 MiB, of which some are open at once."""


def tokens(number: int, nodes: int) -> list[int]:
    """The tokens of one of so many nodes: all divide the ring of Murmur3Partitioner evenly, and nodes take turns."""
    return [-(1 << 63) + ((turn * nodes + number) << 64) // (_TOKENS * nodes) for turn in range(_TOKENS)]


def _settings(node: NodeContext, properties: Mapping[str, str]) -> Mapping[str, Any]:
    """A node's configuration: where nothing is said as Cassandra has it, but for sizes, times and what ends a node."""
    storage, together = node.layout.neutral / NAME, hosts(node)
    number = together.index(node.host) if node.host in together else 0
    seeds = ",".join(f"{host}:{port(properties, _STORAGE)}" for host in together)
    periodic = properties.get(SYNC, PERIODIC) == PERIODIC
    return {
        "cluster_name": "assay",
        "num_tokens": _TOKENS,
        "initial_token": ",".join(map(str, tokens(number, len(together)))),
        # All are new and begin at once: none has anything to stream to another.
        "auto_bootstrap": False,
        "seed_provider": [
            {"class_name": "org.apache.cassandra.locator.SimpleSeedProvider", "parameters": [{"seeds": seeds}]}
        ],
        "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
        "endpoint_snitch": "SimpleSnitch",
        "listen_address": node.host,
        "rpc_address": node.host,
        "storage_port": port(properties, _STORAGE),
        "native_transport_port": port(properties, _NATIVE),
        "data_file_directories": [str(storage / "data")],
        "commitlog_directory": str(FOLDERS.of(node.layout, LOG)),
        "saved_caches_directory": str(storage / "saved_caches"),
        "hints_directory": str(storage / "hints"),
        "cdc_raw_directory": str(storage / "cdc"),
        "commitlog_sync": PERIODIC if periodic else BATCH,
        **({"commitlog_sync_period": "10000ms"} if periodic else {}),
        "memtable": {
            "configurations": {"default": {"class_name": "SkipListMemtable"}, "settled": {"class_name": "TrieMemtable"}}
        },
        "memtable_heap_space": "128MiB",
        "memtable_offheap_space": "128MiB",
        "file_cache_size": "64MiB",
        **{f"{kind}_request_timeout": _PATIENCE for kind in ("read", "range", "write")},
        "auto_snapshot": False,
        # A node whose drive is full says so and ends, in place of going on without clients.
        "disk_failure_policy": "die",
        "commit_failure_policy": "die",
    }


_LOGBACK = """\
<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%date %-5level [%thread] %logger{1} - %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="out"/></root>
</configuration>
"""


def _files(node: NodeContext, properties: Mapping[str, str]) -> Mapping[str, str]:
    """What YAML takes for its own: JSON."""
    return {
        f"{NAME}/cassandra.yaml": json.dumps(_settings(node, properties), indent=1),
        f"{NAME}/logback.xml": _LOGBACK,
    }


# What Cassandra 5.0 reaches into, which modules forbid since Java 16: its own conf/jvm17-server.options.
_EXPORTS = (
    "java.base/jdk.internal.misc", "java.base/jdk.internal.ref", "java.base/sun.nio.ch", "java.base/java.lang.ref",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi", "java.rmi/sun.rmi.registry", "java.rmi/sun.rmi.server",
    "java.sql/java.sql", "jdk.unsupported/sun.misc",
)  # fmt: skip
_OPENS = (
    "java.lang.module", "jdk.internal.loader", "jdk.internal.ref", "jdk.internal.reflect", "jdk.internal.math",
    "jdk.internal.module", "jdk.internal.util.jar", "sun.nio.ch", "java.io", "java.lang.reflect", "java.util",
    "java.nio", "java.util.concurrent", "java.util.concurrent.atomic",
)  # fmt: skip
_OPTIONS = (
    *(f"--add-exports={package}=ALL-UNNAMED" for package in _EXPORTS),
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENS),
    "--add-opens=java.rmi/sun.rmi.transport.tcp=ALL-UNNAMED",
    "--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED",
    "-Djdk.attach.allowAttachSelf=true", "-Djava.security.manager=allow",
    "-Dio.netty.tryReflectionSetAccessible=true", "-XX:MaxDirectMemorySize=192m", "-Xss512k",
    # It stays with its output, and waits for no other node before it joins.
    "-Dcassandra-foreground=yes", "-Dcassandra.ring_delay_ms=1000", "-Dcassandra.skip_wait_for_gossip_to_settle=0",
)  # fmt: skip


def _classpath(node: NodeContext) -> Sequence[str]:
    lib = node.programs / NAME / "lib"
    return (str(node.conf_dir / NAME), f"{lib}/*", str(lib / "jobs" / "assay-jobs-cassandra.jar"))


def _arguments(node: NodeContext) -> Sequence[str]:
    keyspaces = [f"{keyspace}={FOLDERS.of(node.layout, role)}" for role, keyspace in KEYSPACES.items()]
    return (str(node.layout.neutral / NAME), *keyspaces)


DAEMON = DaemonKind(
    NAME, "org.assay.cassandra.CassandraServer", classpath=_classpath, options=_OPTIONS, arguments=_arguments,
    heap_mb=768, least_heap_mb=512, memory_mb=1100, on_workers=True,
    ports={_NATIVE: "cassandra clients", _STORAGE: "cassandra servers"}, copied="cassandra servers",
    ready_text="Startup complete",
    reason=r"No space left on device|(Insufficient|Not enough) (disk )?space|is in use by another process",
)  # fmt: skip


def _properties(node: NodeContext) -> Mapping[str, str]:
    """Addresses with the ports that were free on the first node, which each has."""
    addresses = {name: f"{node.host}:{port(node.addresses, name)}" for name in (_NATIVE, _STORAGE)}
    return {**addresses, CONTACTS: ",".join(f"{host}:{port(node.addresses, _NATIVE)}" for host in hosts(node))}


def check(spec: EmbeddedSpec, properties: Mapping[str, str], _daemons: Sequence[DaemonKind]) -> None:
    """Raises BadInputError for a property that there is not, and for a value that it can't have."""
    for name in properties:
        if name.startswith("cassandra.assay.") and name not in (*_KNOWN, KEYSPACE):
            raise BadInputError(f"{name} is no property of tables; {nearest(name, _KNOWN)}", name)
    if properties.get(SYNC, PERIODIC) not in (PERIODIC, BATCH):
        raise BadInputError(f"{SYNC} is {properties[SYNC]!r}, and must be {PERIODIC} or {BATCH}", SYNC)
    nodes = max(1, len(spec.workers))
    if int(properties.get(COPIES, "1")) > nodes:
        raise BadInputError(
            f"{COPIES} is {properties[COPIES]}, and {nodes} {'node has' if nodes == 1 else 'nodes have'} a daemon of "
            f"cassandra; ask for {nodes} at most, or for more nodes", COPIES, "replication",
        )  # fmt: skip


class CassandraTables(RowTables):
    """Tables of Cassandra."""

    scheme = NAME


SERVICE = Service(
    NAME,
    needs=(HDFS_SERVICE.name,),
    programs=Programs("cassandra-all-*.jar"),
    job_jars=("lib/jobs/*.jar",),
    client=CassandraTables.on,
    discovery=started_only(NAME),
    daemons=(DAEMON,),
    roles=(Role(LOG, "the commit logs of Cassandra's nodes", follows=OUTPUT),),
    check=check,
    properties=_properties,
    trial_properties=formats("org.assay.cassandra"),
    files=_files,
    # Memory and start as measured of one node with a heap of 768 MiB; what further nodes and files take is a guess.
    costs=Costs(cluster_mb=970, worker_mb=970, disk_mb=70, cluster_s=7.0, worker_s=3.0),
    bounds={COPIES: ValueBounds(1), RANGES: ValueBounds(1, 1 << 16)},
    first_words=frozenset({NAME}),
    properties_key=NAME,
    open_names=(r"cassandra\.assay\..+",),
    reserved=frozenset({CONTACTS, KEYSPACE}),
    read_by_daemons=(SYNC,),
    variables=("CASSANDRA_",),
    traffic={"cassandra_clients_from_server": "Cassandra read", "cassandra_clients_to_server": "Cassandra write"},
    loss_note=(
        "Cassandra's nodes miss one that is silent after some seconds. Until it is back its rows are read from their "
        "other copies, and lines that it is to have can't be put."
    ),
)
SERVICES.add(NAME, SERVICE, place=9)


def promise(properties: Mapping[str, str], nodes: int) -> Promise:
    """Return that of flushed tables: each node that is to have a line has synced it."""
    return Promise(copies=min(int(properties.get(COPIES, "1")), nodes), reach="drives")


def promise_while_staging(properties: Mapping[str, str], nodes: int) -> Promise:
    """Return that of a put, which the commit log gives."""
    reach = "memory" if properties.get(SYNC, PERIODIC) == PERIODIC else "drives"
    return promise(properties, nodes).model_copy(update={"reach": reach})


def space_factor(_properties: Mapping[str, str], line_bytes: float | None) -> float:
    """Return the factor of rows, with the log and with what a compaction makes of all files."""
    return 3 * (1 + _ROW_BYTES / line_bytes if line_bytes else _ROW_MOST)


def least_rooms(properties: Mapping[str, str], nodes: int) -> Sequence[LeastRoom]:
    """Return those of files, and room for the log's first segments."""
    why = "Cassandra makes whole segments of its commit log, of 32 MiB each, some at once"
    return (*HDFS.least_rooms(properties, nodes), LeastRoom(frozenset({LOG}), _SEGMENTS_BYTES, why))


def _placer(cluster: RunningCluster, layout: Layout) -> FolderPlacer:
    files = HdfsPlacer(cluster.client(HDFS_SERVICE.name, WebHdfs), directories_of(layout))
    return FolderPlacer(files, layout, FOLDERS, {KEYSPACE: KEYSPACES[OUTPUT]}, {LOG: f"/{_LOG_FOLDER}"})


STORES.add(
    NAME,
    StoreKind(
        open=lambda cluster: cluster.client(NAME, CassandraTables),
        services=(NAME,),
        holds=frozenset({TABLES}),
        promise=promise,
        promise_while_staging=promise_while_staging,
        placer=_placer,
        copies_property=COPIES,
        space_factor=space_factor,
        least_rooms=least_rooms,
    ),
    place=5,
)
