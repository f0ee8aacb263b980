"""What to do next, as a report ends with it: decide what is open, ask the question better, or go on; and commands."""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from assay.model.cluster import OF_NODE
from assay.model.installed import kind_of
from assay.model.naming import bytes_text, size_of
from assay.report.analysis import RunData
from assay.report.answer import names_of
from assay.report.caveats import question_text
from assay.report.typed import typed
from assay.report.words import about_text
from assay.stats.caveats import MachineShared
from assay.stats.decision import Decision, Question, Verdict
from assay.stats.sample import MACHINE, PLACEMENT, has_failed, is_valid

MARGIN = 1.2
"""So much longer than before repetitions may take, and still fit into the time that is asked for."""
LEAST_MINUTES = 2
MOVED_OVER_MEMORY = 1.2
"""Where jobs move so many times the memory, most of what they read comes from the drives, as in the quickstart."""
LEAST_MEMORY_BYTES = 1000 << 20
"""The daemons and tasks of a node hardly live within less."""
LEAST_PAGE_CACHE_BYTES = 32 << 20
"""No cluster takes less."""
LESS = 0.9
"""A bound of memory that is hardly lower changes nothing."""
INTERMEDIATES_GUIDE = "docs/how-to/should-i-buy-ssds-for-yarn-local-directories.md"
OTHER_CAUSE = (
    "To rule out what slowed trials down besides the drives, run the experiment again on an idle machine, "
    "or with larger data"
)

LATE_WRITES = (
    "To have what the jobs write reach the drives before they end, as on a node that runs them for longer, run it with "
    "such a node's write-back, or with more data"
)

OF_THE_JOB = (
    "To see what the job waits for instead of storage, read 'Time: what the jobs waited for' in the page's block "
    "'Method and evidence'"
)

OF_OTHER_QUESTIONS = {
    Question.COST: "To see what the faults did to tasks and blocks, read 'What faults cost' on the page",
    Question.LIKENESS: "For narrower intervals compare more pairs (`assay media twin --pairs`)",
}


class NextStep(NamedTuple):
    """A sentence, and what to type for it; `command` is empty where there is nothing to type."""

    words: str
    command: str = ""


def next_steps(run: RunData, decisions: Sequence[Decision]) -> list[NextStep]:
    """The most useful first; at least one where anything was decided."""
    steps = []
    if failed := sum(map(has_failed, run.trials)):
        trials = "the trial that failed" if failed == 1 else f"the {failed} trials that failed"
        steps.append(
            NextStep(
                f"Mend the cause of {trials} (the reason is above), and run the experiment again", run_command(run)
            )
        )
    of_worth = [decision for decision in decisions if decision.question is Question.WORTH]
    undecided = [decision for decision in of_worth if decision.is_open and decision.more is not None]
    if undecided:
        first = "close other programs, and " if any(decision.has(MachineShared) for decision in undecided) else ""
        seconds = sum(decision.more.seconds for decision in undecided if decision.more)
        alone = undecided[0] if len(undecided) == 1 else None
        question = question_text(alone, names_of(alone)) if alone else f"the {len(undecided)} that are open"
        repeat = f"repeat the experiment for about {about_text(seconds)}"
        if not all(decision.repeated for decision in undecided):  # how much equal trials differ is not known
            seconds = sum(decision.more.seconds / decision.more.repetitions for decision in undecided if decision.more)
            repeat = (
                f"first repeat the experiment once (about {about_text(seconds)}): then it can be estimated how often"
            )
        words = f"To decide {question}, {first}{repeat}"
        steps.append(NextStep(words, repeat_command(run, seconds)))
    if any(decision.of_other_cause for decision in of_worth):
        steps.append(NextStep(OTHER_CAUSE, run_command(run)))
    if any(decision.of_late_writes for decision in of_worth):
        steps.append(NextStep(LATE_WRITES, run_command(run, *_node_writes_back(run))))
    unmet = next(
        (
            decision
            for decision in decisions
            if not (decision.reached_drives or all(condition.met for condition in decision.conditions))
        ),
        None,
    )
    if unmet is not None and (larger := _larger_sample(run)):
        steps.append(larger)
    elif unmet is not None:
        steps.append(_reach_the_drives(run, unmet))
    if run.plan.next:
        steps.append(NextStep(run.plan.next.strip().rstrip(".")))
    elif not steps and decisions:
        steps.append(_go_on(run, decisions))
    return steps


