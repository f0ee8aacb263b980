"""An embedded cluster: the daemons of a real Hadoop, each its own process, private to this machine.

One node is this machine itself. Several are namespaces on it (`assay.node.namespace`): workers, each with its own
directories and daemons, and the master with those that a cluster has once; clients run on the master.
"""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from math import ceil
from pathlib import Path
from threading import Thread
from typing import NamedTuple

from assay.host.http import fetch_json
from assay.host.lease import Lease, uninterrupted
from assay.host.processes import children_of, end_processes
from assay.host.processors import bound_to, division, ranges_text
from assay.model.errors import AssayError, BadInputError
from assay.model.fault import NODE, worker_name, worker_number
from assay.model.network import NO_NETWORK, LinkSpec, links_of, links_on
from assay.model.node import Node
from assay.model.platform import (
    MASTER,
    ClusterNode,
    ClusterSpec,
    DaemonKind,
    Layout,
    LimitUse,
    LocalDirectory,
    PlatformKind,
    RunningCluster,
)
from assay.model.probe import Scene
from assay.model.progress import Progress
from assay.model.registry import ENGINES, FACTS, PLATFORMS, STORES
from assay.model.scale import ScaleSeen
from assay.model.store import Placer, Store
from assay.model.trial import HDFS, MAPREDUCE
from assay.network.links import Lan, make_lans, network_facts, unplug
from assay.node.local import LocalNode
from assay.node.namespace import NamespaceNode
from assay.platform import daemon as commands
from assay.platform.accounting import accounting_groups
from assay.platform.base import Cluster, HadoopPlatform
from assay.platform.configuration import (
    IN_TURN,
    container_logs,
    embedded_properties,
    with_fixed_ports,
    write_configuration,
)
from assay.platform.daemon import Daemon, PortTakenError, last_words
from assay.platform.dilation import resolved, slowed
from assay.platform.distribution import Distribution, Starts, starts_of
from assay.platform.faults import FaultInjector, Killed
from assay.platform.limits import Limits, check_containers, check_limits, limits_of, offered_mb, used_together
from assay.platform.scale import ScaleWatch
from assay.platform.scene import build_scene
from assay.platform.timers import NAMES, longer

_PATIENCE_S, _PATIENCE_OF_NODE_S = 120.0, 15.0
_POLL_S = 0.05
_ASK_S = 2.0
_AT_ONCE = 8
"""So many of the workers' daemons come up beside each other; more would only wait for each other."""


NO_LIMITS = Limits(None, None, {})


class Host(NamedTuple):
    """A node of a cluster, its own directories, and which daemons it has; `limits` bounds each from its start."""

    node: Node
    layout: Layout
    limits: Limits = NO_LIMITS
    is_master: bool = True
    is_worker: bool = True
    data_name: str = ""
    """What it is called on the network that carries HDFS data and the shuffle; empty: as the node."""

    def runs(self, kind: DaemonKind) -> bool:
        """Whether it has such a daemon."""
        return self.is_worker if kind.on_data_path else self.is_master

    @property
    def conf_dir(self) -> Path:
        return self.layout.neutral / "conf"

    def log(self, kind: DaemonKind) -> Path:
        """Of its daemon of a kind."""
        return self.layout.neutral / "logs" / f"{kind.role}.log"


