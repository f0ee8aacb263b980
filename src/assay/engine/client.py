"""Clients: how an engine runs commands and programs as processes of their own, and what they say and leave.

A command is one of a jar of workloads, which writes a report of itself and tells of its progress in lines that begin
with `assay: `. A program is any other, whose client names its jobs.
"""

import itertools
import json
import re
import signal
import subprocess
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from assay.engine.directing import names_tier, with_outcomes
from assay.host.processes import end_processes, last_telling
from assay.model.engine import EngineContext, History, JobReference, Launch, LaunchReport, Program, located
from assay.model.errors import AssayError, BadInputError
from assay.model.node import Process
from assay.model.progress import Progress

POLL_S = 0.05
WATCH_S = 1.0
MOST_CHARACTERS = 300
REPORT_SCHEMA = 1
PROGRESS_PREFIX = "assay: "
SCRATCH = "{scratch}"
_TEXT_BYTES = 1 << 20
_KILLED = 128 + signal.SIGKILL
"""The exit code that a shell has for a process that was killed."""
# What Hadoop logs of a client that does well: all of INFO and DEBUG, and two warnings that nearly every client gets.
_LOGGED = re.compile(
    r"\d{2,4}[-/]\d\d[-/]\d\d \d\d:\d\d:\d\d(,\d+)? "
    r"(INFO\b|DEBUG\b|WARN (util\.NativeCodeLoader|mapreduce\.JobResourceUploader):)"
)
# Frames of the JDK and of Hadoop; those of the program's own classes say where it failed.
_FRAME = re.compile(r"\s+(at (java|javax|jdk|sun|org\.apache\.hadoop)\.|at [\w.]+/|\.\.\. \d+ more)")
_OF_CONTAINER = re.compile(r"^Last \d+ bytes of stderr ?:\n((?:.+\n?)+)", re.MULTILINE)
"""What the NodeManager passes on of a container that did not start, up to an empty line."""
_JAVA_ENDS = ("Error: Could not create the Java Virtual Machine", "Error: A fatal exception has occurred")


class CommandLine(NamedTuple):
    """What a client is started with: its arguments, the program first, and the variables of its environment."""

    arguments: Sequence[str]
    environment: Mapping[str, str]


class ProgramOutput:
    """The jobs that a program's client has named so far, in their order."""

    def __init__(self, program: Program, named: re.Pattern[str], *, prefix: str = "", noun: str = "job") -> None:
        """A line that matches `named` names a job, whose id is the group, with a prefix before it."""
        self._program, self._named, self._prefix, self._noun = program, named, prefix, noun
        self.ids: list[str] = []
        self.without_jobs = "its client named no job"
        """What is said of a program that ends well without any."""

    def keep(self, line: str) -> None:
        """Take the job from a line that names one."""
        match = self._named.search(line)
        if match and f"{self._prefix}{match[1]}" not in self.ids:
            self.ids.append(f"{self._prefix}{match[1]}")

    def read_line(self, line: str, progress: Progress) -> None:
        """Read a line of the output, and pass on a job that it names."""
        before = len(self.ids)
        self.keep(line)
        if len(self.ids) > before:
            progress.detail(f"{self._program.name}: {self._noun} {len(self.ids)}")

    def jobs(self) -> tuple[JobReference, ...]:
        """List its jobs in their order. Raises AssayError where it ran none on the cluster."""
        if not self.ids:
            raise AssayError(f"{self._program.name} ended well, but {self.without_jobs}")
        return tuple(JobReference(name=job_called(self._program, at), id=job_id) for at, job_id in enumerate(self.ids))


