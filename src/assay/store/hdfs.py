"""HDFS: its files through WebHDFS, and its blocks steered to the directories of their role.

The landed bytes are those of block files as they lie in the DataNode's directories: what the NameNode believes about
storage types is not asked, so a policy that fell back silently shows.
"""

import json
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn
from urllib.parse import quote, urlsplit

from assay.host.http import NodeConnection, client
from assay.host.machine import user_name
from assay.model.errors import AssayError
from assay.model.fault import Redundancy
from assay.model.host_names import same_host
from assay.model.layout import INPUT, NEUTRAL, OUTPUT, Directory, Layout, Role
from assay.model.naming import bytes_text, lettered_size
from assay.model.node import Connect
from assay.model.record import Promise
from assay.model.registry import SERVICES, STORES
from assay.model.running_cluster import RunningCluster, counting_bytes, unnoticed
from assay.model.service import (
    ContainerStarts,
    Costs,
    DaemonKind,
    Heartbeats,
    LeastSize,
    NodeContext,
    Service,
    SiteFile,
    Timer,
    jmx_bean,
)
from assay.model.store import COMPRESSED_SUFFIXES, FILES, LeastRoom, Placer, Store, StoredFile, StoreKind
from assay.model.trial import Landed
from assay.model.value_bounds import MOST_LONG, ValueBounds
from assay.store.hadoop_fs import PIECE_BYTES, HadoopFs
from assay.store.hdfs_changes import CHANGES
from assay.store.hdfs_existing import EXISTING, INFO_PAGE, SCHEME
from assay.store.storage_policies import POLICY_ADMIN

if TYPE_CHECKING:
    import httpx

_PATIENCE_S = 120


