"""The start of a stack's daemons on their nodes, until all are healthy."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import NamedTuple

from assay.host.http import fetch_json
from assay.model.errors import AssayError
from assay.model.layout import Layout
from assay.model.node import Node
from assay.model.progress import Progress
from assay.model.service import DaemonKind, NodeContext
from assay.platform import daemon as commands
from assay.platform.daemon import Daemon, last_words
from assay.platform.distribution import Distribution, Starts
from assay.platform.limits import Limits

_PATIENCE_S, _PATIENCE_OF_NODE_S = 120.0, 15.0
_POLL_S = 0.05
_ASK_S = 2.0
_AT_ONCE = 8
"""Daemons of workers that are started at once; more would only compete."""


NO_LIMITS = Limits(None, None, {})


class Host(NamedTuple):
    """A node of a cluster, as services see it, and which daemons it has; `limits` bounds each from its start."""

    node: Node
    context: NodeContext
    limits: Limits = NO_LIMITS
    is_master: bool = True
    is_worker: bool = True

    def runs(self, kind: DaemonKind) -> bool:
        """Whether it has such a daemon."""
        return self.is_worker if kind.on_workers else self.is_master

    @property
    def layout(self) -> Layout:
        """The node's directories."""
        return self.context.layout

    @property
    def conf_dir(self) -> Path:
        """The folder of the node's configuration."""
        return self.context.conf_dir

    def log(self, kind: DaemonKind) -> Path:
        """Return the log of the node's daemon of a kind."""
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

    def run(self, kinds: Sequence[DaemonKind]) -> None:
        """Start all and wait until they are healthy.

        Raises AssayError with the daemon's own log line when one dies or is not healthy in time, PortTakenError when
        it died because its port was taken.
        """
        self.progress.detail("starting daemons")
        early, late = [kind for kind in kinds if not kind.starts_after], [kind for kind in kinds if kind.starts_after]
        # They look for each other until they find them: first whom all look for.
        for kind in early:
            if not kind.on_workers:
                self._start(kind)
        of_workers = [(kind, host) for host in self.hosts if host.is_worker for kind in early if kind.on_workers]
        for kind, host in of_workers[:_AT_ONCE]:
            self._start_on(host, kind)
        up: list[DaemonKind] = []
        for kind in late:
            first = [other for other in kinds if other.role == kind.starts_after and other not in up]
            self._wait(first)
            up += first
            self._start(kind)
        self._later = of_workers[_AT_ONCE:]
        self._wait([kind for kind in kinds if kind not in up])
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
        command = commands.daemon_command(kind, self.distribution, self.starts, host.context)
        process = node.start(host.limits.entering(command), environment, host.log(kind))
        self.daemons.append(Daemon(kind, node, process, host.log(kind)))

    def _answers(self, kind: DaemonKind) -> bool:
        """What one page says of several daemons is of any of them: then only their signs tell."""
        hosts = [host for host in self.hosts if host.runs(kind)]
        url = self.urls().get(kind.status_from or kind.role)
        if url is None or not kind.page or len(hosts) != 1:
            return False
        return kind.ready(fetch_json(url + kind.page, connect=self.hosts[0].node.connect))

    def _wait(self, kinds: Iterable[DaemonKind]) -> None:
        """Wait for daemons by their log lines first: answering takes processor time, which starting daemons lack."""
        waiting = [(kind, host) for kind in kinds if kind.ready_text for host in self.hosts if host.runs(kind)]
        asked_s = time.monotonic()
        while True:
            for daemon in self.daemons:
                daemon.check()
            asks = time.monotonic() - asked_s > _ASK_S
            for kind, host in list(waiting):
                came_up = (kind, host) not in self._later and kind.ready_text in host.node.read(host.log(kind))
                if came_up or (asks and self._answers(kind)):
                    self.progress.detail(f"{kind.role} is up")
                    waiting.remove((kind, host))
            if self._later and sum(kind.on_workers for kind, _ in waiting) - len(self._later) < _AT_ONCE:
                kind, host = self._later.pop(0)
                self._start_on(host, kind)
            asked_s = time.monotonic() if asks else asked_s
            if not waiting and not self._later:
                return
            if time.monotonic() > self._deadline:
                reasons = "; ".join(
                    f"the {late.kind.name} is not healthy: {late.last_words()} (log: {late.log})"
                    for late in self.daemons
                    if late.log in [host.log(kind) for kind, host in waiting]
                )
                raise AssayError(f"the cluster was not healthy within {self._patience_s:.0f} s: {reasons}")
            time.sleep(_POLL_S)