@dataclass
class Startup:
    """Starts daemons on their hosts into the list it is given, so that whoever ends them knows of each at once.

    `environment` carries the lease's mark; `logs`, `tmp` and `conf` exist in each host's neutral directory. `addresses`
    are those of the daemons' ports.
    """

    hosts: Sequence[Host]
    distribution: Distribution
    starts: Starts
    addresses: Mapping[str, str]
    environment: Mapping[str, str]
    daemons: list[Daemon]
    progress: Progress

    def __post_init__(self) -> None:
        self._patience_s = _PATIENCE_S + _PATIENCE_OF_NODE_S * (len(self.hosts) - 1)
        self._deadline = time.monotonic() + self._patience_s
        self._later: list[tuple[DaemonKind, Host]] = []

    def run(self, engines: Sequence[DaemonKind], stores: Sequence[DaemonKind]) -> None:
        """Start all and wait until they are healthy.

        Raises AssayError with the daemon's own log line when one dies or is not healthy in time, PortTakenError when
        it died because its port was taken.
        """
        self.progress.detail("starting daemons")
        kinds = (*engines, *stores)
        # Those of the engine look for the store, and all for each other, until they find them: first whom all look for.
        for kind in kinds:
            if not (kind.late or kind.on_data_path):
                self._start(kind)
        of_workers = [(kind, host) for host in self.hosts if host.is_worker for kind in kinds if kind.on_data_path]
        for kind, host in of_workers[:_AT_ONCE]:
            self._start_on(host, kind)
        self._wait(stores[-1:])
        late = [kind for kind in kinds if kind.late]
        for kind in late:
            self._start(kind)
        self._later = of_workers[_AT_ONCE:]
        self._wait([kind for kind in kinds if kind not in stores[-1:]])
        # Its first answer takes it half a second: better while data are staged than when a job has ended.
        for kind in late:
            Thread(target=self._answers, args=(kind,), daemon=True).start()

    def urls(self) -> dict[str, str]:
        """The web interfaces of the daemons that were started, by role."""
        kinds = (daemon.kind for daemon in self.daemons)
        return {kind.role: f"http://{self.addresses[kind.web]}" for kind in kinds if kind.web}

    def _start(self, kind: DaemonKind) -> None:
        for host in self.hosts:
            if host.runs(kind):
                self._start_on(host, kind)

    def _start_on(self, host: Host, kind: DaemonKind) -> None:
        node, neutral = host.node, host.layout.neutral
        environment = {**self.environment, "HADOOP_CONF_DIR": str(host.conf_dir)}
        if kind.formats and self.starts.name == "brisk" and self.distribution.formatted_name is not None:
            node.copy(self.distribution.formatted_name, neutral / "name")
        elif kind.formats:
            options = ("-Xmx256m", *self.starts.control_options)
            command = commands.java_command(self.distribution, options, host.conf_dir, kind.main_class, kind.formats)
            log = neutral / "logs" / "format.log"
            if node.start(host.limits.entering(command), environment, log).wait() != 0:
                raise AssayError(f"the {kind.name} could not be formatted: {last_words(log, node)} (log: {log})")
        command = commands.daemon_command(kind, self.distribution, self.starts, host.conf_dir)
        process = node.start(host.limits.entering(command), environment, host.log(kind))
        self.daemons.append(Daemon(kind, node, process, host.log(kind)))

    def _answers(self, kind: DaemonKind) -> bool:
        """What one page says of several daemons is of any of them: then only their signs tell."""
        hosts = [host for host in self.hosts if host.runs(kind)]
        url = self.urls()[kind.asked or kind.role]
        return len(hosts) == 1 and kind.ready(fetch_json(url + kind.page, connect=self.hosts[0].node.connect))

    def _wait(self, kinds: Iterable[DaemonKind]) -> None:
        """Its sign costs nothing; to answer takes a starting daemon's processor time, of which all have too little."""
        waiting = [(kind, host) for kind in kinds if kind.sign for host in self.hosts if host.runs(kind)]
        asked = time.monotonic()
        while True:
            for daemon in self.daemons:
                daemon.check()
            asks = time.monotonic() - asked > _ASK_S
            for kind, host in list(waiting):
                came_up = (kind, host) not in self._later and kind.sign in host.node.read(host.log(kind))
                if came_up or (asks and self._answers(kind)):
                    self.progress.detail(f"{kind.role} is up")
                    waiting.remove((kind, host))
            if self._later and sum(kind.on_data_path for kind, _ in waiting) - len(self._later) < _AT_ONCE:
                kind, host = self._later.pop(0)
                self._start_on(host, kind)
            asked = time.monotonic() if asks else asked
            if not waiting and not self._later:
                return
            if time.monotonic() > self._deadline:
                reasons = "; ".join(
                    f"the {late.kind.name} is not healthy: {last_words(late.log, late.node)} (log: {late.log})"
                    for late in self.daemons
                    if late.log in [host.log(kind) for kind, host in waiting]
                )
                raise AssayError(f"the cluster was not healthy within {self._patience_s:.0f} s: {reasons}")
            time.sleep(_POLL_S)


_ATTEMPTS = 3