class WebHdfs(Store):
    """HDFS. Source of the calls: the WebHDFS REST API of Hadoop 3."""

    streams = True

    def __init__(
        self, namenode_url: str, connect: Connect = socket.create_connection, took: Callable[[int], None] = unnoticed
    ) -> None:
        self._namenode = namenode_url.rstrip("/")
        self._url = self._namenode + "/webhdfs/v1"
        import httpx  # reading records needs none

        self._connect, self._took = connect, took
        self._client = client(connect, _PATIENCE_S)
        self._broken = httpx.HTTPError
        self._user = user_name()

    def location(self, path: str) -> str:
        """Return the path, which Hadoop's clients take as it is."""
        return path

    def put(self, source: Path, path: str) -> None:
        with source.open("rb") as file:
            self.write(path, iter(partial(file.read, PIECE_BYTES), b""))

    def write(self, path: str, pieces: Iterable[bytes]) -> None:
        """Create the file; an existing one is refused.

        Its blocks go to any DataNodes, as those of a client without one do: by itself the DataNode that takes the bytes
        would keep a copy of all of them, which one copy alone would leave on one node.
        """
        flags = "create,ignore_client_locality"
        redirect = self._call("PUT", path, op="CREATE", overwrite="false", createflag=flags, noredirect="true")
        try:
            answer = self._client.put(redirect["Location"], content=counting_bytes(pieces, self._took))
        except self._broken as error:
            raise AssayError(f"writing {path} to HDFS broke off: {error}") from error
        self._check(answer, "CREATE", path)

    def lines(self, path: str) -> Iterator[bytes]:
        """The lines of the files below a path that are not hidden (`_SUCCESS`), file by file in order of name."""
        for file in self.list_files(path):
            rest = b""
            for piece in self.pieces(file.path) if file.bytes else ():
                *lines, rest = (rest + piece).split(b"\n")
                yield from lines
            if rest:
                yield rest

    def list_files(self, path: str) -> list[StoredFile]:
        statuses = self._call("GET", path, op="LISTSTATUS")["FileStatuses"]["FileStatus"]
        files = []
        for status in sorted(statuses, key=lambda status: status["pathSuffix"]):
            name = status["pathSuffix"]
            if not name.startswith(("_", ".")) and status["type"] == "FILE":
                files.append(StoredFile(f"{path.rstrip('/')}/{name}" if name else path, int(status["length"])))
        return files

    def pieces(self, path: str, offset: int = 0, size: int | None = None) -> Iterator[bytes]:
        """Read from a DataNode that has the first of these bytes and can be reached."""
        range_parameters = {"offset": str(offset), **({} if size is None else {"length": str(size)})}
        try:
            connection, request = self._reached(path, range_parameters)
        except OSError as error:
            raise AssayError(f"reading {path} from HDFS failed: {error}") from error
        try:
            connection.request("GET", request)
            answer = connection.getresponse()
            if answer.status >= HTTPStatus.BAD_REQUEST:
                self._refuse(answer.status, answer.read(), "OPEN", path)
            while piece := answer.read(PIECE_BYTES):
                yield piece
            if answer.length:
                raise AssayError(f"reading {path} from HDFS broke off: {answer.length} bytes did not come")
        except (OSError, HTTPException) as error:
            raise AssayError(f"reading {path} from HDFS broke off: {error}") from error
        finally:
            connection.close()

    def _reached(self, path: str, range_parameters: Mapping[str, str]) -> tuple[NodeConnection, str]:
        """Connect to a DataNode; return the connection and what to ask for.

        The NameNode counts a dead DataNode as alive for minutes, and sends clients there: those that can't be reached
        are excluded then, as Hadoop's own client does. Raises OSError for the last one.
        """
        excluded: list[str] = []
        while True:
            more = {"excludedatanodes": ",".join(excluded)} if excluded else {}
            answer = self._call("GET", path, op="OPEN", noredirect="true", **range_parameters, **more)
            location = urlsplit(answer["Location"])
            # Not by httpx, which takes three times the processor time for a long body.
            connection = NodeConnection(location.netloc, _PATIENCE_S, self._connect)
            try:
                connection.connect()
            except OSError:
                connection.close()
                address = self._address_of(location.hostname or "", path, range_parameters["offset"])
                if address is None or address in excluded:
                    raise
                excluded.append(address)
            else:
                return connection, f"{location.path}?{location.query}"

    def _address_of(self, host: str, path: str, offset: str) -> str | None:
        """The IP address of a DataNode with a block of a file, which is what it is excluded by."""
        located = self._call("GET", path, op="GET_BLOCK_LOCATIONS", offset=offset, length="1")["LocatedBlocks"]
        replicas = [replica for block in located["locatedBlocks"] for replica in block["locations"]]
        return next(
            (
                str(replica["ipAddr"]) for replica in replicas
                if same_host(host, replica["hostName"]) or same_host(host, replica["ipAddr"])
            ),
            None,
        )  # fmt: skip

    def size_bytes(self, path: str) -> int:
        summary = self._if_there(path, "GETCONTENTSUMMARY")
        return int(summary["ContentSummary"]["length"]) if summary else 0

    def put_bytes(self, path: str) -> int | None:
        """Return what files have, of jobs' too; None where some are compressed."""
        size = self.size_bytes(path)
        return None if size and self._has_compressed(path) else size

    def _has_compressed(self, path: str) -> bool:
        """Whether any file at or below a path is compressed, by its name."""
        if any(file.path.endswith(COMPRESSED_SUFFIXES) for file in self.list_files(path)):
            return True
        return any(self._has_compressed(f"{path}/{name}") for name in self.folders(path))

    def delete(self, path: str) -> None:
        self._call("DELETE", path, op="DELETE", recursive="true")

    def make_directory(self, path: str) -> None:
        """Make a directory and its parents; one that exists is fine."""
        self._call("PUT", path, op="MKDIRS")

    def set_policy(self, path: str, policy: str) -> None:
        """Files created below the directory from now on follow this storage policy (`HOT`, `ALL_SSD`, ...)."""
        self._check(self._send("PUT", path, op="SETSTORAGEPOLICY", storagepolicy=policy), "SETSTORAGEPOLICY", path)

    def blocks(self, path: str) -> dict[int, int]:
        """The ids of all blocks of the files below a path, and the bytes of the replicas that the NameNode knows of.

        Files that are removed meanwhile have none.
        """
        file = self._if_there(path, "GETFILESTATUS")
        if file is None:
            return {}
        if file["FileStatus"]["type"] == "FILE":
            located = self._if_there(path, "GET_BLOCK_LOCATIONS")
            return {
                int(block["block"]["blockId"]): block["block"]["numBytes"] * len(block["locations"])
                for block in (located["LocatedBlocks"]["locatedBlocks"] if located else ())
            }
        listed = self._if_there(path, "LISTSTATUS")
        blocks: dict[int, int] = {}
        for status in listed["FileStatuses"]["FileStatus"] if listed else ():
            blocks |= self.blocks(f"{path.rstrip('/')}/{status['pathSuffix']}")
        return blocks

    def folders(self, path: str) -> list[str]:
        """The names of the folders directly in a folder; none where it does not exist."""
        listed = self._if_there(path, "LISTSTATUS")
        statuses = listed["FileStatuses"]["FileStatus"] if listed else ()
        return [status["pathSuffix"] for status in statuses if status["type"] == "DIRECTORY"]

    def name_system(self) -> Mapping[str, Any]:
        """What the NameNode counts of blocks and DataNodes: its JMX beans FSNamesystem and FSNamesystemState."""
        try:
            answer = self._client.get(
                self._namenode + "/jmx", params={"qry": "Hadoop:service=NameNode,name=FSNamesystem*"}
            )
        except self._broken as error:
            raise AssayError(f"the NameNode at {self._namenode} did not answer: {error}") from error
        self._check(answer, "JMX", "FSNamesystem")
        return {name: value for bean in answer.json()["beans"] for name, value in bean.items()}

    def _send(self, method: str, path: str, **parameters: str) -> "httpx.Response":
        try:
            return self._client.request(method, self._url + quote(path), params={"user.name": self._user, **parameters})
        except self._broken as error:
            raise AssayError(f"WebHDFS at {self._url} did not answer {parameters['op']} of {path}: {error}") from error

    def _if_there(self, path: str, operation: str) -> Any:
        """What HDFS says of a path; None where there is nothing, or no longer."""
        answer = self._send("GET", path, op=operation)
        if answer.status_code == HTTPStatus.NOT_FOUND:
            return None
        self._check(answer, operation, path)
        return answer.json()

    def _call(self, method: str, path: str, **parameters: str) -> Any:
        answer = self._send(method, path, **parameters)
        self._check(answer, parameters["op"], path)
        return answer.json()

    def _check(self, answer: "httpx.Response", operation: str, path: str) -> None:
        if answer.is_error:
            self._refuse(answer.status_code, answer.content, operation, path)

    @staticmethod
    def _refuse(status: int, body: bytes, operation: str, path: str) -> NoReturn:
        try:
            reason = json.loads(body)["RemoteException"]["message"].splitlines()[0]
        except (ValueError, KeyError):
            reason = f"http status {status}"
        raise AssayError(f"HDFS refused {operation} of {path}: {reason}")


