"""The JSON schema of experiment files, which editors complete and check them with."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.plan.experiment import ExperimentFile
from assay.plan.load import Vocabulary
from assay.plan.settings import shipped_profiles

DIALECT = "https://json-schema.org/draft/2020-12/schema"
# Set by the plan from `memory` and `cpus`, not by people.
_NOT_WRITTEN = {"ClusterSpec": ("limit_memory_bytes", "limit_cpus")}

Schema = dict[str, Any]


def schema(vocabulary: Vocabulary) -> Schema:
    """The schema with the names that may be used in its places. Every key of an experiment has its description."""
    whole = ExperimentFile.model_json_schema()
    definitions = whole["$defs"]
    for name, keys in _NOT_WRITTEN.items():
        for key in keys:
            del definitions[name]["properties"][key]
    for part in _within(whole):
        if isinstance(part.get("title"), str):
            del part["title"]
    _name_workloads(whole, vocabulary.workloads)
    datasets = definitions["DatasetEntry"]["properties"]
    datasets["get"]["anyOf"][0] = {"enum": sorted(vocabulary.catalogue)}
    datasets["make"]["anyOf"][0] = {"enum": sorted(vocabulary.presets)}
    media = definitions["MediumEntry"]["properties"]["profile"]
    media["anyOf"].insert(0, {"enum": sorted(vocabulary.profiles)})
    (named,) = whole["properties"]["media"]["patternProperties"].values()
    whole["properties"]["media"]["additionalProperties"] = False
    named["anyOf"].insert(0, {"enum": ["directory", "memory", *sorted(vocabulary.profiles)]})
    whole["properties"]["settings"]["anyOf"].insert(0, {"enum": list(shipped_profiles())})
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
