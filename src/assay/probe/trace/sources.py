"""Where the requests of real disks come from: tracepoints where they can be had, else the devices' counters."""

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.signature import AccessRole, Counted, Direction
from assay.probe.disk import CLASS, MOST_BYTES, Counters, gained, parse_counters
from assay.probe.trace.devices import Place
from assay.probe.trace.kernel import KernelTrace
from assay.probe.trace.matching import Matcher
from assay.probe.trace.pages import decode
from assay.probe.trace.records import Records, Spool

if TYPE_CHECKING:
    from assay.probe.trace.clock import Clock

MARGIN_NS = 1_000_000
"""Events are in the buffers so long after they were stamped at the latest."""


class Tracepoints:
    """All traced disks' requests, each disk's in a spool of its own."""

    source = "block tracepoints"

    def __init__(self, trace: KernelTrace, places: Mapping[str, Place], folder: Path) -> None:
        self.trace = trace
        self.places = places
        self._matcher = Matcher()
        self._spools = {disk: Spool(folder) for disk in {place.disk for place in places.values()}}

    def drain(self, *, last: bool = False) -> None:
        """Take what was seen so far; at the last time wait a moment for the newest events."""
        if last:
            time.sleep(2 * MARGIN_NS / 1e9)
        until_ns = time.monotonic_ns() - MARGIN_NS
        pages = self.trace.take()
        if not pages and not last:
            return
        events = decode(pages, self.trace.issue, self.trace.complete)
        for disk, records in self._matcher.add(events, until_ns).items():
            if disk in self._spools:
                self._spools[disk].add(records)

    def records(self, medium: str) -> Records:
        """Requests within a medium's part of its disk."""
        place = self.places[medium]
        records = self._spools[place.disk].records()
        return records[(records["offset"] >= place.begin) & (records["offset"] < place.end)]

    def refused(self, medium: str) -> int:
        """Requests of its disk that found no room."""
        return self._spools[self.places[medium].disk].refused


class CounterLog:
    """One device's counters over time, for where nothing better can be had. Raises OSError when they can't be read."""

    def __init__(self, device: Path, folder: Path = CLASS) -> None:
        self._descriptor = os.open(folder / device.resolve().name / "stat", os.O_RDONLY | os.O_CLOEXEC)
        self._last = parse_counters(os.pread(self._descriptor, MOST_BYTES, 0).decode())
        self._gains: list[tuple[int, Counters]] = []

    def look(self, now_ns: int) -> None:
        """Note what was done since the last look; a device that is gone does nothing more."""
        with suppress(OSError, ValueError):
            counters = parse_counters(os.pread(self._descriptor, MOST_BYTES, 0).decode())
            done = gained(self._last, counters)
            self._last = counters
            if done is not None and (done.reads or done.writes):
                self._gains.append((now_ns, done))

    def counted(self, medium: str, role: AccessRole, clock: "Clock") -> Counted:
        """All of it, put down to one role."""
        import numpy as np

        numbers = np.array([done for _, done in self._gains], np.float64).reshape(-1, len(Counters._fields))
        column = {name: numbers[:, place] for place, name in enumerate(Counters._fields)}
        names: dict[Direction, tuple[str, str, str]] = {
            "read": ("reads", "read_bytes", "read_ms"), "write": ("writes", "written_bytes", "write_ms"),
        }  # fmt: skip
        return Counted(
            medium=medium,
            time_ns=clock.time_of_day(np.array([now for now, _ in self._gains], np.int64)),
            requests={direction: column[requests] for direction, (requests, _, _) in names.items()},
            bytes={direction: column[size] for direction, (_, size, _) in names.items()},
            latency_s={direction: column[time_ms] / 1000 for direction, (_, _, time_ms) in names.items()},
            role=role,
        )

    def close(self) -> None:
        """Close the counters."""
        os.close(self._descriptor)