SYSTEM = "system"
"""The role of jobs' own files."""
_ROLES = (
    Role(INPUT, "the files that the jobs read"),
    Role(OUTPUT, "the files that the jobs write", beside=INPUT),
    Role(SYSTEM, "the jobs' own files (job jars, splits, histories)", follows=NEUTRAL),
)
_DATA, _OUTPUT, _SYSTEM = "DISK", "SSD", "ARCHIVE"
"""The storage types that keep the directories of different roles apart. They name roles, not technologies: an emulated
hard disk may serve the output under the type SSD."""
_POLICIES = {_DATA: "HOT", _OUTPUT: "ALL_SSD", _SYSTEM: "COLD"}
"""The storage policy that keeps a path's blocks on directories of one type (Hadoop's BlockStoragePolicySuite)."""


def directories_of(layout: Layout, *others: str) -> tuple[Directory, ...]:
    """Those of its DataNodes: of HDFS' roles, and of others whose bytes another service keeps in HDFS."""
    return layout.of(*(role.name for role in _ROLES), *others)


def data_dirs(layout: Layout, others: Mapping[str, str] = {}) -> str:
    """Return the directories with their storage types, as DataNodes read them; `others` has those of further roles."""
    types = {OUTPUT: _OUTPUT, SYSTEM: _SYSTEM, **others}

    def storage_type(directory: Directory) -> str:
        return types.get(directory.roles[0], _DATA) if len(directory.roles) == 1 else _DATA

    return ",".join(f"[{storage_type(directory)}]{directory.path}" for directory in directories_of(layout, *others))


