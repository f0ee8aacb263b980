"""Run a plan's trials one after the other; each is on disk before the next begins."""

import itertools
import signal
from collections.abc import Iterator, Sequence
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
from assay.runner import run_trial
from assay.stats.uncertainty import Uncertain, least_certain


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


def repeat(plan: Plan, folder: RunFolder, make_parts: MakeParts, display: Display, budget: Budget) -> int:
    """Repeat what a finished plan knows least, until the budget is used up; how many trials that were.

    Each round is one more repetition of all placements of one combination: the one whose median is the least certain,
    as far as a round of it fits into the time that is left. The run's plan grows by each round before it begins.
    """
    repeated = 0
    records = list(folder.records()[0])
    plan = plan.model_copy(update={"trials": _alike(folder.plan(), plan)})
    while (turn := _next_round(plan, records, budget)) is not None:
        whole = folder.plan()
        numbers = itertools.count(max(int(trial.id.partition("-")[0]) for trial in whole.trials) + 1)
        more = tuple(
            trial.model_copy(
                update={"id": f"{next(numbers):04d}-{trial.id.partition('-')[2]}", "repetition": turn.repetition + 1}
            )
            for trial in _in_turn(turn)
        )
        folder.replace_plan(whole.model_copy(update={"trials": (*whole.trials, *more)}))
        plan = plan.model_copy(update={"trials": (*plan.trials, *more)})
        for trial in more:
            number = len(plan.trials) - len(more) + more.index(trial) + 1
            display.trial_begins(trial, number, len(plan.trials))
            records.append(_run_one(trial, folder, make_parts, display, budget))
            repeated += 1
    return repeated


def _alike(whole: Plan, plan: Plan) -> tuple[Trial, ...]:
    """The trials of the whole run that have the levels of some of the plan's: these and their repetitions."""
    levels = {tuple(trial.factors.items()) for trial in plan.trials}
    return tuple(trial for trial in whole.trials if tuple(trial.factors.items()) in levels)


def _next_round(plan: Plan, records: Sequence[Record], budget: Budget) -> Uncertain | None:
    return next((one for one in least_certain(plan.trials, records) if budget.allows(one.trials)), None)


def _in_turn(turn: Uncertain) -> tuple[Trial, ...]:
    """Another placement begins in each repetition."""
    first = turn.repetition % len(turn.trials)
    return turn.trials[first:] + turn.trials[:first]


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
