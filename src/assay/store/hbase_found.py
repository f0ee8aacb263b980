"""An HBase that is there already, beside an existing cluster: where it is, and whether it can be used as it is.

Its clients read `hbase-site.xml` among the cluster's other client files, and what an experiment says of the store. They
ask ZooKeeper for the servers. Assay makes, reads and removes tables of its own there, and touches nothing else.
"""

import json
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from assay.model.base import Frozen
from assay.model.errors import BadInputError
from assay.model.existing import Site, host_and_port
from assay.model.fact import Fact
from assay.model.running_cluster import RunningCluster, with_classpath
from assay.store.hbase_tables import FORMATS, check_properties

QUORUM, PORT, ZNODE = "hbase.zookeeper.quorum", "hbase.zookeeper.property.clientPort", "zookeeper.znode.parent"
VERSION, FILES = "hbase", "hbase_files"
"""Facts: its version, and whether clients read its own files (`read`, `not read`)."""
DEFAULTS = {"hbase.client.scanner.caching": str((1 << 31) - 1)}
"""Scans fetch by bytes, as by HBase's own default: sites still bound the rows of a call by 100, or by 1."""
_USUAL_PORT, _USUAL_ZNODE = "2181", "/hbase"
_CONNECT_S, _ANSWER_S = 5.0, 120.0
_REACH = "org.assay.hbase.Reach"


def _quorum(value: Any) -> Any:
    servers = value if isinstance(value, list) else str(value).split(",")
    servers = [str(server).strip() for server in servers]
    for server in servers:
        host, port = host_and_port(server)
        if not host or "/" in server or not 0 < int(port or _USUAL_PORT) < 1 << 16:
            raise PydanticCustomError(
                "quorum", "Must be HOST:PORT of ZooKeeper servers, such as [zk-1:2181, zk-2:2181]"
            )
    return ",".join(servers)


def _znode(value: Any) -> Any:
    if not isinstance(value, str) or not value.startswith("/"):
        raise PydanticCustomError("znode", "Must begin with /, such as /hbase")
    return value


class HbaseOptions(Frozen):
    """Where an HBase is that is there already."""

    quorum: Annotated[str, BeforeValidator(_quorum, json_schema_input_type=str | list[str])] = Field(
        default="",
        description="Of `hbase` on an existing cluster: HOST:PORT of the ZooKeeper servers of your HBase, several as a "
        f"list; by default what `hbase-site.xml` in `conf_dir` says (`{QUORUM}`).",
    )
    znode: Annotated[str, BeforeValidator(_znode)] = Field(
        default="",
        description=f"Of `hbase` on an existing cluster: where it has its names in ZooKeeper (`{ZNODE}`), by default "
        f"what `hbase-site.xml` says, or `{_USUAL_ZNODE}`.",
    )


def properties(options: Mapping[str, Any], site: Site) -> Mapping[str, str]:
    """What clients and jobs need. Raises BadInputError where nothing says where HBase is."""
    quorum = options.get("quorum") or site.get(QUORUM)
    if not quorum:
        raise BadInputError(
            f"{site.conf_dir} does not say where HBase is: no hbase-site.xml there has {QUORUM}; name its ZooKeeper "
            "servers, as in store: {kind: hbase, quorum: HOST:PORT}", "store",
        )  # fmt: skip
    return {
        **FORMATS,
        QUORUM: quorum,
        PORT: site.get(PORT, _USUAL_PORT),
        ZNODE: options.get("znode") or site.get(ZNODE, _USUAL_ZNODE),
    }


def check(cluster: RunningCluster, chosen: Mapping[str, str]) -> Mapping[str, Fact]:
    """Ask it what it is, as a client of the cluster does.

    Raises BadInputError where it does not answer, is of another major version than the clients, refuses the login,
    or lets the user make no tables.
    """
    check_properties(chosen)
    place = f"{cluster.properties[QUORUM]}{cluster.properties[ZNODE]}"
    _ask_quorum(cluster)
    answer = _asked(cluster, place)
    if error := answer.get("error"):
        if answer.get("refused"):
            raise BadInputError(
                f"HBase at {place} refuses the login: {error}; look whether its principals are in hbase-site.xml in "
                "conf_dir, and whether `hbase shell` lets the same user in", "store", "kerberos", "conf_dir",
            )  # fmt: skip
        raise BadInputError(
            f"ZooKeeper at {place} leads to no HBase that this machine reaches: {error}; is HBase up, is `znode` "
            "right, and can this machine reach its servers?", "store",
        )  # fmt: skip
    _refuse(answer, chosen, place)
    return {
        VERSION: answer["server"],
        "hbase_servers": answer["servers"],
        FILES: "read" if answer["files"] else "not read",
    }


def _refuse(answer: Mapping[str, Any], chosen: Mapping[str, str], place: str) -> None:
    """Raise BadInputError for what it answers, where that won't do."""
    client, server = answer["client"], answer["server"]
    if client.partition(".")[0] != server.partition(".")[0]:
        raise BadInputError(
            f"HBase at {place} is {server}, and Assay's client {client} can talk to major version "
            f"{client.partition('.')[0]} alone; name an HBase of that version", "store",
        )  # fmt: skip
    if answer["servers"] == 0:
        raise BadInputError(f"HBase at {place} has no region server that is up; start one", "store")
    if answer["may_create"] is False:
        raise BadInputError(
            f"HBase at {place} lets you make no tables; have `grant 'YOU', 'RWXCA', '@default'` done in `hbase shell`",
            "store",
        )  # fmt: skip
    if chosen.get("hbase.assay.read") == "snapshot" and not answer["files"]:
        raise BadInputError(
            f"hbase.assay.read is snapshot, and you can't read the files of HBase at {place}; take scan, or give "
            "hbase-site.xml in conf_dir hbase.rootdir and be allowed to read there", "hbase.assay.read", "store",
        )  # fmt: skip


def _ask_quorum(cluster: RunningCluster) -> None:
    """Raises BadInputError where nobody listens at any address of the quorum."""
    reasons = []
    for server in cluster.properties[QUORUM].split(","):
        host, port = host_and_port(server.strip())
        address = (host, int(port or cluster.properties[PORT]))
        try:
            cluster.connect(address, _CONNECT_S).close()
        except OSError as error:
            reasons.append(f"{address[0]}:{address[1]}: {error.strerror or error}")
        else:
            return
    raise BadInputError(
        f"ZooKeeper of HBase does not answer: {'; '.join(reasons)}; look whether it is up, and whether `quorum` has "
        "the addresses at which this machine reaches it", "store",
    )  # fmt: skip


def _asked(cluster: RunningCluster, place: str) -> Mapping[str, Any]:
    """What its client tells. Raises BadInputError where that tells nothing."""
    environment = with_classpath(cluster.environment, list(map(str, cluster.job_jars)))
    command = [str(cluster.hadoop), _REACH]
    try:
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
            errors="replace", check=False, timeout=_ANSWER_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise BadInputError(
            f"HBase at {place} gave no answer in {_ANSWER_S:.0f} s; is it up, and can this machine reach its servers?",
            "store",
        ) from None
    for line in reversed(done.stdout.splitlines()):
        with suppress(ValueError):
            answer = json.loads(line)
            if isinstance(answer, dict) and "client" in answer:
                return answer
    last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
    raise BadInputError(f"HBase's client can't be run here: {last}", "store")
