"""Run a plan's trials one after the other; each is on disk before the next begins."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Protocol

from assay.budget import Budget
from assay.model.errors import AssayError
from assay.model.parts import Parts
from assay.model.progress import Progress
from assay.model.record import Record, Status
from assay.model.trial import Plan, Trial
from assay.preflight import MakeParts, lack_of_room
from assay.record.folder import RunFolder
from assay.rounds import Rounds
from assay.runner import run_trial


class Display(Progress, Protocol):
    """Somebody who watches a whole plan."""

    def trial_begins(self, trial: Trial, number: int, total: int) -> None:
        """The next trial starts."""
        ...

    def trial_ends(self, record: Record) -> None:
        """Its record is on disk."""
        ...


def execute(
    plan: Plan, folder: RunFolder, make_parts: MakeParts, display: Display, budget: Budget | None = None
) -> bool:
    """Run what is not finished yet, as long as the budget allows; whether all of it has run then.

    An interrupt stops the current trial's daemons and leaves finished trials whole.
    """
    folder.drop_drafts()
    finished = folder.finished()
    for number, trial in enumerate(plan.trials, start=1):
        if trial.id in finished:
            continue
        if budget is not None and not budget.allows([trial]):
            return False
        display.trial_begins(trial, number, len(plan.trials))
        _run_one(trial, folder, make_parts, display, budget)
    return True


def repeat(rounds: Rounds, folder: RunFolder, make_parts: MakeParts, display: Display, budget: Budget) -> int:
    """Repeat a finished plan, a round at a time, until no further one fits into the time; how many trials that were.

    The run's plan grows by each round before it begins, and a round that has begun is run to its end.
    """
    repeated = 0
    records = list(folder.records()[0])
    plan = folder.plan()
    while more := rounds.following({trial.id for trial in plan.trials}, records, budget.allows):
        first = len(plan.trials) + 1
        plan = plan.model_copy(update={"trials": (*plan.trials, *more)})
        folder.replace_plan(plan)
        for number, trial in enumerate(more, first):
            display.trial_begins(trial, number, len(plan.trials))
            records.append(_run_one(trial, folder, make_parts, display, budget))
        repeated += len(more)
    return repeated


def _run_one(trial: Trial, folder: RunFolder, make_parts: MakeParts, display: Display, budget: Budget | None) -> Record:
    """Its record is on disk then. Raises AssayError where there is no room for the trial or its record."""
    left_s = budget.left_s if budget is not None else 0.0
    with interruptible(), make_parts(trial) as parts:
        _need_room(trial, parts)
        result = run_trial(trial, parts, display)
        if result.record.status is Status.FAILED:
            # What failed for want of room is no finding: it runs again on resuming.
            _need_room(trial, parts)
        try:
            folder.write(result)
        except OSError as error:
            reason = f"the record of trial {trial.id} could not be written: {error}"
            raise AssayError(f"{reason}; make room and go on with --resume") from error
    display.trial_ends(result.record)
    if budget is not None:
        budget.took(trial, left_s - budget.left_s)
    return result.record


def _need_room(trial: Trial, parts: Parts) -> None:
    lack = None
    with suppress(AssayError):  # a medium or dataset that is gone: the trial says so in its record
        lack = lack_of_room(trial, parts)
    if lack is not None:
        raise AssayError(f"trial {trial.id} has no room: {lack}; make room and go on with --resume")


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
