"""What counters gained between two readings, and what counters and levels of machines come to in a trial's parts.

Whoever reads counters of a machine that is not Assay's own can't do it at the very moment at which a part of the trial
ends. So readings keep their times, and what a counter was at that moment lies on the straight line between the readings
around it.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.model.doubt import Doubt, doubt_kind
from assay.model.naming import first_few
from assay.model.probe import Reading, SeriesTable
from assay.model.quantity import Kind, Wrap, kind_among
from assay.model.record import Amount, Basis, Part, Sample

SHORTEST_MS = 100
"""A rate over a shorter time says little."""
SEEN_SHARE = 0.9
"""Of a part of the trial that readings cover less of nothing is said."""
LEAST_PART_MS = 10_000
"""In a shorter part there may be no second reading, which nobody misses."""
LATER_S = 5.0
"""A boot time is worked out from clocks, and moves with them: one that is later by more is another boot's."""
SURE_SHARE = 0.05
"""Where the straight lines at both ends are longer than this share of the part, its figure is an estimate."""


NEAR_NOTHING_SHARE = 0.05
"""A counter that falls below this share of its highest value began anew: what it reads was counted since then."""
STEP_BACK_SHARE, STEP_BACK_S = 0.001, 1.0
"""A counter may step back by this share, and one of time by so many seconds: the kernel's iowait does (proc(5))."""


WORD = 1 << 32
COUNT_32_BITS = Wrap(WORD, WORD / 16)
"""Bytes, packets or requests that a kernel of 32 bits counts in one word.

Nothing tells it from a kernel of 64 bits, whose counter may begin anew at any value: hence a small share.
"""
MS_32_BITS = Wrap(WORD, 3_600_000)
"""Milliseconds of /proc/diskstats, which are 32 bits wide on any kernel."""


class CounterStep(NamedTuple):
    """What a counter gained since its last reading, and the value that the next reading is compared with.

    `restarted` says that it began anew, `fell` that it lost a part of its value for no known reason: what it counted
    at that time is not known then.
    """

    gained: float
    highest: float
    restarted: bool = False
    fell: bool = False


def step(
    highest: float, now: float, *, per_s: float = 0.0, wrap: Wrap | None = None, rebooted: bool = False
) -> CounterStep:
    """The step of a counter from its highest value so far to a reading, in the counter's unit.

    `per_s` is how many of that unit are a second; 0 for one that counts no time. `rebooted` says that its machine was
    started since the last reading. A counter that steps back a little gains nothing until it is past its highest value.
    """
    if rebooted:
        return CounterStep(now, now, restarted=True)
    if now >= highest:
        return CounterStep(now - highest, now)
    if wrap is not None and (over := wrap.gained(highest, now)) is not None:
        return CounterStep(over, now)
    if highest - now <= max(STEP_BACK_S * per_s, STEP_BACK_SHARE * highest):
        return CounterStep(0, highest)
    if now < NEAR_NOTHING_SHARE * highest:
        return CounterStep(now, now, restarted=True)
    return CounterStep(0, now, fell=True)


class Gains:
    """The counters of one source by name, from reading to reading."""

    def __init__(self, first: Mapping[str, int], per_s: Mapping[str, int] = {}, wraps: Mapping[str, Wrap] = {}) -> None:
        self._highest: dict[str, float] = dict(first)
        self._per_s, self._wraps = per_s, wraps

    def add(self, now: Mapping[str, int]) -> tuple[dict[str, int], bool]:
        """What each gained since the last reading, and whether one of them began anew or fell."""
        steps = {
            name: step(highest, now[name], per_s=self._per_s.get(name, 0), wrap=self._wraps.get(name))
            for name, highest in self._highest.items()
        }
        self._highest = {name: done.highest for name, done in steps.items()}
        gained = {name: int(done.gained) for name, done in steps.items()}
        return gained, any(done.restarted or done.fell for done in steps.values())


class PartSpan(NamedTuple):
    """A part of the trial, and when it was."""

    part: Part
    begin_ms: int
    end_ms: int


class PartSpans:
    """When each part of a trial was, from the marks at their ends."""

    def __init__(self) -> None:
        self.parts: list[PartSpan] = []
        self._begin_ms = 0

    def mark(self, part: Part | None, time_ms: int) -> None:
        """A part ends now; None: the first one begins."""
        if part is not None:
            self.parts.append(PartSpan(part, self._begin_ms, time_ms))
        self._begin_ms = time_ms


