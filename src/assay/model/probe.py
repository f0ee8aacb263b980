"""Probes: measuring instruments attached to a trial.

A probe watches a Scene from before staging until after the result is collected. The trial has parts: `staging`,
`run`, `write out` (the kernel empties its caches) and `collect` (histories, verification); a probe's totals are kept
apart for each.

A probe is attached, then sampled (`Sampled`) or evaluated at the end (`Evaluated`) or both, then closed. Whatever it
raises ends this probe and no other, and becomes its Doubt: a probe is a guest of the trial.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

from assay.model.base import Frozen
from assay.model.doubt import Doubt
from assay.model.errors import AssayError
from assay.model.existing import ExistingDaemon
from assay.model.host_names import HostNames
from assay.model.layout import Layout
from assay.model.node import Node, ReadableNode
from assay.model.quantity import Kind, Wrap, kind_among
from assay.model.record import REMOTE_NODES, Amount, Basis, Part, Sample
from assay.model.service import Counters
from assay.model.signature import Counted, Requests
from assay.model.trial import Landed

CONTAINERS, CLIENTS = "containers", "clients"


class WatchedProcess(Frozen):
    """A process of a group (a daemon's role, `emulator`, `assay`), without its descendants unless a probe says so.

    `children` is the group of what it starts: `containers` of tasks, `clients` of the cluster; empty: its own. `node`
    is the name of the node that it runs on; empty: the first one, or the machine that Assay runs on.
    """

    group: str
    pid: int
    children: str = ""
    node: str = ""


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
    node: str = ""

    @property
    def name(self) -> str:
        """The medium's; on one of several nodes with the node's before it."""
        return f"{self.node}/{self.medium}" if self.node else self.medium


Ask = Callable[[str, Mapping[str, str]], Any]
"""What a web interface answers to a GET with these parameters: the JSON. Raises NoAnswerError."""


class ForeignHost(NamedTuple):
    """A machine of an existing cluster: its name, its address if known, its daemons' web addresses by role.

    A machine may have several daemons of a role.
    """

    name: str
    address: str = ""
    web: Mapping[str, tuple[str, ...]] = {}


class ForeignCluster(NamedTuple):
    """What lets an existing cluster be seen.

    `ask` is the one way to its web interfaces: within bounds, with the rights that the user has there. `overlooked`
    says why some machines may be missing among the hosts. `daemons` is what is known of its daemons' roles.
    """

    hosts: tuple[ForeignHost, ...]
    ask: Ask
    overlooked: tuple[str, ...] = ()
    daemons: tuple[ExistingDaemon, ...] = ()

    def names(self) -> HostNames:
        """The machines' names, and their addresses."""
        names = HostNames(host.name for host in self.hosts)
        for host in self.hosts:
            if host.address:
                names.add(host.address, host.name)
        return names

    def workers(self) -> list[str]:
        """The machines on which the jobs' tasks run. Raises AssayError where none is known."""
        roles = {daemon.role for daemon in self.daemons if daemon.runs_tasks}
        hosts = [host.name for host in self.hosts if roles & host.web.keys()]
        if not hosts:
            why = "; ".join(self.overlooked) or "the cluster names no running node"
            raise AssayError(f"{why}; list `hosts` in the experiment")
        return hosts


class CountingDaemon(NamedTuple):
    """A daemon that counts what it does: its role, its node's name, its log, and how its counts are read there."""

    role: str
    node: str
    log: Path
    counters: Counters


class Scene(NamedTuple):
    """What there is to be measured.

    `ports` are the daemons' listening ports by purpose, as their kinds name it; on those of the `copied` purposes
    workers' daemons take copies of data from their like. Without any `nodes` it is only this machine that can be
    measured, and with a `foreign` cluster only that and what `sources` read there, each by the name of its probe.
    `elsewhere` are the processes of other nodes that share this machine: they and what they start are none of this
    node's, whoever started them. `counting` are the daemons of Assay's own cluster that count what they do.
    """

    layout: Layout
    processes: tuple[WatchedProcess, ...] = ()
    disks: tuple[WatchedDisk, ...] = ()
    ports: Mapping[str, tuple[int, ...]] = {}
    nodes: tuple[Node, ...] = ()
    elsewhere: frozenset[int] = frozenset()
    foreign: ForeignCluster | None = None
    copied: frozenset[str] = frozenset()
    sources: "Mapping[str, NodeSource]" = {}
    counting: tuple[CountingDaemon, ...] = ()

    def on(self, node: Node) -> "Scene":
        """What of it is on one of the nodes."""
        names = {node.name, ""} if node in self.nodes[:1] else {node.name}
        return self._replace(
            processes=tuple(process for process in self.processes if process.node in names),
            disks=tuple(disk for disk in self.disks if disk.node in names),
            elsewhere=frozenset(process.pid for process in self.processes if process.node not in names),
            counting=tuple(daemon for daemon in self.counting if daemon.node in names),
        )


class Moment(NamedTuple):
    """A time: `time_ms` since the epoch for stamps, `clock_s` of the monotonic clock for intervals."""

    time_ms: int
    clock_s: float


def now() -> Moment:
    """This moment."""
    return Moment(time_ms=int(time.time() * 1000), clock_s=time.monotonic())


class ClockOffset(NamedTuple):
    """By how much a node's clock is ahead of this machine's, and how wrong that can be at most."""

    offset_s: float
    uncertainty_s: float


class Quantity(NamedTuple):
    """What a value is of: a subject (a medium, a group of processes, ...) and a series whose name ends in its unit.

    A counter's amount for a part of the trial is its difference between the part's ends. A level (`level=True`) is
    taken as it is when the part ends: a peak that the instrument begins anew with each part, a size.
    """

    subject: str
    series: str
    basis: Basis = "measured"
    level: bool = False


class FilesRead(NamedTuple):
    """Files of a node, all read at about one moment.

    `clock` is how that moment was worked out from the node's clock. `listing` are files of the node's sysfs that tell
    what its devices are. `ended` are the parts of the trial that end with it; None is the beginning of the first.
    """

    clock: ClockOffset
    content: Mapping[Path, str]
    listing: Sequence[Path]
    ended: Sequence[Part | None] = ()


class Reading(NamedTuple):
    """What a source has read of a node: when, by this machine's clock in seconds since the epoch, and what.

    `values` are its counters and levels, `files` what probes work out such figures from. `booted_s` is when the node
    was started, by its own clock; 0 where that is not known.
    """

    node: str
    at_s: float
    values: Mapping[Quantity, float] = {}
    booted_s: float = 0.0
    files: FilesRead | None = None


class SeriesTable(NamedTuple):
    """The series that a source reads: each counter's kind, the levels, and the counters that begin anew at a range.

    A counter's or level's name may begin with `*`, which stands for anything.
    """

    counters: Mapping[str, Kind] = {}
    levels: Sequence[str] = ()
    wraps: Mapping[str, Wrap] = {}


class NodeSource(Protocol):
    """Reads nodes on which Assay runs nothing of its own, for the time of a trial.

    Its user's thread calls the methods in their order; readings come from any one thread at a time.
    """

    def begin(self, receive: Callable[[Reading], None]) -> None:
        """Reach all nodes, and go on until `end`. What goes wrong with one is a doubt and stops no other.

        Raises CannotMeasureError where nothing can be read.
        """

    def mark(self, part: Part | None) -> int:
        """A part of the trial ends now (None: the first begins); gives when, in milliseconds since the epoch."""

    def end(self) -> None:
        """Read no more; all has been received afterwards."""

    def doubts(self) -> tuple[Doubt, ...]:
        """What is missing, and why; asked after `end`, or a failure."""

    def close(self) -> None:
        """Leave nothing there; also without `end`, and a second time."""


class NodeSourceContext(NamedTuple):
    """What a way to read nodes is opened with: the environment of all processes, and the cluster."""

    environment: Mapping[str, str]
    cluster: ForeignCluster


class NodeSourceKind(NamedTuple):
    """A way to read nodes, as registered in NODE_SOURCES.

    Its name is a key of `cluster` in an experiment, which `about` describes and whose value is of the type `options`;
    one without options always reads. `located` gives them with whole paths, and `check` looks whether it can work,
    given the environment and the way to web interfaces; both raise BadInputError before anything starts.

    `series` are those of its readings' values; a source without any gives files. `adds` and `columns` are as a
    ProbeKind has them. The figures of parts that are not among the `sure_parts` are estimates.
    """

    open: Callable[[Any, NodeSourceContext], NodeSource]
    options: Any = None
    about: str = ""
    located: Callable[[Any, Callable[[Path], Path]], Any] = lambda options, _absolute: options
    check: Callable[[Any, Mapping[str, str], Ask], None] = lambda *_: None
    series: SeriesTable = SeriesTable()
    adds: str = ""
    columns: "tuple[NodeColumn, ...]" = ()
    sure_parts: Collection[Part] | None = None

    @property
    def gives_files(self) -> bool:
        """Whether its figures are worked out by the probes of files."""
        return not self.series.counters

    def probe(self, name: str) -> str:
        """The name of the probe that takes its readings, if it is called so; all that give files have one."""
        return REMOTE_NODES if self.gives_files else name


SHORTEST_S = 0.1
"""A shorter interval (before a mark) says little: its figures are added to the next sample's."""


ReadingT = TypeVar("ReadingT")


class Interval(Generic[ReadingT]):
    """The time that an instrument's next samples are of, and what it read at the beginning."""

    def __init__(self) -> None:
        self._began: tuple[float, ReadingT] | None = None

    def ended(self, now: Moment, reading: ReadingT) -> tuple[float, ReadingT] | None:
        """End the interval: return its seconds and first reading; None at the first call and while it is short."""
        began = self._began
        if began is not None and now.clock_s - began[0] < SHORTEST_S:
            return None
        self._began = (now.clock_s, reading)
        return None if began is None else (now.clock_s - began[0], began[1])


Values = Mapping[tuple[str, str], float]
"""A value for each of some subjects (empty: the machine as a whole) and series, whose name ends in its unit."""


class CannotMeasureError(Exception):
    """Raised by a probe that can't work here: what is missing, why that matters, and what the user can do."""

    def __init__(self, problem: str, why: str, cure: str) -> None:
        super().__init__(problem)
        self.problem, self.why, self.cure = problem, why, cure


class ChildResult(NamedTuple):
    """What a child process printed, and how it ended."""

    code: int
    printed: str
    complained: str


RunChild = Callable[[Sequence[str], str, float], ChildResult]
"""Runs a command with a text on its input for some seconds at most. Raises OSError, of which TimeoutError is one."""


class ProbeContext(NamedTuple):
    """What a probe is made with: the trial's environment variables, its node, and how what probes take is counted.

    `children_s` tells the seconds of all children, `samples_bytes` the memory that all samples take.
    """

    environment: Mapping[str, str]
    run_child: RunChild
    children_s: Callable[[], float]
    samples_bytes: Callable[[], int]
    node: Node
    is_first: bool = True
    """Whether the node is the first one, or this machine."""

    @property
    def sees_machine(self) -> bool:
        """Whether what is of a machine as a whole is read on this node: of nodes on one machine on the first."""
        return self.is_first or self.node.own_machine


class Probe(Protocol):
    """A measuring instrument."""

    name: str

    def attach(self, scene: Scene) -> None:
        """Open what is to be read, and read it once. Raises CannotMeasureError, OSError or ValueError if it can't."""

    def doubts(self) -> tuple[Doubt, ...]:
        """What makes the figures doubtful; asked before `close`, also after a failure.

        What touches only some subjects (a device that vanished, a counter that was reset) belongs here.
        """
        return ()

    def close(self) -> None:
        """Free all that it holds; also after a failure."""


@runtime_checkable
class Sampled(Probe, Protocol):
    """A probe that is read about twice a second. One thread attaches and reads all of these: they need no locks."""

    def sample(self, now: Moment) -> Values:
        """Values by subject and series for the time since the last sample.

        The interval is not always the same: about 0.5 s, less before a mark, more when the machine is busy. What stood
        still or can't be known (no interval, a counter that went back) is left out.
        """

    def totals(self) -> Mapping[Quantity, float]:
        """Return all quantities after the last sample; asked after `attach` and at each part's end.

        Counters may begin anywhere, but never go back. One that appears later counts from 0.
        """


class Evaluation(NamedTuple):
    """What a probe makes of a whole trial; `requests` is None where it does not see any."""

    samples: Collection[Sample] = ()
    amounts: Sequence[Amount] = ()
    requests: Sequence[Requests] | None = None
    counted: Sequence[Counted] = ()


@runtime_checkable
class Evaluated(Probe, Protocol):
    """A probe whose figures are known at the end only. The trial's own thread calls these methods."""

    def mark(self, part: Part | None) -> Sequence[Landed]:
        """A part of the trial ends now; None: all probes are attached, the first part begins.

        Gives where bytes of some role were written in that part, if it sees that.
        """

    def evaluate(self) -> Evaluation:
        """Return all that was measured; asked once, after the last part and before `doubts`."""
        return Evaluation()


Colour = Literal["ink", "blue", "vermilion", "green", "pink", "orange", "sky", "slate", "silver", "yellow"]


class ChartSeries(NamedTuple):
    """One series of a panel; left out where it never reaches `from_value`.

    `subject` is whose it is on a machine's chart (empty: the machine's); on a medium's chart it is the medium.
    """

    series: str
    words: str
    colour: Colour
    from_value: float = 0.0
    subject: str = ""


class ChartPanel(NamedTuple):
    """Series on one axis: upon one another (`stack`), as `lines`, or one as a filled `level`.

    `title` may have `{cores}` in it. `greatest` is the axis' end; None is that of the trials beside one another.
    """

    title: str
    unit: str
    form: Literal["stack", "lines", "level"]
    series: tuple[ChartSeries, ...]
    height_px: int = 60
    greatest: float | None = None


class Chart(NamedTuple):
    """Panels of a trial over time, of the machine or of each medium; without a panel's first series there is none.

    Where it is missing that is said if it was `expected`, or if the probe says why.
    """

    name: str
    panels: tuple[ChartPanel, ...]
    of: Literal["machine", "medium"] = "machine"
    expected: bool = False


class NodeColumn(NamedTuple):
    """A figure of each machine while the jobs ran: the sum of these series, of one subject or (empty) of all."""

    title: str
    unit: Literal["bytes", "s"]
    series: tuple[str, ...]
    subject: str = ""


class ProbeKind(NamedTuple):
    """A kind of probe: `make` gives None where there is nothing to read on this machine.

    One that is `needed` is attached also where an experiment turns probes off, one `of_nodes` once for each node. One
    that is `foreign` measures an existing cluster, which no other does.
    `adds` says in a sentence what a record gets from it, and `columns` are what a report's table has for each machine.
    `of_files` makes one that needs no more than the files of a `Reading`, for a node that is read from afar.
    `series` declares what it writes, samples and amounts, each with its kind; a name may begin with `*`, which stands
    for anything. What is not declared is refused.
    `left_overs` takes away what such probes of a killed run left in the kernel, and names it; it may raise OSError.
    """

    make: Callable[[ProbeContext], Probe | None]
    charts: tuple[Chart, ...] = ()
    needed: bool = False
    of_nodes: bool = False
    foreign: bool = False
    adds: str = ""
    columns: tuple[NodeColumn, ...] = ()
    of_files: Callable[[ReadableNode], Probe] | None = None
    left_overs: Callable[[], Sequence[str]] = lambda: ()
    series: Mapping[str, Kind] = {}

    def mistake(self) -> str:
        """Whether a chart or a column shows a series that it does not declare."""
        drawn = [line.series for chart in self.charts for panel in chart.panels for line in panel.series]
        shown = (name for column in self.columns for name in column.series)
        undeclared = [name for name in (*drawn, *shown) if kind_among(self.series, name) is None]
        return f"shows {undeclared[0]!r}, which it does not declare in `series`" if undeclared else ""
