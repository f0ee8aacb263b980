"""YARN: the service that gives containers to jobs, and what fits into its NodeManagers."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assay.engine.directing import EXECUTOR, TAGS, TAGS_FILE, tags_text
from assay.engine.existing import METRICS_PAGE, OF_YARN, offers_memory
from assay.host.processes import MARK
from assay.model.cluster import EmbeddedSpec
from assay.model.errors import BadInputError
from assay.model.layout import BY_HADOOP, DIRECTED, IN_TURN, INTERMEDIATE, LocalDirectories, Role
from assay.model.probe import CONTAINERS
from assay.model.registry import SERVICES
from assay.model.service import (
    ContainerStarts,
    Costs,
    DaemonKind,
    Heartbeats,
    NodeContext,
    Service,
    SiteFile,
    Timer,
)
from assay.model.trial import memory_level
from assay.model.value_bounds import ValueBounds

MIB = 1 << 20
OFFERED = "yarn.nodemanager.resource.memory-mb"
OFFERED_CORES = "yarn.nodemanager.resource.cpu-vcores"
MOST_OF_ONE = "yarn.scheduler.maximum-allocation-mb"
MOST_CORES_OF_ONE = "yarn.scheduler.maximum-allocation-vcores"
"""The property that bounds a container's processors."""
_STEP = ("yarn.scheduler.minimum-allocation-mb", 1024)
MOST_CORES = 4
"""That one container may have where nothing else is said: Hadoop's own default."""
_HEARTBEAT = "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms"
_EXECUTOR = "yarn.nodemanager.container-executor.class"
_EXECUTORS: Mapping[LocalDirectories, Mapping[str, str]] = {
    IN_TURN: {_EXECUTOR: "org.assay.hadoop.OneDirectoryPerTask"},
    BY_HADOOP: {},
    DIRECTED: {_EXECUTOR: EXECUTOR, **TAGS},
}
"""Of the bundled Hadoop alone, which has these classes: see `hadoop/src` and `direct/src`."""
_ORDERS: Mapping[LocalDirectories, str] = {
    IN_TURN: "one per task, in turn",
    BY_HADOOP: "drawn at random for each file",
    DIRECTED: "those of the tier that a job names",
}
_KEPT_VARIABLES = (
    "JAVA_HOME,HADOOP_COMMON_HOME,HADOOP_HDFS_HOME,HADOOP_CONF_DIR,CLASSPATH_PREPEND_DISTCACHE,HADOOP_YARN_HOME,"
    f"HADOOP_HOME,PATH,LANG,LC_ALL,TZ,LD_PRELOAD,{MARK}"
)
"""That containers have from their NodeManager: they too are found again by the lease they belong to, and listen on
loopback alone where it does."""

_OF_MASTERS = "yarn.scheduler.capacity.maximum-am-resource-percent"
_INTERMEDIATE = r"/appcache/application_[0-9_]+/(output/|attempt_[^/]+_spill_[0-9]+\.out)"
"""Paths of tasks' spills and of what is fetched from them; localised jars are no intermediates."""

# The file that Hadoop ships, without its comments: the scheduler has no defaults for its queues.
CAPACITY_SCHEDULER = {
    "yarn.scheduler.capacity.maximum-applications": "10000",
    _OF_MASTERS: "0.1",
    "yarn.scheduler.capacity.resource-calculator": "org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator",
    "yarn.scheduler.capacity.root.queues": "default",
    "yarn.scheduler.capacity.root.default.capacity": "100",
    "yarn.scheduler.capacity.root.default.user-limit-factor": "1",
    "yarn.scheduler.capacity.root.default.maximum-capacity": "100",
    "yarn.scheduler.capacity.root.default.state": "RUNNING",
    "yarn.scheduler.capacity.root.default.acl_submit_applications": "*",
    "yarn.scheduler.capacity.root.default.acl_administer_queue": "*",
    "yarn.scheduler.capacity.node-locality-delay": "40",
    "yarn.scheduler.capacity.rack-locality-additional-delay": "-1",
}


_QUEUES = re.compile(r"yarn\.scheduler\.capacity\..+\.queues")
_SCHEDULER = "yarn.resourcemanager.scheduler.class"
# What lets the capacity scheduler make queues, or take a job into another one than it names.
_MAKES_QUEUES = re.compile(
    r"yarn\.scheduler\.capacity\.(.+\.auto-(create-child-queue|queue-creation-v2)\.enabled|queue-mappings.*)"
)


