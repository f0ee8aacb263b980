"""From requests and task attempts to a job's I/O signature. Pure: numbers in, numbers out.

How a request is put down to a phase. It belongs to the phases that have an attempt running when it arrives at the
device, in proportion to their numbers of attempts. First come those that can have caused it: reads of input and of
earlier jobs' output belong to maps, writes of output to reduces (to maps where a job has no reduces), writes of
intermediates to maps, shuffles and merges; where none of these runs, it is shared between all that run; where nothing
runs it is `outside`. The kernel writes out later than a program writes: a write belongs to the phase in which the
device got it.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from assay.model.record import TaskAttempt
from assay.model.signature import (
    ACCESS_ROLES,
    DIRECTIONS,
    DISCARD_KIND,
    FLUSH_KIND,
    READ_KIND,
    WRITE_KIND,
    Access,
    AccessRole,
    Array,
    Counted,
    Direction,
    Requests,
    Signature,
    TracedMedium,
)
from assay.stats.runs import continued
from assay.stats.timeline import Timeline, phase_uses

if TYPE_CHECKING:
    import numpy as np

WINDOW_NS = 1_000_000_000
KINDS: dict[Direction, int] = {"read": READ_KIND, "write": WRITE_KIND}


def signature(requests: Sequence[Requests], counted: Sequence[Counted], attempts: Sequence[TaskAttempt]) -> Signature:
    """The signature of all jobs that the attempts are of."""
    timeline = Timeline(attempts)
    accesses = [access for one in requests for access in _traced(one, timeline)]
    accesses += [access for one in counted for access in _estimated(one, timeline)]
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


class _Seen(NamedTuple):
    """One medium's requests in the order of their arrival, with what is known of each."""

    arrived_ns: "np.ndarray"
    bytes: "np.ndarray"
    latency_ns: "np.ndarray"
    kind: "np.ndarray"
    role: "np.ndarray"
    depth: "np.ndarray"
    continues: "np.ndarray"
    run: "np.ndarray"


def _traced(requests: Requests, timeline: Timeline) -> Iterator[Access]:
    import numpy as np

    seen = _seen(requests)
    segment = timeline.segment_of(seen.arrived_ns)
    for direction in DIRECTIONS:
        for number, role in enumerate(ACCESS_ROLES):
            chosen = np.flatnonzero((seen.kind == KINDS[direction]) & (seen.role == number))
            if not len(chosen):
                continue
            weights = timeline.weights(role, direction)
            for place, (job, phase) in enumerate(timeline.phases):
                weight = weights[segment[chosen], place]
                some = np.flatnonzero(weight)
                if len(some):
                    yield Access(
                        job=job, phase=phase, medium=requests.medium, role=role, direction=direction,
                        **_line(seen, chosen[some], weight[some]),
                    )  # fmt: skip


def _seen(requests: Requests) -> _Seen:
    """Sorted by arrival; sequential runs are told by direction, depths over all requests of the medium."""
    import numpy as np

    order = np.argsort(requests.arrived_ns, kind="stable")
    arrived = requests.arrived_ns[order].astype(np.int64)
    latency, kind = requests.latency_ns[order].astype(np.int64), requests.kind[order]
    offset, length = requests.offset[order].astype(np.int64), requests.bytes[order].astype(np.int64)
    ended = np.searchsorted(np.sort(arrived + latency), arrived, side="right")
    continues, run = np.zeros(len(order), bool), np.full(len(order), -1, np.int64)
    for number in (READ_KIND, WRITE_KIND):
        chosen = np.flatnonzero(kind == number)
        continues[chosen], runs = continued(offset[chosen], length[chosen])
        run[chosen] = np.where(np.bincount(runs, minlength=1)[runs] > 1, runs, -1) if len(runs) else runs
    depth = np.maximum(1, np.arange(1, len(order) + 1) - ended)
    return _Seen(arrived, length, latency, kind, requests.role[order], depth, continues, run)


