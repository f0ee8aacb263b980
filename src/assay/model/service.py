"""Services: what a store or an engine brings to a cluster. A stack is the services that a trial needs, in their order.

A platform starts, configures and bounds a stack, and knows none of its services by name. Only modules of stores and
engines do, and those that prepare what they run.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from assay.model.cluster import EmbeddedSpec
from assay.model.errors import BadInputError
from assay.model.existing import ExistingDaemon, Site
from assay.model.fact import Fact
from assay.model.layout import Layout, Role, in_order
from assay.model.node import NodeFiles
from assay.model.quantity import Kind
from assay.model.running_cluster import RunningCluster
from assay.model.value_bounds import ValueBounds


class NodeContext(NamedTuple):
    """A node of a cluster of Assay's own, as a service configures its daemons there.

    `layout` has the node's own directories. `host` is the name by which its daemons are reached, on the network that
    carries data where there are two; `master` is the node of the daemons that a cluster has once. `addresses`
    (`host:port`) are those of all daemons' `ports`, which are set anyway. `classpath` is Hadoop's; `bundled` says that
    it is the one that Assay brings. `racks` is a table of the workers' racks: a host's name or address and its rack on
    each line; None where all are in one. `programs` has a folder of each service that brings programs beside Hadoop's,
    and `job_jars` are the jars of these that jobs need.
    """

    spec: EmbeddedSpec
    layout: Layout
    host: str
    master: str
    addresses: Mapping[str, str] = {}
    classpath: tuple[str, ...] = ()
    bundled: bool = False
    racks: Path | None = None
    programs: Path = Path()
    job_jars: tuple[Path, ...] = ()

    def of(self, service: str) -> "NodeContext":
        """The node as a service of that name configures it: with its own directories."""
        return self._replace(layout=self.layout.seen_by(service))

    @property
    def any_port(self) -> str:
        """An address on the node whose port nobody has to know before the daemon is up."""
        return f"{self.host}:0"

    @property
    def conf_dir(self) -> Path:
        """The folder of all services' configuration files."""
        return self.layout.neutral / "conf"


class Heartbeats(NamedTuple):
    """What a master counts of its workers' heartbeats.

    The beans of its JMX `page` have a `counter` of them. The `sender`, the role of a worker's daemon, sends one each
    time that the `timer` says, a property whose value is in units of `unit_s` seconds where it has none of its own.
    """

    page: str
    counter: str
    timer: str
    unit_s: float
    sender: str


class Counts(NamedTuple):
    """What a daemon had counted since it started, by series, and when that was (milliseconds since the epoch)."""

    time_ms: int
    values: Mapping[str, float]


class Counters(NamedTuple):
    """What a daemon on a cluster of Assay's own counts, as the probe `daemon-counters` reads it.

    `series` declares what each counter is of, `titles` how reports call it. `read` finds the counts in files of the
    daemon's node, from the path of its log; None where there are none yet; it may raise OSError. They are new every
    `every_s` seconds.
    """

    series: Mapping[str, Kind]
    titles: Mapping[str, str]
    read: Callable[[NodeFiles, Path], Counts | None]
    every_s: float = 1.0


class HeldData(NamedTuple):
    """How much a daemon takes at most that keeps data in its memory: a property, in MiB, and its default."""

    name: str
    default_mb: int

    def most_mb(self, properties: Mapping[str, str]) -> int:
        """What it takes with these properties."""
        return int(properties.get(self.name, self.default_mb))


