"""HDFS of an existing cluster: where its NameNodes are, how they tell that they are well, and what its daemons count.

Source of the DataNodes: the NameNode's bean NameNodeInfo, whose LiveNodes are a JSON text of them by `HOST:PORT`.
DataNodes count the bytes of blocks that they served and took (DataNodeMetrics); what tasks read by short circuit they
do not count.
"""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from assay.model.errors import BadInputError
from assay.model.existing import ANYWHERE, Beans, Check, ExistingDaemon, Site, WorkerDaemon, WorkerList, host_and_port
from assay.model.host_names import host_of, in_url
from assay.model.quantity import Kind
from assay.model.service import jmx_bean

SCHEME = "hdfs"
INFO_PAGE = "/jmx?qry=Hadoop:service=NameNode,name=NameNodeInfo"
_STATUS_PAGE = "/jmx?qry=Hadoop:service=NameNode,name=NameNodeStatus"
_RPC_PORT = "8020"


def namenodes(site: Site) -> tuple[str, ...]:
    """Return the NameNode's address, or with high availability those of all NameNodes of the default name service.

    In a federation the default file system's NameNode is that of the service with its address. Raises BadInputError
    where the default file system is no HDFS.
    """
    default_fs = site.get("fs.defaultFS")
    if not default_fs.startswith(f"{SCHEME}://"):
        raise BadInputError(f"{site.conf_dir} names no HDFS: fs.defaultFS is {default_fs or 'not set'}")
    secure = site.get("dfs.http.policy") == "HTTPS_ONLY"
    scheme, port = ("https", 9871) if secure else ("http", 9870)
    key = f"dfs.namenode.{scheme}-address"
    try:
        authority = urlsplit(default_fs).netloc.rpartition("@")[2]
    except ValueError as error:
        problem = f"fs.defaultFS is {default_fs!r}, and must be hdfs://HOST:PORT"
        raise BadInputError(f"{site.conf_dir} names no HDFS: {problem}") from error
    host = host_and_port(authority)[0]
    suffixes = [f".{host}.{member}" for member in _members(site, host)] or [_suffix(site, authority)]
    urls = []
    for suffix in suffixes:
        rpc_key = f"dfs.namenode.rpc-address{suffix}"
        rpc_host = site.host_in(rpc_key)
        default_host = host if rpc_host in ANYWHERE and len(suffixes) == 1 else rpc_host
        # What has no key of its service's has the one without.
        service_key = f"{key}{suffix}" if f"{key}{suffix}" in site.properties else key
        named = service_key if len(suffixes) == 1 else f"{key}{suffix}"
        urls.append(site.url(scheme, named, default_host, port, rpc_key if suffix else ""))
    return tuple(urls)


def _members(site: Site, service: str) -> list[str]:
    return site.list_of(f"dfs.ha.namenodes.{service}")


def _suffix(site: Site, authority: str) -> str:
    """What the keys of the NameNode with this address, or of this name service, end in."""
    host, port = host_and_port(authority)
    for service in site.list_of("dfs.nameservices"):
        for suffix in [f".{service}.{member}" for member in _members(site, service)] or [f".{service}"]:
            rpc_host, rpc_port = host_and_port(site.get(f"dfs.namenode.rpc-address{suffix}"))
            same_port = (rpc_port or _RPC_PORT) == (port or _RPC_PORT)
            if host == service or (rpc_host.lower() == host.lower() and same_port):
                return suffix
    return ""


def datanodes(answer: Any, _site: Site, by_name: bool) -> Iterator[WorkerDaemon]:  # noqa: FBT001 - see WorkerList
    """A certificate is of a name, as is a login; otherwise the address does, and needs no name server."""
    for host_port, node in json.loads(jmx_bean(answer)["LiveNodes"]).items():
        name, address, port = host_of(host_port), host_of(node["infoAddr"]), node["infoAddr"].rpartition(":")[2]
        secure_port = node.get("infoSecureAddr", ":0").rpartition(":")[2]
        if port not in {"", "0"}:
            yield WorkerDaemon(name, address, "datanode", f"http://{in_url(name if by_name else address)}:{port}")
        elif secure_port != "0":
            yield WorkerDaemon(name, address, "datanode", f"https://{in_url(name)}:{secure_port}")


EXISTING = (
    ExistingDaemon(
        "namenode", "NameNode", namenodes,
        well=Check(INFO_PAGE, jmx_bean),  # in safe mode too
        active=Check(_STATUS_PAGE, lambda answer: jmx_bean(answer).get("State") == "active"),
        alive=Check(_STATUS_PAGE, jmx_bean),
        version=lambda answer: str(jmx_bean(answer).get("SoftwareVersion", "")),
        workers=WorkerList(INFO_PAGE, datanodes),
        beans=Beans(
            "Hadoop:service=NameNode,name=RpcActivityForPort*",
            {"ReceivedBytes": "rpc_received_bytes", "SentBytes": "rpc_sent_bytes"},
            Kind.BYTES,
        ),
    ),
    ExistingDaemon(
        "datanode", "DataNode",
        beans=Beans(
            "Hadoop:service=DataNode,name=DataNodeActivity-*",
            {
                "BytesRead": "hdfs_read_bytes", "BytesWritten": "hdfs_written_bytes",
                "RemoteBytesRead": "remote_read_bytes", "RemoteBytesWritten": "remote_written_bytes",
            },
            Kind.BYTES,
            {"hdfs_read_bytes": "HDFS read", "hdfs_written_bytes": "HDFS written"},
        ),
    ),
)  # fmt: skip
