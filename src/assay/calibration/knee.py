"""The knee of a sequential write: where the write cache is full, found in fio's bandwidth log.

The log is a series of rates; the knee is the one place at which two constant rates explain it best (least squares), as
in change-point detection with one change. A rise, or a fall of less than a sixth, is no knee.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy

from assay.model.calibration import Knee
from assay.model.errors import AssayError

_LEAST_FALL = 1.2
_LEAST_SAMPLES = 10
_MARGIN = 3


class Window(NamedTuple):
    """A stretch of time and what was written in it."""

    seconds: float
    mb_s: float


def read_rates(log: Path) -> list[Window]:
    """Fio's bandwidth log: `end of window in ms, KiB/s, direction, block, offset, ...` per line."""
    windows, last_ms = [], 0
    try:
        for line in log.read_text().splitlines():
            end_ms, kib_s = (int(field) for field in line.split(",")[:2])
            if end_ms > last_ms:
                windows.append(Window((end_ms - last_ms) / 1e3, kib_s * 1024 / 1e6))
                last_ms = end_ms
    except (OSError, ValueError) as error:
        raise AssayError(f"fio's bandwidth log {log} can't be read: {error}") from None
    return windows


def find_knee(windows: Sequence[Window]) -> Knee | None:
    """The one fall of the rate; None where there is none."""
    if len(windows) < _LEAST_SAMPLES:
        return None
    rates = numpy.array([window.mb_s for window in windows])
    written = numpy.cumsum([window.mb_s * window.seconds * 1e6 for window in windows])
    splits = numpy.arange(_MARGIN, len(rates) - _MARGIN)
    best = int(min(splits, key=lambda split: _misfit(rates[:split]) + _misfit(rates[split:])))
    # Means, not medians: a window holds a handful of blocks, so that single rates are coarse.
    before, beyond = float(rates[:best].mean()), float(rates[best:].mean())
    if beyond <= 0 or before < _LEAST_FALL * beyond:
        return None
    return Knee(knee_bytes=int(written[best - 1]), before_mb_s=before, beyond_mb_s=beyond)


def _misfit(rates: "numpy.typing.NDArray[numpy.float64]") -> float:
    return float(((rates - rates.mean()) ** 2).sum())
