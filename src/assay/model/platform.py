"""Platforms: what jobs run on."""

import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from pydantic import Field, model_validator

from assay.model.base import Frozen
from assay.model.fault import Fault, worker_name
from assay.model.kerberos import KerberosSpec
from assay.model.network import NO_NETWORK
from assay.model.node_source import NodeSourceSpec
from assay.model.progress import Progress
from assay.model.scale import DEFAULT_CPUS

if TYPE_CHECKING:
    from assay.model.doubt import Doubt
    from assay.model.engine import Engine
    from assay.model.fault import Injector
    from assay.model.installation import Holder, Installation
    from assay.model.medium import Medium
    from assay.model.node import Connect, Node
    from assay.model.probe import Probe, ProbeContext, Scene
    from assay.model.scale import ScaleSeen
    from assay.model.store import Placer, Store
    from assay.model.trial import Trial
    from assay.model.workload import Workload


class CacheUse(Frozen):
    """How the cluster's page cache was held at its budget, mapped files apart, since the cluster was healthy.

    A time counts as full when the cluster used all memory that its bound left to it at that moment: only then can the
    cache be expected to have the size of its budget.
    """

    budget_bytes: int
    """The budget."""
    peak_bytes: int = 0
    """The most page cache at any time."""
    held_s: float = 0.0
    """Seconds in which it was held, until the cluster ended."""
    full_s: float = 0.0
    """Seconds in which the budget was in full use, or exceeded."""
    above_s: float = 0.0
    """Seconds in which the page cache was more than 10 % above its budget."""
    below_s: float = 0.0
    """Seconds of those in full use in which it was more than 10 % below, because processes took memory faster than the
    bound followed."""
    squeezed_s: float = 0.0
    """Seconds in which the bound of all memory left less than the budget."""
    longest_step_s: float | None = None
    """The longest time between two settings of the bound."""
    trouble: str | None = None
    """Why it was no longer held; null if it was held to the end."""


class LimitUse(Frozen):
    """A cluster's use of its bounds since its start; null if there is no bound or the kernel does not tell."""

    interface: str | None = None
    """`version 1` or `version 2` of the control groups. Version 1 does not bound unwritten pages by group, so
    writers are slowed down later."""
    memory_limit_bytes: int | None = None
    """The bound of memory."""
    memory_peak_bytes: int | None = None
    """The most memory in use at any time, page cache included."""
    memory_limit_hits: int | None = None
    """How often memory was reclaimed at the bound. This is usual: the page cache grows until then. In version 1
    reclaims that hold a page cache at its budget count too."""
    out_of_memory_kills: int = 0
    """Processes that the kernel ended because no memory could be reclaimed."""
    cpus: float | None = None
    """The bound of processor time, in cores."""
    page_cache: CacheUse | None = None
    """The page cache, if it has a budget."""
    throttled_s: float | None = None
    """Seconds that threads waited for their share of processor time, added up."""


MOST_WHOLE = 2**31 - 1
"""What Hadoop takes for a whole number in most places."""


EXISTING = "existing"
"""The level of what an existing cluster has of its own, such as the number of its nodes."""


MASTER = "master"
"""The node of the daemons that a cluster has once; clients run there too."""


def nodes_level(count: int | None) -> str:
    """A number of nodes as tables show it."""
    return EXISTING if count is None else str(count)


AUTO = "auto"
"""The dilation that this machine needs."""

Dilation = int | Literal["auto"]
"""How many times slower than the machines that it stands for a cluster runs; `auto` is chosen when a trial begins."""


class ModelledNodes(NamedTuple):
    """How many workers, and how many cores of each and of the master, a cluster stands for."""

    workers: int
    cpus: float

    @property
    def cores(self) -> float:
        """Of all its nodes."""
        return (self.workers + 1) * self.cpus


