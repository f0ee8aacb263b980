"""Hadoop MapReduce on YARN: commands of the jobs jar, run as `hadoop jar` runs them."""

import json
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from assay.engine.history import HistoryServer
from assay.lease import end_processes
from assay.model.cluster import RunningCluster
from assay.model.engine import History, JobReference, Launch, LaunchReport
from assay.model.errors import AssayError
from assay.model.progress import Progress

POLL_S = 0.05
WATCH_S = 1.0
REPORT_SCHEMA = 1


class MapReduce:
    """Runs launches one after the other as client processes of their own.

    `failure` is asked while a job runs whether the cluster has lost a daemon: a job on a cluster without its only
    DataNode would otherwise retry for many minutes.
    """

    def __init__(
        self,
        cluster: RunningCluster,
        jobs_jar: Path,
        scratch: Path,
        environment: Mapping[str, str],
        failure: Callable[[], str | None],
        *,
        shared: bool = False,
    ) -> None:
        """`shared` says that the cluster outlives the trial: a job that is abandoned there has to be killed."""
        self._cluster = cluster
        self._jar = jobs_jar
        self._scratch = scratch
        self._environment = dict(environment)
        self._failure = failure
        self._shared = shared
        self._history = HistoryServer(cluster.history_url)
        self._launches = 0

    def run(self, launch: Launch, progress: Progress) -> LaunchReport:
        """Run a command of the jar to its end; its output is kept in the scratch directory while the trial lives."""
        self._launches += 1
        report = self._scratch / f"launch-{self._launches}.json"
        log = self._scratch / f"launch-{self._launches}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                self._command(launch, report),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self._environment,
                start_new_session=True,
            )
            try:
                self._wait(process, log, progress)
            finally:
                if process.poll() is None:
                    end_processes(lambda: [] if process.poll() is not None else [process.pid], grace_s=0)
                    self._abandon(report)
        return self._read_report(launch, process.returncode, report, log)

    def history(self, job: JobReference) -> History:
        """From the JobHistoryServer."""
        return self._history.read(job)

    def _abandon(self, report: Path) -> None:
        """On a cluster that goes on living, kill the job whose client was ended."""
        jobs = (_parse(report) or {}).get("jobs", []) if self._shared else []
        for job in jobs:
            if job.get("succeeded") is None:
                command = [str(self._cluster.hadoop), "job", "-kill", job["id"]]
                with suppress(subprocess.TimeoutExpired):
                    subprocess.run(command, env=self._environment, capture_output=True, check=False, timeout=60)

    def _command(self, launch: Launch, report: Path) -> list[str]:
        properties = [f"-D{name}={value}" for name, value in launch.properties.items()]
        command = [str(self._cluster.hadoop), "jar", str(self._jar), launch.command, *properties]
        return [*command, launch.input, launch.output, *launch.options, "--report", str(report)]

    def _wait(self, process: "subprocess.Popen[bytes]", log: Path, progress: Progress) -> None:
        news = _News(log)
        watched = time.monotonic()
        while process.poll() is None:
            time.sleep(POLL_S)
            for line in news.lines():
                progress.detail(line)
            if time.monotonic() - watched > WATCH_S:
                watched = time.monotonic()
                reason = self._failure()
                if reason is not None:
                    raise AssayError(reason)

    def _read_report(self, launch: Launch, code: int, report: Path, log: Path) -> LaunchReport:
        content = _parse(report)
        if code != 0 or content is None or not content.get("succeeded"):
            reason = (content or {}).get("error") or _last_words(log)
            dead = self._failure()
            raise AssayError(f"{launch.command} failed: {dead or reason}")
        if content.get("schema") != REPORT_SCHEMA:
            raise AssayError(f"{launch.command} left a report of schema {content.get('schema')}, not {REPORT_SCHEMA}")
        return LaunchReport(
            jobs=tuple(JobReference(name=job["name"], id=job["id"]) for job in content["jobs"]),
            result=content["result"],
            settings=content["settings"],
        )


class _News:
    """The lines with which the jobs' driver tells its progress, as they come."""

    PREFIX = "assay: "

    def __init__(self, log: Path) -> None:
        self._log = log
        self._read_bytes = 0

    def lines(self) -> list[str]:
        with self._log.open("rb") as file:
            file.seek(self._read_bytes)
            whole, _, _ = file.read().rpartition(b"\n")
        self._read_bytes += len(whole) + 1 if whole else 0
        lines = whole.decode(errors="replace").splitlines()
        return [line.removeprefix(self.PREFIX) for line in lines if line.startswith(self.PREFIX)]


def _parse(report: Path) -> dict[str, Any] | None:
    try:
        content = json.loads(report.read_text())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def _last_words(log: Path) -> str:
    """The most telling line at the end of a client's output: its last error, else its last line."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if "Exception" in line or "ERROR" in line or line.startswith("assay: ")]
    return (errors or lines or ["it printed nothing"])[-1][:500]
