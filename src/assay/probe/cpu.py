"""Processor time of the whole machine by state, and the share of time in which tasks waited.

Samples are shares of all cores together in percent of the interval; amounts are seconds of processor time. Interrupts
count as system time in samples and apart in amounts. On most kernels these counters advance with the clock's tick that
meets a state, 100 or 250 times a second and core: exact over seconds, coarse in one interval.

`some` is time in which at least one task waited, `full` in which all that could have run did. From the `total` counters
in microseconds, so that a sample is of its own interval and not the kernel's running average.
"""

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from assay.model.node import NodeFiles, OpenFile
from assay.model.probe import (
    CannotMeasureError,
    Chart,
    ChartPanel,
    ChartSeries,
    Interval,
    Moment,
    ProbeContext,
    ProbeKind,
    Quantity,
    Sampled,
    Scene,
    Values,
)
from assay.model.quantity import Kind
from assay.model.registry import PROBES
from assay.probe.counters import Gains

# The order of the fields of /proc/stat's first line; guest times are contained in user and nice.
FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
STAT = Path("/proc/stat")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
# More than the first line has in any case: the kernel writes the whole file out for each read from its beginning.
_ENOUGH_BYTES = 512


class CpuProbe(Sampled):
    """What the machine's cores spent their time on."""

    name = "cpu"

    def __init__(self, node: NodeFiles) -> None:
        self._node = node
        self._file: OpenFile | None = None
        self._gains = Gains({})
        self._interval = Interval[Counter[str]]()
        self._sums: Counter[str] = Counter()

    def attach(self, _scene: Scene) -> None:
        self._file = self._node.open(STAT)
        self._gains = tick_gains(read_ticks(self._file))

    def sample(self, now: Moment) -> Values:
        """Shares of the interval in percent of all cores; none where the counters stood still."""
        assert self._file is not None  # noqa: S101 - for the type checker: attached before it is sampled
        self._sums.update(self._gains.add(read_ticks(self._file))[0])
        ended = self._interval.ended(now, self._sums.copy())
        if ended is None:
            return {}
        return {("", state): percent for state, percent in shares(self._sums - ended[1]).items()}

    def totals(self) -> Mapping[Quantity, float]:
        """Seconds of processor time by state, all cores together."""
        nice = {"user": self._sums["nice"]}
        return {
            Quantity("machine", f"{field}_s"): (self._sums[field] + nice.get(field, 0)) / TICKS_PER_S
            for field in FIELDS
            if field != "nice"
        }

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def read_ticks(stat: OpenFile) -> dict[str, int]:
    """The machine's clock ticks by state as they are now. Raises OSError or ValueError when they can't be read."""
    return parse_ticks(stat.read(_ENOUGH_BYTES))


def parse_ticks(stat: str) -> dict[str, int]:
    """The machine's clock ticks by state. Raises ValueError when the first line is not `cpu` with its eight numbers."""
    first = stat.split("\n", 1)[0].split()
    if first[:1] != ["cpu"] or len(first) <= len(FIELDS):
        raise ValueError(f"/proc/stat begins with {' '.join(first)[:60]!r}")
    return dict(zip(FIELDS, map(int, first[1:]), strict=False))


def tick_gains(first: Mapping[str, int]) -> Gains:
    """What follows a first reading, state by state."""
    return Gains(first, dict.fromkeys(FIELDS, TICKS_PER_S))


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


PRESSURE = Path("/proc/pressure")
# All tasks waiting for a processor can't be for a whole machine: the kernel says 0.
_KINDS = {"cpu": ("some",), "memory": ("some", "full"), "io": ("some", "full")}


class PressureProbe(Sampled):
    """The machine's pressure."""

    name = "pressure"

    def __init__(self, node: NodeFiles) -> None:
        self._node = node
        self._files: dict[str, OpenFile] = {}
        self._gains = Gains({})
        self._sums: Counter[str] = Counter()
        self._interval = Interval[Counter[str]]()

    def attach(self, _scene: Scene) -> None:
        try:
            for kind in _KINDS:
                self._files[kind] = self._node.open(PRESSURE / kind)
            stalls = self._read()
            self._gains = Gains(stalls, dict.fromkeys(stalls, 1_000_000))
            self._sums = Counter(dict.fromkeys(stalls, 0))
        except OSError as error:
            raise CannotMeasureError(
                f"the kernel tells no pressure ({error})",
                "waiting for processors, memory and I/O can only be guessed from how busy they were",
                "boot with psi=1, or a kernel with CONFIG_PSI",
            ) from None

    def sample(self, now: Moment) -> Values:
        """Percent of the interval."""
        self._sums.update(self._gains.add(self._read())[0])
        ended = self._interval.ended(now, self._sums.copy())
        if ended is None:
            return {}
        interval_s, before = ended
        # The counter is brought up to date when it is read, a moment before or after the clock.
        return {
            ("", f"{name}_percent"): round(min(100.0, (stall - before[name]) / interval_s / 10_000), 2)
            for name, stall in self._sums.items()
        }

    def totals(self) -> Mapping[Quantity, float]:
        return {Quantity("machine", f"{name}_s"): stall / 1e6 for name, stall in self._sums.items()}

    def close(self) -> None:
        for file in self._files.values():
            file.close()

    def _read(self) -> dict[str, int]:
        return {
            f"{kind}_{scope}": stall
            for kind, file in self._files.items()
            for scope, stall in stalls_us(file.read()).items()
            if scope in _KINDS[kind]
        }


def stalls_us(text: str) -> dict[str, int]:
    """`some avg10=0.00 avg60=0.00 avg300=0.00 total=123`: the totals by the line's first word."""
    lines = (line.split() for line in text.splitlines())
    return {fields[0]: int(fields[-1].removeprefix("total=")) for fields in lines if fields}


_STATES = (
    ChartSeries("user_percent", "user", "slate"),
    ChartSeries("system_percent", "system", "silver"),
    ChartSeries("iowait_percent", "iowait", "vermilion"),
    ChartSeries("steal_percent", "stolen by the host", "yellow", from_value=5.0),
)
STATES = ChartPanel("processor, % of all {cores} hardware threads", "%", "stack", _STATES, height_px=90, greatest=100)
CPU_CHART = Chart("processor", (STATES,), expected=True)


def _cpu(context: ProbeContext) -> CpuProbe | None:
    return CpuProbe(context.node) if context.sees_machine else None


def _pressure(context: ProbeContext) -> PressureProbe | None:
    return PressureProbe(context.node) if context.sees_machine else None


CPU_SERIES = {
    **{f"{field}_s": Kind.PROCESSOR_TIME for field in FIELDS if field != "nice"},
    **dict.fromkeys(shares(dict.fromkeys(FIELDS, 1)), Kind.LEVEL),
}
PRESSURE_SERIES = {
    f"{kind}_{scope}_{unit}": of
    for kind, scopes in _KINDS.items()
    for scope in scopes
    for unit, of in (("s", Kind.CLOCK_TIME), ("percent", Kind.LEVEL))
}
PROBES.add("cpu", ProbeKind(_cpu, (CPU_CHART,), of_nodes=True, of_files=CpuProbe, series=CPU_SERIES), place=2)
PROBES.add("pressure", ProbeKind(_pressure, of_nodes=True, of_files=PressureProbe, series=PRESSURE_SERIES), place=5)