class ClusterSpec(Frozen):
    """Which cluster a trial runs on.

    `kind` is the name of one in PLATFORMS, and `conf_dir` the Hadoop configuration of one that is there already. There
    `ca_file` has the certificates that its web interfaces are trusted by, `prometheus` is the address of a server that
    knows its machines, and `history` the folder of its job histories, if they are to be read from there.
    `starts` names how much start-up waiting is cut (`brisk`) or left as Hadoop ships it (`stock`);
    `memory_mb` and `vcores` are what each NodeManager offers to containers (Hadoop's own defaults).
    `nodes` is how many workers there are (None: an existing cluster has its own), `network` the one that Assay emulates
    between them (`none`: nothing is shaped; see `model.network`). `limit_memory_bytes` bounds what all daemons and
    containers of a node together may use, page cache included, `page_cache_bytes` the page cache apart from what
    processes need for themselves, and `limit_cpus` how many cores' worth of time; None is no bound. `fault` is what
    goes wrong on one worker, `racks` are the workers' numbers of each rack (none: all are in one). `instead_of` says
    what the experiment asked for where this machine can't have several nodes. With a `dilation` the cluster is a scale
    model (docs/explanation/scale-model.md): its nodes have `limit_cpus` cores, by default one, of machines that are so
    many times faster than what they get here. `auto_for` is the plan's largest cluster whose dilation is `auto`, where
    that is not this one: what is compared has to run at one dilation, and the largest needs most.
    `node_source` says how the nodes of an existing cluster are read; without it they are not read.
    `kerberos` is the login there; without it that of the environment, if the cluster's configuration wants one.
    """

    kind: str = "embedded"
    conf_dir: Path | None = None
    ca_file: Path | None = None
    prometheus: str | None = None
    history: str | None = None
    starts: Literal["brisk", "stock"] = "brisk"
    memory_mb: int = Field(default=8192, ge=1, le=MOST_WHOLE)
    vcores: int = Field(default=8, ge=1, le=MOST_WHOLE)
    nodes: int | None = Field(default=1, ge=1)
    network: str = NO_NETWORK
    limit_memory_bytes: int | None = None
    limit_cpus: float | None = None
    page_cache_bytes: int | None = None
    fault: Fault | None = None
    racks: tuple[tuple[int, ...], ...] = ()
    instead_of: str = ""
    node_source: NodeSourceSpec | None = None
    kerberos: KerberosSpec | None = None
    dilation: Dilation | None = None
    auto_for: ModelledNodes | None = None

    @model_validator(mode="before")
    @classmethod
    def _node_source_was_a_key_of_its_own(cls, given: Any) -> Any:
        """In older records each way to read nodes is a key by its name, null where it was not taken."""
        further = given.keys() - cls.model_fields.keys() if isinstance(given, dict) else ()
        sources = {name: given[name] for name in further if given[name] is None or isinstance(given[name], dict)}
        taken = [{"name": name, **options} for name, options in sources.items() if options is not None]
        if not sources or len(taken) > 1:
            return given
        fields = {name: value for name, value in given.items() if name not in sources}
        return {**fields, "node_source": taken[0]} if taken else fields

    @property
    def modelled_nodes(self) -> ModelledNodes:
        """What it stands for itself."""
        return ModelledNodes(len(self.workers), DEFAULT_CPUS if self.limit_cpus is None else self.limit_cpus)

    @property
    def workers(self) -> tuple[str, ...]:
        """The names of the workers, where nodes are hosts of their own with a master beside them; else none."""
        alone = self.nodes is None or (self.nodes == 1 and self.network == NO_NETWORK)
        return () if alone else tuple(map(worker_name, range(1, (self.nodes or 0) + 1)))


def even_racks(racks: int, nodes: int) -> tuple[tuple[int, ...], ...]:
    """So many workers divided into so many racks, neighbours together; none where all are in one."""
    ends = [round(nodes * rack / racks) for rack in range(racks + 1)]
    found = (tuple(range(first + 1, last + 1)) for first, last in pairwise(ends))
    return tuple(rack for rack in found if rack) if racks > 1 else ()


def racks_as_listed(value: Any) -> int | tuple[tuple[int, ...], ...]:
    """A number of racks, or the workers' numbers of each, none twice. Raises ValueError for what is neither."""
    if type(value) is int and value >= 1:
        return value
    racks = value if isinstance(value, list) and all(isinstance(rack, list) and rack for rack in value) else []
    numbers = [number for rack in racks for number in rack]
    if not numbers or len({*map(str, numbers)}) != len(numbers) or not all(type(one) is int for one in numbers):
        raise ValueError("Must be a number of racks, or lists of workers' numbers, each once, such as [[1, 2], [3, 4]]")
    return tuple(map(tuple, racks))


Role = Literal["input", "intermediate", "output"]
ROLES: tuple[Role, ...] = ("input", "intermediate", "output")


class LocalDirectory(Frozen):
    """A directory that the engine's intermediates are written to, and the name of the medium it lies on."""

    path: Path
    medium: str


class DataDirectory(Frozen):
    """A directory of the store, the name of the medium it lies on, and the roles whose bytes belong there.

    Without a role it takes what is neither input nor output (job jars, splits, histories).
    """

    path: Path
    medium: str
    roles: tuple[Role, ...] = ("input", "output")