class _CounterHistory:
    """Readings of a counter, as what it gained since the first."""

    def __init__(self, per_s: float, basis: Basis, wrap: Wrap | None) -> None:
        self._per_s, self._basis, self._wrap = per_s, basis, wrap
        self.times_ms: list[int] = []
        self.values: list[float] = []
        self.broken_ms: list[int] = []
        """When it began anew or fell."""
        self._highest = self._booted_s = 0.0

    def add(self, time_ms: int, value: float, booted_s: float) -> None:
        """The next reading; one of the same time as the last is the same reading."""
        if self.times_ms and time_ms <= self.times_ms[-1]:
            return
        rebooted = 0 < self._booted_s < booted_s - LATER_S
        done = CounterStep(0.0, value)
        if self.times_ms:
            done = step(self._highest, value, per_s=self._per_s, wrap=self._wrap, rebooted=rebooted)
        if done.restarted or done.fell:
            self.broken_ms.append(time_ms)
        self._highest, self._booted_s = done.highest, booted_s or self._booted_s
        self.times_ms.append(time_ms)
        self.values.append((self.values[-1] if self.values else 0.0) + done.gained)

    def at(self, time_ms: int) -> tuple[float, int]:
        """What it was then, and how long the straight line is that this lies on; 0 at a reading."""
        after = bisect_left(self.times_ms, time_ms)
        if after == len(self.times_ms):
            return self.values[-1], 0
        if after == 0 or self.times_ms[after] == time_ms:
            return self.values[after], 0
        (begin, end), (low, high) = self.times_ms[after - 1 : after + 1], self.values[after - 1 : after + 1]
        return low + (high - low) * (time_ms - begin) / (end - begin), end - begin

    def gone(self, part: PartSpan) -> tuple[float, Basis] | None:
        """What it counted in a part; None where readings cover too little of that."""
        length_ms = part.end_ms - part.begin_ms
        if not self.times_ms or length_ms <= 0:
            return None
        seen_ms = min(self.times_ms[-1], part.end_ms) - max(self.times_ms[0], part.begin_ms)
        if seen_ms < SEEN_SHARE * length_ms:
            return None
        (low, before_ms), (high, after_ms) = self.at(part.begin_ms), self.at(part.end_ms)
        unsure_ms = before_ms + after_ms + length_ms - seen_ms
        estimated = self._basis == "estimated" or any(
            part.begin_ms < time_ms <= part.end_ms for time_ms in self.broken_ms
        )
        return high - low, "estimated" if estimated or unsure_ms > SURE_SHARE * length_ms else "measured"

    def widened(self, part: PartSpan) -> PartSpan:
        """The part with the time to the readings around it; itself where there are not both."""
        before, after = bisect_right(self.times_ms, part.begin_ms), bisect_left(self.times_ms, part.end_ms)
        if not before or after == len(self.times_ms):
            return part
        return PartSpan(part.part, self.times_ms[before - 1], self.times_ms[after])


class _LevelHistory(NamedTuple):
    times_ms: list[int]
    values: list[float]


class _Key(NamedTuple):
    node: str
    subject: str
    series: str


def _rate(counter: str) -> str:
    return f"{counter}_per_s"


def _peak(level: str) -> str:
    name, _, unit = level.rpartition("_")
    return f"{name}_peak_{unit}"


def with_derived(table: SeriesTable) -> dict[str, Kind]:
    """All series that `Readings` makes of a source's counters and levels: their rates and peaks too."""
    made = {**table.counters, **dict.fromkeys(map(_rate, table.counters), Kind.RATE)}
    return made | dict.fromkeys((*table.levels, *map(_peak, table.levels)), Kind.LEVEL)


PARTLY_READ = doubt_kind(
    "partly-read", "cluster",
    when="a machine's counters were read for less than 90 % of a part of the trial that lasts 10 s or more",
    why="what they counted in that part is not known, so these figures are missing; those of other machines hold",
    cure="see why whatever exports them ended or began meanwhile (node_exporter, a daemon), and run the trial again",
)  # fmt: skip


COUNTERS_RESTARTED = doubt_kind(
    "counters-restarted", "cluster",
    when="a counter of an existing cluster's machine or daemon fell to near nothing, or lost a part of its value",
    why="most likely the machine or the daemon has started anew: what it did between its last reading and its end is "
    "not counted",
    cure="run the trial again while no machine and no daemon is restarted",
)  # fmt: skip
NO_NUMBERS = doubt_kind(
    "no-numbers", "cluster",
    when="an existing cluster's machine or daemon gave a reading that is no number, such as NaN",
    why="its counter then lies on a straight line between the readings around it; at the end of a part it is missing",
    cure="look in the log of whatever exports it (a daemon, node_exporter)",
)  # fmt: skip


