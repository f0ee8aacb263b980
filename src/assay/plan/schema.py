"""The schema of experiment files, as JSON for editors."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from assay.model.base import field_docs
from assay.model.fault import Fault
from assay.model.kerberos import KerberosSpec
from assay.model.registry import MEDIA, NODE_SOURCES, PLATFORMS
from assay.model.trial import FACTORS, SiteShape
from assay.plan.cluster import ClusterEntry, keys_of
from assay.plan.experiment import (
    DatasetEntry,
    ExperimentFile,
    MediumEntry,
    PredictEntry,
    WorkloadEntry,
)
from assay.plan.placement import PlacementEntry
from assay.plan.property_keys import HADOOP, property_keys
from assay.plan.settings import Profile, shipped_profiles
from assay.plan.source import Vocabulary
from assay.plan.store import StoreEntry

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]


def schema(vocabulary: Vocabulary) -> Schema:
    """The schema with the names that may be used in its places. Every key of an experiment has its description."""
    whole = ExperimentFile.model_json_schema()
    definitions = whole["$defs"]
    sources = [kind.options for kind in NODE_SOURCES.values() if isinstance(kind.options, type)]
    _add_keys_of_platforms(definitions)
    _add_property_keys(whole)
    models: list[type[BaseModel]] = [ExperimentFile, WorkloadEntry, DatasetEntry, MediumEntry, PlacementEntry, Profile]
    models += [PredictEntry, ClusterEntry, Fault, StoreEntry, KerberosSpec, SiteShape, *sources]
    for model in models:
        keys = definitions.get(model.__name__, whole)["properties"]
        for key, text in field_docs(model).items():
            keys[key]["description"] = text
    for part in _parts_of(whole):
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
            for part in _parts_of(key):
                if part.get("type") == "string":
                    del part["type"]
                    part["enum"] = names
    return {"$schema": DIALECT, "title": "Experiment of Assay", **whole}


def _add_keys_of_platforms(definitions: Schema) -> None:
    """Make the keys of each kind of platform those of a cluster, with the models of their values as definitions."""
    keys = keys_of(PLATFORMS.values()).model_json_schema()
    for part in _parts_of(keys):
        if isinstance(part.get("description"), str):
            part["description"] = " ".join(part["description"].split())
    definitions |= keys["$defs"]
    cluster = definitions["ClusterEntry"]
    cluster["properties"] |= keys["properties"]
    cluster["additionalProperties"] = False


def _add_property_keys(whole: Schema) -> None:
    """Make each key of properties one of the experiment and of a workload, beside Hadoop's."""
    for part in (whole, whole["$defs"]["WorkloadEntry"]):
        for key in property_keys():
            hadoop = part["properties"][HADOOP]
            described = {**hadoop, "description": f"As `{HADOOP}`, for properties of {key}."}
            part["properties"].setdefault(key, described)


def _name_workloads(whole: Schema, workloads: Mapping[str, Sequence[str]]) -> None:
    """Allow only these names, each with its variants."""
    names = {"enum": list(workloads)}
    entry = whole["$defs"]["WorkloadEntry"]
    entry["properties"]["name"] = {**names, "description": entry["properties"]["name"]["description"]}
    entry["allOf"] = [
        {
            "if": {"properties": {"name": {"const": name}}},
            "then": {"properties": {"variant": {"anyOf": [{"enum": [*variants, None]}, _map_to(variants)]}}},
        }
        for name, variants in workloads.items()
    ]
    for part in _parts_of(whole["properties"]["workloads"]):
        if part.get("type") == "string":
            del part["type"]
            part.update(names)


def _map_to(texts: Sequence[str]) -> Schema:
    return {"type": "object", "additionalProperties": {"enum": list(texts)}}


def _parts_of(part: Any) -> Iterator[Schema]:
    """Yield all maps of a schema, the schema too."""
    if isinstance(part, dict):
        yield part
        part = list(part.values())
    if isinstance(part, list):
        for item in part:
            yield from _parts_of(item)
