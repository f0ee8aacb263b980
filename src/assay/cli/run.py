"""`assay run`."""

import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from assay.cli.console import ConsoleDisplay, Output
from assay.cli.context import (
    OUT_HELP,
    RUNS,
    Duration,
    UserPath,
    find_installation,
    output_options,
    print_json,
    vocabulary,
)
from assay.cli.dry_run import dry_run_of, print_needs
from assay.cli.experiment_keys import KeysCommand, key_options
from assay.cli.experiments import find_shipped
from assay.cli.predict import check_predicted, predict_planned
from assay.cli.programs import fetch_programs
from assay.cli.report import report_run
from assay.host.interrupts import interruptible
from assay.host.lease import Lease, release_stale
from assay.host.machine import machine_facts
from assay.input.catalogue import open_dataset
from assay.media.emulated.ceiling import known_ceiling, measure_ceiling
from assay.model.doubt import Doubt
from assay.model.errors import AssayError, BadInputError
from assay.model.installation import Installation
from assay.model.installed import kind_of, kinds_of, possible
from assay.model.platform import PlatformContext, TrialSetup
from assay.model.probe import Probe, ProbeContext
from assay.model.registry import PLATFORMS
from assay.model.trial import Plan, ResourceEstimate, Trial
from assay.model.workload import Workload
from assay.plan.directing import directed
from assay.plan.grid import only
from assay.plan.make import read_experiment
from assay.plan.overrides import Override
from assay.plan.properties import located
from assay.plan.varied import with_varied_drives
from assay.probe.sampler import probes_of, remove_left_overs
from assay.record.folder import RunFolder
from assay.report.terminal import print_doubt
from assay.report.typed import typed
from assay.report.words import duration_text, print_line
from assay.run.loop import execute, repeat
from assay.run.needs import SetUp, check_needs
from assay.run.schedule import Budget, RepetitionSchedule, decided_by, fit_to_machine
from assay.stats.duration_history import Expected, read_history
from assay.stats.fit import may_be_of, prior_of
from assay.stats.trial_doubts import fewer_nodes
from assay.workload.together import open_workload


def known_doubts(plan: Plan) -> list[Doubt]:
    """Return the doubts that are known before anything starts: the plan's, and those about nodes that can't be had."""
    of_trials = {doubt.what: doubt for trial in plan.trials for doubt in fewer_nodes(trial)}
    return [*plan.doubts, *of_trials.values()]


def resumed(stored: Plan, full: Plan, requested: Plan, finished: Collection[str]) -> Plan:
    """Return the plan of a resumed run: what it had, and what is requested now.

    `full` is the plan that the experiment makes, `requested` the part to be run now. Trials beyond it, which a budget
    of time added, stay as far as they have run; so do the plan's doubts, and the noise that was assumed at first.
    Raises BadInputError where the run had other trials than the experiment makes.
    """
    of_number = {trial.number: trial for trial in full.trials}
    same = (stored.experiment, stored.seed) == (full.experiment, full.seed) and all(
        _definition(of_number.get(trial.number, trial)) == _definition(trial) for trial in stored.trials
    )
    if not same:
        raise BadInputError(
            "the run holds another plan than this experiment makes now, since the experiment or Assay has changed; "
            "use those that it began with, or another --out"
        )
    trials_by_number = {
        trial.number: trial for trial in stored.trials if trial.number in of_number or trial.id in finished
    }
    trials_by_number |= {trial.number: trial for trial in requested.trials}
    new_kinds = {doubt.kind for doubt in full.doubts}
    doubts = (*(doubt for doubt in stored.doubts if doubt.kind not in new_kinds), *full.doubts)
    trials = tuple(trials_by_number[number] for number in sorted(trials_by_number))
    return full.model_copy(update={"trials": trials, "doubts": doubts, "prior": stored.prior})


def _definition(trial: Trial) -> dict[str, Any]:
    """Return what identifies a trial; an unused option that only a later version knows does not change it."""
    return trial.model_dump(exclude_none=True)


MOST_LEFT_OUT = 3


