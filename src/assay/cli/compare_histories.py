"""`assay compare-histories`: did a change of drives help the jobs that run every night?"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from assay.advise.foretold import ForetoldChange, foretold, foretold_lines, read_advice
from assay.cli.console import Output
from assay.cli.context import Percentage, UserPath, WholeNumber, find_installation, output_options, print_json
from assay.cli.past_jobs import (
    ASSUMED_DRIVES,
    Since,
    check_named,
    find_histories,
    login_for,
    read_jobs,
    reading_progress,
)
from assay.engine.past.example import CHANGED_MS, CORES, DRIVES, FOLDER, FOLDER_AFTER, write_example
from assay.host.http import BoundedWeb
from assay.model.naming import first_few
from assay.model.trial import DEFAULT_WORTH
from assay.plan.experiment import MOST_WORTH
from assay.plan.job_experiment import ROLES
from assay.report.columns import Column, layout_table
from assay.report.words import about_text, percent, print_text
from assay.stats.before_after import MOST_NIGHTS, ChangeVerdict
from assay.triage.changed import Change, HistoriesChange, JobChange, Ratio, change_of, time_text
from assay.triage.drives import HOW, drives_by_role
from assay.triage.ranking import DriveSite

MOST_ROWS, MOST_REMARKS, MOST_STAGES = 16, 4, 2
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class ChangedAt(Since):
    """As `Since`, but a date alone is its noon, between two nights."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Fails on anything else."""
        text = str(value).strip()
        return super().convert(f"{text}T12:00" if _DATE.fullmatch(text) else value, param, ctx)


@click.command("compare-histories")
@click.option(
    "--history", "places", multiple=True, metavar="PLACE",
    help="Histories from before the change and after it, as triage takes them; several may be named.",
)  # fmt: skip
@click.option(
    "--example", is_flag=True,
    help=f"Write made histories from before a change and after it into {FOLDER}/ and {FOLDER_AFTER}/, and take those.",
)  # fmt: skip
@click.option(
    "--changed", "changes", type=ChangedAt(), multiple=True, metavar="DATE",
    help="When the drives were changed: a date, for noon of that day, a time such as 2026-11-18T20:00, or 7d.",
)  # fmt: skip
@click.option(
    "--control", "controls", multiple=True, metavar="JOB",
    help="A job that the change cannot touch; several may be named. By default those that cannot gain by drives, by "
    "triage's bound.",
)  # fmt: skip
@click.option("--role", type=click.Choice(ROLES), help="What the changed drives hold, if not all data.")
@click.option(
    "--setting", "settings", multiple=True, metavar="PROPERTY",
    help="A property of jobs that was the change; several may be named.",
)  # fmt: skip
@click.option("--since", type=Since(), default=0, help="Only jobs that ended since then: 7d, 36h, 2w or a date.")
@click.option("--until", type=Since(), help="Only jobs that began before then, such as before the next change.")
@click.option("--cluster", type=UserPath(), metavar="CONF_DIR", help="The cluster's Hadoop configuration.")
@click.option(
    "--drives", metavar="COUNTxDRIVE",
    help=f"The drives that each node had before the change: {HOW}. By default {ASSUMED_DRIVES}.",
)  # fmt: skip
@click.option("--cores", type=WholeNumber(1, 10_000), help="Hardware threads of each node, as `nproc` counts them.")
@click.option(
    "--advised", type=UserPath(), metavar="FILE",
    help="What `assay advise --json` had printed before the change, to be compared with what is seen.",
)  # fmt: skip
@click.option(
    "--done", metavar="ALTERNATIVE", help="Which alternative of --advised was done, if not the one that it has first."
)
@click.option(
    "--worth", type=Percentage(MOST_WORTH), default=DEFAULT_WORTH, show_default="10%",
    help="From which difference on you want to know of it.",
)  # fmt: skip
@output_options
def compare_histories(
    places: tuple[str, ...], changes: tuple[int, ...], controls: tuple[str, ...], role: str | None,
    settings: tuple[str, ...], since: int, until: int | None, cluster: Path | None, drives: str | None,
    cores: int | None, advised: Path | None, done: str | None, worth: float, *, example: bool, output: Output,
) -> None:  # fmt: skip
    """Tell whether a change of drives or settings helped, by jobs that recur before and after it.

    Their times are adjusted for the bytes of their input, and for what happened meanwhile to jobs that the change
    cannot touch. The interval comes from how much nights differ. Nothing is run or changed.

    \b
    Example:  assay compare-histories --example
              assay compare-histories --history /history/done --changed 2026-11-18 --drives 12xhdd --cores 32
              assay compare-histories --history /history/done --changed 2026-11-18 --advised advice.json
              assay compare-histories --history /history/done --changed 2026-11-18 --control "train model"
    """
    check_named(places, example=example)
    if not (changes or example):
        raise click.UsageError("Missing option '--changed': say when the change was made, such as 2026-11-18")
    if len(changes) > 1:
        raise click.UsageError(
            "--changed is given twice, and one change is judged at a time; set its neighbours apart with --since and "
            "--until"
        )
    if not worth:
        raise click.UsageError("--worth 0% can't be asked: no number of nights shows that two times are equal")
    if done and not advised:
        raise click.UsageError("--done names an alternative of --advised, which is missing; name its file, too")
    advice = read_advice(advised) if advised else None
    if example:
        write_example(FOLDER)
        write_example(FOLDER_AFTER, after=True)
        places, changes = (str(FOLDER), str(FOLDER_AFTER)), changes or (CHANGED_MS,)
        drives, cores = drives or DRIVES, cores or CORES
    site = DriveSite(drives_by_role(drives or ASSUMED_DRIVES, find_installation().profiles), cores)
    web = BoundedWeb(authorize=login_for(cluster))
    try:
        with reading_progress(output.progress) as bar:
            histories = find_histories(places, since, cluster, web, bar)
            jobs = [job for job in read_jobs(histories, bar) if until is None or job.started_ms < until]
    finally:
        web.close()
    answer = change_of(jobs, changes[0], site, worth, role or "", controls, settings)
    if histories.unread:
        unread = [f"{file}: {reason}" for file, reason in histories.unread]
        remark = f"{len(unread)} files tell of no job: {first_few(unread, between='; ', last=';', most=1)}"
        answer = answer.model_copy(update={"remarks": (*answer.remarks, remark)})
    beside = foretold(advice, done, answer) if advice else None
    if output.as_json:
        print_json(answer.model_dump(mode="json") | ({"advised": beside.model_dump(mode="json")} if beside else {}))
    for line in lines_of(answer, output.results.width, beside, verbose=output.verbose):
        print_text(output.results, line)


