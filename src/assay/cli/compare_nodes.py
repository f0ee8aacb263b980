"""`assay compare-nodes`: what one changed node tells: its tasks against those of the same jobs on the other nodes."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import click

from assay.cli.context import UserPath, json_option, open_console, print_json
from assay.cli.past_jobs import Since
from assay.engine.past.formats import attempts_of, name_the_folder
from assay.engine.past.histories import merged
from assay.engine.past.job import PastJob, distinct
from assay.host.files import possible
from assay.model.errors import AssayError, BadInputError
from assay.model.naming import nearest
from assay.model.store import names_store
from assay.model.task import TaskAttempt
from assay.record.folder import RunFolder
from assay.report.columns import Column, layout_table
from assay.report.words import duration_text, print_line
from assay.stats.one_node import LEAST_OTHERS, LEAST_TASKS, NodeComparison, NodePart, compare_node, in_order
from assay.stats.sample import is_valid
from assay.stats.trial_summary import summaries_of
from assay.triage.folder import files_below, in_folder
from assay.triage.like_one_node import Gain, LikeOneNode, like_one_node
from assay.triage.window import local_time

MOST_NAMED, MOST_JOBS = 3, 5
_WORTH = 0.05
"""A change that saves less of tasks' time for sure is not worth doing on more nodes."""


@click.command("compare-nodes")
@click.argument("node")
@click.option(
    "--history", "places", multiple=True, metavar="FOLDER",
    help="The folder of the job histories, on this machine; several may be named.",
)  # fmt: skip
@click.option("--run", "run_folder", type=UserPath(), metavar="RUN", help="A run of Assay's, in place of histories.")
@click.option("--since", type=Since(), help="Only jobs that ended since then: 7d, 36h, 2w or a date.")
@click.option("--changed", type=Since(), help="When the node was changed: what differed before does not count.")
@json_option()
def compare_nodes(
    node: str,
    places: tuple[str, ...],
    run_folder: Path | None,
    since: int | None,
    changed: int | None,
    *,
    as_json: bool,
) -> None:
    """Compare the tasks that ran on one node, such as one with an SSD, with those on the others.

    NODE is its name in the jobs' histories. Tasks of the same stage of the same job are compared; the interval comes
    from how much the other nodes differ among themselves. Of histories, it also says what jobs and the longest night
    would gain if all nodes were like NODE. Nothing is run or changed.

    \b
    Example:  assay compare-nodes worker-07 --history /history/done --since 2026-11-20
              assay compare-nodes worker-07 --history /history/done --since 14d --changed 7d
    """
    if bool(places) == (run_folder is not None):
        raise click.UsageError("name the jobs with either --history FOLDER or --run RUN")
    left_out: list[str] = []
    if run_folder is not None:
        if since is not None:
            raise click.UsageError("--since chooses among the histories of a folder; leave it out with --run")
        attempts = _of_run(run_folder)
    else:
        files = [file for place in places for file in _history_files(place, since, left_out)]
        attempts = _of_histories(files, since or 0, left_out)
    comparison = compare_node(attempts, node, changed)
    _check(comparison, node, changed, " and ".join(places) or str(run_folder), left_out)
    parts = in_order(comparison.parts)
    gains = like_one_node(_past_jobs(places, since or 0, changed or 0), parts) if places else None
    if as_json:
        print_json({
            "node": node, "parts": [part.model_dump(mode="json") for part in parts],
            "if_all_nodes": gains.model_dump(mode="json") if gains else None, "left_out": left_out,
        })  # fmt: skip
        return
    console = open_console()
    for line in lines_of(parts, node, console.width, changed=changed is not None):
        print_line(console, line)
    if gains:
        for line in gains_lines(gains, node, console.width):
            print_line(console, line)
    for reason in _most_named(left_out):
        print_line(console, f"left out: {reason}")
    print_line(console, f"Next: {next_step(parts, node, changed=changed is not None)}")


def lines_of(parts: list[NodePart], node: str, width: int, *, changed: bool) -> Iterator[str]:
    """A sentence for each stage, and a line for each of its phases."""
    yield from (sentence(part, node, changed=changed) for part in parts if not part.phase)
    yield from layout_table(columns_of(parts, node), width)
    yield (
        "Other nodes' reducers fetch from this node too: what its drive saves them is not in these times. Interval: "
        "95 %, by how much the other nodes differ among themselves."
    )


def _check(comparison: NodeComparison, node: str, changed: int | None, source: str, left_out: list[str]) -> None:
    """Raises BadInputError where nothing can be compared, and says why."""
    if not comparison.nodes:
        reasons = "".join(f"; left out: {reason}" for reason in _most_named(left_out))
        raise BadInputError(f"{source} has no task that ended well and whose node is known{reasons}")
    if node not in comparison.nodes:
        raise BadInputError(f"no task of these jobs ran on a node {node!r}; {nearest(node, comparison.nodes)}")
    if not comparison.shared:
        raise BadInputError(
            f"no job ran on {node} and on another node too, so there is nothing to compare; take jobs of more tasks"
        )
    if changed is not None and changed > comparison.last_ms:
        raise BadInputError("the change lies after all jobs; give --changed the time of the change, before the last")
    if changed is not None and changed <= comparison.first_ms:
        raise BadInputError("the change lies before all jobs; take older jobs too, or leave out --changed")
    if not comparison.parts:
        raise BadInputError(
            f"too few tasks of the same jobs ran on {node} and on another node"
            f"{' before and after the change' if changed else ''}: at least {LEAST_TASKS} on each are needed; take "
            "more jobs"
        )


