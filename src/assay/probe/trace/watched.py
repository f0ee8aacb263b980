"""One medium under the block trace: where its requests are seen, and which parts of its disk are whose."""

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.model.cluster import Layout
from assay.model.doubt import Doubt
from assay.model.probe import WatchedDisk
from assay.model.signature import ACCESS_ROLES, Counted, Requests
from assay.probe.file_map import FileMap
from assay.probe.trace import doubts as say
from assay.probe.trace.attribution import OTHER, Attribution
from assay.probe.trace.clock import Clock
from assay.probe.trace.columns import Columns
from assay.probe.trace.devices import roots_of, single_role, unmapped
from assay.probe.trace.records import EmulatorLog, Records
from assay.probe.trace.sources import CounterLog, Tracepoints
from assay.probe.trace.totals import Tally

if TYPE_CHECKING:
    import numpy as np

TRACE, FILE_MAP = "trace", "file map"


class Watched:
    """Made at the scope's beginning; what it lacks is in `doubts`."""

    def __init__(self, disk: WatchedDisk, layout: Layout) -> None:
        self.disk = disk
        self.name = disk.medium
        self.doubts: list[Doubt] = []
        self._before: Sequence[Watched] = ()
        self._after: Sequence[Watched] = ()
        self._only_role = None if disk.shared else single_role(layout, disk.medium)
        self._log = self._open_log()
        self._counters = self._open_counters() if self._log is None else None
        roots = roots_of(layout, disk.medium)
        reason = unmapped(disk, roots)
        self._files = FileMap(roots) if reason is None else None
        self._unmapped = reason

    @property
    def needs_tracepoints(self) -> bool:
        """It has no log of its own."""
        return self._log is None

    def look_at_files(self) -> None:
        """Note what has changed."""
        if self._files is not None:
            self._files.poll(time.monotonic_ns(), time.time_ns())

    def staged(self) -> None:
        """All data so far is input."""
        if self._files is not None:
            self._files.staged()

    def look_at_counters(self) -> None:
        """Note what was done."""
        if self._counters is not None:
            self._counters.look()

    def needs(self, thread: str) -> bool:
        """Whether what it tells would be wrong without one of the probe's threads, `trace` or `file map`."""
        return self._files is not None if thread == FILE_MAP else self._log is None

    def share(self, all_there: "Sequence[Watched]") -> None:
        """Others lie on the same device: a request is told of the medium whose file it was of, or else of the first.

        `all_there` are all media of the device, this one among them, in the same order for each.
        """
        self._before = all_there[: all_there.index(self)]
        self._after = all_there[len(self._before) + 1 :]
        self._only_role = None
        if self._before and self.disk.device is not None:
            self.doubts.append(say.share_device(self.name, all_there[0].name, self.disk.device))

    def finish(self) -> None:
        """All was asked of the device; its log may still have to be written."""
        if self._counters is not None:
            self._counters.close()
        if self._log is not None:
            try:
                whole = self._log.finish(time.monotonic_ns())
            except (OSError, ValueError) as error:
                self.doubts.append(say.log_unreadable(self.name, str(error)))
                return
            if not whole:
                self.doubts.append(say.log_short(self.name))

    def close(self) -> None:
        """Let log and counters go."""
        if self._log is not None:
            self._log.close()
        if self._counters is not None:
            self._counters.close()

    def requests(
        self, clock: Clock, tracepoints: Tracepoints | None, tally: Tally, since_ns: int
    ) -> Requests | Counted | None:
        """What was seen since then, told to the tally too; None when that is nothing at all."""
        if self._log is not None:
            return self._logged(self._log, clock, tally, since_ns)
        if tracepoints is not None and self.name in tracepoints.places:
            columns = Columns(tracepoints.most(self.name))
            begin = tracepoints.places[self.name].begin
            self._take(tracepoints.chunks(self.name), columns, clock, tally, since_ns, begin)
            if columns.count or self._counters is None or self._before:
                return columns.requests(self.name, tracepoints.source, tracepoints.refused(self.name))
            self.doubts.append(
                say.estimated(self.name, f"the kernel traces none of {self.disk.device}", "use its disk")
            )
        if self._counters is None or self._before:
            return None
        counted = self._counters.counted(self.name, self._only_role or "other", since_ns)
        tally.add_counted(counted)
        return replace(counted, time_ns=clock.time_of_day(counted.time_ns))

    def attribution(self, shift: int) -> Attribution | None:
        """The places of its files; None where they can't be told, and then all is its only role's, if it has one."""
        return Attribution(self._files.extents(), shift) if self._files is not None and self._unplaced is None else None

    @property
    def _unplaced(self) -> str | None:
        """Why the places of its files can't be told."""
        return self._unmapped or (self._files.unsupported if self._files is not None else None)

    def _logged(self, log: EmulatorLog, clock: Clock, tally: Tally, since_ns: int) -> Requests | None:
        try:
            columns = Columns(log.most())
            self._take(log.chunks(), columns, clock, tally, since_ns)
        except (OSError, ValueError) as error:
            self.doubts.append(say.log_unreadable(self.name, str(error)))
            return None
        dropped = log.header.dropped if log.header else 0
        if dropped:
            self.doubts.append(say.dropped(self.name, dropped, columns.count))
        return columns.requests(self.name, log.source, dropped)

    def _take(
        self, chunks: Iterable[Records], columns: Columns, clock: Clock, tally: Tally, since_ns: int, shift: int = 0
    ) -> None:
        """Put down to roles what is this medium's, portion by portion: all at once would take the memory twice."""
        own = self.attribution(shift)
        before, after = ([one.attribution(shift) for one in those] for those in (self._before, self._after))
        if own is None:
            self.doubts.append(say.files_unmapped(self.name, self._unplaced or "", self._only_role))
        for chunk in chunks:
            records = chunk[chunk["arrived_ns"] >= since_ns]
            roles = self._roles(records, own)
            if before or after:
                own_files = roles != OTHER
                kept = own_files & ~_of_any(records, before) if before else own_files | ~_of_any(records, after)
                records, roles = records[kept], roles[kept]
            arrived_ns = records["arrived_ns"].astype("i8")
            time_of_day_ns = clock.time_of_day(arrived_ns)
            tally.add(arrived_ns, time_of_day_ns, records["bytes"], records["kind"], roles)
            columns.add(records, time_of_day_ns, roles, shift)

    def _roles(self, records: Records, own: Attribution | None) -> "np.ndarray[Any, Any]":
        import numpy as np

        if own is not None:
            return own.roles(records)
        return np.full(len(records), ACCESS_ROLES.index(self._only_role or "other"), np.uint8)

    def _open_log(self) -> EmulatorLog | None:
        if self.disk.log is None:
            return None
        try:
            return EmulatorLog(self.disk.log)
        except OSError as error:
            self.doubts.append(say.log_unreadable(self.name, str(error)))
            return None

    def _open_counters(self) -> CounterLog | None:
        if self.disk.device is not None:
            with suppress(OSError, ValueError):
                return CounterLog(self.disk.device)
        self.doubts.append(say.estimated(self.name, "it has no block device of its own", "use one that has"))
        return None


def _of_any(records: Records, others: "Sequence[Attribution | None]") -> "np.ndarray[Any, Any]":
    """Which of them belonged to files of a role on other media."""
    import numpy as np

    theirs = np.zeros(len(records), bool)
    for other in others:
        if other is not None:
            theirs |= other.roles(records) != OTHER
    return theirs
