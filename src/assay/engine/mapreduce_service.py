"""What MapReduce brings to a cluster with YARN: its shuffle, its JobHistoryServer, and how its containers start.

Brisk starts shorten what lies around a job's work: polls that hand over news, and the loading of classes. Hadoop counts
a task's time from its container's launch, so `avgMapTime` and `avgShuffleTime` include the JVM's start.
"""

from collections.abc import Mapping, Sequence

from assay.engine.existing import HISTORY_PAGE, OF_MAPREDUCE, has_history
from assay.engine.yarn import MIB, OFFERED, JobContainers, Offer, check_containers, offer_of, requested
from assay.model.cluster import EmbeddedSpec
from assay.model.layout import INTERMEDIATE
from assay.model.naming import lettered_size
from assay.model.registry import SERVICES
from assay.model.service import (
    ContainerStarts,
    Costs,
    DaemonKind,
    NodeContext,
    Service,
    Share,
    SiteFile,
    Timer,
    Unverifiable,
)
from assay.model.value_bounds import ValueBounds

_MASTER = ("yarn.app.mapreduce.am.resource.mb", 1536)
_TASKS = (("mapreduce.map.memory.mb", 1024), ("mapreduce.reduce.memory.mb", 1024))
_CORES = ("yarn.app.mapreduce.am.resource.cpu-vcores", "mapreduce.map.cpu.vcores", "mapreduce.reduce.cpu.vcores")
_IN_MASTER = "mapreduce.job.ubertask.enable"
_REDUCERS, _BLOCK = "mapreduce.job.reduces", ("dfs.blocksize", 128 * MIB)
TASK_BYTES = 600 * MIB
"""Of one task of a default heap, as measured."""

# Hadoop's own value of the properties that take further options.
_TASK_OPTIONS = "-Djava.net.preferIPv4Stack=true -Dhadoop.metrics.log.level=WARN"
_TASKS_OPTIONS = ("mapreduce.admin.map.child.java.opts", "mapreduce.admin.reduce.child.java.opts")
_MASTERS_OPTIONS = "yarn.app.mapreduce.am.admin-command-opts"
_OWN_CLASSES_FIRST = ("mapreduce.job.user.classpath.first", "mapreduce.job.classloader")
_NOTIFICATION = "mapreduce.job.end-notification."
# A job's master sleeps for 5 s at its end, and the next job's waits for its place: see hadoop/src/.../LeaveAtOnce.java,
# which also explains the address.
_LEAVE_AT_ONCE = {
    f"{_NOTIFICATION}custom-notifier-class": "org.assay.hadoop.LeaveAtOnce",
    f"{_NOTIFICATION}url": "http://127.0.0.1:9/",
}
_BRISK = {
    "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": "50",
    "mapreduce.client.progressmonitor.pollinterval": "100",
    "mapreduce.client.completion.pollinterval": "100",
}


_BOUNDS = {
    **dict.fromkeys(
        (
            "mapreduce.job.maps", "mapreduce.reduce.shuffle.parallelcopies", "mapreduce.map.maxattempts",
            "mapreduce.reduce.maxattempts", *_CORES, _MASTER[0],
        ),
        ValueBounds(1),
    ),
    **dict.fromkeys(dict(_TASKS), ValueBounds(1, besides=("-1",))),
    _REDUCERS: ValueBounds(0),
    "mapreduce.task.io.sort.mb": ValueBounds(1, 2047),  # MapTask.MapOutputBuffer
    "mapreduce.task.io.sort.factor": ValueBounds(2),  # fewer files than two can't be merged
    "mapreduce.map.sort.spill.percent": ValueBounds(0.001, 1, whole=False),  # MapTask.MapOutputBuffer
    "mapreduce.reduce.shuffle.input.buffer.percent": ValueBounds(0, 1, whole=False),  # MergeManagerImpl
    "mapreduce.reduce.shuffle.memory.limit.percent": ValueBounds(0.001, 1, whole=False),  # MergeManagerImpl
    "mapreduce.reduce.shuffle.merge.percent": ValueBounds(0.001, 1, whole=False),
    "mapreduce.reduce.input.buffer.percent": ValueBounds(0, 1, whole=False),  # MergeManagerImpl
    "mapreduce.job.reduce.slowstart.completedmaps": ValueBounds(0, 1, whole=False),  # above, reducers wait for ever
}  # fmt: skip

_COMPRESSED = Unverifiable(
    "true",
    "whose verification reads outputs that aren't compressed; leave it out (mapreduce.map.output.compress compresses "
    "what is shuffled)",
)


