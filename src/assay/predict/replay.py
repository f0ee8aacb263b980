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
    """For each span the seconds for which a drive worked on requests that arrived in it, of some roles or of all."""
    worked_ns = np.where(_of_roles(log, roles), _worked_ns(log.arrived_ns, log.latency_ns), 0)
    return _of_spans(log.arrived_ns, worked_ns, spans)


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
    return _of_spans(asked["arrived_ns"], _worked_ns(answered["arrived_ns"], answered["latency_ns"]), spans)


def _of_spans(logged_ns: Array, worked_ns: Array, spans: Sequence[Span]) -> list[float]:
    limits = [(span.begin_ms * 1_000_000, span.end_ms * 1_000_000) for span in spans]
    return [float(worked_ns[(logged_ns >= begin) & (logged_ns < end)].sum()) / 1e9 for begin, end in limits]


def _of_roles(log: Requests, roles: Collection[str] | None) -> Array:
    if roles is None:
        return np.ones(len(log.arrived_ns), bool)
    return np.isin(log.role, [number for number, role in enumerate(log.roles) if role in roles])


def _worked_ns(arrived_ns: Array, latency_ns: Array) -> Array:
    """For how long a drive worked on each request; in all for as long as any request was under way.

    A drive works on the request that it answers next: since its last answer, or since it had any request. So a request
    that waits for others has none of their time.
    """
    arrived = arrived_ns.astype(np.int64)
    answered = arrived + latency_ns.astype(np.int64)
    order = np.argsort(answered, kind="stable")
    since = np.minimum.accumulate(arrived[order][::-1])[::-1]
    since[1:] = np.maximum(since[1:], answered[order][:-1])
    worked = np.empty_like(arrived)
    worked[order] = answered[order] - since
    return worked


def by_node(logs: Mapping[str, Requests]) -> dict[str, dict[str, Requests]]:
    """The logs of a trial's drives, named `NODE/MEDIUM` or `MEDIUM`, by node and medium; the only node is named ''."""
    nodes: dict[str, dict[str, Requests]] = {}
    for name, log in logs.items():
        node, _, medium = name.rpartition("/")
        nodes.setdefault(node, {})[medium] = log
    return nodes
