"""`assay run`."""

import os
import re
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from assay.cli.console import ConsoleDisplay
from assay.cli.context import (
    OUT_HELP,
    Duration,
    UserPath,
    find_installation,
    open_console,
    vocabulary,
)
from assay.cli.report import report_run
from assay.host.lease import Lease, release_stale
from assay.host.machine import machine_facts
from assay.input.catalogue import open_dataset
from assay.media.emulated.ceiling import known_ceiling, measure_ceiling
from assay.model.doubt import Doubt
from assay.model.errors import AssayError, BadInputError
from assay.model.installation import Installation
from assay.model.medium import kind_of
from assay.model.naming import bytes_text
from assay.model.platform import AUTO, PlatformContext, TrialSetup
from assay.model.probe import Probe, ProbeContext
from assay.model.registry import PLATFORMS, WORKLOADS
from assay.model.trial import FACTORS, Estimate, Plan, Trial
from assay.model.workload import Workload
from assay.plan.grid import only
from assay.plan.make import plan_and_more
from assay.plan.properties import located
from assay.plan.source import Source
from assay.plan.varied import with_varied_drives
from assay.platform.dilation import auto_text
from assay.probe.sampler import probes_of, remove_left_overs
from assay.record.folder import RunFolder
from assay.report.next_steps import typed
from assay.report.terminal import print_doubt
from assay.report.words import duration_text, print_line
from assay.run import (
    Budget,
    Needs,
    RepetitionSchedule,
    check_needs,
    decided_by,
    execute,
    fitted,
    interruptible,
    repeat,
)
from assay.stats.duration_history import Expected, read_history
from assay.stats.fit import prior_of
from assay.stats.trial_doubts import fewer_nodes

# Levels that go without saying in a line about a trial, by factor.
_USUAL = {
    "variant": {"paper"}, "options": {""}, "dataset": {"none"}, **{factor.name: factor.usual for factor in FACTORS},
}  # fmt: skip
_FOLDERS = re.compile(r"(?<==)/\S*/(?=[^/\s])")


def print_needs(plan: Plan, needs: Needs, budget_s: float | None, console: Console) -> None:
    """Head, each trial, each medium, memory, and in the last line the sum of times with the worst disk and memory."""
    time, known = f"about {duration_text(needs.seconds)}", sum(bool(one.records) for one in needs.estimates.values())
    from_records = "from earlier records" if known == len(needs.estimates) else ""
    count = f"{len(plan.trials)} trial{'' if len(plan.trials) == 1 else 's'}"
    print_line(console, f"{plan.experiment}: {count}, {time}, {from_records or 'more on slow drives'}")
    for trial in plan.trials:
        print_line(console, trial_line(trial, needs.estimates[trial.id]), "dim")
    if dilated := [trial.cluster for trial in plan.trials if trial.cluster.dilation == AUTO]:
        print_line(console, f"  {auto_text(dilated[0])}")
    if any(trial.cluster.dilation not in {None, 1} for trial in plan.trials):
        print_line(console, "  times here are this machine's; those of the results are divided by the dilation")
    if known:
        others = len(needs.estimates) - known
        reckoned = f"; the other {others} are rough estimates" if others else ""
        times = f"times of {known} trial{'s' if known > 1 else ''} are medians of earlier records"
        print_line(console, f"  {times}{reckoned}")
    for name, wanted in needs.disk_bytes.items():
        if wanted:
            free = bytes_text(needs.free_bytes[name])
            print_line(console, f"  {name}: at most about {bytes_text(wanted)} at once, {free} free")
    memory, available = bytes_text(needs.memory_bytes), bytes_text(needs.available_memory_bytes)
    if needs.memory_bytes:
        print_line(console, f"  this machine: at most about {memory} of memory, {available} available")
    drives = [trial for trial in plan.trials if any(kind_of(medium).emulated for medium in trial.media)]
    clusters = [trial.cluster for trial in drives]
    if any(cluster.limit_memory_bytes is None and cluster.page_cache_bytes is None for cluster in clusters):
        print_line(
            console, "  no `memory` or `page_cache` limit: the page cache may answer instead of the emulated drives"
        )
    # Trials run one after the other on empty media: their times add up, of their bytes the most count.
    longest = max(plan.trials, key=lambda trial: needs.estimates[trial.id].seconds)
    seconds = duration_text(needs.estimates[longest.id].seconds)
    disk = max(estimate.disk_bytes for estimate in needs.estimates.values())
    space = "disk and memory of the cluster are its own and not estimated"
    if disk:
        space = f"at most about {bytes_text(disk)} of disk and {memory} of memory at once"
    basis = from_records or "a rough estimate for quick drives"
    print_line(console, f"  in all: {time}, {basis} (the longest trial, {longest.id}, {seconds}); {space}")
    if budget_s is not None:
        rest = "the time that trials leave is used for further repetitions"
        print_line(console, f"  for {duration_text(budget_s)}: {rest}")


