"""One thread that reads all sampling instruments twice a second, and isolates their failures.

A run of hours gives millions of samples; as objects they would weigh more than all that a probe may.

An instrument is what a probe is when it has only to be read now and then: a small object that is opened, ticked, asked
for its totals and closed, always from the one sampling thread and never two at a time (it needs no locks). `Ticking` is
the Probe that they are together. A mark ticks all once more, so that a part of the trial ends where it was told to.

A probe that has a thread of its own besides names it `probe-...`: `own_cost` finds it by that and counts its time.
"""

import threading
import time
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import NamedTuple

from assay.model.doubt import ALL_INSTRUMENTS, Doubt, doubt_kind
from assay.model.instrument import CannotMeasureError, Instrument, Interval, Moment, Quantity, now
from assay.model.probe import Scene
from assay.model.record import Amount, Part, Sample
from assay.model.result import Walked

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


class Member:
    """What became of an instrument, and its totals at the last mark."""

    def __init__(self, instrument: Instrument) -> None:
        self.instrument = instrument
        self.alive = False
        self.doubts: list[Doubt] = []
        self._before: Mapping[Quantity, float] = {}

    def begin(self, scene: Scene) -> None:
        """Begin it; it is alive if that worked."""
        try:
            self.instrument.begin(scene)
            self._before = dict(self.instrument.totals())
            self.alive = True
        except Exception as error:  # whatever it trips over is its own affair: the others go on
            self.doubts.append(_missing(self.instrument.name, error))

    def tick(self, now: Moment, samples: Samples) -> None:
        """Tick it while it lives, and keep its samples."""
        if not self.alive:
            return
        try:
            samples.add(self.instrument.name, now.time_ms, self.instrument.tick(now))
        except Exception as error:
            self._stop(error)

    def count_anew(self) -> None:
        """What it counted so far belongs to no part."""
        totals = self._totals()
        self._before = self._before if totals is None else totals

    def mark(self, part: Part) -> list[Amount]:
        """The part's amounts: levels as they are, counters by their differences; none for one that went back."""
        totals = self._totals()
        if totals is None:
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
        """Hear its doubts, and close it, whether or not it has any to tell."""
        try:
            self.doubts += self.instrument.doubts()
        except Exception as error:
            self._stop(error)
        try:
            self.instrument.end()
        except Exception as error:
            self._stop(error)

    def _totals(self) -> Mapping[Quantity, float] | None:
        if not self.alive:
            return None
        try:
            return dict(self.instrument.totals())
        except Exception as error:
            self._stop(error)
            return None

    def _stop(self, error: Exception) -> None:
        self.alive = False
        self.doubts.append(_stopped(self.instrument.name, error))


PROBE_MISSING = doubt_kind(
    "probe-missing",
    "instrument",
    why="the record has no figures of that probe",
    cure="run where the counters it names can be read",
)
PROBE_STOPPED = doubt_kind(
    "probe-stopped",
    "instrument",
    why="its samples end there, and the part of the trial that ran then and those after it have no totals of it",
    cure="run the trial again; if it stops again, report what it says",
)
COUNTER_WENT_BACK = doubt_kind(
    "counter-went-back",
    "instrument",
    why="a counter that was reset can't tell what was counted; that total is left out",
    cure="leave the machine's counters and devices alone while a trial runs",
)


def _missing(name: str, error: Exception) -> Doubt:
    what = f"the probe {name} measured nothing: {_words(error)}"
    if isinstance(error, CannotMeasureError):
        return PROBE_MISSING.doubt(what, instrument=name, why=error.why, cure=error.cure)
    return PROBE_MISSING.doubt(what, instrument=name, why=f"the record has no figures of {name}")


def _stopped(name: str, error: Exception) -> Doubt:
    what = f"the probe {name} stopped at {time.strftime('%H:%M:%S')}: {_words(error)}"
    return PROBE_STOPPED.doubt(what, instrument=name)


def _went_back(name: str, what: Quantity, part: Part) -> Doubt:
    return COUNTER_WENT_BACK.doubt(
        f"{what.series} of {what.subject} was less at the end of {part!r} than at its beginning",
        what.subject,
        instrument=name,
    )


def _words(error: Exception) -> str:
    if isinstance(error, CannotMeasureError | OSError | ValueError):
        return str(error)
    return f"{type(error).__name__}: {error}"


__all__ = ["CannotMeasureError", "Instrument", "Interval", "Moment", "Quantity", "Ticking", "TickingReading"]

INTERVAL_S = 0.5
PATIENCE_S = 10.0
"""How long a mark waits for the sampling thread, which may hang in a read of a device that has died."""

