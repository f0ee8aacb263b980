"""`assay run`."""

import time
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from assay.budget import Budget
from assay.commands.needs import needs_lines
from assay.commands.report import exit_code, report_run
from assay.commands.resume import resumed
from assay.console import ConsoleDisplay
from assay.execution import execute, interruptible, repeat
from assay.lease import release_stale
from assay.machine import machine_facts
from assay.model.doubt import Doubt
from assay.model.errors import BadInputError
from assay.model.installation import Installation
from assay.model.trial import Plan
from assay.parts import trial_parts
from assay.plan.choosing import only
from assay.plan.make import plan_and_more
from assay.plan.portable import portable
from assay.preflight import MakeParts, Needs, check_needs
from assay.probe.left_overs import remove_left_overs
from assay.record.earlier import earlier
from assay.record.folder import RunFolder
from assay.report.next_steps import typed
from assay.report.table import print_doubt
from assay.report.text import duration_text
from assay.rounds import Rounds
from assay.stats.expected import Expected
from assay.stats.history import prior_of
from assay.vocabulary import vocabulary

RUNS = Path("runs")
MOST_LEFT_OUT = 3


class How(NamedTuple):
    """How an experiment is run.

    `only` are `FACTOR=LEVEL`s that the trials to run have; `budget_s` are seconds after which nothing begins, and until
    which the plan is repeated.
    """

    resume: bool = False
    dry_run: bool = False
    only: tuple[str, ...] = ()
    budget_s: float | None = None

    @property
    def options(self) -> tuple[str, ...]:
        """The options of the command that chose or repeated trials, as they are typed."""
        chosen = [part for level in self.only for part in ("--only", level)]
        return (*chosen, *(("--for", f"{self.budget_s:g}s") if self.budget_s is not None else ()))


AT_ONCE = How()


def run_experiment(
    experiment: Path, out: Path | None, installation: Installation, console: Console, how: How = AT_ONCE,
    doubts: tuple[Doubt, ...] = (),
) -> int:  # fmt: skip
    """Plan, check, run and report an experiment; `doubts` are those of the whole plan, beside its own.

    Returns the exit code; raises BadInputError before anything starts.
    """
    began_s = time.monotonic()
    words = vocabulary(installation)
    full, more = plan_and_more(experiment, words)
    for doubt in full.doubts:
        print_doubt(doubt, console)
    full = full.model_copy(update={"doubts": (*doubts, *full.doubts), "options": how.options})
    plan = only(full, how.only)
    folder = RunFolder(out or RUNS / f"{plan.experiment}-{datetime.now().astimezone():%Y%m%d-%H%M%S}")
    whole = _whole(folder, full, plan, out, resume=how.resume)
    _clean_left_overs(installation, console)
    make_parts = partial(trial_parts, installation=installation)
    with closing(ConsoleDisplay(console)) as display, interruptible():
        before = [earlier(place) for place in sorted({folder.path.parent.resolve(), RUNS.resolve()})]
        took = [one for found in before for one in found.took]
        needs = check_needs(plan, make_parts, display, Expected((one.trial, one.seconds) for one in took))
    own = folder.path.resolve()  # resuming says what it makes of its own damaged records
    _say_left_out([file for found in before for file in found.damaged if own not in file.parents], console)
    if not how.resume:
        prior = prior_of(took, machine_facts(), {trial.cluster.kind for trial in plan.trials})
        whole = whole.model_copy(update={"prior": prior})
    plan = plan.model_copy(update={"prior": whole.prior})
    _say_needs(plan, needs, how.budget_s, console)
    if how.dry_run:
        return 0
    if how.resume:
        folder.replace_plan(whole)
    else:
        folder.create(whole)
    folder.keep_experiment(portable(experiment, words))
    try:
        with closing(ConsoleDisplay(console, plan, needs.estimates)) as display:
            if how.budget_s is None:
                execute(plan, folder, make_parts, display)
            else:
                budget = Budget(how.budget_s, plan, needs.estimates)
                _run_for(budget, plan, Rounds(plan, more), folder, make_parts, display)
    except KeyboardInterrupt:
        again = typed("run", str(experiment), "--out", str(folder.path), "--resume", *how.options)
        _say(console, f"finished trials are kept; go on with: {again}")
        raise
    report_run(folder.path, console)
    _say(console, f"Took {duration_text(time.monotonic() - began_s)}.")
    return exit_code(folder.path)


def _whole(folder: RunFolder, full: Plan, plan: Plan, out: Path | None, *, resume: bool) -> Plan:
    """What the run's folder holds in the end: the plan, and on resuming what it held before."""
    if not resume:
        folder.check_free()
        return plan
    if out is None:
        raise BadInputError("--resume needs --out, the folder of the run to go on with")
    try:
        return resumed(folder.plan(), full, plan, folder.finished())
    except BadInputError as error:
        raise BadInputError(f"{out}: {error}") from None


def _run_for(
    budget: Budget, plan: Plan, rounds: Rounds, folder: RunFolder, make_parts: MakeParts, display: ConsoleDisplay
) -> None:
    if execute(plan, folder, make_parts, display, budget):
        count = repeat(rounds, folder, make_parts, display, budget)
        display.say(f"{count} further trial{'' if count == 1 else 's'} repeated the plan while there was time")
    else:
        left = len({trial.id for trial in plan.trials} - folder.finished())
        display.say(f"the time is up, and {left} of {len(plan.trials)} trials have not run; go on with --resume")


def _say_left_out(damaged: Sequence[Path], console: Console) -> None:
    """Records of earlier runs that say nothing of this one's time and noise, as they can't be read."""
    for file in damaged[:MOST_LEFT_OUT]:
        _say(console, f"left out of what earlier runs tell: {file} is damaged")
    if len(damaged) > MOST_LEFT_OUT:
        _say(console, f"and {len(damaged) - MOST_LEFT_OUT} more records that are damaged")


def _say_needs(plan: Plan, needs: Needs, budget_s: float | None, console: Console) -> None:
    trials = {trial.id for trial in plan.trials}
    for line in needs_lines(plan, needs):
        is_trial = line.strip().partition(":")[0] in trials
        console.print(line, style="dim" if is_trial else None, highlight=False, markup=False, soft_wrap=True)
    if budget_s is not None:
        _say(console, f"  for {duration_text(budget_s)}: what trials leave of it goes to further repetitions")


def _say(console: Console, line: str) -> None:
    console.print(line, highlight=False, markup=False, soft_wrap=True)


def _clean_left_overs(installation: Installation, console: Console) -> None:
    def say(text: str) -> None:
        _say(console, f"assay: {text}")

    for lease in release_stale(installation.state, say):
        say(f"removed what a killed run left behind ({lease.id})")
    for what in remove_left_overs():
        say(f"removed what a killed run left behind ({what})")
