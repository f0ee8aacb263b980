"""What is kept of the requests themselves: bytes and requests by role for each part of the trial, and by second.

Parts end by CLOCK_MONOTONIC, which requests are stamped by: a step of the time of day moves nothing from one part to
another. Seconds are of the time of day, as all samples are.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.model.record import Amount, Basis, Part
from assay.model.signature import (
    ACCESS_ROLES,
    DIRECTIONS,
    READ_KIND,
    WRITE_KIND,
    AccessRole,
    Array,
    Counted,
    Direction,
)
from assay.probe.samples import Samples

SECOND_NS = 1_000_000_000
LONGEST_SILENCE_S = 3600
"""Seconds without a request are told as 0, but not for so long: the clock was set, then."""
KINDS: dict[Direction, int] = {"read": READ_KIND, "write": WRITE_KIND}
BYTES: dict[Direction, str] = {"read": "read_bytes", "write": "written_bytes"}


class Span(NamedTuple):
    """A part of the trial, in nanoseconds of CLOCK_MONOTONIC."""

    part: Part
    began_ns: int
    ended_ns: int


class Tally:
    """Sums over one medium's requests as they pass by."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans
        self._parts: dict[tuple[Part, AccessRole, Direction], tuple[float, float]] = {}
        self._seconds: dict[tuple[AccessRole, Direction], dict[int, int]] = {}
        self._basis: Basis = "measured"

    def add(self, arrived_ns: Array, time_of_day_ns: Array, size: Array, kind: Array, role: Array) -> None:
        """Some requests, one element each."""
        import numpy as np

        for number, name in enumerate(ACCESS_ROLES):
            for direction in DIRECTIONS:
                chosen = np.flatnonzero((role == number) & (kind == KINDS[direction]))
                if len(chosen):
                    sizes = size[chosen].astype(np.int64)
                    self._add_to_parts(name, direction, arrived_ns[chosen], sizes, np.ones(len(chosen), np.int64))
                    self._add_to_seconds(name, direction, time_of_day_ns[chosen] // SECOND_NS, sizes)

    def add_counted(self, counted: Counted) -> None:
        """What counters gained, by their own times; these have no seconds."""
        self._basis = "estimated"
        for direction in DIRECTIONS:
            sizes, requests = counted.bytes[direction], counted.requests[direction]
            self._add_to_parts(counted.role, direction, counted.time_ns, sizes, requests)

    def amounts(self, probe: str, medium: str) -> Iterator[Amount]:
        """Of each part, for each role that had any: what arrived at the device in it. The subject is `MEDIUM/ROLE`."""
        for (part, role, direction), (size, requests) in self._parts.items():
            for series, value in ((BYTES[direction], size), (f"{direction}_requests", requests)):
                if value:
                    yield Amount(
                        probe=probe, subject=f"{medium}/{role}", series=series, part=part, value=value,
                        basis=self._basis,
                    )  # fmt: skip

    def tell_samples(self, probe: str, medium: str, samples: Samples) -> None:
        """MB/s by role and direction for each second from its first request to its last; each at its second's end."""
        for (role, direction), sums in self._seconds.items():
            series = f"{medium}/{role}/{direction}_mb_s"
            for second in _lasting(sorted(sums)):
                samples.add(probe, (second + 1) * 1000, {series: sums.get(second, 0) / 1e6})

    def _add_to_parts(
        self, role: AccessRole, direction: Direction, time_ns: Array, sizes: Array, requests: Array
    ) -> None:
        for span in self._spans:
            within = (time_ns >= span.began_ns) & (time_ns < span.ended_ns)
            key = (span.part, role, direction)
            size, count = self._parts.get(key, (0.0, 0.0))
            self._parts[key] = (size + float(sizes[within].sum()), count + float(requests[within].sum()))

    def _add_to_seconds(self, role: AccessRole, direction: Direction, second: Array, sizes: Array) -> None:
        import numpy as np

        sums = self._seconds.setdefault((role, direction), {})
        found, place = np.unique(second, return_inverse=True)
        added = np.zeros(len(found), np.int64)
        np.add.at(added, place, sizes)
        for number, value in zip(found.tolist(), added.tolist(), strict=True):
            sums[number] = sums.get(number, 0) + value


def _lasting(seconds: Sequence[int]) -> Iterator[int]:
    """These seconds and those between them; one more at the end, so that a line drawn there ends at 0."""
    for second, following in zip(seconds, [*seconds[1:], None], strict=True):
        yield second
        if following is None or following - second > LONGEST_SILENCE_S:
            yield second + 1
        else:
            yield from range(second + 1, following)