GAP_S = 5.0
CLOCK_STEP_S = 1.0


class _Mark(NamedTuple):
    """`part` ends now; None is the beginning of the first."""

    part: Part | None
    done: threading.Event


class TickingReading:
    """What the instruments have seen so far."""

    def __init__(self, members: Sequence[Member], samples: Samples) -> None:
        self.members = members
        self.kept = samples
        self.orders: SimpleQueue[_Mark | None] = SimpleQueue()
        self.amounts_so_far: list[Amount] = []
        self.own_doubts: list[Doubt] = []
        self.lost = False

    def begin(self) -> None:
        """Have the sampling thread read everything now, and count from there; waits until that is done."""
        self._order(None, "when the first part began")

    def mark(self, part: Part) -> None:
        """Have the sampling thread read everything now, and put it down to this part; waits until that is done."""
        self._order(part, f"when the part {part!r} ended")

    def _order(self, part: Part | None, when: str) -> None:
        done = threading.Event()
        self.orders.put(_Mark(part, done))
        if not self.lost and not done.wait(PATIENCE_S):
            self.lose(f"it did not answer within {PATIENCE_S:.0f} s {when}")

    def lose(self, reason: str) -> None:
        """The sampling thread is gone or hangs: say so once."""
        if not self.lost:
            self.lost = True
            self.own_doubts.append(_lost(reason))

    def samples(self) -> Sequence[Sample]:
        """Series by series, each oldest first."""
        return self.kept

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
        reading = TickingReading([Member(one) for one in self._instruments], kept)
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
    started_s = time.monotonic()
    last = now()
    longest_s = stepped_s = 0.0
    while not reading.lost:  # one that hung was given up: what is read now belongs to no part that anybody knows
        # A late tick is not made up for: the next one comes at the next multiple of the interval.
        gone_s = time.monotonic() - started_s
        try:
            order = reading.orders.get(timeout=interval_s - gone_s % interval_s)
            if order is None:
                break
        except Empty:
            order = None
        moment = now()
        _tick(reading, moment, order)
        longest_s = max(longest_s, moment.clock_s - last.clock_s)
        stepped_s = max(stepped_s, abs((moment.time_ms - last.time_ms) / 1000 - (moment.clock_s - last.clock_s)))
        last = moment
    reading.own_doubts += [*_gap(longest_s), *_clock_step(stepped_s)]


def _tick(reading: TickingReading, moment: Moment, order: "_Mark | None") -> None:
    """Tick all instruments; a mark that came is answered, whatever happens."""
    try:
        for member in reading.members:
            member.tick(moment, reading.kept)
        if order is not None and not reading.lost:
            for member in reading.members:
                if order.part is None:
                    member.count_anew()
                else:
                    reading.amounts_so_far += member.mark(order.part)
    finally:
        if order is not None:
            order.done.set()


def _refuse(orders: "SimpleQueue[_Mark | None]") -> None:
    """Nobody waits for a thread that has ended."""
    while not orders.empty():
        order = orders.get()
        if order is not None:
            order.done.set()


PROBES_LOST = doubt_kind(
    "probes-lost",
    "trial",
    why="samples end there, and parts of the trial that were not marked by then have no totals",
    cure="look for a device that hangs (dmesg), and run the trial again",
    instrument=ALL_INSTRUMENTS,
)


def _lost(reason: str) -> Doubt:
    return PROBES_LOST.doubt(f"the thread that samples all probes was lost: {reason}")


SAMPLES_SPARSE = doubt_kind(
    "samples-sparse",
    "trial",
    why="the machine or Assay was too busy to look; the sample after the gap is an average over it",
    cure="leave Assay a share of a core: bound the cluster with a limit on its cpus",
    instrument="sampler",
)


def _gap(longest_s: float) -> list[Doubt]:
    if longest_s < GAP_S:
        return []
    return [SAMPLES_SPARSE.doubt(f"there were no samples for {longest_s:.1f} s at a stretch")]


CLOCK_STEPPED = doubt_kind(
    "clock-stepped",
    "machine",
    why="samples and the jobs' phases are put together by their time stamps, and these jump there",
    cure="let the clock be slewed, not stepped (chronyd, ntpd), and run the trial again",
    instrument="sampler",
)


def _clock_step(stepped_s: float) -> list[Doubt]:
    if stepped_s < CLOCK_STEP_S:
        return []
    return [CLOCK_STEPPED.doubt(f"the machine's clock was set by {stepped_s:.1f} s while the trial ran")]
