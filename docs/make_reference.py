"""Writes the generated pages of docs/reference, and the schema beside them.

A page is a template of `docs/reference/templates` with tables of what the code says of itself at its marks. From the
checkout: `PYTHONPATH=src:extras .assay/venv/bin/python docs/make_reference.py`.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from inspect import cleandoc, getdoc
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import click

from assay.cli import cli
from assay.cli.context import find_installation
from assay.cli.data import CheckedDataset
from assay.cli.dry_run import DryRun, PlannedTrial, Room
from assay.cli.schema import schema_text
from assay.cli.workloads import workload_json
from assay.model.base import Frozen, field_docs
from assay.model.dataset import GraphFacts
from assay.model.doubt import DOUBTS, CheckResult, Doubt, DoubtKind
from assay.model.fault import FaultReport, Kept, Redundancy
from assay.model.limits import CacheUse, LimitUse
from assay.model.record import (
    Amount,
    DeviceReport,
    DeviceRequests,
    DriveReports,
    JobRecord,
    Output,
    Promise,
    Record,
    Sample,
    Stage,
    StagedInput,
    Step,
    Totals,
)
from assay.model.registry import ENGINES, WORKLOADS
from assay.model.scale import DriveSeen, HeartbeatsSeen, LinkSeen, ScaleCheck, ScaleReport, ScaleSeen, StrikeSeen
from assay.model.trial import Landed, NoisePrior, Plan, SiteShape, Trial
from assay.report.bias import BIASES
from assay.report.run_summary import AnswerSummary, RunSummary
from assay.triage.ranking import Batch, CheaperChange, DriveUse, JobRow, RuleOfOthers

REFERENCE = Path(__file__).parent / "reference"

Schema = Mapping[str, Any]


def pages() -> dict[str, Callable[[], str]]:
    """What makes each file of the reference, by its name."""
    return {
        "experiment.schema.json": lambda: schema_text(find_installation()),
        "experiment.md": experiment_page,
        "record.md": record_page,
        "workloads.md": workloads_page,
        "doubts.md": doubts_page,
        "command-line.md": command_line_page,
    }


def _template(name: str) -> str:
    return (REFERENCE / "templates" / name).read_text(encoding="utf-8")


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [[cell.replace("|", "\\|") for cell in line] for line in (headings, ["---"] * len(headings), *rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


_KEYS = re.compile(r"^<!-- keys of (\w+) -->$", re.MULTILINE)
_NAMES = {
    "WorkloadEntry": "[workload](#workloads)",
    "DatasetEntry": "[dataset](#datasets)",
    "MediumEntry": "[medium](#media)",
    "PlacementEntry": "[placement](#placement)",
    "Profile": "[profile](#profiles)",
    "ClusterEntry": "[cluster](#cluster)",
    "KerberosSpec": "[kerberos](#the-login-at-an-existing-cluster)",
    "SshOptions": "[ssh](#the-nodes-of-an-existing-cluster)",
    "NetworkEntry": "[network](#nodes-and-networks)",
    "NetworksEntry": "[networks](#nodes-and-networks)",
    "Fault": "[fault](#faults)",
    "SiteShape": "[site](#a-site)",
    "StoreEntry": "[store](#stores)",
}
_TEXT = {"string", "boolean", "integer", "number"}


def experiment_page() -> str:
    """Experiment files: each mark in the template stands for the table of one part."""
    schema = json.loads(schema_text(find_installation()))
    parts = {**schema["$defs"], "ExperimentFile": schema}
    return _KEYS.sub(lambda mark: _keys(parts[mark[1]]), _template("experiment.md"))


def _keys(part: Schema) -> str:
    required = part.get("required", [])
    rows = [
        (f"`{key}`", _kind(one), "required" if key in required else _default(one), one["description"])
        for key, one in part["properties"].items()
    ]
    return _table(("key", "type", "default", "meaning"), rows)


def _default(one: Schema) -> str:
    value = one.get("default")
    if value in (None, "", [], {}):
        return ""
    if isinstance(value, dict):
        return f"`{value['kind']}`"
    return f"`{value}`" if isinstance(value, str) else f"`{json.dumps(value).replace(chr(34), '')}`"


def _kind(one: Schema) -> str:
    """What may stand there, in a few words."""
    if "$ref" in one:
        return _NAMES[one["$ref"].rpartition("/")[2]]
    choices = [choice for choice in one.get("anyOf", []) if choice.get("type") != "null"]
    for choice in reversed(choices):
        if "prefixItems" in choice:
            return f"list of {len(choice['prefixItems'])} names or numbers"
        if choice.get("type") == "array":
            items = choice["items"]
            if items.get("items", {}).get("type") == "integer":
                return "number, or list of lists of numbers"
            if items.get("type") == "array":
                return "list of names, or a list of such lists"
            return f"{'map of factor to level' if items.get('type') == 'object' else _kind(items)}, or a list of them"
    for choice in choices:
        if "$ref" in choice:
            return _kind(choice)
    return _of_several(choices) if choices else _plain(one)


def _of_several(choices: list[Schema]) -> str:
    types = {choice.get("type") for choice in choices}
    if types == {"integer", "string"}:
        return "size"
    if types >= _TEXT:
        return "text"
    if "object" in types:
        texts = any(_plain(choice) == "map of name to text" for choice in choices)
        return "text or map of name to text" if texts else "medium or map of fractions"
    if any("enum" in choice for choice in choices):
        return "name" if len(choices) == 1 else "name or text"
    return _plain(choices[0])


def _plain(one: Schema) -> str:
    if "enum" in one:
        words = [word for word in one["enum"] if word is not None]
        return "name" if len(words) > 8 else ", ".join(f"`{word}`" for word in words)
    kind = one.get("type")
    if kind == "object":
        (values,) = one["patternProperties"].values() if "patternProperties" in one else [one["additionalProperties"]]
        return f"map of name to {_kind(values).replace(', or a list of them', ' or list of texts')}"
    if kind == "boolean":
        return "`true`, `false`"
    if kind in {"integer", "number"}:
        return _numbers(one)
    if "%" in one.get("pattern", ""):
        return "percentage"
    return "path" if one.get("format") == "path" else "name" if "pattern" in one else "text"


def _numbers(one: Schema) -> str:
    if "minimum" in one:
        return f"{one['minimum']} to {one['maximum']}" if "maximum" in one else f"{one['minimum']} or more"
    if "exclusiveMinimum" in one:
        return f"above {one['exclusiveMinimum']:g}"
    return "whole number" if one["type"] == "integer" else "number"


_MODELS: Mapping[str, type[Frozen]] = {
    model.__name__: model
    for model in (
        Amount, AnswerSummary, Batch, CacheUse, CheaperChange, CheckedDataset, DeviceReport, DeviceRequests, Doubt,
        DriveReports, DriveSeen, DriveUse, DryRun, FaultReport, GraphFacts, HeartbeatsSeen, JobRecord, JobRow, Kept, Landed, LimitUse, LinkSeen, NoisePrior, Output, Plan,
        PlannedTrial, Promise, Record, Redundancy, Room, RuleOfOthers, RunSummary, Sample, ScaleCheck, ScaleReport, ScaleSeen, SiteShape, Stage, Step,
        StagedInput, StrikeSeen, Totals, Trial, CheckResult,
        *(model for kind in ENGINES.values() for model in (kind.attempt, kind.log)),
    )
}  # fmt: skip
_WORDS = {
    str: "text", int: "integer", float: "number", bool: "true or false", Path: "text", datetime: "time (ISO 8601)",
    object: "any",
}  # fmt: skip
_MARK = re.compile(r"^<!-- (fields|doc) of (\w+) -->$", re.MULTILINE)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def record_page() -> str:
    """Records and plans: tables of the models' fields."""
    return _described(_template("record.md"))


