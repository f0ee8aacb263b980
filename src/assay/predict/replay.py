"""What other drives would make of a job's requests: how long each would have been busy with them."""

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from assay.model.drive_profile import DriveProfile
from assay.model.record import Span
from assay.model.signature import Array, Requests
from assay.probe.trace.requests import FIELDS

RECORD = np.dtype(FIELDS)
"""A request as the emulator reads and writes it."""

Replay = Callable[[DriveProfile, bytes], bytes]
"""Gives records to a drive; returns as many records with that drive's times, in the order of arrivals."""


def busy_s(log: Requests, spans: Sequence[Span], roles: Collection[str] | None = None) -> list[float]:
    """For each span the seconds in which a drive had any request that arrived in it, of some roles or of all."""
    chosen = _of_roles(log, roles)
    return _busy_s(log.arrived_ns[chosen], log.arrived_ns[chosen], log.latency_ns[chosen], spans)


def busy_elsewhere_s(
    logs: Sequence[Requests], spans: Sequence[Span], roles: Collection[str] | None, drive: DriveProfile, replay: Replay
) -> list[float]:
    """For each span the seconds for which another drive would be busy with the requests that arrived in it.

    The requests are those of some roles in these logs of one node. Those that arrived in no span, such as what staging
    left in the page cache, are answered too, so that the drive is in the state in which it would be.
    """
    records = []
    for log in logs:
        chosen = _of_roles(log, roles)
        rows = np.zeros(int(chosen.sum()), RECORD)
        for name in ("arrived_ns", "offset", "latency_ns", "bytes", "kind"):
            rows[name] = getattr(log, name)[chosen]
        records.append(rows)
    asked = np.concatenate(records)
    if not len(asked):
        return [0.0 for _ in spans]
    asked = asked[np.argsort(asked["arrived_ns"], kind="stable")]
    answered = np.frombuffer(replay(drive, asked.tobytes()), RECORD)
    return _busy_s(asked["arrived_ns"], answered["arrived_ns"], answered["latency_ns"], spans)


def _busy_s(logged_ns: Array, arrived_ns: Array, latency_ns: Array, spans: Sequence[Span]) -> list[float]:
    """For each span the time in which any request was under way that was logged in it."""
    seconds = []
    for span in spans:
        within = (logged_ns >= span.begin_ms * 1_000_000) & (logged_ns < span.end_ms * 1_000_000)
        seconds.append(_union_s(arrived_ns[within], latency_ns[within]))
    return seconds


def _of_roles(log: Requests, roles: Collection[str] | None) -> Array:
    if roles is None:
        return np.ones(len(log.arrived_ns), bool)
    return np.isin(log.role, [number for number, role in enumerate(log.roles) if role in roles])


def _union_s(arrived_ns: Array, latency_ns: Array) -> float:
    """The time in which any of some requests was under way."""
    if not len(arrived_ns):
        return 0.0
    order = np.argsort(arrived_ns, kind="stable")
    arrived = arrived_ns[order].astype(np.int64)
    answered = np.maximum.accumulate(arrived + latency_ns[order].astype(np.int64))
    idle_ns = np.maximum(0, arrived[1:] - answered[:-1]).sum()
    return float(answered[-1] - arrived[0] - idle_ns) / 1e9


def by_node(logs: Mapping[str, Requests]) -> dict[str, dict[str, Requests]]:
    """The logs of a trial's drives, named `NODE/MEDIUM` or `MEDIUM`, by node and medium; the only node is named ''."""
    nodes: dict[str, dict[str, Requests]] = {}
    for name, log in logs.items():
        node, _, medium = name.rpartition("/")
        nodes.setdefault(node, {})[medium] = log
    return nodes
