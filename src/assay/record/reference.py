"""The reference page of records, `docs/reference/record.md`: its text, with tables of the models' fields."""

import re
from collections.abc import Mapping
from enum import StrEnum
from importlib.resources import files
from inspect import getdoc
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from assay.model.base import Frozen, field_docs
from assay.model.doubt import Doubt, Verdict
from assay.model.input import GraphFacts
from assay.model.platform import LimitUse
from assay.model.record import (
    Amount,
    DeviceReport,
    DeviceRequests,
    JobRecord,
    Output,
    Record,
    Sample,
    Stage,
    Step,
    TaskAttempt,
    Totals,
)
from assay.model.task import TaskPhases
from assay.model.trial import Landed, NoisePrior, Plan, Trial

_MODELS: Mapping[str, type[Frozen]] = {
    model.__name__: model
    for model in (
        Amount, DeviceReport, DeviceRequests, Doubt, GraphFacts, JobRecord, Landed,
        LimitUse, NoisePrior, Output, Plan, Record, Sample, Stage, Step, TaskAttempt, TaskPhases, Totals,
        Trial, Verdict,
    )
}  # fmt: skip
_WORDS = {str: "text", int: "integer", float: "number", bool: "true or false", Path: "text", object: "any"}
_MARK = re.compile(r"^<!-- (fields|doc) of (\w+) -->$", re.MULTILINE)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def record_reference() -> str:
    """The page. Raises KeyError for a mark of an unknown model."""
    text = files("assay.record").joinpath("reference.md").read_text()
    anchors = {mark[2]: _HEADING.findall(text, 0, mark.start())[-1] for mark in _MARK.finditer(text)}
    return _MARK.sub(
        lambda mark: _table(_MODELS[mark[2]], anchors) if mark[1] == "fields" else getdoc(_MODELS[mark[2]]) or "", text
    )


def _table(model: type[Frozen], anchors: Mapping[str, str]) -> str:
    docs = field_docs(model)
    rows = [
        f"| `{name}` | {_type(field.annotation, anchors)} | {docs[name]} |"
        for name, field in model.model_fields.items()
    ]
    return "\n".join(["| field | type | meaning |", "| --- | --- | --- |", *rows])


def _type(annotation: Any, anchors: Mapping[str, str]) -> str:
    """A type in words, with a link where the page describes it."""
    inner = get_args(annotation)
    match get_origin(annotation):
        case None:
            return _class(annotation, anchors)
        case origin if origin in (Union, UnionType):
            words = " or ".join("null" if one is type(None) else _type(one, anchors) for one in inner)
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
        return f"[{heading}](#{re.sub(r'[^a-z0-9 -]', '', heading.lower()).replace(' ', '-')})"
    return _WORDS.get(annotation, "map")