class DaemonKind(NamedTuple):
    """A daemon that a service brings to a cluster of Assay's own.

    It is a `main_class`, of the Hadoop distribution or on its own `classpath`, or the command line that `program` gives
    for a node. It has started when its log says `ready_text`, or when its web interface (with `status_from`, that of
    another role) answers `page` with JSON that is `ready`. Without either nobody waits for it.
    """

    role: str
    main_class: str = ""
    program: Callable[[NodeContext], Sequence[str]] | None = None
    classpath: Callable[[NodeContext], Sequence[str]] | None = None
    """Where a `main_class` is that Hadoop does not have: jars, or `directory/*`."""
    options: tuple[str, ...] = ()
    """What else the JVM of a `main_class` is started with."""
    arguments: Callable[[NodeContext], Sequence[str]] | None = None
    """The arguments of a `main_class`."""
    heap_mb: int = 256
    """The largest heap of a `main_class`."""
    least_heap_mb: int = 0
    """Its heap is at least as large where the heaps of a worker's daemons are made smaller."""
    memory_mb: int = 128
    """What it holds below a bound of a node's memory, with room to grow."""
    held: HeldData | None = None
    """What it takes besides for data, if it keeps them in its memory."""
    on_workers: bool = False
    """Whether each worker has one, through which bytes under test pass: its JVM stays as Hadoop would run it. Else the
    master has the only one."""
    ports: Mapping[str, str] = {}
    """Purposes by the properties of the master's addresses that others must know before it is up; `web` is its web
    interface."""
    logged_ports: Mapping[str, str] = {}
    """Purposes of the ports that it chooses itself, by patterns of the lines in its log."""
    copied: str = ""
    """The purpose of the port at which it takes copies of data from daemons of its kind on other nodes."""
    ready_text: str = ""
    reason: str = ""
    """A pattern of the line in its log that says why it ended; where there is none, its last error says so."""
    shutdown_noise: str = ""
    """A pattern of the errors in its log that only say that it ends."""
    page: str = ""
    ready: Callable[[Any], bool] = bool
    status_from: str = ""
    children: str = ""
    """The group of the processes that it starts, as in `WatchedProcess`."""
    starts_after: str = ""
    """The role of the daemon that must be up before it starts; earlier it would only wait."""
    serves_only: bool = False
    """Whether what a store's daemon serves lies with other daemons: nothing that was kept is lost with it."""
    formats: tuple[str, ...] = ()
    """Arguments of a first run, which makes an empty folder `name` in the neutral directory."""
    heartbeats: Heartbeats | None = None
    """How its workers' heartbeats are counted, if it counts them."""
    counters: Counters | None = None
    """What it counts of itself."""

    @property
    def name(self) -> str:
        """The class without its package, else the role."""
        return self.main_class.rpartition(".")[2] or self.role

    @property
    def web(self) -> str | None:
        """The property of its web interface's address."""
        return next((name for name, purpose in self.ports.items() if purpose == "web"), None)


def jmx_bean(answer: Any) -> Mapping[str, Any]:
    """The first bean that a daemon's JMX servlet answered with; nothing where that is no such answer."""
    beans = answer.get("beans") if isinstance(answer, dict) else None
    return beans[0] if beans else {}


class SiteFile(NamedTuple):
    """A configuration file of Hadoop's form, and the properties that belong into it.

    A property goes into the file with the longest of the `prefixes` that its name begins with; one that no file claims
    goes into each that takes `unclaimed` ones. `defaults` are in the file where nothing else is said. Clients read it,
    or, without `for_clients`, only daemons do.
    """

    name: str
    prefixes: tuple[str, ...]
    unclaimed: bool = False
    defaults: Mapping[str, str] = {}
    for_clients: bool = True


class Timer(NamedTuple):
    """A property that is a time, what it is by default, and where that is said."""

    name: str
    default: str
    source: str


class ContainerStarts(NamedTuple):
    """How JVMs of a job start, as `Service.start_properties` turns it into properties.

    With `brisk`, waiting around a job is cut: `options` are then for all of its JVMs and `master_options` for those
    through which no byte under test passes; `bundled` says that the Hadoop that Assay brings, with its further classes,
    runs them. `processors` is how many processors JVMs have to see; None: as many as there are.
    """

    brisk: bool = False
    options: tuple[str, ...] = ()
    master_options: tuple[str, ...] = ()
    bundled: bool = False
    processors: int | None = None


class LeastSize(NamedTuple):
    """The least size in bytes that a service takes for a property, in steps of `step_bytes`, unless `set_by` is set.

    `text` says so after "must be". It holds on a cluster of Assay's own: nobody knows how another's daemons are set.
    """

    least_bytes: int
    step_bytes: int
    set_by: str
    text: str


class Unverifiable(NamedTuple):
    """A value of a property with which no output can be verified; `why` goes on after the workload's name."""

    value: str
    why: str


