"""An embedded cluster: five daemons of a real Hadoop, each its own process, private to this machine."""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from threading import Thread
from typing import NamedTuple

from assay.host.lease import Lease, uninterrupted
from assay.host.processes import end_processes
from assay.model.errors import AssayError
from assay.model.node import Node
from assay.model.platform import ClusterNode, ClusterSpec, Layout, LimitUse, PlatformKind, RunningCluster
from assay.model.probe import Scene
from assay.model.progress import Progress
from assay.model.registry import FACTS, PLATFORMS, STORES
from assay.model.store import Placer, Store
from assay.model.trial import HDFS
from assay.node.local import LocalNode
from assay.platform import daemon as commands
from assay.platform.base import HadoopPlatform
from assay.platform.configuration import IN_TURN, Ports, container_logs, embedded_properties, write_configuration
from assay.platform.daemon import (
    Daemon,
    PortTakenError,
    historyserver_ready,
    last_words,
    namenode_open,
    namenode_ready,
    resourcemanager_ready,
)
from assay.platform.distribution import Distribution, Starts, starts_of
from assay.platform.limits import Limits, check_limits, limits_of
from assay.platform.scene import build_scene
from assay.platform.sizing import check_containers, offered_mb

_PATIENCE_S = 120.0
_POLL_S = 0.05
_ASK_S = 2.0


class Attempt(NamedTuple):
    """What an attempt starts with, on one node. `environment` carries the lease's mark; `logs` and `conf_dir` exist.

    `limits` bounds every process from its start.
    """

    node: Node
    distribution: Distribution
    starts: Starts
    ports: Ports
    conf_dir: Path
    name_dir: Path
    logs: Path
    environment: Mapping[str, str]
    limits: Limits

    def url(self, port: int) -> str:
        """The http address of a daemon."""
        return f"http://{self.node.name}:{port}"


class _Awaited(NamedTuple):
    """Something to wait for: a line in a role's log that has `sign`, or `ready`, which asks a daemon over HTTP.

    The sign costs nothing; to answer takes a starting daemon's processor time, of which all of them have too little.
    """

    role: str
    sign: str
    ready: Callable[[], bool]


class Startup:
    """Starts daemons into the list it is given, so that whoever ends them knows of each from its first moment."""

    def __init__(self, attempt: Attempt, daemons: list[Daemon], progress: Progress) -> None:
        self._attempt = attempt
        self._daemons = daemons
        self._progress = progress
        self._deadline = time.monotonic() + _PATIENCE_S

    def run(self) -> None:
        """Start all five and wait until they are healthy.

        Raises AssayError with the daemon's own log line when one dies or is not healthy in time, PortTakenError when
        it died because its port was taken.
        """
        attempt, ports = self._attempt, self._attempt.ports
        self._progress.detail("starting daemons")
        # These look for the ResourceManager and the NameNode until they find them.
        for role in ("resourcemanager", "nodemanager", "datanode"):
            self._start(role)
        self._format_namenode()
        self._start("namenode")
        namenode, historyserver = attempt.url(ports.namenode_http), attempt.url(ports.historyserver_http)
        # Started earlier the JobHistoryServer would find the NameNode in safe mode and then sleep for 10 s.
        self._wait({"namenode": _Awaited("namenode", "Leaving safe mode", lambda: namenode_open(namenode))})
        self._start("historyserver")
        self._wait({
            "namenode": _Awaited("datanode", "Successfully sent block report", lambda: namenode_ready(namenode)),
            # The scheduler's own words, with the memory that it has now.
            "resourcemanager": _Awaited(
                "resourcemanager", "clusterResource: <memory:",
                lambda: resourcemanager_ready(attempt.url(ports.resourcemanager_http)),
            ),
            "historyserver": _Awaited(
                "historyserver", "Started ServerConnector", lambda: historyserver_ready(historyserver)
            ),
        })  # fmt: skip
        # Its first answer takes it half a second: better while data are staged than when a job has ended.
        Thread(target=historyserver_ready, args=(historyserver,), daemon=True).start()

    def _start(self, role: str) -> None:
        attempt = self._attempt
        command = commands.daemon_command(role, attempt.distribution, attempt.starts, attempt.conf_dir)
        log = attempt.logs / f"{role}.log"
        process = attempt.node.start(attempt.limits.entering(command), attempt.environment, log)
        self._daemons.append(Daemon(role, attempt.node, process, log))

    def _format_namenode(self) -> None:
        """Give the NameNode an empty file system."""
        attempt = self._attempt
        if attempt.starts.copies_names and attempt.distribution.formatted_name is not None:
            attempt.node.copy(attempt.distribution.formatted_name, attempt.name_dir)
            return
        command = commands.java_command(
            attempt.distribution, ("-Xmx256m", *attempt.starts.control_options), attempt.conf_dir,
            commands.MAIN_CLASSES["namenode"], ("-format", "-nonInteractive", "-force"),
        )  # fmt: skip
        log = attempt.logs / "format.log"
        if attempt.node.start(attempt.limits.entering(command), attempt.environment, log).wait() != 0:
            raise AssayError(f"the NameNode could not be formatted: {last_words(log, attempt.node)} (log: {log})")

    def _wait(self, awaited: Mapping[str, _Awaited]) -> None:
        waiting = dict(awaited)
        asked = time.monotonic()
        while True:
            for daemon in self._daemons:
                daemon.check()
            asks = time.monotonic() - asked > _ASK_S
            for role, one in list(waiting.items()):
                log = self._attempt.node.read(self._attempt.logs / f"{one.role}.log")
                if one.sign in log or (asks and one.ready()):
                    self._progress.detail(f"{role} is up")
                    del waiting[role]
            asked = time.monotonic() if asks else asked
            if not waiting:
                return
            if time.monotonic() > self._deadline:
                # The ResourceManager waits for its NodeManager, the NameNode for its DataNode: show what these say too.
                workers = {"namenode": "datanode", "resourcemanager": "nodemanager"}
                concerned = {*waiting, *(workers.get(role) for role in waiting)}
                doubts = "; ".join(daemon.doubt() for daemon in self._daemons if daemon.role in concerned)
                raise AssayError(f"the cluster was not healthy within {_PATIENCE_S:.0f} s: {doubts}")
            time.sleep(_POLL_S)