def _go_on(run: RunData, decisions: Sequence[Decision]) -> NextStep:
    """What follows from the verdicts, where the experiment itself does not say."""
    if decisions[0].question in OF_OTHER_QUESTIONS:
        return NextStep(OF_OTHER_QUESTIONS[decisions[0].question])
    worth = next((decision for decision in decisions if decision.verdict is Verdict.WORTH_IT), None)
    if worth is not None:
        return _intermediates_alone(run, worth)
    if any(decision.verdict is Verdict.NOT_WORTH_IT for decision in decisions):
        return NextStep(OF_THE_JOB)
    if any(len(decision.placements) > 1 for decision in decisions):
        quieter = "More repetitions here would not decide it: run the experiment again on a quieter machine"
        return NextStep(quieter, run_command(run))
    return _compare_something(run, decisions)


def _compare_something(run: RunData, decisions: Sequence[Decision]) -> NextStep:
    """Where one thing alone ran: what else could."""
    media = [medium for trial in run.plan.trials for medium in trial.media]
    if not all(kind_of(medium).chosen for medium in media):
        return NextStep(
            "To compare, change a property or the cluster, run the experiment again, and compare both runs",
            f"{run_command(run)} && {compare_command(run)}",
        )
    if not any(decision.baseline is not None for decision in decisions) and all(
        kind_of(medium).emulated for medium in media
    ):
        words = "To learn what storage costs, run it with a zero-delay baseline too; to compare, add another medium"
        return NextStep(words, run_command(run, "--zero-delay-baseline", "true"))
    return NextStep("To compare, add another medium", run_command(run, "--set", "media.other=NAME"))


def _intermediates_alone(run: RunData, decision: Decision) -> NextStep:
    """Whether a medium that is worth it is so for the intermediate data alone, which is less to buy."""
    base, best = decision.placements[0].placement, decision.best
    media = {medium.name for trial in run.plan.trials for medium in trial.media}
    words = f"To learn whether the intermediate data alone gain as much, run it with only these on {best}"
    if decision.factor != PLACEMENT or not {base, best} <= media:
        return NextStep(f"To learn whether the intermediate data alone gain as much, follow {INTERMEDIATES_GUIDE}")
    mixed = f"{{name: intermediate-on-{best}, input: {base}, intermediate: {best}, output: {base}}}"
    return NextStep(words, run_command(run, "--placement", f"[{base}, {mixed}]"))


def _node_writes_back(run: RunData) -> tuple[str, ...]:
    """The option that the run did without."""
    with_node = all(trial.cluster.write_back == OF_NODE for trial in run.plan.trials)
    return () if with_node else ("--write-back", OF_NODE)


def _larger_sample(run: RunData) -> NextStep | None:
    """Of a site's own job: a page cache of the site's ratio is not to shrink, but a small sample may mislead."""
    ratio = None if run.plan.stands_for is None else run.plan.stands_for.ratio
    caches = [trial.cluster.page_cache_bytes for trial in run.plan.trials if trial.cluster.page_cache_bytes]
    if ratio is None or not caches:
        return None
    shape = run.plan.stands_for
    share_bytes = 0.0 if shape is None else (shape.read_bytes or 0) / shape.parts
    larger = ceil(max(2 * ratio * max(caches), share_bytes) / 1e6)
    return NextStep(
        "To see whether a larger sample at the same ratio says the same, repeat `assay run-job` with another --name "
        f"and --sample {larger}MB, where your input is so large"
    )


