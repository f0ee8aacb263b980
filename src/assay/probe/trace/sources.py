"""Where the requests of real disks come from: tracepoints where they can be had, else the devices' counters."""

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from assay.model.signature import AccessRole, Counted, Direction
from assay.probe.disk import CLASS, MOST_BYTES, Counters, gained, parse_counters
from assay.probe.trace.attribution import Place
from assay.probe.trace.kernel import KernelTrace, Matcher, decode
from assay.probe.trace.requests import Records, Spool

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

    def drain(self, *, last: bool = False) -> int:
        """Take what was seen so far, and tell up to when that is (CLOCK_MONOTONIC, ns).

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

    def chunks(self, medium: str) -> Iterator[Records]:
        """Requests within a medium's part of its disk, some at a time."""
        place = self.places[medium]
        for records in self._spools[place.disk].chunks():
            yield records[(records["offset"] >= place.begin) & (records["offset"] < place.end)]

    def most(self, medium: str) -> int:
        """No more requests than these were seen of it."""
        return self._spools[self.places[medium].disk].kept

    def refused(self, medium: str) -> int:
        """Requests of its disk that found no room."""
        return self._spools[self.places[medium].disk].refused

    def close(self) -> None:
        """Let the requests go."""
        for spool in self._spools.values():
            spool.close()


class CounterLog:
    """One device's counters over time, for where nothing better can be had. Raises OSError when they can't be read."""

    def __init__(self, device: Path, folder: Path = CLASS) -> None:
        self._file: IO[bytes] | None = (folder / device.resolve().name / "stat").open("rb", buffering=0)
        self._gains: list[tuple[int, Counters]] = []
        # The trial's thread looks when a part ends, the probe's now and then.
        self._one_at_a_time = threading.Lock()
        try:
            self._last = self._read(self._file)
        except BaseException:
            self.close()
            raise

    def look(self) -> None:
        """Note what was done since the last look; a device that is gone does nothing more."""
        with self._one_at_a_time, suppress(OSError, ValueError):
            if self._file is None:
                return
            counters = self._read(self._file)
            done = gained(self._last, counters)
            self._last = counters
            if done is not None and (done.reads or done.writes):
                self._gains.append((time.monotonic_ns(), done))

    def counted(self, medium: str, role: AccessRole, since_ns: int) -> Counted:
        """All since then, put down to one role; its times are of CLOCK_MONOTONIC."""
        import numpy as np

        gains = [(now_ns, done) for now_ns, done in self._gains if now_ns >= since_ns]
        numbers = np.array([done for _, done in gains], np.float64).reshape(-1, len(Counters._fields))
        column = {name: numbers[:, place] for place, name in enumerate(Counters._fields)}
        names: dict[Direction, tuple[str, str, str]] = {
            "read": ("reads", "read_bytes", "read_ms"), "write": ("writes", "written_bytes", "write_ms"),
        }  # fmt: skip
        return Counted(
            medium=medium,
            time_ns=np.array([now_ns for now_ns, _ in gains], np.int64),
            requests={direction: column[requests] for direction, (requests, _, _) in names.items()},
            bytes={direction: column[size] for direction, (_, size, _) in names.items()},
            latency_s={direction: column[time_ms] / 1000 for direction, (_, _, time_ms) in names.items()},
            role=role,
        )

    def close(self) -> None:
        """Close the counters; what they told is kept."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _read(self, file: IO[bytes]) -> Counters:
        return parse_counters(os.pread(file.fileno(), MOST_BYTES, 0).decode())
