"""One thread that ticks all instruments twice a second, so that they need none of their own.

An instrument is what a probe is when it has only to be read now and then: a small object that is opened, ticked, asked
for its totals and closed, always from the one sampling thread and never two at a time (it needs no locks). `Ticking` is
the Probe that they are together. A mark ticks all once more, so that a part of the trial ends where it was told to.

A probe that has a thread of its own besides names it `probe-...`: `own_cost` finds it by that and counts its time.
"""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import NamedTuple, Protocol

from assay.model.doubt import Doubt
from assay.model.probe import Scene
from assay.model.record import Amount, Basis, Part, Sample
from assay.probe.samples import Samples

INTERVAL_S = 0.5
PATIENCE_S = 10.0
"""How long a mark waits for the sampling thread, which may hang in a read of a device that has died."""

GAP_S = 5.0
CLOCK_STEP_S = 1.0


class Moment(NamedTuple):
    """A time: `time_ms` since the epoch for stamps, `clock_s` of the monotonic clock for intervals."""

    time_ms: int
    clock_s: float


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


class _Member:
    """An instrument on its way through a trial: what became of it, and its totals at the last mark."""

    def __init__(self, instrument: Instrument) -> None:
        self.instrument = instrument
        self.alive = False
        self.doubts: list[Doubt] = []
        self._before: Mapping[Quantity, float] = {}

    def begin(self, scene: Scene) -> None:
        try:
            self.instrument.begin(scene)
            self._before = dict(self.instrument.totals())
            self.alive = True
        except Exception as error:  # whatever it trips over is its own affair: the others go on
            self.doubts.append(_missing(self.instrument.name, error))

    def tick(self, now: Moment, samples: Samples) -> None:
        if not self.alive:
            return
        try:
            samples.add(self.instrument.name, now.time_ms, self.instrument.tick(now))
        except Exception as error:
            self._stop(error)

    def mark(self, part: Part) -> list[Amount]:
        """The part's amounts: levels as they are, counters by their differences; none for one that went back."""
        if not self.alive:
            return []
        try:
            totals = dict(self.instrument.totals())
        except Exception as error:
            self._stop(error)
            return []
        before, self._before = self._before, totals
        gone = {what: value if what.level else value - before.get(what, 0.0) for what, value in totals.items()}
        backwards = [what for what, value in gone.items() if value < 0 and not what.level]
        if backwards:
            self.doubts.append(_went_back(self.instrument.name, backwards[0], part))
        return [
            Amount(
                probe=self.instrument.name, subject=what.subject, series=what.series, part=part, value=value,
                basis=what.basis,
            )
            for what, value in gone.items()
            if what not in backwards
        ]  # fmt: skip

    def end(self) -> None:
        try:
            self.doubts += self.instrument.doubts()
            self.instrument.end()
        except Exception as error:
            self._stop(error)

    def _stop(self, error: Exception) -> None:
        self.alive = False
        self.doubts.append(_stopped(self.instrument.name, error))


class _Mark(NamedTuple):
    part: Part
    done: threading.Event


class TickingReading:
    """What the instruments have seen so far."""

    def __init__(self, members: Sequence[_Member], samples: Samples) -> None:
        self.members = members
        self.kept = samples
        self.orders: SimpleQueue[_Mark | None] = SimpleQueue()
        self.amounts_so_far: list[Amount] = []
        self.own_doubts: list[Doubt] = []
        self.lost = False

    def mark(self, part: Part) -> None:
        """Have the sampling thread read everything now, and put it down to this part; waits until that is done."""
        done = threading.Event()
        self.orders.put(_Mark(part, done))
        if not self.lost and not done.wait(PATIENCE_S):
            self.lose(f"it did not answer within {PATIENCE_S:.0f} s when the part {part!r} ended")

    def lose(self, reason: str) -> None:
        """The sampling thread is gone or hangs: say so once."""
        if not self.lost:
            self.lost = True
            self.own_doubts.append(_lost(reason))

    def samples(self) -> tuple[Sample, ...]:
        """Series by series, each oldest first."""
        return tuple(self.kept)

    def amounts(self) -> tuple[Amount, ...]:
        """Of all parts that were marked."""
        return tuple(self.amounts_so_far)

    def doubts(self) -> tuple[Doubt, ...]:
        """Of the instruments, and of the sampling itself; whole at the scope's end."""
        return (*self.own_doubts, *(doubt for member in self.members for doubt in member.doubts))


class Ticking:
    """The Probe that some instruments are together.

    `clock` tells the time; tests bring their own. `samples` is where samples are kept, for who wants to know how many.
    """

    name = "ticking"

    def __init__(
        self, instruments: Sequence[Instrument], interval_s: float = INTERVAL_S, samples: Samples | None = None
    ) -> None:
        self._instruments = instruments
        self._interval_s = interval_s
        self._samples = samples

    @contextmanager
    def attached(self, scene: Scene) -> Iterator[TickingReading]:
        """Measure until the scope's end."""
        kept = Samples() if self._samples is None else self._samples
        reading = TickingReading([_Member(one) for one in self._instruments], kept)
        begun = threading.Event()
        thread = threading.Thread(
            target=_sample, args=(reading, scene, self._interval_s, begun), name="probe-ticking", daemon=True
        )
        thread.start()
        if not begun.wait(PATIENCE_S):
            reading.lose(f"it did not begin within {PATIENCE_S:.0f} s")
        try:
            yield reading
        finally:
            reading.orders.put(None)
            thread.join(PATIENCE_S)
            if thread.is_alive():
                reading.lose(f"it did not end within {PATIENCE_S:.0f} s")


