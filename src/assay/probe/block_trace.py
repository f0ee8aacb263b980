"""Every request of the media under test: what it asked for, whose it was, and how long it took.

Emulated drives write a log of their own; of real disks the kernel's block tracepoints tell, to root; where neither can
be had, only the device's counters are kept, and what is made of them is labelled estimated. Requests are put down to
roles by the places of the cluster's files on the device, which a thread of its own looks at twice a second.

Parts end by CLOCK_MONOTONIC, which requests are stamped by: a step of the time of day moves nothing from one part to
another. Seconds are of the time of day, as all samples are. The requests themselves are not kept in the record: only
sums, and the signature that `assay.stats.signature` makes.
"""

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from assay.model.doubt import Doubt, doubt_kind
from assay.model.probe import CannotMeasureError, Evaluation, ProbeKind, Scene
from assay.model.quantity import Kind
from assay.model.record import Amount, Part
from assay.model.registry import PROBES
from assay.model.signature import FLUSH_KIND, OTHER, Counted, Requests
from assay.model.trial import Landed
from assay.probe.sampler import Samples
from assay.probe.trace.attribution import STILL_THERE, BlockPlace, place_of
from assay.probe.trace.kernel import KernelTrace, remove_left_overs, tracing
from assay.probe.trace.medium import (
    FILE_MAP,
    TRACE,
    TRACE_DROPPED,
    TRACE_INCOMPLETE,
    Clock,
    Tally,
    TracedMedium,
    Tracepoints,
    TraceSpan,
    estimated,
)

INTERVAL_S = 0.5
PATIENCE_S = 10.0
"""How long the trial waits for a thread that may hang in a device that has died."""

Tracing = Callable[[Sequence[int]], AbstractContextManager[KernelTrace]]

TRACE_FILES_LATE = doubt_kind(
    "trace-files-late", "trial", instrument="block-trace",
    when="the addresses of files could not be read at the end of an interval",
    why="requests of new files may count as `other`, and input as output",
    cure="find the device that hangs (dmesg)",
)  # fmt: skip
TRACE_ROLES_UNKNOWN = doubt_kind(
    "trace-roles-unknown", "medium", instrument="block-trace",
    when="more than 20 % of a medium's bytes could not be attributed to a role",
    why="they belong to the file system itself, to other users of the disk, or to files that existed only briefly",
    cure="give the medium a disk of its own; requests of very short-lived files can't be assigned",
)  # fmt: skip
UNKNOWN_SHARE = 0.2
"""More bytes than this that belonged to no known file are doubted."""


