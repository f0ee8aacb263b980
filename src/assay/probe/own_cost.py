"""The instruments' own cost: processor time, memory, samples kept.

The sampling thread and all threads of this process whose names begin with `probe-` count, by their own clocks
(clock_gettime(2) with a thread's clock), and the probes' child processes (`nft`) by wait4(2). Memory that a probe takes
can't be told from Assay's own: told is by how much this process has grown since just before the probes began
(`estimated`). That is no bound: what a probe takes may fit into what Assay had free by then.
"""

import os
import select
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import IO

from assay.model.probe import ChildResult, Moment, ProbeContext, ProbeKind, Quantity, Sampled, Scene, Values
from assay.model.quantity import Kind
from assay.model.record import Amount
from assay.model.registry import PROBES
from assay.node.local import LocalNode
from assay.probe.process_stat import OpenProcess


class Children:
    """Children of one trial's probes; `busy_s` is the user and system time of all that have ended (wait4(2))."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.busy_s = 0.0

    def run(self, command: Sequence[str], script: str, patience_s: float) -> ChildResult:
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
            return ChildResult(process.returncode, content_of(printed), content_of(complained))

    def _wait(self, process: "subprocess.Popen[bytes]") -> None:
        """Python's own waiting does not tell what this child took; RUSAGE_CHILDREN would count other threads' too."""
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except ChildProcessError:  # whoever ignores SIGCHLD hears nothing of how they end
            process.returncode = 0
            return
        process.returncode = os.waitstatus_to_exitcode(status)
        with self._lock:
            self.busy_s += usage.ru_utime + usage.ru_stime


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
    """Return what was written into a file."""
    file.seek(0)
    return file.read().decode(errors="replace")


PREFIX = "probe-"


def thread_clocks_s() -> dict[int, float]:
    """Seconds of processor time of each probing thread that lives, by its thread number."""
    clocks_s = {}
    for thread in threading.enumerate():
        if thread.name.startswith(PREFIX) and thread.native_id is not None:
            with suppress(OSError):  # ended meanwhile
                # Its clock as the C library makes it (MAKE_THREAD_CPUCLOCK, CPUCLOCK_SCHED), which the kernel refuses
                # for one that has just ended; time.pthread_getcpuclockid may crash then.
                clocks_s[thread.native_id] = time.clock_gettime((~thread.native_id << 3) | 0b110)
    return clocks_s


NAME = "own-cost"


class OwnCost(Sampled):
    """Goes first among the instruments, so that the memory before them is known.

    The memory of the samples and the time of child processes are the context's to tell.
    """

    name = NAME

    def __init__(
        self,
        context: ProbeContext,
        process: OpenProcess | None = None,
        clocks_s: Callable[[], Mapping[int, float]] = thread_clocks_s,
    ) -> None:
        self._context = context
        self._process = process or OpenProcess(LocalNode(), os.getpid())
        self._clocks_s = clocks_s
        self._threads_s: dict[int, float] = {}
        self._first_bytes = self._peak_bytes = 0
        self._clock_s = 0.0

    def attach(self, _scene: Scene) -> None:
        self._first_bytes = self._peak_bytes = self._resident_bytes()
        self._threads_s |= self._clocks_s()
        self._clock_s = time.monotonic()

    def sample(self, now: Moment) -> Values:
        """Kept for the totals: the cost has no samples, which would only add to it."""
        self._clock_s = now.clock_s
        self._threads_s |= self._clocks_s()
        self._peak_bytes = max(self._peak_bytes, self._resident_bytes())
        return {}

    def totals(self) -> Mapping[Quantity, float]:
        """Seconds since the beginning, also of threads that have ended; bytes as they are, or were at most."""
        growth = max(0, self._peak_bytes - self._first_bytes)
        self._peak_bytes = self._resident_bytes()
        return {
            Quantity("trial", "elapsed_s"): self._clock_s,
            Quantity("probes", "busy_s"): sum(self._threads_s.values()) + self._context.children_s(),
            Quantity("probes", "samples_bytes", level=True): float(self._context.samples_bytes()),
            Quantity("probes", "resident_growth_bytes", basis="estimated", level=True): float(growth),
        }

    def close(self) -> None:
        self._process.close()

    def _resident_bytes(self) -> int:
        stat = self._process.read()
        return 0 if stat is None else stat.resident_bytes


SELF = Path("/proc/self")


@dataclass
class Weight:
    """What a scope took, once it has ended.

    `busy_s` is the processor time of all threads of this process. `growth_bytes` is by how much its resident memory
    was above that of the scope's beginning at most; None where the kernel does not tell.
    """

    busy_s: float = 0.0
    growth_bytes: int | None = None


@contextmanager
def weighed(process: Path = SELF) -> Iterator[Weight]:
    """Weigh what is done in a scope.

    The kernel keeps a process' greatest resident memory (VmHWM) and can be told to begin anew with it (proc(5):
    /proc/PID/clear_refs, 5); so no peak is missed, however short.
    """
    weight = Weight()
    before: int | None = None
    with suppress(OSError):
        (process / "clear_refs").write_text("5", encoding="utf-8")
        before = _peak_bytes(process)
    began_s = time.process_time()
    try:
        yield weight
    finally:
        weight.busy_s = time.process_time() - began_s
        peak = _peak_bytes(process)
        if before is not None and peak is not None:
            weight.growth_bytes = max(0, peak - before)


def _peak_bytes(process: Path) -> int | None:
    try:
        lines = (process / "status").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), None)


def evaluation_cost(weight: Weight) -> Iterator[Amount]:
    """What it took to evaluate the probes, in the trial's last part."""
    amount = partial(Amount, probe=NAME, subject="evaluation", part="collect")
    yield amount(series="busy_s", value=weight.busy_s)
    if weight.growth_bytes is not None:
        yield amount(series="resident_growth_bytes", value=float(weight.growth_bytes), basis="estimated")


SERIES = {
    "elapsed_s": Kind.MACHINE_TIME,
    "busy_s": Kind.PROCESSOR_TIME,
    **dict.fromkeys(("samples_bytes", "resident_growth_bytes"), Kind.LEVEL),
}
PROBES.add(NAME, ProbeKind(OwnCost, series=SERIES), place=1)
