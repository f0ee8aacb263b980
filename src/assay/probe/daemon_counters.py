"""What daemons of Assay's own clusters count of themselves, such as the bytes of logs, flushes and compactions.

Services say which daemons these are, what they count, and how that is read (`DaemonKind.counters`). Counts are new
every second or so, so the end of a part waits for counts of that moment or later.

A daemon without new counts has counted nothing since, as far as anybody knows: a fault may have killed it.
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from assay.model.doubt import Doubt, doubt_kind
from assay.model.node import NodeFiles
from assay.model.probe import CountingDaemon, Moment, ProbeContext, ProbeKind, Quantity, Scene, Values
from assay.model.quantity import Kind
from assay.model.registry import PROBES, SERVICES
from assay.model.service import Counts

NAME = "daemon-counters"
EVERY_S = 1.0
"""Counts are read so often, but at the ends of parts."""
PATIENCE = 3.0
"""Times the seconds after which counts are new: for so long the end of a part waits for them."""
_POLL_S = 0.05


class DaemonCounters:
    """An instrument: counters of a node's daemons, at each mark and about every second."""

    name = NAME

    def __init__(self, node: NodeFiles) -> None:
        self._node = node
        self._daemons: Sequence[CountingDaemon] = ()
        self._last: dict[str, Counts] = {}
        self._late: dict[str, int] = {}
        self._read_s = 0.0

    def attach(self, scene: Scene) -> None:
        """Know the daemons; on a node where none counts it has nothing to tell."""
        self._daemons = scene.counting

    def sample(self, now: Moment) -> Values:
        """Rates between the last two counts of each daemon."""
        if not self._daemons or now.clock_s - self._read_s < EVERY_S:
            return {}
        self._read_s = now.clock_s
        before = dict(self._last)
        for daemon in self._daemons:
            self._look(daemon)
        return {
            (role, f"{series}_per_s"): 1000 * (value - old.values.get(series, value)) / (counts.time_ms - old.time_ms)
            for role, counts in self._last.items()
            if (old := before.get(role)) is not None and counts.time_ms > old.time_ms
            for series, value in counts.values.items()
        }

    def totals(self) -> Mapping[Quantity, float]:
        """What each has counted since it started, now or a little later; without new counts the last ones."""
        marked_ms = time.time() * 1000
        for daemon in self._daemons:
            deadline_s = marked_ms / 1000 + PATIENCE * daemon.counters.every_s
            while not self._look(daemon, marked_ms) and time.time() < deadline_s:
                time.sleep(_POLL_S)
            if not self._look(daemon, marked_ms):
                self._late[daemon.role] = self._late.get(daemon.role, 0) + 1
        return {
            Quantity(role, series): value
            for role, counts in self._last.items()
            for series, value in counts.values.items()
        }

    def doubts(self) -> tuple[Doubt, ...]:
        return tuple(
            COUNTERS_LATE.doubt(f"the {role} had no new counts at {times} ends of intervals", role)
            for role, times in self._late.items()
        )

    def close(self) -> None:
        """It holds nothing."""

    def _look(self, daemon: CountingDaemon, since_ms: float = 0.0) -> bool:
        """Take a daemon's newest counts, and tell whether they are of a moment or later."""
        with suppress(OSError):  # not written yet
            counts = daemon.counters.read(self._node, daemon.log)
            if counts is not None:
                self._last[daemon.role] = counts
        last = self._last.get(daemon.role)
        return last is not None and last.time_ms >= since_ms


COUNTERS_LATE = doubt_kind(
    "daemon-counters-late", "cluster", instrument=NAME,
    when="a daemon of Assay's own cluster had written no new counters at the end of an interval",
    why="what it counted between its last counters and that end is missing in the interval's figures",
    cure="look whether it was killed, by a fault or by a bound of memory; give the cluster more processors otherwise",
)  # fmt: skip


def _make(context: ProbeContext) -> DaemonCounters:
    return DaemonCounters(context.node)


def _kind() -> ProbeKind:
    """Make the kind, with the series of all services' daemons."""
    counters = [daemon.counters for service in SERVICES.values() for daemon in service.daemons if daemon.counters]
    series = {name: kind for each in counters for name, kind in each.series.items()}
    rates = dict.fromkeys((f"{name}_per_s" for name in series), Kind.RATE)
    return ProbeKind(_make, of_nodes=True, series={**series, **rates})


PROBES.add_late(NAME, _kind, place=9)