class EmbeddedCluster(Cluster):
    """A cluster that Assay starts and stops."""

    def __init__(
        self, distribution: Distribution, spec: ClusterSpec, state: Path, environment: Mapping[str, str],
        store: str = HDFS, engine: str = MAPREDUCE, starts: Starts | None = None,
    ) -> None:  # fmt: skip
        """`state` keeps the leases; `environment` is the user's, of which Hadoop's own variables are left out.

        `store` and `engine` are the registered names of what it is for. `starts` replaces what `spec.starts` names
        (set-up uses that to find out which classes are loaded). Raises BadInputError for an impossible dilation.
        """
        self._distribution = distribution
        self._spec = resolved(spec)
        self._slower = slowed(self._spec)
        self._store = STORES.find(store)
        self._engines = ENGINES.find(engine).daemons
        self._starts = starts or starts_of(spec.starts, distribution)
        if len(spec.workers) > 1:
            self._starts = self._starts.among_many()
        if spec.dilation is not None and self._spec.limit_cpus is not None:
            self._starts = self._starts.with_processors(ceil(self._spec.limit_cpus))
        self._state = state
        self._environment = commands.clean_environment(environment, distribution)
        self._daemons: list[Daemon] = []
        self._limits: dict[str, Limits] = {}
        self.lans: Sequence[Lan] = ()
        self._use: LimitUse | None = None
        self._struck: list[Daemon] = []
        self._lease: Lease | None = None

    def check(self, properties: Mapping[str, str]) -> None:
        """Its containers fit into its NodeManagers, its limits into this machine, and it may have its nodes."""
        self._check_containers(properties)
        longer(properties, self._slower)
        check_limits(self._spec, self._state)
        if self._spec.workers:
            check_namespaces()

    @contextmanager
    def running(self, layout: Layout, properties: Mapping[str, str], progress: Progress) -> Iterator[RunningCluster]:
        """At the scope's end all is killed: the directories are thrown away."""
        with Lease(self._state, "cluster") as lease:
            try:
                parts = division()
                with bound_to(parts and parts.cluster):
                    running = self.start(layout, properties, progress, lease)
                yield running
            finally:
                with uninterrupted():
                    self._use = self.limit_use()  # the groups, and what they know, go with the lease
                    self._end(lease)

    def failure(self) -> str | None:
        """A limit that was hit, or the first daemon that died, but not by a fault, with its last words."""
        alive = (daemon for daemon in self._daemons if daemon not in self._struck)
        # First, as it is the reason for what else is found dead.
        return self._killed() or next((failure for daemon in alive if (failure := daemon.failure())), None)

    def strike(self, what: str, worker: str) -> Killed:
        """Kill a worker's daemon of this role, or all of its `node`: links, daemons, containers. Nobody misses them.

        Raises AssayError where there is nothing to be killed.
        """
        on_it = [daemon for daemon in self._daemons if daemon.node.name == worker]
        daemons = [daemon for daemon in on_it if what in {NODE, daemon.kind.role}]
        if not daemons or any(daemon.process.poll() is not None for daemon in daemons):
            raise AssayError(f"there is no running {what} on {worker} to be killed")
        self._struck += daemons
        containers = [pid for one in on_it if one.kind.children for pid in children_of(one.process.pid)]
        node, lease = daemons[0].node, self._lease
        if what == NODE and isinstance(node, NamespaceNode) and lease is not None:
            unplug(node)
            end_processes(lambda: list(filter(node.runs, lease.processes())), grace_s=0.0)
        else:
            os.kill(daemons[0].process.pid, signal.SIGKILL)
        for daemon in daemons:
            daemon.reap()
        return Killed(daemons, len(containers))

    def limit_use(self) -> LimitUse | None:
        """None without limits; also after the end."""
        return self._use or used_together([limits.use() for limits in self._limits.values() if limits.any])

    def start(self, layout: Layout, properties: Mapping[str, str], progress: Progress, lease: Lease) -> RunningCluster:
        """Start under a lease of the caller's, who releases it; healthy on return.

        Raises AssayError, with the daemon's own log line, when one dies or is not healthy in time. A port that was
        taken between its choice and its use is no error: the start is tried again with other ports.
        """
        self._check_containers(properties)
        self._lease = lease
        workers = self._spec.workers
        names = [MASTER, *workers] if workers else [""]
        self._limits, self._use = {name: limits_of(self._spec, lease, name) for name in names}, None
        if not workers:
            self._limits[""].accounting = accounting_groups(lease)
        budgets = [limits.page_cache for limits in self._limits.values() if limits.page_cache is not None]
        for budget in budgets:
            budget.keep_outside(self._distribution.programs)
        for left in reversed(range(_ATTEMPTS)):
            try:
                running = self._start_once(layout, properties, progress, lease)
            except PortTakenError:
                self._end(lease)
                for directory in filter(Path.is_dir, layout.directories):
                    for entry in directory.iterdir():
                        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
                if not left:
                    raise
            except AssayError as error:
                killed = self._killed()
                if killed is None:
                    raise
                raise AssayError(killed) from error
            else:
                for budget in budgets:
                    budget.hold()
                for limits in self._limits.values():
                    limits.hold_processors()
                return running
        raise AssertionError("the last attempt returns or raises")

    def _start_once(
        self, layout: Layout, properties: Mapping[str, str], progress: Progress, lease: Lease
    ) -> RunningCluster:
        hosts, lans = self._make_hosts(layout, lease)
        self.lans = lans
        master = hosts[0].node
        names = [name for kind in (*self._engines, *self._store.daemons) for name in kind.ports]
        ports = master.free_ports(len(names))
        addresses = {name: f"{master.name}:{port}" for name, port in zip(names, ports, strict=True)}
        starts = self._starts.beside(properties)
        # Tasks draw directories at random: with few tasks a mixed medium's shares would land anywhere. Only the bundled
        # Hadoop has the class that has them taken in turn (hadoop/src/.../OneDirectoryPerTask.java).
        several = max(len(host.layout.local) for host in hosts) > 1
        turns = (
            {"yarn.nodemanager.container-executor.class": IN_TURN}
            if several and self._distribution.jars is not None
            else {}
        )
        free_ports = master.free_ports(_MOST_PORTS) if lans else None
        racks = rack_properties(self._spec, lans, layout.neutral / "network")
        chosen = {**turns, **racks, **starts.properties, **properties}
        for host in hosts:
            self._configure(host, addresses, chosen, free_ports)
        facts, doubts = network_facts(lans, progress)
        for at, rack in enumerate(self._spec.racks, 1):
            facts[f"racks.rack-{at}"] = ", ".join(map(worker_name, rack))
        startup = Startup(
            hosts, self._distribution, starts, addresses, lease.environment(self._environment), self._daemons, progress
        )
        startup.run(self._engines, self._store.daemons)
        conf_dir = hosts[0].conf_dir
        hadoop = commands.write_hadoop_command(
            layout.neutral / "bin" / "hadoop", self._distribution, starts, conf_dir,
            master if lans else commands.HERE, hosts[0].limits.entering_processors,
        )  # fmt: skip
        settings = longer(starts.settings(self._distribution), self._slower)
        if self._spec.limit_memory_bytes is not None:  # what the limit makes of the memory for containers
            settings["yarn.nodemanager.resource.memory-mb"] = str(offered_mb(self._spec))
        order = "one per task, in turn" if turns else "drawn at random for each file"
        settings["local directories"] = order if several else "one"
        return RunningCluster(
            hadoop=hadoop, conf_dir=conf_dir, version=self._distribution.version, addresses=startup.urls(),
            nodes=tuple(self._cluster_node(host) for host in hosts), extras=self._distribution.extras,
            settings=settings, connect=master.connect if lans else socket.create_connection, facts=facts,
            doubts=doubts, slower=self._slower,
        )  # fmt: skip

    def _make_hosts(self, layout: Layout, lease: Lease) -> tuple[list[Host], Sequence[Lan]]:
        """The nodes with their directories, the master first, and the networks between them; or this machine alone."""
        if not self._spec.workers:
            return [Host(LocalNode(), layout, self._limits[""])], ()
        network = layout.neutral / "network"
        network.mkdir(parents=True)
        names = [MASTER, *self._spec.workers]
        fault = self._spec.fault
        links = {
            name: self._slowed(links_on(self._spec.network, worker_number(name), fault)) for name in self._spec.workers
        }
        lans = make_lans(names, self._slowed(links_of(self._spec.network)), network, lease, os.environ, links)
        home = layout.neutral / MASTER
        of_master = Layout(neutral=home, data=(), local=(LocalDirectory(path=home / "local", medium="home"),))
        layouts = {MASTER: of_master, **layout.nodes}
        return [
            Host(node, layouts[node.name], self._limits[node.name], node.name == MASTER, node.name != MASTER, data_name)
            for node, data_name in zip(lans[0].nodes, lans[-1].hosts, strict=True)
        ], lans

    def _slowed(self, links: Sequence[LinkSpec | None]) -> list[LinkSpec | None]:
        """Links as slow as all else of a scale model."""
        return [link and link.model_copy(update={"slowdown": self._slower}) for link in links]

    def _configure(
        self, host: Host, addresses: Mapping[str, str], chosen: Mapping[str, str], ports: Sequence[int] | None
    ) -> None:
        """Write its site files. `chosen` goes before what Assay has to say, `ports` are for what would take any."""
        layout, conf_dir, name = host.layout, host.conf_dir, host.data_name or host.node.name
        for directory in (conf_dir, layout.neutral / "logs", layout.neutral / "tmp"):
            directory.mkdir(parents=True)
        spec = self._spec.model_copy(update={"memory_mb": offered_mb(self._spec)})
        master = next(iter(addresses.values())).rpartition(":")[0]
        classpath = ",".join(self._distribution.classpath)
        ours = {
            **addresses, **embedded_properties(spec, layout, name, classpath, conf_dir, master),
            **self._store.properties(layout, name, addresses),
        }  # fmt: skip
        properties = {**(with_fixed_ports(ours, ports) if ports else ours), **chosen}
        write_configuration(conf_dir, longer(properties, self._slower))

    def _cluster_node(self, host: Host) -> ClusterNode:
        daemons = tuple(daemon.facts for daemon in self._daemons if daemon.node is host.node)
        return ClusterNode(host.node, daemons, container_logs(host.layout) if host.is_worker else None)

    def _check_containers(self, properties: Mapping[str, str]) -> None:
        kinds = (*self._engines, *self._store.daemons)
        on_one = sum(kind.on_data_path for kind in kinds) if self._spec.workers else len(kinds)
        check_containers(self._spec, properties, on_one)

    def _killed(self) -> str | None:
        """Why the kernel ended processes of a node."""
        return next((failure for limits in self._limits.values() if (failure := limits.failure())), None)

    def _end(self, lease: Lease) -> None:
        end_processes(lease.processes, grace_s=0.0)
        for daemon in self._daemons:
            daemon.reap()
        self._daemons, self._struck = [], []


