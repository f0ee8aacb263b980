"""One thread that ticks all instruments twice a second, so that they need none of their own.

An instrument is what a probe is when it has only to be read now and then: a small object that is opened, ticked, asked
for its totals and closed, always from the one sampling thread and never two at a time (it needs no locks). `Ticking` is
the Probe that they are together. A mark ticks all once more, so that a part of the trial ends where it was told to.

A probe that has a thread of its own besides names it `probe-...`: `own_cost` finds it by that and counts its time.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import NamedTuple

from assay.model.doubt import Doubt
from assay.model.instrument import CannotMeasureError, Instrument, Interval, Moment, Quantity, now
from assay.model.probe import Scene
from assay.model.record import Amount, Part, Sample
from assay.probe.member import Member
from assay.probe.samples import Samples

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
