"""What an experiment says of its cluster: the nodes and networks of one of Assay's own, or where an existing one is."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, create_model, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from assay.model.base import Frozen, Whole
from assay.model.cluster import MOST_WHOLE, racks_as_listed
from assay.model.kerberos import KerberosSpec
from assay.model.network import LINKS, MOST_NODES, NO_NETWORK, NONE, Networks, read_networks
from assay.model.registry import NODE_SOURCES, PLATFORMS
from assay.plan.entry_parts import Many, OneOf, Worker


def cluster_short(value: Any) -> Any:
    """A kind's name alone; a key that one kind can't do without names it, such as `conf_dir` an existing cluster."""
    if isinstance(value, str):
        return {"kind": value}
    if not isinstance(value, dict) or "kind" in value:
        return value
    named = [name for name, platform in PLATFORMS.items() if platform.needed_keys.keys() & value]
    return {"kind": named[0], **value} if named else value


def _network(value: Any) -> Any:
    """A network's name, or its rate and latency in a word."""
    try:
        return read_networks(value)
    except ValueError as error:
        raise PydanticCustomError("network", "{reason}", {"reason": str(error)}) from None


class NetworkEntry(Frozen):
    """A network of your own."""

    rate: Annotated[str, Field(pattern=r"^[0-9.]+ ?[kmgKMG]?bit(/s)?$")]
    """What each link carries in each direction, such as `1Gbit`."""
    latency: Annotated[str, Field(pattern=r"^[0-9.]+ ?(us|ms)$")] = "0us"
    """One way from node to node, such as `100us`."""
    on: Many[Worker] = []
    """The numbers of the workers that have such a link; by default all nodes have. Needs `elsewhere`."""
    elsewhere: str = ""
    """The network's name, or rate, of the other workers and the master."""


class NetworksEntry(Frozen):
    """Two networks. Each node has an interface on both, and its name on the second one ends in `-data`."""

    control: Literal[*(NONE, *LINKS)] | NetworkEntry  # type: ignore[valid-type]  # names that are data
    """What the masters and the tasks' own connections use."""
    data: Literal[*(NONE, *LINKS)] | NetworkEntry  # type: ignore[valid-type]
    """What the store's data and the shuffle use."""


WrittenNetworks = Annotated[
    Networks,
    BeforeValidator(_network, json_schema_input_type=Literal[*(NONE, *LINKS)] | NetworkEntry | NetworksEntry),
]

Racks = int | tuple[tuple[Worker, ...], ...]


def _racks(value: Any) -> Any:
    """A number, or lists of workers' numbers."""
    try:
        return racks_as_listed(value)
    except ValueError as error:
        raise PydanticCustomError("racks", "{reason}", {"reason": str(error)}) from None


def web_address(value: str) -> str:
    """Shown in messages and kept in records: it must hold no password."""
    try:
        parts = urlsplit(value)
        known = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        known = False
    if not known:
        raise PydanticCustomError("address", "Must be an http or https address, such as http://prometheus:9090")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise PydanticCustomError(
            "address", "Must be an address without user, password or query: records would show them"
        )
    return value.rstrip("/")


def history_place(value: str) -> str:
    """A folder of this machine, or one that Hadoop's client knows by its scheme."""
    if not re.match(r"(/|[a-z][a-z0-9+.-]*:/)", value):
        raise PydanticCustomError("folder", "Must be an absolute path, or an address such as hdfs:///mr-history")
    return value.rstrip("/") or "/"


def source_keys() -> type[Frozen]:
    """A model whose keys are the ways to read nodes, each with its options or null."""
    options: dict[str, Any] = {name: (kind.options | None, None) for name, kind in NODE_SOURCES.items()}
    return create_model("NodeSources", __base__=Frozen, **options)


class ClusterEntry(Frozen):
    """A cluster: its kind's name alone, or a map. The ways to read nodes (NODE_SOURCES) are further keys."""

    model_config = ConfigDict(extra="allow")

    kind: Annotated[str, OneOf(lambda: list(PLATFORMS))] = "embedded"
    """`embedded`: a new cluster for each trial. `existing`: your cluster. With `conf_dir` it is `existing`."""
    conf_dir: Path | None = None
    """The Hadoop configuration directory of an existing cluster; required there."""
    ca_file: Path | None = None
    """Certificates (PEM) by which the cluster's https addresses are trusted; by default those of this machine. Existing
    only."""
    prometheus: Annotated[str, AfterValidator(web_address)] | None = None
    """The address of a Prometheus that scrapes a node_exporter on the cluster's machines, such as `http://prom:9090`
    ([measure a cluster](../how-to/measure-a-cluster.md)). Existing only."""
    history: Annotated[str, AfterValidator(history_place)] | None = None
    """A folder of job histories (`.jhist`), such as `hdfs:///mr-history`, or an absolute path on this machine; by
    default the server that keeps them is asked. Existing only."""
    nodes: Many[Annotated[Whole, Field(ge=1, le=MOST_NODES)]] = []
    """Numbers of workers, by default 1. With several, or with a network, each node is a host of its own on this machine
    and the masters have one more node. Embedded only."""
    network: Many[WrittenNetworks] = [NO_NETWORK]
    """The network that Assay emulates between the nodes: `none`, `fast-ethernet`, `gigabit`, `ten-gigabit`,
    `ipoib-qdr-like`, a map such as `{rate: 1Gbit, latency: 100us}`, or two networks: `{control: gigabit, data:
    ipoib-qdr-like}`. Embedded only."""
    racks: Annotated[Racks, BeforeValidator(_racks, json_schema_input_type=Whole | list[list[Worker]])] = ()
    """The racks of the workers: a number, into which they are divided evenly, or lists of workers' numbers, such as
    `[[1, 2], [3, 4]]`. Embedded only, with two nodes or more."""
    starts: Literal["brisk", "stock"] = "brisk"
    """`brisk` shortens the waiting around a job, `stock` leaves Hadoop as it ships (see
    [settings](settings.md#starts)). Embedded only."""
    memory_mb: Annotated[Whole, Field(ge=1, le=MOST_WHOLE)] = 8192
    """Memory that each worker offers to the jobs' containers. Embedded only."""
    vcores: Annotated[Whole, Field(ge=1, le=MOST_WHOLE)] = 8
    """Cores that each worker offers to the jobs' containers. Embedded only."""
    kerberos: KerberosSpec | None = None
    """The login at a cluster that is secured by Kerberos, such as `{keytab: me.keytab}`; by default with your tickets
    ([use an existing cluster](../how-to/use-an-existing-cluster.md#kerberos-and-tls)). Existing only."""

    @model_validator(mode="before")
    @classmethod
    def _further_keys_are_ways_to_read_nodes(cls, value: Any) -> Any:
        further = {key: value[key] for key in value if key not in cls.model_fields} if isinstance(value, dict) else {}
        if not further:
            return value
        checked = source_keys().model_validate(further)
        return {**value, **{key: getattr(checked, key) for key in further}}

    @classmethod
    def further_fields(cls) -> Mapping[str, FieldInfo]:
        """The ways to read nodes."""
        return source_keys().model_fields

    @property
    def node_sources(self) -> Mapping[str, Frozen]:
        """The options of the ways to read nodes that it names."""
        return {name: options for name, options in (self.model_extra or {}).items() if options is not None}

    @property
    def given_keys(self) -> set[str]:
        """Return the keys that the experiment gives for its cluster."""
        return {*self.model_fields_set, *(self.model_extra or {})}


OneCluster = Annotated[
    ClusterEntry, BeforeValidator(cluster_short, json_schema_input_type=Literal["embedded"] | ClusterEntry)
]
