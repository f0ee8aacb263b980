"""The schema of experiment files as JSON, and as a reference for people."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from assay.model.base import field_docs
from assay.model.registry import MEDIA
from assay.model.trial import FACTORS
from assay.plan.experiment import ClusterEntry, DatasetEntry, ExperimentFile, MediumEntry, PlacementEntry, WorkloadEntry
from assay.plan.settings import Profile, shipped_profiles
from assay.plan.source import Vocabulary

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]


def schema(vocabulary: Vocabulary) -> Schema:
    """The schema with the names that may be used in its places. Every key of an experiment has its description."""
    whole = ExperimentFile.model_json_schema()
    definitions = whole["$defs"]
    for model in (ExperimentFile, WorkloadEntry, DatasetEntry, MediumEntry, PlacementEntry, Profile, ClusterEntry):
        keys = definitions.get(model.__name__, whole)["properties"]
        for key, text in field_docs(model).items():
            keys[key]["description"] = text
    for part in _within(whole):
        if isinstance(part.get("title"), str):
            del part["title"]
    _name_workloads(whole, vocabulary.workloads)
    datasets = definitions["DatasetEntry"]["properties"]
    datasets["get"]["anyOf"][0] = {"enum": sorted(vocabulary.catalogue)}
    datasets["make"]["anyOf"][0] = {"enum": sorted(vocabulary.presets)}
    kinds = {name: kind for name, kind in MEDIA.items() if kind.chosen}
    for known_by in filter(None, (kind.known_by for kind in kinds.values())):
        option = definitions["MediumEntry"]["properties"][known_by]
        option["anyOf"] = [{"enum": sorted(vocabulary.profiles)}, {"type": option.pop("type")}]
    (named,) = whole["properties"]["media"]["patternProperties"].values()
    whole["properties"]["media"]["additionalProperties"] = False
    named["anyOf"].insert(
        0, {"enum": [*(name for name, kind in kinds.items() if not kind.known_by), *sorted(vocabulary.profiles)]}
    )
    whole["properties"]["settings"]["anyOf"].insert(0, {"enum": list(shipped_profiles())})
    for factor in FACTORS:
        if factor.name in vocabulary.levels:
            *above, name = factor.key.split(".")
            key = (definitions["ClusterEntry"] if above else whole)["properties"][name]
            names = [factor.parse(text) for text in vocabulary.levels[factor.name]]
            _, many = key["anyOf"]
            key["anyOf"] = [{"enum": names}, {**many, "items": {"enum": names}}]
    return {"$schema": DIALECT, "title": "Experiment of Assay", **whole}


def _name_workloads(whole: Schema, workloads: Mapping[str, Sequence[str]]) -> None:
    """Only these names, and of each only its variants."""
    names = {"enum": list(workloads)}
    entry = whole["$defs"]["WorkloadEntry"]
    entry["properties"]["name"] = {**names, "description": entry["properties"]["name"]["description"]}
    entry["allOf"] = [
        {
            "if": {"properties": {"name": {"const": name}}},
            "then": {"properties": {"variant": {"enum": [*variants, None]}}},
        }
        for name, variants in workloads.items()
    ]
    for part in _within(whole["properties"]["workloads"]):
        if part.get("type") == "string":
            del part["type"]
            part.update(names)


def _within(part: Any) -> Iterator[Schema]:
    """All maps of a schema, itself too."""
    if isinstance(part, dict):
        yield part
        part = list(part.values())
    if isinstance(part, list):
        for one in part:
            yield from _within(one)


_TABLE = re.compile(r"^<!-- keys of (\w+) -->$", re.MULTILINE)
_NAMES = {
    "WorkloadEntry": "[workload](#workloads)",
    "DatasetEntry": "[dataset](#datasets)",
    "MediumEntry": "[medium](#media)",
    "PlacementEntry": "[placement](#placement)",
    "Profile": "[profile](#profiles)",
    "ClusterEntry": "[cluster](#cluster)",
}
_TEXT = {"string", "boolean", "integer", "number"}
WHOLE = "ExperimentFile"


def reference(schema: Schema) -> str:
    """The page: each mark in its text stands for the table of one part. Raises KeyError for an unknown part."""
    text = files("assay.plan").joinpath("reference.md").read_text()
    parts = {**schema["$defs"], WHOLE: schema}
    return _TABLE.sub(lambda mark: _table(parts[mark[1]]), text)


def _table(part: Schema) -> str:
    required = part.get("required", [])
    rows = [
        f"| `{key}` | {_kind(one)} | {'required' if key in required else _default(one)} | {one['description']} |"
        for key, one in part["properties"].items()
    ]
    return "\n".join(["| key | type | default | meaning |", "| --- | --- | --- | --- |", *rows])


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
        if choice.get("type") == "array":
            items = choice["items"]
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
        return "medium or map of fractions"
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
