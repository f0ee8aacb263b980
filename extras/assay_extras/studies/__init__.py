"""Published studies, repeated: their figures and statements beside what a run of one of their experiments measured.

It only reads records and the figures in `data/`; it decides nothing about a run and changes nothing.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.context import UserPath, json_option, open_console
from assay.model.registry import COMMANDS, SECTIONS, Command

if TYPE_CHECKING:
    from assay.model.record import Record
    from assay.model.section import SectionView
    from assay.model.trial import Plan


def _study(plan: "Plan", records: "Sequence[Record]") -> "SectionView | None":
    from assay_extras.studies.comparison import compare
    from assay_extras.studies.view import study_view

    compared = compare(plan, records)
    return None if compared is None else study_view(compared)


SECTIONS.add("study", _study)


@click.command("studies")
@click.argument("runs", type=UserPath(), nargs=-1, required=True, metavar="RUN...")
@click.option("--to", type=UserPath(), help="Write studies.svg and studies.md into this folder.")
@json_option()
def _studies(runs: tuple[Path, ...], to: Path | None, *, as_json: bool) -> None:
    """Show what several runs of the studies' experiments say together: how many comparisons are decided and agree.

    \b
    Example:  assay studies runs/thesis-* runs/hybrid-* --to docs/explanation
    """
    from assay.model.errors import BadInputError
    from assay.record.folder import RunFolder
    from assay.report.columns import fitted
    from assay.report.words import print_line
    from assay_extras.studies.overview import overview
    from assay_extras.studies.overview_view import (
        ABOUT,
        goal_words,
        overview_columns,
        overview_markdown,
        overview_svg,
        standalone,
    )

    folders = [RunFolder(run) for run in runs]
    found = overview((folder.plan(), folder.records()[0]) for folder in folders)
    if found is None:
        raise BadInputError(
            "these runs have no two trials that a study compares: name runs of thesis-table... or hybrid-figure... "
            "experiments with several drives, settings or shares"
        )
    if to is not None:
        to.mkdir(parents=True, exist_ok=True)
        (to / "studies.svg").write_text(standalone(overview_svg(found)))
        (to / "studies.md").write_text(overview_markdown(found))
    if as_json:
        click.echo(found.model_dump_json(indent=1))
        return
    console = open_console()
    for line in fitted(overview_columns(found), console.width):
        print_line(console, line)
    for words in (goal_words(found.all), ABOUT):
        print_line(console, words)


COMMANDS.add("studies", Command(_studies))
