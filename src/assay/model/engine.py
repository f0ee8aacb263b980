"""Engines: what executes the jobs."""

from collections.abc import Mapping
from typing import Protocol

from assay.model.base import Frozen
from assay.model.progress import Progress
from assay.model.record import JobRecord, TaskAttempt


class Launch(Frozen):
    """One command of the jobs jar: `name input output options`."""

    command: str
    input: str
    output: str
    options: tuple[str, ...] = ()
    properties: Mapping[str, str] = {}


class JobReference(Frozen):
    """A job that a launch submitted: the step's name in its workload, and the engine's id."""

    name: str
    id: str


class LaunchReport(Frozen):
    """What a launch left: its jobs in order, its own result, and the settings it ran with."""

    jobs: tuple[JobReference, ...]
    result: Mapping[str, int]
    settings: Mapping[str, str] = {}


class History(Frozen):
    """What the engine remembers of one job."""

    job: JobRecord
    attempts: tuple[TaskAttempt, ...]


class Engine(Protocol):
    """Runs commands of the jobs jar on a cluster and tells what they did."""

    def run(self, launch: Launch, progress: Progress) -> LaunchReport:
        """Run a command to its end. Raises AssayError with the reason when it, or one of its jobs, fails."""
        ...

    def history(self, job: JobReference) -> History:
        """The history of a finished job. Raises AssayError when it can't be had within a bounded time."""
        ...
