"""One attempt at starting an embedded cluster's daemons: in parallel where they can be, healthy at the end."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Thread
from typing import NamedTuple

from assay.cluster import commands
from assay.cluster.configuration import Ports
from assay.cluster.daemon import (
    Daemon,
    historyserver_ready,
    namenode_open,
    namenode_ready,
    resourcemanager_ready,
    start_daemon,
)
from assay.cluster.distribution import Distribution
from assay.cluster.formatting import format_namenode
from assay.cluster.limits import Limits
from assay.cluster.ports import LOOPBACK
from assay.cluster.starts import Starts
from assay.model.errors import AssayError
from assay.model.progress import Progress

_PATIENCE_S = 120.0
_POLL_S = 0.05
_ASK_S = 2.0


class Plan(NamedTuple):
    """What an attempt starts with. `environment` carries the lease's mark; `logs` and `conf_dir` exist.

    `limits` bounds every process from its start.
    """

    distribution: Distribution
    starts: Starts
    ports: Ports
    conf_dir: Path
    name_dir: Path
    logs: Path
    environment: Mapping[str, str]
    limits: Limits


class _Awaited(NamedTuple):
    """Something to wait for: a line in a role's log that has `sign`, or `ready`, which asks a daemon over HTTP.

    The sign costs nothing; to answer takes a starting daemon's processor time, of which all of them have too little.
    """

    role: str
    sign: str
    ready: Callable[[], bool]


class Startup:
    """Starts daemons into the list it is given, so that whoever ends them knows of each from its first moment."""

    def __init__(self, plan: Plan, daemons: list[Daemon], progress: Progress) -> None:
        self._plan = plan
        self._daemons = daemons
        self._progress = progress
        self._deadline = time.monotonic() + _PATIENCE_S

    def run(self) -> None:
        """Start all five and wait until they are healthy.

        Raises AssayError with the daemon's own log line when one dies or is not healthy in time, PortTakenError when
        it died because its port was taken.
        """
        plan, ports = self._plan, self._plan.ports
        self._progress.detail("starting daemons")
        # These look for the ResourceManager and the NameNode until they find them.
        for role in ("resourcemanager", "nodemanager", "datanode"):
            self._start(role)
        format_namenode(
            plan.distribution, plan.starts, plan.conf_dir, plan.name_dir, plan.environment, plan.logs / "format.log",
            plan.limits,
        )  # fmt: skip
        self._start("namenode")
        namenode, historyserver = url(ports.namenode_http), url(ports.historyserver_http)
        # Started earlier the JobHistoryServer would find the NameNode in safe mode and then sleep for 10 s.
        self._wait({"namenode": _Awaited("namenode", "Leaving safe mode", lambda: namenode_open(namenode))})
        self._start("historyserver")
        self._wait({
            "namenode": _Awaited("datanode", "Successfully sent block report", lambda: namenode_ready(namenode)),
            # The scheduler's own words, with the memory that it has now.
            "resourcemanager": _Awaited(
                "resourcemanager", "clusterResource: <memory:",
                lambda: resourcemanager_ready(url(ports.resourcemanager_http)),
            ),
            "historyserver": _Awaited(
                "historyserver", "Started ServerConnector", lambda: historyserver_ready(historyserver)
            ),
        })  # fmt: skip
        # Its first answer takes it half a second: better while data are staged than when a job has ended.
        Thread(target=historyserver_ready, args=(historyserver,), daemon=True).start()

    def _start(self, role: str) -> None:
        plan = self._plan
        command = commands.daemon_command(role, plan.distribution, plan.starts, plan.conf_dir)
        inside = plan.limits.entering(command)
        self._daemons.append(start_daemon(role, inside, plan.environment, plan.logs / f"{role}.log"))

    def _wait(self, awaited: Mapping[str, _Awaited]) -> None:
        waiting = dict(awaited)
        asked = time.monotonic()
        while True:
            for daemon in self._daemons:
                daemon.check()
            asks = time.monotonic() - asked > _ASK_S
            for role in [role for role, one in waiting.items() if self._shows(one) or (asks and one.ready())]:
                self._progress.detail(f"{role} is up")
                del waiting[role]
            asked = time.monotonic() if asks else asked
            if not waiting:
                return
            if time.monotonic() > self._deadline:
                # The ResourceManager waits for its NodeManager, the NameNode for its DataNode: show what these say too.
                doubts = "; ".join(daemon.doubt() for daemon in self._daemons if daemon.role in _concerned(waiting))
                raise AssayError(f"the cluster was not healthy within {_PATIENCE_S:.0f} s: {doubts}")
            time.sleep(_POLL_S)

    def _shows(self, awaited: _Awaited) -> bool:
        log = self._plan.logs / f"{awaited.role}.log"
        return awaited.sign in log.read_text(errors="replace")


def _concerned(waiting: Mapping[str, object]) -> set[str]:
    workers = {"namenode": "datanode", "resourcemanager": "nodemanager"}
    return set(waiting) | {workers[role] for role in waiting if role in workers}


def url(port: int) -> str:
    """The http address of a daemon on the loopback interface."""
    return f"http://{LOOPBACK}:{port}"
