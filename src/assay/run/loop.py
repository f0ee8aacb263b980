"""A plan's execution: each trial is on disk before the next begins."""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from assay.host.interrupts import interruptible
from assay.model.errors import AssayError
from assay.model.platform import TrialSetup
from assay.model.progress import Progress
from assay.model.record import Record, Status
from assay.model.trial import Plan, Trial
from assay.model.trial_summary import TrialSummary
from assay.record.folder import RunFolder
from assay.record.model_time import in_model_time
from assay.record.summaries import keep_summary
from assay.run.needs import SetUp, lack_of_room
from assay.run.schedule import Budget, RepetitionSchedule
from assay.stats.sample import PLACEMENT
from assay.stats.trial_summary import summaries_of, summarise
from assay.trial import run_trial


class Display(Progress, Protocol):
    """Somebody who watches a whole plan."""

    def trial_begins(self, trial: Trial, number: int, total: int) -> None:
        """The next trial starts."""

    def trial_ends(self, record: Record) -> None:
        """Its record is on disk."""


def execute(plan: Plan, folder: RunFolder, set_up: SetUp, display: Display, budget: Budget | None = None) -> bool:
    """Run what isn't finished, as the budget allows; whether all has run. An interrupt leaves finished trials whole.

    Raises AssayError when the first two trials failed for a reason that no placement changes.
    """
    folder.drop_drafts()
    finished = folder.finished()
    first: list[TrialSummary] = []
    for number, trial in enumerate(plan.trials, start=1):
        if trial.id in finished:
            continue
        if budget is not None and not budget.fill and not budget.allows([trial]):
            return False
        display.trial_begins(trial, number, len(plan.trials))
        summary = _run_one(trial, folder, set_up, display, budget)
        if not finished and number <= _FIRST_TRIALS:
            first.append(summary)
            if number < len(plan.trials) and _fail_alike(plan, first):
                raise AssayError(
                    f"the first {number} trials failed for the same reason, on different placements, and all others "
                    f"would too; mend its cause and run the experiment again. It is: {summary.error}"
                )
    return True


_FIRST_TRIALS = 2


def _fail_alike(plan: Plan, first: Sequence[TrialSummary]) -> bool:
    """Whether the first trials failed for a reason that holds for the whole plan, which varies the placement alone."""
    works = {tuple(item for item in trial.factors.items() if item[0] != PLACEMENT) for trial in plan.trials}
    placements = {summary.trial.placement.name for summary in first}
    errors = {re.sub(r"[0-9]+", "", summary.error or "") for summary in first if summary.status is Status.FAILED}
    failed = all(summary.status is Status.FAILED for summary in first)
    return failed and len(first) == len(placements) == _FIRST_TRIALS and len(works) == len(errors) == 1


def repeat(schedule: RepetitionSchedule, folder: RunFolder, set_up: SetUp, display: Display, budget: Budget) -> int:
    """Repeat a finished plan by rounds while there is time; how many trials. The plan grows before each round."""
    repeated = 0
    plan = folder.plan()
    summaries = summaries_of(folder, plan)[0]
    while more := schedule.next_round({trial.id for trial in plan.trials}, summaries, budget.allows):
        first = len(plan.trials) + 1
        plan = plan.model_copy(update={"trials": (*plan.trials, *more)})
        folder.replace_plan(plan)
        for number, trial in enumerate(more, first):
            display.trial_begins(trial, number, len(plan.trials))
            summaries.append(_run_one(trial, folder, set_up, display, budget))
        repeated += len(more)
    return repeated


def _run_one(trial: Trial, folder: RunFolder, set_up: SetUp, display: Display, budget: Budget | None) -> TrialSummary:
    """Its record is on disk then. Raises AssayError where there is no room for it or its record, or no login."""
    left_s = budget.left_s if budget is not None else 0.0
    with interruptible(), set_up(trial) as setup:
        _need_room(trial, setup)
        result = run_trial(trial, setup, display)
        if result.record.status is Status.FAILED:
            # What failed for want of room or of a login is no finding: it runs again on resuming.
            _need_room(trial, setup)
        try:
            written = folder.write(result)
        except OSError as error:
            reason = f"the record of trial {trial.id} could not be written: {error}"
            raise AssayError(f"{reason}; free some space and continue with --resume") from error
    record = in_model_time(written)
    summary = summarise(record)
    keep_summary(folder, summary)
    display.trial_ends(record)
    if budget is not None:
        budget.took(trial, left_s - budget.left_s)
    return summary


def _need_room(trial: Trial, setup: TrialSetup) -> None:
    lack = blocking_problem = None
    with suppress(AssayError):  # a medium or dataset that is gone: the trial says so in its record
        blocking_problem, lack = setup.platform.blocking_problem(), lack_of_room(trial, setup)
    if lack is not None:
        raise AssayError(f"trial {trial.id} has not enough space: {lack}; free some space and continue with --resume")
    if blocking_problem is not None:
        raise AssayError(f"trial {trial.id} has no record: {blocking_problem}; mend that and continue with --resume")
