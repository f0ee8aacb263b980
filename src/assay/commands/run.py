"""`assay run`."""

from contextlib import closing
from datetime import datetime
from functools import partial
from pathlib import Path

from rich.console import Console

from assay.commands.needs import needs_lines, trial_line
from assay.commands.report import exit_code, report_run
from assay.console import ConsoleDisplay
from assay.execution import execute, interruptible
from assay.lease import release_stale
from assay.model.doubt import Doubt
from assay.model.errors import BadInputError
from assay.model.installation import Installation
from assay.model.trial import Plan
from assay.parts import trial_parts, vocabulary
from assay.plan.make import make_plan
from assay.preflight import check_needs
from assay.probe.left_overs import remove_left_overs
from assay.record.folder import RunFolder


def run_experiment(
    experiment: Path, out: Path | None, installation: Installation, console: Console, *,
    resume: bool, dry_run: bool, doubts: tuple[Doubt, ...] = (),
) -> int:  # fmt: skip
    """Plan, check, run and report an experiment; `doubts` are those of the whole plan.

    Returns the exit code; raises BadInputError before anything starts.
    """
    plan = make_plan(experiment, vocabulary(installation)).model_copy(update={"doubts": doubts})
    folder = RunFolder(out or Path("runs") / f"{plan.experiment}-{datetime.now().astimezone():%Y%m%d-%H%M%S}")
    if resume:
        _check_same_plan(folder, plan, out)
    else:
        folder.check_free()
    _clean_left_overs(installation, console)
    make_parts = partial(trial_parts, installation=installation)
    with closing(ConsoleDisplay(console)) as display, interruptible():
        needs = check_needs(plan, make_parts, display)
    trials = set(map(trial_line, plan.trials))
    for line in needs_lines(plan, needs):
        console.print(line, style="dim" if line in trials else None, highlight=False, markup=False, soft_wrap=True)
    if dry_run:
        return 0
    if not resume:
        folder.create(plan)
    try:
        with closing(ConsoleDisplay(console, plan, needs.estimates)) as display:
            execute(plan, folder, make_parts, display)
    except KeyboardInterrupt:
        console.print(
            f"go on with: assay run {experiment} --out {folder.path} --resume",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
        raise
    report_run(folder.path, console)
    return exit_code(folder.path)


def _check_same_plan(folder: RunFolder, plan: Plan, out: Path | None) -> None:
    if out is None:
        raise BadInputError("--resume needs --out, the folder of the run to go on with")
    if folder.plan().model_copy(update={"doubts": plan.doubts}) != plan:
        raise BadInputError(
            f"{out} holds another plan than this experiment makes now; give the experiment as it was, or another --out"
        )


def _clean_left_overs(installation: Installation, console: Console) -> None:
    def say(text: str) -> None:
        console.print(f"assay: {text}", highlight=False, markup=False, soft_wrap=True)

    for lease in release_stale(installation.state, say):
        say(f"removed what a killed run left behind ({lease.id})")
    for what in remove_left_overs():
        say(f"removed what a killed run left behind ({what})")
