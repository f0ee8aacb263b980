"""`assay workloads`: list and show what can be run."""

from collections.abc import Sequence
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assay.cli.context import CommandGroup, json_option, open_console, print_json
from assay.model.dataset import InputKind
from assay.model.installed import variants_of, working_pairs
from assay.model.registry import ENGINES, WORKLOADS
from assay.model.trial import USUAL_ENGINE, USUAL_STORE
from assay.plan.pairs import pairs_text
from assay.report.typed import typed
from assay.report.words import print_line


@click.group(cls=CommandGroup)
def workloads() -> None:
    """List and describe the workloads."""


@workloads.command("list")
@json_option("Print all variants, jobs and options as JSON.")
def workloads_list(*, as_json: bool) -> None:
    """List all workloads with what each computes and stresses.

    \b
    Example:  assay workloads list
    """
    if as_json:
        print_json([workload_json(name) for name in WORKLOADS])
    else:
        print_workloads(open_console())


@workloads.command("show")
@click.argument("name")
@json_option()
def workloads_show(name: str, *, as_json: bool) -> None:
    """Show a workload's variants with their jobs, its options, and an experiment to start from.

    \b
    Example:  assay workloads show terasort
    """
    if as_json:
        print_json(workload_json(name))
    else:
        print_workload(name, open_console())


def workload_json(name: str) -> dict[str, Any]:
    """Describe a workload, with an experiment that runs it. Raises BadInputError for an unknown name."""
    kind = WORKLOADS.find(name)
    option_name = next((option for option in ("file", "directory") if option in kind.known_options), None)
    taken = f"generated, or your `{option_name}`" if option_name else "generated"
    if kind.takes is InputKind.GRAPH or "input" in kind.known_options:
        taken = "graph" if kind.takes is InputKind.GRAPH else "your `input`"
    return {
        "name": name,
        "summary": kind.summary,
        "stresses": kind.stresses,
        "source": kind.source,
        "input": taken,
        "result": kind.result,
        "verified": kind.verified,
        "runs_on": [{"engine": engine, "store": store} for engine, store in working_pairs(name)],
        "variants": [
            {
                "name": variant_name,
                "about": variant.about,
                "jobs": list(variant.jobs),
                "engines": [engine for engine, of_engine in ENGINES.items() if variant.program in of_engine.runs],
            }
            for variant_name, variant in variants_of(name).items()
        ],
        "options": [
            {"name": name, "default": option.default, "about": option.about}
            for name, option in kind.known_options.items()
        ],
        "experiment": experiment_text(name),
    }


def experiment_text(name: str) -> str:
    """Return the shortest experiment that runs a workload on the disk under the working directory."""
    kind = WORKLOADS[name]
    options = "".join(
        f"\n      {name}: {option.example}" for name, option in kind.known_options.items() if option.example
    )
    options = f"\n    options:{options}" if options else ""
    datasets = "" if kind.takes is not InputKind.GRAPH else "datasets:\n  - {make: brightkite, scale: 0.1}\n"
    workload = f"workloads:\n  - name: {name}{options}\n"
    pairs = working_pairs(name)
    usual = not pairs or (USUAL_ENGINE, USUAL_STORE) in pairs
    pair = "" if usual else "engine: {}\nstore: {}\n".format(*pairs[0])
    return f"experiment: {name}\n{workload}{datasets}media:\n  disk: directory\n{pair}"


def print_workloads(console: Console) -> None:
    """Print a table of all workloads with what each does and stresses."""
    table = Table(header_style="bold", padding=(0, 1, 0, 0), title=f"details: {typed('workloads', 'show', 'NAME')}")
    table.add_column("name", no_wrap=True)
    table.add_column("variants")
    table.add_column("what it does, and what it stresses")
    for name, kind in WORKLOADS.items():
        does = escape(f"{kind.summary}\nstresses {kind.stresses}")
        table.add_row(name, "\n".join(variants_of(name)), does, end_section=True)
    console.print(table)


def print_workload(name: str, console: Console) -> None:
    """Print what a workload does, its variants, its options and an experiment."""
    shown = workload_json(name)
    print_line(console, f"{name}: {shown['summary']}")
    for heading in ("input", "result", "verified", "stresses", "source"):
        print_line(console, f"{heading}: {shown[heading]}")
    pairs = [(pair["engine"], pair["store"]) for pair in shown["runs_on"]]
    print_line(console, f"runs on: {pairs_text(pairs) or 'no installed engine and store'}")
    variants = shown["variants"]
    apart = len({tuple(variant["engines"]) for variant in variants}) > 1
    _print_table(console, ("variant", "about", "jobs", *(["engines"] if apart else [])), [
        (variant["name"], variant["about"], ", ".join(variant["jobs"]), *([", ".join(variant["engines"])] * apart))
        for variant in variants
    ])  # fmt: skip
    if shown["options"]:
        rows = [(option["name"], option["default"] or "-", option["about"]) for option in shown["options"]]
        _print_table(console, ("option", "default", "about"), rows, no_wrap=2)
    else:
        print_line(console, "no options")
    print_line(console, f"a minimal experiment:\n\n{shown['experiment']}")


def _print_table(
    console: Console, headings: tuple[str, ...], rows: Sequence[tuple[str, ...]], no_wrap: int = 0
) -> None:
    """Print a table whose first `no_wrap` columns are never wrapped."""
    table = Table(header_style="bold", padding=(0, 1, 0, 0))
    for position, heading in enumerate(headings):
        table.add_column(heading, no_wrap=position < no_wrap)
    for name, *texts in rows:
        table.add_row(name, *map(escape, texts))
    console.print(table)