def is_apart(directories: Iterable[Directory]) -> bool:
    """Whether what jobs write has directories of its own."""
    return any(directory.roles == (OUTPUT,) for directory in directories)


SYSTEM_PATH = "/tmp"  # noqa: S108 - in HDFS: where MapReduce stages jobs and keeps their histories


def _block_files(directory: Directory) -> list[Path]:
    """Those of its blocks, below `finalized` and `rbw`, without their checksums."""
    files = directory.path.glob("current/BP-*/current/*/**/blk_*")
    return [file for file in files if file.suffix != ".meta"]


class HdfsPlacer(Placer):
    """See `model.store.Placer`; for a cluster whose DataNode's directories lie on this machine."""

    def __init__(self, store: WebHdfs, directories: Sequence[Directory]) -> None:
        self._store = store
        self._directories = directories

    def prepare(self, base: str, input_path: str) -> None:
        """Policies for the workload's input, for all else below its base, and for the jobs' own files."""
        apart = is_apart(self._directories)
        self._steer(SYSTEM_PATH, _SYSTEM)
        self._steer(base, _OUTPUT if apart else _DATA)
        if apart:
            self._steer(input_path, _DATA)

    def landed(self, role: str, when: Literal["staged", "run"], path: str) -> Landed:
        """Bytes of the path's block files on each medium."""
        return self.landed_blocks(role, when, self._store.blocks(path))

    def landed_blocks(self, role: str, when: Literal["staged", "run"], expected: Mapping[int, int]) -> Landed:
        """Bytes of the files of blocks on each medium; `expected` has the bytes of a block's replicas by its id."""
        by_medium: dict[str, int] = {}
        for directory in self._directories if expected else ():
            blocks = [file for file in _block_files(directory) if int(file.name.removeprefix("blk_")) in expected]
            if size := sum(file.stat().st_size for file in blocks):
                by_medium[directory.medium] = by_medium.get(directory.medium, 0) + size
        total = sum(by_medium.values())
        shares = {medium: size / total for medium, size in by_medium.items()}
        of_bytes = sum(expected.values())
        # An open file's last block has no length yet: then only the file tells how long it is.
        lost = bool(expected) and not total and not of_bytes
        trouble = f"none of its {len(expected)} blocks is in the folders of the media" if lost else None
        return Landed(role=role, when=when, bytes=total, shares=shares, of_bytes=of_bytes, trouble=trouble)

    def redundancy(self, lost: Sequence[Directory]) -> Redundancy:
        """By the block files in the lost directories, and by what the NameNode knows."""
        counted = self._store.name_system()
        try:
            return Redundancy(
                copies_lost=sum(len(_block_files(directory)) for directory in lost),
                under_replicated_blocks=counted["UnderReplicatedBlocks"],
                missing_blocks=counted["MissingBlocks"],
                dead_datanodes=counted["NumDeadDataNodes"],
            )
        except KeyError as error:
            raise AssayError(f"the NameNode does not count {error}") from error

    def _steer(self, path: str, storage_type: str) -> None:
        self._store.make_directory(path)
        self._store.set_policy(path, _POLICIES[storage_type])


