"""`assay compare`: any number of runs side by side."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

import click
from rich.console import Console

from assay.cli.context import FAILED, Percentage, UserPath, open_console
from assay.cli.report import Form, emit, find_browser, json_lines, uncollected, write_page
from assay.model.errors import BadInputError
from assay.record.folder import RunFolder
from assay.report.analysis import analyse_run, read_run
from assay.report.compare_runs import ComparedRuns, Slowdowns, compare_runs, compared_values, slowdown_words, slowdowns
from assay.report.compare_views import comparison_markdown, comparison_page, print_comparison
from assay.report.values import csv_lines
from assay.report.words import print_text

PAGE = Path("comparison.html")


def run_names(folders: Sequence[Path]) -> list[str]:
    """Name each run by the last parts of its path, as few as tell all apart. Raises BadInputError for repetitions."""
    whole = [folder.resolve() for folder in folders]
    if len(set(whole)) < len(whole):
        twice = next(folder for index, folder in enumerate(folders) if whole[index] in whole[:index])
        raise BadInputError(f"{twice} is named twice; a run can't be compared with itself")
    longest = max(len(path.parts) for path in whole)
    every = (["/".join(path.parts[-count:]) for path in whole] for count in range(1, longest + 1))
    return next(names for names in every if len(set(names)) == len(names))


def _json_lines(folders: dict[str, Path]) -> Iterator[str]:
    """Each run's own document, by its name."""
    yield "{"
    for index, (name, folder) in enumerate(folders.items()):
        yield f"{',' if index else ''}{json.dumps(name)}:"
        run = read_run(RunFolder(folder), details=False)
        yield from json_lines(run, analyse_run(run))
    yield "}"


@click.command()
@click.argument("folders", type=UserPath(), nargs=-1, required=True, metavar="RUN RUN...")
@click.option(
    "--format", "form", type=click.Choice(get_args(Form)),
    help="Write only this form; html and pdf go into the working directory.",
)  # fmt: skip
@click.option("--out", type=UserPath(), help="The file to write.")
@click.option(
    "--fail-above", type=Percentage(), metavar="PERCENT",
    help="Exit with 1 if the same work is shown to take longer than in the first run by more than this, such as 5%.",
)  # fmt: skip
@uncollected()
def compare(folders: tuple[Path, ...], form: Form | None, out: Path | None, fail_above: float | None) -> int:
    """Compare runs in a table and on the page comparison.html. Different machines are never pooled.

    \b
    Example:  assay compare runs/laptop runs/server
              assay compare runs/before runs/after --fail-above 5%
    """
    if len(folders) < 2:
        raise BadInputError("a comparison needs two runs or more; `assay report RUN` is about one")
    by_name = dict(zip(run_names(folders), folders, strict=True))
    browser = find_browser() if form == "pdf" else ""
    if form == "json" and fail_above is None:
        emit(_json_lines(by_name), out)
        return 0
    compared = compare_runs({name: read_run(RunFolder(folder), details=False) for name, folder in by_name.items()})
    slower = None if fail_above is None else _slower(compared, fail_above)
    if form == "json":
        emit(_json_lines(by_name), out)
    elif form == "csv":
        emit(csv_lines([compared_values(row) for row in compared.rows]), out)
    elif form == "md":
        emit(iter([comparison_markdown(compared)]), out)
    else:
        console = open_console()
        if form is None:
            print_comparison(compared, console)
        write_page(comparison_page(compared), out or PAGE.with_suffix(f".{form or 'html'}"), browser, console)
    return 0 if slower is None else _judge(slower, open_console(error=form is not None))


def _slower(compared: ComparedRuns, above: float) -> Slowdowns:
    """Find what is slower. Raises BadInputError where no run can be compared: that must not pass for "as fast"."""
    slower = slowdowns(compared, above)
    if not slower.tested:
        raise BadInputError(
            "--fail-above has nothing to judge: no combination ran in the first run and in another with the same "
            "things under the same names and on the same machine"
        )
    return slower


def _judge(slower: Slowdowns, console: Console) -> int:
    """Print what is slower, and return the exit code."""
    for line in slowdown_words(slower):
        print_text(console, line)
    return FAILED if slower.shown else 0