class ClientEngine(ABC):
    """Runs launches and programs as client processes of their own, at once where several threads ask for it.

    `context.failure` is asked while one runs whether the cluster has lost a daemon.
    """

    process = "client"
    """What errors call the process that runs a command or a program."""

    def __init__(self, context: EngineContext) -> None:
        self._context, self._cluster, self._store = context, context.cluster, context.store
        self._scratch, self._progressed = context.scratch, context.progressed
        self._launches = itertools.count(1)
        self._ended = threading.Event()
        self._names_tier = False

    def run(self, launch: Launch, progress: Progress) -> LaunchReport:
        """Run a command to its end; its output is kept in the scratch directory while the trial lives."""
        self._names_tier |= names_tier(launch.properties)
        name = self._next_name()
        report, log = self._scratch / f"{name}.json", self._scratch / f"{name}.log"
        read_progress = self._progress_of(launch)

        def read_line(line: str) -> None:
            if line.startswith(PROGRESS_PREFIX):
                progress.detail(line.removeprefix(PROGRESS_PREFIX))
                read_progress(line)

        places = [self._store.location(path) for path in (launch.input, launch.output)]
        options = (located(option, self._store) for option in launch.options)
        client = self._command_line(launch, [launch.command, *places, *options, "--report", str(report)])
        try:
            code = run_client(client, log, self._failure, read_line)
        except BaseException:
            jobs = (read_report(report) or {}).get("jobs", [])
            self._abandon(job["id"] for job in jobs if job.get("succeeded") is None)
            raise
        content = read_report(report)
        if code != 0 or content is None or not content.get("succeeded"):
            error = (content or {}).get("error")
            raise AssayError(f"{launch.command} failed: {self._failure() or self._command_reason(code, error, log)}")
        if content.get("schema") != REPORT_SCHEMA:
            raise AssayError(f"{launch.command} left a report of schema {content.get('schema')}, not {REPORT_SCHEMA}")
        return LaunchReport(
            jobs=tuple(JobReference(name=job["name"], id=job["id"]) for job in content["jobs"]),
            result=content["result"],
            settings=content["settings"],
        )

    def run_program(self, program: Program, progress: Progress) -> LaunchReport:
        """Run a program to its end; its jobs are those that its client names."""
        self._names_tier |= names_tier(program.properties)
        name = self._next_name()
        files, log = self._scratch / f"{name}-files", self._scratch / f"{name}.log"
        files.mkdir()
        output = self._output_of(program)
        arguments = [located(argument, self._store).replace(SCRATCH, str(files)) for argument in program.arguments]
        client = self._program_line(program, str(find_jar(program, self._cluster.extras)), arguments)
        try:
            code = run_client(
                client, log, self._failure, lambda line: output.read_line(line, progress), program.folder
            )  # fmt: skip
        except BaseException:
            self._read_rest(output, log)
            self._abandon(output.ids[-1:])
            raise
        self._read_rest(output, log)
        if code != 0:
            reason = self._failure() or self._program_reason(program, code, log, output.ids)
            raise AssayError(f"{program.name} failed: {reason}")
        jobs = output.jobs()
        return LaunchReport(jobs=jobs, result={}, settings=self._settings_of(program, jobs), texts=small_texts(files))

    def _with_outcomes(self, history: History) -> History:
        """Return a job's history with what came of its containers' tiers, if any job names one."""
        return with_outcomes(history, self._cluster.nodes) if self._names_tier else history

    def end(self) -> None:
        """End the clients that run in other threads."""
        self._ended.set()

    @abstractmethod
    def _progress_of(self, launch: Launch) -> Callable[[str], None]:
        """Return what reads a launch's lines of progress, and passes on how far its stages are."""

    @abstractmethod
    def _command_line(self, launch: Launch, arguments: Sequence[str]) -> CommandLine:
        """Return how the client of a command of the jar of workloads is started."""

    @abstractmethod
    def _program_line(self, program: Program, jar: str, arguments: Sequence[str]) -> CommandLine:
        """Return how the client of a program is started."""

    @abstractmethod
    def _output_of(self, program: Program) -> ProgramOutput:
        """Return what reads the output of a program's client."""

    @abstractmethod
    def _settings_of(self, program: Program, jobs: Sequence[JobReference]) -> Mapping[str, str]:
        """Return the settings that a program's jobs ran with."""

    def _command_reason(self, code: int, error: str | None, log: Path) -> str:
        """Why a command failed: the `error` of its report, else what its client says."""
        return error or self._killed(code) or last_words(log)

    def _program_reason(self, program: Program, code: int, log: Path, jobs: Sequence[str]) -> str:
        """Why a program failed: the most telling line; of one that is to tell more, its own last lines."""
        if killed := self._killed(code):
            return killed
        lines = log.read_text(errors="replace", encoding="utf-8").splitlines()
        lines += self._further_lines(lines, jobs)
        return most_telling("\n".join(lines)) if program.last_lines == 1 else last_said(code, lines, program.last_lines)

    def _further_lines(self, lines: Sequence[str], jobs: Sequence[str]) -> Sequence[str]:  # noqa: ARG002
        """Return what is known of a program that failed beside the lines of its client."""
        return ()

    def _killed(self, code: int) -> str:
        return f"the {self.process} was killed (signal 9)" if code in {-signal.SIGKILL, _KILLED} else ""

    @abstractmethod
    def _abandon(self, jobs: Iterable[str]) -> None:
        """End the jobs of a client that was ended, where they would go on without it."""

    def _failure(self) -> str | None:
        if self._ended.is_set():
            return "it was ended, as the run was interrupted"
        return self._context.failure()

    def _next_name(self) -> str:
        return f"launch-{next(self._launches)}"

    @staticmethod
    def _read_rest(output: ProgramOutput, log: Path) -> None:
        """Read the whole output of a program's client, the last lines too."""
        for line in log.read_text(errors="replace", encoding="utf-8").splitlines():
            output.keep(line)