class ServiceProfile(NamedTuple):
    """A settings profile that a service brings: a named set of properties, over those of the profiles it inherits."""

    about: str
    inherits: tuple[str, ...]
    properties: Mapping[str, str]


class Costs(NamedTuple):
    """What a service takes of this machine, beside its jobs' tasks: estimates, by which plans are refused in time.

    `cluster_mb` is the memory of its daemons and clients on a cluster with one worker, `worker_mb` that of each further
    worker; `disk_mb` are the files of each worker beside the data; the seconds are those until it is healthy.
    """

    cluster_mb: int = 0
    worker_mb: int = 0
    disk_mb: int = 0
    cluster_s: float = 0.0
    worker_s: float = 0.0


class Programs(NamedTuple):
    """Programs that a service brings beside Hadoop's; `programs/NAME/prepare` fetches them when a plan needs them.

    They are files in `NAME/lib` of Assay's parts, such as jars or a Python package: `version` is the name there of a
    file or folder that tells their version, which `*` stands for. Or they are `packages` of Debian, of which the system
    tells it.
    """

    version: str = ""
    packages: tuple[str, ...] = ()


def _none(*_: object) -> Mapping[str, str]:
    return {}


class Discovery(NamedTuple):
    """How a service is used that is there already, beside an existing cluster, and that no web page tells of.

    `properties` are those that its clients and jobs need, from what an experiment says of the store (its options) and
    the cluster's configuration; BadInputError where neither says where it is. `check` asks it, as a client of the
    cluster: what it is, for the record; BadInputError where it can't be used, or not with a trial's properties.
    `defaults` are properties of clients and jobs that hold where a trial has none, whatever the cluster's files say.
    """

    properties: Callable[[Mapping[str, Any], Site], Mapping[str, str]] = _none
    check: Callable[[RunningCluster, Mapping[str, str]], Mapping[str, Fact]] = _none
    defaults: Mapping[str, str] = {}


class Share(NamedTuple):
    """What jobs get of a cluster: how many tasks run at once on all nodes, and the memory of these together in MiB.

    `text` says in a few words what they get of a node.
    """

    tasks: int
    memory_mb: int
    text: str


