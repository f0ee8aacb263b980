"""Hadoop MapReduce on YARN: commands of the jobs jar, run as `hadoop jar` runs them, and programs of other jars.

Hadoop's clients say `Submitted application application_N_M` when a job is accepted (YarnClientImpl) and
`Running job: job_N_M` when it is watched (Job.monitorAndPrintJob), at the level INFO.
"""

import itertools
import json
import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from assay.engine.history import HistoryServer
from assay.engine.history_files import HISTORY_FILE_UNREAD, HistoryFiles
from assay.engine.task_logs import read_phases
from assay.engine.tasks import (
    CAUSES,
    CONFIGURATION_BYTES,
    COUNTERS,
    FIGURES,
    FIGURES_NOTE,
    PATH,
    PATH_NOTE,
    STAGES,
    MapReduceAttempt,
    MapReducePhases,
)
from assay.host.processes import end_processes, last_telling
from assay.model.engine import (
    HADOOP_JOBS,
    LINES_OUTPUT,
    EngineContext,
    EngineKind,
    History,
    JobReference,
    Launch,
    LaunchReport,
    Program,
    located,
    unheard,
)
from assay.model.errors import AssayError, BadInputError
from assay.model.fault import StageProgress
from assay.model.progress import Progress
from assay.model.registry import ENGINES
from assay.model.running_cluster import with_classpath
from assay.model.store import FILES, TABLES
from assay.model.task import TaskAttempt, TaskHistory

POLL_S = 0.05
WATCH_S = 1.0
MOST_CHARACTERS = 300
# What Hadoop logs of a client that does well: all of INFO and DEBUG, and two warnings that nearly every client gets.
_LOGGED = re.compile(
    r"\d{2,4}[-/]\d\d[-/]\d\d \d\d:\d\d:\d\d(,\d+)? "
    r"(INFO\b|DEBUG\b|WARN (util\.NativeCodeLoader|mapreduce\.JobResourceUploader):)"
)
# Frames of the JDK and of Hadoop; those of the program's own classes say where it failed.
_FRAME = re.compile(r"\s+(at (java|javax|jdk|sun|org\.apache\.hadoop)\.|at [\w.]+/|\.\.\. \d+ more)")


