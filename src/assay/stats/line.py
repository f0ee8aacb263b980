"""The figures of one line of a signature: of requests that each belong to it by a share."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from assay.model.signature import Array
from assay.stats.arrivals import AT_ONCE, Arrivals, pieces
from assay.stats.quantile import Quantile
from assay.stats.runs import Streams

WINDOW_NS = 1_000_000_000


class Piece(NamedTuple):
    """Some of a line's requests, in the order of arrival.

    `gap_ns` is the time since the line's request before it, which the first one has not: its `gap_weight` is 0.
    """

    at: Array
    weight: Array
    arrived_ns: Array
    size: Array
    latency_ns: Array
    gap_ns: Array
    gap_weight: Array


def figures(told: Arrivals, at: Array, segment: Array, weights: Array) -> dict[str, float]:
    """All figures of the requests at some places of the columns, in the order of arrival; empty where there are none.

    `segment` is the segment of the timeline in which each arrived, `weights` by which share a request of each segment
    belongs to the line. They are gone over several times, some at a time: no column of them is ever whole in memory.
    """
    parts: Iterable[Piece] = _Pieces(told, at, segment, weights)
    if len(at) <= AT_ONCE:
        parts = list(parts)
    sums = _Sums()
    for piece in parts:
        sums.see(piece, told)
    return {**sums.figures(), **_quantiles(sums, parts)} if sums.count else {}


@dataclass(frozen=True)
class _Pieces:
    """A line's requests; each iteration makes them anew."""

    told: Arrivals
    at: Array
    segment: Array
    weights: Array

    def __iter__(self) -> Iterator[Piece]:
        import numpy as np

        last_ns: int | None = None
        for piece in pieces(len(self.at)):
            weight = self.weights[self.segment[piece]]
            some = weight > 0
            if some.any():
                at, weight = self.at[piece][some], weight[some]
                arrived_ns = self.told.requests.arrived_ns[at].astype(np.int64)
                gap_weight = weight.copy()
                gap_weight[:1] *= last_ns is not None
                gap_ns = np.diff(arrived_ns, prepend=arrived_ns[0] if last_ns is None else last_ns)
                last_ns = int(arrived_ns[-1])
                size = self.told.requests.bytes[at].astype(np.int64)
                latency_ns = self.told.requests.latency_ns[at].astype(np.int64)
                yield Piece(at, weight, arrived_ns, size, latency_ns, gap_ns, gap_weight)


class _Sums:
    """What can be told after all pieces were seen once."""

    def __init__(self) -> None:
        self.count = 0
        self._weight = self._bytes = self._sequential = self._depth = self._latency_ns = 0.0
        self._gap_ns = self._gap_weight = 0.0
        self._windows, self._last_window = 0, -1
        self._streams = Streams()
        self.most_bytes = self.most_latency_ns = self.most_gap_ns = 0

    def see(self, piece: Piece, told: Arrivals) -> None:
        import numpy as np

        weight, bytes_ = piece.weight, piece.weight * piece.size
        self.count += len(piece.at)
        self._weight += float(weight.sum())
        self._bytes += float(bytes_.sum())
        self._sequential += float(bytes_[told.continues[piece.at]].sum())
        self._depth += float(np.dot(told.depth[piece.at], weight))
        self._latency_ns += float(np.dot(piece.latency_ns, weight))
        self._gap_ns += float(np.dot(piece.gap_ns, piece.gap_weight))
        self._gap_weight += float(piece.gap_weight.sum())
        window = piece.arrived_ns // WINDOW_NS
        self._windows += int(np.count_nonzero(np.diff(window))) + int(window[0] != self._last_window)
        self._last_window = int(window[-1])
        self._streams.see(told.run[piece.at], piece.arrived_ns, piece.arrived_ns + piece.latency_ns)
        self.most_bytes = max(self.most_bytes, int(piece.size.max()))
        self.most_latency_ns = max(self.most_latency_ns, int(piece.latency_ns.max()))
        self.most_gap_ns = max(self.most_gap_ns, int(piece.gap_ns.max()))

    def figures(self) -> dict[str, float]:
        found = {
            "bytes": self._bytes,
            "requests": self._weight,
            "sequential_share": min(1.0, self._sequential / self._bytes) if self._bytes else 0.0,
            "streams": self._streams.mean(),
            "depth": self._depth / self._weight,
            "latency_ms_mean": self._latency_ns / 1e6 / self._weight,
            "active_s": self._windows * WINDOW_NS / 1e9,
        }
        if self.count > 1:
            found["gap_ms_mean"] = self._gap_ns / 1e6 / self._gap_weight
        return found


def _quantiles(sums: _Sums, parts: Iterable[Piece]) -> dict[str, float]:
    by_count, by_bytes = Quantile(0.5, sums.most_bytes), Quantile(0.5, sums.most_bytes)
    latency, gap = Quantile(0.99, sums.most_latency_ns), Quantile(0.5, sums.most_gap_ns)
    while not all(one.found for one in (by_count, by_bytes, latency, gap)):
        for piece in parts:
            by_count.see(piece.size, piece.weight)
            by_bytes.see(piece.size, piece.weight * piece.size)
            latency.see(piece.latency_ns, piece.weight)
            gap.see(piece.gap_ns, piece.gap_weight)
        for one in (by_count, by_bytes, latency, gap):
            one.end_pass()
    found = {
        "median_request_bytes": float(by_count.value),
        "typical_request_bytes": float(by_bytes.value),
        "latency_ms_p99": latency.value / 1e6,
    }
    if sums.count > 1:
        found["gap_ms_median"] = gap.value / 1e6
    return found
