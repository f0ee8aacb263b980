"""Published studies, repeated: their figures and statements beside what a run of one of their experiments measured.

It only reads records and the figures in `data/`; it decides nothing about a run and changes nothing.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.context import UserPath, json_option, open_console
from assay.model.registry import COMMANDS, SECTIONS, Command

if TYPE_CHECKING:
    from assay.model.section import RunView, SectionView


def _study(run: "RunView") -> "SectionView | None":
    from assay_extras.studies.comparison import compare
    from assay_extras.studies.published import study_experiment
    from assay_extras.studies.view import study_view

    if study_experiment(run.plan.experiment) is None:
        return None
    compared = compare(run.plan, [run.record(summary.id) for summary in run.trials])
    return None if compared is None else study_view(compared)


SECTIONS.add("study", _study)


@click.command("studies")
@click.argument("runs", type=UserPath(), nargs=-1, required=True, metavar="RUN...")
@click.option("--to", type=UserPath(), help="Write studies.svg, studies.md and studies.json into this folder.")
@json_option()
def _studies(runs: tuple[Path, ...], to: Path | None, *, as_json: bool) -> None:
    """Show what several runs of the studies' experiments say together: how many comparisons are decided and agree.

    A RUN is a run's folder, or the studies.json (or its folder) of an earlier --to: that has what earlier runs
    measured. Of an experiment that both have the newer counts.

    \b
    Example:  assay studies runs/thesis-* runs/hybrid-* --to docs/results
    Add one:  assay studies runs/new docs/results --to docs/results
    """
    from assay.host.files import replace_text
    from assay.model.errors import BadInputError
    from assay.record.folder import RunFolder
    from assay.report.columns import as_columns, layout_table
    from assay.report.words import print_line
    from assay_extras.studies.kept import is_kept, keep, merged, read_kept, study_run
    from assay_extras.studies.overview import overview
    from assay_extras.studies.overview_view import (
        ABOUT,
        goal_words,
        overview_columns,
        overview_markdown,
        overview_svg,
        standalone,
        statements_words,
    )
    from assay_extras.studies.score_view import headline, score_tables

    folders = [RunFolder(path) for path in runs if not is_kept(path)]
    own = [(folder.path, study_run(folder.plan(), folder.records()[0])) for folder in folders]
    every = merged([[run for _, run in own if run], *(read_kept(path) for path in runs if is_kept(path))])
    found = overview(every)
    if found is None:
        raise BadInputError(
            "these runs have no two trials that a study compares: name runs of thesis-table..., hybrid-figure..., "
            "hpc-figure... or storage-figure... experiments with several drives, settings, shares or networks"
        )
    if to is not None:
        to.mkdir(parents=True, exist_ok=True)
        keep(every, to)
        replace_text(to / "studies.svg", standalone(overview_svg(found)))
        replace_text(to / "studies.md", overview_markdown(found, every))
    console = open_console(error=as_json)
    for path, run in own:
        if run is not None and run not in every:
            print_line(console, f"{path} is left out: there is a newer run of {run.experiment}")
    if as_json:
        click.echo(found.model_dump_json(indent=1))
        return
    for line in layout_table(overview_columns(found), console.width):
        print_line(console, line)
    for words in (goal_words(found.all), ABOUT, statements_words(found)):
        if words:
            print_line(console, words)
    for shown in score_tables(found):
        for line in ("", shown.title, *layout_table(as_columns(shown.header, shown.rows), console.width), shown.about):
            print_line(console, line)
    print_line(console, headline(found))


COMMANDS.add("studies", Command(_studies))