def find_experiment(experiment: Path, installation: Installation) -> Path:
    """Find an experiment by its path, or by the name of a shipped file. Raises BadInputError for neither."""
    is_name = len(experiment.parts) == 1 and not experiment.suffix
    if not is_name or (experiment.exists() and not experiment.is_dir()):
        return experiment
    return find_shipped(experiment.name, installation)


@contextmanager
def open_trial(trial: Trial, installation: Installation) -> Iterator[TrialSetup]:
    """Set up one trial for the time of a scope; its lease releases what it takes of this machine."""
    kinds = kinds_of(trial)
    with Lease(installation.state, "trial") as lease:
        environment = dict(os.environ)
        platform = kinds.platform.open(PlatformContext(trial, kinds, installation, lease, environment))

        @cache  # of points in a file it has read all: once is enough for what it needs and for the trial
        def workload() -> Workload:
            dataset = None if trial.dataset.is_none else open_dataset(trial.dataset, installation.cache)
            base = f"/user/{platform.user()}/assay/{lease.id}"  # no other run uses that directory of the store
            return open_workload(directed(trial), base, dataset)

        def probes(context: ProbeContext) -> Sequence[Probe]:
            context = context._replace(environment=lease.environment(environment))
            return probes_of(trial.probes, context, foreign=not kinds.platform.is_managed)

        yield TrialSetup(kinds, platform, workload, probes)


def run_experiment(
    experiment: Path, out: Path | None, installation: Installation, output: Output, *, resume: bool = False,
    dry_run: bool = False, levels: tuple[str, ...] = (), budget_s: float | None = None, fill: bool = False,
    doubts: tuple[Doubt, ...] = (), sensitivity: bool = False, overrides: Sequence[Override] = (),
) -> int:  # fmt: skip
    """Plan, check, run and report an experiment; `doubts` are those of the whole plan, beside its own.

    `levels` are `FACTOR=LEVEL`s that the trials to run have; `budget_s` are seconds after which nothing begins, and
    until which the plan is repeated where it is not decided; with `fill` the whole plan runs, and is repeated, decided
    or not, as often as fits. With `sensitivity` drives are varied in what is assumed of them. `overrides` are values in
    place of the experiment's. Returns the exit code; raises BadInputError before anything starts.
    """
    began_s, console = time.monotonic(), output.progress
    options = _options(levels, None if fill else budget_s, sensitivity=sensitivity)
    source, plan, repetitions = read_experiment(experiment, vocabulary(installation), overrides)
    full, more = fit_to_machine(plan, repetitions, possible)
    full = with_varied_drives(full, installation) if sensitivity else full
    check_predicted(full, installation)
    for doubt in known_doubts(full):
        print_doubt(doubt, console)
    full = full.model_copy(update={"doubts": (*doubts, *full.doubts), "options": tuple(options)})
    plan = only(full, levels)
    folder = RunFolder(out or RUNS / f"{plan.experiment}-{datetime.now().astimezone():%Y%m%d-%H%M%S}")
    whole = _whole(folder, full, plan, out, resume=resume)
    _clean_left_overs(installation, console)
    with interruptible(), located(source):
        fetch_programs(plan.trials, installation, console)
    set_up = partial(open_trial, installation=installation)
    with closing(_display(output)) as display, interruptible(), located(source):
        histories = [read_history(parent) for parent in sorted({folder.path.parent.resolve(), RUNS.resolve()})]
        durations = [duration for history in histories for duration in history.durations]
        facts = machine_facts()
        here = [duration for duration in durations if may_be_of(duration, facts)]
        expected = Expected((duration.trial, duration.seconds) for duration in here)
        needs = check_needs(plan, set_up, display, expected)
    _print_damaged([file for history in histories for file in history.damaged], folder, console)
    prior = whole.prior if resume else prior_of(durations, facts, {trial.cluster.kind for trial in plan.trials})
    lasting = _lasting(plan, max(needs.seconds, budget_s or 0.0), console)
    whole, plan = (
        part.model_copy(update={"prior": prior, "doubts": (*part.doubts, *lasting)}) for part in (whole, plan)
    )
    if dry_run:
        print_needs(plan, needs, budget_s, output.results)
        if output.as_json:
            print_json(dry_run_of(plan, needs, known_doubts(plan), budget_s).model_dump(mode="json"))
        return 0
    print_needs(plan, needs, budget_s, console)
    _know_ceiling(plan, installation, output)
    if resume:
        folder.replace_plan(whole)
    else:
        folder.create(whole)
    folder.keep_experiment(source.portable())
    budget = None if budget_s is None else Budget(budget_s, plan, needs.estimates, fill=fill)
    try:
        with closing(_display(output, plan, needs.estimates)) as display:
            _run_all(plan, more, folder, set_up, display, budget)
    except KeyboardInterrupt:
        typed_again = [word for override in overrides for word in override.words]
        again = typed("run", str(experiment), "--out", str(folder.path), "--resume", *typed_again, *options)
        print_line(output.results, f"finished trials are kept; continue with: {again}")
        raise
    predict_planned(folder, installation, console)
    code = report_run(folder.path, output)
    print_line(console, f"Took {duration_text(time.monotonic() - began_s)}.")
    return code


