"""What an experiment says of its cluster: a kind of platform, and what that kind has keys for."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, create_model, model_validator
from pydantic.fields import FieldInfo

from assay.model.base import Frozen
from assay.model.platform import PlatformKind
from assay.model.registry import PLATFORMS
from assay.plan.entry_parts import OneOf


def cluster_short(value: Any) -> Any:
    """A kind's name alone; a key that one kind can't do without names it, such as `conf_dir` an existing cluster."""
    if isinstance(value, str):
        return {"kind": value}
    if not isinstance(value, dict) or "kind" in value:
        return value
    named = [name for name, platform in PLATFORMS.items() if platform.needed_keys.keys() & value]
    return {"kind": named[0], **value} if named else value


def keys_of(kinds: Iterable[PlatformKind]) -> type[BaseModel]:
    """A model of the keys that some kinds of platforms have."""
    return _union(*(kind.keys() for kind in kinds))


@cache
def _union(*models: type[BaseModel]) -> type[BaseModel]:
    fields: dict[str, Any] = {
        name: (field.annotation, field) for model in models for name, field in model.model_fields.items()
    }
    return create_model("ClusterKeys", __base__=Frozen, **fields)


class ClusterEntry(Frozen):
    """A cluster: its kind's name alone, or a map. The keys of all kinds of platforms are further keys."""

    model_config = ConfigDict(extra="allow")

    kind: Annotated[str, OneOf(lambda: list(PLATFORMS))] = "embedded"
    """`embedded`: a new cluster for each trial. `existing`: your cluster. With `conf_dir` it is `existing`."""

    @model_validator(mode="before")
    @classmethod
    def _further_keys_are_those_of_platforms(cls, value: Any) -> Any:
        further = {key: value[key] for key in value if key not in cls.model_fields} if isinstance(value, dict) else {}
        if not further:
            return value
        checked = keys_of(PLATFORMS.values()).model_validate(further)
        return {**value, **{key: getattr(checked, key) for key in further}}

    @classmethod
    def further_fields(cls) -> Mapping[str, FieldInfo]:
        """The keys of all kinds of platforms."""
        return keys_of(PLATFORMS.values()).model_fields

    @property
    def given_keys(self) -> set[str]:
        """Return the keys that the experiment gives for its cluster."""
        return {*self.model_fields_set, *(self.model_extra or {})}

    def get(self, key: str, default: Any = ()) -> Any:
        """What the experiment gives for a key of its kind of platform."""
        return (self.model_extra or {}).get(key, default)

    @property
    def keys(self) -> BaseModel:
        """What it says, with defaults, as its kind of platform has it."""
        keys = PLATFORMS[self.kind].keys()
        return keys.model_construct(**{key: self.get(key) for key in self.given_keys & keys.model_fields.keys()})


OneCluster = Annotated[
    ClusterEntry, BeforeValidator(cluster_short, json_schema_input_type=Literal["embedded"] | ClusterEntry)
]