def run_client(
    client: CommandLine, log: Path, failure: Callable[[], str | None], tell: Callable[[str], None],
    folder: Path | None = None,
) -> int:  # fmt: skip
    """Run a client to its end in `folder`; its output goes to `log`, and line by line to `tell`. Returns its exit code.

    `failure` is asked each second whether the cluster has lost a daemon: a job on a cluster without its only DataNode
    would otherwise retry for many minutes. Raises AssayError with that reason. The client has ended in any case.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(
            client.arguments, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            env=dict(client.environment), start_new_session=True, cwd=folder,
        )  # fmt: skip
        return await_end(process, log, failure, tell)


def await_end(process: Process, log: Path, failure: Callable[[], str | None], tell: Callable[[str], None]) -> int:
    """Wait for the end of a process that writes to `log`, as `run_client` does. Returns its exit code."""
    try:
        watched, read_bytes = time.monotonic(), 0
        while (code := process.poll()) is None:
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
    return code


def last_words(log: Path) -> str:
    """Return the most telling line of a client's output, such as a task's error; its last line where none is."""
    return most_telling(log.read_text(errors="replace", encoding="utf-8"))


def most_telling(said: str) -> str:
    """Return the last error of a task, else what a container that did not start complained of, else an exception.

    A job that was ended from outside has none of these, and its client says so.
    """
    complaints = [line.strip() for block in _OF_CONTAINER.findall(said) for line in block.splitlines() if _tells(line)]
    signs = (is_of_task, lambda line: line in complaints[:1], _is_error, lambda line: " failed with state " in line)
    return last_telling(said, *signs, silent="it printed nothing").rpartition(" mapreduce.Job: ")[2][:500]


def _tells(line: str) -> bool:
    return "warn" not in line.lower() and not line.startswith(_JAVA_ENDS)


def is_of_task(line: str) -> bool:
    """Whether a line is the error of a task, as Hadoop's clients print it."""
    return line.startswith("Error: ") and not line.startswith(_JAVA_ENDS)


def _is_error(line: str) -> bool:
    return "Exception" in line or "ERROR" in line or line.startswith(PROGRESS_PREFIX)


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
