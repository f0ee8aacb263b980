"""Short child processes of probes: run with patience, and their processor time counted."""

import os
import select
import subprocess
from collections.abc import Callable, Sequence
from threading import Lock
from typing import IO, NamedTuple


class Ended(NamedTuple):
    """What a child printed, and how it ended."""

    code: int
    printed: str
    complained: str


class Children:
    """Children of one trial's probes; `busy_s` is the user and system time of all that have ended (wait4(2)).

    Of those that go on, which are watched besides, it is what they have taken so far.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._busy_s = 0.0
        self._watched: list[Callable[[], float]] = []

    @property
    def busy_s(self) -> float:
        """Seconds so far."""
        return self._busy_s + sum(busy_s() for busy_s in self._watched)

    def watch(self, busy_s: Callable[[], float]) -> None:
        """Count others too, by what tells their seconds so far and never less than before."""
        self._watched.append(busy_s)

    def run(self, command: Sequence[str], script: str, patience_s: float) -> Ended:
        """Run one with a text on its input. Raises OSError, or TimeoutError after having ended it."""
        with memory_file("script") as given, memory_file("printed") as printed, memory_file("complained") as complained:
            given.write(script.encode())
            given.seek(0)
            process = subprocess.Popen(command, stdin=given, stdout=printed, stderr=complained)
            in_time = False
            try:
                in_time = _ended(process.pid, patience_s)
            finally:
                if not in_time:
                    process.kill()
                self._wait(process)
            if not in_time:
                raise TimeoutError(f"{command[0]} did not end within {patience_s:.0f} s")
            return Ended(process.returncode, content_of(printed), content_of(complained))

    def _wait(self, process: "subprocess.Popen[bytes]") -> None:
        """Python's own waiting does not tell what this child took; RUSAGE_CHILDREN would count other threads' too."""
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except ChildProcessError:  # whoever ignores SIGCHLD hears nothing of how they end
            process.returncode = 0
            return
        process.returncode = os.waitstatus_to_exitcode(status)
        with self._lock:
            self._busy_s += usage.ru_utime + usage.ru_stime


def _ended(pid: int, patience_s: float) -> bool:
    descriptor = os.pidfd_open(pid)
    try:
        poll = select.poll()  # select(2) knows 1024 descriptors only
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(patience_s * 1000))
    finally:
        os.close(descriptor)


def memory_file(name: str) -> IO[bytes]:
    """A file in memory: no disk under test gets it, and no pipe can fill."""
    return os.fdopen(os.memfd_create(f"assay-{name}"), "w+b")


def content_of(file: IO[bytes]) -> str:
    """All that was written into it."""
    file.seek(0)
    return file.read().decode(errors="replace")
