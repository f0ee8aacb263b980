"""What the block trace has seen: parts, requests, and what they come to."""

import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

from assay.model.doubt import Doubt
from assay.model.record import Amount, Part, Sample
from assay.model.signature import Counted, Requests
from assay.probe.file_map import STILL_THERE
from assay.probe.samples import Samples
from assay.probe.trace import doubts as say
from assay.probe.trace.clock import Clock
from assay.probe.trace.sources import Tracepoints
from assay.probe.trace.totals import Span, Tally
from assay.probe.trace.watched import FILE_MAP, TRACE, Watched

PATIENCE_S = 10.0
"""How long the trial waits for a thread that may hang in a device that has died."""


class _Evaluated(NamedTuple):
    """What all requests come to."""

    requests: Sequence[Requests] = ()
    counted: Sequence[Counted] = ()
    amounts: Sequence[Amount] = ()
    samples: Sequence[Sample] = ()


class BlockTraceReading:
    """What was seen. All but `begin` and `mark` is to be asked after the scope's end, and before `close`."""

    def __init__(self, name: str, media: Sequence[Watched], clock: Clock) -> None:
        self._name = name
        self.media = media
        self.clock = clock
        self.told: list[Doubt] = []
        self.tracepoints: Tracepoints | None = None
        self.mapping = threading.Lock()
        now_ns = time.monotonic_ns()
        self._reached_ns = {TRACE: now_ns, FILE_MAP: now_ns}
        self._stopped: set[str] = set()
        self._since_ns = 0
        self._marks: list[tuple[Part | None, int]] = [(None, now_ns)]
        self._evaluated: _Evaluated | None = None

    def begin(self) -> None:
        """What arrives from now on counts."""
        self._look_at_counters()
        self._since_ns = time.monotonic_ns()
        self._marks = [(None, self._since_ns)]

    def mark(self, part: Part) -> None:
        """The part ends now; data files that are there at the end of staging are the input."""
        looked = False
        if self.mapping.acquire(timeout=PATIENCE_S):
            try:
                self.look_at_files()
            except Exception as error:  # a mark never fails
                self.stop(FILE_MAP, error)
            else:
                looked = True
                if part == "staging":
                    for medium in self.media:
                        medium.staged()
            finally:
                self.mapping.release()
        else:
            self.told.append(say.files_hang(part))
        self._look_at_counters()
        now_ns = time.monotonic_ns()
        self._marks.append((part, now_ns))
        if looked:
            self._reach(FILE_MAP, now_ns)

    def look(self, *, last: bool) -> None:
        """Take what the kernel has counted and traced so far."""
        now_ns = time.monotonic_ns()
        self.clock.look()
        self._look_at_counters()
        self._reach(TRACE, now_ns if self.tracepoints is None else self.tracepoints.drain(last=last))

    def look_at_files(self) -> None:
        """Poll all media's files; to be called with `mapping` held."""
        now_ns = time.monotonic_ns()
        for medium in self.media:
            medium.look_at_files()
        self._reach(FILE_MAP, now_ns)

    def stop(self, thread: str, error: Exception | None) -> None:
        """One of the probe's threads has died, or hangs: parts not over when it last looked have no totals."""
        if thread not in self._stopped:
            self._stopped.add(thread)
            self.told.append(say.thread_hangs(thread) if error is None else say.thread_died(thread, error))

    def _reach(self, thread: str, now_ns: int) -> None:
        """All up to then has been seen by one of the probe's threads."""
        if thread not in self._stopped:
            self._reached_ns[thread] = now_ns

    def requests(self) -> Sequence[Requests]:
        """Of each medium whose requests were seen one by one."""
        return self._all.requests

    def counted(self) -> Sequence[Counted]:
        """Of each medium of which there are only counters."""
        return self._all.counted

    def samples(self) -> Sequence[Sample]:
        """MB/s by medium, role and direction for each second; of media whose requests were seen."""
        return self._all.samples

    def amounts(self) -> tuple[Amount, ...]:
        """Bytes and requests by medium and role for each part that was marked and seen to its end."""
        return tuple(self._all.amounts)

    def doubts(self) -> tuple[Doubt, ...]:
        """What was not seen, or not put down to a role."""
        shares = [doubt for one in self.requests() for doubt in say.of_unknown_files(one)]
        return (*self.told, *(doubt for medium in self.media for doubt in medium.doubts), *shares)

    def close(self) -> None:
        """Let logs and requests go; samples and amounts that were told live on."""
        self._evaluated = _Evaluated()
        for medium in self.media:
            medium.close()
        if self.tracepoints is not None:
            self.tracepoints.close()

    def _look_at_counters(self) -> None:
        for medium in self.media:
            medium.look_at_counters()

    def _spans(self, medium: Watched) -> list[Span]:
        """The parts that were seen to their ends."""
        upto_ns = min((self._reached_ns[one] for one in self._stopped if medium.needs(one)), default=STILL_THERE)
        ends = [end for _, end in self._marks]
        return [
            Span(part, began, ended)
            for (part, ended), began in zip(self._marks[1:], ends, strict=False)
            if part is not None and ended <= upto_ns
        ]

    @property
    def _all(self) -> _Evaluated:
        if self._evaluated is None:
            requests: list[Requests] = []
            counted: list[Counted] = []
            amounts: list[Amount] = []
            samples = Samples()
            for medium in self.media:
                tally = Tally(self._spans(medium))
                seen = medium.requests(self.clock, self.tracepoints, tally, self._since_ns)
                if isinstance(seen, Requests):
                    requests.append(seen)
                elif seen is not None:
                    counted.append(seen)
                amounts += list(tally.amounts(self._name, medium.name))
                tally.tell_samples(self._name, medium.name, samples)
            self._evaluated = _Evaluated(requests, counted, amounts, samples)
        return self._evaluated
