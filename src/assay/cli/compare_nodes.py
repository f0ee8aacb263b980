"""`assay compare-nodes`: what one changed node tells: its tasks against those of the same jobs on the other nodes."""

from collections.abc import Iterator
from pathlib import Path

import click

from assay.cli.context import UserPath, json_option, open_console, print_json
from assay.cli.triage import Since
from assay.engine.past.attempts import attempts_of
from assay.model.errors import AssayError, BadInputError
from assay.model.naming import nearest
from assay.model.task import TaskAttempt
from assay.record.folder import RunFolder
from assay.report.columns import Column, fitted
from assay.report.words import print_line
from assay.stats.one_node import LEAST_OTHERS, LEAST_TASKS, NodePart, compare_node, in_order
from assay.stats.sample import counts
from assay.triage.folder import files_below

MOST_NAMED = 3


@click.command("compare-nodes")
@click.argument("node")
@click.option("--history", type=UserPath(), metavar="FOLDER", help="The folder of the job histories.")
@click.option("--run", "run_folder", type=UserPath(), metavar="RUN", help="A run of Assay's, in place of histories.")
@click.option("--since", type=Since(), default=0, help="Only jobs that ended since then: 7d, 36h, 2w or a date.")
@click.option("--changed", type=Since(), help="When the node was changed: what differed before does not count.")
@json_option()
def compare_nodes(
    node: str, history: Path | None, run_folder: Path | None, since: int, changed: int | None, *, as_json: bool
) -> None:
    """Compare the tasks that ran on one node, such as one with an SSD, with those on the others.

    NODE is its name in the jobs' histories. Tasks of the same stage of the same job are compared; the interval comes
    from how much the other nodes differ among themselves. Nothing is run or changed.

    \b
    Example:  assay compare-nodes worker-07 --history /history/done --since 2026-11-20
              assay compare-nodes worker-07 --history /history/done --since 14d --changed 7d
    """
    if (history is None) == (run_folder is None):
        raise click.UsageError("name the jobs with either --history FOLDER or --run RUN")
    left_out: list[str] = []
    attempts = _of_histories(history, since, left_out) if history is not None else _of_run(run_folder or Path())
    found, nodes = compare_node(attempts, node, changed)
    if not nodes:
        raise BadInputError(f"{history or run_folder} has no task that ended well and whose node is known")
    if node not in nodes:
        raise BadInputError(f"no task of these jobs ran on a node {node!r}; {nearest(node, nodes)}")
    if not found:
        raise BadInputError(
            f"too few tasks of the same jobs ran on {node} and on another node"
            f"{' before and after the change' if changed else ''}: at least {LEAST_TASKS} on each are needed; take "
            "more jobs, such as --since 14d"
        )
    parts = in_order(found)
    if as_json:
        print_json({"node": node, "parts": [part.model_dump(mode="json") for part in parts], "left_out": left_out})
        return
    console = open_console()
    for part in parts:
        if not part.phase:
            print_line(console, sentence(part, node, changed=changed is not None))
    for line in fitted(columns_of(parts, node), console.width):
        print_line(console, line)
    print_line(
        console,
        "Other nodes' reducers fetch from this node too: what its drive saves them is not in these times. Interval: "
        "95 %, by how much the other nodes differ among themselves.",
    )
    for reason in left_out[:MOST_NAMED]:
        print_line(console, f"left out: {reason}")
    if len(left_out) > MOST_NAMED:
        print_line(console, f"and {len(left_out) - MOST_NAMED} more histories were left out")


def _of_histories(folder: Path, since_ms: int, left_out: list[str]) -> Iterator[TaskAttempt]:
    """The attempts of all whole histories; why others are not among them goes to `left_out`."""
    files = [folder] if folder.is_file() else files_below(folder, since_ms, lambda _: None)[0]
    for file in files:
        try:
            yield from attempts_of(file)
        except AssayError as error:
            left_out.append(str(error))


def _of_run(folder: Path) -> Iterator[TaskAttempt]:
    """The attempts of a run's trials that count, each trial's jobs apart from the others'."""
    run = RunFolder(folder)
    for record in run.records(run.plan())[0]:
        if counts(record):
            for attempt in run.attempts(record.trial):
                yield attempt.model_copy(update={"job": f"{record.trial.id} {attempt.job}"})


def sentence(part: NodePart, node: str, *, changed: bool) -> str:
    """What whole tasks of a stage say."""
    less = 1 - part.ratio
    took = f"{abs(less):.0%} {'less' if less >= 0 else 'more'} time".replace("%", " %")
    others = f"the {part.others} others" if part.others > 1 else "the other node"
    than = f"than on {others}" + (", beyond what differed before the change" if changed else "")
    said = f"{part.stage.capitalize()} tasks on {node} took {took} {than}"
    if part.interval is None:
        return f"{said}; how sure that is can't be told with fewer than {LEAST_OTHERS} other nodes."
    sure = "" if part.significant else ", so it may be chance"
    return f"{said} ({_less(part)}{sure})."


def _less(part: NodePart) -> str:
    """`9 to 26 % less`."""
    if part.interval is None:
        return "not known"
    low, high = round(100 * (1 - part.interval.high)), round(100 * (1 - part.interval.low))
    return f"95 % interval {low} to {high} % less"


def columns_of(parts: list[NodePart], node: str) -> list[Column]:
    """A line for each stage and phase."""
    return [
        Column("stage", [part.stage if not part.phase else f"  {part.phase}" for part in parts], name=True),
        Column("jobs", [str(part.jobs) for part in parts]),
        Column(f"tasks on {node}", [str(part.tasks) for part in parts]),
        Column("on others", [str(part.other_tasks) for part in parts]),
        Column("nodes", [str(part.others) for part in parts]),
        Column("ratio", [f"{part.ratio:.2f}" for part in parts]),
        Column(
            "interval",
            [f"{part.interval.low:.2f} to {part.interval.high:.2f}" if part.interval else "-" for part in parts],
        ),
    ]
