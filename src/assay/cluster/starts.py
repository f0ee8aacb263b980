"""How much start-up waiting is cut: `stock` starts everything as Hadoop ships it, `brisk` takes out what no measured phase sees.

A job's measured phases (map, shuffle, merge, reduce) run inside its task JVMs. Brisk shortens what lies around them:
heartbeats and polls that hand over work or news, and the loading of classes. Whatever it sets is listed in the
cluster's settings, so that a record says what it ran with.
"""

from collections.abc import Mapping

from assay.cluster.distribution import Distribution
from assay.model.base import Frozen

_HEARTBEAT_MS = "100"

_BRISK_PROPERTIES = {
    # Containers are given out, and found finished, by heartbeats.
    "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": _HEARTBEAT_MS,
    "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": _HEARTBEAT_MS,
    # The client asks the ResourceManager whether its job was accepted, and the master whether it is done.
    "yarn.client.application-client-protocol.poll-interval-ms": "50",
    "mapreduce.client.progressmonitor.pollinterval": "100",
    "mapreduce.client.completion.pollinterval": "100",
    # The daemons start together and look for each other: ask often instead of once a second or every 30 s.
    "ipc.client.connect.retry.interval": "100",
    "ipc.client.connect.max.retries": "200",
    "yarn.resourcemanager.connect.retry-interval.ms": "200",
}


class Starts(Frozen):
    """One way to start things: Hadoop properties and JVM options by kind of process."""

    name: str
    properties: Mapping[str, str]
    control_options: tuple[str, ...] = ()
    data_options: tuple[str, ...] = ()
    copies_names: bool = False

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
    sharing: tuple[str, ...] = ()
    if distribution.archive is not None:
        sharing = (
            f"-XX:SharedArchiveFile={distribution.archive}",
            "-Xshare:auto",
            "-Xlog:disable",
            "-Xlog:all=error:stderr",
        )
    control = (*sharing, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
    return Starts(
        name=name, properties=_BRISK_PROPERTIES, control_options=control, data_options=sharing, copies_names=True
    )