_ATTEMPTS = 3
NO_LIMITS = Limits(None, None, {})


class EmbeddedCluster:
    """A cluster of one node that Assay starts and stops."""

    def __init__(
        self, distribution: Distribution, spec: ClusterSpec, state: Path, environment: Mapping[str, str],
        store: str = HDFS, starts: Starts | None = None,
    ) -> None:  # fmt: skip
        """`state` keeps the leases; `environment` is the user's, of which Hadoop's own variables are left out.

        `store` is the registered name of what its data directories are for. `starts` replaces what `spec.starts` names
        (set-up uses that to find out which classes are loaded).
        """
        self._distribution = distribution
        self._spec = spec
        self._store = store
        self._node = LocalNode()
        self._starts = starts or starts_of(spec.starts, distribution)
        self._state = state
        self._environment = commands.clean_environment(environment, distribution)
        self._daemons: list[Daemon] = []
        self._limits = NO_LIMITS
        self._use: LimitUse | None = None

    def check(self, properties: Mapping[str, str]) -> None:
        """Its containers fit into its NodeManager, and its limits into this machine."""
        check_containers(self._spec, properties)
        check_limits(self._spec, self._state)

    @contextmanager
    def running(self, layout: Layout, properties: Mapping[str, str], progress: Progress) -> Iterator[RunningCluster]:
        """At the scope's end all is killed: the directories are thrown away."""
        with Lease(self._state, "cluster") as lease:
            try:
                yield self.start(layout, properties, progress, lease)
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
        check_containers(self._spec, properties)
        self._limits, self._use = limits_of(self._spec, lease), None
        for left in reversed(range(_ATTEMPTS)):
            try:
                return self._start_once(layout, properties, progress, lease)
            except PortTakenError:
                self._end(lease)
                _empty(layout)
                if not left:
                    raise
            except AssayError as error:
                killed = self._limits.failure()
                if killed is None:
                    raise
                raise AssayError(killed) from error
        raise AssertionError("the last attempt returns or raises")

    def _start_once(
        self, layout: Layout, properties: Mapping[str, str], progress: Progress, lease: Lease
    ) -> RunningCluster:
        ports = Ports(**dict(zip(Ports.model_fields, self._node.free_ports(len(Ports.model_fields)), strict=True)))
        conf_dir, logs = layout.neutral / "conf", layout.neutral / "logs"
        for directory in (conf_dir, logs, layout.neutral / "tmp"):
            directory.mkdir(parents=True)
        classpath = ",".join(self._distribution.classpath)
        starts = self._starts.beside(properties)
        spec = self._spec.model_copy(update={"memory_mb": offered_mb(self._spec)})
        ours = {
            **embedded_properties(spec, layout, self._node.name, ports, classpath, conf_dir),
            **STORES.find(self._store).properties(layout), **self._turns(layout),
        }  # fmt: skip
        write_configuration(conf_dir, {**ours, **starts.properties, **properties})
        attempt = Attempt(
            node=self._node, distribution=self._distribution, starts=starts, ports=ports, conf_dir=conf_dir,
            name_dir=layout.neutral / "name", logs=logs,
            environment=lease.environment({**self._environment, "HADOOP_CONF_DIR": str(conf_dir)}), limits=self._limits,
        )  # fmt: skip
        Startup(attempt, self._daemons, progress).run()
        return self._facts(layout, attempt)

    def _turns(self, layout: Layout) -> dict[str, str]:
        """Tasks draw directories at random: with few tasks a mixed medium's shares would land anywhere.

        Only the bundled Hadoop has the class that has them taken in turn (hadoop/src/.../OneDirectoryPerTask.java).
        """
        mixed = len(layout.local) > 1 and self._distribution.jars is not None
        return {"yarn.nodemanager.container-executor.class": IN_TURN} if mixed else {}

    def _facts(self, layout: Layout, attempt: Attempt) -> RunningCluster:
        hadoop = commands.write_hadoop_command(
            layout.neutral / "bin" / "hadoop", attempt.distribution, attempt.starts, attempt.conf_dir
        )
        settings = attempt.starts.settings(attempt.distribution)
        if self._spec.limit_memory_bytes is not None:  # what the limit makes of the memory for containers
            settings["yarn.nodemanager.resource.memory-mb"] = str(offered_mb(self._spec))
        several = "one per task, in turn" if self._turns(layout) else "drawn at random for each file"
        settings["local directories"] = "one" if len(layout.local) == 1 else several
        return RunningCluster(
            hadoop=hadoop, conf_dir=attempt.conf_dir, version=attempt.distribution.version,
            addresses={
                "namenode": attempt.url(attempt.ports.namenode_http),
                "historyserver": attempt.url(attempt.ports.historyserver_http),
            },
            nodes=(ClusterNode(attempt.node, tuple(one.facts for one in self._daemons), container_logs(layout)),),
            extras=attempt.distribution.extras,
            settings=settings,
        )  # fmt: skip

    def _end(self, lease: Lease) -> None:
        end_processes(lease.processes, grace_s=0.0)
        for daemon in self._daemons:
            daemon.reap()
        self._daemons = []


