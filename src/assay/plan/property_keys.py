"""Under which key of an experiment a property stands: that of the service that declares it, by its name's first word.

A name whose first word no service declares belongs to somebody's job: it stands under Hadoop's key, as jobs read it
from Hadoop's configuration.
"""

from collections.abc import Mapping
from typing import TypeVar

from assay.model.errors import BadInputError
from assay.model.registry import SERVICES

HADOOP = "hadoop"
Levels = TypeVar("Levels")


def _keys_of_words() -> Mapping[str, str]:
    """The keys by the first words that services declare.

    Raises BadInputError where two services declare a word under different keys, or bounds of one property.
    """
    words: dict[str, tuple[str, str]] = {}
    bounded: dict[str, str] = {}
    for service in SERVICES.values():
        for name in service.bounds:
            if (other := bounded.setdefault(name, service.name)) != service.name:
                raise BadInputError(f"the services {other} and {service.name} both bound {name}; let one of them do so")
        for word in service.first_words:
            other, key = words.setdefault(word, (service.name, service.properties_key))
            if key != service.properties_key:
                raise BadInputError(
                    f"the services {other} and {service.name} both declare the properties {word}.*, under {key} and "
                    f"{service.properties_key}; let one of them do so"
                )
    return {word: key for word, (_, key) in words.items()}


def property_keys() -> list[str]:
    """The keys of an experiment, and of a workload, that hold properties: Hadoop's first."""
    return list(dict.fromkeys((HADOOP, *_keys_of_words().values())))


def key_of(name: str) -> str:
    """The key under which a property of that name stands."""
    return _keys_of_words().get(name.partition(".")[0], HADOOP)


def by_key(properties: Mapping[str, Levels]) -> dict[str, dict[str, Levels]]:
    """Divide properties by the keys under which they stand."""
    divided: dict[str, dict[str, Levels]] = {}
    for name, levels in properties.items():
        divided.setdefault(key_of(name), {})[name] = levels
    return divided
