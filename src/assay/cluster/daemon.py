"""One daemon: a process of its own, with its own log, that is healthy when its own web interface says so."""

import http.client
import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.cluster.logs import last_error, last_words
from assay.model.cluster import DaemonFacts
from assay.model.errors import AssayError

_NAMES = {
    "namenode": "NameNode", "datanode": "DataNode", "resourcemanager": "ResourceManager",
    "nodemanager": "NodeManager", "historyserver": "JobHistoryServer",
}  # fmt: skip


class PortTakenError(AssayError):
    """A daemon found its port in use: worth another try with other ports."""


class Daemon:
    """A started daemon."""

    def __init__(self, role: str, process: subprocess.Popen[bytes], log: Path) -> None:
        self.role = role
        self.log = log
        self._process = process

    @property
    def facts(self) -> DaemonFacts:
        """Role, process id and log."""
        return DaemonFacts(role=self.role, pid=self._process.pid, log=self.log)

    @property
    def name(self) -> str:
        """As Hadoop writes it (`NameNode`)."""
        return _NAMES.get(self.role, self.role)

    def failure(self) -> str | None:
        """None while it runs; else how it ended, with its own log line."""
        code = self._process.poll()
        if code is None:
            return None
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return f"the {self.name} {how}: {last_words(self.log)} (log: {self.log})"

    def check(self) -> None:
        """Raise AssayError when it has died; PortTakenError when that was because its port was taken."""
        failure = self.failure()
        if failure is not None:
            raise (PortTakenError if "Address already in use" in failure else AssayError)(failure)

    def doubt(self) -> str:
        """What to say when it lives but does not become healthy."""
        return f"the {self.name} is not healthy: {last_error(self.log) or last_words(self.log)} (log: {self.log})"

    def reap(self) -> None:
        """Collect the ended process, so that it is no zombie."""
        self._process.wait(timeout=30)


def start_daemon(role: str, command: Sequence[str], environment: Mapping[str, str], log: Path) -> Daemon:
    """Start it in a session of its own (Ctrl-C reaches Assay, which then ends it in order), output into `log`."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            command, env=dict(environment), cwd=log.parent, stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    return Daemon(role, process, log)


_LOGIN = (401, 403)
NAMENODE_PAGE = "/jmx?qry=Hadoop:service=NameNode,name=NameNodeInfo"
RESOURCEMANAGER_PAGE = "/ws/v1/cluster/metrics"
HISTORYSERVER_PAGE = "/ws/v1/history/info"
# Daemons are on this machine or in its cluster: never through a proxy that the environment names for the world outside.
_DIRECTLY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def fetch_json(url: str, timeout_s: float = 5.0) -> Any:
    """What a daemon's web interface answers; None while it does not answer with JSON."""
    request = urllib.request.Request(url, headers={"Accept": "application/json"})  # noqa: S310 - http only, built here
    try:
        with _DIRECTLY.open(request, timeout=timeout_s) as answer:
            return json.load(answer)
    except (OSError, http.client.HTTPException, ValueError):
        return None


def no_answer(url: str, timeout_s: float = 5.0) -> str:
    """Why an address gives nothing, in a few words; empty where it does answer something."""
    try:
        with _DIRECTLY.open(url, timeout=timeout_s):
            return ""
    except urllib.error.HTTPError as error:
        login = ", it asks for a login, and Assay has none (no Kerberos)" if error.code in _LOGIN else ""
        return f"HTTP status {error.code}{login}"
    except urllib.error.URLError as error:
        return str(error.reason)
    except (OSError, http.client.HTTPException) as error:
        return str(error) or type(error).__name__


def namenode_open(url: str) -> bool:
    """Out of safe mode: directories can be made, though there may be no DataNode yet (the NameNode's JMX servlet)."""
    return namenode_info(url).get("Safemode") == ""


def namenode_ready(url: str) -> bool:
    """Out of safe mode, with a live DataNode."""
    info = namenode_info(url)
    return info.get("Safemode") == "" and bool(info.get("LiveNodes", "{}") != "{}")


def namenode_info(url: str) -> dict[str, Any]:
    """What the NameNode says of itself (its JMX bean NameNodeInfo); nothing while it does not answer."""
    answer = fetch_json(url + NAMENODE_PAGE)
    beans = answer.get("beans") if isinstance(answer, dict) else None
    return beans[0] if beans else {}


def resourcemanager_ready(url: str) -> bool:
    """At least one NodeManager runs and offers memory (the ResourceManager's REST interface)."""
    answer = fetch_json(url + RESOURCEMANAGER_PAGE)
    metrics = answer.get("clusterMetrics", {}) if isinstance(answer, dict) else {}
    return int(metrics.get("activeNodes", 0)) >= 1 and int(metrics.get("totalMB", 0)) > 0


def historyserver_ready(url: str) -> bool:
    """Its REST interface answers."""
    answer = fetch_json(url + HISTORYSERVER_PAGE)
    return isinstance(answer, dict) and "historyInfo" in answer
