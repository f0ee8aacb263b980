"""What a record's or a plan's text must be to be read: complete, of this schema, unaltered in its form.

Anything else is refused with the reason, a record whose totals are not those of its jobs too.
"""

import json
import re
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from assay.model.record import SCHEMA_VERSION, Record, totals
from assay.record.scale_rules import RULES_VERSION

ModelT = TypeVar("ModelT", bound=BaseModel)

# Digits beyond 64 bits, or an exponent of three digits, where a value begins. Texts may look alike, and rarely do.
_LONG_NUMBER = re.compile(rb"[\[:,\s]-?[0-9.]+(?:(?<=[0-9]{20})|[eE]\+?[0-9]{3})")
_MOST = 2.0**64

_WORDS = {
    "missing": "is missing", "model_type": "must be an object", "dict_type": "must be an object",
    "mapping_type": "must be an object", "tuple_type": "must be a list", "list_type": "must be a list",
    "extra_forbidden": "is unknown",
}  # fmt: skip


class Unreadable(ValueError):  # noqa: N818 - what it is, in the words of those who handle it
    """A text that can't be used; its only argument says why."""


def whole_record(text: str | bytes) -> Record:
    """Read a whole record. Raises Unreadable."""
    return _agreeing(read_as(Record, text))


def read_as(kind: type[ModelT], text: str | bytes) -> ModelT:
    """A text of this schema as one of our types. Raises Unreadable."""
    return _checked(kind, content_of(text))


def first_of(error: ValidationError) -> str:
    """The first thing that is wrong, and where."""
    first = error.errors()[0]
    keys = ".".join(str(part) for part in first["loc"])
    mistake = _WORDS.get(first["type"], str(first["msg"]))
    return f"{keys}: {mistake}" if keys else mistake


class OtherSchemaError(Unreadable):
    """It is of another version of the schema."""


def content_of(text: str | bytes) -> dict[str, Any]:
    """A record's or a plan's JSON object, of this schema. Raises Unreadable."""
    try:
        content = from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise Unreadable(f"Invalid JSON: {error}") from None
    if _LONG_NUMBER.search(text if isinstance(text, bytes) else text.encode()):
        _check_numbers(content)
    if not isinstance(content, dict):
        raise Unreadable("it is not a JSON object")
    version = content.get("schema_version")
    if version != SCHEMA_VERSION or isinstance(version, bool):
        facts = content.get("facts")
        writer = facts.get("assay") if isinstance(facts, dict) else None
        by = f"the Assay that wrote it ({writer})" if writer else "the Assay that wrote it"
        age = ("older" if version < SCHEMA_VERSION else "newer") if isinstance(version, int) else "such"
        raise OtherSchemaError(
            f"schema_version is {json.dumps(version)}, this Assay reads {SCHEMA_VERSION}: it can't read {age} "
            f"records; read them with {by}, or run the trials again into another folder"
        )
    return dict(content)


def _check_numbers(content: object) -> None:
    """Raises Unreadable for a number that nothing measures: beyond 64 bits, or infinite."""
    if isinstance(content, dict | list):
        for value in content.values() if isinstance(content, dict) else content:
            _check_numbers(value)
    elif isinstance(content, int | float) and not abs(content) < _MOST:
        raise Unreadable("it holds a number beyond 64 bits: it was altered after it was written")


def _checked(kind: type[ModelT], content: dict[str, Any]) -> ModelT:
    """Tuples come from JSON as lists, so it is taken for JSON's."""
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        raise Unreadable(first_of(error)) from None


def _agreeing(record: Record) -> Record:
    """A record whose parts agree (one of which a figure was changed does not), by known rules. Raises Unreadable."""
    slower = record.times_slower if record.scale is not None and record.scale.clock == "model" else 1
    if record.totals is not None and record.totals != totals(record.jobs, record.staging_jobs, slower):
        raise Unreadable("its totals are not those of its jobs: it was altered after it was written")
    rules = record.scale.rules if record.scale is not None else None
    if rules is not None and rules > RULES_VERSION:
        raise Unreadable(
            f"its scale model was judged by version {rules} of the rules, this Assay knows {RULES_VERSION}: "
            f"a newer Assay ({record.facts.get('assay', 'of unknown version')}) wrote it; read it with that"
        )
    return record
