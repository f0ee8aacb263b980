"""Requests from events: a request is issued once and completed once, and what lies between is its latency.

A request that is given back and issued again counts once, from its last issue. Events of the processors' buffers are
read one buffer after the other, so the newest ones wait for the next time: a completion may have been read before its
issue.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay.probe.trace.pages import UNKNOWN, Events
from assay.probe.trace.records import FIELDS, Records

if TYPE_CHECKING:
    import numpy as np

SECTOR_BYTES = 512
FORGOTTEN_NS = 600_000_000_000
"""An issue without a completion for ten minutes has lost it."""


class Matcher:
    """Takes events in portions, gives requests by device."""

    def __init__(self) -> None:
        self._waiting: Events | None = None

    def add(self, events: Events, until_ns: int) -> Mapping[int, Records]:
        """Requests that are known to be complete; only events before `until_ns` are looked at now."""
        import numpy as np

        every = events if self._waiting is None else _joined((self._waiting, events))
        settled = every.time_ns < until_ns
        late, now = _chosen(every, ~settled), _chosen(every, settled & (every.kind != UNKNOWN))
        order = np.lexsort((now.ended, now.time_ns, now.kind, now.sector, now.device))
        now = _chosen(now, order)
        if not len(now.time_ns):
            self._waiting = late
            return {}
        same = (
            (now.device[:-1] == now.device[1:]) & (now.sector[:-1] == now.sector[1:]) & (now.kind[:-1] == now.kind[1:])
        )
        pair = np.append(same & (now.ended[:-1] == 0) & (now.ended[1:] == 1), False)
        issues = np.flatnonzero(pair)
        last = np.append(~same, True) & (now.ended == 0) & (now.time_ns > until_ns - FORGOTTEN_NS)
        self._waiting = _joined((_chosen(now, last), late))
        return _by_device(now, issues)


def _by_device(events: Events, issues: "np.ndarray[Any, Any]") -> Mapping[int, Records]:
    import numpy as np

    issues = issues[np.argsort(events.time_ns[issues], kind="stable")]
    records = np.zeros(len(issues), dtype=FIELDS)
    records["arrived_ns"] = events.time_ns[issues]
    records["latency_ns"] = events.time_ns[issues + 1] - events.time_ns[issues]
    records["offset"] = events.sector[issues] * SECTOR_BYTES
    records["bytes"] = np.minimum(events.sectors[issues].astype(np.int64) * SECTOR_BYTES, (1 << 32) - 1)
    records["kind"] = events.kind[issues]
    devices = events.device[issues]
    return {int(device): records[devices == device] for device in np.unique(devices)}


def _joined(parts: Sequence[Events]) -> Events:
    import numpy as np

    return Events(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _chosen(events: Events, which: "np.ndarray[Any, Any]") -> Events:
    return Events(*(column[which] for column in events))
