"""Redis as a store: on each worker a server keeps its share of all tables in memory, a key for each line.

What a server is given it appends to a file in the directory of the role `log`, and that is all it has on drives. Files
of jobs are in HDFS. See `jobs/redis`.
"""

import json
from collections.abc import Mapping, Sequence

from assay.model.cluster import EmbeddedSpec
from assay.model.doubt import Doubt, doubt_kind
from assay.model.errors import BadInputError
from assay.model.layout import OUTPUT, Layout, Role
from assay.model.naming import nearest
from assay.model.record import Promise
from assay.model.registry import SERVICES, STORES
from assay.model.running_cluster import RunningCluster
from assay.model.service import Costs, DaemonKind, HeldData, NodeContext, Programs, Service
from assay.model.store import TABLES, StoreKind
from assay.model.value_bounds import ValueBounds
from assay.store.hdfs import HDFS, HDFS_SERVICE, HdfsPlacer, WebHdfs, directories_of
from assay.store.on_workers import FolderPlacer, RoleFolders, hosts, port, started_only
from assay.store.row_tables import RowTables, formats

NAME = "redis"
LOG = "log"
_LOG_FOLDER = "appendonly"
FOLDERS = RoleFolders(NAME, {LOG: _LOG_FOLDER})
_ADDRESS = "redis.address"
SERVERS = "redis.servers"
TASKS, MEMORY = "redis.assay.tasks", "redis.assay.maxmemory-mb"
FSYNC, EVERYSEC, ALWAYS = "redis.assay.appendfsync", "everysec", "always"
"""When the log of what a server has taken is synced: each second, or before it answers."""
_KNOWN = (TASKS, MEMORY, FSYNC)
HELD = HeldData(MEMORY, 1024)
_MEMORY_FACTOR, _ROW_MEMORY_BYTES = 1.25, 160
"""Bytes of memory for each byte of a line, of which the allocator has some to spare, and of a row beside its line: its
key, what holds both, and its share of the tables of all keys, of which there are two while they grow."""
_LOG_FACTOR, _ROW_LOG_BYTES = 2, 70
"""Of the log there are two while it is rewritten; a row has its key and lengths there."""
_SHORTEST_LINE = 12
"""Of lines of which nothing is known: edges."""

DATA_IN_MEMORY = doubt_kind(
    "data-in-memory",
    "trial",
    when="a trial keeps its data in the store `redis`",
    why=(
        "servers hold all data in memory, and no read of them waits for a drive: a drive changes how long their log "
        "(the append-only file) and its rewrite take, and nothing else of the store, so that drives look alike"
    ),
    cure="ask of these trials which drive the log needs; compare drives for data with a store that keeps data on them",
    severity=15,
)


def _config(node: NodeContext, properties: Mapping[str, str]) -> str:
    """A server's configuration: where nothing is said as Redis has it, but for its log in place of snapshots."""
    lines = {
        "bind": node.host,
        "port": port(properties, _ADDRESS),
        # Clients on the cluster's other nodes give no password.
        "protected-mode": "no",
        # Its name would be written over its environment, by which it is known.
        "set-proc-title": "no",
        "dir": json.dumps(str(FOLDERS.of(node.layout, LOG)), ensure_ascii=False),
        "save": '""',
        "appendonly": "yes",
        "appendfsync": properties.get(FSYNC, EVERYSEC),
        "maxmemory": f"{HELD.most_mb(properties)}mb",
        "maxmemory-policy": "noeviction",
    }
    return "".join(f"{name} {value}\n" for name, value in lines.items())


def _program(node: NodeContext) -> Sequence[str]:
    (server,) = (node.programs / NAME / "lib").glob("redis-server-*")
    config, folder = node.conf_dir / NAME / "redis.conf", FOLDERS.of(node.of(NAME).layout, LOG)
    return ["/bin/sh", "-c", 'mkdir -p "$2" && exec "$0" "$1"', str(server), str(config), str(folder)]


DAEMON = DaemonKind(
    NAME, program=_program, memory_mb=32, held=HELD, on_workers=True, ports={_ADDRESS: "redis"},
    ready_text="Ready to accept connections",
    reason=r"Address already in use|No space left on device|Bad file format|[Cc]an't open|^>>> ",
)  # fmt: skip


