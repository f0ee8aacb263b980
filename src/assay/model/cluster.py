"""Clusters: what an experiment asks for."""

from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple

from pydantic import BeforeValidator, ConfigDict, Field, SerializeAsAny

from assay.model.base import Frozen
from assay.model.fault import Fault, worker_name
from assay.model.kerberos import KerberosSpec
from assay.model.network import NO_NETWORK, Networks
from assay.model.plugins import Registry
from assay.model.scale import DEFAULT_CPUS

MOST_WHOLE = 2**31 - 1
"""What Hadoop takes for a whole number in most places."""

EMBEDDED, EXISTING = "embedded", "existing"
"""The kinds of clusters; EXISTING is also the level of what such a one has of its own, as its number of nodes."""

MASTER = "master"
"""The node of the daemons that a cluster has once; clients run there too."""


def nodes_level(count: int | None) -> str:
    """A number of nodes as tables show it."""
    return EXISTING if count is None else str(count)


AUTO = "auto"
"""The dilation that this machine needs."""

WriteBack = Literal["node", "host"]
"""Whose memory decides how much written data waits in the page cache, and how long: a node's as the trial bounds it, or
this machine's."""
OF_NODE: Final = "node"
OF_HOST: Final = "host"

HARD_LIMIT_SHARE = 0.2
"""Of the memory for files, what may be dirty before writers wait (`vm.dirty_ratio` as Linux has it by default)."""


Dilation = int | Literal["auto"]
"""How many times slower than the machines that it stands for a cluster runs; `auto` is chosen when a trial begins."""


class ModelledNodes(NamedTuple):
    """How many workers, and how many cores of each and of the master, a cluster stands for."""

    workers: int
    cpus: float

    @property
    def cores(self) -> float:
        """The cores of all its nodes."""
        return (self.workers + 1) * self.cpus


class EmbeddedSpec(Frozen):
    """A cluster of Assay's own, which a trial starts.

    `kind` is the name of one in PLATFORMS. `starts` names how much start-up waiting is cut (`brisk`) or left as Hadoop
    ships it (`stock`); `memory_mb` and `vcores` are what each worker offers to containers (Hadoop's own defaults).
    `nodes` is how many workers there are, `network` what Assay emulates between them. `limit_memory_bytes` bounds what
    all daemons and containers of a node together may use, page cache included, `page_cache_bytes` the page cache apart
    from what processes need for themselves, and `limit_cpus` how many cores' worth of time; None is no bound. `fault`
    is what goes wrong on one worker, `racks` are the workers' numbers of each rack (none: all are in one).
    `instead_of` says what the experiment asked for where this machine can't have several nodes. With a `dilation` the
    cluster is a scale model (docs/research/scale-model.md): its nodes have `limit_cpus` cores, by default one, of
    machines that are so many times faster than what they get here. `auto_for` is the plan's largest cluster whose
    dilation is `auto`, where that is not this one: what is compared has to run at one dilation, and the largest needs
    most. `jobs_at_once` is how many jobs it must be able to run at the same time: the most of any trial of the plan.
    `write_back` says whose limits hold for data that are written to emulated drives; with a node's they are written
    when they are `write_back_age_s` old.
    """

    kind: str = EMBEDDED
    starts: Literal["brisk", "stock"] = "brisk"
    memory_mb: int = Field(default=8192, ge=1, le=MOST_WHOLE)
    vcores: int = Field(default=8, ge=1, le=MOST_WHOLE)
    nodes: int = Field(default=1, ge=1)
    network: Networks = NO_NETWORK
    limit_memory_bytes: int | None = None
    limit_cpus: float | None = None
    page_cache_bytes: int | None = None
    write_back: Annotated[WriteBack, Field(exclude_if=lambda whose: whose == OF_HOST)] = OF_HOST
    write_back_age_s: Annotated[float | None, Field(exclude_if=lambda age_s: age_s is None)] = None
    fault: Fault | None = None
    racks: tuple[tuple[int, ...], ...] = ()
    instead_of: str = ""
    dilation: Dilation | None = None
    auto_for: ModelledNodes | None = None
    jobs_at_once: Annotated[int, Field(exclude_if=lambda count: count == 1)] = 1

    @property
    def modelled_nodes(self) -> ModelledNodes:
        """What it stands for itself."""
        return ModelledNodes(len(self.workers), DEFAULT_CPUS if self.limit_cpus is None else self.limit_cpus)

    @property
    def dirty_limit_bytes(self) -> int | None:
        """How much of what is written to an emulated drive a node of this memory holds back; None for no limit.

        Linux counts free memory and page cache, which is the page cache's budget; without one it is at most all memory.
        """
        memory_bytes = self.limit_memory_bytes if self.page_cache_bytes is None else self.page_cache_bytes
        if self.write_back == OF_HOST or memory_bytes is None:
            return None
        return int(HARD_LIMIT_SHARE * memory_bytes)

    @property
    def workers(self) -> tuple[str, ...]:
        """The names of the workers, where nodes are hosts of their own with a master beside them; else none."""
        alone = self.nodes == 1 and self.network == NO_NETWORK
        return () if alone else tuple(map(worker_name, range(1, self.nodes + 1)))


