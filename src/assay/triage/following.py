"""What to type after triage: what tells how busy the drives were, and the test of the job that could save most."""

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from assay.engine.past.formats import FORMS
from assay.model.drive_profile import SHORT_NAMES
from assay.model.trial import DEFAULT_WORTH
from assay.plan.job_experiment import ROLES, experiment_name
from assay.report.typed import typed
from assay.triage.drives import Drives
from assay.triage.ranking import Batch, JobRow, NextCommand, Triage, TriageVerdict

_EXPERIMENTS = "my-jobs"
"""Where experiments of jobs lie, as `run-job` has it."""
_GATHERED = "SAR"
"""What the printed command calls the folder with the files of all nodes."""
_TRIAGE = ("triage",)
_SOME_DRIVES = ("--drives", "12xhdd")
_DAY = timedelta(days=1)
_KEPT = timedelta(days=28)
"""Files of sysstat have the day of the month in their names, so that it keeps those of so many days."""


class TypedTriage(NamedTuple):
    """What was typed for triage, to be typed again: where histories are, all else, and each role's drives, if said.

    `node_memory` and `container_memory` are in bytes, and `cores` are a node's hardware threads, if known;
    `experiments` is the folder into which experiments are written, if any. `wants_busy` tells whether how busy the
    drives were is not known, and can be asked for: the jobs of an example ran on no nodes. `asks` is the command that
    reads histories again, with its own options.
    """

    places: Sequence[str]
    options: Sequence[str] = ()
    drives: Mapping[str, Drives] = {}
    node_memory: int | None = None
    container_memory: int | None = None
    cores: int | None = None
    worth: float = DEFAULT_WORTH
    experiments: Path | None = None
    wants_busy: bool = True
    asks: Sequence[str] = _TRIAGE


def worth_options(worth: float) -> list[str]:
    """The threshold as it is typed, unless it is the usual one."""
    return [] if worth == DEFAULT_WORTH else ["--worth", f"{100 * worth:.3g}%"]


def next_commands(answer: Triage, given: TypedTriage) -> list[NextCommand]:
    """What to type next, the most useful first; nothing where no job is open."""
    test = _test(answer, given) if answer.summary.deciding else None
    if not given.wants_busy or not any(map(_could_be_measured, answer.rows)):
        return [NextCommand(when="Next", command=command, words=words) for command, words in filter(None, [test])]
    again = _again(given, *(() if given.drives else _SOME_DRIVES), "--sar", _GATHERED)
    commands = [
        _print_busy_times(answer.summary),
        NextCommand(when="Then", command=again, words="" if given.drives else "say what drives each node has"),
    ]
    if test is not None:
        commands.append(NextCommand(when="Or", command=test[0], words=test[1]))
    return commands


def _could_be_measured(row: JobRow) -> bool:
    """Whether busy times of its nodes' drives could change the answer."""
    return row.verdict is not TriageVerdict.CANNOT_MATTER and bool(row.counted and row.nodes)


def _print_busy_times(summary: Batch) -> NextCommand:
    """How a node prints how busy its drives were, where sysstat's daily files are as it keeps them.

    A day begins at another time where the node's zone is another: so a day on either side is named, too.
    """
    began, ended = (
        datetime.fromtimestamp(at_ms / 1000).astimezone().date() for at_ms in (summary.began_ms, summary.ended_ms)
    )
    last = ended + _DAY
    first = max(began - _DAY, last - _KEPT + _DAY)
    file = f"/var/log/sa/sa{first:%d}"
    return NextCommand(
        when="Next",
        command=f"sadf -d {file} -- -d -p > $(hostname)-{first:%d}.csv",
        words=(
            f"on each node, for each day from {first} (sa{first:%d}) to {last} (sa{last:%d}) that it keeps; gather the "
            f"files in a folder {_GATHERED}. How busy the drives were narrows the answer most. On Debian the file of "
            f"the first day is {file.replace('/sa/', '/sysstat/')}"
        ),
    )


def _again(given: TypedTriage, *more: str) -> str:
    return typed(*given.asks, *given.places, *given.options, *more)


def _test(answer: Triage, given: TypedTriage) -> tuple[str, str]:
    """The command that tests the first job, or brings that nearer, and what to fill in."""
    if not given.drives:
        return _again(given, *_SOME_DRIVES), "say what drives each node has: that tightens the bounds"
    row = answer.rows[0]
    if row.not_sampled:
        file = (given.experiments or Path(_EXPERIMENTS)) / f"{experiment_name(row.job)}.yaml"
        if given.experiments is not None:
            return typed("run", str(file)), "fill in its jar and its input first"
        return (
            _again(given._replace(asks=_TRIAGE), "--write-experiment", _EXPERIMENTS),
            f"writes {file}; fill in its jar and its input, and run it with `{typed('run')}`",
        )
    role = row.role or ROLES[1]
    now = given.drives[role]
    options = ["--job", row.job, "--now", now.option, *(["--role", role] if role != ROLES[1] else [])]
    if now.profile == SHORT_NAMES["ssd"]:  # which run-job takes as the other drive otherwise
        options += ["--against", "nvme"]
    options += worth_options(given.worth)
    options += ["--cores", str(given.cores)] if given.cores else []
    memory, meanings = _memory(given)
    decided = shlex.join([*given.places, *options, *memory])
    program = FORMS[row.engine].file
    told = [f"{program} and INPUT are the job's", *meanings]
    return f"{typed('run-job')} {program} --input INPUT {decided}", ", and ".join(told)


def _memory(given: TypedTriage) -> tuple[list[str], list[str]]:
    """The options for a node's memory, and what to fill in there: nothing where the cluster itself can be asked."""
    known = {"--node-memory": given.node_memory, "--container-memory": given.container_memory}
    may_ask = "--cluster" in given.places
    options: list[str] = []
    for option, size in known.items():
        if size or not may_ask:
            options += [option, f"{size >> 20}MiB" if size else option.removeprefix("--").replace("-", "_").upper()]
    meanings = {
        "NODE_MEMORY": "NODE_MEMORY is the memory of a node, such as 128GiB",
        "CONTAINER_MEMORY": "CONTAINER_MEMORY is what containers may take of a node's memory",
    }
    return options, [meaning for word, meaning in meanings.items() if word in options]
