"""Running clusters, as their clients see them."""

import os
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from assay.model.base import Frozen
from assay.model.doubt import Doubt
from assay.model.errors import AssayError
from assay.model.fact import Fact
from assay.model.node import Connect, Node, Process


class DaemonFacts(Frozen):
    """One running daemon: its role, process id and log file."""

    role: str
    pid: int
    log: Path


class ClusterNode(NamedTuple):
    """A node of a cluster, the daemons on it, and the folder of its containers' logs where that can be read."""

    node: Node
    daemons: tuple[DaemonFacts, ...] = ()
    container_logs: Path | None = None


LAUNCHER = "launcher"
"""The service that an engine's service needs if the engine has processes started on the nodes."""


class Launched(Process, Protocol):
    """A process that was started on a node for an engine; it ends with the cluster at the latest."""

    log: Path
    """All that it says."""


StartOnNode = Callable[[str, Sequence[str], Mapping[str, str]], Launched]
"""Starts a command on the node of a name, with some environment variables beside the node's own.

It is within the bounds of its node (memory, processors, page cache) and watched by probes, as containers are. Raises
AssayError where it can't be started.
"""


def no_launch(node: str, command: Sequence[str], _environment: Mapping[str, str]) -> Launched:
    """Where nobody starts processes."""
    raise AssayError(
        f"{command[0]} can't be started on {node}: Assay starts processes only on nodes of its own, for an engine "
        f"whose service needs the service {LAUNCHER!r}"
    )


def unnoticed(_size_bytes: int) -> None:
    """Discard what stores take."""


def counting_bytes(pieces: Iterable[bytes], took: Callable[[int], None]) -> Iterator[bytes]:
    """The same pieces, of which each is told when whoever takes them asks for the next one."""
    for piece in pieces:
        yield piece
        took(len(piece))


def with_classpath(environment: Mapping[str, str], jars: Sequence[str]) -> dict[str, str]:
    """The environment of a client of Hadoop with these jars on its class path, before what is there already."""
    others = environment.get("HADOOP_CLASSPATH")
    classpath = os.pathsep.join([*jars, *([others] if others else [])])
    return {**environment, **({"HADOOP_CLASSPATH": classpath} if classpath else {})}


Client = TypeVar("Client")


@dataclass(frozen=True)
class RunningCluster:
    """A healthy Hadoop cluster, as its clients see it.

    `hadoop` is a command that takes `jar`, `fs` and the other subcommands of Hadoop's own `hadoop` script, already
    pointed at `conf_dir`. `addresses` are the http addresses of its daemons by their roles. `extras` is the folder of
    Hadoop's further jars, examples and tests, where it is known. `outlives` says that the cluster goes on when the
    trial has ended, with whatever was left running there. `connect` reaches its servers, and `ca_file` has the
    certificates to trust there. `authorize` gives what the web servers of a host take as a login, where they want one.
    `history` is a folder of job histories that are read instead of asking for them. `facts` and `doubts` are of what
    Assay made of it beside, such as the network between its nodes. Its servers answer `slower` times as slowly as
    others, so that waits for them are so much longer. `properties` are those of the first node of a cluster of Assay's
    own; of another one the trial's, and those by which clients reach what was found beside it. `launch` starts further
    processes on its nodes. Clients of stores tell `took` how many bytes they were given to be kept, as they come.
    `failure` tells whether something has died that clients would wait for. `clients` make the client of a service by
    its name, which may start programs with `environment`. `job_jars` are those that jobs and Hadoop's clients have on
    their class path beside Hadoop's, as services of the stack bring them; `stored_jars` are their paths on its own
    file system, where its nodes lack them, and `sent_jars` those of jars that a service's client brings there, by the
    service's name. `programs` has a folder of each service that brings programs.
    """

    hadoop: Path
    conf_dir: Path
    version: str
    addresses: Mapping[str, str]
    nodes: tuple[ClusterNode, ...] = ()
    extras: Path | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    outlives: bool = False
    connect: Connect = socket.create_connection
    ca_file: Path | None = None
    authorize: Callable[[str], str] | None = None
    history: str | None = None
    facts: Mapping[str, Fact] = field(default_factory=dict)
    doubts: tuple[Doubt, ...] = ()
    slower: int = 1
    properties: Mapping[str, str] = field(default_factory=dict)
    launch: StartOnNode = no_launch
    took: Callable[[int], None] = unnoticed
    failure: Callable[[], str | None] = lambda: None
    clients: Mapping[str, Callable[["RunningCluster"], object]] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    job_jars: tuple[Path, ...] = ()
    stored_jars: tuple[str, ...] = ()
    sent_jars: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    programs: Path = Path()
    _made: dict[str, object] = field(default_factory=dict, init=False, repr=False, compare=False)

    def client(self, service: str, kind: type[Client]) -> Client:
        """The client of a service, the same one each time.

        Raises AssayError where the cluster has no such service, or its client is of another kind.
        """
        if service not in self._made:
            if service not in self.clients:
                services = ", ".join(self.clients) or "none"
                raise AssayError(f"the service {service} has no client here; services that have one: {services}")
            self._made[service] = self.clients[service](self)
        client = self._made[service]
        if not isinstance(client, kind):
            raise AssayError(f"the client of {service} is a {type(client).__name__}, which is no {kind.__name__}")
        return client
