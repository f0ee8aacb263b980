"""Pressure: the share of time in which tasks waited for processors, memory or I/O (PSI, accounting/psi.rst).

`some` is time in which at least one task waited, `full` in which all that could have run did. From the `total` counters
in microseconds, so that a sample is of its own interval and not the kernel's running average.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from assay.model.doubt import Doubt
from assay.model.probe import Scene
from assay.probe.ticking import CannotMeasureError, Interval, Moment, Quantity

PRESSURE = Path("/proc/pressure")
# All tasks waiting for a processor can't be for a whole machine: the kernel says 0.
_KINDS = {"cpu": ("some",), "memory": ("some", "full"), "io": ("some", "full")}
_ENOUGH_BYTES = 256


class PressureProbe:
    """The machine's pressure."""

    name = "pressure"

    def __init__(self, place: Path = PRESSURE) -> None:
        self._place = place
        self._files: dict[str, int] = {}
        self._stalls_us: dict[str, int] = {}
        self._interval = Interval()
        self._told_us: dict[str, int] = {}

    def begin(self, _scene: Scene) -> None:
        """See `ticking.Instrument.begin`."""
        try:
            for kind in _KINDS:
                self._files[kind] = os.open(self._place / kind, os.O_RDONLY | os.O_CLOEXEC)
            self._stalls_us = self._read()
        except OSError as error:
            raise CannotMeasureError(
                f"the kernel tells no pressure ({error})",
                "waiting for processors, memory and I/O can only be guessed from how busy they were",
                "boot with psi=1, or a kernel with CONFIG_PSI",
            ) from None

    def tick(self, now: Moment) -> Mapping[str, float]:
        """Percent of the interval."""
        self._stalls_us = stalls = self._read()
        interval_s = self._interval.ended(now)
        if interval_s is None:
            return {}
        before, self._told_us = self._told_us, stalls
        if not interval_s:
            return {}
        # The counter is brought up to date when it is read, a moment before or after the clock.
        return {
            f"{name}_percent": round(min(100.0, (stall - before[name]) / interval_s / 10_000), 2)
            for name, stall in stalls.items()
        }

    def totals(self) -> Mapping[Quantity, float]:
        """Seconds of waiting."""
        return {Quantity("machine", f"{name}_s"): stall / 1e6 for name, stall in self._stalls_us.items()}

    def doubts(self) -> tuple[Doubt, ...]:
        """None: a source that fails ends the probe."""
        return ()

    def end(self) -> None:
        """See `ticking.Instrument.end`."""
        for descriptor in self._files.values():
            os.close(descriptor)

    def _read(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for kind, descriptor in self._files.items():
            told = stalls_us(os.pread(descriptor, _ENOUGH_BYTES, 0).decode())
            found |= {f"{kind}_{which}": told[which] for which in _KINDS[kind] if which in told}
        return found


def stalls_us(text: str) -> dict[str, int]:
    """`some avg10=0.00 avg60=0.00 avg300=0.00 total=123`: the totals by the line's first word."""
    lines = (line.split() for line in text.splitlines())
    return {words[0]: int(words[-1].removeprefix("total=")) for words in lines if words}