_RPC = "dfs.namenode.rpc-address"
COPIES = "dfs.replication"
_SYNCED = "dfs.datanode.synconclose"
BLOCK = "dfs.blocksize"
_BLOCK_BYTES = 128 << 20
_LEFT_FREE = {
    "dfs.datanode.du.reserved": 0,
    "dfs.datanode.round-robin-volume-choosing-policy.additional-available-space": 1 << 30,
}
"""The properties of what DataNodes leave free for others and beside a new block, with their defaults."""
_LEAST_BLOCK = "dfs.namenode.fs-limits.min-block-size"
_HEARTBEAT = "dfs.heartbeat.interval"
# The lines of Hadoop 3's HttpServer2, DataXceiverServer, IPC server and DatanodeHttpServer.
_JETTY = {r"Jetty bound to port (\d+)": "web"}
DATANODE = DaemonKind(
    "datanode", "org.apache.hadoop.hdfs.server.datanode.DataNode", on_workers=True,
    logged_ports={
        r"Opened streaming server at \S*:(\d+)": "hdfs data", r"Opened IPC server at \S*:(\d+)": "hdfs rpc",
        r"Listening HTTP traffic on \S*:(\d+)": "web", **_JETTY,
    },
    # The first copy is written on the writer's own node (BlockPlacementPolicyDefault).
    copied="hdfs data",
    ready_text="Successfully sent block report", page=INFO_PAGE, status_from="namenode",
    ready=lambda answer: jmx_bean(answer).get("LiveNodes", "{}") != "{}",
)  # fmt: skip
NAMENODE = DaemonKind(
    "namenode", "org.apache.hadoop.hdfs.server.namenode.NameNode",
    ports={"dfs.namenode.http-address": "web", _RPC: "hdfs rpc"}, logged_ports=_JETTY,
    # Out of safe mode directories can be made, though there may be no DataNode yet.
    ready_text="Leaving safe mode", page=INFO_PAGE, ready=lambda answer: jmx_bean(answer).get("Safemode") == "",
    formats=("-format", "-nonInteractive", "-force"),
    heartbeats=Heartbeats(
        "/jmx?qry=Hadoop:service=NameNode,name=RpcDetailedActivityForPort*", "SendHeartbeatNumOps", _HEARTBEAT, 1.0,
        "datanode",
    ),
)  # fmt: skip


def _properties(node: NodeContext) -> Mapping[str, str]:
    """The DataNode's directories, each with its storage type; one copy of each block.

    A node's DataNode is reached by its name, which may be that on another network than the NameNode's.
    """
    several = not node.addresses[_RPC].startswith(f"{node.host}:")
    by_name = {f"dfs.{who}.use.datanode.hostname": "true" for who in ("client", "datanode") if several}
    return {
        **by_name,
        "fs.defaultFS": f"{SCHEME}://{node.addresses[_RPC]}",
        "dfs.namenode.secondary.http-address": node.any_port,
        "dfs.namenode.name.dir": str(node.layout.neutral / "name"),
        "dfs.datanode.address": node.any_port,
        "dfs.datanode.http.address": node.any_port,
        "dfs.datanode.ipc.address": node.any_port,
        "dfs.datanode.hostname": node.host,
        "dfs.datanode.data.dir": data_dirs(node.layout),
        COPIES: "1",
    }


def size_property(properties: Mapping[str, str], name: str, default: int) -> int:
    """The bytes that a property says, in Hadoop's letters; the default where it says no number."""
    size = lettered_size(properties.get(name, "").strip())
    return default if size is None else int(size)


def block_bytes(properties: Mapping[str, str]) -> int:
    """How large a file's blocks are."""
    return size_property(properties, BLOCK, _BLOCK_BYTES)


def left_free_bytes(properties: Mapping[str, str]) -> int:
    """How much a DataNode leaves free in a directory beside whole blocks of the files that are being written there.

    Source: FsVolumeImpl.getAvailable and RoundRobinVolumeChoosingPolicy.
    """
    return sum(size_property(properties, name, default) for name, default in _LEFT_FREE.items())


