"""One medium's requests in the order of their arrival, and what each was in relation to the others.

Hours of a trial have millions of requests: what has to be known of all of them is kept in small types, and everything
else is worked out in pieces.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from assay.model.signature import (
    ACCESS_ROLES,
    DIRECTIONS,
    READ_KIND,
    WRITE_KIND,
    AccessRole,
    Array,
    Direction,
    Requests,
)
from assay.stats.runs import Runs

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
    of: Mapping[tuple[Direction, AccessRole], Array]


def pieces(count: int) -> Iterator[slice]:
    """So many things, some at a time."""
    yield from (slice(begin, min(count, begin + AT_ONCE)) for begin in range(0, count, AT_ONCE))


def arrivals(requests: Requests) -> Arrivals:
    """Sequential runs are told by direction, depths over all requests of the medium."""
    import numpy as np

    count = len(requests.arrived_ns)
    order = np.argsort(requests.arrived_ns, kind="stable").astype(np.int32)
    answered = np.add(requests.arrived_ns, requests.latency_ns, dtype=np.int64)
    answered.sort()
    depth, continues, run = np.empty(count, np.int32), np.zeros(count, bool), np.full(count, -1, np.int32)
    runs = {direction: Runs() for direction in DIRECTIONS}
    found: dict[tuple[Direction, AccessRole], list[Array]] = {}
    for piece in pieces(count):
        at = order[piece]
        over = np.searchsorted(answered, requests.arrived_ns[at], side="right")
        depth[at] = np.maximum(1, np.arange(piece.start + 1, piece.stop + 1) - over)
        for direction, kind in KINDS.items():
            own = at[requests.kind[at] == kind]
            offset, length = requests.offset[own].astype(np.int64), requests.bytes[own].astype(np.int64)
            continues[own], run[own] = runs[direction].see(offset, length)
            for number, role in enumerate(ACCESS_ROLES):
                found.setdefault((direction, role), []).append(own[requests.role[own] == number])
    of = {key: np.concatenate(parts) for key, parts in found.items()}
    return Arrivals(requests, depth, continues, run, of)
