"""An embedded cluster: the daemons of a real Hadoop, each its own process, private to this machine."""

import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Thread

from assay.host.lease import Lease, uninterrupted
from assay.host.processes import end_processes
from assay.host.processors import bound_to, division, ranges_text
from assay.model.errors import AssayError, BadInputError
from assay.model.node import Node
from assay.model.platform import ClusterNode, ClusterSpec, DaemonKind, Layout, LimitUse, PlatformKind, RunningCluster
from assay.model.probe import Scene
from assay.model.progress import Progress
from assay.model.registry import ENGINES, FACTS, PLATFORMS, STORES
from assay.model.store import Placer, Store
from assay.model.trial import HDFS, MAPREDUCE
from assay.node.local import LocalNode
from assay.platform import daemon as commands
from assay.platform.accounting import accounting_groups
from assay.platform.base import Cluster, HadoopPlatform
from assay.platform.configuration import IN_TURN, container_logs, embedded_properties, write_configuration
from assay.platform.daemon import Daemon, PortTakenError, fetch_json, last_words
from assay.platform.distribution import Distribution, Starts, starts_of
from assay.platform.limits import Limits, check_containers, check_limits, limits_of, offered_mb
from assay.platform.scene import build_scene

_PATIENCE_S = 120.0
_POLL_S = 0.05
_ASK_S = 2.0


@dataclass
class Startup:
    """Starts daemons on a node into the list it is given, so that whoever ends them knows of each at once.

    `environment` carries the lease's mark; `logs`, `tmp` and `conf` exist in the neutral directory. `addresses` are
    those of the daemons' ports. `limits` bounds every process from its start.
    """

    node: Node
    distribution: Distribution
    starts: Starts
    addresses: Mapping[str, str]
    neutral: Path
    environment: Mapping[str, str]
    limits: Limits
    daemons: list[Daemon]
    progress: Progress

    def __post_init__(self) -> None:
        self._deadline = time.monotonic() + _PATIENCE_S

    def run(self, engines: Sequence[DaemonKind], stores: Sequence[DaemonKind]) -> None:
        """Start all and wait until they are healthy.

        Raises AssayError with the daemon's own log line when one dies or is not healthy in time, PortTakenError when
        it died because its port was taken.
        """
        self.progress.detail("starting daemons")
        kinds = (*engines, *stores)
        # Those of the engine look for the store, and all for each other, until they find them.
        for kind in kinds:
            if not kind.late:
                self._start(kind)
        self._wait(stores[-1:])
        late = [kind for kind in kinds if kind.late]
        for kind in late:
            self._start(kind)
        self._wait([kind for kind in kinds if kind not in stores[-1:]])
        # Its first answer takes it half a second: better while data are staged than when a job has ended.
        for kind in late:
            Thread(target=self._answers, args=(kind,), daemon=True).start()

    def urls(self) -> dict[str, str]:
        """The web interfaces of the daemons that were started, by role."""
        kinds = (daemon.kind for daemon in self.daemons)
        return {kind.role: f"http://{self.addresses[kind.web]}" for kind in kinds if kind.web}

    def _start(self, kind: DaemonKind) -> None:
        conf_dir = self.neutral / "conf"
        if kind.formats and self.starts.name == "brisk" and self.distribution.formatted_name is not None:
            self.node.copy(self.distribution.formatted_name, self.neutral / "name")
        elif kind.formats:
            options = ("-Xmx256m", *self.starts.control_options)
            command = commands.java_command(self.distribution, options, conf_dir, kind.main_class, kind.formats)
            log = self.neutral / "logs" / "format.log"
            if self.node.start(self.limits.entering(command), self.environment, log).wait() != 0:
                raise AssayError(f"the {kind.name} could not be formatted: {last_words(log, self.node)} (log: {log})")
        command = commands.daemon_command(kind, self.distribution, self.starts, conf_dir)
        log = self.neutral / "logs" / f"{kind.role}.log"
        process = self.node.start(self.limits.entering(command), self.environment, log)
        self.daemons.append(Daemon(kind, self.node, process, log))

    def _answers(self, kind: DaemonKind) -> bool:
        url = self.urls()[kind.asked or kind.role]
        return kind.ready(fetch_json(url + kind.page))

    def _wait(self, kinds: Iterable[DaemonKind]) -> None:
        """Its sign costs nothing; to answer takes a starting daemon's processor time, of which all have too little."""
        waiting = [kind for kind in kinds if kind.sign]
        asked = time.monotonic()
        while True:
            for daemon in self.daemons:
                daemon.check()
            asks = time.monotonic() - asked > _ASK_S
            for kind in list(waiting):
                log = self.node.read(self.neutral / "logs" / f"{kind.role}.log")
                if kind.sign in log or (asks and self._answers(kind)):
                    self.progress.detail(f"{kind.role} is up")
                    waiting.remove(kind)
            asked = time.monotonic() if asks else asked
            if not waiting:
                return
            if time.monotonic() > self._deadline:
                doubts = "; ".join(
                    f"the {one.kind.name} is not healthy: {last_words(one.log, one.node)} (log: {one.log})"
                    for one in self.daemons
                    if one.kind in waiting
                )
                raise AssayError(f"the cluster was not healthy within {_PATIENCE_S:.0f} s: {doubts}")
            time.sleep(_POLL_S)