def now() -> Moment:
    """This moment."""
    return Moment(time_ms=int(time.time() * 1000), clock_s=time.monotonic())


def _sample(reading: TickingReading, scene: Scene, interval_s: float, begun: threading.Event) -> None:
    """The sampling thread, from begin to end; whatever ends it early is told."""
    try:
        for member in reading.members:
            member.begin(scene)
        begun.set()
        _keep_ticking(reading, interval_s)
    except BaseException as error:  # a thread that dies in silence would leave a record that looks whole
        reading.lose(f"it ended with {type(error).__name__}: {error}")
    finally:
        begun.set()
        for member in reading.members:
            member.end()
        _refuse(reading.orders)


def _keep_ticking(reading: TickingReading, interval_s: float) -> None:
    """Tick at each interval and at each mark until told to stop."""
    first = last = now()
    longest_s = stepped_s = 0.0
    due = first.clock_s + interval_s
    while True:
        try:
            order = reading.orders.get(timeout=max(0.0, due - time.monotonic()))
            if order is None:
                break
        except Empty:
            order = None
        if reading.lost:  # it hung, and was given up: what is read now belongs to no part that anybody knows
            return
        moment = now()
        for member in reading.members:
            member.tick(moment, reading.kept)
        if order is not None:
            for member in reading.members:
                reading.amounts_so_far += member.mark(order.part)
            order.done.set()
        longest_s = max(longest_s, moment.clock_s - last.clock_s)
        stepped_s = max(stepped_s, abs((moment.time_ms - last.time_ms) / 1000 - (moment.clock_s - last.clock_s)))
        last = moment
        # A late tick is not made up for: the next one comes at the next multiple of the interval.
        due = first.clock_s + interval_s * ((time.monotonic() - first.clock_s) // interval_s + 1)
    reading.own_doubts += [*_gap(longest_s), *_clock_step(stepped_s)]


def _refuse(orders: "SimpleQueue[_Mark | None]") -> None:
    """Nobody waits for a thread that has ended."""
    while not orders.empty():
        order = orders.get()
        if order is not None:
            order.done.set()


def _missing(name: str, error: Exception) -> Doubt:
    kind, what = f"probe-{name}-missing", f"the probe {name} measured nothing: {_words(error)}"
    if isinstance(error, CannotMeasureError):
        return Doubt(kind=kind, what=what, why=error.why, cure=error.cure)
    return Doubt(
        kind=kind,
        what=what,
        why=f"the record has no figures of {name}",
        cure="run where the counters it names can be read",
    )


def _stopped(name: str, error: Exception) -> Doubt:
    return Doubt(
        kind=f"probe-{name}-stopped",
        what=f"the probe {name} stopped at {time.strftime('%H:%M:%S')}: {_words(error)}",
        why="its samples end there, and the part of the trial that ran then and those after it have no totals of it",
        cure="run the trial again; if it stops again, report what it says",
    )


def _went_back(name: str, what: Quantity, part: Part) -> Doubt:
    return Doubt(
        kind=f"probe-{name}-counter-went-back",
        what=f"{what.series} of {what.subject} was less at the end of {part!r} than at its beginning",
        why="a counter that was reset can't tell what was counted; that total is left out",
        cure="leave the machine's counters and devices alone while a trial runs",
    )


def _lost(reason: str) -> Doubt:
    return Doubt(
        kind="probes-lost",
        what=f"the thread that samples all probes was lost: {reason}",
        why="samples end there, and parts of the trial that were not marked by then have no totals",
        cure="look for a device that hangs (dmesg), and run the trial again",
    )


def _gap(longest_s: float) -> list[Doubt]:
    if longest_s < GAP_S:
        return []
    return [
        Doubt(
            kind="samples-sparse",
            what=f"there were no samples for {longest_s:.1f} s at a stretch",
            why="the machine or Assay was too busy to look; the sample after the gap is an average over it",
            cure="leave Assay a share of a core: bound the cluster with a limit on its cpus",
        )
    ]


def _clock_step(stepped_s: float) -> list[Doubt]:
    if stepped_s < CLOCK_STEP_S:
        return []
    return [
        Doubt(
            kind="clock-stepped",
            what=f"the machine's clock was set by {stepped_s:.1f} s while the trial ran",
            why="samples and the jobs' phases are put together by their time stamps, and these jump there",
            cure="let the clock be slewed, not stepped (chronyd, ntpd), and run the trial again",
        )
    ]


def _words(error: Exception) -> str:
    if isinstance(error, CannotMeasureError | OSError | ValueError):
        return str(error)
    return f"{type(error).__name__}: {error}"