def _display(
    output: Output, plan: Plan | None = None, estimates: Mapping[str, ResourceEstimate] | None = None
) -> ConsoleDisplay:
    return ConsoleDisplay(output.progress, plan, estimates, verbose=output.verbose)


def _run_all(
    plan: Plan, more: Iterator[tuple[Trial, ...]], folder: RunFolder, set_up: SetUp, display: ConsoleDisplay,
    budget: Budget | None,
) -> None:  # fmt: skip
    """Run what is not finished, then repeat the plan, both as the budget allows; it says what it leaves or adds."""
    if not execute(plan, folder, set_up, display, budget):
        left = len({trial.id for trial in plan.trials} - folder.finished())
        display.say(f"the time is up, and {left} of {len(plan.trials)} trials have not run; go on with --resume")
    elif budget is not None:
        count = repeat(RepetitionSchedule(plan, more, decided_by(budget)), folder, set_up, display, budget)
        if count or budget.allows(plan.trials):
            display.say(f"{count} further trial{'' if count == 1 else 's'} repeated the plan while there was time")
        else:
            left_text, needed_text = (
                duration_text(max(0.0, seconds)) for seconds in (budget.left_s, budget.needed_s(plan.trials))
            )
            display.say(f"no repetition: {left_text} were left of the time, and one takes about {needed_text}")


def _print_damaged(files: Sequence[Path], folder: RunFolder, console: Console) -> None:
    """Name records of earlier runs that can't be read; resuming says what it makes of this run's own."""
    run_folder = folder.path.resolve()
    damaged = [file for file in files if run_folder not in file.parents]
    for file in damaged[:MOST_LEFT_OUT]:
        print_line(console, f"earlier record left out: {file} is damaged")
    if len(damaged) > MOST_LEFT_OUT:
        print_line(console, f"and {len(damaged) - MOST_LEFT_OUT} more records that are damaged")


def _options(levels: Sequence[str], budget_s: float | None, *, sensitivity: bool) -> list[str]:
    """What a command that goes on with the run has to say again."""
    only_ = [part for level in levels for part in ("--only", level)]
    for_ = ["--for", f"{budget_s:g}s"] if budget_s is not None else []
    return [*only_, *for_, *(["--sensitivity"] if sensitivity else [])]


def _lasting(plan: Plan, seconds: float, console: Console) -> list[Doubt]:
    """Print and return doubts about what may expire during a run of so many seconds."""
    clusters = {trial.cluster.model_dump_json(): trial.cluster for trial in plan.trials}
    doubts_by_cluster = (PLATFORMS.find(cluster.kind).lasting(cluster, seconds) for cluster in clusters.values())
    doubts_by_text = {doubt.what: doubt for doubts in doubts_by_cluster for doubt in doubts}
    for doubt in doubts_by_text.values():
        print_doubt(doubt, console)
    return list(doubts_by_text.values())


