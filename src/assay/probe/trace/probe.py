"""Every request of the media under test: what it asked for, whose it was, and how long it took.

Emulated drives write a log of their own; of real disks the kernel's block tracepoints tell, to root; where neither can
be had, only the device's counters are kept, and what is made of them is labelled estimated. Requests are put down to
roles by the places of the cluster's files on the device, which a thread of its own looks at twice a second.

The requests themselves are not kept in the record: only sums, and the signature that `assay.stats.signature` makes.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from assay.model.instrument import CannotMeasureError
from assay.model.probe import Scene
from assay.probe.trace import doubts as say
from assay.probe.trace.attribution import Place, place_of
from assay.probe.trace.kernel import KernelTrace, tracing
from assay.probe.trace.reading import FILE_MAP, PATIENCE_S, TRACE, BlockTraceReading, Clock, Watched
from assay.probe.trace.sources import Tracepoints

INTERVAL_S = 0.5

Tracing = Callable[[Sequence[int]], AbstractContextManager[KernelTrace]]


class BlockTraceProbe:
    """The block trace of all media. `tracing` is how the kernel is asked; tests bring their own."""

    name = "block-trace"

    def __init__(self, interval_s: float = INTERVAL_S, tracing: Tracing = tracing) -> None:
        self._interval_s = interval_s
        self._tracing = tracing

    @contextmanager
    def attached(self, scene: Scene) -> Iterator[BlockTraceReading]:
        """Trace until the scope's end."""
        media = [Watched(disk, scene.layout) for disk in scene.disks if not disk.in_memory]
        _share(media)
        reading = BlockTraceReading(self.name, media, Clock())
        stop = threading.Event()
        with ExitStack() as scope:
            with ExitStack() as failed:
                failed.callback(reading.close)
                reading.tracepoints = self._tracepoints(scene, reading, scope)
                threads = self._threads(reading, stop)
                failed.pop_all()
            try:
                yield reading
            finally:
                stop.set()
                for name, thread in threads.items():
                    thread.join(PATIENCE_S)
                    if thread.is_alive():
                        reading.stop(name, None)
                self._finish(reading)

    def _threads(self, reading: BlockTraceReading, stop: threading.Event) -> dict[str, threading.Thread]:
        """Running, if there is anything to look at."""
        if not reading.media:
            return {}
        threads = {
            TRACE: threading.Thread(target=self._drain, args=(reading, stop), name="probe-trace", daemon=True),
            FILE_MAP: threading.Thread(target=self._map, args=(reading, stop), name="probe-file-map", daemon=True),
        }
        for thread in threads.values():
            thread.start()
        return threads

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
                reading.look(last=False)
        except Exception as error:  # a thread that dies in silence would leave a record that looks whole
            reading.stop(TRACE, error)

    def _map(self, reading: BlockTraceReading, stop: threading.Event) -> None:
        try:
            while not stop.wait(self._interval_s):
                with reading.mapping:
                    reading.look_at_files()
        except Exception as error:
            reading.stop(FILE_MAP, error)

    def _finish(self, reading: BlockTraceReading) -> None:
        """The last look at everything; what fails now is told."""
        try:
            reading.look(last=True)
            lost = reading.tracepoints.trace.lost() if reading.tracepoints is not None else 0
            reading.told += [say.events_lost(lost)] if lost else []
        except Exception as error:
            reading.stop(TRACE, error)
        for medium in reading.media:
            medium.finish()


def _share(media: Sequence[Watched]) -> None:
    """Tell those that lie on one device of each other."""
    there: dict[Path, list[Watched]] = {}
    for medium in media:
        if medium.needs_tracepoints and medium.disk.device is not None:
            there.setdefault(medium.disk.device.resolve(), []).append(medium)
    for together in there.values():
        if len(together) > 1:
            for medium in together:
                medium.share(together)
