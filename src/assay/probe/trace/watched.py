"""One medium under the block trace: where its requests are seen, and which parts of its disk are whose."""

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from assay.model.cluster import Layout
from assay.model.doubt import Doubt
from assay.model.probe import WatchedDisk
from assay.model.signature import ACCESS_ROLES, Counted, Requests
from assay.probe.file_map import FileMap
from assay.probe.trace import doubts as say
from assay.probe.trace.attribution import roles_of
from assay.probe.trace.clock import Clock
from assay.probe.trace.devices import roots_of, single_role, unmapped
from assay.probe.trace.records import EmulatorLog, Records
from assay.probe.trace.sources import CounterLog, Tracepoints

if TYPE_CHECKING:
    import numpy as np


class Watched:
    """Made at the scope's beginning; what it lacks is in `doubts`."""

    def __init__(self, disk: WatchedDisk, layout: Layout) -> None:
        self.disk = disk
        self.name = disk.medium
        self.doubts: list[Doubt] = []
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
            self._counters.look(time.monotonic_ns())

    def finish(self) -> None:
        """The last look."""
        self.look_at_counters()
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

    def requests(self, clock: Clock, tracepoints: Tracepoints | None) -> Requests | Counted | None:
        """What was seen; None when that is nothing at all."""
        shift, dropped, records = 0, 0, None
        if self._log is not None:
            with suppress(OSError, ValueError):
                records = self._log.records()
                dropped = self._log.header.dropped if self._log.header else 0
            source = self._log.source
            if dropped:
                self.doubts.append(say.dropped(self.name, dropped, len(records) if records is not None else 0))
        elif tracepoints is not None and self.name in tracepoints.places:
            records, dropped = tracepoints.records(self.name), tracepoints.refused(self.name)
            shift, source = tracepoints.places[self.name].begin, tracepoints.source
        if records is not None and (len(records) or self._counters is None):
            return self._table(records, source, clock, shift, dropped)
        if self._counters is None:
            return None
        if records is not None:
            self.doubts.append(
                say.estimated(self.name, f"the kernel traces none of {self.disk.device}", "use its disk")
            )
        return self._counters.counted(self.name, self._only_role or "other", clock)

    def _table(self, records: Records, source: str, clock: Clock, shift: int, dropped: int) -> Requests:
        import numpy as np

        return Requests(
            medium=self.name,
            source=source,
            arrived_ns=clock.time_of_day(records["arrived_ns"].astype(np.int64)),
            offset=records["offset"].astype(np.int64) - shift,
            bytes=records["bytes"].astype(np.int64),
            latency_ns=records["latency_ns"].astype(np.int64),
            kind=records["kind"],
            role=self._roles(records, shift),
            dropped=dropped,
        )

    def _roles(self, records: Records, shift: int) -> "np.ndarray[Any, Any]":
        """By the files' places; where these can't be told, all is its only role's, if it has a single one."""
        import numpy as np

        reason = self._unmapped or (self._files.unsupported if self._files is not None else None)
        if self._files is not None and reason is None:
            return roles_of(records, self._files.extents(), shift)
        self.doubts.append(say.files_unmapped(self.name, reason or "", self._only_role))
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
