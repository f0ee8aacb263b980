"""An experiment's factors and their levels, by the names that tables use, and as users name them in an experiment."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from assay.model.errors import BadInputError
from assay.model.naming import nearest
from assay.model.sizes import size_of
from assay.model.trial import cpus_level, memory_level

WORKLOAD, DATASET, PLACEMENT, REPLICATION = "workload", "dataset", "placement", "replication"
# The keys of an experiment whose factor tables call otherwise.
_KEYS = {"workloads": WORKLOAD, "datasets": DATASET, "placements": PLACEMENT, "media": PLACEMENT}


class Level(NamedTuple):
    """One level of an axis: what a trial is made with, and what tables show of it, by factors' names.

    A workload shows three factors: `workload`, `variant` and `options`.
    """

    value: Any
    shown: Mapping[str, str]


class Axis(NamedTuple):
    """Something that varies in an experiment. Its name is that of a factor."""

    name: str
    levels: Sequence[Level]


def axis(name: str, levels: Iterable[tuple[Any, str]]) -> Axis:
    """An axis of one factor, from values and what tables show of them."""
    return Axis(name, [Level(value, {name: text}) for value, text in levels])


def factor_name(word: str, known: Sequence[str]) -> str:
    """The factor that a user means. Raises BadInputError with the nearest word."""
    name = _KEYS.get(word, word)
    if name not in known:
        raise BadInputError(f"unknown factor {word!r}; {nearest(word, known)}")
    return name


def level_text(factor: str, word: str) -> str:
    """A level as tables show it, from how a user writes it: `2048MiB` is shown as `2GiB`."""
    size = size_of(word) if factor == "memory" else None
    if size is not None:
        return memory_level(size)
    try:
        return cpus_level(float(word)) if factor == "cpus" and word != cpus_level(None) else word
    except ValueError:
        return word


def known_level(factor: str, word: str, known: Sequence[str]) -> str:
    """A level of a factor as tables show it. Raises BadInputError with the nearest one where there is no such level."""
    text = level_text(factor, word)
    if text not in known:
        raise BadInputError(f"{factor} has no level {word!r}; {nearest(text, known)}")
    return text


def levels_of(shown: Iterable[Mapping[str, str]]) -> dict[str, list[str]]:
    """All levels of all factors that some combinations show, in the order in which they come."""
    found: dict[str, dict[str, None]] = {}
    for levels in shown:
        for name, text in levels.items():
            found.setdefault(name, {})[text] = None
    return {name: list(texts) for name, texts in found.items()}