def rack_properties(spec: ClusterSpec, lans: Sequence[Lan], home: Path) -> dict[str, str]:
    """What has Hadoop read the workers' racks from a table of its own form, which goes into `home`; none without racks.

    HDFS looks them up by address, YARN by name or address, on either network (Hadoop: TableMapping). The master is in
    the first rack.
    """
    if not spec.racks or not lans:
        return {}
    rack_of = {worker_name(number): f"/rack-{at}" for at, rack in enumerate(spec.racks, 1) for number in rack}
    lines = [
        f"{word} {rack_of.get(node.name, '/rack-1')}\n"
        for lan in lans
        for node, host in zip(lan.nodes, lan.hosts, strict=True)
        for word in (host, lan.addresses[host])
    ]
    table = home / "racks"
    table.write_text("".join(lines), encoding="utf-8")
    return {
        "net.topology.node.switch.mapping.impl": "org.apache.hadoop.net.TableMapping",
        "net.topology.table.file.name": str(table),
    }


_MOST_PORTS = 40
"""That a node's daemons would choose themselves."""


@cache
def lacking_namespaces() -> str:
    """Why this user can have no nodes beside this machine; empty where that is possible."""
    try:
        done = subprocess.run(
            ["unshare", "--net", "--mount", "--uts", "true"],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=10,
        )
        return (done.stderr.strip() or "no reason was given") if done.returncode else ""
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)


