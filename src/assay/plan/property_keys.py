"""Under which key of an experiment a property stands: that of the service that declares it, by its name's first word.

A name whose first word no service declares belongs to somebody's job: it stands under Hadoop's key, as jobs read it
from Hadoop's configuration.
"""

from collections.abc import Mapping
from typing import TypeVar

from assay.model.errors import BadInputError
from assay.model.registry import SERVICES
from assay.model.service import Service

HADOOP = "hadoop"
Levels = TypeVar("Levels")


def owners() -> Mapping[str, Service]:
    """The services by the first words that they declare.

    Raises BadInputError where two services declare one word, or bounds of one property.
    """
    by_word: dict[str, Service] = {}
    bounded: dict[str, str] = {}
    for service in SERVICES.values():
        for name in service.bounds:
            if (other := bounded.setdefault(name, service.name)) != service.name:
                raise BadInputError(f"the services {other} and {service.name} both bound {name}; let one of them do so")
        for word in service.first_words:
            if (owner := by_word.setdefault(word, service)) is not service:
                both = f"the services {owner.name} and {service.name} both declare the properties {word}.*"
                raise BadInputError(f"{both}; let one of them do so")
    return by_word


def owner_of(name: str) -> Service | None:
    """The service that declares a property of that name; None where it belongs to somebody's job."""
    word, dot, _ = name.partition(".")
    return owners().get(word) if dot else None


def property_keys() -> list[str]:
    """The keys of an experiment, and of a workload, that hold properties: Hadoop's first."""
    return list(dict.fromkeys((HADOOP, *(service.properties_key for service in owners().values()))))


def key_of(name: str) -> str:
    """The key under which a property of that name stands."""
    owner = owner_of(name)
    return HADOOP if owner is None else owner.properties_key


def spelt_out(key: object, name: str) -> str:
    """A name under a service's own key, which is its first word too, with that word where it is left out."""
    by_word = owners()
    is_short = key != HADOOP and key in by_word and name.partition(".")[0] not in by_word
    return f"{key}.{name}" if is_short else name


def by_key(properties: Mapping[str, Levels]) -> dict[str, dict[str, Levels]]:
    """Divide properties by the keys under which they stand."""
    divided: dict[str, dict[str, Levels]] = {}
    for name, levels in properties.items():
        divided.setdefault(key_of(name), {})[name] = levels
    return divided
