"""Keys of a cluster in an experiment: the nodes and networks of one of Assay's own, or where an existing one is."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, create_model
from pydantic_core import PydanticCustomError

from assay.model.base import Frozen, Many, Whole
from assay.model.cluster import MOST_WHOLE, EmbeddedSpec, ExistingSpec, NodeSourceSpec, racks_as_listed
from assay.model.errors import BadInputError
from assay.model.kerberos import KerberosSpec
from assay.model.network import LINKS, MOST_NODES, NO_NETWORK, NONE, Networks, Worker, read_networks
from assay.model.platform import Places
from assay.model.registry import NODE_SOURCES


class Keys(Frozen):
    """Keys of an experiment: what stands below each in the source describes it."""

    model_config = ConfigDict(use_attribute_docstrings=True)


def _network(value: Any) -> Any:
    """A network's name, or its rate and latency in a word."""
    try:
        return read_networks(value)
    except ValueError as error:
        raise PydanticCustomError("network", "{reason}", {"reason": str(error)}) from None


class NetworkEntry(Keys):
    """A network of your own."""

    rate: Annotated[str, Field(pattern=r"^[0-9.]+ ?[kmgKMG]?bit(/s)?$")]
    """What each link carries in each direction, such as `1Gbit`."""
    latency: Annotated[str, Field(pattern=r"^[0-9.]+ ?(us|ms)$")] = "0us"
    """One way from node to node, such as `100us`."""
    on: Many[Worker] = []
    """The numbers of the workers that have such a link; by default all nodes have. Needs `elsewhere`."""
    elsewhere: str = ""
    """The network's name, or rate, of the other workers and the master."""


class NetworksEntry(Keys):
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


class EmbeddedKeys(Keys):
    """Those of a cluster that Assay starts."""

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


def embedded_spec(keys: EmbeddedKeys, _places: Places) -> EmbeddedSpec:
    """The cluster without the levels that trials choose."""
    return EmbeddedSpec(starts=keys.starts, memory_mb=keys.memory_mb, vcores=keys.vcores)


def history_place(value: str) -> str:
    """A folder of this machine, or one that Hadoop's client knows by its scheme."""
    if not re.match(r"(/|[a-z][a-z0-9+.-]*:/)", value):
        raise PydanticCustomError("folder", "Must be an absolute path, or an address such as hdfs:///mr-history")
    return value.rstrip("/") or "/"


class _ExistingKeys(Keys):
    conf_dir: Path | None = None
    """The Hadoop configuration directory of an existing cluster; required there."""
    ca_file: Path | None = None
    """Certificates (PEM) by which the cluster's https addresses are trusted; by default those of this machine. Existing
    only."""
    history: Annotated[str, AfterValidator(history_place)] | None = None
    """A folder of job histories (`.jhist`), such as `hdfs:///mr-history`, or an absolute path on this machine; by
    default the server that keeps them is asked. Existing only."""
    kerberos: KerberosSpec | None = None
    """The login at a cluster that is secured by Kerberos, such as `{keytab: me.keytab}`; by default with your tickets
    ([use an existing cluster](../how-to/use-an-existing-cluster.md#kerberos-and-tls)). Existing only."""


def existing_keys() -> type[BaseModel]:
    """Those of a cluster that is there already, and each way to read its nodes with its options or null."""
    return _keys_with(
        *((name, kind.options, kind.about) for name, kind in NODE_SOURCES.items() if kind.options is not None)
    )


@cache
def _keys_with(*sources: tuple[str, type[BaseModel], str]) -> type[BaseModel]:
    """The keys with those of ways to read nodes: name, options and description of each."""
    fields: dict[str, Any] = {
        name: (options | None, Field(None, description=description)) for name, options, description in sources
    }
    return create_model("ExistingKeys", __base__=_ExistingKeys, **fields)


def existing_spec(keys: Any, places: Places) -> ExistingSpec:
    """The cluster with whole paths. Raises BadInputError where there is nothing at them."""
    conf_dir, ca_file, kerberos = keys.conf_dir, keys.ca_file, keys.kerberos
    with places.at("cluster", "conf_dir"):
        conf_dir = places.absolute(conf_dir)
        if not (conf_dir / "core-site.xml").is_file():
            raise BadInputError(
                f"conf_dir {conf_dir} has no core-site.xml; name the directory of the cluster's configuration"
            )
    with places.at("cluster", "ca_file"):
        if ca_file is not None:
            ca_file = places.absolute(ca_file)
            if not ca_file.is_file():
                cure = "name a file of certificates (PEM), or leave it out"
                raise BadInputError(f"ca_file {ca_file} is not there; {cure}")
    return ExistingSpec(
        conf_dir=conf_dir, ca_file=ca_file, history=keys.history, node_sources=tuple(_node_sources(keys, places)),
        kerberos=None if kerberos is None else kerberos.located(places.absolute),
    )  # fmt: skip


def _node_sources(keys: Any, places: Places) -> Iterator[NodeSourceSpec]:
    """The ways to read its nodes, with whole paths."""
    for name, kind in NODE_SOURCES.items():
        options = getattr(keys, name, None)
        if options is not None:
            with places.at("cluster", name):
                located = kind.located(options, places.absolute)
            yield NodeSourceSpec(name=name, options=TypeAdapter(kind.options).dump_python(located, mode="json"))