class Readings:
    """What a source has read of several nodes' counters and levels. Not for several threads at once."""

    def __init__(self, probe: str, table: SeriesTable) -> None:
        """`probe` is whose amounts and samples they are."""
        self._probe, self._table = probe, table
        self._counters: dict[_Key, _CounterHistory] = {}
        self._levels: dict[_Key, _LevelHistory] = {}
        self._odd: set[_Key] = set()

    def add(self, reading: Reading) -> None:
        """Take a reading's values. One that is no number is left out: the line goes on between those around it.

        A counter whose basis is an estimate stays one.
        """
        time_ms = round(1000 * reading.at_s)
        for quantity, value in reading.values.items():
            key = _Key(reading.node, quantity.subject, quantity.series)
            if not math.isfinite(value):
                self._odd.add(key)
            elif quantity.level:
                level = self._levels.setdefault(key, _LevelHistory([], []))
                if not level.times_ms or time_ms > level.times_ms[-1]:
                    level.times_ms.append(time_ms)
                    level.values.append(value)
            else:
                if (counter := self._counters.get(key)) is None:
                    is_time = kind_among(self._table.counters, key.series) in (Kind.CLOCK_TIME, Kind.PROCESSOR_TIME)
                    counter = _CounterHistory(
                        1.0 if is_time else 0.0, quantity.basis, self._table.wraps.get(key.series)
                    )
                    self._counters[key] = counter
                counter.add(time_ms, value, reading.booted_s)

    def broken(self) -> list[str]:
        """Counters that began anew or fell, as `SUBJECT of NODE`."""
        return sorted({f"{key.subject} of {key.node}" for key, counter in self._counters.items() if counter.broken_ms})

    def not_numbers(self) -> list[str]:
        """Series of which a reading was no number, such as NaN, as `SUBJECT SERIES of NODE`."""
        return sorted(f"{key.subject} {key.series} of {key.node}".strip() for key in self._odd)

    def uncovered(self, parts: Sequence[PartSpan]) -> list[str]:
        """Where a part of the trial has no figure of a machine, since too little of it was read: `NODE in run`.

        A single counter that begins or ends meanwhile is its device's affair, such as a container's interface.
        """
        nodes = {key.node for key in self._counters}
        return sorted(
            f"{node} in {part.part}"
            for part in parts
            if part.end_ms - part.begin_ms >= LEAST_PART_MS
            for node in nodes - {key.node for key, counter in self._counters.items() if counter.gone(part) is not None}
        )

    def doubts(self, parts: Sequence[PartSpan]) -> Iterator[Doubt]:
        """What began anew or fell, what is no number, and what was partly read."""
        if broken := self.broken():
            problem = f"counters began anew or fell: {first_few(broken)}"
            yield COUNTERS_RESTARTED.doubt(problem, instrument=self._probe)
        if names := self.not_numbers():
            problem = f"readings that are no numbers were left out: {first_few(names)}"
            yield NO_NUMBERS.doubt(problem, instrument=self._probe)
        if uncovered := self.uncovered(parts):
            yield PARTLY_READ.doubt(f"too little was read of {first_few(uncovered)}", instrument=self._probe)

    def widened(self, part: PartSpan) -> PartSpan:
        """The part with the time to the readings around it: what counters gained in it they gained by then."""
        spans = [part, *(counter.widened(part) for counter in self._counters.values())]
        return PartSpan(part.part, min(span.begin_ms for span in spans), max(span.end_ms for span in spans))

    def gains(self) -> Iterator[tuple[str, str, Sequence[int], Sequence[float]]]:
        """Of each counter its subject, its series, when it was read, and what it had gained by then."""
        for key, counter in self._counters.items():
            yield key.subject, key.series, counter.times_ms, counter.values

    def samples(self) -> Iterator[Sample]:
        """Counters as rates (`..._per_s`) at the later of two readings, levels as they were."""
        for key, counter in self._counters.items():
            begin, low = counter.times_ms[0], counter.values[0]
            for end, high in zip(counter.times_ms, counter.values, strict=True):
                if end - begin >= SHORTEST_MS:
                    rate = round(1000 * (high - low) / (end - begin), 3)
                    yield self._sample(key, _rate(key.series), end, rate)
                    begin, low = end, high
        for key, level in self._levels.items():
            for time_ms, value in zip(*level, strict=True):
                yield self._sample(key, key.series, time_ms, value)

    def _sample(self, key: _Key, series: str, time_ms: int, value: float) -> Sample:
        return Sample(
            probe=self._probe, subject=key.subject, series=series, time_ms=time_ms, value=value, node=key.node
        )

    def gained(self, part: PartSpan) -> Iterator[tuple[str, float]]:
        """Of each counter its series, and what it counted in a part, as `amounts` has it."""
        for key, counter in self._counters.items():
            if (gone := counter.gone(part)) is not None:
                yield key.series, gone[0]

    def amounts(self, parts: Sequence[PartSpan], sure: Collection[Part] | None = None) -> Iterator[Amount]:
        """What each counter counted in each part, and the highest that each level was (`..._peak_UNIT`).

        The figures of parts that are not among the `sure` ones are estimates.
        """
        for part in parts:
            for key, counter in self._counters.items():
                if (gone := counter.gone(part)) is not None:
                    value, basis = gone
                    is_sure = sure is None or part.part in sure
                    yield self._amount(key, part, key.series, value, basis if is_sure else "estimated")
            for key, level in self._levels.items():
                first, end = bisect_left(level.times_ms, part.begin_ms), bisect_right(level.times_ms, part.end_ms)
                if first < end:
                    yield self._amount(key, part, _peak(key.series), max(level.values[first:end]), "estimated")

    def _amount(self, key: _Key, part: PartSpan, series: str, value: float, basis: Basis) -> Amount:
        return Amount(
            probe=self._probe, subject=key.subject, series=series, part=part.part, value=value, basis=basis,
            node=key.node,
        )  # fmt: skip