def _properties(node: NodeContext) -> Mapping[str, str]:
    return {
        "mapreduce.shuffle.port": "0",
        "mapreduce.jobhistory.admin.address": f"{node.master}:0",
        "mapreduce.cluster.local.dir": ",".join(str(directory.path) for directory in node.layout.of(INTERMEDIATE)),
        "mapreduce.framework.name": "yarn",
        "mapreduce.application.classpath": ",".join((*node.classpath, *map(str, node.job_jars))),
        "yarn.nodemanager.aux-services": "mapreduce_shuffle",
    }


def _start_properties(starts: ContainerStarts, chosen: Mapping[str, str]) -> Mapping[str, str]:
    """Return how containers start, but for what would undo a trial's choice: its class order, its notification."""
    properties: dict[str, str] = {}
    tasks, master = [_TASK_OPTIONS], list[str]()
    if starts.brisk:
        properties |= _BRISK
        if starts.bundled and not any(name.startswith(_NOTIFICATION) for name in chosen):
            properties |= _LEAVE_AT_ONCE
        if starts.options and not any(chosen.get(name) == "true" for name in _OWN_CLASSES_FIRST):
            tasks += starts.options
            master += (*starts.options, *starts.master_options)
    if starts.processors is not None:
        # A JVM chooses its collector and the number of its threads by that.
        tasks.append(option := f"-XX:ActiveProcessorCount={starts.processors}")
        master.append(option)
    if master:
        properties |= {**dict.fromkeys(_TASKS_OPTIONS, " ".join(tasks)), _MASTERS_OPTIONS: " ".join(master)}
    return properties


def _check(spec: EmbeddedSpec, properties: Mapping[str, str], daemons: Sequence[DaemonKind]) -> None:
    in_master = properties.get(_IN_MASTER, "false").lower() == "true"
    check_containers(spec, properties, daemons, JobContainers(_MASTER, _TASKS, _CORES, in_master))


