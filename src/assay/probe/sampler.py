"""Probes on their way through a trial: one thread reads all that are sampled, and each one's failure is its own.

A run of hours gives millions of samples; as objects they would weigh more than all that a probe may. A mark samples
all once more, so that a part of the trial ends where it was told to.

A probe that has a thread of its own names it `probe-...`: `own_cost` finds it by that and counts its time.
"""

import os
import threading
import time
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import NamedTuple

from assay.host.processors import bound_to, division
from assay.model.doubt import ALL_INSTRUMENTS, Doubt, doubt_kind
from assay.model.installed import series_kind
from assay.model.node import Node
from assay.model.probe import (
    CannotMeasureError,
    Evaluated,
    Evaluation,
    Moment,
    Probe,
    ProbeContext,
    Quantity,
    Sampled,
    Scene,
    Values,
    now,
)
from assay.model.record import Amount, Part, Sample
from assay.model.registry import PROBES
from assay.model.signature import Counted, Requests
from assay.model.trial import NO_PROBES, Landed
from assay.node.local import LocalNode
from assay.probe.own_cost import Children, evaluation_cost, weighed

_FIELDS = set(Sample.model_fields)


class Samples(Collection[Sample]):
    """All samples of a trial, series by series, each oldest first; a Sample is made when it is asked for."""

    def __init__(self) -> None:
        self._series: dict[tuple[str, str, str, str | None], tuple[array[int], array[float]]] = {}

    def add(self, probe: str, time_ms: int, values: Values, node: str | None = None) -> None:
        """Keep one value for each of some series of a probe. Raises ValueError for one that it does not declare."""
        for (subject, series), value in values.items():
            lists = self._series.get((probe, subject, series, node))
            if lists is None:
                require_declared(probe, series)
                lists = self._series[probe, subject, series, node] = (array("q"), array("d"))
            lists[0].append(time_ms)
            lists[1].append(value)

    @property
    def bytes(self) -> int:
        """Memory that the samples take, their series' names and the lists' spare room included, about."""
        lists = sum(2 * (len(times) + len(times) // 8) * times.itemsize for times, _ in self._series.values())
        return lists + 512 * len(self._series)

    def extend(self, samples: Iterable[Sample], node: str | None = None) -> None:
        """Keep what a probe made of the whole trial, on a node if there are several."""
        for sample in samples:
            of = (sample.subject, sample.series)
            self.add(sample.probe, sample.time_ms, {of: sample.value}, sample.node or node)

    def __len__(self) -> int:
        return sum(len(times) for times, _ in self._series.values())

    def __contains__(self, sample: object) -> bool:
        return any(kept == sample for kept in self)

    def __iter__(self) -> Iterator[Sample]:
        for (probe, subject, series, node), (times, values) in self._series.items():
            for time_ms, value in zip(times, values, strict=True):
                # One set of names for all: pydantic would keep one for each.
                yield Sample.model_construct(
                    _FIELDS, probe=probe, subject=subject, series=series, time_ms=time_ms, value=value, node=node
                )


def require_declared(probe: str, series: str) -> None:
    """Raises ValueError for a series that its probe does not declare; what it is of would be a guess."""
    if probe in PROBES and series_kind(probe, series) is None:
        raise ValueError(f"the probe {probe} does not declare its series {series!r} (`series` of its ProbeKind)")


class Guest:
    """One probe on its way through a trial. Whatever it raises becomes its Doubt and ends it, and no other.

    After a failure it takes no further part. The first failure is reported: those that follow mostly come of it.
    """

    def __init__(self, probe: Probe, scene: Scene, node: str | None) -> None:
        """`scene` is what it watches; `node` is where, if there are several."""
        self.probe = probe
        self._scene = scene
        self.node = node
        self.sampled = probe if isinstance(probe, Sampled) else None
        self.evaluated = probe if isinstance(probe, Evaluated) else None
        self.doubts: list[Doubt] = []
        self._attached = self._failed = False
        self._before: Mapping[Quantity, float] = {}

    def attach(self) -> None:
        """It is read from then on, if that worked."""
        try:
            self.probe.attach(self._scene)
            if self.sampled is not None:
                self._before = dict(self.sampled.totals())
                for quantity in self._before:
                    require_declared(self.probe.name, quantity.series)
            self._attached = True
        except Exception as error:  # whatever it trips over is its own affair: the others go on
            self._failed = True
            problem = f"the probe {self.probe.name} measured nothing: {_words(error)}"
            why, cure = f"the record has no figures of {self.probe.name}", ""
            if isinstance(error, CannotMeasureError):
                why, cure = error.why, error.cure
            self.doubts.append(PROBE_MISSING.doubt(problem, instrument=self.probe.name, why=why, cure=cure))

    def sample(self, now: Moment, samples: Samples) -> None:
        """Read it once more, and keep its samples."""
        if self.sampled is not None and not self._failed:
            with self._ending_it():
                samples.add(self.probe.name, now.time_ms, self.sampled.sample(now), self.node)

    def total(self, part: Part | None) -> list[Amount]:
        """The part's amounts: levels as they are, counters by their differences; none for one that went back."""
        totals = self._before
        if self.sampled is not None and not self._failed:
            with self._ending_it():
                totals = dict(self.sampled.totals())
                for quantity in totals.keys() - self._before.keys():
                    require_declared(self.probe.name, quantity.series)
        if self._failed or self.sampled is None:
            return []
        before, self._before = self._before, totals
        if part is None:  # what it counted so far belongs to no part
            return []
        gone = {what: value if what.level else value - before.get(what, 0.0) for what, value in totals.items()}
        backwards = [what for what, value in gone.items() if value < 0 and not what.level]
        if backwards:
            first = backwards[0]
            what = f"{first.series} of {first.subject} was less at the end of {part!r} than at its beginning"
            self.doubts.append(COUNTER_WENT_BACK.doubt(what, first.subject, instrument=self.probe.name))
        return [
            Amount(
                probe=self.probe.name, subject=what.subject, series=what.series, part=part, value=value,
                basis=what.basis, node=self.node,
            )
            for what, value in gone.items()
            if what not in backwards
        ]  # fmt: skip

    def mark(self, part: Part | None) -> Sequence[Landed]:
        """See `Evaluated.mark`. After one that failed the next would take the lost part's figures for its own."""
        if self.evaluated is not None and not self._failed:
            with self._ending_it():
                return self.evaluated.mark(part)
        return ()

    def evaluate(self, samples: Samples) -> Evaluation:
        """All that it saw, also before it failed; its samples are kept."""
        if self.evaluated is not None and self._attached:
            with self._ending_it():
                evaluation = self.evaluated.evaluate()
                for probe, series in {(amount.probe, amount.series) for amount in evaluation.amounts}:
                    require_declared(probe, series)
                samples.extend(evaluation.samples, self.node)
                return evaluation
        return Evaluation()

    def close(self) -> None:
        """Hear its doubts, and close it, whether or not it has any to tell."""
        with self._ending_it():
            self.doubts += self.probe.doubts()
        with self._ending_it():
            self.probe.close()

    @contextmanager
    def _ending_it(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if not self._failed:
                problem = f"the probe {self.probe.name} stopped at {time.strftime('%H:%M:%S')}: {_words(error)}"
                self.doubts.append(PROBE_STOPPED.doubt(problem, instrument=self.probe.name))
            self._failed = True


PROBE_MISSING = doubt_kind(
    "probe-missing", "instrument",
    when="a probe could not measure anything",
    why="the record has no figures of this probe",
    cure="run where the counters that it names can be read",
)  # fmt: skip
PROBE_STOPPED = doubt_kind(
    "probe-stopped", "instrument",
    when="a probe stopped during the trial",
    why="its samples end there, and this interval and the later ones have no totals",
    cure="run the trial again; if it stops again, report the message",
)  # fmt: skip
COUNTER_WENT_BACK = doubt_kind(
    "counter-went-back", "instrument",
    when="a counter was smaller at the end of an interval than at its beginning",
    why="a counter that was reset does not show what was counted, so this total is left out",
    cure="don't reset the machine's counters or devices while a trial runs",
)  # fmt: skip


def _words(error: Exception) -> str:
    if isinstance(error, CannotMeasureError | OSError | ValueError):
        return str(error)
    return f"{type(error).__name__}: {error}"


INTERVAL_S = 0.5
PATIENCE_S = 10.0
"""How long a mark waits for the sampling thread, which may hang in a read of a device that has died."""

GAP_S = 5.0
CLOCK_STEP_S = 1.0


class _Mark(NamedTuple):
    """`part` ends now; None is the beginning of the first."""

    part: Part | None
    done: threading.Event


class Measurement:
    """What the probes of a trial have seen; whole at the end of `measured`; `requests` is None without a trace.

    A thread attaches and reads all sampled probes; whatever ends it early is reported.
    """

    def __init__(self, guests: Sequence[Guest], interval_s: float, samples: Samples) -> None:
        self.samples = samples
        self.amounts: list[Amount] = []
        self.requests: list[Requests] | None = None
        self.counted: list[Counted] = []
        self._own_doubts: list[Doubt] = []
        self._guests = guests
        self._sampled = [guest for guest in guests if guest.sampled is not None]
        self._interval_s = interval_s
        self._orders: SimpleQueue[_Mark | None] = SimpleQueue()
        self._lost = self._abandoned = False
        self._thread: threading.Thread | None = None

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        return (*self._own_doubts, *(doubt for guest in self._guests for doubt in guest.doubts))

    def attach(self) -> None:
        """All of them; the first part begins."""
        if self._sampled:
            begun = threading.Event()
            self._thread = threading.Thread(target=self._run, args=(begun,), name="probe-sampler", daemon=True)
            self._thread.start()
            if not begun.wait(PATIENCE_S):
                self._lose(f"it did not begin within {PATIENCE_S:.0f} s")
        for guest in self._guests:
            if guest.sampled is None:
                guest.attach()
        self.mark(None)

    def mark(self, part: Part | None) -> list[Landed]:
        """A part ends now: all that was seen since the last one belongs to it. Gives where bytes were seen to land."""
        if self._thread is not None:
            done = threading.Event()
            self._orders.put(_Mark(part, done))
            if not self._lost and not done.wait(PATIENCE_S):
                when = "when the first part began" if part is None else f"when the part {part!r} ended"
                self._lose(f"it did not answer within {PATIENCE_S:.0f} s {when}")
        return [landed for guest in self._guests for landed in guest.mark(part)]

    def evaluate(self, evaluated: "Callable[[Measurement], None]") -> None:
        """Have all evaluated, and then what else is made of it; what that takes is part of what measuring costs."""
        self._stop()
        with weighed() as weight:
            for guest in self._guests:
                evaluation = guest.evaluate(self.samples)
                self.amounts += [
                    amount.model_copy(update={"node": amount.node or guest.node}) for amount in evaluation.amounts
                ]
                if evaluation.requests is not None:
                    self.requests = [*(self.requests or ()), *evaluation.requests]
                self.counted += evaluation.counted
            evaluated(self)
        if self._sampled:
            self.amounts += evaluation_cost(weight)

    def close(self) -> None:
        """All of them but those that the sampling thread hangs in: it closes these itself, should it ever go on."""
        self._stop()
        for guest in self._guests:
            if guest.sampled is None or not self._abandoned:
                guest.close()

    def _stop(self) -> None:
        if self._thread is not None:
            self._orders.put(None)
            self._thread.join(PATIENCE_S)
            self._abandoned = self._thread.is_alive()
            if self._abandoned:
                self._lose(f"it did not end within {PATIENCE_S:.0f} s")

    def _lose(self, reason: str) -> None:
        """It is gone or hangs: say so once."""
        if not self._lost:
            self._lost = True
            self._own_doubts.append(PROBES_LOST.doubt(f"the thread that samples all probes was lost: {reason}"))

    def _run(self, begun: threading.Event) -> None:
        parts = division()
        try:
            with bound_to(parts and parts.instruments):
                for guest in self._sampled:
                    guest.attach()
                begun.set()
                self._keep_sampling()
        except BaseException as error:  # a thread that dies in silence would leave a record that looks whole
            self._lose(f"it ended with {type(error).__name__}: {error}")
        finally:
            begun.set()
            while not self._orders.empty():  # nobody waits for a thread that has ended
                order = self._orders.get()
                if order is not None:
                    order.done.set()
            if self._abandoned:
                for guest in self._sampled:
                    guest.close()

    def _keep_sampling(self) -> None:
        """Sample at each interval and at each mark until told to stop."""
        started_s = time.monotonic()
        last = now()
        longest_s = stepped_s = 0.0
        while not self._lost:  # one that hung was given up: what is read now belongs to no part that anybody knows
            # A late sample is not made up for: the next one comes at the next multiple of the interval.
            gone_s = time.monotonic() - started_s
            try:
                order = self._orders.get(timeout=self._interval_s - gone_s % self._interval_s)
                if order is None:
                    break
            except Empty:
                order = None
            moment = now()
            try:
                for guest in self._sampled:
                    guest.sample(moment, self.samples)
                if order is not None and not self._lost:
                    for guest in self._sampled:
                        self.amounts += guest.total(order.part)
            finally:
                if order is not None:
                    order.done.set()
            longest_s = max(longest_s, moment.clock_s - last.clock_s)
            stepped_s = max(stepped_s, abs((moment.time_ms - last.time_ms) / 1000 - (moment.clock_s - last.clock_s)))
            last = moment
        if longest_s >= GAP_S:
            self._own_doubts.append(SAMPLES_SPARSE.doubt(f"there was a gap of {longest_s:.1f} s in the samples"))
        if stepped_s >= CLOCK_STEP_S:
            problem = f"the machine's clock was set by {stepped_s:.1f} s while the trial ran"
            self._own_doubts.append(CLOCK_STEPPED.doubt(problem))


def probes_of(level: str, context: ProbeContext, *, foreign: bool = False) -> tuple[Probe, ...]:
    """A node's probes at a level of an experiment's `probes`; those of an existing cluster where it is `foreign`."""
    kinds = [
        kind for kind in PROBES.values()
        if (kind.needed or level != NO_PROBES) and (kind.of_nodes or context.is_first) and kind.foreign == foreign
    ]  # fmt: skip
    return tuple(probe for kind in kinds if (probe := kind.make(context)) is not None)


def remove_left_overs() -> list[str]:
    """Take away what probes of a killed run left in the kernel; what went, in words.

    Without the right to look there is nothing that this user can have left. What can't be removed stays for the next.
    """
    gone: list[str] = []
    for kind in PROBES.values():
        with suppress(OSError):
            gone += kind.left_overs()
    return gone


@contextmanager
def measured(
    probes: Callable[[ProbeContext], Sequence[Probe]],
    scene: Scene,
    evaluated: Callable[[Measurement], None] = lambda _: None,
    interval_s: float = INTERVAL_S,
) -> Iterator[Measurement]:
    """Measure for the time of a scope; what was seen is kept also when the trial fails, but not when it is interrupted.

    `evaluated` is called when all probes have been evaluated and none is closed yet.
    """
    samples, children = Samples(), Children()
    made: list[tuple[Node, Sequence[Probe]]] = []
    for number, node in enumerate(scene.nodes or [LocalNode()]):
        context = ProbeContext(
            dict(os.environ), children.run, lambda: children.busy_s, lambda: samples.bytes, node,
            is_first=number == 0,
        )  # fmt: skip
        made.append((node, probes(context)))
    # What only the first node has measures all of them, or the machine that they share.
    of_nodes = {probe.name for _, node_probes in made[1:] for probe in node_probes}
    guests = [
        Guest(probe, scene.on(node), node.name) if probe.name in of_nodes else Guest(probe, scene, None)
        for node, node_probes in made
        for probe in node_probes
    ]
    measurement = Measurement(guests, interval_s, samples)
    try:
        measurement.attach()
        yield measurement
    except Exception:
        measurement.evaluate(evaluated)
        raise
    else:
        measurement.evaluate(evaluated)
    finally:
        measurement.close()


PROBES_LOST = doubt_kind(
    "probes-lost", "trial", instrument=ALL_INSTRUMENTS,
    when="the thread that samples all probes ended early",
    why="samples end there, and intervals that had not ended have no totals",
    cure="find the device that hangs (dmesg), and run the trial again",
)  # fmt: skip
SAMPLES_SPARSE = doubt_kind(
    "samples-sparse", "trial", instrument="sampler",
    when="there was a gap in the samples",
    why="the machine or Assay was too busy; the sample after the gap is an average over it",
    cure="leave Assay a share of a core: bound the cluster with a limit on its cpus",
)  # fmt: skip
CLOCK_STEPPED = doubt_kind(
    "clock-stepped", "machine", instrument="sampler",
    when="the machine's clock was set during the trial",
    why="samples and phases are matched by their time stamps, which jump there",
    cure="let the clock be slewed, not stepped (chronyd, ntpd), and run the trial again",
)  # fmt: skip