def _reach_the_drives(run: RunData, decision: Decision) -> NextStep:
    """Ask again with so little memory, or so much input, that the page cache can't serve most of what the jobs read."""
    aim = "To make more of the data reach the drives"
    bases = [placement.placement for placement in decision.placements[:1]]
    levels = {name: level for name, level in decision.levels.items() if name != MACHINE}
    own = [
        summary
        for summary in run.trials
        if is_valid(summary)
        and summary.trial.placement.name in bases
        and levels.items() <= dict(summary.factors).items()
    ]
    moved = max((summary.moved_bytes or 0 for summary in own), default=0)
    if not moved or not all(kind_of(medium).chosen for medium in own[0].trial.media):
        return NextStep(f"{aim}, use a larger input or less memory, and run the experiment again", run_command(run))
    trial, several = own[0].trial, len({trial.workload.name for trial in run.plan.trials}) > 1
    since = f"since {trial.workload.name if several else 'the job'} moved {bytes_text(moved)}"
    cluster, nodes = trial.cluster, trial.cluster.nodes or 1
    if cluster.page_cache_bytes is not None:
        fewer = _rounded(min(cluster.page_cache_bytes // 2, moved // nodes // 4))
        if fewer < LEAST_PAGE_CACHE_BYTES:
            least = bytes_text(LEAST_PAGE_CACHE_BYTES)
            return NextStep(f"{aim}, use a larger input, {since}: a page cache has at least {least}")
        changed = ("--page-cache", f"{fewer >> 20}MiB")
        return NextStep(f"{aim}, run it with less page cache, {since}", run_command(run, *changed))
    enough = max(LEAST_MEMORY_BYTES, int(moved / nodes / MOVED_OVER_MEMORY))
    if cluster.limit_memory_bytes is None or enough < LESS * cluster.limit_memory_bytes:
        return NextStep(
            f"{aim}, run it within less memory, {since}", run_command(run, "--memory", f"{_rounded(enough) >> 20}MiB")
        )
    times = ceil(MOVED_OVER_MEMORY * nodes * cluster.limit_memory_bytes / moved)
    size = size_of(trial.workload.options.get("size", ""))
    larger = f"{aim}, use an input {max(2, times)} times as large, {since}"
    if size is None:
        return NextStep(f"{larger}, and run the experiment again")
    return NextStep(larger, run_command(run, "--size", f"{max(2, times) * size / 1e6:.0f}MB"))


def _rounded(count: int) -> int:
    """Bytes in whole steps of 10 MiB, upwards."""
    return (10 << 20) * ceil(count / (10 << 20))


def run_command(run: RunData, *changes: str) -> str:
    """The command that makes this run again, in the folder where this one was started; the old one's file is used.

    `changes` are further words, such as what is to be another way.
    """
    return typed("run", _experiment(run), "--out", "runs/again", *changes, *run.plan.options)


def compare_command(run: RunData) -> str:
    """The command that puts both side by side."""
    return typed("compare", str(run.folder or "RUN"), "runs/again")


def repeat_command(run: RunData, seconds: float) -> str:
    """The command that repeats the run's trials until all is decided or about so many seconds are over."""
    given = run.plan.options
    chosen = [part for at, word in enumerate(given) if word == "--only" for part in given[at : at + 2]]
    return typed(
        "run",
        _experiment(run),
        "--out",
        str(run.folder or "RUN"),
        "--resume",
        *chosen,
        "--for",
        f"{_minutes(seconds)}min",
    )


def _minutes(seconds: float) -> int:
    """What is asked for where repetitions are likely to take so many seconds."""
    return max(LEAST_MINUTES, ceil(MARGIN * seconds / 60))


def _experiment(run: RunData) -> str:
    return str(run.experiment or "EXPERIMENT.yaml")