def _properties(node: NodeContext) -> Mapping[str, str]:
    """Addresses with the port that was free on the first node, which each has."""
    addresses = [f"{host}:{port(node.addresses, _ADDRESS)}" for host in hosts(node)]
    return {_ADDRESS: f"{node.host}:{port(node.addresses, _ADDRESS)}", SERVERS: ",".join(addresses)}


def check(_spec: EmbeddedSpec, properties: Mapping[str, str], _daemons: Sequence[DaemonKind]) -> None:
    """Raises BadInputError for a property that there is not, and for a value that it can't have."""
    for name in properties:
        if name.startswith("redis.assay.") and name not in _KNOWN:
            raise BadInputError(f"{name} is no property of tables; {nearest(name, _KNOWN)}", name)
    if properties.get(FSYNC, EVERYSEC) not in (EVERYSEC, ALWAYS):
        raise BadInputError(f"{FSYNC} is {properties[FSYNC]!r}, and must be {EVERYSEC} or {ALWAYS}", FSYNC)


class RedisTables(RowTables):
    """Tables of Redis."""

    scheme = NAME

    def doubts(self) -> tuple[Doubt, ...]:
        """See `model.medium.Doubtful`."""
        return (DATA_IN_MEMORY.doubt("all data were held in the memory of Redis' servers"),)


SERVICE = Service(
    NAME,
    needs=(HDFS_SERVICE.name,),
    programs=Programs("redis-server-*"),
    job_jars=("lib/jobs/*.jar",),
    client=RedisTables.on,
    discovery=started_only(NAME),
    daemons=(DAEMON,),
    roles=(Role(LOG, "the append-only files of Redis' servers", follows=OUTPUT),),
    check=check,
    properties=_properties,
    trial_properties=formats("org.assay.redis"),
    files=lambda node, properties: {f"{NAME}/redis.conf": _config(node, properties)},
    settings=lambda _nodes: {"redis.persistence": "an append-only file, no snapshots; nothing is evicted"},
    # Without the data.
    costs=Costs(cluster_mb=20, worker_mb=20, disk_mb=1, cluster_s=0.5, worker_s=0.3),
    bounds={TASKS: ValueBounds(1, 1 << 16), MEMORY: ValueBounds(16, 1 << 20)},
    first_words=frozenset({NAME}),
    properties_key=NAME,
    open_names=(r"redis\.assay\..+",),
    reserved=frozenset({SERVERS}),
    read_by_daemons=(MEMORY, FSYNC),
    variables=("MALLOC_CONF",),
    traffic={"redis_from_server": "Redis read", "redis_to_server": "Redis write"},
    loss_note=(
        "Each line is on one Redis server. One that was lost reads its log when it is back, which may lack what it "
        "took in its last second; until then jobs that read its lines fail."
    ),
)
SERVICES.add(NAME, SERVICE, place=11)


def promise(properties: Mapping[str, str], _nodes: int) -> Promise:
    """Return that of a put, which the log gives."""
    synced = properties.get(FSYNC, EVERYSEC) == ALWAYS
    return Promise(copies=1, reach="drives" if synced else "in memory, and in a log that is synced each second")


def memory_factor(_properties: Mapping[str, str], line_bytes: float | None) -> float:
    """Return the factor of rows; the log is written from the same memory."""
    return _MEMORY_FACTOR + _ROW_MEMORY_BYTES / (line_bytes or _SHORTEST_LINE)


def space_factor(_properties: Mapping[str, str], line_bytes: float | None) -> float:
    """Return the factor of the log while it is rewritten."""
    return _LOG_FACTOR * (1 + _ROW_LOG_BYTES / (line_bytes or _SHORTEST_LINE))


def _placer(cluster: RunningCluster, layout: Layout) -> FolderPlacer:
    files = HdfsPlacer(cluster.client(HDFS_SERVICE.name, WebHdfs), directories_of(layout))
    return FolderPlacer(files, layout, FOLDERS, {}, {LOG: f"/{_LOG_FOLDER}"})


STORES.add(
    NAME,
    StoreKind(
        open=lambda cluster: cluster.client(NAME, RedisTables),
        services=(NAME,),
        holds=frozenset({TABLES}),
        promise=promise,
        placer=_placer,
        space_factor=space_factor,
        memory_factor=memory_factor,
        least_rooms=HDFS.least_rooms,
    ),
    place=7,
)
