"""From requests and task attempts to a job's I/O signature. Pure: numbers in, numbers out.

Hours of a trial have millions of requests: what has to be known of all of them is kept in small types, and everything
else is worked out in pieces.

How a request is put down to a phase. It belongs to the phases that have an attempt running when it arrives at the
device, in proportion to their numbers of attempts. First come those that can have caused it, as the engine says: reads
of input may belong to the phases of a job's first stage, and writes of output to those of its last. Where none of these
runs, it is shared between all that run; where nothing runs it is `outside`. The kernel writes out later than a program
writes: a write belongs to the phase in which the device got it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from assay.model.signature import (
    DIRECTIONS,
    DISCARD_KIND,
    FLUSH_KIND,
    OTHER,
    READ_KIND,
    WRITE_KIND,
    Access,
    Array,
    Counted,
    Direction,
    Requests,
    Signature,
    TracedMedium,
)
from assay.model.task import TaskAttempt
from assay.stats.timeline import Timeline, phase_uses

DIGIT_BITS = 11
_DIGITS = 1 << DIGIT_BITS
_LEAST = 1 - 1e-12
"""Sums of weights in another order differ in their last digits: of a share that is reached exactly nothing is lost."""


class Quantile:
    """The least of some whole numbers, none below 0, up to which a share of their weight lies.

    All values are shown in pieces, again and again, until `is_found`: each pass finds one digit of 11 bits, the
    highest first. `greatest` is the greatest of them.
    """

    def __init__(self, share: float, greatest: int) -> None:
        self._share = share
        self._shift = DIGIT_BITS * max(0, (greatest.bit_length() - 1) // DIGIT_BITS)
        self._prefix = 0
        self._below = 0.0
        self._wanted: float | None = None
        self._weights = np.zeros(_DIGITS)
        self.is_found = False

    @property
    def value(self) -> int:
        """The quantile, once it is found."""
        return self._prefix

    def see(self, values: Array, weight: Array) -> None:
        """Some of the values, with their weights."""
        if self.is_found:
            return
        digits = values >> self._shift
        if self._wanted is not None:
            inside = digits >> DIGIT_BITS == self._prefix
            digits, weight = digits[inside], weight[inside]
        self._weights += np.bincount(digits & (_DIGITS - 1), weights=weight, minlength=_DIGITS)

    def end_pass(self) -> None:
        """End a pass, in which all values have been shown."""
        if self.is_found:
            return
        upto = self._below + np.cumsum(self._weights)
        if self._wanted is None:
            self._wanted = self._share * float(upto[-1]) * _LEAST
        some = np.flatnonzero(self._weights)
        digit = int(np.searchsorted(upto, self._wanted))
        digit = min(max(digit, int(some[0])), int(some[-1])) if len(some) else 0
        self._below = float(upto[digit] - self._weights[digit])
        self._prefix = self._prefix << DIGIT_BITS | digit
        self.is_found = self._shift == 0
        self._shift -= DIGIT_BITS
        self._weights[:] = 0


REMEMBERED_ENDS = 32
PAUSE_NS = 1_000_000_000
"""A run that goes on after a longer pause than this was not under way meanwhile."""


class Sequentiality:
    """The sequential runs among one medium's requests of one direction, which are shown in the order of arrival.

    The rule is that of the emulator's own report (emulator/model/src/report.rs). A request is sequential when it begins
    where a remembered one ended; its end then takes that one's place. Any other begins a run and takes the place of the
    run that was begun longest ago. 32 ends are remembered, so that several interleaved streams are recognised, and a
    queue's small disorder does not hide one.
    """

    def __init__(self) -> None:
        self._ends = [-1] * REMEMBERED_ENDS
        self._run_at = [0] * REMEMBERED_ENDS
        # The places at which each end is held, as bits: two runs may end alike, and then the first place is taken.
        self._runs_by_end: dict[int, int] = {}
        self._begun = 0

    def see(self, offset: Array, length: Array) -> tuple[Array, Array]:
        """Which of the next requests are sequential, and the runs that they belong to, numbered from 0."""
        ends, run_at, runs_by_end, begun = self._ends, self._run_at, self._runs_by_end, self._begun
        sequential, runs = bytearray(len(offset)), [0] * len(offset)
        for number, (begin, end) in enumerate(zip(offset.tolist(), (offset + length).tolist(), strict=True)):
            places = runs_by_end.pop(begin, 0)
            if places:
                bit = places & -places
                index = bit.bit_length() - 1
                if places != bit:
                    runs_by_end[begin] = places ^ bit
                sequential[number] = 1
            else:
                index = begun % REMEMBERED_ENDS
                bit = 1 << index
                left = runs_by_end.pop(ends[index], 0) & ~bit
                if left:
                    runs_by_end[ends[index]] = left
                run_at[index] = begun
                begun += 1
            ends[index] = end
            runs_by_end[end] = runs_by_end.get(end, 0) | bit
            runs[number] = run_at[index]
        self._begun = begun
        return np.frombuffer(sequential, bool), np.array(runs, np.int32)


class Streams:
    """How many runs some requests, shown in the order of arrival, had under way at once.

    A run is under way from its first arrival to its last answer, if it has two requests or more of those shown, and
    not during pauses of more than a second.
    """

    def __init__(self) -> None:
        # Of each run that may go on: its number, first and last arrival, last answer, and how many requests it has.
        self._open: tuple[Array, ...] = tuple(np.zeros(0, np.int64) for _ in range(5))
        self._ended: list[tuple[Array, Array]] = []

    def see(self, run: Array, arrived_ns: Array, answered_ns: Array) -> None:
        """The next requests; there is one at least."""
        shown = (run, arrived_ns, arrived_ns, answered_ns, np.ones(len(run), np.int64))
        # What is open comes first among its run's own: the sort is stable.
        every = [np.concatenate(pair) for pair in zip(self._open, shown, strict=True)]
        order = np.argsort(every[0], kind="stable")
        number, first, last, answer, count = (column[order] for column in every)
        begins = np.ones(len(order), bool)
        begins[1:] = (number[1:] != number[:-1]) | (first[1:] - last[:-1] > PAUSE_NS)
        at = np.flatnonzero(begins)
        number, first, last = number[at], first[at], last[np.append(at[1:], len(order)) - 1]
        answer, count = np.maximum.reduceat(answer, at), np.add.reduceat(count, at)
        goes_on = arrived_ns[-1] - last <= PAUSE_NS
        self._open = tuple(column[goes_on] for column in (number, first, last, answer, count))
        over = ~goes_on & (count > 1)
        self._ended.append((first[over], answer[over]))

    def mean(self) -> float:
        """Over the time in which any run was under way; 0 when none ever was."""
        _, first, _, answer, count = self._open
        ended = [*self._ended, (first[count > 1], answer[count > 1])]
        began, answered = (np.concatenate(column) for column in zip(*ended, strict=True))
        if not len(began):
            return 0.0
        order = np.argsort(began)
        began, answered = began[order], answered[order]
        until = np.maximum.accumulate(answered)
        alone = np.maximum(0, answered[1:] - np.maximum(began[1:], until[:-1])).sum() + answered[0] - began[0]
        return float((answered - began).sum() / alone) if alone > 0 else 1.0


KINDS: dict[Direction, int] = {"read": READ_KIND, "write": WRITE_KIND}
AT_ONCE = 1 << 17


class Arrivals(NamedTuple):
    """What is known of each request, in the order of the columns in `requests`, and who came when.

    `depth` is how many were under way when it arrived, itself included; `continues` says that it is sequential, `run`
    is the number of its run in its direction (-1 for flushes and discards). `of` are the places in the columns of all
    requests of a direction and role, in the order of their arrival.
    """

    requests: Requests
    depth: Array
    continues: Array
    run: Array
    of: Mapping[tuple[Direction, str], Array]


def pieces(count: int) -> Iterator[slice]:
    """Divide a number of things into slices."""
    yield from (slice(begin, min(count, begin + AT_ONCE)) for begin in range(0, count, AT_ONCE))


def arrivals(requests: Requests) -> Arrivals:
    """Sequential runs are counted by direction, depths over all requests of the medium."""
    count = len(requests.arrived_ns)
    order = np.argsort(requests.arrived_ns, kind="stable").astype(np.int32)
    answered = np.add(requests.arrived_ns, requests.latency_ns, dtype=np.int64)
    answered.sort()
    depth, continues, run = np.empty(count, np.int32), np.zeros(count, bool), np.full(count, -1, np.int32)
    runs = {direction: Sequentiality() for direction in DIRECTIONS}
    found: dict[tuple[Direction, str], list[Array]] = {}
    for piece in pieces(count):
        at = order[piece]
        over = np.searchsorted(answered, requests.arrived_ns[at], side="right")
        depth[at] = np.maximum(1, np.arange(piece.start + 1, piece.stop + 1) - over)
        for direction, kind in KINDS.items():
            own = at[requests.kind[at] == kind]
            offset, length = requests.offset[own].astype(np.int64), requests.bytes[own].astype(np.int64)
            continues[own], run[own] = runs[direction].see(offset, length)
            for number, role in enumerate(requests.roles):
                found.setdefault((direction, role), []).append(own[requests.role[own] == number])
    of = {key: np.concatenate(parts) for key, parts in found.items()}
    return Arrivals(requests, depth, continues, run, of)


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


def figures(arrived: Arrivals, at: Array, segment: Array, weights: Array) -> dict[str, float]:
    """All figures of the requests at some places of the columns, in the order of arrival; empty where there are none.

    `segment` is the segment of the timeline in which each arrived, `weights` by which share a request of each segment
    belongs to the line. They are gone over several times, some at a time: no column of them is ever whole in memory.
    """
    parts: Callable[[], Iterable[Piece]] = partial(_line, arrived, at, segment, weights)
    if len(at) <= AT_ONCE:
        parts = partial(iter, list(parts()))
    sums = _Sums()
    for piece in parts():
        sums.see(piece, arrived)
    if not sums.count:
        return {}
    by_count, by_bytes = Quantile(0.5, sums.most_bytes), Quantile(0.5, sums.most_bytes)
    latency, gap = Quantile(0.99, sums.most_latency_ns), Quantile(0.5, sums.most_gap_ns)
    while not all(quantile.is_found for quantile in (by_count, by_bytes, latency, gap)):
        for piece in parts():
            by_count.see(piece.size, piece.weight)
            by_bytes.see(piece.size, piece.weight * piece.size)
            latency.see(piece.latency_ns, piece.weight)
            gap.see(piece.gap_ns, piece.gap_weight)
        for quantile in (by_count, by_bytes, latency, gap):
            quantile.end_pass()
    result = {
        **sums.figures(),
        "median_request_bytes": float(by_count.value),
        "typical_request_bytes": float(by_bytes.value),
        "latency_ms_p99": latency.value / 1e6,
    }
    if sums.count > 1:
        result["gap_ms_median"] = gap.value / 1e6
    return result


def _line(arrived: Arrivals, at: Array, segment: Array, weights: Array) -> Iterator[Piece]:
    last_ns: int | None = None
    for piece in pieces(len(at)):
        weight = weights[segment[piece]]
        some = weight > 0
        if some.any():
            chosen, weight = at[piece][some], weight[some]
            arrived_ns = arrived.requests.arrived_ns[chosen].astype(np.int64)
            gap_weight = weight.copy()
            gap_weight[:1] *= last_ns is not None
            gap_ns = np.diff(arrived_ns, prepend=arrived_ns[0] if last_ns is None else last_ns)
            last_ns = int(arrived_ns[-1])
            size = arrived.requests.bytes[chosen].astype(np.int64)
            latency_ns = arrived.requests.latency_ns[chosen].astype(np.int64)
            yield Piece(chosen, weight, arrived_ns, size, latency_ns, gap_ns, gap_weight)


class _Sums:
    """What can be told after all pieces were seen once."""

    def __init__(self) -> None:
        self.count = 0
        self._weight = self._bytes = self._sequential = self._depth = self._latency_ns = 0.0
        self._gap_ns = self._gap_weight = 0.0
        self._windows, self._last_window = 0, -1
        self._streams = Streams()
        self.most_bytes = self.most_latency_ns = self.most_gap_ns = 0

    def see(self, piece: Piece, arrived: Arrivals) -> None:
        weight, bytes_ = piece.weight, piece.weight * piece.size
        self.count += len(piece.at)
        self._weight += float(weight.sum())
        self._bytes += float(bytes_.sum())
        self._sequential += float(bytes_[arrived.continues[piece.at]].sum())
        self._depth += float(np.dot(arrived.depth[piece.at], weight))
        self._latency_ns += float(np.dot(piece.latency_ns, weight))
        self._gap_ns += float(np.dot(piece.gap_ns, piece.gap_weight))
        self._gap_weight += float(piece.gap_weight.sum())
        window = piece.arrived_ns // WINDOW_NS
        self._windows += int(np.count_nonzero(np.diff(window))) + int(window[0] != self._last_window)
        self._last_window = int(window[-1])
        self._streams.see(arrived.run[piece.at], piece.arrived_ns, piece.arrived_ns + piece.latency_ns)
        self.most_bytes = max(self.most_bytes, int(piece.size.max()))
        self.most_latency_ns = max(self.most_latency_ns, int(piece.latency_ns.max()))
        self.most_gap_ns = max(self.most_gap_ns, int(piece.gap_ns.max()))

    def figures(self) -> dict[str, float]:
        result = {
            "bytes": self._bytes,
            "requests": self._weight,
            "sequential_share": min(1.0, self._sequential / self._bytes) if self._bytes else 0.0,
            "streams": self._streams.mean(),
            "depth": self._depth / self._weight,
            "latency_ms_mean": self._latency_ns / 1e6 / self._weight,
            "active_s": self._windows * WINDOW_NS / 1e9,
        }
        if self.count > 1:
            result["gap_ms_mean"] = self._gap_ns / 1e6 / self._gap_weight
        return result


def signature(
    requests: Sequence[Requests], counted: Sequence[Counted], attempts: Sequence[TaskAttempt], engine: str
) -> Signature:
    """The signature of all jobs that the attempts are of."""
    timeline = Timeline(attempts, engine)
    accesses = [access for request in requests for access in _traced(request, timeline)]
    accesses += [access for counted_requests in counted for access in _estimated(counted_requests, timeline)]
    bytes_of: dict[tuple[str, str], float] = {}
    for access in accesses:
        key = (access.job, access.phase)
        bytes_of[key] = bytes_of.get(key, 0.0) + access.bytes
    uses = phase_uses(attempts)
    return Signature(
        accesses=tuple(accesses),
        phases=tuple(use.model_copy(update={"bytes": bytes_of.get((use.job, use.phase), 0.0)}) for use in uses),
        media=(*map(_medium, requests), *map(_counted_medium, counted)),
    )


def _traced(requests: Requests, timeline: Timeline) -> Iterator[Access]:
    arrived = arrivals(requests)
    for (direction, role), at in arrived.of.items():
        segment = np.empty(len(at), np.int32)
        for piece in pieces(len(at)):
            segment[piece] = timeline.segment_of(requests.arrived_ns[at[piece]])
        weights = timeline.weights(role, direction)
        for index, (job, phase) in enumerate(timeline.phases):
            # Segments rise with the time of arrival: what a phase has no part of is passed over at both ends.
            shared = np.flatnonzero(weights[:, index])
            if not len(shared):
                continue
            begin, end = np.searchsorted(segment, shared[0]), np.searchsorted(segment, shared[-1], side="right")
            line = figures(arrived, at[begin:end], segment[begin:end], weights[:, index])
            if line:
                yield Access(job=job, phase=phase, medium=requests.medium, role=role, direction=direction, **line)


def _estimated(counted: Counted, timeline: Timeline) -> Iterator[Access]:
    """Attribute each interval's gains to the phases that ran at its end."""
    segment = timeline.segment_of(counted.time_ns)
    for direction in DIRECTIONS:
        weights = timeline.weights(counted.role, direction)[segment]
        bytes_, requests = counted.bytes[direction], counted.requests[direction]
        for index, (job, phase) in enumerate(timeline.phases):
            weight = weights[:, index]
            total = float(np.dot(weight, requests))
            if total:
                active = (weight > 0) & (requests > 0)
                yield Access(
                    job=job, phase=phase, medium=counted.medium, role=counted.role, direction=direction,
                    basis="estimated", bytes=float(np.dot(weight, bytes_)), requests=total,
                    latency_ms_mean=1000 * float(np.dot(weight, counted.latency_s[direction])) / total,
                    active_s=float(len(np.unique(counted.time_ns[active] // WINDOW_NS))),
                )  # fmt: skip


def _medium(requests: Requests) -> TracedMedium:
    data = (requests.kind == READ_KIND) | (requests.kind == WRITE_KIND)
    other = data & (requests.role == requests.roles.index(OTHER))
    total, other_bytes = (int(requests.bytes[some].sum(dtype=np.int64)) for some in (data, other))
    return TracedMedium(
        medium=requests.medium, source=requests.source, basis="measured", requests=int(data.sum()), bytes=total,
        other_share=other_bytes / total if total else 0.0, flushes=int((requests.kind == FLUSH_KIND).sum()),
        discards=int((requests.kind == DISCARD_KIND).sum()), dropped=requests.dropped,
    )  # fmt: skip


def _counted_medium(counted: Counted) -> TracedMedium:
    total = float(sum(counted.bytes[direction].sum() for direction in DIRECTIONS))
    return TracedMedium(
        medium=counted.medium, source="device counters", basis="estimated", bytes=total,
        requests=float(sum(counted.requests[direction].sum() for direction in DIRECTIONS)),
        other_share=1.0 if counted.role == OTHER and total else 0.0,
    )  # fmt: skip
