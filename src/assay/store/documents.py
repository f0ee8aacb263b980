"""Documents as a store: on each worker a server keeps its share of all tables, as documents with a line each.

The server is FerretDB on SQLite, which speaks MongoDB's protocol, built so that it uses its index of `_id`: see
`programs/documents/prepare`. Documents of the input and of the output are in a
database each, which lies in the directories of its role. Files of jobs are in HDFS. See `jobs/documents`.
"""

import sys
from collections.abc import Mapping, Sequence

from assay.model.cluster import EmbeddedSpec
from assay.model.doubt import Doubt, doubt_kind
from assay.model.errors import BadInputError
from assay.model.layout import INPUT, OUTPUT, Layout
from assay.model.naming import nearest
from assay.model.record import Promise
from assay.model.registry import SERVICES, STORES
from assay.model.running_cluster import RunningCluster
from assay.model.service import Costs, DaemonKind, NodeContext, Programs, Service
from assay.model.store import TABLES, StoreKind
from assay.model.value_bounds import ValueBounds
from assay.store import documents_server
from assay.store.hdfs import HDFS, HDFS_SERVICE, HdfsPlacer, WebHdfs, directories_of
from assay.store.on_workers import FolderPlacer, RoleFolders, hosts, port, started_only
from assay.store.row_tables import RowTables, formats

NAME = "documents"
DATABASES = {INPUT: "assay_input", OUTPUT: "assay_output"}
"""The databases of tables by their roles."""
FOLDERS = RoleFolders(NAME, DATABASES)
_ADDRESS = "documents.address"
SERVERS = "documents.servers"
DATABASE = "documents.assay.database"
"""The property with the database of new tables."""
TASKS = "documents.assay.tasks"
_ROW_BYTES = 200
"""What a row has beside its line: its key twice, names and types of fields, and its share of SQLite's pages."""
_LINE_FACTOR = 4 / 3
"""A line is text in a document: base64."""
_SHORTEST_LINE = 12
"""Of lines of which nothing is known: edges."""

NOT_MONGODB = doubt_kind(
    "not-mongodb",
    "trial",
    when="a trial keeps its data in the store `documents`",
    why=(
        "the server is FerretDB on SQLite, which speaks MongoDB's protocol: times and bytes tell what a job needs of "
        "that server, and say nothing about MongoDB"
    ),
    cure="read the store's name as FerretDB on SQLite, and ask nothing about MongoDB of these numbers",
    severity=15,
)


def _program(node: NodeContext) -> Sequence[str]:
    (server,) = (node.programs / NAME / "lib").glob("ferretdb-*")
    databases = [f"{database}={FOLDERS.of(node.layout, role)}" for role, database in DATABASES.items()]
    address = f"{node.host}:{port(node.addresses, _ADDRESS)}"
    script = documents_server.__file__
    return [sys.executable, script, str(server), address, str(node.layout.neutral / NAME), *databases]


DAEMON = DaemonKind(
    NAME, program=_program, memory_mb=documents_server.HEAP_MB + 64, on_workers=True,
    ports={_ADDRESS: "documents"}, ready_text="Listening on TCP",
)  # fmt: skip


def _properties(node: NodeContext) -> Mapping[str, str]:
    """Addresses with the port that was free on the first node, which each has."""
    addresses = [f"{host}:{port(node.addresses, _ADDRESS)}" for host in hosts(node)]
    return {_ADDRESS: f"{node.host}:{port(node.addresses, _ADDRESS)}", SERVERS: ",".join(addresses)}


def check(_spec: EmbeddedSpec, properties: Mapping[str, str], _daemons: Sequence[DaemonKind]) -> None:
    """Raises BadInputError for a property that there is not."""
    for name in properties:
        if name.startswith("documents.assay.") and name not in (TASKS, DATABASE):
            raise BadInputError(f"{name} is no property of tables; {nearest(name, [TASKS])}", name)


class DocumentTables(RowTables):
    """Tables of documents."""

    scheme = NAME

    def doubts(self) -> tuple[Doubt, ...]:
        """See `model.medium.Doubtful`."""
        return (NOT_MONGODB.doubt("data were kept by FerretDB on SQLite, by MongoDB's protocol"),)


SERVICE = Service(
    NAME,
    needs=(HDFS_SERVICE.name,),
    programs=Programs("ferretdb-*"),
    job_jars=("lib/jobs/*.jar",),
    client=DocumentTables.on,
    discovery=started_only(NAME),
    daemons=(DAEMON,),
    check=check,
    properties=_properties,
    trial_properties=formats("org.assay.documents"),
    settings=lambda _nodes: {"documents.server": "FerretDB on SQLite, its index of _id in use, by MongoDB's protocol"},
    costs=Costs(cluster_mb=300, worker_mb=300, disk_mb=5, cluster_s=1.0, worker_s=0.5),
    bounds={TASKS: ValueBounds(1, 1 << 16)},
    first_words=frozenset({NAME}),
    properties_key=NAME,
    open_names=(r"documents\.assay\..+",),
    reserved=frozenset({SERVERS, DATABASE}),
    variables=("FERRETDB_", "GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT"),
    traffic={"documents_from_server": "FerretDB read", "documents_to_server": "FerretDB write"},
    loss_note="Each document is on one FerretDB server: until a lost one is back, jobs that read its documents fail.",
)
SERVICES.add(NAME, SERVICE, place=10)


def _placer(cluster: RunningCluster, layout: Layout) -> FolderPlacer:
    files = HdfsPlacer(cluster.client(HDFS_SERVICE.name, WebHdfs), directories_of(layout))
    return FolderPlacer(files, layout, FOLDERS, {DATABASE: DATABASES[OUTPUT]})


def space_factor(_properties: Mapping[str, str], line_bytes: float | None) -> float:
    """Return the factor of documents with their index; the log is short."""
    return _LINE_FACTOR + _ROW_BYTES / (line_bytes or _SHORTEST_LINE)


STORES.add(
    NAME,
    StoreKind(
        open=lambda cluster: cluster.client(NAME, DocumentTables),
        services=(NAME,),
        holds=frozenset({TABLES}),
        # Each put is a transaction, whose log SQLite has synced when it is answered.
        promise=lambda _properties, _nodes: Promise(copies=1, reach="drives"),
        placer=_placer,
        space_factor=space_factor,
        least_rooms=HDFS.least_rooms,
    ),
    place=6,
)