def _described(text: str) -> str:
    """A template with the models' fields at its marks, and links where it describes their types itself."""
    anchors = {mark[2]: _HEADING.findall(text, 0, mark.start())[-1] for mark in _MARK.finditer(text)}
    return _MARK.sub(
        lambda mark: _fields(_MODELS[mark[2]], anchors) if mark[1] == "fields" else getdoc(_MODELS[mark[2]]) or "", text
    )


def _fields(model: type[Frozen], anchors: Mapping[str, str]) -> str:
    docs = field_docs(model)
    rows = ((f"`{name}`", _type(one.annotation, anchors), docs[name]) for name, one in model.model_fields.items())
    return _table(("field", "type", "meaning"), rows)


def _type(annotation: Any, anchors: Mapping[str, str]) -> str:
    """A type in words, with a link where the page describes it."""
    inner = get_args(annotation)
    match get_origin(annotation):
        case None:
            return _class(annotation, anchors)
        case origin if origin in (Union, UnionType):
            words = " or ".join(dict.fromkeys("null" if one is type(None) else _type(one, anchors) for one in inner))
        case origin if origin is Annotated:
            words = _type(inner[0], anchors)
        case origin if origin is Literal:
            words = ", ".join(f"`{one}`" for one in inner)
        case origin if origin is tuple:
            words = f"list of {_type(inner[0], anchors)}"
        case _:
            words = f"map of {_type(inner[1], anchors)}"
    return words


