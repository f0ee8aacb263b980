"""Counters and levels of several machines, read now and then: what they come to over time and in a trial's parts.

Whoever reads counters of a machine that is not Assay's own can't do it at the very moment at which a part of the trial
ends. So readings keep their times, and what a counter was at that moment lies on the straight line between the readings
around it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.model.record import Amount, Basis, Part, Sample

SHORTEST_MS = 100
"""A rate over a shorter time says little."""
SEEN_SHARE = 0.9
"""Of a part of the trial that readings cover less of nothing is said."""
SURE_SHARE = 0.05
"""Where the straight lines at both ends are longer than this share of the part, its figure is an estimate."""


class PartTime(NamedTuple):
    """A part of the trial, and when it was."""

    part: Part
    begin_ms: int
    end_ms: int


class PartTimes:
    """When each part of a trial was, from the marks at their ends."""

    def __init__(self) -> None:
        self.parts: list[PartTime] = []
        self._begin_ms = 0

    def mark(self, part: Part | None, time_ms: int) -> None:
        """A part ends now; None: the first one begins."""
        if part is not None:
            self.parts.append(PartTime(part, self._begin_ms, time_ms))
        self._begin_ms = time_ms


class _Counter:
    """Readings of a counter; it goes on from 0 where it went back."""

    def __init__(self, *, derived: bool = False) -> None:
        self._derived = derived
        self.times_ms: list[int] = []
        self.values: list[float] = []
        self.restarted_ms: list[int] = []
        self._last = self._base = 0.0

    def add(self, time_ms: int, value: float) -> None:
        """The next reading; one of the same time as the last is the same reading."""
        if self.times_ms and time_ms <= self.times_ms[-1]:
            return
        if value < self._last:
            self._base += self._last
            self.restarted_ms.append(time_ms)
        self._last = value
        self.times_ms.append(time_ms)
        self.values.append(self._base + value)

    def at(self, time_ms: int) -> tuple[float, int]:
        """What it was then, and how long the straight line is that this lies on; 0 at a reading."""
        after = bisect_left(self.times_ms, time_ms)
        if after == len(self.times_ms):
            return self.values[-1], 0
        if after == 0 or self.times_ms[after] == time_ms:
            return self.values[after], 0
        (begin, end), (low, high) = self.times_ms[after - 1 : after + 1], self.values[after - 1 : after + 1]
        return low + (high - low) * (time_ms - begin) / (end - begin), end - begin

    def gone(self, part: PartTime) -> tuple[float, Basis] | None:
        """What it counted in a part; None where readings cover too little of that."""
        length_ms = part.end_ms - part.begin_ms
        if not self.times_ms or length_ms <= 0:
            return None
        seen_ms = min(self.times_ms[-1], part.end_ms) - max(self.times_ms[0], part.begin_ms)
        if seen_ms < SEEN_SHARE * length_ms:
            return None
        (low, before_ms), (high, after_ms) = self.at(part.begin_ms), self.at(part.end_ms)
        unsure_ms = before_ms + after_ms + length_ms - seen_ms
        estimated = self._derived or any(part.begin_ms < time_ms <= part.end_ms for time_ms in self.restarted_ms)
        return high - low, "estimated" if estimated or unsure_ms > SURE_SHARE * length_ms else "measured"


class _Level(NamedTuple):
    times_ms: list[int]
    values: list[float]


class _Key(NamedTuple):
    node: str
    subject: str
    series: str


class Readings:
    """What a probe has read of several machines' counters and levels. Not for several threads at once."""

    def __init__(self, probe: str) -> None:
        self._probe = probe
        self._counters: dict[_Key, _Counter] = {}
        self._levels: dict[_Key, _Level] = {}

    def count(self, node: str, subject: str, series: str, time_ms: int, value: float, *, derived: bool = False) -> None:
        """A counter was this much; `series` ends in its unit. One that is `derived` from levels is an estimate."""
        self._counters.setdefault(_Key(node, subject, series), _Counter(derived=derived)).add(time_ms, value)

    def level(self, node: str, subject: str, series: str, time_ms: int, value: float) -> None:
        """A level was this high; `series` ends in its unit."""
        level = self._levels.setdefault(_Key(node, subject, series), _Level([], []))
        if not level.times_ms or time_ms > level.times_ms[-1]:
            level.times_ms.append(time_ms)
            level.values.append(value)

    @property
    def nodes(self) -> set[str]:
        """The machines of which anything was read."""
        return {key.node for key in (*self._counters, *self._levels)}

    def restarted(self) -> list[str]:
        """Counters that went back, as `SUBJECT of NODE`."""
        return sorted({f"{key.subject} of {key.node}" for key, one in self._counters.items() if one.restarted_ms})

    def samples(self) -> Iterator[Sample]:
        """Counters as rates (`..._per_s`) at the later of two readings, levels as they were."""
        for key, counter in self._counters.items():
            series = f"{key.subject}/{key.series}_per_s"
            begin, low = counter.times_ms[0], counter.values[0]
            for end, high in zip(counter.times_ms, counter.values, strict=True):
                if end - begin >= SHORTEST_MS:
                    rate = round(1000 * (high - low) / (end - begin), 3)
                    yield Sample(probe=self._probe, series=series, time_ms=end, value=rate, node=key.node)
                    begin, low = end, high
        for key, level in self._levels.items():
            series = f"{key.subject}/{key.series}"
            for time_ms, value in zip(*level, strict=True):
                yield Sample(probe=self._probe, series=series, time_ms=time_ms, value=value, node=key.node)

    def amounts(self, parts: Sequence[PartTime]) -> Iterator[Amount]:
        """What each counter counted in each part, and the highest that each level was (`..._peak_UNIT`)."""
        for part in parts:
            for key, counter in self._counters.items():
                if (gone := counter.gone(part)) is not None:
                    value, basis = gone
                    yield self._amount(key, part, key.series, value, basis)
            for key, level in self._levels.items():
                first, end = bisect_left(level.times_ms, part.begin_ms), bisect_right(level.times_ms, part.end_ms)
                if first < end:
                    name, _, unit = key.series.rpartition("_")
                    yield self._amount(key, part, f"{name}_peak_{unit}", max(level.values[first:end]), "estimated")

    def _amount(self, key: _Key, part: PartTime, series: str, value: float, basis: Basis) -> Amount:
        return Amount(
            probe=self._probe, subject=key.subject, series=series, part=part.part, value=value, basis=basis,
            node=key.node,
        )  # fmt: skip
