"""What the parts of an experiment's schema are made of: names, and words that registries offer."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, PydanticKnownError, core_schema

from assay.host.yaml_file import NOT_SUPPORTED
from assay.model.naming import MOST_NAME_CHARACTERS


def alone(key: str) -> Callable[[Any], Any]:
    """Makes a text that stands alone a map with this key."""
    return lambda value: {key: value} if isinstance(value, str) else value


# A name becomes part of a folder's name.
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=MOST_NAME_CHARACTERS)]


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


NOT_YET = {
    name.lower(): name
    for name in (
        "Alluxio", "Flink", "Giraph", "Hive", "Impala", "Kafka", "Kudu", "MongoDB", "Ozone",
        "Pig", "Presto", "Storm", "Trino",
    )
}  # fmt: skip
"""What many would ask for, and there may be none of: named so that the message can say just that."""


class Supported:
    """Annotates a word of a registry: what is well known but not in it is refused by its name."""

    def __init__(self, words: Callable[[], Sequence[str]], instead: str) -> None:
        self._words, self._instead = words, instead

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """A check after that of the text."""
        return core_schema.no_info_after_validator_function(self.checked, handler(source))

    def checked(self, value: str) -> str:
        """Return the word. Raises PydanticCustomError for one that is known and not supported."""
        name = NOT_YET.get(value.lower())
        if name is not None and value not in self._words():
            words = f"{name} is not supported; {self._instead.format(words=' or '.join(self._words()))}"
            raise PydanticCustomError(NOT_SUPPORTED, "{words}", {"words": words})
        return value


def choice(words: Sequence[str]) -> str:
    """These words in quotes, with an `or` before the last."""
    return f"{', '.join(map(repr, words[:-1]))} or {words[-1]!r}"
