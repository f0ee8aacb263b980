"""What to do next, as a report ends with it: decide what is open, ask the question better, or go on; and commands."""

import os
import shlex
from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from assay.model.installed import kind_of
from assay.model.record import Status
from assay.report.analysis import RunData
from assay.report.words import about_text
from assay.stats.caveats import MachineShared
from assay.stats.decision import Decision, Question, Verdict

MARGIN = 1.2
"""So much longer than before repetitions may take, and still fit into the time that is asked for."""
LEAST_MINUTES = 2
INTERMEDIATES_GUIDE = "docs/how-to/should-i-buy-ssds-for-yarn-local-directories.md"


OF_OTHER_QUESTIONS = {
    Question.COST: "To see what the faults did to tasks and blocks, open the page",
    Question.LIKENESS: "For narrower intervals compare more pairs (`assay media twin --pairs`)",
}


class NextStep(NamedTuple):
    """A sentence, and what to type for it; `command` is empty where there is nothing to type."""

    words: str
    command: str = ""


def next_steps(run: RunData, decisions: Sequence[Decision]) -> list[NextStep]:
    """The most useful first; at least one where anything was decided."""
    steps = []
    if failed := sum(record.status is Status.FAILED for record in run.records):
        trials = "the trial that failed" if failed == 1 else f"the {failed} trials that failed"
        steps.append(
            NextStep(
                f"Mend the cause of {trials} (the reason is above), and run the experiment again", run_command(run)
            )
        )
    of_worth = [one for one in decisions if one.question is Question.WORTH]
    undecided = [one for one in of_worth if one.verdict is Verdict.NOT_KNOWN_YET and one.more is not None]
    if any(one.has(MachineShared) for one in undecided):
        steps.append(NextStep("Close other programs and run the experiment again", run_command(run)))
    if undecided:
        seconds = sum(one.more.seconds for one in undecided if one.more)
        what = "it" if len(undecided) == 1 else f"the {len(undecided)} that are open"
        most = about_text(60 * _minutes(seconds))
        words = f"To decide {what}, repeat the experiment for about {about_text(seconds)} (at most {most})"
        steps.append(NextStep(words, repeat_command(run, seconds)))
    if any(not condition.met for decision in decisions for condition in decision.conditions):
        cache_bounded = any(decision.levels.get("page_cache", "all") != "all" for decision in decisions)
        key = "page_cache" if cache_bounded else "memory"
        memory = f"set a lower `{key}` or use a larger input, and run the experiment again"
        steps.append(NextStep(f"To make more of the data reach the drives, {memory}"))
    if run.plan.next:
        steps.append(NextStep(run.plan.next.strip().rstrip(".")))
    elif not steps and decisions:
        steps.append(_go_on(run, decisions))
    return steps


def _go_on(run: RunData, decisions: Sequence[Decision]) -> NextStep:
    """What follows from the verdicts, where the experiment itself does not say."""
    if decisions[0].question in OF_OTHER_QUESTIONS:
        return NextStep(OF_OTHER_QUESTIONS[decisions[0].question])
    if any(one.verdict is Verdict.WORTH_IT for one in decisions):
        return NextStep(
            f"To learn whether the intermediate data alone gain as much, follow {INTERMEDIATES_GUIDE}; for a job of "
            "your own docs/how-to/run-your-own-job.md"
        )
    if any(one.verdict is Verdict.NOT_WORTH_IT for one in decisions):
        return NextStep("To see what the job waits for instead of storage, open the page")
    if any(len(one.placements) > 1 for one in decisions):
        return NextStep("To decide it, choose another threshold (`worth`), or measure on a quieter machine")
    media = [medium for trial in run.plan.trials for medium in trial.media]
    if not all(kind_of(medium).chosen for medium in media):
        return NextStep(
            "To compare, give a Hadoop property or `settings` several levels; or change something, run the experiment "
            "again, and compare both runs with `assay compare`"
        )
    has_baseline = any(decision.baseline is not None for decision in decisions)
    can_have_one = not has_baseline and all(kind_of(medium).emulated for medium in media)
    return NextStep(f"To compare, add another medium{' or `zero_delay_baseline: true`' if can_have_one else ''}")


def run_command(run: RunData) -> str:
    """The command that makes this run again, in the folder where this one was started; the old one's file is used."""
    return typed("run", _experiment(run), "--out", "runs/again", *run.plan.options)


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


def typed(*words: str) -> str:
    """A command with these words, as the user called Assay this time."""
    return shlex.join([os.environ.get("ASSAY_COMMAND", "assay"), *words])
