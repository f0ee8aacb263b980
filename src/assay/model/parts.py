"""Parts: what makes the things that one trial touches. The runner knows these protocols and no kinds behind them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from assay.model.engine import Engine
from assay.model.input import Dataset
from assay.model.medium import Medium
from assay.model.platform import Cluster, Layout, RunningCluster
from assay.model.probe import Probe, Scene
from assay.model.store import Placer, Store
from assay.model.trial import Landed
from assay.model.workload import Workload


class Parts(Protocol):
    """Makes the things that one trial touches."""

    def facts(self) -> Mapping[str, str]:
        """The machine's facts."""
        ...

    def media(self) -> tuple[Medium, ...]:
        """The media under test."""
        ...

    def neutral(self) -> AbstractContextManager[Path]:
        """A fresh directory that is not under test: configuration, logs, names, edits."""
        ...

    def cluster(self) -> Cluster:
        """The cluster that the trial runs on."""
        ...

    def store(self, running: RunningCluster) -> Store:
        """The store of a running cluster."""
        ...

    def engine(self, running: RunningCluster, scratch: Path, failure: Callable[[], str | None]) -> Engine:
        """The engine of a running cluster."""
        ...

    def placer(self, running: RunningCluster, layout: Layout) -> Placer | None:
        """What steers the store's bytes to their media; None where Assay has no say in that."""
        ...

    def intermediates(self, layout: Layout) -> AbstractContextManager[Callable[[], Landed] | None]:
        """Watches where intermediates are written; None where that can't be seen."""
        ...

    def dataset(self) -> Dataset:
        """The trial's input."""
        ...

    def workload(self) -> Workload:
        """The trial's computation."""
        ...

    def scene(self, running: RunningCluster, layout: Layout, media: Sequence[Medium]) -> Scene:
        """What there is to be measured, once the media are attached and the cluster runs."""
        ...

    def probes(self) -> tuple[Probe, ...]:
        """The instruments; none where this machine's use tells nothing of the trial."""
        ...
