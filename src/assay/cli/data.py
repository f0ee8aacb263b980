"""`assay data`: list, get, make and check datasets."""

import re
import shutil
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import click

from assay.cli.console import ConsoleDisplay, Output
from assay.cli.context import (
    FAILED,
    CommandGroup,
    Number,
    UserPath,
    WholeNumber,
    find_installation,
    json_option,
    open_console,
    output_options,
    print_json,
)
from assay.host.files import possible
from assay.input.catalogue import all_published, is_downloaded, open_dataset
from assay.input.columns import MOST_DIGITS
from assay.input.graph_file import GraphFile
from assay.model.base import Frozen
from assay.model.dataset import DatasetSpec, GraphFacts
from assay.model.doubt import CheckResult, Outcome
from assay.model.errors import BadInputError
from assay.model.naming import bytes_text, printable
from assay.report.columns import Column, layout_table
from assay.report.words import print_line

FORMATS = ["auto", "snap", "konect", "csv", "matrix-market", "edges"]


class CheckedDataset(Frozen):
    """A graph that was read from its file, counted and compared with what is known of it."""

    name: str
    """Its name in reports."""
    file: Path
    """Where it lies: in the cache, or where `--to` put a copy."""
    size_bytes: int
    """The file's size."""
    facts: GraphFacts
    """The counts of the simple graph."""
    read: Mapping[str, int]
    """How many lines the file has, and of what kinds, by their names."""
    verdicts: tuple[CheckResult, ...]
    """One on each count that is known from elsewhere."""


@click.group(cls=CommandGroup)
def data() -> None:
    """List, download, generate and check graphs."""


@data.command("list")
@json_option("Print sources, licences and citations too, as JSON.")
def data_list(*, as_json: bool) -> None:
    """List the graphs that can be downloaded or generated.

    \b
    Example:  assay data list
    """
    graphs, cache = all_published().values(), find_installation().cache
    if as_json:
        described = [
            {
                **graph.model_dump(include={"name", "title", "about", "download_mb", "licence", "citation", "sources"}),
                **graph.counts.model_dump(include={"nodes", "edges", "triangles"}),
                "download": graph.url,
                "in_cache": is_downloaded(graph.name, cache),
            }
            for graph in graphs
        ]
        print_json(described)
        return
    columns = [
        Column("name", [graph.name for graph in graphs], name=True),
        Column("graph", [graph.title for graph in graphs], name=True, rank=1),
        Column("nodes", [f"{graph.counts.nodes:,}" for graph in graphs]),
        Column("edges", [f"{graph.counts.edges:,}" for graph in graphs]),
        Column(
            "triangles", ["-" if graph.counts.triangles is None else f"{graph.counts.triangles:,}" for graph in graphs]
        ),
        Column("download", ["-" if graph.download_mb is None else f"{graph.download_mb} MB" for graph in graphs]),
        Column("here", ["yes" if is_downloaded(graph.name, cache) else "" for graph in graphs]),
    ]
    console = open_console()
    for line in layout_table(columns, console.width):
        print_line(console, line)
    print_line(console, "`assay data get NAME` downloads one, `assay data make NAME` makes one like it")


@data.command("get")
@click.argument("name")
@click.option("--to", type=UserPath(), help="Also copy the file here.")
@output_options
def data_get(name: str, to: Path | None, *, output: Output) -> int:
    """Download a published graph and check its counts.

    \b
    Example:  assay data get brightkite
    """
    return _bring(DatasetSpec(name=name, get=name), to, output)


@data.command("make")
@click.argument("preset")
@click.option(
    "--seed", type=WholeNumber(0, 2**31 - 1), default=1, show_default=True,
    help="Seed of the graph; each seed makes another graph of the same kind.",
)  # fmt: skip
@click.option(
    "--scale", type=Number(), default=1.0, show_default=True,
    help="Size, as a fraction of the published nodes and edges.",
)  # fmt: skip
@click.option("--to", type=UserPath(), help="Also copy the file here.")
@output_options
def data_make(preset: str, seed: int, scale: float, to: Path | None, *, output: Output) -> int:
    """Generate a graph like a published graph: as many nodes and edges, about as many wedges and triangles.

    \b
    Example:  assay data make brightkite --seed 7 --to mine.tsv
    """
    return _bring(DatasetSpec(name=preset, make=preset, seed=seed, scale=scale), to, output)