def check_namespaces() -> None:
    """Raises BadInputError where this user can have no nodes beside this machine."""
    if reason := lacking_namespaces():
        raise BadInputError(
            f"several nodes, or a network, need namespaces, and there can be none ({reason}): start Assay as root, or "
            "take one node without a network", "fault", "nodes", "network", "cluster",
        )  # fmt: skip


def possible_here(spec: ClusterSpec) -> ClusterSpec:
    """One node without a network where there can be no namespaces; a fault needs what it is about, and stays."""
    if not spec.workers or spec.fault is not None or not lacking_namespaces():
        return spec
    asked = f"{spec.nodes} node{'s' if spec.nodes != 1 else ''} with the network {spec.network}"
    return spec.model_copy(update={"nodes": 1, "network": NO_NETWORK, "racks": (), "instead_of": asked})


class EmbeddedPlatform(HadoopPlatform):
    """A fresh cluster for the trial."""

    @cached_property
    def _cluster(self) -> EmbeddedCluster:
        trial = self._trial
        return EmbeddedCluster(
            self._distribution, self._spec, self._installation.state, self._user_environment, trial.store,
            trial.engine,
        )  # fmt: skip

    @cached_property
    def _spec(self) -> ClusterSpec:
        """With the dilation that was chosen for this machine."""
        return resolved(self._trial.cluster)

    @property
    def _slower(self) -> int:
        return slowed(self._spec)

    @contextmanager
    def _scale(self, cluster: RunningCluster) -> Iterator[Callable[[int, int], ScaleSeen] | None]:
        if self._spec.dilation is None:
            yield None
            return
        with ScaleWatch(self._slower, self._cluster.lans, cluster).watching() as watch:
            yield watch.seen

    def facts(self) -> Mapping[str, str]:
        further = [facts(self._installation) for facts in FACTS.values()]
        parts = division()
        processors = {f"processors.{name}": ranges_text(own) for name, own in parts._asdict().items()} if parts else {}
        if self._spec.dilation is not None:
            processors["dilation"] = str(self._slower)
        return {**super().facts(), **{name: value for facts in further for name, value in facts.items()}, **processors}

    def check(self, properties: Mapping[str, str]) -> None:
        """Of divided processors only the cluster's count."""
        parts, cpus = division(), self._trial.cluster.limit_cpus
        if parts and cpus is not None and self._trial.cluster.dilation is None and cpus > len(parts.cluster):
            raise BadInputError(
                f"a limit of {cpus:g} cpus is not possible: the cluster has {len(parts.cluster)} processors here "
                f"({ranges_text(parts.cluster)}), and the drives' emulator and the probes have the others; "
                f"choose up to {len(parts.cluster)}",
                "cpus",
            )
        of_jobs = sorted(NAMES & self._trial.workload.hadoop.keys())
        if self._slower > 1 and of_jobs:
            raise BadInputError(
                f"{of_jobs[0]} of the workload's own would not be {self._slower} times longer, as a dilation makes it; "
                "set it for all trials, under the experiment's `hadoop`",
                of_jobs[0],
            )
        super().check(properties)

    def _environment(self) -> Mapping[str, str]:
        """What a user exported for another Hadoop (HADOOP_USER_NAME, HADOOP_OPTS) has no place here."""
        return {name: value for name, value in self._user_environment.items() if not name.startswith("HADOOP_")}

    def _store(self, cluster: RunningCluster, layout: Layout) -> tuple[Store, Placer | None]:
        return STORES.find(self._trial.store).open_own(cluster, layout)

    def _injector(self) -> FaultInjector | None:
        fault = self._trial.cluster.fault
        if fault is None:
            return None
        return FaultInjector(fault, lambda: self._cluster.strike(fault.kill, fault.worker))

    def _scene(self, cluster: RunningCluster, layout: Layout) -> Scene:
        kinds = (*STORES.find(self._trial.store).daemons, *ENGINES.find(self._trial.engine).daemons)
        return build_scene(cluster, layout, self._media, kinds)


_OWN_KEYS = frozenset({"starts", "memory_mb", "vcores", "nodes", "network", "racks"})
PLATFORMS.add(
    "embedded", PlatformKind(EmbeddedPlatform, ours=True, own_keys=_OWN_KEYS, possible=possible_here), place=1
)
