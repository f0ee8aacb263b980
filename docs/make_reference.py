"""Writes the generated pages of docs/reference, and the schema beside them.

A page has tables of what the code says of itself below its marks, such as `<!-- fields of Plan -->`; the rest of it is
written by hand. From the checkout: `PYTHONPATH=src:extras .assay/venv/bin/python docs/make_reference.py`.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from functools import cache, partial
from inspect import cleandoc
from pathlib import Path
from textwrap import fill
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import click

from assay.advise.advice import Advice, Comparison, DirectedJobs
from assay.advise.mover import JobMove, Move
from assay.advise.saving import JobSaving
from assay.advise.sizes import Sizes
from assay.cli import cli
from assay.cli.context import find_installation
from assay.cli.data import CheckedDataset
from assay.cli.dry_run import DryRun, PlannedTrial
from assay.cli.experiment_keys import KeyOption
from assay.cli.schema import schema_text
from assay.cli.workloads import workload_json
from assay.model.base import Frozen, field_docs
from assay.model.doubt import DOUBTS, Doubt
from assay.model.gets import GetTimes
from assay.model.limits import LimitUse
from assay.model.record import Amount, JobRecord, Record, Totals
from assay.model.registry import ENGINES, WORKLOADS
from assay.model.trial import Landed, NoisePrior, Plan, Trial
from assay.report.bias import BIASES
from assay.report.run_summary import AnswerSummary, RunSummary
from assay.triage.coverage import Coverage
from assay.triage.ranking import Batch, JobRow
from assay.triage.window import Night, Window, WindowRun

REFERENCE = Path(__file__).parent / "reference"

Schema = Mapping[str, Any]


def pages() -> dict[str, Callable[[], str]]:
    """What makes each file of the reference, by its name."""
    return {
        "experiment.schema.json": lambda: schema_text(find_installation()),
        **{name: partial(_filled_page, name) for name in ("experiment.md", "record.md", "workloads.md", "doubts.md")},
        "command-line.md": command_line_page,
    }


_BELOW = re.compile(r"^(<!-- (?P<what>[^>]+?)(?: of (?P<whose>[\w-]+))? -->)\n(?:(?:\||- |  ).*\n)*", re.MULTILINE)
"""A mark, and the table or list below it."""


def _filled_page(name: str) -> str:
    """A page with what each of its marks names. Raises KeyError for a mark that names nothing."""
    return _filled((REFERENCE / name).read_text(encoding="utf-8"))


def _filled(text: str) -> str:
    anchors = _anchors(text)
    return _BELOW.sub(lambda mark: f"{mark[1]}\n{TABLES[mark['what']](mark['whose'], anchors)}\n", text)


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [[cell.replace("|", "\\|") for cell in line] for line in (headings, ["---"] * len(headings), *rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


_NAMES = {
    "WorkloadEntry": "[workload](#workloads)",
    "DatasetEntry": "[dataset](#datasets)",
    "MediumEntry": "[medium](#media)",
    "PredictEntry": "[drive](#predicted-drives)",
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


@cache
def _schema() -> dict[str, Any]:
    return json.loads(schema_text(find_installation()))


def _keys(name: str, _: Mapping[str, str]) -> str:
    """The keys of a part of experiment files: each with what may stand there, and what it means."""
    schema = _schema()
    part = {**schema["$defs"], "ExperimentFile": schema}[name]
    required = part.get("required", [])
    entries = []
    for key, one in part["properties"].items():
        default = "required" if key in required else _default(one)
        notes = "; ".join(filter(None, (_kind(one), default)))
        entries.append(_entry(f"- `{key}` ({notes}): {one['description']}"))
    return "\n".join(entries)


def _entry(text: str) -> str:
    return fill(text, 140, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _default(one: Schema) -> str:
    value = one.get("default")
    if value in (None, "", [], {}):
        return ""
    if isinstance(value, dict):
        return f"`{value['kind']}` by default"
    shown = value if isinstance(value, str) else json.dumps(value).replace('"', "")
    return f"`{shown}` by default"


def _kind(one: Schema) -> str:
    """What may stand there, in a few words."""
    if "$ref" in one:
        return _NAMES[one["$ref"].rpartition("/")[2]]
    choices = [choice for choice in one.get("anyOf", []) if choice.get("type") != "null"]
    for choice in reversed(choices):
        if "prefixItems" in choice:
            return f"list of {len(choice['prefixItems'])} names or numbers"
        if choice.get("type") == "array":
            return _of_list(choice["items"])
    for choice in choices:
        if "$ref" in choice:
            return _kind(choice)
    return _of_several(choices) if choices else _plain(one)


def _of_list(items: Schema) -> str:
    """What may stand where a list of these may, or one alone."""
    if items.get("items", {}).get("type") == "integer":
        return "number, or list of lists of numbers"
    if items.get("type") == "array":
        return "list of names, or a list of such lists"
    return f"{'map of factor to level' if items.get('type') == 'object' else _kind(items)}, or a list of them"


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
    for part, kind_of_text in (("%", "percentage"), ("(ms|s)$", "time")):
        if part in one.get("pattern", ""):
            return kind_of_text
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
        Advice, Amount, AnswerSummary, Batch, CheckedDataset, Comparison, Coverage, DirectedJobs, Doubt, DryRun,
        GetTimes, JobMove, JobRecord, JobRow, JobSaving, Landed, LimitUse, Move, Night, NoisePrior, Plan, PlannedTrial,
        Record, RunSummary, Sizes, Totals, Trial, Window, WindowRun,
        *(kind.attempt for kind in ENGINES.values()),
    )
}  # fmt: skip
_WORDS = {
    str: "text", int: "integer", float: "number", bool: "true or false", Path: "text", datetime: "time (ISO 8601)",
    object: "any",
}  # fmt: skip
_MARK = re.compile(r"^<!-- fields of (\w+) -->$", re.MULTILINE)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_FIRST_SENTENCE = re.compile(r".*?[.](?=\s+[A-Z`*]|$)", re.DOTALL)


def _anchors(text: str) -> dict[str, str]:
    """The heading under which a page describes each type."""
    return {mark[1]: _HEADING.findall(text, 0, mark.start())[-1] for mark in _MARK.finditer(text)}


def _fields(name: str, anchors: Mapping[str, str]) -> str:
    """A model's fields, each with the first sentence of what the code says of it."""
    model = _MODELS[name]
    docs = field_docs(model)
    return "\n".join(
        _entry(f"- `{field}` ({_type(one.annotation, anchors)}): {_first_sentence(docs[field])}")
        for field, one in model.model_fields.items()
    )


