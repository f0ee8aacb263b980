"""`assay data`: graphs to work on."""

import json
from pathlib import Path

import click

from assay.cli.context import Number, UserPath, find_installation, open_console

FORMATS = ["auto", "snap", "konect", "csv", "matrix-market", "edges"]


@click.group()
def data() -> None:
    """Datasets: the published graphs, graphs generated like them, and files of your own."""


@data.command("list")
@click.option("--json", "as_json", is_flag=True, help="With sources, licences and citations, as JSON.")
def data_list(*, as_json: bool) -> None:
    """List the graphs that can be downloaded, or generated, by name.

    \b
    Example:  assay data list
    """
    from assay.commands.data import datasets_json, print_datasets

    if as_json:
        click.echo(json.dumps(datasets_json(find_installation()), indent=1))
    else:
        print_datasets(find_installation(), open_console())


@data.command("get")
@click.argument("name")
@click.option("--to", type=UserPath(), help="Also copy the file here.")
def data_get(name: str, to: Path | None) -> int:
    """Download a published graph and check its counts.

    \b
    Example:  assay data get brightkite
    """
    from assay.commands.data import bring
    from assay.model.input import DatasetSpec

    return bring(DatasetSpec(name=name, get=name), to, find_installation(), open_console())


@data.command("make")
@click.argument("preset")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**31 - 1),
    default=1,
    show_default=True,
    help="Another seed makes another graph of the same kind.",
)
@click.option(
    "--scale", type=Number(), default=1.0, show_default=True, help="Fraction of the preset's nodes and edges."
)
@click.option("--to", type=UserPath(), help="Also copy the file here.")
def data_make(preset: str, seed: int, scale: float, to: Path | None) -> int:
    """Generate a graph like a published one: same nodes and edges, similar wedges and triangles.

    \b
    Example:  assay data make brightkite --seed 7 --to mine.tsv
    """
    from assay.commands.data import bring
    from assay.model.input import DatasetSpec

    return bring(DatasetSpec(name=preset, make=preset, seed=seed, scale=scale), to, find_installation(), open_console())


@data.command("check")
@click.argument("name_or_file")
@click.option("--format", "form", type=click.Choice(FORMATS), default="auto", show_default=True)
@click.option("--header-lines", type=click.IntRange(min=0), help="Lines before the first edge, where it can't be told.")
def data_check(name_or_file: str, form: str, header_lines: int | None) -> int:
    """Read a graph file (or a downloaded graph), count it, and compare with what is published.

    \b
    Example:  assay data check my-graph.txt.gz
    """
    from assay.commands.data import check_dataset

    return check_dataset(name_or_file, form, header_lines, find_installation(), open_console())
