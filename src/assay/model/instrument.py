"""What a probe is when it has only to be read now and then: a small object that one thread ticks for all of them."""

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from assay.model.doubt import Doubt
from assay.model.probe import Scene
from assay.model.record import Basis


class Moment(NamedTuple):
    """A time: `time_ms` since the epoch for stamps, `clock_s` of the monotonic clock for intervals."""

    time_ms: int
    clock_s: float


SHORTEST_S = 0.1
"""Figures of a shorter interval (the tick before a mark) say little: they are told with the next one's."""


class Interval:
    """The time that an instrument's next samples are of."""

    def __init__(self, since: Moment | None = None) -> None:
        self._since_s = since and since.clock_s

    def ended(self, now: Moment) -> float | None:
        """Its seconds, and the next one begins; 0 at the first time, None while it is too short to be told."""
        seconds = 0.0 if self._since_s is None else now.clock_s - self._since_s
        if self._since_s is not None and seconds < SHORTEST_S:
            return None
        self._since_s = now.clock_s
        return seconds


class Quantity(NamedTuple):
    """What a total is of: a subject (a medium, a group of processes, ...) and a series whose name ends in its unit.

    A counter's amount for a part of the trial is its difference between the part's ends. A level (`level=True`) is told
    as it is when the part ends: a peak that the instrument begins anew with each part, a size.
    """

    subject: str
    series: str
    basis: Basis = "measured"
    level: bool = False


class CannotMeasureError(Exception):
    """Raised by an instrument that can't work here: what is missing, why that matters, and what the user can do."""

    def __init__(self, what: str, why: str, cure: str) -> None:
        super().__init__(what)
        self.what, self.why, self.cure = what, why, cure


class ProbeContext(NamedTuple):
    """What an instrument is made with: the trial's environment variables, and how child processes are counted.

    `watch_child` is given what tells the processor seconds that a child has taken so far, never less than before.
    """

    environment: Mapping[str, str]
    watch_child: Callable[[Callable[[], float]], None]


class Instrument(Protocol):
    """Something that can be read. All methods are called from the sampling thread.

    Whatever `begin`, `tick` or `totals` raises ends this instrument, and no other: it becomes its Doubt, and no part of
    the trial that was not marked by then gets amounts from it. What touches only some subjects (a device that
    vanished, a counter that was reset) an instrument deals with itself and tells in `doubts`.
    """

    name: str

    def begin(self, scene: Scene) -> None:
        """Open what is to be read, and read it once. Raises CannotMeasureError, OSError or ValueError if it can't."""
        ...

    def tick(self, now: Moment) -> Mapping[str, float]:
        """Values by series for the time since the last tick (`subject/series_unit`, or `series_unit` of the machine).

        The interval is not always the same: about 0.5 s, less before a mark, more when the machine is busy. What stood
        still or can't be told (no interval, a counter that went back) is left out.
        """
        ...

    def totals(self) -> Mapping[Quantity, float]:
        """All quantities as they are after the last tick; asked once after `begin` and once at each mark.

        Counters may begin anywhere, but never go back. One that appears later counts from 0.
        """
        ...

    def doubts(self) -> tuple[Doubt, ...]:
        """What makes the figures doubtful; asked before `end`, also when `begin` or `tick` failed."""
        ...

    def end(self) -> None:
        """Close what was opened; also after `begin` or `tick` failed."""
        ...


def now() -> Moment:
    """This moment."""
    return Moment(time_ms=int(time.time() * 1000), clock_s=time.monotonic())
