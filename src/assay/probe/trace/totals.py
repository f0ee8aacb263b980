"""What is kept of the requests themselves: bytes and requests by role for each part of the trial, and by second."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.model.record import Amount, Basis, Part, Sample
from assay.model.signature import (
    ACCESS_ROLES,
    DIRECTIONS,
    READ_KIND,
    WRITE_KIND,
    Array,
    Counted,
    Direction,
    Requests,
)

BIN_NS = 1_000_000_000
KINDS: dict[Direction, int] = {"read": READ_KIND, "write": WRITE_KIND}
BYTES: dict[Direction, str] = {"read": "read_bytes", "write": "written_bytes"}


class Span(NamedTuple):
    """A part of the trial, in nanoseconds since the epoch."""

    part: Part
    began_ns: int
    ended_ns: int


def amounts(probe: str, requests: Requests, spans: Sequence[Span]) -> Iterator[Amount]:
    """Of each part, for each role that had any: what arrived at the device in it. The subject is `MEDIUM/ROLE`."""
    for span in spans:
        within = (requests.arrived_ns >= span.began_ns) & (requests.arrived_ns < span.ended_ns)
        for number, role in enumerate(ACCESS_ROLES):
            for direction in DIRECTIONS:
                chosen = within & (requests.role == number) & (requests.kind == KINDS[direction])
                values = {
                    BYTES[direction]: float(requests.bytes[chosen].sum(dtype="int64")),
                    f"{direction}_requests": float(chosen.sum()),
                }
                yield from _told(probe, f"{requests.medium}/{role}", span.part, values, "measured")


def counted_amounts(probe: str, counted: Counted, spans: Sequence[Span]) -> Iterator[Amount]:
    """The same from counters."""
    for span in spans:
        within = (counted.time_ns >= span.began_ns) & (counted.time_ns < span.ended_ns)
        for direction in DIRECTIONS:
            values = {
                BYTES[direction]: float(counted.bytes[direction][within].sum()),
                f"{direction}_requests": float(counted.requests[direction][within].sum()),
            }
            yield from _told(probe, f"{counted.medium}/{counted.role}", span.part, values, "estimated")


def _told(probe: str, subject: str, part: Part, values: dict[str, float], basis: Basis) -> Iterator[Amount]:
    for series, value in values.items():
        if value:
            yield Amount(probe=probe, subject=subject, series=series, part=part, value=value, basis=basis)


def samples(probe: str, requests: Requests) -> Iterator[Sample]:
    """MB/s by role and direction for each second from its first request to its last; each at its second's end."""
    for number, role in enumerate(ACCESS_ROLES):
        for direction in DIRECTIONS:
            chosen = (requests.role == number) & (requests.kind == KINDS[direction])
            if chosen.any():
                series = f"{requests.medium}/{role}/{direction}_mb_s"
                yield from _binned(probe, series, requests.arrived_ns[chosen], requests.bytes[chosen])


def _binned(probe: str, series: str, time_ns: Array, size: Array) -> Iterator[Sample]:
    import numpy as np

    bins = time_ns // BIN_NS
    first = int(bins.min())
    # One more bin, of nothing: a line that is drawn through the samples ends at 0.
    sums = np.bincount(bins - first, weights=size.astype(np.float64), minlength=int(bins.max()) - first + 2)
    for number, value in enumerate(sums.tolist()):
        time_ms = (first + number + 1) * BIN_NS // 1_000_000
        yield Sample.model_construct(probe=probe, series=series, time_ms=time_ms, value=value / 1e6 / (BIN_NS / 1e9))
