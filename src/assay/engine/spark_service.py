"""What Spark brings to a cluster with YARN: the size of its executors, how they start, and its settings profiles.

An application's master, its executors and their shuffle files are YARN's containers and local directories. Executors
live as long as the application does, so that their size is chosen once: by default those of a node take all that it
offers, as other engines' tasks do.

Sources: Spark 3.5's documentation (Configuration, Running on YARN, Tuning), `YarnAllocator`, `UnifiedMemoryManager`.
"""

import re
from collections.abc import Mapping, Sequence
from math import ceil
from typing import NamedTuple

from assay.engine.spark_persisted import BLOCK_UPDATES
from assay.engine.yarn import MIB, MOST_CORES_OF_ONE, Offer, offer_of
from assay.model.cluster import EmbeddedSpec
from assay.model.errors import BadInputError
from assay.model.layout import INTERMEDIATE, Role
from assay.model.registry import SERVICES
from assay.model.service import (
    ContainerStarts,
    Costs,
    DaemonKind,
    Discovery,
    NodeContext,
    Programs,
    Service,
    ServiceProfile,
    Share,
    Timer,
)
from assay.model.value_bounds import ValueBounds

PREFIX = "spark."
INSTANCES, CORES = "spark.executor.instances", "spark.executor.cores"
TASK_CORES = "spark.task.cpus"
MEMORY, OVERHEAD = "spark.executor.memory", "spark.executor.memoryOverhead"
_FACTOR = "spark.executor.memoryOverheadFactor"
_OFF_HEAP, _OFF_HEAP_SIZE = "spark.memory.offHeap.enabled", "spark.memory.offHeap.size"
_PYTHON = "spark.executor.pyspark.memory"
_MASTER, _MASTER_OVERHEAD = "spark.yarn.am.memory", "spark.yarn.am.memoryOverhead"
DRIVER_MEMORY = "spark.driver.memory"
_COMPRESSED, _CODEC = "spark.eventLog.compress", "spark.eventLog.compression.codec"
BLOCKS_PORT = "spark.blockManager.port"
JARS, HADOOP_CLASSPATH = "spark.yarn.jars", "spark.yarn.populateHadoopClasspath"
LEAST_OVERHEAD_MB = 384
LEAST_HEAP_MB = 512
"""Spark refuses a heap below 450 MiB, of which a JVM shows somewhat less than it was given."""
_USUAL_HEAP_MB = 1024
"""Spark's default: executors are no smaller only so that there are more of them."""

HADOOP, REDUCERS = f"{PREFIX}hadoop.", "mapreduce.job.reduces"
"""What Spark has before the names of Hadoop's properties, and the one that says how many partitions are wanted."""
PARTITIONS = ("spark.default.parallelism", "spark.sql.shuffle.partitions")
"""The numbers of partitions of shuffles, which experiments may also give for each core."""
_PER_CORE = " per core"

_SIZE = re.compile(r"(\d{1,9})([kmgt])b?", re.IGNORECASE)
_KIB = {"k": 1, "m": 1 << 10, "g": 1 << 20, "t": 1 << 30}
_SIZES = (MEMORY, OVERHEAD, _MASTER, _MASTER_OVERHEAD, DRIVER_MEMORY, _OFF_HEAP_SIZE, _PYTHON)


class NodeRoom(NamedTuple):
    """What there is for applications on each node: YARN's offer, and how many nodes and applications share it.

    `room_mb` is the offer's memory without what daemons need of a bound of the node's.
    """

    offer: Offer
    room_mb: int
    workers: int = 1
    applications: int = 1