def check_queues(properties: Mapping[str, str]) -> None:
    """Raises BadInputError for a queue that the scheduler of an embedded cluster lacks: it takes no such job."""
    if not properties.get(_SCHEDULER, "CapacityScheduler").strip().endswith("CapacityScheduler"):
        return
    if any(_MAKES_QUEUES.fullmatch(name) and value.strip() != "false" for name, value in properties.items()):
        return
    given = {**CAPACITY_SCHEDULER, **properties}
    queues = {queue.strip() for name, value in given.items() if _QUEUES.fullmatch(name) for queue in value.split(",")}
    for name in sorted({service.queue_property for service in SERVICES.values()} & properties.keys()):
        if properties[name].strip().rpartition(".")[2] not in queues:
            raise BadInputError(
                f"{name} is {properties[name]!r}, and the cluster has no such queue (its queues: "
                f"{', '.join(sorted(queues))}); leave it out, or define the queue with "
                "yarn.scheduler.capacity.root.queues", name,
            )  # fmt: skip


def offered_mb(spec: EmbeddedSpec) -> int:
    """What the NodeManager offers to containers: as asked for, but no more than the limit leaves to the whole cluster.

    The daemons' own memory is not taken off, as Hadoop takes nothing off on a machine of that size: what a container
    asks for is a ceiling that it seldom reaches, and what all really use is bounded by the kernel.
    """
    if spec.limit_memory_bytes is None:
        return spec.memory_mb
    return min(spec.memory_mb, spec.limit_memory_bytes // MIB)


class Offer(NamedTuple):
    """What a NodeManager offers to containers, and what one container may have: memory in MiB, and processors."""

    memory_mb: int
    vcores: int
    step_mb: int
    most_mb: int
    most_vcores: int

    def rounded(self, size_mb: int) -> int:
        """What a container takes that asks for so much."""
        return _rounded(size_mb, self.step_mb)

    def room_mb(self, limit_mb: int | None, daemons_mb: int) -> int:
        """What of its memory there really is beside the daemons, where a limit bounds both together."""
        return self.memory_mb if limit_mb is None else min(self.memory_mb, limit_mb - daemons_mb)


def offer_of(properties: Mapping[str, str], spec: EmbeddedSpec | None = None) -> Offer:
    """What these properties offer; those that they lack are a cluster's of this `spec`, or Hadoop's defaults."""
    known = {**(_sizes(spec) if spec is not None else {}), **properties}
    offered = requested(known, (OFFERED, 8192))
    return Offer(
        offered, requested(known, (OFFERED_CORES, 8)), requested(known, _STEP),
        requested(known, (MOST_OF_ONE, offered)), requested(known, (MOST_CORES_OF_ONE, MOST_CORES)),
    )  # fmt: skip


def _sizes(spec: EmbeddedSpec) -> dict[str, str]:
    offered = str(offered_mb(spec))
    return {
        OFFERED: offered,
        OFFERED_CORES: str(spec.vcores),
        # A container asking for the default 1024 MB must fit a small NodeManager too.
        MOST_OF_ONE: offered,
        MOST_CORES_OF_ONE: str(min(spec.vcores, MOST_CORES)),
    }


class JobContainers(NamedTuple):
    """The properties of the sizes that a job's containers ask for, each with its default in MiB.

    `in_master` says that the tasks run in the application master's container. `cores` are properties of processors.
    """

    master: tuple[str, int]
    tasks: tuple[tuple[str, int], ...]
    cores: tuple[str, ...]
    in_master: bool = False


def check_containers(
    spec: EmbeddedSpec, properties: Mapping[str, str], daemons: Sequence[DaemonKind], of_job: JobContainers
) -> None:
    """Raises BadInputError when a job with these properties has no queue, or no room beside the daemons or a node."""
    check_queues(properties)
    daemons_mb = sum(daemon.memory_mb for daemon in daemons)
    master, tasks = requested(properties, of_job.master), [requested(properties, task) for task in of_job.tasks]
    step, largest, limit = requested(properties, _STEP), max(master, *tasks), spec.limit_memory_bytes
    at_once = spec.jobs_at_once * _rounded(master, step)
    if not of_job.in_master:
        at_once += max(_rounded(task, step) for task in tasks)
    masters = "an application master" if spec.jobs_at_once == 1 else f"{spec.jobs_at_once} application masters"
    beside = f"{masters} and one task take {at_once} MiB (each rounded up to {_STEP[0]}, {step} MiB)"
    smaller = "or smaller containers (`settings: small`)"
    if limit is not None:
        least_mb = max(daemons_mb + largest, 0 if OFFERED in properties else at_once)
        if limit // MIB < least_mb:
            raise BadInputError(
                f"a memory limit of {memory_level(limit)} is too small: the {len(daemons)} daemons take about "
                f"{daemons_mb} MiB, the largest container {largest} MiB, and {beside}; give at least {least_mb} MiB, "
                f"{smaller}", "memory",
            )  # fmt: skip
    # What the scheduler allows one container at most, against what the jobs' containers ask for.
    most = (MOST_OF_ONE, requested(properties, (MOST_OF_ONE, offered_mb(spec))), " MiB")
    cores = (MOST_CORES_OF_ONE, requested(properties, (MOST_CORES_OF_ONE, min(spec.vcores, MOST_CORES))), "")
    bounded = [(request, most) for request in (_STEP, of_job.master, *of_job.tasks) if MOST_OF_ONE in properties]
    for request, (bound, allowed, unit) in (*bounded, *(((name, 1), cores) for name in of_job.cores)):
        if (size := requested(properties, request)) > allowed:
            raise BadInputError(
                f"{request[0]} is {size}{unit}, and {bound} allows {allowed}{unit}: no such container could start; "
                f"give at most {allowed}{unit}, or allow more", request[0], bound, "settings",
            )  # fmt: skip
    offered = requested(properties, (OFFERED, offered_mb(spec)))
    if offered < at_once:
        names = (of_job.master[0], *dict(of_job.tasks))
        raise BadInputError(
            f"the NodeManager offers {offered} MiB, and {beside}: the job would never start; give at least "
            f"{at_once} MiB, {smaller}", OFFERED, _STEP[0], *names, "cluster", "settings",
        )  # fmt: skip


def requested(properties: Mapping[str, str], of: tuple[str, int]) -> int:
    """A size in MiB; what is not a positive number means Hadoop's default, as -1 does there."""
    name, default = of
    value = properties.get(name, "").strip()
    usable = value.isascii() and value.isdecimal() and len(value) < 19
    return int(value) if usable and int(value) > 0 else default


def _rounded(size_mb: int, step_mb: int) -> int:
    return -(-size_mb // step_mb) * step_mb


def _properties(node: NodeContext) -> Mapping[str, str]:
    spec = node.spec
    return {
        "yarn.resourcemanager.hostname": node.master,
        "yarn.resourcemanager.admin.address": f"{node.master}:0",
        "yarn.nodemanager.hostname": node.host,
        "yarn.nodemanager.address": node.any_port,
        "yarn.nodemanager.localizer.address": node.any_port,
        "yarn.nodemanager.collector-service.address": node.any_port,
        "yarn.nodemanager.webapp.address": node.any_port,
        "yarn.nodemanager.local-dirs": ",".join(str(directory.path) for directory in node.layout.of(INTERMEDIATE)),
        "yarn.nodemanager.log-dirs": str(node.layout.container_logs),
        **_sizes(spec),
        # A 64-bit JVM since 11 reserves more addresses than the limit, without using them, and would be killed.
        "yarn.nodemanager.vmem-check-enabled": "false",
        # Above 90 % full Hadoop gives a disk up and the jobs wait for ever; small media under test do get that full.
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "99",
        "yarn.nodemanager.env-whitelist": _KEPT_VARIABLES,
        "yarn.application.classpath": str(node.conf_dir),
        # Else the second job's master waits until the first job has ended.
        **({_OF_MASTERS: "1.0"} if spec.jobs_at_once > 1 else {}),
        **_EXECUTORS[_choice(node)],
    }


def _choice(node: NodeContext) -> LocalDirectories:
    """How local directories are chosen on a node.

    Tasks of Hadoop draw them at random: with few tasks a mixed medium's shares would land anywhere.
    """
    several = node.bundled and len(node.layout.of(INTERMEDIATE)) > 1
    return node.layout.local_directories if several else BY_HADOOP


def _tags(node: NodeContext, _properties: Mapping[str, str]) -> Mapping[str, str]:
    """The file of a node's tags, where jobs are directed."""
    return {TAGS_FILE: tags_text(node.layout.of(INTERMEDIATE))} if _choice(node) == DIRECTED else {}


def _settings(nodes: Sequence[NodeContext]) -> Mapping[str, str]:
    several = any(len(node.layout.of(INTERMEDIATE)) > 1 for node in nodes)
    order = next((_ORDERS[how] for how in map(_choice, nodes) if how != BY_HADOOP), _ORDERS[BY_HADOOP])
    limited = next((node.spec for node in nodes if node.spec.limit_memory_bytes is not None), None)
    return {
        **({} if limited is None else {OFFERED: str(offered_mb(limited))}),
        "local directories": order if several else "one",
    }


def _start_properties(starts: ContainerStarts, _chosen: Mapping[str, str]) -> Mapping[str, str]:
    if not starts.brisk:
        return {}
    return {
        # Containers are given out, and found finished, by heartbeats.
        _HEARTBEAT: "50",
        # The client asks the ResourceManager whether its job was accepted, and the master whether it is done.
        "yarn.client.application-client-protocol.poll-interval-ms": "50",
        # The daemons start together and look for each other.
        "yarn.resourcemanager.connect.retry-interval.ms": "200",
    }


# The lines are those of Hadoop 3's CapacityScheduler, ResourceTrackerService, NodeStatusUpdaterImpl, ShuffleHandler,
# ResourceLocalizationService and HttpServer2.
_JETTY = {r"Jetty bound to port (\d+)": "web"}
_DAEMONS = (
    DaemonKind(
        "resourcemanager", "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager",
        ports={
            "yarn.resourcemanager.webapp.address": "web", "yarn.resourcemanager.address": "yarn rpc",
            "yarn.resourcemanager.scheduler.address": "yarn rpc",
            "yarn.resourcemanager.resource-tracker.address": "yarn rpc",
        },
        logged_ports={r"registered with capability.*assigned nodeId \S*:(\d+)": "yarn rpc", **_JETTY},
        # The scheduler's own words, with the memory that it has now.
        ready_text="clusterResource: <memory:", page=METRICS_PAGE, ready=offers_memory,
        heartbeats=Heartbeats(
            "/jmx?qry=Hadoop:service=ResourceManager,name=RpcDetailedActivityForPort*", "NodeHeartbeatNumOps",
            _HEARTBEAT, 1e-3, "nodemanager",
        ),
    ),
    DaemonKind(
        "nodemanager", "org.apache.hadoop.yarn.server.nodemanager.NodeManager", on_workers=True,
        logged_ports={
            r"mapreduce_shuffle listening on port (\d+)": "shuffle", r"Localizer started on port (\d+)": "yarn rpc",
            **_JETTY,
        },
        ready_text="Registered with ResourceManager", page=METRICS_PAGE, ready=offers_memory,
        status_from="resourcemanager", children=CONTAINERS,
    ),
)  # fmt: skip

_DEFAULTS = "yarn-default.xml"
_UNDO = "# undo: the line as before, each node drained first: jobs that run lose their files in a directory that goes"
_CHANGES = {
    "local-directories-on-ssd": (
        "# yarn-site.xml of each node; a NodeManager reads it when it starts, so drain the node first",
        "- yarn.nodemanager.local-dirs=(the directories on disks)",
        "+ yarn.nodemanager.local-dirs=/SSD/yarn/local",
        "# trap: with directories on disks and SSDs tasks use all in turn, whatever their speed: name SSDs alone",
        "# trap: a directory that is 90 % full is no longer used; localised files (10 GB) lie there, too",
        _UNDO,
    ),
    "local-directories-of-some-nodes": (
        "# yarn-site.xml of these nodes; a NodeManager reads it when it starts, so drain the node first",
        "- yarn.nodemanager.local-dirs=(the directories on disks)",
        "+ yarn.nodemanager.local-dirs=/SSD/yarn/local",
        "# trap: tasks run on all nodes, and a job's last tasks wait for nodes without SSDs: a label of these nodes",
        "#   (yarn.node-labels.enabled) holds the jobs of a queue to them",
        _UNDO,
    ),
    "directed-jobs-on-ssd": (
        "# yarn-site.xml of each node; a NodeManager reads it when it starts, so drain the node first",
        "+ yarn.nodemanager.local-dirs=(as before),/SSD/yarn/local",
        "# `assay direct plan` writes the properties of each of these jobs, and of all others, which keep off the SSD",
        "# trap: without these properties tasks of all jobs use all directories in turn, whatever their speed",
        "# trap: Spark takes a directory by a file's name, also a full one, and then fails: keep it off a small SSD",
        _UNDO,
    ),
    "one-more-disk": (
        "# yarn-site.xml of each node",
        "+ yarn.nodemanager.local-dirs=(as before),/NEW/yarn/local",
        "# trap: tasks use all directories in turn, whatever their speed: a slower disk slows them all",
        _UNDO,
    ),
    "more-memory": (
        "# no property: what containers do not take is page cache",
        "# trap: leave yarn.nodemanager.resource.memory-mb as it is, or containers take the new memory",
    ),
    "more-nodes": (
        "# each new node needs the same yarn-site.xml; count its memory and cores in the limits of queues",
        "# undo: name the nodes in the file of yarn.resourcemanager.nodes.exclude-path; `yarn rmadmin -refreshNodes`",
    ),
}
"""What each alternative of `assay advise` changes here.

MapReduce and Tez tell LocalDirAllocator a file's size, and get the next directory with room for it. Spark takes one by
the hash of the file's name (DiskBlockManager).
"""

YARN = Service(
    "yarn",
    needs=("hadoop",),
    changes=_CHANGES,
    daemons=_DAEMONS,
    existing=OF_YARN,
    roles=(
        Role(
            INTERMEDIATE,
            "the spills, merges and map outputs in local directories",
            folder="local",
            passing=_INTERMEDIATE,
        ),
    ),
    properties=_properties,
    files=_tags,
    sites=(
        # The latter are of directed jobs, and NodeManagers read them too.
        SiteFile("yarn-site.xml", ("yarn.", "assay.direct.")),
        SiteFile(
            "capacity-scheduler.xml", ("yarn.scheduler.capacity.",), defaults=CAPACITY_SCHEDULER, for_clients=False
        ),
    ),
    timers=(
        Timer(_HEARTBEAT, "1000", _DEFAULTS),
        Timer("yarn.resourcemanager.nodemanagers.heartbeat-interval-min-ms", "1000", _DEFAULTS),
        Timer("yarn.resourcemanager.nodemanagers.heartbeat-interval-max-ms", "1000", _DEFAULTS),
        Timer("yarn.resourcemanager.connect.retry-interval.ms", "30000", _DEFAULTS),
        Timer("yarn.resourcemanager.connect.max-wait.ms", "900000", _DEFAULTS),
        Timer("yarn.resourcemanager.rm.container-allocation.expiry-interval-ms", "600000", _DEFAULTS),
        Timer("yarn.am.liveness-monitor.expiry-interval-ms", "900000", _DEFAULTS),
        Timer("yarn.nm.liveness-monitor.expiry-interval-ms", "600000", _DEFAULTS),
        Timer("yarn.client.application-client-protocol.poll-interval-ms", "200", _DEFAULTS),
        Timer("yarn.client.nodemanager-connect.retry-interval-ms", "10000", _DEFAULTS),
        Timer("yarn.client.nodemanager-connect.max-wait-ms", "180000", _DEFAULTS),
        Timer("yarn.nodemanager.resource-monitor.interval-ms", "3000", _DEFAULTS),
        Timer("yarn.nodemanager.disk-health-checker.interval-ms", "120000", _DEFAULTS),
        Timer("yarn.nodemanager.sleep-delay-before-sigkill.ms", "250", _DEFAULTS),
        Timer("yarn.nodemanager.process-kill-wait.ms", "5000", _DEFAULTS),
    ),
    start_properties=_start_properties,
    settings=_settings,
    # As measured: both daemons, a worker's with a heap of 128 MiB; localised jars and logs.
    costs=Costs(cluster_mb=800, worker_mb=200, disk_mb=150, cluster_s=5.0, worker_s=2.5),
    bounds={
        **dict.fromkeys(
            (
                "yarn.scheduler.minimum-allocation-mb",
                "yarn.scheduler.maximum-allocation-mb",
                "yarn.scheduler.minimum-allocation-vcores",
                "yarn.scheduler.maximum-allocation-vcores",
            ),
            ValueBounds(1),
        ),
        **dict.fromkeys((OFFERED, OFFERED_CORES), ValueBounds(1, besides=("-1",))),
    },
    reserved=frozenset(
        {
            "yarn.nodemanager.local-dirs",
            "yarn.nodemanager.log-dirs",
            "yarn.nodemanager.container-executor.class",
        }
    ),
    first_words=frozenset({"yarn"}),
    open_names=(r"yarn\.(scheduler\.capacity|nodemanager\.(aux-services|resource-plugins))\..+",),
    traffic={"shuffle_to_server": "shuffle", "shuffle_from_server": "shuffle"},
    read_by_daemons=("yarn.nodemanager.", "yarn.resourcemanager.", "yarn.scheduler."),
    variables=("YARN_",),
    property_jars=("hadoop-yarn-api-[0-9]*.jar",),
    folders=("yarn", "yarn/lib"),
)
SERVICES.add(YARN.name, YARN, place=3)
