"""`assay compare`: any number of runs side by side."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

import click

from assay.cli.context import UserPath, open_console
from assay.cli.report import Form, emit, find_browser, json_lines, uncollected, write_page
from assay.model.errors import BadInputError
from assay.record.folder import RunFolder
from assay.report.analysis import analyse, read_run
from assay.report.compare_runs import compare_runs, compared_values
from assay.report.compare_views import comparison_markdown, comparison_page, print_comparison
from assay.report.values import csv_lines

PAGE = Path("comparison.html")


def run_names(folders: Sequence[Path]) -> list[str]:
    """The last parts of the folders' paths, as many as tell them apart. Raises BadInputError where one comes twice."""
    whole = [folder.resolve() for folder in folders]
    if len(set(whole)) < len(whole):
        twice = next(folder for place, folder in enumerate(folders) if whole[place] in whole[:place])
        raise BadInputError(f"{twice} is named twice; a run can't be compared with itself")
    longest = max(len(path.parts) for path in whole)
    every = (["/".join(path.parts[-count:]) for path in whole] for count in range(1, longest + 1))
    return next(names for names in every if len(set(names)) == len(names))


def _json_lines(folders: dict[str, Path]) -> Iterator[str]:
    """Each run's own document, by its name."""
    yield "{"
    for place, (name, folder) in enumerate(folders.items()):
        yield f"{',' if place else ''}{json.dumps(name)}:"
        run = read_run(RunFolder(folder), details=False)
        yield from json_lines(run, analyse(run.plan, run.records))
    yield "}"


@click.command()
@click.argument("folders", type=UserPath(), nargs=-1, required=True, metavar="RUN RUN...")
@click.option(
    "--format", "form", type=click.Choice(get_args(Form)),
    help="Write only this form; html and pdf go into the working directory.",
)  # fmt: skip
@click.option("--out", type=UserPath(), help="The file to write.")
@uncollected()
def compare(folders: tuple[Path, ...], form: Form | None, out: Path | None) -> int:
    """Compare runs in a table and on the page comparison.html. Different machines are never pooled.

    \b
    Example:  assay compare runs/laptop runs/server
    """
    by_name = dict(zip(run_names(folders), folders, strict=True))
    browser = find_browser() if form == "pdf" else ""
    if form == "json":
        emit(_json_lines(by_name), out)
        return 0
    compared = compare_runs({name: read_run(RunFolder(folder), details=False) for name, folder in by_name.items()})
    if form == "csv":
        emit(csv_lines([compared_values(row) for row in compared.rows]), out)
    elif form == "md":
        emit(iter([comparison_markdown(compared)]), out)
    else:
        console = open_console()
        if form is None:
            print_comparison(compared, console)
        write_page(comparison_page(compared), out or PAGE.with_suffix(f".{form or 'html'}"), browser, console)
    return 0