def _task_share(spec: EmbeddedSpec, properties: Mapping[str, str], daemons: Sequence[DaemonKind]) -> Share:
    """As many tasks as there is memory for beside the masters, since YARN's usual scheduler counts no processors."""
    offer = offer_of(properties, spec)
    master_mb, task_mb = _containers_mb(offer, properties)
    masters_mb, workers = spec.jobs_at_once * master_mb, max(1, len(spec.workers))
    beside, alone = (max(1, (offer.memory_mb - used_mb) // task_mb) for used_mb in (masters_mb, 0))
    slots = beside + (workers - 1) * alone
    limit_mb = None if spec.limit_memory_bytes is None else spec.limit_memory_bytes // MIB
    room_mb = offer.room_mb(limit_mb, sum(daemon.memory_mb for daemon in daemons))
    text = f"{beside} task{'' if beside == 1 else 's'} of {task_mb} MiB at once, and a master of {master_mb} MiB"
    return Share(slots, max(0, min(slots * task_mb, workers * room_mb - masters_mb)), text)


def _containers_mb(offer: Offer, properties: Mapping[str, str]) -> tuple[int, int]:
    """What a master and a task take."""
    master_mb, *tasks_mb = (offer.rounded(requested(properties, container)) for container in (_MASTER, *_TASKS))
    return master_mb, max(tasks_mb)


def offered_for(tasks: int, properties: Mapping[str, str]) -> dict[str, str]:
    """With which property a node has room for so many tasks at once beside a master, both as large as these say."""
    master_mb, task_mb = _containers_mb(offer_of(properties), properties)
    return {OFFERED: str(master_mb + tasks * task_mb)}


def tasks_within(offered_bytes: int, properties: Mapping[str, str]) -> int:
    """How many tasks as large as these properties say a node has room for at once, where no master is on it."""
    return max(1, offered_bytes // MIB // _containers_mb(offer_of(properties), properties)[1])


def _tasks_bytes(properties: Mapping[str, str], offered_mb: int, disk_bytes: int) -> int:
    """Estimate the memory of as many tasks as fit beside the master's container, up to the blocks or reducers."""

    def number(name: str, default: int) -> int:
        size = lettered_size(properties.get(name, "").strip())
        return int(size) if size is not None and size >= 1 else default

    task_mb = max(number(*task) for task in _TASKS)
    slots = max(1, (offered_mb - number(*_MASTER)) // task_mb)
    tasks = min(slots, max(2, disk_bytes // number(*_BLOCK), number(_REDUCERS, 1)))
    return tasks * min(TASK_BYTES, task_mb * MIB)


HISTORYSERVER = DaemonKind(
    "historyserver", "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer", heap_mb=192,
    ports={"mapreduce.jobhistory.webapp.address": "web", "mapreduce.jobhistory.address": "yarn rpc"},
    logged_ports={r"Jetty bound to port (\d+)": "web"}, ready_text="Started ServerConnector", page=HISTORY_PAGE,
    ready=has_history,
    # Started earlier it would find the NameNode in safe mode and then sleep for 10 s.
    starts_after="namenode",
)  # fmt: skip

_DEFAULTS = "mapred-default.xml"
MAPREDUCE_SERVICE = Service(
    "mapreduce",
    needs=("hdfs", "yarn"),
    daemons=(HISTORYSERVER,),
    existing=OF_MAPREDUCE,
    properties=_properties,
    queue_property="mapreduce.job.queuename",
    sites=(SiteFile("mapred-site.xml", ("mapreduce.", "mapred.", "yarn.app.mapreduce."), unclaimed=True),),
    timers=(
        Timer("mapreduce.client.progressmonitor.pollinterval", "1000", _DEFAULTS),
        Timer("mapreduce.client.completion.pollinterval", "5000", _DEFAULTS),
        Timer("mapreduce.task.timeout", "600000", _DEFAULTS),
        Timer("mapreduce.task.stuck.timeout-ms", "600000", _DEFAULTS),
        Timer("mapreduce.task.exit.timeout", "60000", _DEFAULTS),
        Timer("mapreduce.task.exit.timeout.check-interval-ms", "20000", _DEFAULTS),
        Timer("mapreduce.reduce.shuffle.connect.timeout", "180000", _DEFAULTS),
        Timer("mapreduce.reduce.shuffle.read.timeout", "180000", _DEFAULTS),
        Timer("mapreduce.reduce.shuffle.retry-delay.max.ms", "60000", _DEFAULTS),
        Timer("mapreduce.reduce.shuffle.fetch.retry.interval-ms", "1000", _DEFAULTS),
        Timer("mapreduce.reduce.shuffle.fetch.retry.timeout-ms", "30000", _DEFAULTS),
        Timer("mapreduce.shuffle.connection-keep-alive.timeout", "5", _DEFAULTS),
        Timer("mapreduce.job.speculative.retry-after-no-speculate", "1000", _DEFAULTS),
        Timer("mapreduce.job.speculative.retry-after-speculate", "15000", _DEFAULTS),
        Timer("mapreduce.job.reducer.unconditional-preempt.delay.sec", "300", _DEFAULTS),
        Timer("mapreduce.job.local-fs.single-disk-limit.check.interval-ms", "5000", _DEFAULTS),
        Timer("mapreduce.jobhistory.move.interval-ms", "180000", _DEFAULTS),
        Timer("yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", "1000", _DEFAULTS),
        Timer("yarn.app.mapreduce.am.hard-kill-timeout-ms", "10000", _DEFAULTS),
        Timer("yarn.app.mapreduce.am.job.committer.cancel-timeout", "60000", _DEFAULTS),
        Timer("yarn.app.mapreduce.am.job.committer.commit-window", "10000", _DEFAULTS),
    ),
    start_properties=_start_properties,
    check=_check,
    task_share=_task_share,
    # As measured: the JobHistoryServer, a client and an application master; job histories.
    costs=Costs(cluster_mb=600, disk_mb=100, cluster_s=3.0),
    tasks_bytes=_tasks_bytes,
    commands={"job": "org.apache.hadoop.mapred.JobClient"},
    variables=("MAPRED_",),
    bounds=_BOUNDS,
    unverifiable={
        "mapreduce.output.fileoutputformat.compress": _COMPRESSED,
        "mapred.output.compress": _COMPRESSED,  # the name that Hadoop 1 had for it, which is still understood
        _REDUCERS: Unverifiable("0", "which is done by its reducers; give 1 or more"),
    },
    first_words=frozenset({"mapreduce", "mapred"}),
    open_names=(r"mapreduce\.job\.(map|reduce|combine|partitioner|inputformat|outputformat)\.class\..+",),
    reserved=frozenset({"mapreduce.cluster.local.dir", "mapreduce.framework.name"}),
    property_jars=("hadoop-mapreduce-client-core-[0-9]*.jar",),
    folders=("mapreduce",),
    extras="mapreduce",
)
SERVICES.add(MAPREDUCE_SERVICE.name, MAPREDUCE_SERVICE, place=4)