def _start_properties(starts: ContainerStarts, _chosen: Mapping[str, str]) -> Mapping[str, str]:
    """Brisk starts look sooner for a file's last block.

    It is often reported to the NameNode a few milliseconds after the client asks to close the file; the client then
    sleeps before it asks again, 400 ms by default, and a job closes about ten small files.
    """
    if not starts.brisk:
        return {}
    return {
        "dfs.client.block.write.locateFollowingBlock.initial.delay.ms": "10",
        "dfs.client.block.write.locateFollowingBlock.max.delay.ms": "400",
    }


def _client(cluster: RunningCluster) -> WebHdfs | HadoopFs:
    """On a cluster that is not Assay's the user's own client, which has the user's rights."""
    if cluster.outlives:
        return HadoopFs(cluster.hadoop, cluster.environment)
    return WebHdfs(cluster.addresses["namenode"], cluster.connect, cluster.took)


_DEFAULTS = "hdfs-default.xml"
HDFS_SERVICE = Service(
    SCHEME,
    needs=("hadoop",),
    daemons=(DATANODE, NAMENODE),
    existing=EXISTING,
    changes=CHANGES,
    client=_client,
    roles=_ROLES,
    properties=_properties,
    sites=(SiteFile("hdfs-site.xml", ("dfs.",)),),
    timers=(
        Timer(_HEARTBEAT, "3", _DEFAULTS),
        Timer("dfs.namenode.heartbeat.recheck-interval", "300000", _DEFAULTS),
        Timer("dfs.namenode.stale.datanode.interval", "30000", _DEFAULTS),
        Timer("dfs.namenode.redundancy.interval.seconds", "3", _DEFAULTS),
        Timer("dfs.namenode.reconstruction.pending.timeout-sec", "300", _DEFAULTS),
        Timer("dfs.namenode.safemode.extension", "30000", _DEFAULTS),
        Timer("dfs.namenode.lease-recheck-interval-ms", "2000", _DEFAULTS),
        Timer("dfs.namenode.resource.check.interval", "5000", _DEFAULTS),
        Timer("dfs.datanode.bp-ready.timeout", "20", _DEFAULTS),
        Timer("dfs.datanode.socket.reuse.keepalive", "4000", _DEFAULTS),
        Timer("dfs.datanode.socket.write.timeout", "480000", _DEFAULTS),
        Timer("dfs.datanode.slow.io.warning.threshold.ms", "300", _DEFAULTS),
        Timer("dfs.client.slow.io.warning.threshold.ms", "30000", _DEFAULTS),
        Timer("dfs.client.socket-timeout", "60000", _DEFAULTS),
        Timer("dfs.client.socketcache.expiryMsec", "3000", _DEFAULTS),
        Timer("dfs.client.retry.window.base", "3000", _DEFAULTS),
        Timer("dfs.client.retry.interval-ms.get-last-block-length", "4000", _DEFAULTS),
        Timer("dfs.client.datanode-restart.timeout", "30", _DEFAULTS),
        Timer("dfs.client.write.exclude.nodes.cache.expiry.interval.millis", "600000", _DEFAULTS),
        Timer("dfs.client.block.write.locateFollowingBlock.initial.delay.ms", "400", _DEFAULTS),
        Timer("dfs.client.block.write.locateFollowingBlock.max.delay.ms", "60000", _DEFAULTS),
        Timer("dfs.client.congestion.backoff.mean.time", "5000", _DEFAULTS),
        Timer("dfs.client.congestion.backoff.max.time", "50000", _DEFAULTS),
        Timer("dfs.webhdfs.socket.connect-timeout", "60s", _DEFAULTS),
        Timer("dfs.webhdfs.socket.read-timeout", "60s", _DEFAULTS),
    ),
    start_properties=_start_properties,
    # As measured: both daemons, a worker's with a heap of 128 MiB; what a formatted HDFS has on disk.
    costs=Costs(cluster_mb=600, worker_mb=200, disk_mb=50, cluster_s=4.0, worker_s=2.5),
    bounds={
        "dfs.bytes-per-checksum": ValueBounds(1),
        BLOCK: ValueBounds(1, MOST_LONG, size=True),
        _LEAST_BLOCK: ValueBounds(0, MOST_LONG, size=True),
        COPIES: ValueBounds(1, 512),  # dfs.replication.max
    },
    least_sizes={
        BLOCK: LeastSize(
            1 << 20,
            512,
            _LEAST_BLOCK,
            f"1m or more, a multiple of 512 bytes ({_LEAST_BLOCK} is the least that a NameNode takes)",
        )
    },
    first_words=frozenset({"dfs"}),
    open_names=(r"dfs\.(namenode|datanode|ha|nameservices?|journalnode)\..+",),
    traffic={
        "hdfs_data_from_server": "HDFS read",
        "hdfs_data_to_server": "HDFS write",
        "replication_to_server": "replication",
    },
    traffic_note=(
        "“HDFS read” is all that DataNodes send, “replication” all that a DataNode's node sends to another DataNode. "
        "So acknowledgements of replicated blocks count as read, those of read blocks as replication."
    ),
    loss_note=(
        "The NameNode counts a DataNode as dead, and its blocks as having too few copies, 10.5 minutes after it last "
        "heard of it unless Hadoop's timers are set otherwise."
    ),
    reserved=frozenset(
        {
            "dfs.namenode.name.dir",
            "dfs.datanode.data.dir",
            "dfs.datanode.fsdataset.volume.choosing.policy",
        }
    ),
    read_by_daemons=("dfs.namenode.", "dfs.datanode."),
    commands={
        "dfs": "org.apache.hadoop.fs.FsShell",
        "dfsadmin": "org.apache.hadoop.hdfs.tools.DFSAdmin",
        "storagepolicies": POLICY_ADMIN,
        "mover": "org.apache.hadoop.hdfs.server.mover.Mover",
        "fsck": "org.apache.hadoop.hdfs.tools.DFSck",
    },
    variables=("HDFS_",),
    property_jars=("hadoop-hdfs-[0-9]*.jar", "hadoop-hdfs-client-[0-9]*.jar"),
    folders=("hdfs", "hdfs/lib"),
)
SERVICES.add(HDFS_SERVICE.name, HDFS_SERVICE, place=2)


