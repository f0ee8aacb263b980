"""Platforms: what jobs run on."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import Field, model_validator

from assay.model.base import Frozen
from assay.model.progress import Progress


class LimitUse(Frozen):
    """A cluster's use of its bounds since its start; null if there is no bound or the kernel does not tell."""

    interface: str | None = None
    """`version 1` or `version 2` of the control groups. Version 1 does not bound unwritten pages by group, so
    writers are slowed down later."""
    memory_limit_bytes: int | None = None
    """The bound of memory."""
    memory_peak_bytes: int | None = None
    """The most memory in use at any time, page cache included."""
    memory_limit_hits: int | None = None
    """How often memory was reclaimed at the bound. This is usual: the page cache grows until then."""
    out_of_memory_kills: int = 0
    """Processes that the kernel ended because no memory could be reclaimed."""
    cpus: float | None = None
    """The bound of processor time, in cores."""
    throttled_s: float | None = None
    """Seconds that threads waited for their share of processor time, added up."""


MOST_WHOLE = 2**31 - 1
"""What Hadoop takes for a whole number in most places."""


EXISTING = "existing"
"""The level of what an existing cluster has of its own, such as the number of its nodes."""


class ClusterSpec(Frozen):
    """Which cluster a trial runs on.

    `embedded` is started fresh by Assay; `existing` is found through the Hadoop configuration in `conf_dir`.
    `starts` names how much start-up waiting is cut (`brisk`) or left as Hadoop ships it (`stock`);
    `memory_mb` and `vcores` are what each NodeManager offers to containers (Hadoop's own defaults).
    `nodes` is how many hosts there are (None: an existing cluster has its own), `network` the one that Assay emulates
    between them (`none`: there is none). `limit_memory_bytes` bounds what all daemons and containers together may use,
    page cache included, and `limit_cpus` how many cores' worth of time; None is no bound.
    """

    kind: Literal["embedded", "existing"] = "embedded"
    conf_dir: Path | None = None
    starts: Literal["brisk", "stock"] = "brisk"
    memory_mb: int = Field(default=8192, ge=1, le=MOST_WHOLE)
    vcores: int = Field(default=8, ge=1, le=MOST_WHOLE)
    nodes: int | None = Field(default=1, ge=1)
    network: str = "none"
    limit_memory_bytes: int | None = None
    limit_cpus: float | None = None

    @model_validator(mode="before")
    @classmethod
    def _existing_nodes(cls, given: Any) -> Any:
        """Nobody chose the nodes of an existing cluster."""
        existing = isinstance(given, dict) and given.get("kind") == "existing"
        return {"nodes": None, **given} if existing else given


StorageType = Literal["DISK", "SSD", "ARCHIVE"]


class LocalDirectory(Frozen):
    """A directory of the NodeManager, and the name of the medium it lies on."""

    path: Path
    medium: str


class DataDirectory(Frozen):
    """A directory of the DataNode, the name of the medium it lies on, and the HDFS storage type it is tagged with."""

    path: Path
    medium: str
    storage: StorageType = "DISK"


class Layout(Frozen):
    """The directories a cluster may use; all are fresh and empty, all are removed by whoever made them.

    `neutral` takes configuration, logs, process ids, the NameNode's names and edits: a place that is not under
    test. `data` are the DataNode's directories (input and output), `local` the NodeManager's (intermediates). HDFS
    fills the directories of one storage type in turn, as does the NodeManager its own: a medium's fraction is its
    share of the directories.
    """

    neutral: Path
    data: tuple[DataDirectory, ...]
    local: tuple[LocalDirectory, ...]

    @classmethod
    def below(cls, home: Path) -> "Layout":
        """One directory of each kind in one place, for clusters whose media are not under test."""
        return cls(
            neutral=home / "neutral",
            data=(DataDirectory(path=home / "data", medium="home"),),
            local=(LocalDirectory(path=home / "local", medium="home"),),
        )

    @property
    def directories(self) -> tuple[Path, ...]:
        """All of them."""
        return (self.neutral, *(one.path for one in self.data), *(one.path for one in self.local))


class Node(Frozen):
    """A host of the cluster, and the daemons that belong to it."""

    name: str
    daemons: tuple["DaemonFacts", ...] = ()


class DaemonFacts(Frozen):
    """One running daemon: its role (`namenode`), process id and log file."""

    role: str
    pid: int
    log: Path


class RunningCluster(Frozen):
    """A healthy cluster, as a client sees it.

    `hadoop` is a command that takes `jar`, `fs` and the other subcommands of Hadoop's own `hadoop` script,
    already pointed at `conf_dir`. `namenode_url` and `history_url` are the http addresses of WebHDFS and of the
    JobHistoryServer's REST interface. `extras` is the folder of Hadoop's further jars, examples and tests, where it is
    known.
    """

    hadoop: Path
    conf_dir: Path
    namenode_url: str
    history_url: str
    hadoop_version: str
    nodes: tuple[Node, ...] = ()
    extras: Path | None = None
    settings: Mapping[str, str] = {}


class Cluster(Protocol):
    """Something that can give a healthy cluster for the time of a scope."""

    def check(self, properties: Mapping[str, str]) -> None:
        """Raises BadInputError when it could not start with these Hadoop properties; asked before anything starts."""
        ...

    def running(
        self, layout: Layout, properties: Mapping[str, str], progress: Progress
    ) -> AbstractContextManager[RunningCluster]:
        """Start with these Hadoop properties, wait until healthy, and stop everything at the scope's end.

        Raises AssayError with the daemon's own log line when one dies or is not healthy in time.
        """
        ...

    def failure(self) -> str | None:
        """What has died since the start, in one sentence with its own log line; None while all is well."""
        ...

    def limit_use(self) -> LimitUse | None:
        """What was used of the bounds since the start; also after the end. None where nothing is bounded."""
        ...
