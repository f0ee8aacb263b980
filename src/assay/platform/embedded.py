"""An embedded cluster: the daemons of a real Hadoop, each its own process, private to this machine.

One node is this machine itself. Several are namespaces on it (`assay.node.namespace`): workers, each with its own
directories and daemons, and the master with those that a cluster has once; clients run on the master.
"""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, cached_property
from math import ceil
from pathlib import Path

from assay.host.lease import Lease, uninterrupted
from assay.host.machine import write_back
from assay.host.processes import children_of, end_processes
from assay.host.processors import bound_to, division, ranges_text
from assay.host.write_back import age_dirty_pages
from assay.model.cluster import EMBEDDED, MASTER, ClusterSpec, EmbeddedSpec
from assay.model.doubt import Doubt, doubt_kind
from assay.model.errors import AssayError, BadInputError
from assay.model.fact import Fact
from assay.model.fault import NODE, worker_name, worker_number
from assay.model.layout import DIRECTED, Layout
from assay.model.limits import LimitUse
from assay.model.network import NO_NETWORK, LinkSpec
from assay.model.platform import PlatformKind
from assay.model.probe import Scene
from assay.model.progress import Progress
from assay.model.registry import PLATFORMS
from assay.model.running_cluster import ClusterNode, RunningCluster, no_launch
from assay.model.scale import ScaleSeen
from assay.model.service import NodeContext, Stack
from assay.model.store import Placer
from assay.network.links import Lan, make_lans, network_facts, unplug
from assay.node.local import LocalNode
from assay.node.namespace import NamespaceNode
from assay.platform import daemon as commands
from assay.platform.accounting import accounting_groups
from assay.platform.base import Cluster, HadoopPlatform
from assay.platform.cluster_keys import EmbeddedKeys, embedded_spec
from assay.platform.configuration import with_fixed_ports, write_configuration
from assay.platform.daemon import Daemon, PortTakenError
from assay.platform.dilation import longer, resolved, slowed, slowness
from assay.platform.distribution import Distribution, Starts, check_codecs, check_jvm_options, starts_of
from assay.platform.faults import FaultInjector, Killed
from assay.platform.launching import DAEMON, Launchers
from assay.platform.limits import Limits, check_limits, limits_of, used_together
from assay.platform.loopback import compile_library, doubts_of_ports, preloading
from assay.platform.programs import files_of, job_jars, program_facts
from assay.platform.scale import ScaleWatch
from assay.platform.scene import build_scene
from assay.platform.startup import Host, Startup

_ATTEMPTS = 3

WRITE_BACK_AGE_MISSING = doubt_kind(
    "write-back-age-missing",
    "machine",
    when="the kernel did not let Assay choose after how long written data go to the drives (`write_back_age`)",
    why="unless they exceed the drives' limits, written data wait as long as on any machine (30 s), which a short job "
    "does not wait for: the drives do less of its work",
    cure="start as root on a machine of your own",
    severity=20,
)


