"""`assay runs`: the runs below a folder, with their answers."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from assay.cli.context import RUNS, UserPath, json_option, open_console, print_json, run_folders
from assay.cli.report import uncollected
from assay.model.errors import BadInputError
from assay.record.folder import RunFolder
from assay.report.analysis import analyse, read_run
from assay.report.columns import Column, layout_table
from assay.report.run_summary import RunSummary, summary_of
from assay.report.words import age_text, print_line

MOST_LISTED = 20


@click.command()
@click.argument("folder", type=UserPath(), default=RUNS)
@click.option("--all", "everything", is_flag=True, help=f"List all runs; by default the {MOST_LISTED} newest.")
@json_option("Print each run's answers as JSON.")
@uncollected()
def runs(folder: Path, *, everything: bool, as_json: bool) -> None:
    """List runs, the newest first, with their answers.

    FOLDER is the folder of the runs, by default runs/.

    \b
    Example:  assay runs
    """
    if folder != RUNS and not folder.is_dir():
        raise BadInputError(f"{folder} is not a folder; name the folder in which the runs' folders are")
    folders = run_folders(folder)
    shown = folders if everything else folders[:MOST_LISTED]
    summaries: list[RunSummary] = []
    unreadable: dict[Path, str] = {}
    for run_folder in shown:
        try:
            run = read_run(RunFolder(run_folder), details=False)
            summaries.append(summary_of(run, analyse(run.measured)))
        except BadInputError as error:
            unreadable[run_folder] = str(error)
    if as_json:
        left_out = [{"folder": str(run_folder), "reason": reason} for run_folder, reason in unreadable.items()]
        print_json({"runs": [summary.model_dump(mode="json") for summary in summaries], "left_out": left_out})
        return
    console = open_console()
    for line in layout_table(columns_of(summaries, datetime.now(UTC)), console.width) if summaries else ():
        print_line(console, line)
    for reason in unreadable.values():
        print_line(console, f"left out: {reason}")
    if len(shown) < len(folders):
        print_line(console, f"and {len(folders) - len(shown)} older ones; --all lists them too")
    if not folders:
        print_line(console, f"no run is below {folder} yet; start one with `assay quickstart`")


def columns_of(summaries: Sequence[RunSummary], now: datetime) -> list[Column]:
    """Return the columns of a table with a line for each run; times are in this machine's zone."""
    began = [summary.began for summary in summaries]
    return [
        Column("run", [str(summary.folder) for summary in summaries], name=True),
        Column(
            "date", [f"{start.astimezone():%Y-%m-%d %H:%M}" if start else "-" for start in began], name=True, rank=2
        ),
        Column(
            "age", [age_text((now - start).total_seconds()) if start else "-" for start in began], name=True, rank=1
        ),
        Column("experiment", [summary.experiment for summary in summaries], name=True, rank=3),
        Column("trials", [_trials(summary) for summary in summaries], name=True),
        Column("answer", [summary.answer for summary in summaries], name=True),
    ]


def _trials(summary: RunSummary) -> str:
    counts = {"failed": summary.failed, "unchecked": summary.unchecked, "unreadable": summary.unreadable}
    wrong = [f"{count} {state}" for state, count in counts.items() if count]
    return ", ".join([f"{summary.finished}/{summary.planned}", *wrong])