def _most_named(left_out: list[str]) -> Iterator[str]:
    """The first reasons, and how many more there are."""
    yield from left_out[:MOST_NAMED]
    if len(left_out) > MOST_NAMED:
        yield f"{len(left_out) - MOST_NAMED} more histories"


def _history_files(history: str, since_ms: int | None, left_out: list[str]) -> list[Path]:
    """The files that `--history` names; why others below it are none goes to `left_out`.

    Raises BadInputError, also for a place that is not of this machine.
    """
    if history.startswith(("http://", "https://")):
        raise BadInputError(
            f"--history {history} is a server, which takes minutes to tell of all tasks; copy the histories "
            f"here with `hadoop fs -get`, and {name_the_folder()}"
        )
    if names_store(history) and not history.startswith("file:"):
        raise BadInputError(
            f"--history {history} is not on this machine; copy the histories here with `hadoop fs -get {history} .`, "
            "and name that folder"
        )
    if not history:
        raise click.UsageError("--history is empty; name the folder of the job histories")
    path = _path(history)
    if not path.is_file():
        below = files_below(path, since_ms or 0, lambda _: None)
        left_out += [f"{file}: {reason}" for file, reason in below.unread]
        return below.files
    if since_ms is not None:
        raise click.UsageError(f"--since chooses among the histories of a folder, and {path} is one file; leave it out")
    return [path]


def _path(history: str) -> Path:
    return possible(Path(history.removeprefix("file://").removeprefix("file:")))


def _past_jobs(places: Sequence[str], since_ms: int, changed_ms: int) -> list[PastJob]:
    """The jobs of all places that ended since both times, each once."""
    jobs = merged(partial(in_folder, _path(place), since_ms, lambda _: None) for place in places).jobs
    return [job for job in distinct(jobs) if job.finished_ms >= max(since_ms, changed_ms)]


def _of_histories(files: list[Path], since_ms: int, left_out: list[str]) -> Iterator[TaskAttempt]:
    """The attempts of all whole histories of jobs that ended since a time, each once; `left_out` is why others are not.

    While the server moves a history from done_intermediate to done, both hold it. Two clusters may give one id to two
    jobs, whose attempts began at different times.
    """
    begun_ms: dict[str, int] = {}
    for file in files:
        try:
            attempts = [attempt for attempt in attempts_of(file) if begun_ms.get(attempt.attempt) != attempt.started_ms]
        except AssayError as error:
            left_out.append(str(error))
            continue
        if max((attempt.finished_ms for attempt in attempts), default=since_ms) < since_ms:
            continue
        another = any(attempt.attempt in begun_ms for attempt in attempts)
        begun_ms.update((attempt.attempt, attempt.started_ms) for attempt in attempts)
        for attempt in attempts:
            yield attempt.model_copy(update={"job": f"{attempt.job} in {file}"}) if another else attempt


def _of_run(folder: Path) -> Iterator[TaskAttempt]:
    """The attempts of a run's trials that count, each trial's jobs apart from the others'."""
    run = RunFolder(folder)
    for summary in summaries_of(run)[0]:
        if is_valid(summary):
            for attempt in run.attempts(summary.trial):
                yield attempt.model_copy(update={"job": f"{summary.id} {attempt.job}"})


def sentence(part: NodePart, node: str, *, changed: bool) -> str:
    """What whole tasks of a stage say."""
    others = f"the {part.others} others" if part.others > 1 else "the other node"
    beyond = ", beyond what differed before the change" if changed else ""
    if is_alike(part):
        took = f"as long as on {others}{beyond}: no difference found"
    else:
        less = 1 - part.ratio
        took = f"{abs(less):.0%} {'less' if less >= 0 else 'more'} time than on {others}{beyond}".replace("%", " %")
    statement = f"{part.stage.capitalize()} tasks on {node} took {took}"
    if part.interval is None:
        return f"{statement}; how sure that is can't be told with fewer than {LEAST_OTHERS} other nodes."
    bounds = [round(100 * (1 - bound)) for bound in (part.interval.high, part.interval.low)]
    if is_alike(part) and bounds == [0, 0]:
        return f"{statement}."
    if part.ratio > 1 and not is_alike(part):
        interval = f"{-bounds[1]} to {-bounds[0]} % more"
    else:
        interval = f"{bounds[0]} to {bounds[1]} % less"
    doubt = "" if part.significant or is_alike(part) else ", so it may be chance"
    return f"{statement} (95 % interval {interval}{doubt})."


