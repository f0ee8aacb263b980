"""One medium of the block trace: its requests or counters, put down to roles and added up."""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.model.doubt import Doubt, doubt_kind
from assay.model.layout import Layout
from assay.model.probe import WatchedDisk
from assay.model.record import Amount, Basis, Part
from assay.model.signature import (
    DIRECTIONS,
    OTHER,
    READ_KIND,
    WRITE_KIND,
    Array,
    Counted,
    Direction,
    Requests,
)
from assay.node.devices import sysfs_name
from assay.node.local import KernelFile
from assay.probe.disk import CLASS, DiskCounters, DiskWork, parse_counters
from assay.probe.sampler import Samples
from assay.probe.trace.attribution import Attribution, BlockPlace, FileMap, roots_of, single_role, unmapped
from assay.probe.trace.kernel import KernelTrace, Matcher, decode
from assay.probe.trace.requests import Columns, EmulatorLog, Records, Spool

if TYPE_CHECKING:
    import numpy as np

STEP_NS = 20_000_000
"""Below this the difference of the clocks is slewing, or the time between the two looks."""


class Clock:
    """The time of day's distance from CLOCK_MONOTONIC, looked at now and then."""

    def __init__(
        self, monotonic_ns: Callable[[], int] = time.monotonic_ns, realtime_ns: Callable[[], int] = time.time_ns
    ) -> None:
        self._monotonic_ns, self._realtime_ns = monotonic_ns, realtime_ns
        self._since = [0]
        self._ahead = [realtime_ns() - monotonic_ns()]

    def look(self) -> None:
        """Note a step of the time of day."""
        now = self._monotonic_ns()
        ahead = self._realtime_ns() - now
        if abs(ahead - self._ahead[-1]) > STEP_NS:
            self._since.append(now)
            self._ahead.append(ahead)

    def time_of_day(self, monotonic_ns: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
        """Nanoseconds since the epoch, as the system's clock showed it at that moment."""
        import numpy as np

        which = np.searchsorted(np.array(self._since), monotonic_ns, side="right") - 1
        time_ns: np.ndarray[Any, Any] = monotonic_ns + np.array(self._ahead)[np.maximum(which, 0)]
        return time_ns


SECOND_NS = 1_000_000_000
LONGEST_SILENCE_S = 3600
"""Seconds without a request count as 0, but not for so long: the clock was set, then."""
KINDS: dict[Direction, int] = {"read": READ_KIND, "write": WRITE_KIND}
BYTES: dict[Direction, str] = {"read": "read_bytes", "write": "written_bytes"}


class TraceSpan(NamedTuple):
    """A part of the trial, in nanoseconds of CLOCK_MONOTONIC."""

    part: Part
    began_ns: int
    ended_ns: int


class Tally:
    """Sums over one medium's requests as they pass by."""

    def __init__(self, spans: Sequence[TraceSpan], roles: Sequence[str]) -> None:
        """`roles` are those that requests have the numbers of."""
        self._spans, self._roles = spans, roles
        self._parts: dict[tuple[Part, str, str], float] = defaultdict(float)
        self._seconds: dict[tuple[str, Direction], Counter[int]] = defaultdict(Counter)
        self._basis: Basis = "measured"

    def add(self, arrived_ns: Array, time_of_day_ns: Array, size: Array, kind: Array, role: Array) -> None:
        """Some requests, one element each."""
        import numpy as np

        for number, name in enumerate(self._roles):
            for direction in DIRECTIONS:
                chosen = np.flatnonzero((role == number) & (kind == KINDS[direction]))
                if len(chosen):
                    self._add_to_parts(name, direction, arrived_ns[chosen], size[chosen], np.ones(len(chosen)))
                    second, index = np.unique(time_of_day_ns[chosen] // SECOND_NS, return_inverse=True)
                    sums = np.bincount(index, weights=size[chosen])
                    self._seconds[name, direction].update(dict(zip(second.tolist(), sums.tolist(), strict=True)))

    def add_counted(self, counted: Counted) -> None:
        """What counters gained, by their own times; these have no seconds."""
        self._basis = "estimated"
        for direction in DIRECTIONS:
            sizes, requests = counted.bytes[direction], counted.requests[direction]
            self._add_to_parts(counted.role, direction, counted.time_ns, sizes, requests)

    def amounts(self, probe: str, medium: str) -> Iterator[Amount]:
        """Return what arrived at the device by part and role. The subject is `MEDIUM/ROLE`."""
        for (part, role, series), value in self._parts.items():
            if value:
                yield Amount(
                    probe=probe, subject=f"{medium}/{role}", series=series, part=part, value=value, basis=self._basis
                )

    def tell_samples(self, probe: str, medium: str, samples: Samples) -> None:
        """MB/s by role and direction for each second from its first request to its last; each at its second's end."""
        for (role, direction), sums in self._seconds.items():
            series = (f"{medium}/{role}", f"{direction}_mb_s")
            seconds = sorted(sums)
            for second, following in zip(seconds, [*seconds[1:], None], strict=True):
                # One more at the end, so that a line drawn there ends at 0.
                upto = second + 2 if following is None or following - second > LONGEST_SILENCE_S else following
                for each in range(second, upto):
                    samples.add(probe, (each + 1) * 1000, {series: sums.get(each, 0) / 1e6})

    def _add_to_parts(self, role: str, direction: Direction, time_ns: Array, sizes: Array, requests: Array) -> None:
        for span in self._spans:
            inside = (time_ns >= span.began_ns) & (time_ns < span.ended_ns)
            self._parts[span.part, role, BYTES[direction]] += float(sizes[inside].sum(dtype=float))
            self._parts[span.part, role, f"{direction}_requests"] += float(requests[inside].sum())


MARGIN_NS = 1_000_000
"""Events are in the buffers so long after they were stamped at the latest."""


class Tracepoints:
    """All traced disks' requests, each disk's in a spool of its own."""

    def __init__(self, trace: KernelTrace, places: Mapping[str, BlockPlace], folder: Path) -> None:
        self.trace, self.places = trace, places
        self._matcher = Matcher()
        self._spools = {disk: Spool(folder) for disk in {partition.disk for partition in places.values()}}

    def drain(self, *, last: bool) -> int:
        """Take the requests that were traced so far; gives up to when they are complete (CLOCK_MONOTONIC, ns).

        At the last time it waits a moment for the newest events.
        """
        if last:
            time.sleep(2 * MARGIN_NS / 1e9)
        until_ns = time.monotonic_ns() - MARGIN_NS
        pages = self.trace.take()
        if not pages and not last:
            return until_ns
        events = decode(pages, self.trace.issue, self.trace.complete)
        for disk, records in self._matcher.add(events, until_ns).items():
            if disk in self._spools:
                self._spools[disk].add(records)
        return until_ns

    def spool(self, medium: str) -> Spool:
        """Return the requests of the disk that a medium is on, or is a part of."""
        return self._spools[self.places[medium].disk]

    def chunks(self, medium: str) -> Iterator[Records]:
        """Requests within a medium's part of its disk, some at a time."""
        partition = self.places[medium]
        for records in self.spool(medium).chunks():
            yield records[(records["offset"] >= partition.begin) & (records["offset"] < partition.end)]

    def close(self) -> None:
        for spool in self._spools.values():
            spool.close()


class CounterLog:
    """One device's counters over time, for where nothing better can be had. Raises OSError when they can't be read."""

    def __init__(self, device: Path) -> None:
        self._gains: list[tuple[int, DiskCounters]] = []
        # The trial's thread looks when a part ends, the probe's now and then.
        self._one_at_a_time = threading.Lock()
        with ExitStack() as scope:
            self._file = KernelFile(CLASS / sysfs_name(device.resolve()) / "stat")
            scope.callback(self._file.close)
            self._work = DiskWork(parse_counters(self._file.read()))
            self.close = scope.pop_all().close

    def look(self) -> None:
        """Note what was done since the last look; a device that is gone does nothing more."""
        with self._one_at_a_time, suppress(OSError, ValueError):
            done = self._work.done(parse_counters(self._file.read()))
            if done is not None and (done.reads or done.writes):
                self._gains.append((time.monotonic_ns(), done))

    def counted(self, medium: str, role: str, since_ns: int) -> Counted:
        """All since then, put down to one role; its times are of CLOCK_MONOTONIC."""
        import numpy as np

        gains = [(now_ns, done) for now_ns, done in self._gains if now_ns >= since_ns]
        numbers = np.array([done for _, done in gains], np.float64).reshape(-1, len(DiskCounters._fields))
        column = {name: numbers[:, index] for index, name in enumerate(DiskCounters._fields)}
        return Counted(
            medium=medium,
            time_ns=np.array([now_ns for now_ns, _ in gains], np.int64),
            requests={"read": column["reads"], "write": column["writes"]},
            bytes={"read": column["read_bytes"], "write": column["written_bytes"]},
            latency_s={"read": column["read_ms"] / 1000, "write": column["write_ms"] / 1000},
            role=role,
        )


TRACE_ESTIMATED = doubt_kind(
    "trace-estimated", "medium", instrument="block-trace",
    when="a medium's requests were not observed singly",
    why="its I/O signature is estimated from the device's counters: no sizes, no order, few roles",
    cure="see the reason; use a medium on a block device of its own",
)  # fmt: skip
TRACE_DROPPED = doubt_kind(
    "trace-dropped", "medium", instrument="block-trace",
    when="some of a medium's requests are missing from its log",
    why="its I/O signature covers the other requests only",
    cure="check whether the disk that holds the log is full or very busy",
)  # fmt: skip
TRACE_MISSING = doubt_kind(
    "trace-missing", "medium", instrument="block-trace",
    when="a medium's log can't be read",
    why="the I/O signature lacks this medium, or estimates it",
    cure="build the drive emulator anew: setup/prepare emulator",
)  # fmt: skip
TRACE_INCOMPLETE = doubt_kind(
    "trace-incomplete", "medium", instrument="block-trace",
    when="a medium's log was not complete when the trial ended",
    why="the last requests may be missing from the I/O signature",
    cure="check whether the emulator died, and run the trial again",
)  # fmt: skip
TRACE_SHARES_DEVICE = doubt_kind(
    "trace-shares-device", "medium", instrument="block-trace",
    when="several media are on one device",
    why="requests without a file count for one of them alone, and depths are of each medium's own requests",
    cure="give each medium a device of its own, or make them one medium",
)  # fmt: skip
TRACE_FILES_UNMAPPED = doubt_kind(
    "trace-files-unmapped", "medium", instrument="block-trace",
    when="a file system does not show the addresses of its files",
    why="its requests count as one role, or as `other`, including the file system's own",
    cure="use a medium with ext4 or xfs directly on its device",
)  # fmt: skip


def estimated(medium: str, reason: str, cure: str) -> Doubt:
    """There are only counters."""
    return TRACE_ESTIMATED.doubt(
        f"the requests of medium {medium!r} were not observed singly: {reason}", medium, cure=cure
    )


TRACE, FILE_MAP = "trace", "file map"


class TracedMedium:
    """One medium whose requests are seen; what it lacks is in `doubts`."""

    def __init__(self, disk: WatchedDisk, layout: Layout) -> None:
        self.disk = disk
        self.name = disk.name
        self.doubts: list[Doubt] = []
        self._is_first = True
        self._others: Sequence[TracedMedium] = ()
        """On the same device: for the first one all others, for another one those before it."""
        self.roles = (*layout.roles, OTHER)
        """That its requests may have."""
        self._only_role = None if disk.shared else single_role(layout, disk.medium)
        self.log: EmulatorLog | None = None
        if disk.log is not None:
            try:
                self.log = EmulatorLog(disk.log)
            except OSError as error:
                self._doubt_log(error)
        self.counters: CounterLog | None = None
        if self.log is None and disk.device is not None:
            with suppress(OSError, ValueError):
                self.counters = CounterLog(disk.device)
        if self.log is None and self.counters is None:
            self.doubts.append(estimated(self.name, "it has no block device of its own", "use one that has"))
        roots = roots_of(layout, disk.medium)
        reason = unmapped(disk, roots)
        self.files = FileMap(roots if reason is None else ())
        self.files.unsupported = reason

    def needs(self, thread: str) -> bool:
        """Whether what it tells would be wrong without one of the probe's threads, `trace` or `file map`."""
        return self.files.unsupported is None if thread == FILE_MAP else self.log is None

    def share(self, all_there: "Sequence[TracedMedium]") -> None:
        """Others lie on the same device: a request belongs to the medium whose file it was of, or else of the first.

        `all_there` are all media of the device, this one among them, in the same order for each.
        """
        position = all_there.index(self)
        self._is_first, self._others = position == 0, all_there[:position] or all_there[1:]
        self._only_role = None
        if not self._is_first:
            both = f"media {self.name!r} and {all_there[0].name!r} are both on {self.disk.device}"
            sharing = f"{both}: a request counts for the medium that holds its file"
            self.doubts.append(TRACE_SHARES_DEVICE.doubt(sharing, self.name))

    def finish(self) -> None:
        """Note that the device gets no more requests; its log may still have to be written."""
        if self.counters is not None:
            self.counters.close()
        if self.log is not None:
            try:
                whole = self.log.finish(time.monotonic_ns())
            except (OSError, ValueError) as error:
                self._doubt_log(error)
                return
            if not whole:
                loss = f"the log of medium {self.name!r} was not complete when the trial ended"
                self.doubts.append(TRACE_INCOMPLETE.doubt(loss, self.name))

    def close(self) -> None:
        if self.log is not None:
            self.log.close()
        if self.counters is not None:
            self.counters.close()

    def requests(
        self, clock: Clock, tracepoints: Tracepoints | None, tally: Tally, since_ns: int
    ) -> Requests | Counted | None:
        """Return all requests since then, also adding them to the tally; None without requests and counters."""
        if self.log is not None:
            try:
                columns = Columns(self.log.most())
                self._take(self.log.chunks(), columns, clock, tally, since_ns)
            except (OSError, ValueError) as error:
                self._doubt_log(error)
                return None
            dropped = self.log.header.dropped if self.log.header else 0
            if dropped:
                total = dropped + columns.count
                problem = f"{dropped} of {total} requests of medium {self.name!r} are missing from its log"
                self.doubts.append(TRACE_DROPPED.doubt(problem, self.name))
            return columns.requests(self.name, "emulator log", self.roles, dropped)
        if tracepoints is not None and self.name in tracepoints.places:
            spool = tracepoints.spool(self.name)
            columns = Columns(spool.kept)
            begin = tracepoints.places[self.name].begin
            self._take(tracepoints.chunks(self.name), columns, clock, tally, since_ns, begin)
            if columns.count or self.counters is None or not self._is_first:
                return columns.requests(self.name, "block tracepoints", self.roles, spool.refused)
            self.doubts.append(estimated(self.name, f"the kernel traces none of {self.disk.device}", "use its disk"))
        if self.counters is None or not self._is_first:
            return None
        counted = self.counters.counted(self.name, self._only_role or OTHER, since_ns)
        tally.add_counted(counted)
        return replace(counted, time_ns=clock.time_of_day(counted.time_ns))

    def attribution(self, shift: int) -> Attribution | None:
        """The places of its files; None where they can't be told, and then all is its only role's, if it has one."""
        return Attribution(self.files.extents(), self.roles, shift) if self.files.unsupported is None else None

    def _take(
        self, chunks: Iterable[Records], columns: Columns, clock: Clock, tally: Tally, since_ns: int, shift: int = 0
    ) -> None:
        """Attribute this medium's requests to roles, portion by portion: all at once would take the memory twice."""
        import numpy as np

        attribution = self.attribution(shift)
        others = [places for other in self._others if (places := other.attribution(shift)) is not None]
        if attribution is None:
            role = self._only_role
            instead = f"its requests count as {role}, the only role it serves" if role else "its requests are `other`"
            self.doubts.append(
                TRACE_FILES_UNMAPPED.doubt(
                    f"the addresses of files on medium {self.name!r} are not known: {self.files.unsupported}",
                    self.name,
                    why=f"all {instead}, the file system's own among them",
                )
            )
        no_file = self.roles.index(OTHER)
        only = self.roles.index(self._only_role or OTHER)
        for chunk in chunks:
            records = chunk[chunk["arrived_ns"] >= since_ns]
            roles = np.full(len(records), only, np.uint8) if attribution is None else attribution.roles(records)
            if self._others:
                own_files = roles != no_file
                theirs = np.logical_or.reduce([places.roles(records) != no_file for places in others])
                kept = own_files | ~theirs if self._is_first else own_files & ~theirs
                records, roles = records[kept], roles[kept]
            arrived_ns = records["arrived_ns"].astype("i8")
            time_of_day_ns = clock.time_of_day(arrived_ns)
            tally.add(arrived_ns, time_of_day_ns, records["bytes"], records["kind"], roles)
            columns.add(records, time_of_day_ns, roles, shift)

    def _doubt_log(self, error: Exception) -> None:
        self.doubts.append(TRACE_MISSING.doubt(f"the log of medium {self.name!r} can't be read: {error}", self.name))
