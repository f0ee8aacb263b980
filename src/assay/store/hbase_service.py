"""What HBase brings to a cluster of Assay's own: ZooKeeper and HMaster on the master, region servers on the workers.

HBase's files lie in HDFS: tables with the data of the roles `input` and `output`, the servers' logs in directories of
the role `log`. All listen where Assay says, and on no other port.
"""

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence

from assay.model.cluster import EmbeddedSpec
from assay.model.layout import NEUTRAL, OUTPUT, Directory, Layout, Role
from assay.model.registry import SERVICES
from assay.model.running_cluster import RunningCluster, with_classpath
from assay.model.service import (
    Costs,
    DaemonKind,
    Discovery,
    NodeContext,
    Programs,
    Service,
    ServiceProfile,
    SiteFile,
    Timer,
)
from assay.model.value_bounds import ValueBounds
from assay.store import hbase_found
from assay.store.hbase_counters import COUNTERS, FOLDER, METRICS, METRICS_FILE
from assay.store.hbase_tables import (
    COMPRESSION,
    ENCODING,
    FORMATS,
    POLICY,
    REGIONS,
    SCHEME,
    USED,
    HbaseTables,
    check_properties,
)
from assay.store.hdfs import HDFS_SERVICE, data_dirs

LOG = "log"
CACHE = "cache"
CACHE_MB = "hbase.bucketcache.size"
"""The property with the size of a region server's block cache outside its heap."""
LEAST_CACHE_MB, MOST_CACHE_MB = 32, 8192
"""With less there is no bucket for each of the sizes of blocks (`BucketAllocator`). A server keeps some 300 bytes of
its heap for each block, so that of a larger one the index alone would fill what the heap has to spare."""
ROOT = "/hbase"
TABLES_FOLDER = f"{ROOT}/data/default"
ARCHIVE_FOLDER = f"{ROOT}/archive/data/default"
"""Of what tables no longer need: what compactions have replaced, until HMaster removes it after minutes."""
LOGS_FOLDER = "/hbase-logs"
_LOG_TYPE, _LOG_POLICY = "NVDIMM", "ALL_NVDIMM"
"""The storage type of the directories of the role `log`, whatever they lie on, and the policy that keeps to it."""
OF_OUTPUT = "ALL_SSD"
"""The storage policy that keeps tables in the directories of the output; those of the input need none."""

_ZOOKEEPER = "zookeeper.address"
_ZOOKEEPER_FILE = "zoo.cfg"


_SESSION = Timer("zookeeper.session.timeout", "90000", "hbase-default.xml")
"""How long HBase's servers may be silent, in milliseconds."""
_TICK_MS = 2000
_USUAL_MOST_MS = 20 * _TICK_MS
"""The longest session that ZooKeeper grants by itself, whatever its clients ask for."""


def _zookeeper_files(node: NodeContext, properties: Mapping[str, str]) -> Mapping[str, str]:
    host, _, port = properties[_ZOOKEEPER].rpartition(":")
    settings = {
        "dataDir": str(node.layout.neutral / "zookeeper"), "clientPort": port, "clientPortAddress": host,
        "tickTime": str(_TICK_MS), "maxClientCnxns": "0", "admin.enableServer": "false",
        "maxSessionTimeout": str(max(_USUAL_MOST_MS, int(properties.get(_SESSION.name, _SESSION.default)))),
    }  # fmt: skip
    return {_ZOOKEEPER_FILE: "".join(f"{name}={value}\n" for name, value in settings.items())}


ZOOKEEPER = Service(
    "zookeeper",
    needs=("hadoop",),
    daemons=(
        DaemonKind(
            "zookeeper", "org.apache.zookeeper.server.ZooKeeperServerMain", heap_mb=128,
            arguments=lambda node: [str(node.conf_dir / _ZOOKEEPER_FILE)], ports={_ZOOKEEPER: "zookeeper"},
            ready_text="binding to port", shutdown_noise="Exiting JVM with code",
        ),
    ),
    discovery=Discovery(),  # those who need it say where it is, and ask it
    files=_zookeeper_files,
    # As measured, with a heap of 128 MiB.
    costs=Costs(cluster_mb=130, disk_mb=5, cluster_s=1.0),
    first_words=frozenset({"zookeeper"}),
    properties_key=SCHEME,
    open_names=(r"zookeeper\..+",),
)  # fmt: skip
SERVICES.add(ZOOKEEPER.name, ZOOKEEPER, place=6)

_MASTER_PORT = "hbase.master.port"
# But where the reason stands in the lines below.
_ABORTING = r"\*{5} ABORTING (master|region server) (?!.*: Unhandled exception\. Starting shutdown)"
_SHUTDOWN_NOISE = r"(HMaster|HRegionServer) Aborted|Failed construction of|: (Master|Region server) exiting$"
# What HBase and the libraries in it reach into, which modules forbid since Java 16.
_OPEN = ("java.lang", "java.lang.reflect", "java.nio", "java.util", "sun.nio.ch", "jdk.internal.ref")
_OPTIONS = (
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPEN),
    "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
    "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    "-Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true",
)  # fmt: skip


