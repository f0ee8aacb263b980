"""`assay compare`: any number of runs side by side."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from rich.console import Console

from assay.cli.context import FORMS, UserPath, open_console
from assay.cli.report import Form, emit, find_browser, json_lines, print_page, uncollected
from assay.model.errors import BadInputError
from assay.record.folder import RunFolder
from assay.report.analysis import gather
from assay.report.compare_page import beside_markdown, beside_page
from assay.report.compare_runs import put_beside, side_values
from assay.report.compare_text import print_beside
from assay.report.values import csv_lines

PAGE = Path("comparison.html")


@uncollected()
def compare_runs(folders: Sequence[Path], form: Form | None, out: Path | None, console: Console) -> int:
    """Print the runs side by side and write the page, or write one form; 0.

    Raises BadInputError where a folder is no run or is named twice, or PDF can't be had.
    """
    names = run_names(folders)
    browser = find_browser() if form == "pdf" else ""
    if form == "json":
        emit(_json_lines(dict(zip(names, folders, strict=True))), out)
        return 0
    runs = {name: gather(RunFolder(folder), close=False) for name, folder in zip(names, folders, strict=True)}
    beside = put_beside(runs)
    if form == "csv":
        emit(csv_lines([side_values(side) for side in beside.sides]), out)
        return 0
    if form == "md":
        emit(iter([beside_markdown(beside)]), out)
        return 0
    page = beside_page(beside)
    target = out or PAGE.with_suffix(f".{form or 'html'}")
    if form is None:
        print_beside(beside, console)
    if form == "pdf":
        print_page(page, target, browser)
    else:
        target.write_text(page)
    console.print(f"page: {target}", highlight=False, soft_wrap=True)
    return 0


def run_names(folders: Sequence[Path]) -> list[str]:
    """The last parts of the folders' paths, as many as tell them apart. Raises BadInputError where one comes twice."""
    whole = [folder.resolve() for folder in folders]
    if len(set(whole)) < len(whole):
        twice = next(folder for place, folder in enumerate(folders) if whole[place] in whole[:place])
        raise BadInputError(f"{twice} is named twice; a run can't be compared with itself")
    longest = max(len(path.parts) for path in whole)
    for count in range(1, longest + 1):
        names = ["/".join(path.parts[-count:]) for path in whole]
        if len(set(names)) == len(names):
            return names
    return [str(path) for path in whole]


def _json_lines(folders: dict[str, Path]) -> Iterator[str]:
    """Each run's own document, by its name."""
    yield "{"
    for place, (name, folder) in enumerate(folders.items()):
        yield f"{',' if place else ''}{json.dumps(name)}:"
        yield from json_lines(RunFolder(folder))
    yield "}"


@click.command()
@click.argument("folders", type=UserPath(), nargs=-1, required=True, metavar="RUN RUN...")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMS),
    help="Write only this form; html and pdf go into the working directory.",
)
@click.option("--out", type=UserPath(), help="The file to write.")
def compare(folders: tuple[Path, ...], form: Form | None, out: Path | None) -> int:
    """Compare runs in a table and on the page comparison.html. Different machines are never pooled.

    \b
    Example:  assay compare runs/laptop runs/server
    """
    return compare_runs(folders, form, out, open_console())
