"""Makes a trial's fault happen on a cluster of Assay's own, once, at its phase."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Lock
from typing import NamedTuple

from assay.model.fault import STAGING, Fault, FaultReport, StageProgress
from assay.platform.daemon import Daemon

LOG_LINES, LOG_BYTES = 8, 8192
"""What is kept of a killed daemon's log: its end, which says what it was doing."""
DONE_PERCENT = 100


class Killed(NamedTuple):
    """Daemons that were killed, and how many containers ran below them then."""

    daemons: Sequence[Daemon]
    containers: int


class FaultInjector:
    """See `model.fault.Injector`."""

    def __init__(self, fault: Fault, kill: Callable[[], Killed]) -> None:
        """`kill` does what the fault says at once. Raises AssayError."""
        self._fault, self._kill = fault, kill
        self._armed = False
        self._input_bytes = self._taken_bytes = 0
        self._one_at_a_time = Lock()
        self._report = FaultReport()
        self._daemons: Sequence[Daemon] = ()

    def stage(self, size_bytes: int) -> None:
        self._input_bytes = size_bytes

    def took(self, size_bytes: int) -> None:
        """The store's client was given further bytes: strikes if that is its phase. Raises AssayError if it can't."""
        self._taken_bytes += size_bytes
        if self._input_bytes and not self._armed:
            percent = DONE_PERCENT * self._taken_bytes // self._input_bytes
            self.progressed(StageProgress("", {STAGING: percent}))

    def arm(self) -> None:
        self._armed = True
        if self._fault.slow:
            self._report = FaultReport(struck_ms=_now_ms())

    def progressed(self, progress: StageProgress) -> None:
        """A running job is so far: strikes if that is its phase. Raises AssayError where it can't.

        Clients of jobs at once call it from their own threads; it strikes once.
        """
        with self._one_at_a_time:
            if self._is_due(progress):
                self._strike(progress)

    def _is_due(self, progress: StageProgress) -> bool:
        phase, percent = self._fault.at, progress.percent
        if phase is None or self._report.struck_ms is not None or self._armed == (STAGING in percent):
            return False
        if phase.job not in {"", progress.job} or percent.get(phase.stage, -1) < phase.percent:
            return False
        # Else the job has ended: it can't be struck any more.
        return STAGING in percent or min(percent.values()) < DONE_PERCENT

    def _strike(self, progress: StageProgress) -> None:
        killed = self._kill()
        self._daemons = killed.daemons
        self._report = FaultReport(
            struck_ms=_now_ms(), job=progress.job, progress=progress.percent, containers=killed.containers,
            processes={daemon.kind.role: daemon.process.pid for daemon in killed.daemons},
        )  # fmt: skip

    def report(self) -> FaultReport:
        lines = [line for daemon in self._daemons for line in _last_lines(daemon)]
        return self._report.model_copy(update={"log": tuple(lines)})


def _last_lines(daemon: Daemon) -> list[str]:
    with suppress(OSError):
        lines = daemon.node.read(daemon.log, LOG_BYTES).splitlines()
        return [f"{daemon.kind.role}: {line}" for line in lines[-LOG_LINES:] if line.strip()]
    return []


def _now_ms() -> int:
    return int(time.time() * 1000)