class EmbeddedCluster(Cluster):
    """A cluster that Assay starts and stops."""

    def __init__(
        self, distribution: Distribution, spec: EmbeddedSpec, stack: Stack, state: Path,
        environment: Mapping[str, str], starts: Starts | None = None, programs: Path = Path(),
    ) -> None:  # fmt: skip
        """`stack` is what it runs; `state` keeps the leases.

        `environment` is the user's, of which Hadoop's own variables are left out. `starts` replaces what `spec.starts`
        names (set-up uses that to find out which classes are loaded). `programs` has the folders of services' further
        programs. Raises BadInputError for an impossible dilation.
        """
        self._distribution = distribution
        self._spec = resolved(spec)
        self._slower = slowed(self._spec)
        self._stack = stack
        self._starts = starts or starts_of(spec.starts, distribution)
        if len(spec.workers) > 1:
            self._starts = self._starts.among_many()
        if spec.dilation is not None and self._spec.limit_cpus is not None:
            self._starts = self._starts.with_processors(ceil(self._spec.limit_cpus))
        self._state, self._programs = state, programs
        self._environment = commands.clean_environment(environment, distribution)
        self._daemons: list[Daemon] = []
        self._limits: dict[str, Limits] = {}
        self.lans: Sequence[Lan] = ()
        self._use: LimitUse | None = None
        self._struck: list[Daemon] = []
        self._lease: Lease | None = None

    def check(self, properties: Mapping[str, str]) -> None:
        """Jobs fit beside its daemons, its limits into this machine, and it may have its nodes."""
        self._stack.check(self._spec, properties)
        check_codecs(self._distribution, properties)
        check_jvm_options(self._distribution.java, properties)
        longer(properties, self._slower, self._stack.timers)
        check_limits(self._spec, self._state)
        if self._spec.workers:
            check_namespaces()

    @contextmanager
    def running(self, layout: Layout, properties: Mapping[str, str], progress: Progress) -> Iterator[RunningCluster]:
        """Run the cluster for a trial, in a scope; at its end all is killed, since the directories are thrown away."""
        with Lease(self._state, "cluster") as lease:
            try:
                parts = division()
                with bound_to(parts and parts.cluster):
                    running = self.start(layout, {**self._stack.trial_properties, **properties}, progress, lease)
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

    def strike(self, target: str, worker: str) -> Killed:
        """Kill a worker's daemon of this role, or all of its `node`: links, daemons, containers. Nobody misses them.

        Raises AssayError where there is nothing to be killed.
        """
        on_it = [daemon for daemon in self._daemons if daemon.node.name == worker]
        daemons = [daemon for daemon in on_it if target in {NODE, daemon.kind.role}]
        if not daemons or any(daemon.process.poll() is not None for daemon in daemons):
            raise AssayError(f"there is no running {target} on {worker} to be killed")
        self._struck += daemons
        containers = [pid for daemon in on_it if daemon.kind.children for pid in children_of(daemon.process.pid)]
        node, lease = daemons[0].node, self._lease
        if target == NODE and isinstance(node, NamespaceNode) and lease is not None:
            unplug(node)
            end_processes(lambda: list(filter(node.runs, lease.processes())), grace_s=0.0)
        else:
            os.kill(daemons[0].process.pid, signal.SIGKILL)
        for daemon in daemons:
            daemon.reap()
        return Killed(daemons, len(containers))

    def limit_use(self) -> LimitUse | None:
        """Return how the limits were used; None without limits. It may be asked after the end."""
        return self._use or used_together([limits.use() for limits in self._limits.values() if limits.any])

    def start(self, layout: Layout, properties: Mapping[str, str], progress: Progress, lease: Lease) -> RunningCluster:
        """Start under a lease of the caller's, who releases it; healthy on return.

        Raises AssayError, with the daemon's own log line, when one dies or is not healthy in time. A port that was
        taken between its choice and its use is no error: the start is tried again with other ports.
        """
        self._stack.check(self._spec, properties)
        self._lease = lease
        workers = self._spec.workers
        names = [MASTER, *workers] if workers else [""]
        self._limits, self._use = {name: limits_of(self._spec, lease, name) for name in names}, None
        if not workers:
            self._limits[""].accounting = accounting_groups(lease)
        age_missing = self._age_dirty_pages(lease)
        budgets = [limits.page_cache for limits in self._limits.values() if limits.page_cache is not None]
        for budget in budgets:
            fetched = (file for service in self._stack.services for file in files_of(service, self._programs))
            budget.keep_outside((*self._distribution.programs, *fetched))
        for left in reversed(range(_ATTEMPTS)):
            try:
                running = self._start_once(layout, properties, progress, lease)
            except PortTakenError:
                self._end(lease)
                for directory in filter(Path.is_dir, layout.paths):
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
                facts = {**running.facts, "write_back": write_back()}  # as it is in force now
                return replace(running, facts=facts, doubts=(*running.doubts, *age_missing))
        raise AssertionError("the last attempt returns or raises")

    def _age_dirty_pages(self, lease: Lease) -> list[Doubt]:
        """Have the kernel write to drives after the time of the cluster's node; a doubt where it can't be had."""
        age_s = self._spec.write_back_age_s
        reason = "" if age_s is None else age_dirty_pages(lease, self._slower * age_s)
        return [WRITE_BACK_AGE_MISSING.doubt(reason)] if reason else []

    def _start_once(
        self, layout: Layout, properties: Mapping[str, str], progress: Progress, lease: Lease
    ) -> RunningCluster:
        hosts, lans = self._make_hosts(layout, lease)
        self.lans = lans
        master, daemons = hosts[0].node, self._stack.daemons
        names = [name for kind in daemons for name in kind.ports]
        ports = master.free_ports(len(names))
        addresses = {name: f"{master.name}:{port}" for name, port in zip(names, ports, strict=True)}
        racks = write_racks(self._spec, lans, layout.neutral / "network")
        hosts = [host._replace(context=host.context._replace(addresses=addresses, racks=racks)) for host in hosts]
        starting = self._stack.start_properties(self._starts.containers, properties)
        free_ports = master.free_ports(_MOST_PORTS) if lans else None
        configured = [self._configure(host, {**starting, **properties}, free_ports) for host in hosts]
        facts, doubts = network_facts(lans, progress)
        for at, rack in enumerate(self._spec.racks, 1):
            facts[f"racks.rack-{at}"] = ", ".join(map(worker_name, rack))
        commands_folder = layout.neutral / "bin"
        library, no_library = (None, "") if lans else compile_library(commands_folder)
        environment = preloading(lease.environment(self._environment), library)
        startup = Startup(hosts, self._distribution, self._starts, addresses, environment, self._daemons, progress)
        startup.run(daemons)
        if not lans:
            doubts += doubts_of_ports({daemon.process.pid: daemon.kind.role for daemon in self._daemons}, no_library)
        conf_dir = hosts[0].conf_dir
        hadoop = commands.write_hadoop_command(
            commands_folder / "hadoop", self._distribution, self._starts, conf_dir, self._stack.commands,
            master if lans else commands.HERE, hosts[0].limits.entering_processors, library,
        )  # fmt: skip
        settings = longer(
            self._starts.settings(self._distribution, starting, daemons), self._slower, self._stack.timers
        )
        return RunningCluster(
            hadoop=hadoop, conf_dir=conf_dir, version=self._distribution.version, addresses=startup.urls(),
            nodes=tuple(self._cluster_node(host) for host in hosts), extras=self._distribution.extras,
            settings={**settings, **self._stack.settings([host.context for host in hosts])}, properties=configured[0],
            connect=master.connect if lans else socket.create_connection, facts=facts, doubts=doubts,
            slower=self._slower, launch=Launchers(hosts).launch if DAEMON in daemons else no_launch,
        )  # fmt: skip

    def _make_hosts(self, layout: Layout, lease: Lease) -> tuple[list[Host], Sequence[Lan]]:
        """The nodes with their directories, the master first, and the networks between them; or this machine alone."""
        if not self._spec.workers:
            node = LocalNode()
            return [Host(node, self._context(layout, node.name, node.name), self._limits[""])], ()
        network = layout.neutral / "network"
        network.mkdir(parents=True)
        names = [MASTER, *self._spec.workers]
        fault = self._spec.fault
        links = {
            name: self._slowed(self._spec.network.links(worker_number(name), fault)) for name in self._spec.workers
        }
        lans = make_lans(names, self._slowed(self._spec.network.links()), network, lease, os.environ, links)
        for node in lans[0].nodes:
            node.configure(self._stack.network_settings)
        home = layout.neutral / MASTER
        of_master = Layout(neutral=home, directories=Layout.below(home, self._stack.roles).directories)
        layouts = {MASTER: of_master, **layout.nodes}
        return [
            Host(
                node,
                self._context(layouts[node.name], data_name, MASTER),
                self._limits[node.name],
                is_master=node.name == MASTER,
                is_worker=node.name != MASTER,
            )
            for node, data_name in zip(lans[0].nodes, lans[-1].hosts, strict=True)
        ], lans

    def _context(self, layout: Layout, host: str, master: str) -> NodeContext:
        bundled = self._distribution.jars is not None
        return NodeContext(
            self._spec,
            self._stack.keep_apart(layout),
            host,
            master,
            classpath=self._distribution.classpath,
            bundled=bundled,
            programs=self._programs,
            job_jars=job_jars(self._stack, self._programs),
        )

    def _slowed(self, links: Sequence[LinkSpec | None]) -> list[LinkSpec | None]:
        """Links as slow as all else of a scale model."""
        return [link and link.model_copy(update={"slowdown": self._slower}) for link in links]

    def _configure(self, host: Host, chosen: Mapping[str, str], ports: Sequence[int] | None) -> Mapping[str, str]:
        """Write its configuration, and give the properties in it.

        `chosen` goes before what services say, `ports` are for what would take any.
        """
        node = host.context
        for directory in (node.conf_dir, node.layout.neutral / "logs", node.layout.neutral / "tmp"):
            directory.mkdir(parents=True)
        of_services = {**node.addresses, **self._stack.properties(node)}
        fixed = with_fixed_ports(of_services, ports) if ports else of_services
        properties = longer({**fixed, **chosen}, self._slower, self._stack.timers)
        write_configuration(self._stack, node, properties)
        return properties

    def _cluster_node(self, host: Host) -> ClusterNode:
        daemons = tuple(daemon.facts for daemon in self._daemons if daemon.node is host.node)
        return ClusterNode(host.node, daemons, host.layout.container_logs if host.is_worker else None)

    def _killed(self) -> str | None:
        """Why the kernel ended processes of a node."""
        return next((failure for limits in self._limits.values() if (failure := limits.failure())), None)

    def _end(self, lease: Lease) -> None:
        end_processes(lease.processes, grace_s=0.0)
        for daemon in self._daemons:
            daemon.reap()
        self._daemons, self._struck = [], []