def print_doubts(plan: Plan, console: Console) -> None:
    """Those that are known before anything starts: the plan's, and of its trials that they can't have their nodes."""
    of_trials = {doubt.what: doubt for trial in plan.trials for doubt in fewer_nodes(trial)}
    for doubt in (*plan.doubts, *of_trials.values()):
        print_doubt(doubt, console)


def trial_line(trial: Trial, estimate: Estimate | None = None) -> str:
    """A trial's factors, but those that say nothing; of paths in options the last name; its time if records tell it."""
    factors = {**trial.factors, "options": _FOLDERS.sub("", trial.factors["options"])}
    further = [f"{name}={level}" for name, level in trial.levels.items() if level != "default"]
    named = [value for name, value in factors.items() if name not in trial.levels and value not in _USUAL.get(name, ())]
    turn = "warm-up" if trial.warm_up else f"repetition {trial.repetition}"
    time = f", {duration_text(estimate.seconds)} in earlier records" if estimate and estimate.records else ""
    return f"  {trial.id}: {', '.join([*named, *further, turn])}{time}"


def resumed(stored: Plan, full: Plan, asked: Plan, finished: Collection[str]) -> Plan:
    """The plan of a run that goes on: what it had, and what is asked for now.

    `full` is the plan that the experiment makes, `asked` the part of it to be run now. Trials beyond it, which a budget
    of time added, stay as far as they have run; so do the plan's doubts, and the noise that was assumed at first.
    Raises BadInputError where the run had other trials than the experiment makes.
    """
    of_number = {_number(trial): trial for trial in full.trials}
    same = (stored.experiment, stored.seed) == (full.experiment, full.seed) and all(
        _definition(of_number.get(_number(trial), trial)) == _definition(trial) for trial in stored.trials
    )
    if not same:
        raise BadInputError(
            "the run holds another plan than this experiment makes now; use the unchanged experiment, or another --out"
        )
    kept = {_number(trial): trial for trial in stored.trials if _number(trial) in of_number or trial.id in finished}
    kept |= {_number(trial): trial for trial in asked.trials}
    new_kinds = {doubt.kind for doubt in full.doubts}
    doubts = (*(doubt for doubt in stored.doubts if doubt.kind not in new_kinds), *full.doubts)
    trials = tuple(kept[number] for number in sorted(kept))
    return full.model_copy(update={"trials": trials, "doubts": doubts, "prior": stored.prior})


def _definition(trial: Trial) -> dict[str, Any]:
    """What makes it the same trial; an option that a later version knows, and which is not used, makes no other."""
    return trial.model_dump(exclude_none=True)


def _number(trial: Trial) -> int:
    return int(trial.id.partition("-")[0])


RUNS = Path("runs")
MOST_LEFT_OUT = 3