class Executors(NamedTuple):
    """The executors of one application: how many in all and on a node, and the size of each; memory in MiB."""

    instances: int
    on_node: int
    cores: int
    heap_mb: int
    overhead_mb: int

    @property
    def memory_mb(self) -> int:
        """What each asks YARN for."""
        return self.heap_mb + self.overhead_mb

    def properties(self, given: Mapping[str, str]) -> dict[str, str]:
        """Those that ask for them, beneath the `given` ones, with the partitions of shuffles for all of their cores."""
        sizes = {
            INSTANCES: str(self.instances), CORES: str(self.cores), MEMORY: f"{self.heap_mb}m",
            OVERHEAD: f"{self.overhead_mb - _beside_mb(given)}m",
        }  # fmt: skip
        return {**sizes, **with_partitions(given, self.instances * self.cores)}


def with_partitions(given: Mapping[str, str], cores: int | None) -> dict[str, str]:
    """Return properties with numbers of partitions for so many cores, in place of those for each core.

    There are none of these where the number of cores is unknown, and where `mapreduce.job.reduces` says how many
    partitions there are.
    """
    of_core = {name: given[name] for name in PARTITIONS if given.get(name, "").endswith(_PER_CORE)}
    properties = {name: value for name, value in given.items() if name not in of_core}
    if cores is None or HADOOP + REDUCERS in given:
        return properties
    return properties | {name: str(cores * int(text.removesuffix(_PER_CORE))) for name, text in of_core.items()}


def node_of(spec: EmbeddedSpec, properties: Mapping[str, str], daemons: Sequence[DaemonKind]) -> NodeRoom:
    """What a node of a cluster of this `spec` has for applications, beside its daemons and with these properties."""
    offer = offer_of(properties, spec)
    limit_mb = None if spec.limit_memory_bytes is None else spec.limit_memory_bytes // MIB
    room_mb = offer.room_mb(limit_mb, sum(daemon.memory_mb for daemon in daemons))
    return NodeRoom(offer, room_mb, max(1, len(spec.workers)), spec.jobs_at_once)


