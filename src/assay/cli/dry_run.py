"""What a plan needs, before anything starts: the trials, their times, disk and memory, in words and as JSON."""

from collections import Counter
from collections.abc import Mapping, Sequence

from rich.console import Console

from assay.model.base import Frozen
from assay.model.cluster import EmbeddedSpec
from assay.model.doubt import Doubt
from assay.model.installed import kind_of
from assay.model.naming import bytes_text
from assay.model.trial import FACTORS, Plan, ResourceEstimate, Trial
from assay.plan.shares import share_of
from assay.platform.dilation import slowness_lines
from assay.report.words import duration_text, level_text, print_line, print_text
from assay.run.needs import LOG_BYTES, Needs
from assay.stats.sample import WORK

# Levels that go without saying in a line about a trial, by factor.
_USUAL = {
    "variant": {"paper"}, "options": {""}, "dataset": {"none"}, **{factor.name: factor.usual for factor in FACTORS},
}  # fmt: skip


class PlannedTrial(Frozen):
    """One trial of a plan."""

    trial: str
    """Its id, which begins with its number."""
    factors: Mapping[str, str]
    """Its level of each factor."""
    repetition: int
    """Which repetition it is of, from 1."""
    warm_up: bool
    """Whether it only warms up the machine."""
    seconds: float
    """How long it is expected to take on this machine."""
    records: int
    """Of how many earlier trials like it that is the median; 0 where it is a rough estimate."""


class Room(Frozen):
    """Space on a medium."""

    needed_bytes: int
    """What its largest trial needs there, at most."""
    free_bytes: int
    """What is free there now."""


class DryRun(Frozen):
    """What a plan needs at its worst moment, and what there is."""

    experiment: str
    """The experiment's name."""
    trials: tuple[PlannedTrial, ...]
    """All trials, in the order in which they would run."""
    seconds: float
    """How long all of them are expected to take."""
    least_s: float
    """The least that they are likely to take."""
    most_s: float
    """The most that they are likely to take."""
    time_known: bool
    """Whether these times mean anything; not where a jar has not run on this machine."""
    media: Mapping[str, Room]
    """The space on each medium, by its name."""
    memory_bytes: int
    """The memory that the largest trial needs, at most; 0 on an existing cluster."""
    available_memory_bytes: int
    """The memory that is available on this machine now."""
    request_log_bytes: int | None
    """What the logs of requests of all trials take at most, in the run's folder; null where nobody knows."""
    doubts: tuple[Doubt, ...]
    """The doubts that are known before anything starts."""
    undecided: str
    """Why the plan can decide nothing without more repetitions; empty where it can."""


def dry_run_of(plan: Plan, needs: Needs, doubts: Sequence[Doubt], budget_s: float | None) -> DryRun:
    """Describe a checked plan; `doubts` are those that are known before it runs, `budget_s` is the time for it."""
    return DryRun(
        experiment=plan.experiment,
        trials=tuple(_planned(trial, needs.estimates[trial.id]) for trial in plan.trials),
        seconds=needs.seconds,
        least_s=needs.least_s,
        most_s=needs.most_s,
        time_known=needs.known,
        media={
            name: Room(needed_bytes=needed, free_bytes=needs.free_bytes[name])
            for name, needed in needs.disk_bytes.items()
        },
        memory_bytes=needs.memory_bytes,
        available_memory_bytes=needs.available_memory_bytes,
        request_log_bytes=needs.request_log_bytes,
        doubts=tuple(doubts),
        undecided=why_undecided(plan, budget_s),
    )


def _planned(trial: Trial, estimate: ResourceEstimate) -> PlannedTrial:
    return PlannedTrial(
        trial=trial.id, factors=trial.factors, repetition=trial.repetition, warm_up=trial.warm_up,
        seconds=estimate.seconds, records=estimate.records,
    )  # fmt: skip


