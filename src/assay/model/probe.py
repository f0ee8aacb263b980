"""Probes: measuring instruments attached to a trial.

A probe watches a Scene from before staging until after the result is collected. The trial is told in parts: `staging`,
`run`, `write out` (the kernel empties its caches) and `collect` (histories, verification); a probe's totals are kept
apart for each.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, runtime_checkable

from assay.model.base import Frozen
from assay.model.doubt import Doubt
from assay.model.platform import Layout
from assay.model.record import Amount, Part, Sample


class WatchedProcess(Frozen):
    """A process of a group (`namenode`, `emulator`, `assay`); its descendants are not meant unless a probe says so."""

    group: str
    pid: int


class WatchedDisk(Frozen):
    """A medium under test as probes see it.

    `device` is the block device whose counters the kernel keeps for it, None where there is none (tmpfs, overlay);
    `own` says that nobody else can use it, `shared` that others do. `log` is where an emulated drive writes its log of
    requests.
    """

    medium: str
    place: Path
    in_memory: bool = False
    own: bool = False
    device: Path | None = None
    shared: bool = False
    rotational: bool = False
    log: Path | None = None


class Scene(Frozen):
    """What there is to be measured.

    `node_manager` is the process whose descendants are the containers. `ports` are the daemons' listening ports by
    purpose (`hdfs data`, `hdfs rpc`, `shuffle`, `yarn rpc`, `web`).
    """

    processes: tuple[WatchedProcess, ...] = ()
    node_manager: int | None = None
    disks: tuple[WatchedDisk, ...] = ()
    layout: Layout
    ports: Mapping[str, tuple[int, ...]] = {}
    nodes: tuple[str, ...] = ()


class Reading(Protocol):
    """What an attached probe has seen so far."""

    def begin(self) -> None:
        """Count anew from now: all probes are attached, the first part of the trial begins."""
        ...

    def mark(self, part: Part) -> None:
        """All that was seen since the last mark, or `begin`, belongs to this part of the trial."""
        ...

    def samples(self) -> Sequence[Sample]:
        """All samples; each series' oldest first."""
        ...

    def amounts(self) -> tuple[Amount, ...]:
        """Totals of each part that was marked."""
        ...

    def doubts(self) -> tuple[Doubt, ...]:
        """What makes these figures doubtful; a probe that can't work stores nothing and says why here."""
        ...


@runtime_checkable
class Closing(Protocol):
    """A reading that holds more than memory (an open log, a spool, columns of requests) until it is no more needed."""

    def close(self) -> None:
        """Free it all. Called once the reading's scope has ended and everything was asked of it; again does nothing."""
        ...


class Probe(Protocol):
    """A measuring instrument."""

    name: str

    def attached(self, scene: Scene) -> AbstractContextManager[Reading]:
        """Measure for the time of a scope. Never raises for want of a counter: that is a Doubt."""
        ...