def _empty(layout: Layout) -> None:
    for directory in filter(Path.is_dir, layout.directories):
        for entry in directory.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


class EmbeddedPlatform(HadoopPlatform):
    """A fresh cluster of one node for the trial."""

    @cached_property
    def _cluster(self) -> EmbeddedCluster:
        trial = self._trial
        return EmbeddedCluster(
            self._distribution, trial.cluster, self._installation.state, self._user_environment, trial.store
        )

    def facts(self) -> Mapping[str, str]:
        """With what plug-ins know of this machine."""
        further = [facts(self._installation) for facts in FACTS.values()]
        return {**super().facts(), **{name: value for facts in further for name, value in facts.items()}}

    def _environment(self) -> Mapping[str, str]:
        """What a user exported for another Hadoop (HADOOP_USER_NAME, HADOOP_OPTS) has no place here."""
        return {name: value for name, value in self._user_environment.items() if not name.startswith("HADOOP_")}

    def _store(self, cluster: RunningCluster, layout: Layout) -> tuple[Store, Placer | None]:
        return STORES.find(self._trial.store).open_own(cluster, layout)

    def _scene(self, cluster: RunningCluster, layout: Layout) -> Scene:
        return build_scene(cluster, layout, self._media)


_OWN_KEYS = frozenset({"starts", "memory_mb", "vcores", "nodes", "network"})
PLATFORMS.add("embedded", PlatformKind(EmbeddedPlatform, ours=True, own_keys=_OWN_KEYS), place=1)