class Layout(Frozen):
    """The directories a cluster may use; all are fresh and empty, all are removed by whoever made them.

    `neutral` takes configuration, logs, process ids, the NameNode's names and edits: a place that is not under
    test. `data` are the store's directories (input and output), `local` the engine's (intermediates). Both fill the
    directories of a role in turn: a medium's fraction is its share of the directories. `nodes` are the directories of
    each worker, by its name, where there are several: `data` and `local` are then those of all together.
    """

    neutral: Path
    data: tuple[DataDirectory, ...]
    local: tuple[LocalDirectory, ...]
    nodes: Mapping[str, "Layout"] = {}

    @classmethod
    def below(cls, home: Path, workers: Sequence[str] = ()) -> "Layout":
        """One directory of each kind in one place, or for each worker, for clusters whose media are not under test."""
        if workers:
            return cls.together(home / "neutral", {worker: cls.below(home / worker) for worker in workers})
        return cls(
            neutral=home / "neutral",
            data=(DataDirectory(path=home / "data", medium="home"),),
            local=(LocalDirectory(path=home / "local", medium="home"),),
        )

    @classmethod
    def together(cls, neutral: Path, nodes: Mapping[str, "Layout"]) -> "Layout":
        """That of a cluster of several workers, from theirs."""
        return cls(
            neutral=neutral,
            data=tuple(one for node in nodes.values() for one in node.data),
            local=tuple(one for node in nodes.values() for one in node.local),
            nodes=nodes,
        )

    @property
    def directories(self) -> tuple[Path, ...]:
        """All of them."""
        return (self.neutral, *(one.path for one in self.data), *(one.path for one in self.local))


class DaemonFacts(Frozen):
    """One running daemon: its role (`namenode`), process id and log file."""

    role: str
    pid: int
    log: Path


class DaemonKind(NamedTuple):
    """A daemon that a store or an engine brings to a cluster of Assay's own.

    It has started when its log says `sign`, or when its web interface (with `asked`, that of another role) answers
    `page` with JSON that is `ready`. Without a sign nobody waits for it.
    """

    role: str
    main_class: str
    heap_mb: int = 256
    on_data_path: bool = False
    """Whether bytes under test pass through it: its JVM stays as Hadoop would run it, and each worker has one."""
    ports: Mapping[str, str] = {}
    """Purposes by the properties of the addresses that others must know before it is up; `web` is its web interface."""
    logged_ports: Mapping[str, str] = {}
    """Purposes of the ports that it chooses itself, by patterns of the lines in its log."""
    copied: str = ""
    """The purpose of the port at which it takes copies of data from daemons of its kind on other nodes."""
    sign: str = ""
    page: str = ""
    ready: Callable[[Any], bool] = bool
    asked: str = ""
    children: str = ""
    """The group of the processes that it starts, as in `WatchedProcess`."""
    late: bool = False
    """Whether it starts when the last of the store's daemons has started; earlier it would only wait."""
    formats: tuple[str, ...] = ()
    """Arguments of a first run, which makes an empty folder `name` in the neutral directory."""

    @property
    def name(self) -> str:
        """As Hadoop writes it (`NameNode`)."""
        return self.main_class.rpartition(".")[2]

    @property
    def web(self) -> str | None:
        """The property of its web interface's address."""
        return next((name for name, purpose in self.ports.items() if purpose == "web"), None)


def jmx_bean(answer: Any) -> Mapping[str, Any]:
    """The first bean that a daemon's JMX servlet answered with; nothing where that is no such answer."""
    beans = answer.get("beans") if isinstance(answer, dict) else None
    return beans[0] if beans else {}


class ClusterNode(NamedTuple):
    """A node of a cluster, the daemons on it, and the folder of its containers' logs where that can be read."""

    node: "Node"
    daemons: tuple[DaemonFacts, ...] = ()
    container_logs: Path | None = None


@dataclass(frozen=True)
class RunningCluster:
    """A healthy Hadoop cluster, as its clients see it.

    `hadoop` is a command that takes `jar`, `fs` and the other subcommands of Hadoop's own `hadoop` script, already
    pointed at `conf_dir`. `addresses` are the http addresses of its services by the daemon's role (`namenode`,
    `historyserver`). `extras` is the folder of Hadoop's further jars, examples and tests, where it is known. `outlives`
    says that the cluster goes on when the trial has ended, with whatever was left running there. `connect` reaches its
    servers, and `ca_file` has the certificates to trust there. `authorize` gives what the web servers of
    a host take as a login, where they want one. `history` is a folder of job histories that are read instead of asking
    for them. `facts` and `doubts` are of what Assay made of it beside, such as the network between its nodes. Its
    servers answer `slower` times as slowly as others, so that waits for them are so much longer.
    """

    hadoop: Path
    conf_dir: Path
    version: str
    addresses: Mapping[str, str]
    nodes: tuple[ClusterNode, ...] = ()
    extras: Path | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    outlives: bool = False
    connect: "Connect" = socket.create_connection
    ca_file: Path | None = None
    authorize: Callable[[str], str] | None = None
    history: str | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    doubts: tuple["Doubt", ...] = ()
    slower: int = 1


