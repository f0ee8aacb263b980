"""`assay data`: list, get, make and check datasets."""

import shutil
from contextlib import closing
from pathlib import Path

from rich.console import Console

from assay.cli.console import ConsoleDisplay
from assay.host.files import possible
from assay.input.opening import AnyDataset, CheckReport, check, listed, open_dataset
from assay.model.doubt import Outcome
from assay.model.errors import BadInputError
from assay.model.input import DatasetSpec
from assay.model.installation import Installation
from assay.model.naming import printable
from assay.report.words import Column, bytes_text, fitted

FAILED = 1


def print_datasets(installation: Installation, console: Console) -> None:
    """The graphs that can be got or made by name."""
    graphs = listed(installation.cache)
    columns = [
        Column("name", [one.name for one in graphs], name=True),
        Column("graph", [one.title for one in graphs], name=True, rank=1),
        Column("nodes", [f"{one.nodes:,}" for one in graphs]),
        Column("edges", [f"{one.edges:,}" for one in graphs]),
        Column("triangles", ["-" if one.triangles is None else f"{one.triangles:,}" for one in graphs]),
        Column("download", ["-" if one.download_mb is None else f"{one.download_mb} MB" for one in graphs]),
        Column("here", ["yes" if one.in_cache else "" for one in graphs]),
    ]
    for line in fitted(columns, console.width):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    console.print("assay data get NAME downloads one, assay data make NAME makes one like it", highlight=False)


def datasets_json(installation: Installation) -> list[dict[str, object]]:
    """The same with sources, licences and citations."""
    return [one.model_dump(mode="json") for one in listed(installation.cache)]


def bring(spec: DatasetSpec, to: Path | None, installation: Installation, console: Console) -> int:
    """Download or generate a dataset and check it; copy it to a file of the user's if asked. Returns the exit code."""
    if to is not None and to.exists():
        raise BadInputError(f"{to} is there already; name another file or remove it")
    if to is not None and not to.parent.is_dir():
        raise BadInputError(f"{to.parent} is not a folder; make it first, or name another file")
    dataset = open_dataset(spec, installation.cache)
    with closing(ConsoleDisplay(console)) as display:
        staged = dataset.prepare(display)
        if to is not None:
            shutil.copyfile(staged.path, to)
        report = check(dataset, display)
    console.print(f"{to or staged.path} ({bytes_text(staged.bytes)})", highlight=False, markup=False, soft_wrap=True)
    return _print_check(report, console)


def check_dataset(
    name_or_file: str, form: str, header_lines: int | None, installation: Installation, console: Console
) -> int:
    """Count a file or a catalogue graph and compare it with what is published of it. Returns the exit code."""
    dataset = _named(name_or_file, form, header_lines, installation)
    with closing(ConsoleDisplay(console)) as display:
        dataset.prepare(display)
        report = check(dataset, display)
    return _print_check(report, console)


def _named(name_or_file: str, form: str, header_lines: int | None, installation: Installation) -> AnyDataset:
    """A file if there is one of that name, else a graph of the catalogue."""
    path = Path(name_or_file)
    if name_or_file:
        possible(path)
    names = [one.name for one in listed(installation.cache)]
    if path.exists() or name_or_file not in names:
        if not path.is_file():
            raise BadInputError(f"{name_or_file} is neither a file nor a graph's name; names are {', '.join(names)}")
        name = path.name.split(".")[0]
        spec = DatasetSpec.model_validate(
            {"name": printable(name), "file": path.resolve(), "format": form, "header_lines": header_lines}
        )
    else:
        given = "--header-lines" if header_lines is not None else "--format" if form != "auto" else None
        if given is not None:
            raise BadInputError(
                f"{given} belongs to a file of yours, and {name_or_file} is a published graph; leave it out"
            )
        spec = DatasetSpec(name=name_or_file, get=name_or_file)
    return open_dataset(spec, installation.cache)


def _print_check(report: CheckReport, console: Console) -> int:
    facts = report.facts
    console.print(
        f"{report.name}: {facts.nodes:,} nodes, {facts.edges:,} edges, {facts.wedges:,} wedges "
        f"({facts.wedges_by_id:,} in id order), sum of squared degrees {facts.degree_squares:,}"
        + (f", {facts.triangles:,} triangles" if facts.triangles is not None else ""),
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
    counts = ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in report.counts.model_dump().items())
    console.print(f"file: {counts}", highlight=False, markup=False, soft_wrap=True)
    for verdict in report.verdicts:
        console.print(
            f"{verdict.outcome}: {verdict.check} ({verdict.detail})", highlight=False, markup=False, soft_wrap=True
        )
    return FAILED if any(verdict.outcome is Outcome.FAIL for verdict in report.verdicts) else 0