def _classpath(node: NodeContext) -> Sequence[str]:
    """HBase's own jars first: Hadoop has other versions of some."""
    return (f"{node.programs}/{SCHEME}/lib/*", *node.classpath)


def _counting_classpath(node: NodeContext) -> Sequence[str]:
    return (str(node.conf_dir / FOLDER), *_classpath(node))


def _arguments(_node: NodeContext) -> Sequence[str]:
    return ("start",)


HMASTER = DaemonKind(
    "hmaster", "org.apache.hadoop.hbase.master.HMaster", classpath=_classpath,
    options=_OPTIONS, arguments=_arguments, heap_mb=256, memory_mb=320,
    ports={_MASTER_PORT: "hbase master"}, ready_text="Master has completed initialization",
    reason=_ABORTING, shutdown_noise=_SHUTDOWN_NOISE,
    # Earlier it would find the NameNode in safe mode, and then look again after 10 s.
    starts_after="namenode",
)  # fmt: skip
REGIONSERVER = DaemonKind(
    "regionserver", "org.apache.hadoop.hbase.regionserver.HRegionServer", classpath=_counting_classpath,
    options=_OPTIONS, arguments=_arguments, heap_mb=512, least_heap_mb=512, memory_mb=700,
    on_workers=True, logged_ports={r"Bind to \S*:(\d+)": "hbase rpc"}, ready_text="Serving as", starts_after="namenode",
    serves_only=True, counters=COUNTERS,
    reason=_ABORTING, shutdown_noise=_SHUTDOWN_NOISE,
)  # fmt: skip


def caches(layout: Layout) -> tuple[Directory, ...]:
    """The directories of block caches; none where a placement does not name their role."""
    return tuple(directory for directory in layout.of(CACHE) if directory.medium != NEUTRAL)


