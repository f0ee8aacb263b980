"""`assay triage`: from the job histories of a site to the few jobs for which another drive could matter."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

import click
from rich.console import Console

from assay.cli.console import Output
from assay.cli.context import Percentage, UserPath, open_console, output_options
from assay.cli.past_jobs import AskedJobs, check_target, past_jobs_options, read_past_jobs
from assay.cli.report import emit
from assay.engine.past.job import PastJob
from assay.host.files import replace_text
from assay.model.errors import BadInputError
from assay.model.trial import DEFAULT_WORTH
from assay.plan.experiment import MOST_WORTH
from assay.report.words import print_line
from assay.triage.drives import Drives, drives_text
from assay.triage.experiment import write_experiments
from assay.triage.following import next_commands
from assay.triage.ranking import NextCommand, Triage, TriageVerdict
from assay.triage.ranking import triage as ranked
from assay.triage.views import anonymous, csv_rows, page, print_triage

PAGE = Path("triage.html")
Form = Literal["html", "csv", "json"]


@click.command()
@past_jobs_options
@click.option(
    "--worth", type=Percentage(MOST_WORTH), default=DEFAULT_WORTH, show_default="10%",
    help="How much of a job's time a drive must save to be worth it.",
)  # fmt: skip
@click.option("--anonymous", "nameless", is_flag=True, help="Numbers instead of the names of jobs, users and queues.")
@click.option(
    "--write-experiment",
    "experiments",
    type=UserPath(),
    metavar="DIR",
    help="Write an experiment for each job that may matter.",
)
@click.option("--format", "form", type=click.Choice(get_args(Form)), help="Write only this form.")
@click.option("--out", type=UserPath(), help=f"The file to write; by default {PAGE} for the page.")
@output_options
def triage(
    asked: AskedJobs, worth: float, form: Form | None, out: Path | None, experiments: Path | None, *,
    nameless: bool, output: Output,
) -> int:  # fmt: skip
    """Rank past jobs by what drives could save at most, and probably. Nothing is run or changed.

    Reads finished jobs' histories (.jhist with _conf.xml) or event logs, and how busy the drives were where that was
    measured.

    \b
    Example:  assay triage --example
              assay triage --history /history/done --since 7d --drives 12xhdd
              assay triage --history /history/done --prometheus http://prometheus:9090
              assay triage --history hdfs:/history/done --cluster /etc/hadoop/conf --write-experiment experiments
    """
    _check_targets(out, experiments)
    past = read_past_jobs(asked, output.progress)
    jobs, by_role, histories = past.jobs, past.by_role, past.histories
    answer = ranked(jobs, past.site, worth, drives_text(by_role), histories.older, past.assumed, histories.unread)
    answer = answer.model_copy(update={"coverage": past.coverage(answer.summary)})
    typed_again = past.typed(worth)
    following = [] if nameless else next_commands(answer, typed_again._replace(experiments=experiments))
    _show(anonymous(answer) if nameless else answer, following, form, out, output)
    if experiments is not None:
        _write(answer, jobs, by_role, worth, experiments, open_console(error=True) if form else output.progress)
    return 0


def _check_targets(out: Path | None, experiments: Path | None) -> None:
    """Raises BadInputError for files and folders that can't be written, before anything is read."""
    check_target("--out", out)
    if experiments is not None and experiments.exists() and not experiments.is_dir():
        raise BadInputError(f"--write-experiment {experiments} is a file; name a folder, which may be new")


def _show(
    answer: Triage, following: Sequence[NextCommand], form: Form | None, out: Path | None, output: Output
) -> None:
    if form == "json" or (form is None and output.as_json):
        summary = answer.summary.model_copy(update={"next_commands": tuple(following)})
        emit(iter([answer.model_copy(update={"summary": summary}).model_dump_json(indent=1)]), out)
    elif form == "csv":
        emit(csv_rows(answer), out)
    else:
        if form is None:
            print_triage(answer, output.results, following, verbose=output.verbose)
        target = out or PAGE
        again = " (in place of the earlier one)" if target.exists() else ""
        replace_text(target, page(answer, following))
        print_line(output.results, f"page: {target}{again}")


def _write(
    answer: Triage, jobs: Sequence[PastJob], drives: Mapping[str, Drives], worth: float, folder: Path, console: Console
) -> None:
    rows = [row for row in answer.rows if row.verdict is TriageVerdict.MAY_MATTER]
    for file in write_experiments(rows, jobs, drives, worth, folder):
        print_line(console, f"experiment: {file}")
    if not rows:
        print_line(console, "no job may matter, so there is no experiment to write")
