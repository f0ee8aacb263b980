"""What to type after triage: what tells how busy the drives were, and the test of the job that could save most."""

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from assay.engine.past.formats import FORMS
from assay.model.drive_profile import SHORT_NAMES
from assay.model.engine import HADOOP_JOBS
from assay.model.trial import DEFAULT_WORTH
from assay.plan.job_experiment import ROLES, experiment_name
from assay.report.typed import typed
from assay.triage.drives import Drives
from assay.triage.ranking import Batch, JobRow, NextCommand, Triage, TriageVerdict

_EXPERIMENTS = "my-jobs"
"""Where experiments of jobs lie, as `run-job` has it."""
_GATHERED = "SAR"
"""What the printed command calls the folder with the files of all nodes."""
_SOME_DRIVES = ("--drives", "12xhdd")


class TypedTriage(NamedTuple):
    """What was typed for triage, to be typed again: where histories are, all else, and each role's drives, if said.

    `node_memory` and `container_memory` are in bytes, and `cores` are a node's hardware threads, if known;
    `experiments` is the folder into which experiments are written, if any. `is_busy_known` tells whether anything says
    how busy the drives were.
    """

    places: Sequence[str]
    options: Sequence[str] = ()
    drives: Mapping[str, Drives] = {}
    node_memory: int | None = None
    container_memory: int | None = None
    cores: int | None = None
    worth: float = DEFAULT_WORTH
    experiments: Path | None = None
    is_busy_known: bool = False


def worth_options(worth: float) -> list[str]:
    """The threshold as it is typed, unless it is the usual one."""
    return [] if worth == DEFAULT_WORTH else ["--worth", f"{100 * worth:g}%"]


def next_commands(answer: Triage, given: TypedTriage) -> list[NextCommand]:
    """What to type next, the most useful first; nothing where no job is open."""
    test = _test(answer, given) if answer.summary.deciding else None
    if given.is_busy_known or not any(map(_could_be_measured, answer.rows)):
        return [NextCommand(when="Next", command=command, words=words) for command, words in filter(None, [test])]
    again = _again(given, *(() if given.drives else _SOME_DRIVES), "--sar", _GATHERED)
    commands = [
        _print_busy_times(answer.summary),
        NextCommand(when="Then", command=again, words="" if given.drives else "say so what drives each node has"),
    ]
    if test is not None:
        commands.append(NextCommand(when="Or", command=test[0], words=test[1]))
    return commands


def _could_be_measured(row: JobRow) -> bool:
    """Whether busy times of its nodes' drives could change the answer."""
    return row.verdict is not TriageVerdict.CANNOT_MATTER and bool(row.counted and row.nodes)


def _print_busy_times(summary: Batch) -> NextCommand:
    """How a node prints how busy its drives were, where sysstat's daily files are as it keeps them."""
    first, last = (
        f"{datetime.fromtimestamp(at_ms / 1000).astimezone():%d}" for at_ms in (summary.began_ms, summary.ended_ms)
    )
    days = "" if first == last else f", and for each day until sa{last}"
    file = f"/var/log/sa/sa{first}"
    return NextCommand(
        when="Next",
        command=f"sadf -d {file} -- -d -p > $(hostname)-{first}.csv",
        words=(
            f"on each node{days}; gather the files in a folder {_GATHERED}. How busy the drives were narrows the "
            f"answer most. On Debian it is {file.replace('/sa/', '/sysstat/')}"
        ),
    )


def _again(given: TypedTriage, *more: str) -> str:
    return f"{typed('triage')} {shlex.join([*given.places, *given.options, *more])}"


def _test(answer: Triage, given: TypedTriage) -> tuple[str, str]:
    """The command that tests the first job, or brings that nearer, and what to fill in."""
    if not given.drives:
        return _again(given, *_SOME_DRIVES), "say so what drives each node has: it tightens the bounds"
    row = answer.rows[0]
    if FORMS[row.engine].program != HADOOP_JOBS:
        file = (given.experiments or Path(_EXPERIMENTS)) / f"{experiment_name(row.job)}.yaml"
        if given.experiments is not None:
            return typed("run", str(file)), "fill in its jar and its input first"
        return (
            _again(given, "--write-experiment", _EXPERIMENTS),
            f"writes {file}; fill in its jar and its input, and run it with `{typed('run')}`",
        )
    role = row.role or ROLES[1]
    now = given.drives[role]
    options = ["--job", row.job, "--now", now.option, *(["--role", role] if role != ROLES[1] else [])]
    if now.profile == SHORT_NAMES["ssd"]:  # which run-job takes as the other drive otherwise
        options += ["--against", "nvme"]
    options += worth_options(given.worth)
    options += ["--cores", str(given.cores)] if given.cores else []
    memory, fill_in = _memory(given)
    words = shlex.join([*given.places, *options, *memory])
    return f"{typed('run-job')} JAR --input INPUT {words}", f"JAR and INPUT are the job's{fill_in}"


def _memory(given: TypedTriage) -> tuple[list[str], str]:
    """The options for a node's memory, and what to fill in there: nothing where the cluster itself can be asked."""
    known = {"--node-memory": given.node_memory, "--container-memory": given.container_memory}
    may_ask = "--cluster" in given.places
    options: list[str] = []
    for option, size in known.items():
        if size or not may_ask:
            options += [option, f"{size >> 20}MiB" if size else option.removeprefix("--").replace("-", "_").upper()]
    fill_in = ""
    if not may_ask and not given.node_memory:
        fill_in += ", NODE_MEMORY is what a node has, such as 128GiB,"
    if not may_ask and not given.container_memory:
        fill_in += " and CONTAINER_MEMORY what containers may take of that"
    return options, fill_in