def is_alike(part: NodePart) -> bool:
    """Whether the difference is none in whole percent."""
    return round(100 * (1 - part.ratio)) == 0


def next_step(parts: list[NodePart], node: str, *, changed: bool) -> str:
    """What to do with the answer."""
    stages = [part for part in parts if not part.phase] or parts
    differing = [part for part in stages if part.significant and not is_alike(part)]
    if any(part.ratio < 1 for part in differing):
        return (
            "`assay triage --history FOLDER` ranks your jobs by what another drive in all nodes could save of their "
            "time at most."
        )
    if differing:
        return f"look what slows {node}, such as a worn drive or other services, before you change more nodes."
    if all(part.interval is None for part in stages):
        return f"compare jobs that run on at least {LEAST_OTHERS} other nodes."
    if all(part.interval is not None and part.interval.low > 1 - _WORTH for part in stages):
        worth = round(100 * _WORTH)
        return f"leave the other nodes as they are: what differs on {node} saves less than {worth} % of tasks' time."
    if not changed:
        return (
            f"if you know when {node} was changed, take out what differed before with --changed DATE; else change a "
            "second node. More tasks alone do not make the interval narrower."
        )
    return "change a second node too; more tasks alone do not make the interval narrower."


def gains_lines(gains: LikeOneNode, node: str, width: int) -> Iterator[str]:
    """What all jobs and the longest night would gain, what that takes for granted, and which jobs would gain most."""
    jobs, night = gains.all_jobs, gains.night
    number = f"all {len(gains.jobs):,} jobs" if len(gains.jobs) > 1 else "the job"
    yield (
        f"If all nodes were like {node}, {number} would take {_saved_share(jobs)}: {_duration(jobs.saved_s)} of "
        f"{duration_text(jobs.of_s)}."
    )
    if night:
        which = f"The longest of {night.nights:,} nights" if night.nights > 1 else "The night"
        began = f"{local_time(night.began_ms):%Y-%m-%d %H:%M}"
        earlier = _saved_text(night.gain, ("earlier", "later"), _duration)
        yield f"{which}, from {began} on and {duration_text(night.gain.of_s)} long, would end {earlier}."
    if gains.uncompared_s >= _WORTH * jobs.of_s:
        yield (
            f"Stages that took {duration_text(gains.uncompared_s)} of that time have too few tasks to be compared, and "
            "count as unchanged."
        )
    yield (
        "These take each stage for as much shorter as its tasks, and the time between tasks for unchanged. What "
        "reducers save that fetch from faster drives of other nodes is not in them."
    )
    yield from layout_table(job_columns(gains), width)
    if more := len(gains.jobs[MOST_JOBS:]):
        yield f"  and {more:,} more job{'' if more == 1 else 's'}: --json has all"


def _saved_share(gain: Gain) -> str:
    return _saved_text(gain, ("less time", "more time"), lambda saved_s: f"{round(100 * saved_s / gain.of_s)} %")


def _saved_text(gain: Gain, ways: tuple[str, str], text: Callable[[float], str]) -> str:
    """`14 % less time (95 % interval 8 % to 20 % less)`; the first way is what is saved, the second what is lost."""
    sign, way = (1, ways[0]) if round(gain.saved_s) >= 0 else (-1, ways[1])
    saved = f"{text(sign * gain.saved_s)} {way}"
    if gain.interval_s is None:
        return saved
    low_s, high_s = sorted((sign * gain.interval_s.low, sign * gain.interval_s.high))
    return f"{saved} (95 % interval {text(low_s)} to {text(high_s)} {way.partition(' ')[0]})"


def _duration(seconds: float) -> str:
    return f"{'-' if seconds <= -0.5 else ''}{duration_text(abs(seconds))}"


def job_columns(gains: LikeOneNode) -> list[Column]:
    """A line for each of the jobs that would gain most."""
    shown = gains.jobs[:MOST_JOBS]
    return [
        Column("job", [job.job for job in shown], name=True),
        Column("runs", [f"{job.runs:,}" for job in shown]),
        Column("time", [duration_text(job.gain.of_s) for job in shown]),
        Column("if all were", [_saved_share(job.gain) for job in shown]),
    ]


def columns_of(parts: list[NodePart], node: str) -> list[Column]:
    """A line for each stage and phase."""
    return [
        Column("stage", [part.stage if not part.phase else f"  {part.phase}" for part in parts], name=True),
        Column("jobs", [str(part.jobs) for part in parts]),
        Column(f"tasks on {node}", [str(part.tasks) for part in parts]),
        Column("on others", [str(part.other_tasks) for part in parts]),
        Column("other nodes", [str(part.others) for part in parts]),
        Column("ratio", [f"{part.ratio:.2f}" for part in parts]),
        Column(
            "interval",
            [f"{part.interval.low:.2f} to {part.interval.high:.2f}" if part.interval else "-" for part in parts],
        ),
    ]
