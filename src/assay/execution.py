"""Run a plan's trials one after the other; each is on disk before the next begins."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Protocol

from assay.model.errors import AssayError
from assay.model.progress import Progress
from assay.model.record import Record
from assay.model.trial import Plan, Trial
from assay.preflight import MakeParts
from assay.record.folder import RunFolder
from assay.runner import run_trial


class Display(Progress, Protocol):
    """Somebody who watches a whole plan."""

    def trial_begins(self, trial: Trial, number: int, total: int) -> None:
        """The next trial starts."""
        ...

    def trial_ends(self, record: Record) -> None:
        """Its record is on disk."""
        ...


def execute(plan: Plan, folder: RunFolder, make_parts: MakeParts, display: Display) -> None:
    """Run what is not finished yet. An interrupt stops the current trial's daemons and leaves finished trials whole."""
    folder.drop_drafts()
    finished = folder.finished()
    for number, trial in enumerate(plan.trials, start=1):
        if trial.id in finished:
            continue
        display.trial_begins(trial, number, len(plan.trials))
        with interruptible(), make_parts(trial) as parts:
            result = run_trial(trial, parts, display)
            try:
                folder.write(result)
            except OSError as error:
                reason = f"the record of trial {trial.id} could not be written: {error}"
                raise AssayError(f"{reason}; make room and go on with --resume") from error
        display.trial_ends(result.record)


@contextmanager
def interruptible() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP raise KeyboardInterrupt once; while that tears things down they are ignored."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