def _first_sentence(text: str) -> str:
    sentence = _FIRST_SENTENCE.match(text)
    return sentence[0] if sentence else text


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


def _workloads(_: str, __: Mapping[str, str]) -> str:
    """All workloads, with what each of them stresses."""
    rows = [
        (
            f"[`{one['name']}`](#{one['name']})",
            ", ".join(f"`{variant['name']}`" for variant in one["variants"]),
            one["input"],
            one["stresses"],
        )
        for one in map(workload_json, WORKLOADS)
    ]
    return _table(("workload", "variants", "input", "stresses"), rows)


def _options(name: str, _: Mapping[str, str]) -> str:
    options = [
        (f"`{one['name']}`", f"`{one['default']}`" if one["default"] else "", one["about"])
        for one in workload_json(name)["options"]
    ]
    return _table(("option", "default", "meaning"), options)


_COMMANDS = "<!-- commands -->"
OUTPUT = {"quiet", "verbose", "as_json"}
"""The options of commands that take a while."""


def command_line_page() -> str:
    """The command line: the page with every command and its options at the end."""
    by_hand, mark, _ = (REFERENCE / "command-line.md").read_text(encoding="utf-8").partition(_COMMANDS)
    commands = "\n\n".join(_commands(cli, click.Context(cli, **cli.context_settings)))
    return f"{_filled(by_hand)}{mark}\n\n{commands}\n"


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
        if rows := _command_options(command, below):
            parts.append("\n".join(_entry(f"- {option}: {meaning}") for option, meaning in rows))
        yield "\n\n".join(parts)


def _command_options(command: click.Command, context: click.Context) -> list[tuple[str, str]]:
    """A command's options; those that many commands have, and keys of experiments, are described once on the page."""
    names = {option.name for option in command.params}
    shared = OUTPUT if names >= OUTPUT else set()
    own = [
        option
        for option in command.params
        if isinstance(option, click.Option) and not isinstance(option, KeyOption) and option.name not in shared
    ]
    rows = [(f"`{record[0]}`", record[1]) for option in own if (record := option.get_help_record(context))]
    if any(isinstance(option, KeyOption) for option in command.params):
        rows.append(("`--KEY VALUE`", "[Set a key of the experiment](#set-keys-of-an-experiment)."))
    if shared:
        rows.append(("`--quiet`, `--verbose`, `--json`", "[Output](#conventions)."))
    return rows


def _severe_doubts(_: str, __: Mapping[str, str]) -> str:
    """The doubts that can change an answer, the most severe first, and which way they do."""
    kinds = sorted((kind for kind in DOUBTS.values() if kind.severity), key=lambda kind: -kind.severity)
    return "\n".join(
        _entry(f"- `{kind.name}`: {kind.when}. *{'; '.join(filter(None, (kind.why, BIASES.get(kind.name))))}*")
        for kind in kinds
    )


def _mild_doubts(_: str, __: Mapping[str, str]) -> str:
    """The doubts about single metrics."""
    kinds = sorted((kind for kind in DOUBTS.values() if not kind.severity), key=lambda kind: (kind.about, kind.name))
    return "\n".join(_entry(f"- `{kind.name}` ({kind.about}): {kind.when}") for kind in kinds)


TABLES: Mapping[str, Callable[[str, Mapping[str, str]], str]] = {
    "keys": _keys,
    "fields": _fields,
    "workloads": _workloads,
    "options": _options,
    "doubts that can change the answer": _severe_doubts,
    "doubts about single metrics": _mild_doubts,
}
"""What makes each table of a page, by its mark's words before *of*, from those behind it and the page's anchors."""


if __name__ == "__main__":
    for name, make in pages().items():
        (REFERENCE / name).write_text(make(), encoding="utf-8")