_ATTEMPTS = 3
NO_LIMITS = Limits(None, None, {})


class EmbeddedCluster(Cluster):
    """A cluster of one node that Assay starts and stops."""

    def __init__(
        self, distribution: Distribution, spec: ClusterSpec, state: Path, environment: Mapping[str, str],
        store: str = HDFS, engine: str = MAPREDUCE, starts: Starts | None = None,
    ) -> None:  # fmt: skip
        """`state` keeps the leases; `environment` is the user's, of which Hadoop's own variables are left out.

        `store` and `engine` are the registered names of what it is for. `starts` replaces what `spec.starts` names
        (set-up uses that to find out which classes are loaded).
        """
        self._distribution = distribution
        self._spec = spec
        self._store = STORES.find(store)
        self._engines = ENGINES.find(engine).daemons
        self._node = LocalNode()
        self._starts = starts or starts_of(spec.starts, distribution)
        self._state = state
        self._environment = commands.clean_environment(environment, distribution)
        self._daemons: list[Daemon] = []
        self._limits = NO_LIMITS
        self._use: LimitUse | None = None

    def check(self, properties: Mapping[str, str]) -> None:
        """Its containers fit into its NodeManager, and its limits into this machine."""
        check_containers(self._spec, properties, len(self._engines) + len(self._store.daemons))
        check_limits(self._spec, self._state)

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
        """A limit that was hit, or the first daemon that died with its last words."""
        # First, as it is the reason for what else is found dead.
        return self._limits.failure() or next(
            (failure for daemon in self._daemons if (failure := daemon.failure())), None
        )

    def limit_use(self) -> LimitUse | None:
        """None without limits; also after the end."""
        return self._use or (self._limits.use() if self._limits.any else None)

    def start(self, layout: Layout, properties: Mapping[str, str], progress: Progress, lease: Lease) -> RunningCluster:
        """Start under a lease of the caller's, who releases it; healthy on return.

        Raises AssayError, with the daemon's own log line, when one dies or is not healthy in time. A port that was
        taken between its choice and its use is no error: the start is tried again with other ports.
        """
        check_containers(self._spec, properties, len(self._engines) + len(self._store.daemons))
        self._limits, self._use = limits_of(self._spec, lease), None
        self._limits.accounting = accounting_groups(lease)
        if self._limits.page_cache is not None:
            self._limits.page_cache.keep_outside(self._distribution.programs)
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
                killed = self._limits.failure()
                if killed is None:
                    raise
                raise AssayError(killed) from error
            else:
                if self._limits.page_cache is not None:
                    self._limits.page_cache.hold()
                return running
        raise AssertionError("the last attempt returns or raises")

    def _start_once(
        self, layout: Layout, properties: Mapping[str, str], progress: Progress, lease: Lease
    ) -> RunningCluster:
        names = [name for kind in (*self._engines, *self._store.daemons) for name in kind.ports]
        ports, host = self._node.free_ports(len(names)), self._node.name
        addresses = {name: f"{host}:{port}" for name, port in zip(names, ports, strict=True)}
        conf_dir = layout.neutral / "conf"
        for directory in (conf_dir, layout.neutral / "logs", layout.neutral / "tmp"):
            directory.mkdir(parents=True)
        classpath = ",".join(self._distribution.classpath)
        starts = self._starts.beside(properties)
        spec = self._spec.model_copy(update={"memory_mb": offered_mb(self._spec)})
        # Tasks draw directories at random: with few tasks a mixed medium's shares would land anywhere. Only the bundled
        # Hadoop has the class that has them taken in turn (hadoop/src/.../OneDirectoryPerTask.java).
        mixed = len(layout.local) > 1 and self._distribution.jars is not None
        turns = {"yarn.nodemanager.container-executor.class": IN_TURN} if mixed else {}
        ours = {
            **addresses, **embedded_properties(spec, layout, host, classpath, conf_dir),
            **self._store.properties(layout, host, addresses), **turns,
        }  # fmt: skip
        write_configuration(conf_dir, {**ours, **starts.properties, **properties})
        environment = lease.environment({**self._environment, "HADOOP_CONF_DIR": str(conf_dir)})
        startup = Startup(
            self._node, self._distribution, starts, addresses, layout.neutral, environment, self._limits,
            self._daemons, progress,
        )  # fmt: skip
        startup.run(self._engines, self._store.daemons)
        hadoop = commands.write_hadoop_command(layout.neutral / "bin" / "hadoop", self._distribution, starts, conf_dir)
        settings = starts.settings(self._distribution)
        if self._spec.limit_memory_bytes is not None:  # what the limit makes of the memory for containers
            settings["yarn.nodemanager.resource.memory-mb"] = str(spec.memory_mb)
        several = "one per task, in turn" if turns else "drawn at random for each file"
        settings["local directories"] = "one" if len(layout.local) == 1 else several
        return RunningCluster(
            hadoop=hadoop, conf_dir=conf_dir, version=self._distribution.version, addresses=startup.urls(),
            nodes=(ClusterNode(self._node, tuple(daemon.facts for daemon in self._daemons), container_logs(layout)),),
            extras=self._distribution.extras,
            settings=settings,
        )  # fmt: skip

    def _end(self, lease: Lease) -> None:
        end_processes(lease.processes, grace_s=0.0)
        for daemon in self._daemons:
            daemon.reap()
        self._daemons = []


