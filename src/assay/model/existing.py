"""Existing clusters: where their configuration says that they are, and what a store or an engine knows of its daemons.

A platform that uses such a cluster knows no daemon by name: stores and engines describe theirs here.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from assay.model.errors import BadInputError
from assay.model.host_names import in_url
from assay.model.quantity import Kind

ANYWHERE = ("", "0.0.0.0", "::", "0:0:0:0:0:0:0:0")  # noqa: S104 - recognised, never bound
_LAST_PORT = 65535
_PLACE = re.compile(
    r"(?:[a-z]+://)?(?:\[(?P<six>[^\]]*)\]|(?P<host>[^:/]*))(?::(?P<port>[0-9]{1,5}))?(?:/.*)?", re.IGNORECASE
)


def host_and_port(address: str) -> tuple[str, str]:
    """The parts of `HOST:PORT` as Hadoop writes it, with or without a scheme; an IPv6 address without its brackets."""
    match = _PLACE.fullmatch(address.strip())
    return (match["six"] or match["host"] or "", match["port"] or "") if match else ("", "")


class Site:
    """A Hadoop configuration that is there already."""

    def __init__(self, properties: Mapping[str, str], conf_dir: Path) -> None:
        self.properties = properties
        self.conf_dir = conf_dir

    def get(self, name: str, default: str = "") -> str:
        """A property, as it stands."""
        return self.properties.get(name, default)

    def list_of(self, name: str) -> list[str]:
        """The parts of a property that has several, apart by commas."""
        return [part.strip() for part in self.get(name).split(",") if part.strip()]

    def host_in(self, name: str) -> str:
        """The host in a property that is an address; empty without one."""
        return host_and_port(self.get(name))[0]

    def url(self, scheme: str, key: str, default_host: str, default_port: int, other_key: str = "") -> str:
        """The web address in a property; host and port have defaults, the host's is from `other_key`.

        Raises BadInputError where it is no address, or nothing names a host.
        """
        value = self.get(key)
        match = _PLACE.fullmatch(value)
        if match is None or int(match["port"] or 0) > _LAST_PORT:
            raise BadInputError(
                f"{self.conf_dir} does not say where the cluster is: {key} is {value!r}, and must be HOST:PORT; an "
                "IPv6 address stands in brackets, as in [::1]:9870"
            )
        host, port = host_and_port(value)
        host = default_host if host in ANYWHERE else host
        if host in ANYWHERE:
            why = f"neither {key} nor {other_key} names a host" if other_key else f"{key} names no host"
            raise BadInputError(f"{self.conf_dir} does not say where the cluster is: {why}")
        return f"{scheme}://{in_url(host)}:{port or default_port}"


class WorkerDaemon(NamedTuple):
    """A daemon of a worker, as a master tells: the machine's name, its address if known, a role and a web address."""

    host: str
    address: str
    role: str
    url: str


class WorkerList(NamedTuple):
    """Which page of a master lists workers' daemons, and how its answer is read.

    The reader also gets the configuration, and whether a login wants names in place of addresses. An answer of another
    form makes it raise LookupError, TypeError, AttributeError or ValueError.
    """

    page: str
    read: Callable[[Any, Site, bool], Iterable[WorkerDaemon]]


class WorkerUse(NamedTuple):
    """What a master tells of a worker's processors and memory, and of the containers there; None where it does not.

    `state` is the master's word for it; only one that `runs` is counted.
    """

    host: str
    state: str
    runs: bool
    busy_cores: float | None = None
    memory_bytes: float | None = None
    containers: float | None = None


class WorkerUses(NamedTuple):
    """Which page of a master tells the use of all workers, and how its answer is read (as in WorkerList)."""

    page: str
    read: Callable[[Any], Sequence[WorkerUse]]


class Beans(NamedTuple):
    """What a daemon counts in its JMX beans: the query for these, and a series by the name of each counter.

    All its series are of one `kind`. Counters of several beans add up. `titles` are those of the series that a report's
    table of machines shows.
    """

    query: str
    series: Mapping[str, str]
    kind: Kind
    titles: Mapping[str, str] = {}


class Check(NamedTuple):
    """A page, and what its answer must be like to say yes."""

    page: str
    is_good: Callable[[Any], object]


class ExistingDaemon(NamedTuple):
    """A daemon of an existing cluster, as clients find it and ask it.

    `addresses` gives the web addresses of a master from the configuration, several of one that is there more than once;
    it raises BadInputError where they are not there. Workers' daemons have none: a master lists them.
    """

    role: str
    name: str
    """As its users write it, with its capitals."""
    addresses: Callable[[Site], tuple[str, ...]] = lambda _: ()
    well: Check | None = None
    """How it tells that it can be used; of a master, asked before a trial begins."""
    wanted: str = ""
    """What is missing where it answers and is not well, after its name (` with an active worker`)."""
    active: Check | None = None
    """How one of several tells that it is the active one. A standby must not send its reader elsewhere."""
    alive: Check | None = None
    """How it tells that it still lives, if a trial has to fail when it doesn't."""
    version: Callable[[Any], str] | None = None
    """The cluster's version in what it answers when it is asked whether it is `well`; empty where it is not there."""
    workers: WorkerList | None = None
    uses: WorkerUses | None = None
    beans: Beans | None = None
    runs_tasks: bool = False
    """Whether the jobs' tasks run beside it."""