@dataclass(frozen=True)
class RunningPlatform:
    """A healthy platform: what a trial uses of it.

    `facts` go into the record beside the machine's (`hadoop`, its version; `nodes`, how many), as do the `settings`
    that it runs with. `placer` steers the store's bytes to their media; None where Assay has no say in that. `failure`
    tells what has died since the start, in one sentence with its own log line; None while all is well. `limit_use`
    tells what was used of the bounds since the start, also after the end; None where nothing is bounded. `scene` is
    what there is to be measured. `doubts` are those that its start left. `injector` makes the trial's fault happen;
    None where there is none. `stager` is the engine that brings the input into the store; None where that is the jobs'
    own. `scale` tells of a scale model what was seen of it between two times (milliseconds since the epoch); None where
    it is none.
    """

    facts: Mapping[str, str]
    settings: Mapping[str, str]
    store: "Store"
    engine: "Engine"
    placer: "Placer | None"
    failure: Callable[[], str | None]
    limit_use: Callable[[], LimitUse | None]
    scene: "Callable[[], Scene]"
    doubts: tuple["Doubt", ...] = ()
    injector: "Injector | None" = None
    stager: "Engine | None" = None
    scale: "Callable[[int, int], ScaleSeen] | None" = None


class Platform(Protocol):
    """What a trial runs on, as one object: its nodes, media, store and engine."""

    def facts(self) -> Mapping[str, str]:
        """Of the machine and the software."""

    def media(self) -> "tuple[Medium, ...]":
        """The media of the trial's placement; the same ones each time."""

    def neutral(self) -> AbstractContextManager[Path]:
        """A fresh directory that is not under test: configuration, logs, names, edits."""

    def logs(self, neutral: Path) -> bytes:
        """The logs that lie in the neutral directory, as a compressed tar archive; empty where there are none.

        Raises OSError.
        """

    def check(self, properties: Mapping[str, str]) -> None:
        """Raises BadInputError when it could not start with these Hadoop properties; asked before anything starts."""

    def user(self) -> str:
        """As whom the store knows who runs trials. Raises BadInputError."""

    def hindrance(self) -> str | None:
        """Why no trial can begin or end well now, such as a login that has expired; None where nothing is known."""

    def running(
        self, layout: Layout, properties: Mapping[str, str], progress: Progress
    ) -> AbstractContextManager[RunningPlatform]:
        """Start with these Hadoop properties, wait until healthy, and stop everything at the scope's end.

        Raises AssayError with the daemon's own log line when one dies or is not healthy in time.
        """


class PlatformContext(NamedTuple):
    """What a platform is made with: what it holds on this machine goes with the trial's lease."""

    trial: "Trial"
    installation: "Installation"
    lease: "Holder"
    environment: Mapping[str, str]


def as_asked(spec: ClusterSpec) -> ClusterSpec:
    """The cluster itself: it can be had, or its check says why not."""
    return spec


def for_ever(_spec: ClusterSpec, _seconds: float) -> "Sequence[Doubt]":
    """Nothing of it ends by itself."""
    return ()


class PlatformKind(NamedTuple):
    """A kind of platform, as registered in PLATFORMS.

    `ours` says that Assay starts it on this machine: an experiment chooses its media and bounds, this machine's use
    tells what its trials take, probes see them, and its store is empty at first. Else it comes with `own_medium`, the
    name of a kind of medium. `own_keys` are the cluster's keys in an experiment that only this kind has, `needed_keys`
    those that it can't do without, with what they are. `possible` is what this machine can have in place of a cluster
    that an experiment asks for. `lasting` tells what may end before a run of so many seconds.
    """

    open: Callable[[PlatformContext], Platform]
    ours: bool
    own_medium: str = ""
    own_keys: frozenset[str] = frozenset()
    needed_keys: Mapping[str, str] = {}
    possible: Callable[[ClusterSpec], ClusterSpec] = as_asked
    lasting: "Callable[[ClusterSpec, float], Sequence[Doubt]]" = for_ever


class TrialSetup(NamedTuple):
    """What one trial is made of; `workload` gives the same one each time."""

    platform: Platform
    workload: "Callable[[], Workload]"
    probes: "Callable[[ProbeContext], Sequence[Probe]]"
