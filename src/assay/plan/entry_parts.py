"""What the parts of an experiment's schema are made of: single items for lists, words that registries offer."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticKnownError, core_schema

from assay.model.base import Whole
from assay.model.network import MOST_NODES


def alone(key: str) -> Callable[[Any], Any]:
    """Makes a text that stands alone a map with this key."""
    return lambda value: {key: value} if isinstance(value, str) else value


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

Worker = Annotated[Whole, Field(ge=1, le=MOST_NODES)]


class OneOf:
    """Annotates a word that must be one of those that the registries offer when it is read."""

    def __init__(self, words: Callable[[], Sequence[str]]) -> None:
        self._words = words

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """A check before that of the text."""
        return core_schema.no_info_before_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """A choice of these words."""
        return {**handler(schema), "enum": list(self._words())}

    def _checked(self, value: object) -> object:
        if value not in self._words():
            raise PydanticKnownError("literal_error", {"expected": choice(self._words())})
        return value


def choice(words: Sequence[str]) -> str:
    """These words in quotes, with an `or` before the last."""
    return f"{', '.join(map(repr, words[:-1]))} or {words[-1]!r}"