def _class(annotation: type, anchors: Mapping[str, str]) -> str:
    if issubclass(annotation, StrEnum):
        return ", ".join(f"`{one}`" for one in annotation)
    if annotation.__name__ in anchors:
        heading = anchors[annotation.__name__]
        return f"[{heading}](#{re.sub(r'[^a-z0-9_ -]', '', heading.lower()).replace(' ', '-')})"
    return _WORDS.get(annotation, "map")


_WORKLOAD = re.compile(r"^<!-- workload ([\w-]+) -->$", re.MULTILINE)


def workloads_page() -> str:
    """Workloads: what each says of itself."""
    rows = [
        (
            f"[`{one['name']}`](#{one['name']})",
            ", ".join(f"`{variant['name']}`" for variant in one["variants"]),
            one["input"],
            one["stresses"],
        )
        for one in map(workload_json, WORKLOADS)
    ]
    overview = _table(("workload", "variants", "input", "stresses"), rows)
    text = _template("workloads.md").replace("<!-- workloads -->", overview)
    return _WORKLOAD.sub(lambda mark: _workload(mark[1]), text)


def _workload(name: str) -> str:
    shown = workload_json(name)
    facts = [(heading, shown[heading]) for heading in ("source", "result", "verified")]
    tables = [
        f"{shown['summary'][0].upper()}{shown['summary'][1:]}.",
        _table(("", ""), facts),
        _table(
            ("variant", "jobs", "algorithm"),
            [(f"`{one['name']}`", ", ".join(one["jobs"]), one["about"]) for one in shown["variants"]],
        ),
    ]
    if shown["options"]:
        options = [
            (f"`{one['name']}`", f"`{one['default']}`" if one["default"] else "", one["about"])
            for one in shown["options"]
        ]
        tables.append(_table(("option", "default", "meaning"), options))
    return "\n\n".join(tables)


_COMMANDS = "<!-- commands -->"


def command_line_page() -> str:
    """The command line: the template, with every command and its options at the end."""
    return _described(_template("command-line.md")).replace(
        _COMMANDS, "\n\n".join(_commands(cli, click.Context(cli, **cli.context_settings)))
    )


def _commands(group: click.Group, context: click.Context) -> Iterator[str]:
    """Each command's heading, first sentences, arguments and options; groups have those of their commands alone."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        below = click.Context(command, info_name=name, parent=context)
        if isinstance(command, click.Group):
            yield from _commands(command, below)
            continue
        words = below.command_path.strip()
        text = cleandoc(command.help or "")
        usage = " ".join([f"assay {words}", *command.collect_usage_pieces(below)])
        parts = [f"### `{words}`", text.partition("\n\n\b")[0].replace("\n\n", "\n").replace("\n", " "), f"`{usage}`"]
        options = [option.get_help_record(below) for option in command.params if isinstance(option, click.Option)]
        if options:
            parts.append(_table(("option", "meaning"), [(f"`{record[0]}`", record[1]) for record in options if record]))
        yield "\n\n".join(parts)


_SEVERE = """# Doubts

A *doubt* is a structured warning that goes with a result. It says what happened, to what, why that matters, and how to
cure it. A record has the doubts of its trial ([the record](record.md#doubts)); reports add those of the whole run. The
reasons and cures below are the usual ones; a doubt may have a more exact reason or cure.

This page is generated (`docs/make_reference.py`).

## Doubts that can change the answer

The most severe first, as the report lists them.

"""
_MILD = "\n## Doubts about single metrics\n\n"


def doubts_page() -> str:
    """The catalogue of doubts."""
    severe = sorted((kind for kind in DOUBTS.values() if kind.severity), key=lambda kind: -kind.severity)
    mild = sorted((kind for kind in DOUBTS.values() if not kind.severity), key=lambda kind: (kind.about, kind.name))
    return _SEVERE + _doubts(severe) + _MILD + _doubts(mild)


def _doubts(kinds: Sequence[DoubtKind]) -> str:
    rows = (
        (f"`{kind.name}`", kind.about, kind.when, "; ".join(filter(None, (kind.why, BIASES.get(kind.name)))), kind.cure)
        for kind in kinds
    )
    return _table(("kind", "about", "raised when", "why it matters", "cure"), rows) + "\n"


if __name__ == "__main__":
    for name, make in pages().items():
        (REFERENCE / name).write_text(make(), encoding="utf-8")