class BlockTrace:
    """The block trace of all media. `tracing` is how the kernel is asked; tests bring their own."""

    name = "block-trace"

    def __init__(self, interval_s: float = INTERVAL_S, tracing: Tracing = tracing) -> None:
        self._interval_s = interval_s
        self._tracing = tracing
        self.media: Sequence[TracedMedium] = ()
        self.clock = Clock()
        self.tracepoints: Tracepoints | None = None
        self._doubts: list[Doubt] = []
        self._scope = ExitStack()
        self._stop = threading.Event()
        self._mapping = threading.RLock()
        self._threads: dict[str, threading.Thread] = {}
        self._ended = False
        now_ns = time.monotonic_ns()
        self._reached_ns = {TRACE: now_ns, FILE_MAP: now_ns}
        self._stopped: set[str] = set()
        self._marks: list[tuple[Part | None, int]] = [(None, 0)]

    def attach(self, scene: Scene) -> None:
        """Begin to trace; there are threads only if there is anything to look at."""
        layouts = scene.layout.nodes
        self.media = [
            TracedMedium(disk, layouts.get(disk.node, scene.layout)) for disk in scene.disks if not disk.in_memory
        ]
        there: dict[Path, list[TracedMedium]] = {}
        for medium in self.media:
            if medium.log is None and medium.disk.device is not None:
                there.setdefault(medium.disk.device.resolve(), []).append(medium)
        for together in there.values():
            if len(together) > 1:
                for medium in together:
                    medium.share(together)
        self.tracepoints = self._trace(scene)
        looks = {TRACE: lambda: self.look(last=False), FILE_MAP: self._look_at_files} if self.media else {}
        for name, look in looks.items():
            thread = threading.Thread(
                target=self._repeat, args=(name, look), name=f"probe-{name.replace(' ', '-')}", daemon=True
            )
            self._threads[name] = thread
            thread.start()

    def mark(self, part: Part | None) -> Sequence[Landed]:
        """The part ends now; after the staging, directories of input and output take output."""
        looked = part is not None and self._look_at_files_until(part)
        self._look_at_counters()
        now_ns = time.monotonic_ns()
        if part is None:
            self._marks.clear()
        self._marks.append((part, now_ns))
        if looked:
            self._reach(FILE_MAP, now_ns)
        return ()

    def evaluate(self) -> Evaluation:
        """MB/s, bytes and requests by medium and role, for each second and for each part that was traced to its end."""
        self._detach()
        requests: list[Requests] = []
        counted: list[Counted] = []
        amounts: list[Amount] = []
        samples = Samples()
        for medium in self.media:
            whole_until_ns = min(
                (self._reached_ns[thread] for thread in self._stopped if medium.needs(thread)), default=STILL_THERE
            )
            marks = itertools.pairwise(self._marks)
            tally = Tally(
                [TraceSpan(part, began, end) for (_, began), (part, end) in marks if part and end <= whole_until_ns],
                medium.roles,
            )
            traced = medium.requests(self.clock, self.tracepoints, tally, self._marks[0][1])
            if isinstance(traced, Requests):
                requests.append(traced)
                data = traced.kind < FLUSH_KIND
                total = int(traced.bytes[data].sum())
                other = int(traced.bytes[data & (traced.role == traced.roles.index(OTHER))].sum())
                if total and other > UNKNOWN_SHARE * total and len(set(traced.role.tolist())) > 1:
                    share = f"{100 * other / total:.0f} % of the bytes on medium {traced.medium!r}"
                    shortfall = f"{share} could not be attributed to a role"
                    self._doubts.append(TRACE_ROLES_UNKNOWN.doubt(shortfall, traced.medium))
            elif traced is not None:
                counted.append(traced)
            amounts += tally.amounts(self.name, medium.name)
            tally.tell_samples(self.name, medium.name, samples)
        return Evaluation(samples, amounts, requests, counted)

    def doubts(self) -> tuple[Doubt, ...]:
        return (*self._doubts, *(doubt for medium in self.media for doubt in medium.doubts))

    def close(self) -> None:
        self._detach()
        for medium in self.media:
            medium.close()
        if self.tracepoints is not None:
            self.tracepoints.close()

    def look(self, *, last: bool) -> None:
        """Take what the kernel has counted and traced so far."""
        now_ns = time.monotonic_ns()
        self.clock.look()
        self._look_at_counters()
        self._reach(TRACE, now_ns if self.tracepoints is None else self.tracepoints.drain(last=last))

    def _trace(self, scene: Scene) -> Tracepoints | None:
        """The kernel's trace of media that have no log of their own; None where there are none, or it can't be had."""
        places: dict[str, BlockPlace] = {}
        for medium in self.media:
            if medium.log is None and medium.disk.device is not None:
                try:
                    places[medium.name] = place_of(medium.disk.device)
                except (OSError, ValueError) as error:
                    self._doubts.append(estimated(medium.name, str(error), "look for the device in /sys/class/block"))
        if not places:
            return None
        try:
            trace = self._scope.enter_context(self._tracing(sorted({partition.disk for partition in places.values()})))
        except CannotMeasureError as error:
            self._doubts += [estimated(name, error.problem, error.cure) for name in places]
            return None
        return Tracepoints(trace, places, scene.layout.neutral)

    def _repeat(self, thread: str, look: Callable[[], None]) -> None:
        try:
            while not self._stop.wait(self._interval_s):
                look()
        except Exception as error:  # a thread that dies in silence would leave a record that looks whole
            self._stop_believing(thread, error)

    def _look_at_files(self) -> None:
        with self._mapping:
            now_ns = time.monotonic_ns()
            for medium in self.media:
                medium.files.poll(time.monotonic_ns(), time.time_ns())
            self._reach(FILE_MAP, now_ns)

    def _look_at_files_until(self, part: Part) -> bool:
        """A last look at the end of a part; whether that worked."""
        if not self._mapping.acquire(timeout=PATIENCE_S):
            gap = f"the addresses of files could not be read at the end of {part!r}"
            self._doubts.append(TRACE_FILES_LATE.doubt(gap))
            return False
        try:
            self._look_at_files()
            if part == "staging":
                for medium in self.media:
                    medium.files.staged()
        except Exception as error:
            self._stop_believing(FILE_MAP, error)
            return False
        finally:
            self._mapping.release()
        return True

    def _look_at_counters(self) -> None:
        for medium in self.media:
            if medium.counters is not None:
                medium.counters.look()

    def _reach(self, thread: str, now_ns: int) -> None:
        """Wait until one of the probe's threads has read all up to then."""
        if thread not in self._stopped:
            self._reached_ns[thread] = now_ns

    def _stop_believing(self, thread: str, error: Exception | None) -> None:
        """A thread has died, or hangs: parts that were not over when it last looked have no totals."""
        if thread in self._stopped:
            return
        self._stopped.add(thread)
        count = "missing from the I/O signature or count as `other`, and parts that were not over"
        if error is None:
            doubt = TRACE_INCOMPLETE.doubt(
                f"the {thread} did not end with the trial",
                why=f"the last requests may be {count} when it hung have no totals by role",
                cure="look for a device that hangs (dmesg)",
            )
        else:
            doubt = TRACE_INCOMPLETE.doubt(
                f"the {thread} stopped: {type(error).__name__}: {error}",
                why=f"requests after that are {count} have no totals by role",
                cure="run the trial again; if it stops again, report what it says",
            )
        self._doubts.append(doubt)

    def _detach(self) -> None:
        """The last look at everything, once; what fails now is reported."""
        if self._ended:
            return
        self._ended = True
        self._stop.set()
        for name, thread in self._threads.items():
            thread.join(PATIENCE_S)
            if thread.is_alive():
                self._stop_believing(name, None)
        with self._scope:
            try:
                self.look(last=True)
                lost = self.tracepoints.trace.lost() if self.tracepoints is not None else 0
                if lost:
                    self._doubts.append(
                        TRACE_DROPPED.doubt(
                            f"the kernel dropped {lost} block events",
                            why="requests are missing from the I/O signature, or their latencies are",
                            cure="leave Assay a share of a core: bound the cluster with a limit on its cpus",
                        )
                    )
            except Exception as error:
                self._stop_believing(TRACE, error)
            for medium in self.media:
                medium.finish()


SERIES = {
    **dict.fromkeys(("read_mb_s", "write_mb_s"), Kind.RATE),
    **dict.fromkeys(("read_bytes", "written_bytes"), Kind.BYTES),
    **dict.fromkeys(("read_requests", "write_requests"), Kind.COUNT),
}
PROBES.add(BlockTrace.name, ProbeKind(lambda _: BlockTrace(), left_overs=remove_left_overs, series=SERIES), place=20)