def print_needs(plan: Plan, needs: Needs, budget_s: float | None, console: Console) -> None:
    """Print each trial, the space on each medium and the memory; the last line has the total time and needs."""
    time, known = time_text(needs), sum(bool(estimate.records) for estimate in needs.estimates.values())
    from_records = "from earlier records" if known == len(needs.estimates) else ""
    count = f"{len(plan.trials)} trial{'' if len(plan.trials) == 1 else 's'}"
    print_line(console, f"{plan.experiment}: {count}, {time}{f', {from_records}' if from_records else ''}")
    for trial in plan.trials:
        print_line(console, trial_line(trial, needs.estimates[trial.id]), "dim")
    for line in (*slowness_lines([trial.cluster for trial in plan.trials]), *given_lines(plan)):
        print_line(console, f"  {line}")
    if known:
        others = len(needs.estimates) - known
        reckoned = f"; the other {others} are rough estimates" if others else ""
        times = f"times of {known} trial{'s' if known > 1 else ''} are medians of earlier records"
        print_line(console, f"  {times}{reckoned}")
    for name, needed_bytes in needs.disk_bytes.items():
        if needed_bytes:
            free = bytes_text(needs.free_bytes[name])
            print_line(console, f"  {name}: at most about {bytes_text(needed_bytes)} at once, {free} free")
    memory, available = bytes_text(needs.memory_bytes), bytes_text(needs.available_memory_bytes)
    if needs.memory_bytes:
        print_line(console, f"  this machine: at most about {memory} of memory, {available} available")
    drives = [trial for trial in plan.trials if any(kind_of(medium).emulated for medium in trial.media)]
    used = [trial.cluster for trial in drives]
    if any(cluster.limit_memory_bytes is None and cluster.page_cache_bytes is None for cluster in used):
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
    basis = from_records or "a rough estimate"
    longest_text = f", {basis} (the longest trial, {longest.id}, {seconds} or more)" if needs.known else ""
    print_line(console, f"  in all: {time}{longest_text}; {space}{_logs_text(plan, needs)}")
    if why := why_undecided(plan, budget_s):
        print_text(console, f"  {why}", "yellow")
    if budget_s is not None:
        rest = "the time that trials leave is used for further repetitions"
        print_line(console, f"  for {duration_text(budget_s)}: {rest}")


def _logs_text(plan: Plan, needs: Needs) -> str:
    """How large the logs of requests become that the run's folder keeps; empty where it keeps none."""
    if not any(trial.keep_requests for trial in plan.trials):
        return ""
    size = needs.request_log_bytes
    about = "nobody knows how large" if size is None else f"at most about {bytes_text(size)}"
    return f"; logs of these trials' requests, {about} ({LOG_BYTES} bytes a request), stay in the run's folder"


def given_lines(plan: Plan) -> list[str]:
    """What each engine gets of a node, where a plan compares engines on clusters of Assay's own."""
    given: dict[str, None] = {}
    for trial in plan.trials if len({trial.engine for trial in plan.trials}) > 1 else ():
        if isinstance(trial.cluster, EmbeddedSpec):
            share = share_of(trial)
            given[f"{trial.engine} gets of a node: {share.text if share else 'nobody can say'}"] = None
    return list(given)


def why_undecided(plan: Plan, budget_s: float | None = None) -> str:
    """Say why a plan can't decide anything, and what would mend that; nothing where it can.

    Within a budget of seconds the time that trials leave is used for repetitions.
    """
    trials = [trial for trial in plan.trials if trial.is_repetition]
    combined = Counter(tuple(trial.factors.items()) for trial in trials)
    if budget_s is None and max(combined.values(), default=0) < 2:
        return (
            "this plan can decide nothing: each combination runs once, so nobody knows how much equal trials differ; "
            "add --repetitions 2, or --for 1h"
        )
    works = [tuple(level for name, level in factors if name in WORK) for factors in combined]
    if len(set(works)) == len(works):
        return "this plan can decide nothing: it compares nothing with anything; name a second medium or level"
    return ""


def time_text(needs: Needs) -> str:
    """`3:30 to 8:10 min`; of a jar that has not run on this machine, that nobody knows."""
    if not needs.known:
        return "time unknown (a jar that has not run here)"
    least, most = duration_text(needs.least_s), duration_text(needs.most_s)
    return f"about {least}" if least == most else f"{least} to {most}"


def trial_line(trial: Trial, estimate: ResourceEstimate | None = None) -> str:
    """A trial's factors, but those that say nothing; of paths in options the last name; its time if records tell it."""
    options = level_text("options", trial.factors["options"])
    factors = {**trial.factors, "variant": trial.workload.variant, "options": options}
    further = [f"{name}={level}" for name, level in trial.levels.items() if level != "default"]
    named = [value for name, value in factors.items() if name not in trial.levels and value not in _USUAL.get(name, ())]
    turn = "warm-up" if trial.warm_up else f"repetition {trial.repetition}"
    time = f", {duration_text(estimate.seconds)} in earlier records" if estimate and estimate.records else ""
    return f"  {trial.id}: {', '.join([*named, *further, turn])}{time}"
