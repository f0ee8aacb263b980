"""Every request of the media under test: what it asked for, whose it was, and how long it took.

Emulated drives write a log of their own; of real disks the kernel's block tracepoints tell, to root; where neither can
be had, only the device's counters are kept, and what is made of them is labelled estimated. Requests are put down to
roles by the places of the cluster's files on the device, which a thread of its own looks at twice a second.

The requests themselves are not kept in the record: only sums, and the signature that `assay.stats.signature` makes.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cached_property

from assay.model.doubt import Doubt
from assay.model.probe import Scene
from assay.model.record import Amount, Part, Sample
from assay.model.signature import Counted, Requests
from assay.probe.instrument import CannotMeasureError
from assay.probe.trace import doubts as say
from assay.probe.trace.clock import Clock
from assay.probe.trace.devices import Place, place_of
from assay.probe.trace.kernel import KernelTrace, tracing
from assay.probe.trace.sources import Tracepoints
from assay.probe.trace.totals import Span, amounts, counted_amounts, samples
from assay.probe.trace.watched import Watched

INTERVAL_S = 0.5
PATIENCE_S = 10.0

Tracing = Callable[[Sequence[int]], AbstractContextManager[KernelTrace]]


class BlockTraceReading:
    """What was seen. All but `mark` is to be asked after the scope's end."""

    def __init__(self, name: str, media: Sequence[Watched], clock: Clock) -> None:
        self._name = name
        self.media = media
        self.clock = clock
        self.told: list[Doubt] = []
        self.tracepoints: Tracepoints | None = None
        self.mapping = threading.Lock()
        self._marks: list[tuple[Part | None, int]] = [(None, time.monotonic_ns())]

    def mark(self, part: Part) -> None:
        """The part ends now; data files that are there at the end of staging are the input."""
        if self.mapping.acquire(timeout=PATIENCE_S):
            try:
                self.look_at_files()
            except Exception as error:  # a mark never fails
                self.told.append(say.thread_died("file map", error))
            else:
                if part == "staging":
                    for medium in self.media:
                        medium.staged()
            finally:
                self.mapping.release()
        else:
            self.told.append(say.files_hang(part))
        self._marks.append((part, time.monotonic_ns()))

    def look_at_files(self) -> None:
        """Poll all media's files; to be called with `mapping` held."""
        for medium in self.media:
            medium.look_at_files()

    def requests(self) -> Sequence[Requests]:
        """Of each medium whose requests were seen one by one."""
        return self._seen[0]

    def counted(self) -> Sequence[Counted]:
        """Of each medium of which there are only counters."""
        return self._seen[1]

    def samples(self) -> tuple[Sample, ...]:
        """MB/s by medium, role and direction for each second; of media whose requests were seen."""
        return tuple(sample for one in self.requests() for sample in samples(self._name, one))

    def amounts(self) -> tuple[Amount, ...]:
        """Bytes and requests by medium and role for each part that was marked."""
        ends = [end for _, end in self._marks]
        spans = [
            Span(part, int(self._told_ns(began)), int(self._told_ns(ended)))
            for (part, ended), began in zip(self._marks[1:], ends, strict=False)
            if part is not None
        ]
        seen = [amount for one in self.requests() for amount in amounts(self._name, one, spans)]
        return (*seen, *(amount for one in self.counted() for amount in counted_amounts(self._name, one, spans)))

    def doubts(self) -> tuple[Doubt, ...]:
        """What was not seen, or not put down to a role."""
        shares = [doubt for one in self.requests() for doubt in say.of_unknown_files(one)]
        return (*self.told, *(doubt for medium in self.media for doubt in medium.doubts), *shares)

    def _told_ns(self, monotonic_ns: int) -> int:
        import numpy as np

        return int(self.clock.time_of_day(np.array([monotonic_ns], np.int64))[0])

    @cached_property
    def _seen(self) -> tuple[list[Requests], list[Counted]]:
        requests, counted = [], []
        for medium in self.media:
            seen = medium.requests(self.clock, self.tracepoints)
            if isinstance(seen, Requests):
                requests.append(seen)
            elif seen is not None:
                counted.append(seen)
        return requests, counted


class BlockTraceProbe:
    """The block trace of all media. `tracing` is how the kernel is asked; tests bring their own."""

    name = "block-trace"

    def __init__(self, interval_s: float = INTERVAL_S, tracing: Tracing = tracing) -> None:
        self._interval_s = interval_s
        self._tracing = tracing

    @contextmanager
    def attached(self, scene: Scene) -> Iterator[BlockTraceReading]:
        """Trace until the scope's end."""
        media = [Watched(disk, scene.layout) for disk in scene.disks if disk.kind != "memory"]
        reading = BlockTraceReading(self.name, media, Clock())
        stop = threading.Event()
        with ExitStack() as scope:
            reading.tracepoints = self._tracepoints(scene, reading, scope)
            work = {
                "probe-trace": lambda: self._drain(reading, stop),
                "probe-file-map": lambda: self._map(reading, stop),
            }
            threads = [threading.Thread(target=one, name=name, daemon=True) for name, one in work.items()]
            threads = threads if media else []
            for thread in threads:
                thread.start()
            try:
                yield reading
            finally:
                stop.set()
                for thread in threads:
                    thread.join(PATIENCE_S)
                    if thread.is_alive():
                        reading.told.append(say.thread_hangs(thread.name))
                self._finish(reading)

    def _tracepoints(self, scene: Scene, reading: BlockTraceReading, scope: ExitStack) -> Tracepoints | None:
        """The kernel's trace of media that have no log of their own; None where there are none, or it can't be had."""
        places: dict[str, Place] = {}
        for medium in reading.media:
            if medium.needs_tracepoints and medium.disk.device is not None:
                try:
                    places[medium.name] = place_of(medium.disk.device)
                except (OSError, ValueError) as error:
                    reading.told.append(
                        say.estimated(medium.name, str(error), "look for the device in /sys/class/block")
                    )
        if not places:
            return None
        try:
            trace = scope.enter_context(self._tracing(sorted({place.disk for place in places.values()})))
        except CannotMeasureError as error:
            reading.told += [say.estimated(name, error.what, error.cure) for name in places]
            return None
        return Tracepoints(trace, places, scene.layout.neutral)

    def _drain(self, reading: BlockTraceReading, stop: threading.Event) -> None:
        try:
            while not stop.wait(self._interval_s):
                reading.clock.look()
                for medium in reading.media:
                    medium.look_at_counters()
                if reading.tracepoints is not None:
                    reading.tracepoints.drain()
        except Exception as error:  # a thread that dies in silence would leave a record that looks whole
            reading.told.append(say.thread_died("trace", error))

    def _map(self, reading: BlockTraceReading, stop: threading.Event) -> None:
        try:
            while not stop.wait(self._interval_s):
                with reading.mapping:
                    reading.look_at_files()
        except Exception as error:
            reading.told.append(say.thread_died("file map", error))

    def _finish(self, reading: BlockTraceReading) -> None:
        """The last look at everything; what fails now is told."""
        try:
            for medium in reading.media:
                medium.finish()
            if reading.tracepoints is not None:
                reading.tracepoints.drain(last=True)
                lost = reading.tracepoints.trace.lost()
                reading.told += [say.events_lost(lost)] if lost else []
        except Exception as error:
            reading.told.append(say.thread_died("trace", error))