class Service(NamedTuple):
    """A service, as registered in SERVICES. Whatever it leaves out it does not have."""

    name: str
    needs: tuple[str, ...] = ()
    """The names of the services that it can't do without; they come before it."""
    programs: Programs | None = None
    """Those that it brings."""
    job_jars: tuple[str, ...] = ()
    """Patterns of those of its programs that jobs need on their class path to use it (`lib/formats-*.jar`)."""
    client_jars: tuple[str, ...] = ()
    """Patterns of those that its client brings to the nodes of a cluster that is there already."""
    daemons: tuple[DaemonKind, ...] = ()
    """What a cluster of Assay's own starts for it, in order."""
    existing: tuple[ExistingDaemon, ...] = ()
    """Its daemons on an existing cluster; one that needs some, and has none of these, is used there by `discovery`."""
    discovery: Discovery | None = None
    """How it is used beside an existing cluster, where its daemons have no web pages to be found by."""
    client: Callable[[RunningCluster], object] | None = None
    """Makes what uses it on a running cluster, for stores, engines and services that need it."""
    roles: tuple[Role, ...] = ()
    """What its directories on a cluster of Assay's own are for."""
    properties: Callable[[NodeContext], Mapping[str, str]] = _none
    """What makes its daemons on a node part of one private cluster: addresses, directories, sizes. Nothing here touches
    what jobs are measured for."""
    trial_properties: Mapping[str, str] = {}
    """What jobs of trials have besides, on a cluster of Assay's own; a cluster that a user keeps leaves it out."""
    sites: tuple[SiteFile, ...] = ()
    """Its configuration files of Hadoop's form, in the order in which clients load them."""
    files: Callable[[NodeContext, Mapping[str, str]], Mapping[str, str]] = _none
    """Texts of its other configuration files on a node, by their names, from the properties of all services. One in a
    folder (`server/log.properties`) is for a daemon that has that folder on its class path."""
    timers: tuple[Timer, ...] = ()
    """Properties that a scale model makes as many times longer as it is slower: what may pass in a trial on a healthy
    cluster or on one that has lost a node (heartbeats, polls, time-outs, retries)."""
    start_properties: Callable[[ContainerStarts, Mapping[str, str]], Mapping[str, str]] = _none
    """Properties for a way to start things, where those that the trial chose leave room for it."""
    check: Callable[[EmbeddedSpec, Mapping[str, str], Sequence[DaemonKind]], None] = lambda *_: None
    """Raises BadInputError where a job can't run with the trial's properties, beside the daemons of one node."""
    task_share: Callable[[EmbeddedSpec, Mapping[str, str], Sequence[DaemonKind]], Share | None] = lambda *_: None
    """What jobs get of the nodes' memory and processors, from what `check` is given. A plan that compares engines says
    it, and doubts what is unequal."""
    settings: Callable[[Sequence[NodeContext]], Mapping[str, str]] = _none
    """What a record has to say of its configuration on all nodes."""
    costs: Costs = Costs()
    tasks_bytes: Callable[[Mapping[str, str], int, int], int] = lambda *_: 0
    """An estimate of the memory of the tasks that run at once, from the trial's properties, the MiB for containers on
    all nodes, and the bytes of data."""
    profiles: Mapping[str, ServiceProfile] = {}
    """Settings profiles for it, by their names, which experiments may use beside Assay's own."""
    bounds: Mapping[str, ValueBounds] = {}
    """What its properties may be set to, where not to anything."""
    of_roles: Mapping[str, str] = {}
    """Properties that mean nothing where no placement names a role, and the role: they are refused there."""
    least_sizes: Mapping[str, LeastSize] = {}
    """What its daemons take for some of them, as Assay configures them."""
    unverifiable: Mapping[str, Unverifiable] = {}
    """Properties with a value that makes an output which can't be verified."""
    first_words: frozenset[str] = frozenset()
    """What names of its properties have before their first dot: names of others belong to somebody's job."""
    properties_key: str = "hadoop"
    """The key of experiments under which these properties stand: one of its own where they are none of Hadoop's."""
    passes_on: str = ""
    """What begins the names of properties that it hands to Hadoop without that beginning."""
    open_names: tuple[str, ...] = ()
    """Patterns of properties that it knows by their form: a part stands for a queue, a service, a host or a class."""
    queue_property: str = ""
    """The property by which its jobs name their queue."""
    job_ports: Mapping[str, str] = {}
    """Purposes by the properties of ports at which processes of jobs listen. Between several nodes Assay chooses one
    that is 0; further processes on a node listen at the next ones."""
    network_settings: Mapping[str, str] = {}
    """The kernel's settings (`net.ipv4.tcp_wmem`) of the networks of nodes that are hosts of their own."""
    traffic: Mapping[str, str] = {}
    """What reports call the traffic at its ports, by the series of the probe `network` without their unit."""
    traffic_note: str = ""
    """A report's explanation of that traffic."""
    loss_note: str = ""
    """A report's explanation of what it does when one of its daemons is lost."""
    changes: Mapping[str, Sequence[str]] = {}
    """Lines of a patch to review, by what `assay advise` calls a change: properties, commands, and traps behind `#`."""
    reserved: frozenset[str] = frozenset()
    """Properties that no experiment may set on a cluster of Assay's own, besides addresses: they say where bytes lie
    and how daemons run."""
    history_properties: frozenset[str] = frozenset()
    """Properties that no experiment may set on any cluster: they say where the histories lie that Assay reads of jobs,
    and what is in them."""
    read_by_daemons: tuple[str, ...] = ()
    """What names of properties begin with that daemons read when they start, so that no job can have one of its own."""
    commands: Mapping[str, str] = {}
    """Main classes by the subcommands of `hadoop` that Hadoop's own scripts have for it."""
    variables: tuple[str, ...] = ()
    """What names of environment variables begin with that change its programs unseen."""
    property_jars: tuple[str, ...] = ()
    """Patterns of the names of Hadoop's jars that tell which properties there are."""
    folders: tuple[str, ...] = ()
    """Where an installed Hadoop has its jars, below `share/hadoop`."""
    extras: str = ""
    """Where it has jars of further programs, below `share/hadoop`."""