def run_client(
    command: Sequence[str],
    environment: Mapping[str, str],
    log: Path,
    failure: Callable[[], str | None],
    tell: Callable[[str], None],
    folder: Path | None = None,
) -> int:
    """Run a client to its end in `folder`; its output goes to `log`, and line by line to `tell`. Returns its exit code.

    `failure` is asked each second whether the cluster has lost a daemon: a job on a cluster without its only DataNode
    would otherwise retry for many minutes. Raises AssayError with that reason. The client has ended in any case.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=dict(environment),
            start_new_session=True, cwd=folder,
        )  # fmt: skip
        try:
            watched, read_bytes = time.monotonic(), 0
            while process.poll() is None:
                time.sleep(POLL_S)
                with log.open("rb") as file:
                    file.seek(read_bytes)
                    whole, end, _ = file.read().rpartition(b"\n")
                read_bytes += len(whole + end)
                for line in whole.decode(errors="replace").splitlines():
                    tell(line)
                if time.monotonic() - watched > WATCH_S:
                    watched = time.monotonic()
                    reason = failure()
                    if reason is not None:
                        raise AssayError(reason)
        finally:
            if process.poll() is None:
                end_processes(lambda: [] if process.poll() is not None else [process.pid], grace_s=0)
    return process.returncode


def last_words(log: Path) -> str:
    """Return the most telling line of a client's output, such as a task's error; its last line where none is."""
    return _most_telling(log.read_text(errors="replace", encoding="utf-8"))


def _most_telling(said: str) -> str:
    """The last error of a task, else what a container that did not start complained of, else an exception."""
    complaints = [line.strip() for block in _OF_CONTAINER.findall(said) for line in block.splitlines() if _tells(line)]
    signs = (_is_of_task, lambda line: line in complaints[:1], _is_error)
    return last_telling(said, *signs, silent="it printed nothing")[:500]


_OF_CONTAINER = re.compile(r"^Last \d+ bytes of stderr ?:\n((?:.+\n?)+)", re.MULTILINE)
"""What the NodeManager passes on of a container that did not start, up to an empty line."""
_JAVA_ENDS = ("Error: Could not create the Java Virtual Machine", "Error: A fatal exception has occurred")


def _tells(line: str) -> bool:
    return "warn" not in line.lower() and not line.startswith(_JAVA_ENDS)


def _is_of_task(line: str) -> bool:
    return line.startswith("Error: ") and not line.startswith(_JAVA_ENDS)


def _is_error(line: str) -> bool:
    return "Exception" in line or "ERROR" in line or line.startswith("assay: ")


def last_lines(said: Iterable[str], count: int) -> list[str]:
    """Return the last lines of a program's output, each once, without Hadoop's log lines and stack frames.

    A log line begins with the time, and may go on in indented lines (a job's counters).
    """
    last_said: dict[str, None] = {}
    logged = False
    for line in said:
        starts = _LOGGED.match(line) is not None
        logged = starts or (logged and line[:1] in {"\t", " "})
        if logged or not line.strip() or _FRAME.match(line):
            continue
        # The attempts of a task fail alike: what is said again counts where it is said last.
        last_said.pop(line.rstrip(), None)
        last_said[line.rstrip()] = None
    return [line[:MOST_CHARACTERS] for line in last_said][-count:]


def last_said(code: int, said: Iterable[str], count: int) -> str:
    """Return a program's exit code and the last lines of its output, as the reason why it failed."""
    lines = last_lines(said, count)
    return "\n  ".join([f"exit code {code}; {'its last lines:' if lines else 'it printed nothing'}", *lines])


def job_called(program: Program, at: int) -> str:
    """Return the name of a program's job at this place, from 0 on: as the program says, else by its number."""
    return program.jobs[at] if at < len(program.jobs) else f"{program.name} {at + 1}"


SCRATCH = "{scratch}"
_TEXT_BYTES = 1 << 20
_JOB = re.compile(r"(?:Running job: job|Submitted application application)_(\d+_\d+)")
_DONE = re.compile(r"\bmap (?P<map>\d+)% reduce (?P<reduce>\d+)%")
# The words of org.assay.jobs.driver.JobSequence: the job's number among how many, its name, and tens of percent.
_JOB_DONE = re.compile(r"assay: job \S+ (?P<job>.+) map (?P<map>\d+) % reduce (?P<reduce>\d+) %")
_LOCAL = re.compile(r"Running job: job_local")


SAME_NAMES: Mapping[str, str] = {stage.name: stage.name for stage in STAGES}
"""MapReduce itself calls its stages as its client does."""


class ClientOutput:
    """The jobs and the progress that a program's client has printed so far."""

    def __init__(
        self, program: Program, progressed: Callable[[StageProgress], None] = unheard,
        stages: Mapping[str, str] = SAME_NAMES,
    ) -> None:  # fmt: skip
        """`stages` are the engine's names of the stages that Hadoop's client calls map and reduce."""
        self._program = program
        self._stages = stages
        self._progressed = progressed
        self._local = False
        self.ids: list[str] = []

    def read_line(self, line: str, progress: Progress) -> None:
        """Read a line of the output, and pass on jobs and progress that it tells of."""
        before = len(self.ids)
        self._keep(line)
        done = _DONE.search(line)
        if len(self.ids) > before:
            progress.detail(f"{self._program.name}: job {len(self.ids)}")
        elif done:
            progress.detail(f"{self._program.name}: map {done['map']} %, reduce {done['reduce']} %")
            self._progressed(_stage_progress(job_called(self._program, max(0, before - 1)), done, self._stages))

    def read_log(self, log: Path) -> None:
        """Read its whole output, the last lines too."""
        for line in log.read_text(errors="replace", encoding="utf-8").splitlines():
            self._keep(line)

    def jobs(self) -> tuple[JobReference, ...]:
        """List its jobs in their order. Raises AssayError where it ran none on the cluster."""
        if not self.ids:
            why = "it ran on this machine alone" if self._local else "its client named none; it must log at level INFO"
            raise AssayError(f"{self._program.name} ended well, but no job of it is known on the cluster: {why}")
        return tuple(JobReference(name=job_called(self._program, at), id=job_id) for at, job_id in enumerate(self.ids))

    def _keep(self, line: str) -> None:
        match = _JOB.search(line)
        self._local = self._local or _LOCAL.search(line) is not None
        if match and f"job_{match[1]}" not in self.ids:
            self.ids.append(f"job_{match[1]}")


def _stage_progress(job: str, match: re.Match[str], stages: Mapping[str, str]) -> StageProgress:
    return StageProgress(job, {stage: int(match[name]) for name, stage in stages.items()})


def find_jar(program: Program, extras: Path | None) -> Path:
    """Find the program's jar by its path, or by its pattern among Hadoop's further jars.

    Raises BadInputError when it is not there.
    """
    if Path(program.jar).is_absolute():
        if not Path(program.jar).is_file():
            raise BadInputError(f"{program.name} needs {program.jar}, and it is not there")
        return Path(program.jar)
    jars = sorted(extras.glob(program.jar)) if extras is not None else []
    if not jars:
        raise BadInputError(f"{program.name} needs {program.jar}, and it is not in {extras}; run setup/prepare again")
    return jars[-1]


_OUTPUT_FORMAT = "mapreduce.job.outputformat.class"
_TEXT_FORMAT = "org.apache.hadoop.mapreduce.lib.output.TextOutputFormat"
REPORT_SCHEMA = 1
_NEWS = "assay: "


class MapReduce:
    """Runs launches as client processes of their own, at once where several threads ask for it.

    `failure` is asked while a job runs whether the cluster has lost a daemon.
    """

    stages: Mapping[str, str] = SAME_NAMES
    """The engine's names of the stages that Hadoop's client calls map and reduce."""

    def __init__(self, context: EngineContext) -> None:
        self._cluster, self._jar, self._scratch = context.cluster, context.jobs_jar, context.scratch
        self._store, self._cluster_failure = context.store, context.failure
        self._environment = with_classpath(self._cluster.environment, list(map(str, self._cluster.job_jars)))
        # As by Hadoop's `-libjars`, which uploads no file of the cluster's own. Names after # keep it from taking all
        # jars from its upload folder by a wildcard (JobResourceUploader).
        stored = ",".join(f"{path}#{Path(path).name}" for path in self._cluster.stored_jars)
        self._sends: Mapping[str, str] = {**context.properties, **({"tmpjars": stored} if stored else {})}
        self._progressed = context.progressed
        self._history = HistoryServer(
            self._cluster.addresses["historyserver"], connect=self._cluster.connect, ca_file=self._cluster.ca_file,
            slower=self._cluster.slower, authorize=self._cluster.authorize,
        )  # fmt: skip
        self._files: HistoryFiles | None = None
        if self._cluster.history is not None:
            self._files = HistoryFiles(self._cluster.history, self._cluster.hadoop, self._environment)
        self._launches = itertools.count(1)
        self._ended = threading.Event()

    def run(self, launch: Launch, progress: Progress) -> LaunchReport:
        """Run a command of the jar to its end; its output is kept in the scratch directory while the trial lives."""
        name = self._next_name()
        report, log = self._scratch / f"{name}.json", self._scratch / f"{name}.log"

        def tell(line: str) -> None:
            if line.startswith(_NEWS):
                progress.detail(line.removeprefix(_NEWS))
                if match := _JOB_DONE.match(line):
                    self._progressed(_stage_progress(match["job"], match, self.stages))

        properties = [f"-D{name}={value}" for name, value in {**self._sends, **launch.properties}.items()]
        places = [self._store.location(path) for path in (launch.input, launch.output)]
        command = [str(self._cluster.hadoop), "jar", str(self._jar), launch.command, *properties, *places]
        command += [*(located(option, self._store) for option in launch.options), "--report", str(report)]
        try:
            code = run_client(command, self._environment, log, self._failure, tell)
        except BaseException:
            jobs = (read_report(report) or {}).get("jobs", [])
            self._abandon(job["id"] for job in jobs if job.get("succeeded") is None)
            raise
        content = read_report(report)
        if code != 0 or content is None or not content.get("succeeded"):
            reason = self._failure() or (content or {}).get("error") or last_words(log)
            raise AssayError(f"{launch.command} failed: {reason}")
        if content.get("schema") != REPORT_SCHEMA:
            raise AssayError(f"{launch.command} left a report of schema {content.get('schema')}, not {REPORT_SCHEMA}")
        return LaunchReport(
            jobs=tuple(JobReference(name=job["name"], id=job["id"]) for job in content["jobs"]),
            result=content["result"],
            settings=content["settings"],
        )

    def run_program(self, program: Program, progress: Progress) -> LaunchReport:
        """Run a program of another jar to its end; its jobs are those that its client names."""
        name = self._next_name()
        files, log = self._scratch / f"{name}-files", self._scratch / f"{name}.log"
        client = ClientOutput(program, self._progressed, self.stages)
        files.mkdir()
        jar = find_jar(program, self._cluster.extras)
        environment = {**self._environment, **program.variables}
        command = [str(self._cluster.hadoop), program.main_class or "jar"]
        if program.main_class is None:
            command.append(str(jar))
        else:  # its jar goes on the client's class path, before what the user has put there
            environment = with_classpath(environment, [str(jar)])
        # Generic options come first, as Hadoop's ToolRunner wants them.
        command += [f"-D{name}={value}" for name, value in {**self._sends, **program.properties}.items()]
        lines_output = self._cluster.properties.get(_OUTPUT_FORMAT, _TEXT_FORMAT)
        arguments = [located(argument, self._store) for argument in program.arguments]
        command += [given.replace(SCRATCH, str(files)).replace(LINES_OUTPUT, lines_output) for given in arguments]
        try:
            code = run_client(
                command, environment, log, self._failure, lambda line: client.read_line(line, progress), program.folder
            )
        except BaseException:
            client.read_log(log)
            self._abandon(client.ids[-1:])
            raise
        client.read_log(log)
        if code != 0:
            raise AssayError(f"{program.name} failed: {self._failure() or self._reason(program, code, log, client)}")
        jobs = client.jobs()
        settings = self._settings(jobs[-1]) if jobs else {}
        return LaunchReport(jobs=jobs, result={}, settings={**settings, **program.properties}, texts=small_texts(files))

    def history(self, job: JobReference) -> History:
        """Read the job's history file where the cluster names a folder of these, else ask the JobHistoryServer."""
        if self._files is None:
            return self._history.read(job)
        try:
            return self._files.read(job)
        except AssayError as error:
            history = self._history.read(job)
            doubt = HISTORY_FILE_UNREAD.doubt(
                f"the history file of {job.name} ({job.id}) was not read: {error}", job.id
            )
            return history.model_copy(update={"doubts": (*history.doubts, doubt)})

    def phases(self, attempts: Sequence[TaskAttempt]) -> TaskHistory:
        """Read the finer phases from the containers' logs, as far as the platform's nodes give them."""
        return read_phases(
            self._cluster.nodes, [attempt for attempt in attempts if isinstance(attempt, MapReduceAttempt)]
        )

    def _reason(self, program: Program, code: int, log: Path, client: ClientOutput) -> str:
        """The most telling line; of a program that is to tell more, its own last lines.

        Its client prints the errors of tasks only where they are tried again: the last one is then asked of history.
        """
        said = log.read_text(errors="replace", encoding="utf-8").splitlines()
        if client.ids and not any(map(_is_of_task, said)):
            with suppress(AssayError):
                said += self._history.failure(client.ids[-1])
        if program.last_lines == 1:
            return _most_telling("\n".join(said))
        return last_said(code, said, program.last_lines)

    def _settings(self, job: JobReference) -> Mapping[str, str]:
        return self._history.settings(job)

    def end(self) -> None:
        """End the clients that run in other threads."""
        self._ended.set()

    def _failure(self) -> str | None:
        if self._ended.is_set():
            return "it was ended, as another job had failed or the run was interrupted"
        return self._cluster_failure()

    def _next_name(self) -> str:
        return f"launch-{next(self._launches)}"

    def _abandon(self, jobs: Iterable[str]) -> None:
        """Kill the jobs whose client was ended, on a cluster that outlives the trial."""
        for job in jobs if self._cluster.outlives else ():
            command = [str(self._cluster.hadoop), "job", "-kill", job]
            with suppress(subprocess.TimeoutExpired):
                subprocess.run(command, env=self._environment, capture_output=True, check=False, timeout=60)


def small_texts(folder: Path) -> dict[str, str]:
    """Return the texts of a folder's small files, by name."""
    small = [file for file in sorted(folder.iterdir()) if file.is_file() and file.stat().st_size <= _TEXT_BYTES]
    return {file.name: file.read_text(errors="replace", encoding="utf-8") for file in small}


def read_report(report: Path) -> dict[str, Any] | None:
    """Return what a command wrote of itself; None where it wrote nothing that can be read."""
    try:
        content = json.loads(report.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


KIND = EngineKind(
    open=MapReduce,
    runs=frozenset({HADOOP_JOBS}),
    reads=frozenset({FILES, TABLES}),
    stages=STAGES,
    attempt=MapReduceAttempt,
    log=MapReducePhases,
    causes=CAUSES,
    counters=COUNTERS,
    uncounted_bytes=CONFIGURATION_BYTES,
    path=PATH,
    path_note=PATH_NOTE,
    figures=FIGURES,
    figures_note=FIGURES_NOTE,
    services=("mapreduce",),
)
ENGINES.add("mapreduce", KIND, place=1)
