"""A client of the cluster: a process of its own that submits jobs, watched until its end."""

import re
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from assay.model.errors import AssayError
from assay.processes import end_processes

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
    """Run it to its end in `folder`, its output in `log` and each line to `tell` as they come; its exit code.

    `failure` is asked now and then whether the cluster has lost a daemon: a job on a cluster without its only DataNode
    would otherwise retry for many minutes. Raises AssayError with that reason. However this ends, the client has too.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=dict(environment),
            start_new_session=True, cwd=folder,
        )  # fmt: skip
        try:
            _wait(process, _News(log), failure, tell)
        finally:
            if process.poll() is None:
                end_processes(lambda: [] if process.poll() is not None else [process.pid], grace_s=0)
    return process.returncode


def last_words(log: Path) -> str:
    """The most telling line at the end of a client's output: a task's or its own last error, else its last line."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    tasks = [line for line in lines if line.startswith("Error: ")]
    errors = [line for line in lines if "Exception" in line or "ERROR" in line or line.startswith("assay: ")]
    return (tasks or errors or lines or ["it printed nothing"])[-1][:500]


def last_lines(said: Iterable[str], count: int) -> list[str]:
    """The last lines, each once, of all that a program said, without Hadoop's log lines and stack frames.

    A log line begins with the time, and may go on in indented lines (a job's counters).
    """
    kept: dict[str, None] = {}
    logged = False
    for line in said:
        starts = _LOGGED.match(line) is not None
        logged = starts or (logged and line[:1] in {"\t", " "})
        if logged or not line.strip() or _FRAME.match(line):
            continue
        # The attempts of a task fail alike: what is said again counts where it is said last.
        kept.pop(line.rstrip(), None)
        kept[line.rstrip()] = None
    return [line[:MOST_CHARACTERS] for line in kept][-count:]


def _wait(
    process: "subprocess.Popen[bytes]", news: "_News", failure: Callable[[], str | None], tell: Callable[[str], None]
) -> None:
    watched = time.monotonic()
    while process.poll() is None:
        time.sleep(POLL_S)
        for line in news.lines():
            tell(line)
        if time.monotonic() - watched > WATCH_S:
            watched = time.monotonic()
            reason = failure()
            if reason is not None:
                raise AssayError(reason)


class _News:
    """The whole lines of a growing file that were not there before."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._read_bytes = 0

    def lines(self) -> list[str]:
        with self._log.open("rb") as file:
            file.seek(self._read_bytes)
            whole, _, _ = file.read().rpartition(b"\n")
        self._read_bytes += len(whole) + 1 if whole else 0
        return whole.decode(errors="replace").splitlines()
