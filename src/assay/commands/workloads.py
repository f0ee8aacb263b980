"""`assay workloads`: list and show what can be run, and the reference page."""

import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assay.model.registry import WORKLOADS

_MARK = re.compile(r"^<!-- workload ([\w-]+) -->$", re.MULTILINE)


def print_workloads(console: Console) -> None:
    """Each with what it does and what it stresses."""
    table = Table(header_style="bold", padding=(0, 1, 0, 0), title="details: assay workloads show NAME")
    table.add_column("name", no_wrap=True)
    table.add_column("variants")
    table.add_column("what it does, and what it stresses")
    for one in workloads_json():
        variants = "\n".join(variant["name"] for variant in one["variants"])
        table.add_row(one["name"], variants, escape(f"{one['summary']}\nstresses {one['stresses']}"), end_section=True)
    console.print(table)


def workloads_json() -> list[dict[str, Any]]:
    """All of them as data."""
    return [workload_json(name) for name in WORKLOADS]


def workload_json(name: str) -> dict[str, Any]:
    """All that a workload says of itself, and an experiment that runs it. Raises BadInputError for an unknown name."""
    kind = WORKLOADS.find(name)
    return {
        "name": name,
        "summary": kind.summary,
        "stresses": kind.stresses,
        "source": kind.source,
        "input": _input(name),
        "result": kind.result,
        "verified": kind.verified,
        "variants": [
            {"name": variant, "about": one.about, "jobs": list(one.jobs)} for variant, one in kind.variants.items()
        ],
        "options": [
            {"name": option, "default": default, "about": kind.option_help.get(option, "")}
            for option, default in kind.defaults.items()
        ],
        "experiment": experiment_text(name),
    }


def _input(name: str) -> str:
    kind = WORKLOADS[name]
    if not kind.makes_input:
        return "graph"
    if "input" in kind.path_options:
        return "your `input`"
    own = next((option for option in ("file", "directory") if option in kind.path_options), "")
    return f"generated, or your `{own}`" if own else "generated"


def workloads_reference() -> str:
    """The reference page: its text, with the registry's tables at their marks."""
    text = files("assay.workload").joinpath("reference.md").read_text()
    rows = [
        (
            f"[`{one['name']}`](#{one['name']})",
            ", ".join(f"`{variant['name']}`" for variant in one["variants"]),
            one["input"],
            one["stresses"],
        )
        for one in workloads_json()
    ]
    overview = _markdown_table(("workload", "variants", "input", "stresses"), rows)
    return _MARK.sub(lambda mark: _section(mark[1]), text.replace("<!-- workloads -->", overview))


def _section(name: str) -> str:
    shown = workload_json(name)
    facts = [(heading, shown[heading]) for heading in ("source", "result", "verified")]
    tables = [
        f"{shown['summary'][0].upper()}{shown['summary'][1:]}.",
        _markdown_table(("", ""), facts),
        _markdown_table(
            ("variant", "jobs", "algorithm"),
            [(f"`{one['name']}`", ", ".join(one["jobs"]), one["about"]) for one in shown["variants"]],
        ),
    ]
    if shown["options"]:
        options = [
            (f"`{one['name']}`", f"`{one['default']}`" if one["default"] else "", one["about"])
            for one in shown["options"]
        ]
        tables.append(_markdown_table(("option", "default", "meaning"), options))
    return "\n\n".join(tables)


def _markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def experiment_text(name: str) -> str:
    """The least that an experiment needs to run a workload on the disk under the working directory."""
    kind = WORKLOADS[name]
    options = "".join(f"\n      {option}: {text}" for option, text in kind.example.items())
    options = f"\n    options:{options}" if options else ""
    datasets = "" if kind.makes_input else "datasets:\n  - {make: brightkite, scale: 0.1}\n"
    workload = f"workloads:\n  - name: {name}{options}\n"
    return f"experiment: {name}\n{workload}{datasets}media:\n  disk: directory\n"


def print_workload(name: str, console: Console) -> None:
    """What it does, its variants, its options, an experiment."""
    shown = workload_json(name)
    for line in (
        f"{name}: {shown['summary']}",
        *(f"{heading}: {shown[heading]}" for heading in ("input", "result", "verified", "stresses", "source")),
    ):
        _say(console, line)
    table = Table(header_style="bold", padding=(0, 1, 0, 0))
    for heading in ("variant", "about", "jobs"):
        table.add_column(heading)
    for variant in shown["variants"]:
        table.add_row(variant["name"], escape(variant["about"]), escape(", ".join(variant["jobs"])))
    console.print(table)
    if shown["options"]:
        _print_options(shown["options"], console)
    else:
        _say(console, "no options")
    _say(console, f"a minimal experiment:\n\n{shown['experiment']}")


def _print_options(options: list[dict[str, str]], console: Console) -> None:
    table = Table(header_style="bold", padding=(0, 1, 0, 0))
    for heading in ("option", "default", "about"):
        table.add_column(heading, no_wrap=heading != "about")
    for option in options:
        table.add_row(option["name"], escape(option["default"] or "-"), escape(option["about"]))
    console.print(table)


def _say(console: Console, text: str) -> None:
    console.print(text, highlight=False, markup=False, soft_wrap=True)