def executors_of(properties: Mapping[str, str], node: NodeRoom) -> Executors:
    """The executors that these properties ask for; what they don't say is such that a node's take all of its room.

    There are as many on a node as YARN's bound of a container's processors wants for all of the node's.
    """
    offer, applications = node.offer, node.applications
    cores = max(1, offer.vcores // applications)
    room_mb = node.room_mb // applications - offer.rounded(master_mb(properties))
    if INSTANCES in properties:
        instances = int(properties[INSTANCES])
        on_node = ceil(instances / node.workers)
    else:
        fitting = room_mb // (_USUAL_HEAP_MB + LEAST_OVERHEAD_MB)
        on_node = max(1, min(ceil(cores / offer.most_vcores), fitting))
        instances = on_node * node.workers
    container_mb = room_mb // on_node // offer.step_mb * offer.step_mb
    factor = _factor(properties)
    beside_mb = _beside_mb(properties)
    if MEMORY in properties:
        heap_mb = _mb(properties, MEMORY)
    else:
        least_mb = _mb(properties, OVERHEAD) if OVERHEAD in properties else LEAST_OVERHEAD_MB
        heap_mb = min(container_mb - beside_mb - least_mb, int((container_mb - beside_mb) / (1 + factor)))
    own_mb = _mb(properties, OVERHEAD) if OVERHEAD in properties else max(LEAST_OVERHEAD_MB, int(factor * heap_mb))
    cores = int(properties[CORES]) if CORES in properties else max(1, min(cores // on_node, offer.most_vcores))
    return Executors(instances, on_node, cores, heap_mb, own_mb + beside_mb)


def master_mb(properties: Mapping[str, str]) -> int:
    """What an application's master asks YARN for, in MiB."""
    known = {**_SMALL_MASTER, **properties}
    return _mb(known, _MASTER) + _mb(known, _MASTER_OVERHEAD)


def _beside_mb(properties: Mapping[str, str]) -> int:
    """What an executor asks for beside heap and overhead: off the heap, and for its Python processes."""
    in_use = properties.get(_OFF_HEAP, "").strip().lower() == "true"
    names = (*([_OFF_HEAP_SIZE] if in_use else []), _PYTHON)
    return sum(_mb(properties, name) for name in names if name in properties)


def _factor(properties: Mapping[str, str]) -> float:
    """What of its heap an executor asks for beside it. Raises BadInputError for what is no number."""
    try:
        return float(properties.get(_FACTOR, "0.1"))
    except ValueError:
        raise BadInputError(
            f"{_FACTOR} is {properties[_FACTOR]!r}, and must be a number such as 0.2", _FACTOR
        ) from None


def mib_of(size: str) -> int | None:
    """A size with a unit in MiB; None for what is none."""
    match = _SIZE.fullmatch(size.strip())
    return int(match[1]) * _KIB[match[2].lower()] >> 10 if match else None


def _mb(properties: Mapping[str, str], name: str) -> int:
    """A size in MiB. Raises BadInputError for one without a unit, as Spark has a unit of its own for each property."""
    size_mb = mib_of(properties[name])
    if size_mb is None:
        raise BadInputError(
            f"{name} is {properties[name]!r}, and must be a whole number with a unit, such as 2g or 1536m", name
        )
    return size_mb


def _check(spec: EmbeddedSpec, properties: Mapping[str, str], daemons: Sequence[DaemonKind]) -> None:
    """Raises BadInputError for executors that a node can't have, or not so many, and for a log that can't be read."""
    for name in _SIZES:
        if name in properties:
            _mb(properties, name)
    if properties.get(_COMPRESSED) == "true" and "lzf" in properties.get(_CODEC, "").lower():
        raise BadInputError(
            f"{_CODEC} is {properties[_CODEC]}, which Assay can't read; give zstd, lz4 or snappy", _CODEC, "settings"
        )
    node = node_of(spec, properties, daemons)
    offer, executors = node.offer, executors_of(properties, node)
    if executors.cores > offer.most_vcores:
        raise BadInputError(
            f"{CORES} is {executors.cores}, and {MOST_CORES_OF_ONE} allows {offer.most_vcores}: no executor could "
            f"start; give at most {offer.most_vcores}, or allow more", CORES, MOST_CORES_OF_ONE, "settings",
        )  # fmt: skip
    if (of_task := int(properties.get(TASK_CORES, "1"))) > executors.cores:
        raise BadInputError(
            f"{TASK_CORES} is {of_task}, and an executor has {executors.cores} cores: no task could start; give "
            f"at most {executors.cores}", TASK_CORES, CORES, "settings",
        )  # fmt: skip
    master, container_mb = offer.rounded(master_mb(properties)), offer.rounded(executors.memory_mb)
    names = (MEMORY, OVERHEAD, INSTANCES, _OFF_HEAP_SIZE, _PYTHON, _MASTER, "memory", "cluster", "settings")
    beside = "" if node.room_mb == offer.memory_mb else " beside its daemons"
    if executors.heap_mb < LEAST_HEAP_MB:
        given = (
            f"{MEMORY} is {properties[MEMORY]}" if MEMORY in properties else f"{max(0, executors.heap_mb)} MiB are left"
        )
        least_mb = master + offer.rounded(LEAST_HEAP_MB + LEAST_OVERHEAD_MB + _beside_mb(properties))
        cure = f"{LEAST_HEAP_MB}m or more" if MEMORY in properties else f"each node {least_mb} MiB or more{beside}"
        raise BadInputError(
            f"{given} for the heap of an executor, and Spark needs {LEAST_HEAP_MB} MiB; give {cure}", *names
        )
    needed_mb = node.applications * (master + executors.on_node * container_mb)
    if container_mb > offer.most_mb or needed_mb > node.room_mb:
        fitting = executors_of({name: value for name, value in properties.items() if name != MEMORY}, node)
        cure = f"give {MEMORY} {fitting.heap_mb}m at most, or fewer executors ({INSTANCES})"
        if fitting.heap_mb < LEAST_HEAP_MB:
            cure = f"give fewer executors ({INSTANCES}), or nodes more memory"
        applications = "" if node.applications == 1 else f" for each of {node.applications} applications at once"
        raise BadInputError(
            f"an executor takes {container_mb} MiB ({MEMORY} {executors.heap_mb}m and {executors.overhead_mb} MiB "
            f"beside it, in steps of {offer.step_mb} MiB), and a node has {node.room_mb} MiB for {executors.on_node} "
            f"of them and a master of {master} MiB{beside}{applications}: some could never start; {cure}", *names,
        )  # fmt: skip


def _task_share(spec: EmbeddedSpec, properties: Mapping[str, str], daemons: Sequence[DaemonKind]) -> Share:
    """As many tasks as executors have cores for; their memory is that of the executors."""
    node = node_of(spec, properties, daemons)
    executors, master = executors_of(properties, node), node.offer.rounded(master_mb(properties))
    container_mb, count = node.offer.rounded(max(0, executors.memory_mb)), node.applications * executors.instances
    size = f"{container_mb} MiB and {executors.cores} core{'s'[: executors.cores - 1]}"
    several = f"executors of {size} each" if executors.on_node > 1 else f"executor of {size}"
    text = f"{executors.on_node} {several}, and a master of {master} MiB"
    return Share(count * (executors.cores // int(properties.get(TASK_CORES, "1"))), count * container_mb, text)


_SMALL_MASTER = {_MASTER: "256m", _MASTER_OVERHEAD: "128m"}
"""Enough for one that only asks for containers, as it does where the driver runs in the client."""


def _properties(node: NodeContext) -> Mapping[str, str]:
    lib = node.programs / SPARK.name / "lib"
    return {
        "spark.driver.host": node.master,
        "spark.driver.bindAddress": node.master,
        # All nodes have the folder: nothing of it is copied. Hadoop's class path comes after it.
        JARS: f"local:{lib}/*",
        HADOOP_CLASSPATH: "true",
        BLOCKS_PORT: "0",
        **_SMALL_MASTER,
    }


def _start_properties(starts: ContainerStarts, _chosen: Mapping[str, str]) -> Mapping[str, str]:
    properties = {"spark.yarn.report.interval": "100ms"} if starts.brisk else {}
    if starts.processors is not None:
        # A JVM chooses its collector and the number of its threads by that.
        option = f"-XX:ActiveProcessorCount={starts.processors}"
        properties |= {"spark.executor.defaultJavaOptions": option, "spark.yarn.am.extraJavaOptions": option}
    return properties


def _tasks_bytes(properties: Mapping[str, str], offered_mb: int, disk_bytes: int) -> int:
    """Estimate the memory of executors: a JVM's own and a few copies of the data, up to what all nodes offer."""
    used_bytes = _EXECUTOR_BYTES * int(properties.get(INSTANCES, "1")) + _COPIES * disk_bytes
    return min(used_bytes, offered_mb * MIB)


_EXECUTOR_BYTES = 500 * MIB
_COPIES = 2

_SHIPPED = ServiceProfile(
    "Spark as it ships: two executors with one core and 1 GiB each. Else like `defaults`.",
    ("defaults",),
    {
        INSTANCES: "2",
        CORES: "1",
        MEMORY: "1g",
        OVERHEAD: "384m",
        _MASTER: "512m",
        _MASTER_OVERHEAD: "384m",
        "spark.serializer": "org.apache.spark.serializer.JavaSerializer",
        "spark.rdd.compress": "false",
        "spark.sql.adaptive.enabled": "true",
    },
)
# After Spark's guide. Tuning, Data Serialization: "we recommend trying [Kryo] in any network-intensive application".
# Level of Parallelism: "2-3 tasks per CPU core". Memory: executors take what a node has, as they do by default.
# Configuration, spark.rdd.compress: "can save substantial space at the cost of some extra CPU time". It is of what is
# serialised: the workloads persist objects, of which those that go to a drive are (SerializerManager).
_TUNED = ServiceProfile(
    "Spark as its guide tunes it: Kryo, three tasks for each core, adaptive execution, compression of partitions that "
    "are persisted on drives; executors take what nodes have. Else like `defaults`.",
    ("defaults",),
    {
        **dict.fromkeys(PARTITIONS, f"3{_PER_CORE}"),
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.rdd.compress": "true",
        "spark.sql.adaptive.enabled": "true",
    },
)

_SOURCE = "Spark's page on configuration"
SPARK = Service(
    "spark",
    needs=("mapreduce",),
    programs=Programs("spark-core_*.jar"),
    # A cluster that is there already need not have it.
    discovery=Discovery(),
    client_jars=("lib/*.jar",),
    roles=(
        Role(
            INTERMEDIATE, "the spills, merges and map outputs in local directories",
            passing=r"/appcache/application_[0-9_]+/blockmgr-[^/]+/",
        ),
    ),
    properties=_properties,
    queue_property="spark.yarn.queue",
    job_ports={BLOCKS_PORT: "shuffle"},
    traffic_note=(
        "Spark's executors serve shuffled, persisted and broadcast blocks at one port: all of it is called shuffle."
    ),
    timers=(
        Timer("spark.network.timeout", "120s", _SOURCE),
        Timer("spark.executor.heartbeatInterval", "10s", _SOURCE),
        Timer("spark.locality.wait", "3s", _SOURCE),
        Timer("spark.scheduler.maxRegisteredResourcesWaitingTime", "30s", _SOURCE),
        Timer("spark.shuffle.io.retryWait", "5s", _SOURCE),
        Timer("spark.excludeOnFailure.timeout", "1h", _SOURCE),
        Timer("spark.speculation.interval", "100ms", _SOURCE),
        Timer("spark.yarn.am.waitTime", "100s", _SOURCE),
        Timer("spark.yarn.report.interval", "1s", _SOURCE),
        Timer("spark.yarn.scheduler.heartbeat.interval-ms", "3000", _SOURCE),
        Timer("spark.yarn.scheduler.initial-allocation.interval", "200ms", _SOURCE),
    ),
    start_properties=_start_properties,
    check=_check,
    task_share=_task_share,
    # Roughly: a driver and an application's master.
    costs=Costs(cluster_mb=700, disk_mb=20),
    tasks_bytes=_tasks_bytes,
    profiles={"spark-defaults": _SHIPPED, "spark-tuned": _TUNED},
    bounds={
        **dict.fromkeys((INSTANCES, CORES, TASK_CORES), ValueBounds(1)),
        **dict.fromkeys(PARTITIONS, ValueBounds(1, per="core")),
        _FACTOR: ValueBounds(0, 10, whole=False),
        "spark.memory.fraction": ValueBounds(0.01, 1, whole=False),
        "spark.memory.storageFraction": ValueBounds(0, 1, whole=False),
    },
    reserved=frozenset(
        {
            "spark.master", "spark.submit.deployMode", "spark.local.dir", "spark.eventLog.enabled",
            "spark.eventLog.dir", BLOCK_UPDATES, BLOCKS_PORT, JARS, HADOOP_CLASSPATH, "spark.yarn.archive",
            "spark.yarn.stagingDir", "spark.driver.host", "spark.driver.bindAddress",
            "spark.shuffle.service.enabled", "spark.ui.enabled",
        }
    ),
    first_words=frozenset({"spark"}),
    properties_key="spark",
    passes_on="spark.hadoop.",
    open_names=(r"spark\..+",),
    variables=("SPARK_", "PYSPARK_"),
    loss_note=(
        "Spark misses an executor at once when YARN says that its container has ended, else after "
        "spark.network.timeout (120 s unless it is set). Its shuffle files are lost with it: the tasks that wrote "
        "them run again."
    ),
)  # fmt: skip
SERVICES.add(SPARK.name, SPARK, place=8)
