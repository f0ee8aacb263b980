"""YARN and the JobHistoryServer of an existing cluster: where they are, how they are asked, and what they count.

Source of the machines and their use (`resourceUtilization`): the ResourceManager's REST interface
(`/ws/v1/cluster/nodes`). NodeManagers read it every 3 s (yarn.nodemanager.resource-monitor.interval-ms), and count
bytes of map outputs that they sent (ShuffleMetrics). What tasks write to local directories no daemon counts.
"""

from collections.abc import Iterator
from typing import Any

from assay.host.http import amount_at
from assay.model.existing import (
    Beans,
    Check,
    ExistingDaemon,
    Site,
    WorkerDaemon,
    WorkerList,
    WorkerUse,
    WorkerUses,
)
from assay.model.host_names import host_of, in_url
from assay.model.quantity import Kind

NODES_PAGE = "/ws/v1/cluster/nodes"
_GONE = {"LOST", "SHUTDOWN", "DECOMMISSIONED", "REBOOTED"}
_MIB = 1 << 20


def resourcemanagers(site: Site) -> tuple[str, ...]:
    """Return the addresses of all ResourceManagers; without high availability there is one, whatever ids are listed."""
    secure = _is_secure(site)
    scheme, port, key = ("https", 8090, "webapp.https.address") if secure else ("http", 8088, "webapp.address")
    available = site.get("yarn.resourcemanager.ha.enabled").lower() == "true"
    members = site.list_of("yarn.resourcemanager.ha.rm-ids") if available else []
    urls = []
    for suffix in [f".{member}" for member in members] or [""]:
        hostname = f"yarn.resourcemanager.hostname{suffix}"
        host = site.get(hostname).strip("[]") or site.host_in(f"yarn.resourcemanager.address{suffix}")
        urls.append(site.url(scheme, f"yarn.resourcemanager.{key}{suffix}", host, port, hostname))
    return tuple(urls)


def historyservers(site: Site) -> tuple[str, ...]:
    """The JobHistoryServer's address; by default it is on the host of its RPC address."""
    secure = site.get("mapreduce.jobhistory.http.policy") == "HTTPS_ONLY"
    scheme, port, key = ("https", 19890, "webapp.https.address") if secure else ("http", 19888, "webapp.address")
    rpc = "mapreduce.jobhistory.address"
    return (site.url(scheme, f"mapreduce.jobhistory.{key}", site.host_in(rpc), port, rpc),)


def nodemanagers(answer: Any, site: Site, _by_name: bool) -> Iterator[WorkerDaemon]:  # noqa: FBT001 - see WorkerList
    """List the NodeManagers that are there, unhealthy ones too."""
    scheme = "https" if _is_secure(site) else "http"
    for node in (answer["nodes"] or {}).get("node") or ():
        if node["state"] not in _GONE and node.get("nodeHTTPAddress"):
            address = node["nodeHTTPAddress"]
            url = f"{scheme}://{in_url(host_of(address))}:{address.rpartition(':')[2]}"
            yield WorkerDaemon(node["nodeHostName"], "", "nodemanager", url)


def worker_uses(answer: Any) -> list[WorkerUse]:
    """The use of each machine as its NodeManager told it: that of the whole machine, and its own containers."""
    nodes = (answer["nodes"] or {}).get("node") or []
    return [_worker_use(node) for node in nodes if isinstance(node, dict)]


def _worker_use(node: dict[str, Any]) -> WorkerUse:
    use, state = node.get("resourceUtilization"), str(node.get("state"))
    memory_mib = amount_at(use, "nodePhysicalMemoryMB")
    return WorkerUse(
        host=str(node.get("nodeHostName")),
        state=state,
        runs=state == "RUNNING",
        busy_cores=amount_at(use, "nodeCPUUsage"),
        memory_bytes=memory_mib * _MIB if memory_mib else None,
        containers=amount_at(node, "numContainers"),
    )


def _is_secure(site: Site) -> bool:
    return site.get("yarn.http.policy") == "HTTPS_ONLY"


def _ha_state(answer: Any) -> object:
    info = answer.get("clusterInfo") if isinstance(answer, dict) else None
    return info.get("haState") if isinstance(info, dict) else None


def offers_memory(answer: Any) -> bool:
    """Whether at least one NodeManager runs and offers memory (`/ws/v1/cluster/metrics`)."""
    metrics = answer.get("clusterMetrics", {}) if isinstance(answer, dict) else {}
    return int(metrics.get("activeNodes", 0)) >= 1 and int(metrics.get("totalMB", 0)) > 0


def has_history(answer: Any) -> bool:
    """Whether a JobHistoryServer answered (`/ws/v1/history/info`)."""
    return isinstance(answer, dict) and "historyInfo" in answer


METRICS_PAGE, HISTORY_PAGE = "/ws/v1/cluster/metrics", "/ws/v1/history/info"
OF_YARN = (
    ExistingDaemon(
        "resourcemanager", "ResourceManager", resourcemanagers,
        well=Check(METRICS_PAGE, offers_memory),
        wanted=" with an active NodeManager",
        active=Check("/ws/v1/cluster/info", lambda answer: _ha_state(answer) == "ACTIVE"),
        workers=WorkerList(NODES_PAGE, nodemanagers),
        uses=WorkerUses(NODES_PAGE, worker_uses),
        beans=Beans(
            "Hadoop:service=ResourceManager,name=RpcActivityForPort*",
            {"ReceivedBytes": "rpc_received_bytes", "SentBytes": "rpc_sent_bytes"},
            Kind.BYTES,
        ),
    ),
    ExistingDaemon(
        "nodemanager", "NodeManager", runs_tasks=True,
        beans=Beans(
            "Hadoop:service=NodeManager,name=ShuffleMetrics", {"ShuffleOutputBytes": "shuffle_sent_bytes"},
            Kind.BYTES,
            {"shuffle_sent_bytes": "shuffle sent"},
        ),
    ),
)  # fmt: skip
OF_MAPREDUCE = (
    ExistingDaemon("historyserver", "JobHistoryServer", historyservers, well=Check(HISTORY_PAGE, has_history)),
)