@contextmanager
def open_trial(trial: Trial, installation: Installation) -> Iterator[TrialSetup]:
    """What one trial is made of, for the time of a scope; what it holds on this machine goes with its lease."""
    kind = PLATFORMS.find(trial.cluster.kind)
    with Lease(installation.state, "trial") as lease:
        environment = dict(os.environ)
        platform = kind.open(PlatformContext(trial, installation, lease, environment))

        @cache  # of points in a file it has read all: once is enough for what it needs and for the trial
        def workload() -> Workload:
            dataset = None if trial.dataset.is_none else open_dataset(trial.dataset, installation.cache)
            base = f"/user/{platform.user()}/assay/{lease.id}"  # no other run uses that directory of the store
            return WORKLOADS.find(trial.workload.name)(trial.workload, base, dataset)

        def probes(context: ProbeContext) -> Sequence[Probe]:
            context = context._replace(environment=lease.environment(environment))
            return probes_of(trial.probes, context, foreign=not kind.ours)

        yield TrialSetup(platform, workload, probes)


def run_experiment(
    experiment: Path, out: Path | None, installation: Installation, console: Console, *, resume: bool = False,
    dry_run: bool = False, levels: tuple[str, ...] = (), budget_s: float | None = None, fill: bool = False,
    doubts: tuple[Doubt, ...] = (), sensitivity: bool = False,
) -> int:  # fmt: skip
    """Plan, check, run and report an experiment; `doubts` are those of the whole plan, beside its own.

    `levels` are `FACTOR=LEVEL`s that the trials to run have; `budget_s` are seconds after which nothing begins, and
    until which the plan is repeated where it is not decided; with `fill` the whole plan runs, and is repeated, decided
    or not, as often as fits. With `sensitivity` drives are varied in what is assumed of them. Returns the exit code;
    raises BadInputError before anything starts.
    """
    began_s = time.monotonic()
    options = _options(levels, None if fill else budget_s, sensitivity=sensitivity)
    source = Source(experiment)
    full, more = fitted(*plan_and_more(source, vocabulary(installation)))
    full = with_varied_drives(full, installation) if sensitivity else full
    print_doubts(full, console)
    full = full.model_copy(update={"doubts": (*doubts, *full.doubts), "options": tuple(options)})
    plan = only(full, levels)
    folder = RunFolder(out or RUNS / f"{plan.experiment}-{datetime.now().astimezone():%Y%m%d-%H%M%S}")
    whole = _whole(folder, full, plan, out, resume=resume)
    _clean_left_overs(installation, console)
    set_up = partial(open_trial, installation=installation)
    with closing(ConsoleDisplay(console)) as display, interruptible(), located(source):
        histories = [read_history(place) for place in sorted({folder.path.parent.resolve(), RUNS.resolve()})]
        durations = [duration for history in histories for duration in history.durations]
        expected = Expected((duration.trial, duration.seconds) for duration in durations)
        needs = check_needs(plan, set_up, display, expected)
    own = folder.path.resolve()  # resuming says what it makes of its own damaged records
    damaged = [file for history in histories for file in history.damaged if own not in file.parents]
    for file in damaged[:MOST_LEFT_OUT]:
        print_line(console, f"earlier record left out: {file} is damaged")
    if len(damaged) > MOST_LEFT_OUT:
        print_line(console, f"and {len(damaged) - MOST_LEFT_OUT} more records that are damaged")
    kinds = {trial.cluster.kind for trial in plan.trials}
    prior = whole.prior if resume else prior_of(durations, machine_facts(), kinds)
    lasting = _lasting(plan, max(needs.seconds, budget_s or 0.0), console)
    whole, plan = (one.model_copy(update={"prior": prior, "doubts": (*one.doubts, *lasting)}) for one in (whole, plan))
    print_needs(plan, needs, budget_s, console)
    if dry_run:
        return 0
    _know_ceiling(plan, installation, console)
    if resume:
        folder.replace_plan(whole)
    else:
        folder.create(whole)
    folder.keep_experiment(source.portable())
    try:
        with closing(ConsoleDisplay(console, plan, needs.estimates)) as display:
            budget = None if budget_s is None else Budget(budget_s, plan, needs.estimates, fill=fill)
            if not execute(plan, folder, set_up, display, budget):
                left = len({trial.id for trial in plan.trials} - folder.finished())
                display.say(
                    f"the time is up, and {left} of {len(plan.trials)} trials have not run; go on with --resume"
                )
            elif budget is not None:
                count = repeat(RepetitionSchedule(plan, more, decided_by(budget)), folder, set_up, display, budget)
                display.say(f"{count} further trial{'' if count == 1 else 's'} repeated the plan while there was time")
    except KeyboardInterrupt:
        again = typed("run", str(experiment), "--out", str(folder.path), "--resume", *options)
        print_line(console, f"finished trials are kept; continue with: {again}")
        raise
    code = report_run(folder.path, console)
    print_line(console, f"Took {duration_text(time.monotonic() - began_s)}.")
    return code


