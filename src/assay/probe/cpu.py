"""Processor time of the whole machine by state, from the first line of /proc/stat (proc(5)).

Samples are shares of all cores together in percent of the interval; amounts are seconds of processor time. Interrupts
count as system time in samples and apart in amounts. On most kernels these counters are told by the clock's tick that
meets a state, 100 or 250 times a second and core: exact over seconds, coarse in one interval.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from assay.model.doubt import Doubt
from assay.model.probe import Scene
from assay.probe.ticking import Interval, Moment, Quantity

# The order of the fields of /proc/stat's first line; guest times are contained in user and nice.
FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
STAT = Path("/proc/stat")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
# More than the first line has in any case: the kernel writes the whole file out for each read from its beginning.
_ENOUGH_BYTES = 512


class MachineTicks:
    """The machine's ticks by state, from a file that stays open."""

    def __init__(self, stat: Path = STAT) -> None:
        self._descriptor = os.open(stat, os.O_RDONLY | os.O_CLOEXEC)

    def read(self) -> dict[str, int]:
        """As they are now. Raises OSError or ValueError when they can't be read."""
        return read_ticks(os.pread(self._descriptor, _ENOUGH_BYTES, 0).decode())

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


class CpuProbe:
    """What the machine's cores spent their time on."""

    name = "cpu"

    def __init__(self, stat: Path = STAT) -> None:
        self._stat = stat
        self._source: MachineTicks | None = None
        self._before: dict[str, int] = {}
        self._interval = Interval()
        self._untold = dict.fromkeys(FIELDS, 0)
        self._sums = dict.fromkeys(FIELDS, 0)

    def begin(self, _scene: Scene) -> None:
        """See `ticking.Instrument.begin`."""
        self._source = MachineTicks(self._stat)
        self._before = self._source.read()

    def tick(self, now: Moment) -> Mapping[str, float]:
        """Shares of the interval in percent of all cores; none where the counters stood still."""
        assert self._source is not None  # noqa: S101 - for the type checker: begun before it is ticked
        ticks = self._source.read()
        gone = differences(self._before, ticks)
        self._before = ticks
        for field, count in gone.items():
            self._sums[field] += count
            self._untold[field] += count
        seconds = self._interval.ended(now)
        if seconds is None:
            return {}
        untold, self._untold = self._untold, dict.fromkeys(FIELDS, 0)
        return shares(untold) if seconds else {}

    def totals(self) -> Mapping[Quantity, float]:
        """Seconds of processor time by state, all cores together."""
        sums = {**self._sums, "user": self._sums["user"] + self._sums["nice"]}
        del sums["nice"]
        return {Quantity("machine", f"{field}_s"): count / TICKS_PER_S for field, count in sums.items()}

    def doubts(self) -> tuple[Doubt, ...]:
        """None: a source that fails ends the probe."""
        return ()

    def end(self) -> None:
        """See `ticking.Instrument.end`."""
        if self._source is not None:
            self._source.close()


def read_ticks(stat: str) -> dict[str, int]:
    """The machine's clock ticks by state. Raises ValueError when the first line is not `cpu` with its eight numbers."""
    first = stat.split("\n", 1)[0].split()
    if first[:1] != ["cpu"] or len(first) <= len(FIELDS):
        raise ValueError(f"/proc/stat begins with {' '.join(first)[:60]!r}")
    return dict(zip(FIELDS, map(int, first[1:]), strict=False))


def differences(before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    """Ticks between two readings. Idle and iowait are known to go back a little (proc(5)): that counts as none."""
    return {field: max(0, now[field] - before[field]) for field in FIELDS}


def busy_ticks(gone: Mapping[str, int]) -> int:
    """Ticks in which this machine's cores worked: not idle, not waiting, not taken away by the host."""
    return sum(gone.values()) - gone["idle"] - gone["iowait"] - gone["steal"]


def shares(gone: Mapping[str, int]) -> dict[str, float]:
    """Percent of all cores by state; nothing where the counters stood still."""
    total = sum(gone.values())
    if total == 0:
        return {}
    states = {
        "user_percent": gone["user"] + gone["nice"],
        "system_percent": gone["system"] + gone["irq"] + gone["softirq"],
        "iowait_percent": gone["iowait"],
        "steal_percent": gone["steal"],
        "idle_percent": gone["idle"],
    }
    return {series: round(100 * ticks / total, 2) for series, ticks in states.items()}