def _line(seen: _Seen, chosen: Array, weight: Array) -> dict[str, float]:
    """The figures of some requests, each counted by its weight; `chosen` is in the order of arrival."""
    import numpy as np

    total = float(weight.sum())
    size = seen.bytes[chosen]
    size_weight = weight * size
    size_total = float(size_weight.sum())
    latency = seen.latency_ns[chosen] / 1e6
    gaps = np.diff(seen.arrived_ns[chosen]) / 1e6
    gap_weight = weight[1:]
    window = seen.arrived_ns[chosen] // WINDOW_NS
    windows = int(np.count_nonzero(np.diff(window)) + 1)
    by_size = np.argsort(size, kind="stable")
    line = {
        "bytes": size_total,
        "requests": total,
        "sequential_share": float(size_weight[seen.continues[chosen]].sum()) / size_total if size_total else 0.0,
        "median_request_bytes": _quantile(size[by_size], weight[by_size], 0.5),
        "typical_request_bytes": _quantile(size[by_size], size_weight[by_size], 0.5),
        "streams": _streams(window, seen.run[chosen]) / windows,
        "depth": float(np.dot(seen.depth[chosen], weight)) / total,
        "latency_ms_mean": float(np.dot(latency, weight)) / total,
        "latency_ms_p99": _sorted_quantile(latency, weight, 0.99),
        "active_s": windows * WINDOW_NS / 1e9,
    }
    if len(gaps):
        line["gap_ms_mean"] = float(np.dot(gaps, gap_weight) / gap_weight.sum())
        line["gap_ms_median"] = _sorted_quantile(gaps, gap_weight, 0.5)
    return line


def _streams(window: Array, run: Array) -> int:
    """How many different sequential runs each window had, added up over the windows."""
    import numpy as np

    sequential = run >= 0
    if not sequential.any():
        return 0
    first = window.min()
    return len(np.unique((window[sequential] - first) * (int(run.max()) + 1) + run[sequential]))


def _sorted_quantile(values: Array, weight: Array, share: float) -> float:
    import numpy as np

    order = np.argsort(values)
    return _quantile(values[order], weight[order], share)


def _quantile(values: Array, weight: Array, share: float) -> float:
    """The least of some sorted values up to which this share of the weight lies."""
    import numpy as np

    upto = np.cumsum(weight)
    return float(values[min(len(values) - 1, int(np.searchsorted(upto, share * upto[-1] * (1 - 1e-12))))])


def _estimated(counted: Counted, timeline: Timeline) -> Iterator[Access]:
    """Each interval's gains go to the phases that ran at its end."""
    import numpy as np

    segment = timeline.segment_of(counted.time_ns)
    for direction in DIRECTIONS:
        weights = timeline.weights(counted.role, direction)[segment]
        bytes_, requests = counted.bytes[direction], counted.requests[direction]
        for place, (job, phase) in enumerate(timeline.phases):
            weight = weights[:, place]
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
    import numpy as np

    data = (requests.kind == READ_KIND) | (requests.kind == WRITE_KIND)
    size = requests.bytes[data].astype(np.int64)
    total = int(size.sum())
    other = int(size[requests.role[data] == ACCESS_ROLES.index("other")].sum())
    return TracedMedium(
        medium=requests.medium, source=requests.source, basis="measured", requests=int(data.sum()), bytes=total,
        other_share=other / total if total else 0.0, flushes=int((requests.kind == FLUSH_KIND).sum()),
        discards=int((requests.kind == DISCARD_KIND).sum()), dropped=requests.dropped,
    )  # fmt: skip


def _counted_medium(counted: Counted) -> TracedMedium:
    total = float(sum(counted.bytes[direction].sum() for direction in DIRECTIONS))
    role: AccessRole = counted.role
    return TracedMedium(
        medium=counted.medium, source="device counters", basis="estimated", bytes=total,
        requests=float(sum(counted.requests[direction].sum() for direction in DIRECTIONS)),
        other_share=1.0 if role == "other" and total else 0.0,
    )  # fmt: skip