def _options(levels: Sequence[str], budget_s: float | None, *, sensitivity: bool) -> list[str]:
    """What a command that goes on with the run has to say again."""
    only_ = [part for level in levels for part in ("--only", level)]
    for_ = ["--for", f"{budget_s:g}s"] if budget_s is not None else []
    return [*only_, *for_, *(["--sensitivity"] if sensitivity else [])]


def _lasting(plan: Plan, seconds: float, console: Console) -> list[Doubt]:
    """What may end before a run of so many seconds; it is shown."""
    clusters = {trial.cluster.model_dump_json(): trial.cluster for trial in plan.trials}
    told = (PLATFORMS.find(one.kind).lasting(one, seconds) for one in clusters.values())
    found = {doubt.what: doubt for doubts in told for doubt in doubts}
    for doubt in found.values():
        print_doubt(doubt, console)
    return list(found.values())


def _whole(folder: RunFolder, full: Plan, plan: Plan, out: Path | None, *, resume: bool) -> Plan:
    """What the run's folder holds in the end: the plan, and on resuming what it held before."""
    if not resume:
        folder.check_free()
        return plan
    if out is None:
        raise BadInputError("--resume needs --out, the folder of the run to continue")
    try:
        return resumed(folder.plan(), full, plan, folder.finished())
    except BadInputError as error:
        raise BadInputError(f"{out}: {error}") from None


def _know_ceiling(plan: Plan, installation: Installation, console: Console) -> None:
    """Before the first trial with an emulated drive: what this machine's path carries, unless that is known."""
    if any(kind_of(medium).emulated for trial in plan.trials for medium in trial.media):
        with closing(ConsoleDisplay(console)) as display, interruptible(), suppress(AssayError):
            if known_ceiling(installation) is None:
                display.step("measuring what the path to emulated drives carries (10 s)")
                measure_ceiling(installation)


def _clean_left_overs(installation: Installation, console: Console) -> None:
    def say(text: str) -> None:
        print_line(console, f"assay: {text}")

    for lease in release_stale(installation.state, say):
        say(f"removed what a killed run left behind ({lease.id})")
    for what in remove_left_overs():
        say(f"removed what a killed run left behind ({what})")


@click.command()
@click.argument("experiment", type=UserPath())
@click.option("--out", type=UserPath(), help=OUT_HELP)
@click.option("--resume", is_flag=True, help="Run the unfinished trials in the folder of --out.")
@click.option("--dry-run", is_flag=True, help="Only prepare the inputs and print the trials and what they need.")
@click.option("--only", multiple=True, metavar="FACTOR=LEVEL", help="Run only trials with this level; may be repeated.")
@click.option(
    "--sensitivity",
    is_flag=True,
    help="Run each combination also with the assumed figures of its emulated drives slower, and faster, by a fifth.",
)
@click.option(
    "--for", "budget_s", type=Duration(),
    help="Repeat until everything is decided, but at most for this time, such as 2h.",
)  # fmt: skip
def run(
    experiment: Path, out: Path | None, only: tuple[str, ...], budget_s: float | None, *,
    resume: bool, dry_run: bool, sensitivity: bool,
) -> int:  # fmt: skip
    """Run the trials of an experiment. Each is recorded as soon as it ends.

    \b
    Example:  assay run experiments/quickstart.yaml --out runs/mine
              assay run experiments/quickstart.yaml --out runs/mine --resume
              assay run experiments/quickstart.yaml --only placement=ssd --for 20min
    """
    installation, console = find_installation(), open_console()
    return run_experiment(
        experiment, out, installation, console, resume=resume, dry_run=dry_run, levels=only, budget_s=budget_s,
        sensitivity=sensitivity,
    )  # fmt: skip