def _cache(layout: Layout) -> Mapping[str, str]:
    """A cache in a file of each directory, which is made: they are of one size, and take half of what is free.

    Blocks of files are read from it into buffers which a server has anyway, so that it needs no more memory outside its
    heap (`FileIOEngine`). What it had before it started is dropped.
    """
    places = caches(layout)
    if not places:
        return {}
    for place in places:
        place.path.mkdir(parents=True, exist_ok=True)
    on_medium = Counter(place.medium for place in places)
    room_bytes = min(shutil.disk_usage(place.path).free // on_medium[place.medium] for place in places) * len(places)
    return {
        "hbase.bucketcache.ioengine": f"file:{','.join(str(place.path / 'blocks') for place in places)}",
        CACHE_MB: str(min(MOST_CACHE_MB, room_bytes // 2 >> 20)),
    }


def _properties(node: NodeContext) -> Mapping[str, str]:
    """Addresses, folders of HDFS, the cache, and how many servers the master waits for.

    The ports of HBase's web interfaces are off: they take time to start, and HBase would open them to all networks.
    """
    master_host, _, master_port = node.addresses[_MASTER_PORT].rpartition(":")
    zookeeper_host, _, zookeeper_port = node.addresses[_ZOOKEEPER].rpartition(":")
    servers = str(max(1, len(node.spec.workers)))
    namenode = f"hdfs://{node.addresses['dfs.namenode.rpc-address']}"
    return {
        **_cache(node.layout),
        "dfs.datanode.data.dir": data_dirs(node.layout, {LOG: _LOG_TYPE}),
        "hbase.cluster.distributed": "true",
        "hbase.rootdir": f"{namenode}{ROOT}",
        "hbase.wal.dir": f"{namenode}{LOGS_FOLDER}",
        "hbase.wal.storage.policy": _LOG_POLICY,
        "hbase.tmp.dir": str(node.layout.neutral / "tmp" / "hbase"),
        "hbase.zookeeper.quorum": zookeeper_host,
        "hbase.zookeeper.property.clientPort": zookeeper_port,
        "hbase.master.hostname": master_host,
        "hbase.master.ipc.address": master_host,
        _MASTER_PORT: master_port,
        "hbase.master.info.port": "-1",
        "hbase.master.wait.on.regionservers.mintostart": servers,
        "hbase.master.wait.on.regionservers.maxtostart": servers,
        "hbase.regionserver.hostname": node.host,
        "hbase.regionserver.ipc.address": node.host,
        "hbase.regionserver.port": "0",
        "hbase.regionserver.info.port": "-1",
        # As many as tasks at once, by the processors that workers offer.
        REGIONS: str(int(servers) * node.spec.vcores),
        # What HBase's own scripts give to its clients, for those in jobs.
        "yarn.nodemanager.admin-env": f"MALLOC_ARENA_MAX=$MALLOC_ARENA_MAX,JDK_JAVA_OPTIONS={' '.join(_OPTIONS)}",
    }


_CLIENT_OPTIONS = "HADOOP_CLIENT_OPTS"
"""The variable with options of the JVMs of Hadoop's clients."""


def _client(cluster: RunningCluster) -> HbaseTables:
    environment = with_classpath(cluster.environment, list(map(str, cluster.job_jars)))
    environment[_CLIENT_OPTIONS] = " ".join((*_OPTIONS, *filter(None, [environment.get(_CLIENT_OPTIONS)])))
    return HbaseTables(
        cluster.hadoop, environment, cluster.took, cluster.failure,
        sees_files=cluster.facts.get(hbase_found.FILES) != "not read",
    )  # fmt: skip


def _check(_spec: EmbeddedSpec, properties: Mapping[str, str], _daemons: Sequence[DaemonKind]) -> None:
    check_properties(properties)


_DEFAULTS = "hbase-default.xml"
# After HBase's reference guide. Default configuration: 2 MiB suit a gigabit network, larger buffers take fewer calls.
# Performance tuning, Compression: "production systems should use compression". Appendix on compression and encoding:
# Snappy for data that is read often; a prefix encoder, best FAST_DIFF, where keys are long compared to values. Scans
# fetch by bytes without being told.
_TUNED = ServiceProfile(
    "HBase as its reference guide tunes it: larger buffers, FAST_DIFF, Snappy. Else like `defaults`.",
    ("defaults",),
    {
        "hbase.client.scanner.max.result.size": str(8 << 20),
        "hbase.client.write.buffer": str(8 << 20),
        ENCODING: "fast-diff",
        COMPRESSION: "snappy",
    },
)
HBASE = Service(
    SCHEME,
    needs=(ZOOKEEPER.name, HDFS_SERVICE.name),
    programs=Programs("hbase-server-*.jar"),
    job_jars=("lib/jobs/*.jar",),
    client=_client,
    discovery=Discovery(hbase_found.properties, hbase_found.check, hbase_found.DEFAULTS),
    daemons=(HMASTER, REGIONSERVER),
    roles=(
        Role(LOG, "the write-ahead logs of region servers", follows=OUTPUT),
        Role(CACHE, "files with the block caches of region servers (none unless this is named)", NEUTRAL, sized=True),
    ),
    check=_check,
    properties=_properties,
    # Clients that submit a job by hand need not have these classes.
    trial_properties=FORMATS,
    files=lambda _node, _properties: {METRICS_FILE: METRICS},
    sites=(SiteFile("hbase-site.xml", ("hbase.", "zookeeper.")),),
    timers=(
        _SESSION,
        Timer("hbase.regionserver.msginterval", "3000", _DEFAULTS),
        Timer("hbase.rpc.timeout", "60000", _DEFAULTS),
        Timer("hbase.client.operation.timeout", "1200000", _DEFAULTS),
        Timer("hbase.client.scanner.timeout.period", "60000", _DEFAULTS),
        Timer("hbase.client.pause", "100", _DEFAULTS),
        Timer("hbase.server.thread.wakefrequency", "10000", _DEFAULTS),
        Timer("hbase.balancer.period", "300000", _DEFAULTS),
        Timer("hbase.regionserver.optionalcacheflushinterval", "3600000", _DEFAULTS),
        Timer("hbase.regionserver.logroll.period", "3600000", _DEFAULTS),
    ),
    # As measured: HMaster and one region server after a job; their logs and the master's own tables.
    costs=Costs(cluster_mb=800, worker_mb=500, disk_mb=100, cluster_s=20.0, worker_s=3.0),
    profiles={"hbase-tuned": _TUNED},
    bounds={
        REGIONS: ValueBounds(1, 1 << 16), _SESSION.name: ValueBounds(1),
        CACHE_MB: ValueBounds(LEAST_CACHE_MB, MOST_CACHE_MB),
    },
    of_roles={CACHE_MB: CACHE},
    first_words=frozenset({SCHEME}),
    properties_key=SCHEME,
    open_names=(r"hbase\..+",),
    loss_note=(
        "HBase misses a region server when it has not been heard of for zookeeper.session.timeout (90 s unless it is "
        "set). Then others replay its log and serve its regions; until then clients of these wait."
    ),
    traffic={"hbase_rpc_from_server": "HBase read", "hbase_rpc_to_server": "HBase write"},
    reserved=frozenset(
        {
            "hbase.rootdir", "hbase.wal.dir", "hbase.wal.storage.policy", "hbase.tmp.dir", "hbase.cluster.distributed",
            "hbase.zookeeper.quorum", "hbase.zookeeper.property.clientPort", POLICY,
            USED, "hbase.bucketcache.ioengine", "hbase.bucketcache.persistent.path",
            # A log has as many copies as files (`dfs.replication`), which rooms and promises are told by.
            "hbase.regionserver.hlog.enabled", "hbase.regionserver.hlog.replication",
        }
    ),
    read_by_daemons=(
        "hbase.master.", "hbase.regionserver.", "hbase.hstore.", "hbase.hregion.", "hbase.wal.", "hbase.bucketcache.",
    ),
    variables=("HBASE_",),
)  # fmt: skip
SERVICES.add(HBASE.name, HBASE, place=7)
