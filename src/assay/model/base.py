"""What all the nouns share: they are frozen, closed, and travel as JSON."""

import ast
import inspect
import json
import textwrap
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema, from_json, to_json

from assay.model.naming import HOW, size_of


class Frozen(BaseModel):
    """A value: immutable, refuses unknown fields, reads and writes JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __copy__(self) -> Self:
        """What was worked out of the original and kept may not hold for a copy, which `model_copy` then changes."""
        copied = super().__copy__()
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]
        return copied


LEAST_BYTES = 1 << 20
"""Less can hold nothing, and is most likely a size whose unit was forgotten."""


def _bytes(value: Any) -> Any:
    if value is None:
        return value
    size = size_of(value)
    if size is None:
        raise PydanticCustomError("size", f"Must be {HOW}")
    if size < LEAST_BYTES:
        raise PydanticCustomError("small", "Must be at least 1MiB; write the unit too, such as 4GiB or 500GB")
    return size


# A size in bytes, as a user writes it.
Bytes = Annotated[int, BeforeValidator(_bytes, json_schema_input_type=int | str)]


def _not_empty(value: Any) -> Any:
    if value == "":
        raise PydanticCustomError("empty", "Must be a path; leave it out for the default, or write . for the folder")
    return value


# A path as a user writes it: an empty one would be the folder of the experiment.
UserPath = Annotated[Path, BeforeValidator(_not_empty)]


# Numbers as files have them: no texts, no yes or no; neither infinite nor undefined.
Whole = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class OneOrMany:
    """Annotates a list of one item or more, in whose place a single item may stand."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The list's own schema, behind a single item's."""
        many = handler(source)
        return core_schema.no_info_before_validator_function(
            lambda value: value if isinstance(value, list) else [value],
            many,
            json_schema_input_schema=core_schema.union_schema([many["items_schema"], many]),
        )


Item = TypeVar("Item")
Many = Annotated[list[Item], OneOrMany(), Field(min_length=1)]


def json_text(value: Any, indent: int | None = None) -> str:
    """Plain data as JSON in ASCII. JSON has neither NaN nor infinity: they are null."""
    try:
        return json.dumps(value, indent=indent, allow_nan=False)
    except ValueError:
        return json.dumps(from_json(to_json(value, inf_nan_mode="null")), indent=indent)


def field_docs(model: type[BaseModel]) -> dict[str, str]:
    """What stands below each field of a model in its source, and in those of the models that it is made of."""
    docs = {}
    for kind in reversed(model.__mro__):
        if issubclass(kind, BaseModel) and kind.model_fields:
            (body,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
            for field, below in pairwise(body.body):  # type: ignore[attr-defined]
                match field, below:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=text):
                        docs[name] = " ".join(ast.literal_eval(text).split())
    return docs
