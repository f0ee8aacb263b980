"""On which ports an embedded cluster's daemons listen, by purpose, as its configuration and the daemons' logs say.

Ports that nobody needs to know beforehand are left to the kernel (`configuration.Ports`), so that only the logs tell
them. The lines are those of Hadoop 3's DataXceiverServer and IPC server (DataNode), ShuffleHandler, HttpServer2,
DatanodeHttpServer, ResourceLocalizationService and ResourceTrackerService; a line that another version words otherwise
leaves its port out.
"""

import re
from collections.abc import Mapping

from assay.cluster.site import read_site
from assay.model.cluster import RunningCluster

_CONFIGURED = {
    "fs.defaultFS": "hdfs rpc",
    "dfs.namenode.http-address": "web",
    "yarn.resourcemanager.address": "yarn rpc",
    "yarn.resourcemanager.scheduler.address": "yarn rpc",
    "yarn.resourcemanager.resource-tracker.address": "yarn rpc",
    "yarn.resourcemanager.webapp.address": "web",
    "mapreduce.jobhistory.address": "yarn rpc",
    "mapreduce.jobhistory.webapp.address": "web",
}
_LOGGED = (
    (re.compile(r"Opened streaming server at \S*:(\d+)"), "hdfs data"),
    (re.compile(r"Opened IPC server at \S*:(\d+)"), "hdfs rpc"),
    (re.compile(r"mapreduce_shuffle listening on port (\d+)"), "shuffle"),
    (re.compile(r"Localizer started on port (\d+)"), "yarn rpc"),
    (re.compile(r"registered with capability.*assigned nodeId \S*:(\d+)"), "yarn rpc"),
    (re.compile(r"Jetty bound to port (\d+)"), "web"),
    (re.compile(r"Listening HTTP traffic on \S*:(\d+)"), "web"),
)


def listening_ports(running: RunningCluster) -> Mapping[str, tuple[int, ...]]:
    """Ports by purpose: `hdfs data`, `hdfs rpc`, `shuffle`, `yarn rpc`, `web`; each port once."""
    found: dict[str, dict[int, None]] = {}
    site = read_site(running.conf_dir)
    for name, purpose in _CONFIGURED.items():
        port = site.get(name, "").rpartition(":")[2].strip("/")
        if port.isdigit() and port != "0":
            found.setdefault(purpose, {})[int(port)] = None
    for daemon in (daemon for node in running.nodes for daemon in node.daemons):
        try:
            log = daemon.log.read_text(errors="replace")
        except OSError:
            continue
        for pattern, purpose in _LOGGED:
            found.setdefault(purpose, {}).update(dict.fromkeys(map(int, pattern.findall(log))))
    return {purpose: tuple(ports) for purpose, ports in found.items()}