def lines_of(
    answer: HistoriesChange, width: int, beside: ForetoldChange | None = None, *, verbose: bool = False
) -> Iterator[str]:
    """The answer on one screen, or with all jobs; `beside` it what advice had foretold."""
    touched = len([row for row in answer.jobs if not row.control])
    yield _sentence(f"{touched} job{'' if touched == 1 else 's'} that the change may touch", answer.total, answer)
    if answer.batch:
        of_batch = f"The batch, from first start to last end, {about_text(answer.batch_s)} a night before"
        yield _sentence(of_batch, answer.batch, answer)
    yield (
        f"{answer.nights_before} nights before {time_text(answer.changed_ms)} and {answer.nights_after} after it. "
        f"{_drift_words(answer)}"
    )
    most = len(answer.jobs) if verbose else MOST_ROWS // 2 if beside else MOST_ROWS
    rows = answer.jobs[:most]
    table = list(layout_table(columns_of(rows), width))
    if len(table) > len(rows) + 1 and not verbose:  # names stand above their figures
        rows = rows[: MOST_ROWS // 2]
        table = list(layout_table(columns_of(rows), width))
    yield from table
    if more := len(answer.jobs) - len(rows):
        yield f"  and {more} more job{'' if more == 1 else 's'}: --verbose and --json have all"
    yield (
        "Time: in a night before the change. Input: how much more was read after it. Plain: mean time after the change "
        "over mean time before it. Ratio: the same, adjusted for input and drift; of controls for input alone. "
        "Interval: 95 %, by how much nights differ. Verdicts on jobs are corrected for their number."
    )
    if beside:
        yield from foretold_lines(beside, width, most)
    remarks = answer.remarks if verbose else answer.remarks[:MOST_REMARKS]
    yield from (f"Left out or odd: {remark}." for remark in remarks)
    if more := len(answer.remarks) - len(remarks):
        yield f"And {more} more remark{'' if more == 1 else 's'}: --verbose and --json have all."
    yield f"Next: {_next_step(answer)}"


def _sentence(subject: str, change: Change | None, answer: HistoriesChange) -> str:
    if change is None:
        return f"{subject}: not known, as too few of their nights have a control."
    return f"{subject}: {_verdict_words(change, answer)}. {saving_words(change)}."


def _verdict_words(change: Change, answer: HistoriesChange) -> str:
    if change.verdict is ChangeVerdict.NO_DIFFERENCE:
        return f"no difference of {percent(answer.worth)} or more"
    if change.verdict is not ChangeVerdict.NOT_KNOWN:
        return str(change.verdict)
    if not answer.controls:
        return "not known, as there is no control"
    if change.more_nights is None:
        return f"not known, and {MOST_NIGHTS} more nights would not tell"
    return f"not known: {change.more_nights} more night{'' if change.more_nights == 1 else 's'} would tell"


def saving_words(part: Ratio) -> str:
    """`21 % less time (95 % interval 12 to 29 % less)`."""
    way, sign = ("less", -1) if part.ratio <= 1 else ("more", 1)
    low, high = sorted(round(100 * sign * (bound - 1)) for bound in (part.interval.low, part.interval.high))
    return f"{round(100 * sign * (part.ratio - 1))} % {way} time (95 % interval {low} to {high} % {way})"


def _drift_words(answer: HistoriesChange) -> str:
    if answer.drift is None:
        return (
            "No job is known that the change cannot touch, so that a quieter cluster can't be told from faster drives."
        )
    controls = f"{len(answer.controls)} control{'' if len(answer.controls) == 1 else 's'}"
    words = f"{controls}, which the change cannot touch, took {saving_words(answer.drift)}: the cluster's drift."
    if answer.unseen < 0.005:
        return words
    return f"{words} The change may have saved them up to {percent(answer.unseen)} too, which the ratios do not show."


def columns_of(rows: Sequence[JobChange]) -> list[Column]:
    """A line for each job."""

    def cell(change: Change | None) -> str:
        if change is None or change.verdict is ChangeVerdict.CHANGED:
            return "-" if change is None else "changed"
        return f"{change.more_nights} more nights" if change.more_nights else str(change.verdict)

    def stages(row: JobChange) -> str:
        named = [f"{name} {part.ratio:.2f}" for name, part in row.stages.items()]
        return ", ".join(named[:MOST_STAGES]) + (", ..." if len(named) > MOST_STAGES else "")

    changes = [row.change for row in rows]
    inputs = [f"{100 * (row.input_ratio - 1):+.0f} %" if row.input_ratio else "-" for row in rows]
    intervals = [f"{of.interval.low:.2f} to {of.interval.high:.2f}" if of else "-" for of in changes]
    return [
        Column("job", [row.job for row in rows], name=True),
        Column("time", [about_text(row.seconds) for row in rows], rank=2),
        Column("input", inputs, rank=3),
        Column("plain", [f"{row.plain_ratio:.2f}" for row in rows], rank=1),
        Column("ratio", [f"{of.ratio:.2f}" if of else "-" for of in changes]),
        Column("interval", intervals),
        Column("verdict", ["control" if row.control else cell(row.change) for row in rows]),
        Column("stages", [stages(row) for row in rows], rank=4),
    ]


def _next_step(answer: HistoriesChange) -> str:
    if answer.drift is None:
        return (
            "name with --control some jobs that the change cannot touch, such as those that only compute; or say with "
            "--drives and --cores what each node had, so that triage's bound finds some."
        )
    verdict = answer.total.verdict if answer.total else ChangeVerdict.NOT_KNOWN
    if verdict is ChangeVerdict.HELPED:
        return "keep the change. `assay triage` says what drives could still save."
    if verdict is ChangeVerdict.LONGER:
        return "look what else changed then, such as a drive that is worn or full, before you change more."
    if verdict is ChangeVerdict.NO_DIFFERENCE:
        return "spend nothing more on such drives. `assay triage` says which jobs wait for drives at all."
    more = answer.total.more_nights if answer.total else None
    if more:
        return f"compare again after {more} more night{'' if more == 1 else 's'}."
    return "read more nights from before the change, or name jobs with --control that run every night."