@data.command("check")
@click.argument("name_or_file")
@click.option("--format", "form", type=click.Choice(FORMATS), default="auto", show_default=True)
@click.option(
    "--header-lines", type=WholeNumber(min=0), help="Number of lines before the first edge, if it is not clear."
)
@click.option(
    "--columns", metavar="A,B", help="The two columns that hold the ends of an edge, by name or by number from 1."
)
@output_options
def data_check(name_or_file: str, form: str, header_lines: int | None, columns: str | None, *, output: Output) -> int:
    """Read a graph file or a downloaded graph, count it, and compare the counts with the published counts.

    \b
    Example:  assay data check my-graph.txt.gz
    """
    ends = (
        [int(column) if column.isdecimal() and len(column) <= MOST_DIGITS else column for column in columns.split(",")]
        if columns
        else None
    )
    if columns is not None and (ends is None or len(ends) != 2 or ends[0] == ends[1] or not all(ends)):
        raise BadInputError(f"--columns {columns} has to name two columns, such as source,target or 2,3")
    path = Path(name_or_file)
    if name_or_file:
        possible(path)
    names = all_published()
    if path.exists() or name_or_file not in names:
        if not path.is_file():
            raise BadInputError(f"{name_or_file} is neither a file nor a graph's name; names are {', '.join(names)}")
        name = printable(path.name.split(".")[0])
        spec = DatasetSpec.model_validate(
            {"name": name, "file": path.resolve(), "format": form, "header_lines": header_lines, "columns": ends}
        )
    else:
        options = {"--header-lines": header_lines, "--columns": columns, "--format": form if form != "auto" else None}
        for given in [option for option, value in options.items() if value is not None]:
            raise BadInputError(
                f"{given} belongs to a file of yours, and {name_or_file} is a published graph; leave it out"
            )
        spec = DatasetSpec(name=name_or_file, get=name_or_file)
    try:
        code = _check(open_dataset(spec, find_installation().cache), output)
    except BadInputError as error:
        raise BadInputError(_as_options(str(error))) from None
    print_line(output.results, "this graph can't be used" if code else "this graph can be used")
    return code


def _as_options(message: str) -> str:
    """A message whose keys of an experiment's dataset are options of this command."""
    pair = re.sub(r"`columns: \[([^,\]]+), ([^\]]+)\]`", r"`--columns \1,\2`", message)
    return re.sub(r"`(header_lines|format): (\w+)`", lambda key: f"`--{key[1].replace('_', '-')} {key[2]}`", pair)


def _bring(spec: DatasetSpec, to: Path | None, output: Output) -> int:
    """Download or generate a dataset and check it; copy it to a file of the user's if asked. Returns the exit code."""
    if to is not None and to.exists():
        raise BadInputError(f"{to} already exists; name another file or remove it")
    if to is not None and not to.parent.is_dir():
        raise BadInputError(f"{to.parent} is not a folder; make it first, or name another file")
    return _check(open_dataset(spec, find_installation().cache), output, to, brought=True)


def _check(dataset: GraphFile, output: Output, to: Path | None = None, *, brought: bool = False) -> int:
    """Prepare a dataset, compare its counts with what is known of it, print both. Returns the exit code."""
    console = output.results
    with closing(ConsoleDisplay(output.progress, verbose=output.verbose)) as display:
        staged = dataset.file(display)
        if to is not None:
            shutil.copyfile(staged.path, to)
        facts, counts, verdicts = dataset.facts(), dataset.counts(), dataset.verdicts()
    if brought:
        print_line(console, f"{to or staged.path} ({bytes_text(staged.bytes)})")
    triangles = f", {facts.triangles:,} triangles" if facts.triangles is not None else ""
    print_line(
        console,
        f"{dataset.spec.name}: {facts.nodes:,} nodes, {facts.edges:,} edges, {facts.wedges:,} wedges "
        f"(paths of two edges; {facts.wedges_by_id:,} from their smallest vertex), sum of squared degrees "
        f"{facts.degree_squares:,}{triangles}",
    )
    said = {"lone": "vertices without an edge"}
    lines = ", ".join(f"{said.get(name, name.replace('_', ' '))} {value:,}" for name, value in counts)
    print_line(console, f"file: {lines}")
    for verdict in verdicts:
        print_line(console, f"{verdict.outcome}: {verdict.check} ({verdict.detail})")
    if output.as_json:
        checked = CheckedDataset(
            name=dataset.spec.name, file=to or staged.path, size_bytes=staged.bytes, facts=facts, read=dict(counts),
            verdicts=verdicts,
        )  # fmt: skip
        print_json(checked.model_dump(mode="json"))
    return FAILED if any(verdict.outcome is Outcome.FAIL for verdict in verdicts) else 0
