"""Probes: measuring instruments attached to a trial.

A probe watches a Scene from before staging until after the result is collected. The trial is told in parts: `staging`,
`run`, `write out` (the kernel empties its caches) and `collect` (histories, verification); a probe's totals are kept
apart for each.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, Protocol

from assay.model.base import Frozen
from assay.model.cluster import Layout
from assay.model.doubt import Doubt
from assay.model.record import Amount, Part, Sample


class WatchedProcess(Frozen):
    """A process of a group (`namenode`, `emulator`, `assay`); its descendants are not meant unless a probe says so."""

    group: str
    pid: int


class WatchedDisk(Frozen):
    """A medium under test as probes see it.

    `device` is the block device whose counters the kernel keeps for it, None where there is none (tmpfs, overlay);
    `shared` says that others use that device too. `log` is where an emulated drive writes its log of requests.
    """

    medium: str
    kind: Literal["directory", "memory", "emulated"]
    place: Path
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

    def mark(self, part: Part) -> None:
        """All that was seen since the last mark, or the beginning, belongs to this part of the trial."""
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


class Probe(Protocol):
    """A measuring instrument."""

    name: str

    def attached(self, scene: Scene) -> AbstractContextManager[Reading]:
        """Measure for the time of a scope. Never raises for want of a counter: that is a Doubt."""
        ...