def _shared(pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, list[str]]]:
    """What comes twice or more often, with those who have it."""
    having: dict[str, list[str]] = {}
    for name, owner in pairs:
        having.setdefault(name, []).append(owner)
    return ((name, owners) for name, owners in having.items() if len(owners) > 1)


def _owned(service: Service) -> Iterator[str]:
    """What no other service of a stack may bring, too."""
    yield from (f"daemon {daemon.role}" for daemon in service.daemons)
    yield from (f"configuration file {site.name}" for site in service.sites)
    yield from (f"timer {timer.name}" for timer in service.timers)
    yield from (f"property {name} of trials" for name in service.trial_properties)
    yield from (f"port {name} of jobs" for name in service.job_ports)
    yield from (f"setting {name} of nodes' networks" for name in service.network_settings)


@dataclass(frozen=True)
class Stack:
    """Services, each after those that it needs. A platform starts them, or finds them."""

    services: tuple[Service, ...]

    @cached_property
    def daemons(self) -> tuple[DaemonKind, ...]:
        """The daemons of all services, in order."""
        return tuple(daemon for service in self.services for daemon in service.daemons)

    @cached_property
    def existing(self) -> tuple[ExistingDaemon, ...]:
        """What is known of the services' daemons on an existing cluster."""
        return tuple(daemon for service in self.services for daemon in service.existing)

    @cached_property
    def discoveries(self) -> tuple[Discovery, ...]:
        """How those of its services are used that are there already and have no web pages."""
        return tuple(service.discovery for service in self.services if service.discovery is not None)

    @cached_property
    def clients(self) -> Mapping[str, Callable[[RunningCluster], object]]:
        """What makes the services' clients, by their names."""
        return {service.name: service.client for service in self.services if service.client is not None}

    @cached_property
    def roles(self) -> tuple[Role, ...]:
        """Of the directories of all services, each once: `input` first, `output` last."""
        return in_order(role for service in self.services for role in service.roles)

    def keep_apart(self, layout: Layout) -> Layout:
        """The same directories, with a folder for each service in those of a role that others, too, declare by chance.

        Services that need the one which declares it share its folder.
        """
        return layout.model_copy(update={"own": self._own_folders})

    @cached_property
    def _needed(self) -> Mapping[str, AbstractSet[str]]:
        """By each service's name, its own name and those of all that it needs."""
        needed: dict[str, AbstractSet[str]] = {}
        for service in self.services:
            needed[service.name] = {service.name}.union(*(needed[name] for name in service.needs if name in needed))
        return needed

    @cached_property
    def _own_folders(self) -> Mapping[str, Mapping[str, str]]:
        """By role and service; nothing of roles that one service has, with those that need it."""
        needed = self._needed
        folders: dict[str, dict[str, str]] = {}
        for role in self.roles:
            declaring = {
                service.name for service in self.services if role.name in [declared.name for declared in service.roles]
            }
            owners = {name for name in declaring if needed[name] & declaring == {name}}
            if len(owners) > 1:
                known = {name: needed[name] & owners for name in needed}
                folders[role.name] = {name: next(iter(owner)) for name, owner in known.items() if len(owner) == 1}
        return folders

    def mistake(self) -> str:
        """What two services, daemons or roles can't have together, in a sentence; empty where all is well."""
        for thing, owners in _shared((thing, service.name) for service in self.services for thing in _owned(service)):
            return f"the services {' and '.join(owners)} both bring the {thing}; let one of them do so"
        ports = [(name, daemon.role) for daemon in self.daemons for name in daemon.ports]
        for name, (role, other, *_) in _shared(ports):
            return (
                f"the daemons {role} and {other} would both listen at the address {name}; give one of them another "
                "property in its `ports`"
            )
        folders = [(role.folder or role.name, role.name) for role in self.roles]
        for folder, (role, other, *_) in _shared(folders):
            return f"the roles {role} and {other} would both have directories called {folder}; rename one `folder`"
        return ""

    @cached_property
    def sites(self) -> tuple[SiteFile, ...]:
        """Their configuration files of Hadoop's form."""
        return tuple(site for service in self.services for site in service.sites)

    @cached_property
    def timers(self) -> Mapping[str, str]:
        """Defaults by the names of all timers."""
        return {timer.name: timer.default for service in self.services for timer in service.timers}

    def properties(self, node: NodeContext) -> dict[str, str]:
        """Return the properties of all services on a node; those of a service win over those of one that it needs.

        Raises BadInputError where two services that don't need each other set one.
        """
        of_services = {service.name: service.properties(node.of(service.name)) for service in self.services}
        setting: dict[str, str] = {}
        for service in self.services:
            for name in {**of_services[service.name], **service.trial_properties}:
                if (other := setting.get(name, service.name)) not in self._needed[service.name]:
                    problem = f"the services {other} and {service.name} both set {name}"
                    raise BadInputError(f"{problem}; let one of them do so, or let one need the other")
                setting[name] = service.name
        return {name: value for properties in of_services.values() for name, value in properties.items()}

    @cached_property
    def trial_properties(self) -> Mapping[str, str]:
        """What jobs of trials have besides."""
        return {name: value for service in self.services for name, value in service.trial_properties.items()}

    def start_properties(self, starts: ContainerStarts, chosen: Mapping[str, str]) -> dict[str, str]:
        """Properties of all services for a way to start things, beside those that the trial chose."""
        return {
            name: value for service in self.services for name, value in service.start_properties(starts, chosen).items()
        }

    def settings(self, nodes: Sequence[NodeContext]) -> dict[str, str]:
        """What a record has to say of all services."""
        of_services = (service.settings([node.of(service.name) for node in nodes]) for service in self.services)
        return {name: value for settings in of_services for name, value in settings.items()}

    def check(self, spec: EmbeddedSpec, properties: Mapping[str, str]) -> None:
        """Raises BadInputError where jobs can't run with these properties beside the daemons of any node."""
        for service in self.services:
            service.check(spec, properties, self._beside(spec, properties))

    def task_share(self, spec: EmbeddedSpec, properties: Mapping[str, str]) -> Share | None:
        """What jobs get of the nodes, as the last service says that knows it; None where none does."""
        beside = self._beside(spec, properties)
        shares = (service.task_share(spec, properties, beside) for service in reversed(self.services))
        return next(filter(None, shares), None)

    def _beside(self, spec: EmbeddedSpec, properties: Mapping[str, str]) -> list[DaemonKind]:
        """The daemons of a node with tasks, with the memory of the data that they hold."""
        beside = [daemon for daemon in self.daemons if daemon.on_workers or not spec.workers]
        return [
            daemon._replace(memory_mb=daemon.memory_mb + daemon.held.most_mb(properties)) if daemon.held else daemon
            for daemon in beside
        ]

    def tasks_bytes(self, properties: Mapping[str, str], offered_mb: int, disk_bytes: int) -> int:
        """The memory of the tasks that run at once, all services' together."""
        return sum(service.tasks_bytes(properties, offered_mb, disk_bytes) for service in self.services)

    @cached_property
    def network_settings(self) -> Mapping[str, str]:
        """The kernel's settings of the networks of nodes that are hosts of their own."""
        return {name: value for service in self.services for name, value in service.network_settings.items()}

    @cached_property
    def job_ports(self) -> Mapping[str, str]:
        """Purposes of the ports of jobs' processes, by their properties."""
        return {name: purpose for service in self.services for name, purpose in service.job_ports.items()}

    @cached_property
    def commands(self) -> Mapping[str, str]:
        """Main classes by the subcommands of `hadoop`."""
        return {name: main for service in self.services for name, main in service.commands.items()}

    @property
    def costs(self) -> Costs:
        """The costs of all services together."""
        return Costs(*map(sum, zip(*(service.costs for service in self.services), strict=True)))

    def memory_bytes(self, workers: int = 1) -> int:
        """The memory of its daemons and clients on so many workers, without the tasks of jobs: an estimate."""
        return (self.costs.cluster_mb + (workers - 1) * self.costs.worker_mb) << 20
