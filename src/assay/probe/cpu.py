"""CPU use of the whole machine over time, from /proc/stat (proc(5)): user, system, iowait, steal and idle shares."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.model.doubt import Doubt
from assay.model.record import Sample

INTERVAL_S = 0.5
# The order of the fields of /proc/stat's first line; guest times are contained in user and nice.
FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


class CpuReading:
    """Shares of the interval before each sample, in percent of all cores together."""

    def __init__(self) -> None:
        self._samples: list[Sample] = []
        self._doubts: list[Doubt] = []

    def samples(self) -> tuple[Sample, ...]:
        """Oldest first."""
        return tuple(self._samples)

    def doubts(self) -> tuple[Doubt, ...]:
        """Why there are no samples, if there are none."""
        return tuple(self._doubts)

    def add(self, samples: list[Sample]) -> None:
        """Keep one interval's samples."""
        self._samples += samples

    def give_up(self, reason: str) -> None:
        """Store nothing rather than something inconsistent, and say why."""
        self._samples.clear()
        self._doubts.append(
            Doubt(
                kind="probe-cpu-missing",
                what=f"CPU use was not sampled: {reason}",
                why="the record can't tell whether the processors or the medium were the limit",
                cure="run where /proc/stat can be read",
            )
        )


class CpuProbe:
    """Samples twice a second in a thread of its own."""

    name = "cpu"

    def __init__(self, stat: Path = Path("/proc/stat"), interval_s: float = INTERVAL_S) -> None:
        self._stat = stat
        self._interval_s = interval_s

    @contextmanager
    def attached(self) -> Iterator[CpuReading]:
        """Measure until the scope's end."""
        reading, stop = CpuReading(), threading.Event()
        sampler = threading.Thread(target=self._sample, args=(reading, stop), name="assay-cpu-probe", daemon=True)
        sampler.start()
        try:
            yield reading
        finally:
            stop.set()
            sampler.join()

    def _sample(self, reading: CpuReading, stop: threading.Event) -> None:
        try:
            before = read_ticks(self._stat.read_text())
            while not stop.wait(self._interval_s):
                now = read_ticks(self._stat.read_text())
                reading.add(shares(before, now, int(time.time() * 1000)))
                before = now
        except (OSError, ValueError) as error:
            reading.give_up(str(error))


def read_ticks(stat: str) -> dict[str, int]:
    """The machine's clock ticks by state. Raises ValueError when the first line is not `cpu` with its eight numbers."""
    first = stat.split("\n", 1)[0].split()
    if first[:1] != ["cpu"] or len(first) <= len(FIELDS):
        raise ValueError(f"/proc/stat begins with {' '.join(first)[:60]!r}")
    return dict(zip(FIELDS, map(int, first[1:]), strict=False))


def shares(before: dict[str, int], now: dict[str, int], time_ms: int) -> list[Sample]:
    """One sample per state; none where the counters stood still."""
    gone = {field: max(0, now[field] - before[field]) for field in FIELDS}
    total = sum(gone.values())
    if total == 0:
        return []
    states = {
        "user_percent": gone["user"] + gone["nice"],
        "system_percent": gone["system"] + gone["irq"] + gone["softirq"],
        "iowait_percent": gone["iowait"],
        "steal_percent": gone["steal"],
        "idle_percent": gone["idle"],
    }
    return [
        Sample(probe="cpu", series=series, time_ms=time_ms, value=100 * ticks / total)
        for series, ticks in states.items()
    ]
