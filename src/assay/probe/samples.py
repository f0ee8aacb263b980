"""Samples as they come in, kept small: one list of times and one of values per series.

A run of hours gives millions of samples; as objects they would weigh more than all that a probe may.
"""

from array import array
from collections.abc import Iterator, Mapping

from assay.model.record import Sample
from assay.model.walked import Walked

_FIELDS = set(Sample.model_fields)


class Samples(Walked):
    """All samples of a trial, series by series, each oldest first; a Sample is made when it is asked for."""

    def __init__(self) -> None:
        self._series: dict[tuple[str, str], tuple[array[int], array[float]]] = {}
        self._count = 0

    def add(self, probe: str, time_ms: int, values: Mapping[str, float]) -> None:
        """Keep one value for each of some series of a probe."""
        for series, value in values.items():
            kept = self._series.get((probe, series))
            if kept is None:
                kept = self._series[probe, series] = (array("q"), array("d"))
            kept[0].append(time_ms)
            kept[1].append(value)
        self._count += len(values)

    @property
    def bytes(self) -> int:
        """Memory that the samples take, their series' names and the lists' spare room included, about."""
        lists = sum(2 * (len(times) + len(times) // 8) * times.itemsize for times, _ in self._series.values())
        return lists + 512 * len(self._series)

    def __len__(self) -> int:
        """Samples so far."""
        return self._count

    def __iter__(self) -> Iterator[Sample]:
        """Series by series."""
        for (probe, series), (times, values) in self._series.items():
            for time_ms, value in zip(times, values, strict=True):
                # One set of names for all: pydantic would keep one for each.
                yield Sample.model_construct(_FIELDS, probe=probe, series=series, time_ms=time_ms, value=value)
