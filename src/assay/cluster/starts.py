"""How much start-up waiting is cut: `stock` leaves all as Hadoop ships it, `brisk` cuts it.

A job's work (map, sort, spill, shuffle, merge, reduce) runs inside its task JVMs. Brisk shortens what lies around it:
heartbeats and polls that hand over work or news, and the loading of classes. Compiler, collector and heap of the task
JVMs stay. But Hadoop counts a task's time from its container's launch, so `avgMapTime` and `avgShuffleTime` include the
JVM's start, which class sharing makes shorter: compare trials of the same starts only. Whatever brisk sets is listed
in the cluster's settings, so that a record says what it ran with.
"""

from collections.abc import Mapping
from pathlib import Path

from assay.cluster.distribution import Distribution
from assay.model.base import Frozen

_HEARTBEAT_MS = "50"

_BRISK_PROPERTIES = {
    # Containers are given out, and found finished, by heartbeats.
    "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": _HEARTBEAT_MS,
    "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": _HEARTBEAT_MS,
    # The client asks the ResourceManager whether its job was accepted, and the master whether it is done.
    "yarn.client.application-client-protocol.poll-interval-ms": "50",
    "mapreduce.client.progressmonitor.pollinterval": "100",
    "mapreduce.client.completion.pollinterval": "100",
    # A file's last block is often reported to the NameNode a few milliseconds after the client asks to close the file;
    # the client then sleeps before it asks again, 400 ms by default, and a job closes about ten small files.
    "dfs.client.block.write.locateFollowingBlock.initial.delay.ms": "10",
    "dfs.client.block.write.locateFollowingBlock.max.delay.ms": "400",
    # The daemons start together and look for each other: ask often instead of once a second or every 30 s.
    "ipc.client.connect.retry.interval": "100",
    "ipc.client.connect.max.retries": "200",
    "yarn.resourcemanager.connect.retry-interval.ms": "200",
}

# Processes that no byte under test passes through, and that live for seconds: the quick compiler, the small collector.
_CONTROL_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")

# Mapped where it was laid out, an archive's pages are shared and need no patching: less memory and a quicker start. By
# default Java 17 moves it at each start, as a hardening measure. What can't be mapped is loaded as usual, in silence.
_SHARING_OPTIONS = (
    "-Xshare:auto", "-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0",
    "-Xlog:cds=off", "-Xlog:cds+dynamic=off",
)  # fmt: skip

# A job's master sleeps for 5 s at its end, and the next job's waits for its place: see hadoop/src/.../LeaveAtOnce.java,
# which also explains the address.
_LEAVE_AT_ONCE = {
    "mapreduce.job.end-notification.custom-notifier-class": "org.assay.hadoop.LeaveAtOnce",
    "mapreduce.job.end-notification.url": "http://127.0.0.1:9/",
}

_OWN_CLASSES_FIRST = ("mapreduce.job.user.classpath.first", "mapreduce.job.classloader")

# Hadoop's own value of the properties that take further options.
_TASK_OPTIONS = "-Djava.net.preferIPv4Stack=true -Dhadoop.metrics.log.level=WARN"


class Starts(Frozen):
    """One way to start things: Hadoop properties and JVM options by kind of process."""

    name: str
    properties: Mapping[str, str]
    control_options: tuple[str, ...] = ()
    data_options: tuple[str, ...] = ()
    copies_names: bool = False

    def beside(self, asked: Mapping[str, str]) -> "Starts":
        """These starts without what would undo `asked`: a job's classes before Hadoop's, its own notification."""
        dropped: set[str] = set()
        if any(asked.get(name) == "true" for name in _OWN_CLASSES_FIRST):
            dropped = {name for name, value in self.properties.items() if ":$CLASSPATH" in value}
        if any(name.startswith("mapreduce.job.end-notification.") for name in asked):
            dropped |= set(_LEAVE_AT_ONCE)
        kept = {name: value for name, value in self.properties.items() if name not in dropped}
        return self.model_copy(update={"properties": kept})

    def settings(self, distribution: Distribution) -> dict[str, str]:
        """What a record has to say of it: every property and JVM option that is not Hadoop's own."""
        sharing = "on" if distribution.archive is not None and self.name != "stock" else "off"
        note = f" ({distribution.archive_note})" if distribution.archive_note and self.name != "stock" else ""
        return {
            "starts": self.name,
            **self.properties,
            "class sharing": sharing + note,
            "java options: namenode, resourcemanager, historyserver, client": " ".join(self.control_options),
            "java options: datanode, nodemanager": " ".join(self.data_options),
        }


def starts_of(name: str, distribution: Distribution) -> Starts:
    """The starts called `brisk` or `stock` for this Hadoop."""
    if name == "stock":
        return Starts(name=name, properties={})
    sharing = _sharing(distribution)
    control = (*sharing, *_CONTROL_OPTIONS)
    leaving = _LEAVE_AT_ONCE if distribution.jars is not None else {}
    containers = _container_options(distribution, sharing, _CONTROL_OPTIONS)
    return Starts(
        name=name, properties={**_BRISK_PROPERTIES, **leaving, **containers},
        control_options=control, data_options=sharing, copies_names=True,
    )  # fmt: skip


def training_starts(distribution: Distribution, lists: Path) -> Starts:
    """Starts whose processes write down, in files in `lists`, which classes they load."""
    writing = (f"-XX:DumpLoadedClassList={lists}/%p.lst", *_CONTROL_OPTIONS)
    properties = {**_BRISK_PROPERTIES, **_container_options(distribution, writing)}
    return Starts(name="training", properties=properties, control_options=writing, data_options=writing)


def _sharing(distribution: Distribution) -> tuple[str, ...]:
    """Map the archive if it fits (class path and Java are checked by the JVM), and be quiet when it does not."""
    if distribution.archive is None:
        return ()
    return (f"-XX:SharedArchiveFile={distribution.archive}", *_SHARING_OPTIONS)


def _container_options(
    distribution: Distribution, options: tuple[str, ...], master: tuple[str, ...] = ()
) -> dict[str, str]:
    """Class sharing for the application master and the tasks.

    An archive is only used when the class path begins as it did when it was made, but a container's begins with its
    working directory. So Hadoop's jars are put before it; what a job brings is still found, as Hadoop's own classes
    win anyway (for the exceptions see `Starts.beside`).
    """
    if distribution.pathing_jar is None or not options:
        return {}
    shared = " ".join((*options, "-cp", f"{distribution.pathing_jar}:$CLASSPATH"))
    return {
        "mapreduce.admin.map.child.java.opts": f"{_TASK_OPTIONS} {shared}",
        "mapreduce.admin.reduce.child.java.opts": f"{_TASK_OPTIONS} {shared}",
        "yarn.app.mapreduce.am.admin-command-opts": " ".join((shared, *master)),
    }