def _whole(folder: RunFolder, full: Plan, plan: Plan, out: Path | None, *, resume: bool) -> Plan:
    """Return the plan that the run's folder will hold: on resuming, also what it held before."""
    if not resume:
        folder.check_free()
        return plan
    if out is None:
        raise BadInputError("--resume needs --out, the folder of the run to continue")
    try:
        return resumed(folder.plan(), full, plan, folder.finished())
    except BadInputError as error:
        raise BadInputError(f"{out}: {error}") from None


def _know_ceiling(plan: Plan, installation: Installation, output: Output) -> None:
    """Measure the ceiling of this machine's path, unless it is known or no trial has an emulated drive."""
    if any(kind_of(medium).emulated for trial in plan.trials for medium in trial.media):
        with closing(_display(output)) as display, interruptible(), suppress(AssayError):
            if known_ceiling(installation) is None:
                display.step("measuring what the path to emulated drives carries (10 s)")
                measure_ceiling(installation)


def _clean_left_overs(installation: Installation, console: Console) -> None:
    def say(text: str) -> None:
        print_line(console, f"assay: {text}")

    for lease in release_stale(installation.state, say):
        say(f"removed what a killed run left behind ({lease.id})")
    for leftover in remove_left_overs():
        say(f"removed what a killed run left behind ({leftover})")


def _once(overrides: Sequence[Override]) -> list[Override]:
    """What `--quick` sets. Raises click.UsageError where an option sets the same."""
    once = [
        Override("repetitions", 1, ("--repetitions", "1")),
        Override("order", "interleaved", ("--order", "interleaved")),
    ]
    for override in overrides:
        if override.key in {setting.key for setting in once}:
            raise click.UsageError(f"--quick and {override.option} contradict each other; leave one out")
    return once


@click.command(cls=KeysCommand)
@click.argument("experiment", type=UserPath())
@click.option("--out", type=UserPath(), help=OUT_HELP)
@click.option("--resume", is_flag=True, help="Run the unfinished trials in the folder of --out.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Only fetch programs that the plan needs, prepare the inputs, and print the trials and what they need.",
)
@click.option("--only", multiple=True, metavar="FACTOR=LEVEL", help="Run only trials with this level; may be repeated.")
@click.option(
    "--set", "values", multiple=True, metavar="KEY=VALUE",
    help="Set a key of the experiment, such as cluster.nodes=3; may be repeated. The value is YAML, such as [1, 2].",
)  # fmt: skip
@click.option(
    "--quick",
    is_flag=True,
    help="Run each combination once, in interleaved order: the least that shows anything.",
)
@click.option(
    "--sensitivity",
    is_flag=True,
    help="Run each combination also with the assumed figures of its emulated drives slower, and faster, by a fifth.",
)
@click.option(
    "--for", "budget_s", type=Duration(),
    help="Repeat until everything is decided, but at most for this time, such as 2h.",
)  # fmt: skip
@key_options
@output_options
def run(
    experiment: Path, out: Path | None, only: tuple[str, ...], budget_s: float | None, *, overrides: Sequence[Override],
    resume: bool, dry_run: bool, quick: bool, sensitivity: bool, output: Output,
) -> int:  # fmt: skip
    """Run the trials of an experiment. Each is recorded as soon as it ends.

    EXPERIMENT is a file, or the name of a shipped experiment, which `assay experiments` lists.

    \b
    Example:  assay run quickstart --out runs/mine
              assay run quickstart --out runs/mine --resume
              assay run experiments/quickstart.yaml --only placement=ssd --for 20min
              assay run quickstart --memory 2GiB --repetitions 5 --worth 18%
              assay run local-directories --media hdd=wd10ezex,ssd=crucial-mx100-512gb --size 2GB
    """
    installation = find_installation()
    once = _once(overrides) if quick else []
    return run_experiment(
        find_experiment(experiment, installation), out, installation, output, resume=resume, dry_run=dry_run,
        levels=only, budget_s=budget_s, sensitivity=sensitivity, overrides=[*overrides, *once],
    )  # fmt: skip
