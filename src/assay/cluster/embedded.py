"""An embedded cluster: five daemons of a real Hadoop, each its own process, private to this machine."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from assay.cluster import commands
from assay.cluster.configuration import IN_TURN, Ports, embedded_properties, write_configuration
from assay.cluster.daemon import Daemon, PortTakenError
from assay.cluster.distribution import Distribution
from assay.cluster.limits import Limits, check_limits, limits_of
from assay.cluster.ports import LOOPBACK, free_ports
from assay.cluster.sizing import check_containers, offered_mb
from assay.cluster.starts import Starts, starts_of
from assay.cluster.startup import Plan, Startup, url
from assay.lease import Lease, uninterrupted
from assay.model.cluster import ClusterSpec, Layout, Node, RunningCluster
from assay.model.errors import AssayError
from assay.model.limits import LimitUse
from assay.model.progress import Progress
from assay.processes import end_processes

_ATTEMPTS = 3
NO_LIMITS = Limits(None, None, {})


class EmbeddedCluster:
    """A cluster of one node that Assay starts and stops."""

    def __init__(
        self, distribution: Distribution, spec: ClusterSpec, state: Path, environment: Mapping[str, str],
        starts: Starts | None = None,
    ) -> None:  # fmt: skip
        """`state` keeps the leases; `environment` is the user's, of which Hadoop's own variables are left out.

        `starts` replaces what `spec.starts` names (set-up uses that to find out which classes are loaded).
        """
        self._distribution = distribution
        self._spec = spec
        self._starts = starts or starts_of(spec.starts, distribution)
        self._state = state
        self._environment = commands.clean_environment(environment, distribution)
        self._daemons: list[Daemon] = []
        self._limits = NO_LIMITS
        self._use: LimitUse | None = None

    def check(self, properties: Mapping[str, str]) -> None:
        """See `model.cluster.Cluster.check`."""
        check_containers(self._spec, properties)
        check_limits(self._spec, self._state)

    @contextmanager
    def running(self, layout: Layout, properties: Mapping[str, str], progress: Progress) -> Iterator[RunningCluster]:
        """See `model.cluster.Cluster.running`. At the scope's end all is killed: the directories are thrown away."""
        with Lease(self._state, "cluster") as lease:
            try:
                yield self.start(layout, properties, progress, lease)
            finally:
                with uninterrupted():
                    self._use = self.limit_use()  # the groups, and what they know, go with the lease
                    self._end(lease)

    def failure(self) -> str | None:
        """See `model.cluster.Cluster.failure`."""
        # First, as it is the reason for what else is found dead.
        return self._limits.failure() or next(
            (failure for daemon in self._daemons if (failure := daemon.failure())), None
        )

    def limit_use(self) -> LimitUse | None:
        """See `model.cluster.Cluster.limit_use`."""
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
        ports = Ports(**dict(zip(Ports.model_fields, free_ports(len(Ports.model_fields)), strict=True)))
        conf_dir, logs = layout.neutral / "conf", layout.neutral / "logs"
        for directory in (conf_dir, logs, layout.neutral / "tmp"):
            directory.mkdir(parents=True)
        classpath = ",".join(self._distribution.classpath)
        starts = self._starts.beside(properties)
        spec = self._spec.model_copy(update={"memory_mb": offered_mb(self._spec)})
        ours = {**embedded_properties(spec, layout, ports, classpath, conf_dir), **self._turns(layout)}
        write_configuration(conf_dir, {**ours, **starts.properties, **properties})
        plan = Plan(
            distribution=self._distribution, starts=starts, ports=ports, conf_dir=conf_dir,
            name_dir=layout.neutral / "name", logs=logs,
            environment=lease.environment({**self._environment, "HADOOP_CONF_DIR": str(conf_dir)}), limits=self._limits,
        )  # fmt: skip
        Startup(plan, self._daemons, progress).run()
        return self._facts(layout, plan)

    def _turns(self, layout: Layout) -> dict[str, str]:
        """Tasks draw directories at random: with few tasks a mixed medium's shares would land anywhere.

        Only the bundled Hadoop has the class that has them taken in turn (hadoop/src/.../OneDirectoryPerTask.java).
        """
        mixed = len(layout.local) > 1 and self._distribution.jars is not None
        return {"yarn.nodemanager.container-executor.class": IN_TURN} if mixed else {}

    def _facts(self, layout: Layout, plan: Plan) -> RunningCluster:
        hadoop = commands.write_hadoop_command(
            layout.neutral / "bin" / "hadoop", plan.distribution, plan.starts, plan.conf_dir
        )
        return RunningCluster(
            hadoop=hadoop, conf_dir=plan.conf_dir, hadoop_version=plan.distribution.version,
            namenode_url=url(plan.ports.namenode_http), history_url=url(plan.ports.historyserver_http),
            nodes=(Node(name=LOOPBACK, daemons=tuple(daemon.facts for daemon in self._daemons)),),
            extras=plan.distribution.extras,
            settings={
                **plan.starts.settings(plan.distribution), **self._sizes(),
                "local directories": _local_directories(layout, self._turns(layout)),
            },
        )  # fmt: skip

    def _sizes(self) -> dict[str, str]:
        """What a limit makes of the memory for containers, where there is one."""
        bounded = self._spec.limit_memory_bytes is not None
        return {"yarn.nodemanager.resource.memory-mb": str(offered_mb(self._spec))} if bounded else {}

    def _end(self, lease: Lease) -> None:
        end_processes(lease.processes, grace_s=0.0)
        for daemon in self._daemons:
            daemon.reap()
        self._daemons = []


def _local_directories(layout: Layout, turns: Mapping[str, str]) -> str:
    """How tasks come by their local directories, for the record."""
    if len(layout.local) == 1:
        return "one"
    return "one per task, in turn" if turns else "drawn at random for each file"


def _empty(layout: Layout) -> None:
    for directory in filter(Path.is_dir, layout.directories):
        for entry in directory.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
