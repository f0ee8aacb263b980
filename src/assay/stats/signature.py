"""From requests and task attempts to a job's I/O signature. Pure: numbers in, numbers out.

How a request is put down to a phase. It belongs to the phases that have an attempt running when it arrives at the
device, in proportion to their numbers of attempts. First come those that can have caused it: reads of input and of
earlier jobs' output belong to maps, writes of output to reduces (to maps where a job has no reduces), writes of
intermediates to maps, shuffles and merges; where none of these runs, it is shared between all that run; where nothing
runs it is `outside`. The kernel writes out later than a program writes: a write belongs to the phase in which the
device got it.
"""

from collections.abc import Iterator, Sequence

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
    Counted,
    Requests,
    Signature,
    TracedMedium,
)
from assay.stats.arrivals import arrivals, pieces
from assay.stats.line import WINDOW_NS, figures
from assay.stats.timeline import Timeline, phase_uses


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


def _traced(requests: Requests, timeline: Timeline) -> Iterator[Access]:
    import numpy as np

    told = arrivals(requests)
    for (direction, role), at in told.of.items():
        segment = np.empty(len(at), np.int32)
        for piece in pieces(len(at)):
            segment[piece] = timeline.segment_of(requests.arrived_ns[at[piece]])
        weights = timeline.weights(role, direction)
        for place, (job, phase) in enumerate(timeline.phases):
            # Segments rise with the time of arrival: what a phase has no part of is passed over at both ends.
            shared = np.flatnonzero(weights[:, place])
            if not len(shared):
                continue
            begin, end = np.searchsorted(segment, shared[0]), np.searchsorted(segment, shared[-1], side="right")
            line = figures(told, at[begin:end], segment[begin:end], weights[:, place])
            if line:
                yield Access(job=job, phase=phase, medium=requests.medium, role=role, direction=direction, **line)


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
    other = data & (requests.role == ACCESS_ROLES.index("other"))
    total, other_bytes = (int(requests.bytes[some].sum(dtype=np.int64)) for some in (data, other))
    return TracedMedium(
        medium=requests.medium, source=requests.source, basis="measured", requests=int(data.sum()), bytes=total,
        other_share=other_bytes / total if total else 0.0, flushes=int((requests.kind == FLUSH_KIND).sum()),
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