class EmbeddedPlatform(HadoopPlatform):
    """A fresh cluster of one node for the trial."""

    @cached_property
    def _cluster(self) -> EmbeddedCluster:
        trial = self._trial
        return EmbeddedCluster(
            self._distribution, trial.cluster, self._installation.state, self._user_environment, trial.store,
            trial.engine,
        )  # fmt: skip

    def facts(self) -> Mapping[str, str]:
        further = [facts(self._installation) for facts in FACTS.values()]
        parts = division()
        processors = {f"processors.{name}": ranges_text(own) for name, own in parts._asdict().items()} if parts else {}
        return {**super().facts(), **{name: value for facts in further for name, value in facts.items()}, **processors}

    def check(self, properties: Mapping[str, str]) -> None:
        """Of divided processors only the cluster's count."""
        parts, cpus = division(), self._trial.cluster.limit_cpus
        if parts and cpus is not None and cpus > len(parts.cluster):
            raise BadInputError(
                f"a limit of {cpus:g} cpus is not possible: the cluster has {len(parts.cluster)} processors here "
                f"({ranges_text(parts.cluster)}), and the drives' emulator and the probes have the others; "
                f"choose up to {len(parts.cluster)}",
                "cpus",
            )
        super().check(properties)

    def _environment(self) -> Mapping[str, str]:
        """What a user exported for another Hadoop (HADOOP_USER_NAME, HADOOP_OPTS) has no place here."""
        return {name: value for name, value in self._user_environment.items() if not name.startswith("HADOOP_")}

    def _store(self, cluster: RunningCluster, layout: Layout) -> tuple[Store, Placer | None]:
        return STORES.find(self._trial.store).open_own(cluster, layout)

    def _scene(self, cluster: RunningCluster, layout: Layout) -> Scene:
        kinds = (*STORES.find(self._trial.store).daemons, *ENGINES.find(self._trial.engine).daemons)
        return build_scene(cluster, layout, self._media, kinds)


_OWN_KEYS = frozenset({"starts", "memory_mb", "vcores", "nodes", "network"})
PLATFORMS.add("embedded", PlatformKind(EmbeddedPlatform, ours=True, own_keys=_OWN_KEYS), place=1)
