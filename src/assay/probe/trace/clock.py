"""From CLOCK_MONOTONIC, which requests are stamped by, to the time of day, by which task attempts are told."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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
        """Nanoseconds since the epoch, as a program that asked at that moment would have been told."""
        import numpy as np

        which = np.searchsorted(np.array(self._since), monotonic_ns, side="right") - 1
        told: np.ndarray[Any, Any] = monotonic_ns + np.array(self._ahead)[np.maximum(which, 0)]
        return told
