"""Layouts: the directories that a cluster may use, and what they are used for."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from assay.model.base import Frozen

Role = Literal["input", "intermediate", "output"]
ROLES: tuple[Role, ...] = ("input", "intermediate", "output")


class LocalDirectory(Frozen):
    """A directory that the engine's intermediates are written to, and the name of the medium it lies on."""

    path: Path
    medium: str


class DataDirectory(Frozen):
    """A directory of the store, the name of the medium it lies on, and the roles whose bytes belong there.

    Without a role it takes what is neither input nor output (job jars, splits, histories).
    """

    path: Path
    medium: str
    roles: tuple[Role, ...] = ("input", "output")


class Layout(Frozen):
    """The directories a cluster may use; all are fresh and empty, all are removed by whoever made them.

    `neutral` takes configuration, logs, process ids, what masters keep on disk: a place that is not under test. `data`
    are the store's directories (input and output), `local` the engine's (intermediates). Both fill the directories of a
    role in turn: a medium's fraction is its share of the directories. `nodes` are the directories of each worker, by
    its name, where there are several: `data` and `local` are then those of all together.
    """

    neutral: Path
    data: tuple[DataDirectory, ...]
    local: tuple[LocalDirectory, ...]
    nodes: Mapping[str, "Layout"] = {}

    @classmethod
    def below(cls, home: Path, workers: Sequence[str] = ()) -> "Layout":
        """One directory of each kind in one place, or for each worker, for clusters whose media are not under test."""
        if workers:
            return cls.together(home / "neutral", {worker: cls.below(home / worker) for worker in workers})
        return cls(
            neutral=home / "neutral",
            data=(DataDirectory(path=home / "data", medium="home"),),
            local=(LocalDirectory(path=home / "local", medium="home"),),
        )

    @classmethod
    def together(cls, neutral: Path, nodes: Mapping[str, "Layout"]) -> "Layout":
        """That of a cluster of several workers, from theirs."""
        return cls(
            neutral=neutral,
            data=tuple(one for node in nodes.values() for one in node.data),
            local=tuple(one for node in nodes.values() for one in node.local),
            nodes=nodes,
        )

    @property
    def container_logs(self) -> Path:
        """Where a node's containers keep their logs."""
        return self.neutral / "logs" / "containers"

    @property
    def directories(self) -> tuple[Path, ...]:
        """All of them."""
        return (self.neutral, *(one.path for one in self.data), *(one.path for one in self.local))
