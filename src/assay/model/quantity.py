"""Kinds of quantity: declared once, with the series or the field that holds a number, and never read out of its name.

A scale model's times are converted by them, and what may be added up is told by them.
"""

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from types import MappingProxyType, UnionType
from typing import Annotated, NamedTuple, get_args

from pydantic import BaseModel


class Kind(StrEnum):
    """What a number is of. The unit is at the end of its name."""

    MOMENT = "moment"
    """A time of day, in milliseconds since the epoch; 0 if unknown."""
    CLOCK_TIME = "clock time"
    """A length of time by the cluster's clock."""
    RATE = "rate"
    """So many a second of the cluster's clock."""
    PROCESSOR_TIME = "processor time"
    """Time of processors: a cluster that runs slower takes as much."""
    MACHINE_TIME = "machine time"
    """A length of time by the clock of the machine itself, which no model of it changes: what probing takes."""
    BYTES = "bytes"
    """Bytes that were moved, which add up."""
    COUNT = "count"
    """Events or things that were counted, which add up."""
    ENERGY = "energy"
    """Joules, which add up."""
    LEVEL = "level"
    """What something was at a time: a share, a size, a power, a peak. Levels don't add up."""


MomentMs = Annotated[int, Kind.MOMENT]
ClockTimeMs = Annotated[int, Kind.CLOCK_TIME]
ClockTimeS = Annotated[float, Kind.CLOCK_TIME]
KnownClockTimeS = Annotated[float | None, Kind.CLOCK_TIME]
ProcessorTimeMs = Annotated[int, Kind.PROCESSOR_TIME]
ByteCount = Annotated[int, Kind.BYTES]
Count = Annotated[int, Kind.COUNT]
KnownCount = Annotated[int | None, Kind.COUNT]


class Wrap(NamedTuple):
    """A counter that begins anew at 0 after `range`, and the most that it can gain between two readings.

    So it was near its range before it did.
    """

    range: float
    most: float

    def gained(self, highest: float, now: float) -> float | None:
        """What it gained if it ran over its range between two readings; None where it can't have done that."""
        gain = now + self.range - highest
        return gain if highest <= self.range and gain <= self.most else None


def kind_among(declared: Mapping[str, Kind], series: str) -> Kind | None:
    """The kind of a series; None if it is not declared. A declared name may begin with `*`, which stands for anything.

    A name without it comes first, then the longest.
    """
    if series in declared:
        return declared[series]
    names = [name for name in declared if name.startswith("*") and series.endswith(name[1:])]
    return declared[max(names, key=len)] if names else None


@cache
def kinds_of(model: type[BaseModel]) -> Mapping[str, Kind]:
    """The kinds of a model's fields that are numbers. Raises TypeError for a number whose kind is not declared."""
    kinds = {}
    for name, field in model.model_fields.items():
        declared = next((entry for entry in field.metadata if isinstance(entry, Kind)), None)
        types = get_args(field.annotation) if isinstance(field.annotation, UnionType) else (field.annotation,)
        if declared is not None:
            kinds[name] = declared
        elif int in types or float in types:
            raise TypeError(f"{model.__name__}.{name} is a number whose kind is not declared (assay.model.quantity)")
    return MappingProxyType(kinds)
