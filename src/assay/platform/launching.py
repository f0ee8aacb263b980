"""The service by which an engine has processes started on the nodes of a cluster of Assay's own, within their bounds.

It is a daemon on each worker (`assay.platform.launcher`), so that bounds, probes, faults and the end of the cluster
reach what it starts as they reach containers.
"""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from assay.host.processes import start_time
from assay.model.errors import AssayError
from assay.model.probe import CONTAINERS
from assay.model.registry import SERVICES
from assay.model.running_cluster import LAUNCHER, Launched
from assay.model.service import Costs, DaemonKind, NodeContext, Service
from assay.platform import launcher as program
from assay.platform.startup import Host

_POLL_S = 0.01
_PATIENCE_S = 30.0


def _folder(neutral: Path) -> Path:
    return neutral / LAUNCHER


def _command(node: NodeContext) -> Sequence[str]:
    return [sys.executable, program.__file__, str(_folder(node.layout.neutral))]


DAEMON = DaemonKind(
    LAUNCHER, program=_command, memory_mb=16, on_workers=True, ready_text=program.SIGN, children=CONTAINERS,
)  # fmt: skip
# As measured: an interpreter that waits.
SERVICE = Service(LAUNCHER, daemons=(DAEMON,), costs=Costs(cluster_mb=10, worker_mb=10, cluster_s=0.1))
SERVICES.add(SERVICE.name, SERVICE, place=5)


class LaunchedProcess:
    """See `model.running_cluster.Launched`; what the launcher says of it is in files.

    Where its launcher was killed nobody learns its exit code: it counts as killed once it is gone too.
    """

    def __init__(self, pid: int, log: Path, ended: Path) -> None:
        self.pid = pid
        self.log = log
        self._ended = ended

    def poll(self) -> int | None:
        # Looked for before the file: a launcher that ended in between left it.
        is_lost = start_time(self.pid) is None and not self._has_launcher()
        if self._ended.exists():
            return int(self._ended.read_text(encoding="utf-8"))
        return -signal.SIGKILL if is_lost else None

    def _has_launcher(self) -> bool:
        """Whether the launcher still reads its pipe."""
        with suppress(OSError), opened_for_writing(self._ended.parent / program.REQUESTS):
            return True
        return False

    def wait(self, timeout: float | None = None) -> int:
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
            time.sleep(_POLL_S)
        return code


def opened_for_writing(pipe: Path) -> BinaryIO:
    """A named pipe that somebody reads. Raises OSError where nobody does, instead of waiting for a reader."""
    descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    os.set_blocking(descriptor, True)
    return os.fdopen(descriptor, "wb")


class Launchers:
    """The launchers of a cluster's workers, whose log folders and pipes are on this machine."""

    def __init__(self, hosts: Sequence[Host]) -> None:
        self._neutral = {host.node.name: host.layout.neutral for host in hosts if host.runs(DAEMON)}
        self._numbers = itertools.count(1)
        self._one_at_a_time = Lock()

    def launch(self, node: str, command: Sequence[str], environment: Mapping[str, str]) -> Launched:
        """See `model.running_cluster.StartOnNode`."""
        if node not in self._neutral:
            raise AssayError(f"no process can be started on {node}: the workers are {', '.join(self._neutral)}")
        neutral, number = self._neutral[node], next(self._numbers)
        folder, log = _folder(neutral), neutral / "logs" / f"launched-{number}.log"
        request = {"number": number, "command": list(command), "environment": dict(environment), "log": str(log)}
        try:
            with self._one_at_a_time, opened_for_writing(folder / program.REQUESTS) as requests:
                requests.write(json.dumps(request).encode() + b"\n")
        except OSError as error:
            raise AssayError(f"the launcher of {node} has ended: {error.strerror or error}") from error
        started, refused, ended = (
            folder / f"{number}.{suffix}" for suffix in (program.STARTED, program.REFUSED, program.ENDED)
        )
        deadline = time.monotonic() + _PATIENCE_S
        while not started.exists():
            if refused.exists():
                raise AssayError(f"{command[0]} can't be started on {node}: {refused.read_text(encoding='utf-8')}")
            if time.monotonic() > deadline:
                raise AssayError(f"the launcher of {node} has not started {command[0]} within {_PATIENCE_S:.0f} s")
            time.sleep(_POLL_S)
        return LaunchedProcess(int(started.read_text(encoding="utf-8")), log, ended)
