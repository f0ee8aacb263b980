"""Settings profiles: named sets of Hadoop properties that may inherit one another."""

from collections.abc import Mapping
from importlib.resources import files

from assay.model.base import Frozen
from assay.model.trial import SettingsSpec


class Profile(Frozen):
    """A named set of properties as it is written down, before inheritance is worked out."""

    about: str = ""
    inherits: str | None = None
    properties: Mapping[str, str] = {}


def shipped_profiles() -> dict[str, Profile]:
    """The profiles that come with Assay: `stock` and the thesis' three."""
    from ruamel.yaml import YAML

    text = files("assay.plan").joinpath("settings.yaml").read_text()
    return {name: Profile.model_validate(body) for name, body in YAML(typ="safe").load(text).items()}


def resolve(name: str, profiles: Mapping[str, Profile]) -> SettingsSpec:
    """The properties of a profile with all it inherits; its own win. Raises KeyError or ValueError (a circle)."""
    chain: list[str] = []
    current: str | None = name
    while current is not None:
        if current in chain:
            raise ValueError(f"settings profile {name!r} inherits itself through {' -> '.join([*chain, current])}")
        chain.append(current)
        current = profiles[current].inherits
    properties: dict[str, str] = {}
    for link in reversed(chain):
        properties |= profiles[link].properties
    return SettingsSpec(name=name, properties=properties)