def write_racks(spec: EmbeddedSpec, lans: Sequence[Lan], home: Path) -> Path | None:
    """Write a table of the racks of the nodes' names and addresses, on either network, into `home`; None without racks.

    The master is in the first rack.
    """
    if not spec.racks or not lans:
        return None
    rack_of = {worker_name(number): f"/rack-{at}" for at, rack in enumerate(spec.racks, 1) for number in rack}
    lines = [
        f"{word} {rack_of.get(node.name, '/rack-1')}\n"
        for lan in lans
        for node, host in zip(lan.nodes, lan.hosts, strict=True)
        for word in (host, lan.addresses[host])
    ]
    table = home / "racks"
    table.write_text("".join(lines), encoding="utf-8")
    return table


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
    """Reduce a cluster to one node without a network where there can be no namespaces, unless it has a fault."""
    if not isinstance(spec, EmbeddedSpec) or not spec.workers or spec.fault is not None or not lacking_namespaces():
        return spec
    requested = f"{spec.nodes} node{'s' if spec.nodes != 1 else ''} with the network {spec.network}"
    return spec.model_copy(update={"nodes": 1, "network": NO_NETWORK, "racks": (), "instead_of": requested})


class EmbeddedPlatform(HadoopPlatform):
    """A fresh cluster for the trial."""

    @cached_property
    def _cluster(self) -> EmbeddedCluster:
        return EmbeddedCluster(
            self._distribution, self._spec, self._stack, self._installation.state, self._user_environment,
            programs=self._parts,
        )  # fmt: skip

    @cached_property
    def _spec(self) -> EmbeddedSpec:
        """The description with the dilation that was chosen for this machine."""
        spec = self._trial.cluster
        assert isinstance(spec, EmbeddedSpec)  # noqa: S101 - its kind is this platform's
        return resolved(spec)

    @property
    def _slower(self) -> int:
        return slowed(self._spec)

    @contextmanager
    def _scale(self, cluster: RunningCluster) -> Iterator[Callable[[int, int], ScaleSeen] | None]:
        if self._spec.dilation is None:
            yield None
            return
        with ScaleWatch(self._slower, self._cluster.lans, cluster, self._stack).watching() as watch:
            yield watch.seen

    def facts(self) -> Mapping[str, Fact]:
        further = [facts(self._installation) for facts in self._kinds.facts]
        parts = division()
        named = parts._asdict() if parts else {}
        processors = {f"processors.{name}": ranges_text(numbers) for name, numbers in named.items()}
        dilation = {} if self._spec.dilation is None else {"dilation": self._slower}
        known = {name: value for facts in further for name, value in facts.items()}
        programs = program_facts(self._stack, self._parts)
        return {**super().facts(), **known, **processors, **dilation, **programs}

    def check(self, properties: Mapping[str, str]) -> None:
        """Check the description; of divided processors only the cluster's count."""
        parts, cpus = division(), self._trial.cluster.limit_cpus
        if parts and cpus is not None and self._trial.cluster.dilation is None and cpus > len(parts.cluster):
            raise BadInputError(
                f"a limit of {cpus:g} cpus is not possible: the cluster has {len(parts.cluster)} processors here "
                f"({ranges_text(parts.cluster)}), and the drives' emulator and the probes have the others; "
                f"choose up to {len(parts.cluster)}",
                "cpus",
            )
        of_jobs = sorted(self._stack.timers.keys() & self._trial.workload.hadoop.keys())
        if self._slower > 1 and of_jobs:
            raise BadInputError(
                f"{of_jobs[0]} of the workload's own would not be {self._slower} times longer, as a dilation makes it; "
                "set it for all trials, under the experiment's `hadoop`",
                of_jobs[0],
            )
        if self._trial.placement.local_directories == DIRECTED and self._distribution.jars is None:
            raise BadInputError(
                f"placement {self._trial.placement.name!r} directs jobs, which needs the Hadoop that Assay brings: "
                "unset HADOOP_HOME, or leave the placement out",
                "placement",
            )
        super().check(properties)

    def _environment(self) -> Mapping[str, str]:
        """What a user exported for another Hadoop (HADOOP_USER_NAME, HADOOP_OPTS) has no place here."""
        return {name: value for name, value in self._user_environment.items() if not name.startswith("HADOOP_")}

    def _placer(self, cluster: RunningCluster, layout: Layout) -> Placer | None:
        return self._kinds.store.placer_on(cluster, self._stack.keep_apart(layout))

    def _injector(self) -> FaultInjector | None:
        fault = self._trial.cluster.fault
        if fault is None:
            return None
        return FaultInjector(fault, lambda: self._cluster.strike(fault.kill, fault.worker))

    def _scene(self, cluster: RunningCluster, layout: Layout) -> Scene:
        return build_scene(cluster, layout, self._media, self._stack.daemons, self._stack.job_ports)


PLATFORMS.add(
    EMBEDDED,
    PlatformKind(
        EmbeddedPlatform,
        is_managed=True,
        keys=lambda: EmbeddedKeys,
        spec=embedded_spec,
        possible=possible_here,
        slowness=slowness,
    ),
    place=1,
)
