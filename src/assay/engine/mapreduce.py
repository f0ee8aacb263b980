"""Hadoop MapReduce on YARN: commands of the jobs jar, run as `hadoop jar` runs them, and programs of other jars."""

import json
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from assay.engine.client import last_lines, last_words, run_client
from assay.engine.container_logs import read_phases
from assay.engine.history import HistoryServer
from assay.engine.program import Told, environment_of, find_jar, program_command, texts_in
from assay.model.cluster import RunningCluster
from assay.model.engine import History, JobReference, Launch, LaunchReport, Program
from assay.model.errors import AssayError
from assay.model.progress import Progress
from assay.model.record import TaskAttempt
from assay.model.task import TaskHistory

REPORT_SCHEMA = 1
_NEWS = "assay: "


class MapReduce:
    """Runs launches one after the other as client processes of their own.

    `failure` is asked while a job runs whether the cluster has lost a daemon.
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
        name = self._next_name()
        report, log = self._scratch / f"{name}.json", self._scratch / f"{name}.log"

        def tell(line: str) -> None:
            if line.startswith(_NEWS):
                progress.detail(line.removeprefix(_NEWS))

        try:
            code = run_client(self._command(launch, report), self._environment, log, self._failure, tell)
        except BaseException:
            jobs = (_parse(report) or {}).get("jobs", [])
            self._abandon(job["id"] for job in jobs if job.get("succeeded") is None)
            raise
        return self._read_report(launch, code, report, log)

    def run_program(self, program: Program, progress: Progress) -> LaunchReport:
        """Run a program of another jar to its end; its jobs are those that its client names."""
        name = self._next_name()
        files, log, told = self._scratch / f"{name}-files", self._scratch / f"{name}.log", Told(program)
        files.mkdir()
        jar = find_jar(program, self._cluster.extras)
        command = program_command(program, self._cluster.hadoop, jar, files)
        environment = environment_of(program, jar, self._environment)
        try:
            code = run_client(
                command, environment, log, self._failure, lambda line: told.hear(line, progress), program.folder
            )
        except BaseException:
            told.hear_all(log)
            self._abandon(told.ids[-1:])
            raise
        told.hear_all(log)
        if code != 0:
            raise AssayError(f"{program.name} failed: {self._failure() or self._reason(program, code, log, told)}")
        jobs = told.jobs()
        settings = self._history.settings(jobs[-1]) if jobs else {}
        return LaunchReport(jobs=jobs, result={}, settings={**settings, **program.properties}, texts=texts_in(files))

    def history(self, job: JobReference) -> History:
        """From the JobHistoryServer."""
        return self._history.read(job)

    def phases(self, attempts: Sequence[TaskAttempt]) -> TaskHistory:
        """By the containers' logs, which are out of reach on a shared cluster."""
        logs = None if self._shared else self._cluster.conf_dir.parent / "logs" / "containers"
        return read_phases(logs, attempts)

    def _reason(self, program: Program, code: int, log: Path, told: Told) -> str:
        """The most telling line; of a program that is to tell more, its own last lines.

        Its client prints the errors of tasks only where they are tried again: the last one is then asked of history.
        """
        if program.last_lines == 1:
            return last_words(log)
        said = log.read_text(errors="replace").splitlines()
        if told.ids and not any(line.startswith("Error: ") for line in said):
            with suppress(AssayError):
                said += self._history.failure(told.ids[-1])
        lines = last_lines(said, program.last_lines)
        return "\n  ".join([f"exit code {code}; {'its last lines:' if lines else 'it printed nothing'}", *lines])

    def _next_name(self) -> str:
        self._launches += 1
        return f"launch-{self._launches}"

    def _abandon(self, jobs: Iterable[str]) -> None:
        """On a cluster that goes on living, kill the jobs whose client was ended."""
        for job in jobs if self._shared else ():
            command = [str(self._cluster.hadoop), "job", "-kill", job]
            with suppress(subprocess.TimeoutExpired):
                subprocess.run(command, env=self._environment, capture_output=True, check=False, timeout=60)

    def _command(self, launch: Launch, report: Path) -> list[str]:
        properties = [f"-D{name}={value}" for name, value in launch.properties.items()]
        command = [str(self._cluster.hadoop), "jar", str(self._jar), launch.command, *properties]
        return [*command, launch.input, launch.output, *launch.options, "--report", str(report)]

    def _read_report(self, launch: Launch, code: int, report: Path, log: Path) -> LaunchReport:
        content = _parse(report)
        if code != 0 or content is None or not content.get("succeeded"):
            reason = (content or {}).get("error") or last_words(log)
            dead = self._failure()
            raise AssayError(f"{launch.command} failed: {dead or reason}")
        if content.get("schema") != REPORT_SCHEMA:
            raise AssayError(f"{launch.command} left a report of schema {content.get('schema')}, not {REPORT_SCHEMA}")
        return LaunchReport(
            jobs=tuple(JobReference(name=job["name"], id=job["id"]) for job in content["jobs"]),
            result=content["result"],
            settings=content["settings"],
        )


def _parse(report: Path) -> dict[str, Any] | None:
    try:
        content = json.loads(report.read_text())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None
