"""An embedded cluster: five daemons of a real Hadoop, each its own process, private to this machine's loopback interface."""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from assay.cluster import commands
from assay.cluster.configuration import CAPACITY_SCHEDULER, Ports, embedded_properties, write_configuration
from assay.cluster.daemon import (
    Daemon,
    PortTakenError,
    historyserver_ready,
    namenode_ready,
    resourcemanager_ready,
    start_daemon,
)
from assay.cluster.distribution import Distribution
from assay.cluster.formatting import format_namenode
from assay.cluster.ports import LOOPBACK, free_ports
from assay.cluster.starts import starts_of
from assay.lease import Lease, end_processes, uninterrupted
from assay.model.base import AssayError
from assay.model.cluster import ClusterSpec, Layout, Node, RunningCluster
from assay.model.progress import Progress

_ATTEMPTS = 3
_PATIENCE_S = 120.0
_POLL_S = 0.1
# Of those that start at once: the NameNode is waited for longest, and everybody waits for it.
_OTHERS = ("resourcemanager", "nodemanager", "datanode", "historyserver")


class EmbeddedCluster:
    """A cluster of one node that Assay starts and stops."""

    def __init__(
        self, distribution: Distribution, spec: ClusterSpec, state: Path, environment: Mapping[str, str]
    ) -> None:
        """`state` keeps the leases; `environment` is the user's, of which Hadoop's own variables are left out."""
        self._distribution = distribution
        self._spec = spec
        self._starts = starts_of(spec.starts, distribution)
        self._state = state
        self._environment = commands.clean_environment(environment, distribution)
        self._daemons: list[Daemon] = []

    @contextmanager
    def running(self, layout: Layout, properties: Mapping[str, str], progress: Progress) -> Iterator[RunningCluster]:
        """See `model.cluster.Cluster.running`. At the scope's end all is killed: the directories are thrown away."""
        with Lease(self._state, "cluster") as lease:
            try:
                yield self.start(layout, properties, progress, lease)
            finally:
                with uninterrupted():
                    self._end(lease)

    def failure(self) -> str | None:
        """See `model.cluster.Cluster.failure`."""
        return next((failure for daemon in self._daemons if (failure := daemon.failure())), None)

    def start(self, layout: Layout, properties: Mapping[str, str], progress: Progress, lease: Lease) -> RunningCluster:
        """Start under a lease of the caller's, who releases it; healthy on return.

        Raises AssayError, with the daemon's own log line, when one dies or is not healthy in time. A port that was
        taken between its choice and its use is no error: the start is tried again with other ports.
        """
        for left in reversed(range(_ATTEMPTS)):
            try:
                return self._start_once(layout, properties, progress, lease)
            except PortTakenError:
                self._end(lease)
                _empty(layout)
                if not left:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _start_once(
        self, layout: Layout, properties: Mapping[str, str], progress: Progress, lease: Lease
    ) -> RunningCluster:
        ports = Ports(**dict(zip(Ports.model_fields, free_ports(len(Ports.model_fields)), strict=True)))
        conf_dir, logs = layout.neutral / "conf", layout.neutral / "logs"
        for directory in (conf_dir, logs, layout.neutral / "tmp"):
            directory.mkdir(parents=True)
        ours = embedded_properties(self._spec, layout, ports, self._container_classpath(), conf_dir)
        merged = {**ours, **self._starts.properties, **properties}
        scheduler = {name: value for name, value in merged.items() if name.startswith("yarn.scheduler.capacity.")}
        write_configuration(conf_dir, merged, {**CAPACITY_SCHEDULER, **scheduler})
        environment = lease.environment({**self._environment, "HADOOP_CONF_DIR": str(conf_dir)})

        def start(role: str) -> None:
            command = commands.daemon_command(role, self._distribution, self._starts, conf_dir)
            self._daemons.append(start_daemon(role, command, environment, logs / f"{role}.log"))

        self._daemons = []
        progress.detail("starting daemons")
        for role in _OTHERS:
            start(role)
        format_namenode(
            self._distribution, self._starts, conf_dir, layout.neutral / "name", environment, logs / "format.log"
        )
        start("namenode")
        self._wait_until_healthy(ports, progress)
        return self._facts(layout, conf_dir, ports)

    def _container_classpath(self) -> str:
        return ",".join(self._distribution.classpath)

    def _wait_until_healthy(self, ports: Ports, progress: Progress) -> None:
        waiting: dict[str, Callable[[], bool]] = {
            "namenode": lambda: namenode_ready(_url(ports.namenode_http)),
            "resourcemanager": lambda: resourcemanager_ready(_url(ports.resourcemanager_http)),
            "historyserver": lambda: historyserver_ready(_url(ports.historyserver_http)),
        }
        deadline = time.monotonic() + _PATIENCE_S
        while waiting:
            for daemon in self._daemons:
                daemon.check()
            for role in [role for role, ready in waiting.items() if ready()]:
                progress.detail(f"{role} is healthy")
                del waiting[role]
            if waiting and time.monotonic() > deadline:
                doubts = "; ".join(daemon.doubt() for daemon in self._daemons if daemon.role in waiting)
                raise AssayError(f"the cluster was not healthy within {_PATIENCE_S:.0f} s: {doubts}")
            time.sleep(_POLL_S)

    def _facts(self, layout: Layout, conf_dir: Path, ports: Ports) -> RunningCluster:
        hadoop = commands.write_hadoop_command(
            layout.neutral / "bin" / "hadoop", self._distribution, self._starts, conf_dir
        )
        node = Node(name=LOOPBACK, daemons=tuple(daemon.facts for daemon in self._daemons))
        return RunningCluster(
            hadoop=hadoop, conf_dir=conf_dir, namenode_url=_url(ports.namenode_http),
            history_url=_url(ports.historyserver_http), hadoop_version=self._distribution.version, nodes=(node,),
            settings=self._starts.settings(self._distribution),
        )  # fmt: skip

    def _end(self, lease: Lease) -> None:
        end_processes(lease.processes, grace_s=0.0)
        for daemon in self._daemons:
            daemon.reap()
        self._daemons = []


def _url(port: int) -> str:
    return f"http://{LOOPBACK}:{port}"


def _empty(layout: Layout) -> None:
    for directory in (layout.neutral, *layout.data, *layout.local):
        for entry in directory.iterdir():
            shutil.rmtree(entry)