def promise(properties: Mapping[str, str], nodes: int) -> Promise:
    """Return that of closed files, which DataNodes leave to the kernel unless they sync.

    A DataNode has at most one copy of a block.
    """
    synced = properties.get(_SYNCED, "false").strip().lower() == "true"
    copies = min(int(properties.get(COPIES, "1")), nodes)
    return Promise(copies=copies, reach="drives" if synced else "memory")


def least_rooms(properties: Mapping[str, str], _nodes: int) -> Sequence[LeastRoom]:
    """Return a whole block beside what DataNodes leave free: none is begun with less."""
    block, free = block_bytes(properties), left_free_bytes(properties)
    why = (
        f"DataNodes begin a block only where a whole one fits ({BLOCK}, {bytes_text(block)}) and "
        f"{bytes_text(free)} stay free ({', '.join(_LEFT_FREE)})"
    )
    return (LeastRoom(frozenset({INPUT, OUTPUT}), free + block, why),)


HDFS = StoreKind(
    open=lambda cluster: cluster.client(HDFS_SERVICE.name, Store),
    services=(HDFS_SERVICE.name,),
    holds=frozenset({FILES}),
    promise=promise,
    placer=lambda cluster, layout: HdfsPlacer(cluster.client(HDFS_SERVICE.name, WebHdfs), directories_of(layout)),
    copies_property=COPIES,
    least_rooms=least_rooms,
)
STORES.add(HDFS_SERVICE.name, HDFS, place=1)
