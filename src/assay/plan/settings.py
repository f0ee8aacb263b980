"""Settings profiles: named sets of Hadoop properties that may inherit one another."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, model_validator
from pydantic_core import PydanticCustomError

from assay.model.base import Frozen, OneOrMany
from assay.model.errors import BadInputError
from assay.model.naming import unprintable
from assay.model.registry import SERVICES
from assay.model.trial import SettingsSpec
from assay.plan.property_keys import property_keys


def _as_text(value: Any) -> Any:
    """YAML's numbers and booleans as Hadoop writes them."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


def without_control(value: str, *, but: str = "") -> str:
    """The text itself. Raises PydanticCustomError for a control character; those of `but` are allowed."""
    control = unprintable("".join(character for character in value if character not in but))
    if control:
        raise PydanticCustomError("control", f"Has the control character {control}; leave it out")
    return value


# Texts may have several lines and tabs; no file of Hadoop's and no command can hold other control characters.
Prose = Annotated[str, AfterValidator(lambda value: without_control(value, but="\n\t"))]
Text = Annotated[Prose, BeforeValidator(_as_text, json_schema_input_type=str | bool | int | float)]


def _single(value: Any) -> Any:
    if isinstance(value, list):
        raise PydanticCustomError("levels", "Must be a single text or number; a list of levels belongs under `hadoop`")
    return value


Single = Annotated[Text, BeforeValidator(_single, json_schema_input_type=str | bool | int | float)]


class Profile(Frozen):
    """A named set of properties as written, before inheritance is resolved."""

    about: Prose = ""
    """A description for readers."""
    inherits: Annotated[list[str], OneOrMany()] = []
    """The profile to start from, or several, of which a later one's properties win; by default Hadoop's own
    defaults."""
    properties: Mapping[str, Single] = {}
    """Properties that are added or replaced. Numbers and booleans are passed on as text."""

    @model_validator(mode="before")
    @classmethod
    def _all_properties_stand_together(cls, value: Any) -> Any:
        key = next((key for key in property_keys() if isinstance(value, dict) and key in value), None)
        if key is not None:
            raise ValueError(
                f"in a profile all properties stand under `properties`, and this one has {key!r}; move them"
            )
        return value


@cache
def shipped_profiles() -> Mapping[str, Profile]:
    """The profiles that come with Assay, and with its services, by name.

    They are read once, which takes longer than the rest of a small plan.
    """
    from ruamel.yaml import YAML

    text = files("assay.plan").joinpath("settings.yaml").read_text(encoding="utf-8")
    bodies: dict[str, Mapping[str, Any]] = YAML(typ="safe").load(text)
    for service in SERVICES.values():
        for name, profile in service.profiles.items():
            bodies[name] = {**profile._asdict(), "inherits": list(profile.inherits)}
    return MappingProxyType({name: Profile.model_validate(body) for name, body in bodies.items()})


def resolve(name: str, profiles: Mapping[str, Profile]) -> SettingsSpec:
    """A profile's properties over those it inherits. Raises KeyError, or BadInputError where one inherits itself."""
    return SettingsSpec(name=name, properties=_properties([name], profiles))


def _properties(chain: Sequence[str], profiles: Mapping[str, Profile]) -> dict[str, str]:
    """Of the last of these profiles, each of which inherits the next one."""
    *before, last = chain
    if last in before:
        raise BadInputError(f"settings profile {chain[0]!r} inherits itself through {' -> '.join(chain)}")
    properties: dict[str, str] = {}
    for inherited in profiles[last].inherits:
        properties |= _properties([*chain, inherited], profiles)
    return {**properties, **profiles[last].properties}