class UnmanagedSpec(Frozen):
    """A cluster that is no trial's: what it has of its own no experiment chooses. `kind` is its name in PLATFORMS."""

    kind: str

    nodes: ClassVar[None] = None
    network: ClassVar[Networks] = NO_NETWORK
    limit_memory_bytes: ClassVar[None] = None
    limit_cpus: ClassVar[None] = None
    page_cache_bytes: ClassVar[None] = None
    write_back: ClassVar[WriteBack] = OF_HOST
    dirty_limit_bytes: ClassVar[None] = None
    fault: ClassVar[None] = None
    racks: ClassVar[tuple[tuple[int, ...], ...]] = ()
    instead_of: ClassVar[str] = ""
    dilation: ClassVar[None] = None
    workers: ClassVar[tuple[str, ...]] = ()


class UnknownSpec(UnmanagedSpec):
    """That of a platform which a record names and that is not installed."""

    model_config = ConfigDict(extra="allow")


class NodeSourceSpec(Frozen):
    """A way to read nodes: its name in NODE_SOURCES, and what the experiment says of it, as plain JSON."""

    name: str
    options: Any = None


class ExistingSpec(UnmanagedSpec):
    """A cluster that is there already.

    `conf_dir` is its Hadoop configuration. `ca_file` has the certificates that its web interfaces are trusted by, and
    `history` is the folder of its job histories, if they are to be read from there. `node_sources` say how its nodes
    are read beside what its daemons tell of themselves. `kerberos` is the login there; without it that of the
    environment, if the cluster's configuration wants one.
    """

    kind: str = EXISTING
    conf_dir: Path
    ca_file: Path | None = None
    history: str | None = None
    node_sources: tuple[NodeSourceSpec, ...] = ()
    kerberos: KerberosSpec | None = None


ClusterSpec = EmbeddedSpec | UnmanagedSpec
"""What a trial runs on. The type that a platform brings derives from one of these."""
CLUSTERS: Registry[type[ClusterSpec]] = Registry("kind of cluster", parts=("model_validate",))
"""These types, by the names of their platforms."""
CLUSTERS.add(EMBEDDED, EmbeddedSpec, place=1)
CLUSTERS.add(EXISTING, ExistingSpec, place=2)


def _of_kind(value: Any) -> Any:
    """The cluster of which a record tells, by its kind."""
    if not isinstance(value, dict):
        return value
    return CLUSTERS.get(value.get("kind", EMBEDDED), UnknownSpec).model_validate(value)


TrialCluster = Annotated[SerializeAsAny[ClusterSpec], BeforeValidator(_of_kind)]
"""A trial's, read and written as its kind has it."""


def even_racks(racks: int, nodes: int) -> tuple[tuple[int, ...], ...]:
    """Divide workers into racks, neighbours together; no racks where all are in one."""
    ends = [round(nodes * rack / racks) for rack in range(racks + 1)]
    divided = (tuple(range(first + 1, last + 1)) for first, last in pairwise(ends))
    return tuple(rack for rack in divided if rack) if racks > 1 else ()


def racks_as_listed(value: Any) -> int | tuple[tuple[int, ...], ...]:
    """A number of racks, or the workers' numbers of each, none twice. Raises ValueError for what is neither."""
    if type(value) is int and value >= 1:
        return value
    racks = value if isinstance(value, list) and all(isinstance(rack, list) and rack for rack in value) else []
    numbers = [number for rack in racks for number in rack]
    if not numbers or len({*map(str, numbers)}) != len(numbers) or not all(type(number) is int for number in numbers):
        raise ValueError("Must be a number of racks, or lists of workers' numbers, each once, such as [[1, 2], [3, 4]]")
    return tuple(map(tuple, racks))
