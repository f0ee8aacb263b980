"""What the cluster's tasks did or waited for, in shares of the clock: storage's share without a baseline, estimated.

A thread asks the kernel some 25 times a second how many of the cluster's threads are runnable (r) and how many are
blocked in the kernel (b: uninterruptible or in I/O wait). With C processors, x = min(r, C) threads run, w = r - x wait
for a processor, and y = min(b, C - x) are blocked while a processor is idle that could have run them. The time since
the sample before is divided among `computing`, `waiting` and `blocked` as x : w : y; when no thread is in any of these
states it is `idle`: the cluster starts up, waits for a heartbeat, or for its client. The four add up to the clock.

To check that against what is not sampled, the group's processor time and pressure stall information are kept as well
(the machine's, where the group has no pressure of its own). Where the states of a group's tasks can't be read, I/O
pressure stands in: `blocked` is the time in which all tasks that could have run waited for I/O. That is less, since
others may compute meanwhile.

Blocked tasks wait for storage as a rule, but some for a lock in the kernel or for memory to be reclaimed.

Sources: the kernel's accounting/cgroupstats.rst, accounting/psi.rst, uapi linux/{genetlink,taskstats,cgroupstats}.h.
"""

import errno
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from assay.host.control_groups import ControlGroup, busy_s, entered_groups
from assay.model.doubt import Doubt, doubt_kind
from assay.model.node import Node
from assay.model.probe import (
    CONTAINERS,
    CannotMeasureError,
    Chart,
    ChartPanel,
    ChartSeries,
    Interval,
    Moment,
    ProbeContext,
    ProbeKind,
    Quantity,
    Sampled,
    Scene,
    Values,
)
from assay.model.quantity import Kind
from assay.model.record import Basis
from assay.model.registry import PROBES
from assay.probe.cpu import PRESSURE, stalls_us

NAME = "blocked-time"


class TaskStates(NamedTuple):
    """A group's threads by state (struct cgroupstats); sleeping is interruptible, and waits for no storage."""

    sleeping: int
    runnable: int
    stopped: int
    uninterruptible: int
    io_wait: int

    @property
    def blocked(self) -> int:
        """Seconds in uninterruptible waits in the kernel; I/O waits that a signal may end are counted apart."""
        return self.uninterruptible + self.io_wait


_HEADER, _ATTRIBUTE, _GENERIC = struct.Struct("=IHHII"), struct.Struct("=HH"), struct.Struct("=BBxx")
_STATES, _NUMBER = struct.Struct("=5Q"), struct.Struct("=i")
_NETLINK_GENERIC, _REQUEST, _ERROR = 16, 1, 2  # NLM_F_REQUEST, NLMSG_ERROR
_CONTROLLER, _GET_FAMILY, _FAMILY_ID, _FAMILY_NAME = 16, 3, 1, 2  # GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_...
_GET_STATES, _GROUP, _OF_GROUP = 4, 1, 1  # CGROUPSTATS_CMD_GET, CGROUPSTATS_CMD_ATTR_FD, ..._TYPE_CGROUP_STATS
_PATIENCE_S = 2.0


class StatesOfGroup:
    """Asks the kernel for the states of a group's threads, over the generic netlink family TASKSTATS.

    All methods raise OSError: ENOENT in a kernel without taskstats, EINVAL for a group that is not of version 1.
    """

    def __init__(self, group: Path, ask: Callable[[bytes], bytes] | None = None) -> None:
        """`ask` sends a message to the kernel and gives its answer."""
        self._socket: socket.socket | None = None
        if ask is None:
            self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_GENERIC)
            self._socket.settimeout(_PATIENCE_S)
        self._ask = ask or self._exchange
        self._directory = -1
        try:
            self._directory = os.open(group, os.O_RDONLY)
            answer = self._answer(_CONTROLLER, _GET_FAMILY, _FAMILY_NAME, b"TASKSTATS\0")
            self._family = int.from_bytes(_attribute(answer, _FAMILY_ID, at_least=2)[:2], "little")
        except BaseException:
            self.close()
            raise

    def read(self) -> TaskStates:
        answer = self._answer(self._family, _GET_STATES, _GROUP, struct.pack("=I", self._directory))
        return TaskStates(*_STATES.unpack_from(_attribute(answer, _OF_GROUP, at_least=_STATES.size)))

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        if self._directory >= 0:
            os.close(self._directory)
            self._directory = -1

    def _exchange(self, message: bytes) -> bytes:
        assert self._socket is not None  # noqa: S101 - for the type checker
        self._socket.send(message)
        return self._socket.recv(8192)

    def _answer(self, family: int, command: int, attribute: int, value: bytes) -> dict[int, bytes]:
        """The attributes of the kernel's answer to a message with one attribute."""
        body = _ATTRIBUTE.pack(_ATTRIBUTE.size + len(value), attribute) + value
        body = _GENERIC.pack(command, 1) + body + bytes(-len(body) % 4)
        answer = self._ask(_HEADER.pack(_HEADER.size + len(body), family, _REQUEST, 1, 0) + body)
        if len(answer) < _HEADER.size + _NUMBER.size:
            raise _cut_short()
        if _HEADER.unpack_from(answer)[1] == _ERROR:
            number = -_NUMBER.unpack_from(answer, _HEADER.size)[0] or errno.EPROTO
            raise OSError(number, os.strerror(number))
        attributes, at = {}, _HEADER.size + _GENERIC.size
        while at + _ATTRIBUTE.size <= len(answer):
            size, kind = _ATTRIBUTE.unpack_from(answer, at)
            attributes[kind] = answer[at + _ATTRIBUTE.size : at + size]
            at += max(_ATTRIBUTE.size, size + -size % 4)
        return attributes


def _attribute(answer: Mapping[int, bytes], kind: int, at_least: int) -> bytes:
    """An attribute's value of at least so many bytes; raises OSError if the answer has none."""
    value = answer.get(kind, b"")
    if len(value) < at_least:
        raise _cut_short()
    return value


def _cut_short() -> OSError:
    return OSError(errno.EPROTO, "the kernel's answer lacks what it was asked for")


class Shares(NamedTuple):
    """Seconds of the clock, which the first four add up to, and `running_s` of all processors together."""

    computing_s: float = 0.0
    blocked_s: float = 0.0
    waiting_s: float = 0.0
    idle_s: float = 0.0
    running_s: float = 0.0

    def after(self, states: TaskStates, processors: float, elapsed_s: float) -> "Shares":
        """Add some time in which the group's threads were in these states."""
        running = min(states.runnable, processors)
        waiting, blocked = states.runnable - running, min(states.blocked, processors - running)
        threads = running + waiting + blocked
        if not threads:
            return self._replace(idle_s=self.idle_s + elapsed_s)
        each_s = elapsed_s / threads
        return self._replace(
            computing_s=self.computing_s + running * each_s,
            blocked_s=self.blocked_s + blocked * each_s,
            waiting_s=self.waiting_s + waiting * each_s,
            running_s=self.running_s + running * elapsed_s,
        )


EVERY_S = 0.04
"""A sample takes some 0.2 ms of a processor with a cluster's 400 threads: half a percent of a core."""
_STOP_S = 5.0


class StateSampler:
    """A thread that samples a group's states until it is stopped; `shares` is the time since its start.

    Whatever ends it earlier is its `failure`.
    """

    def __init__(self, states: StatesOfGroup, processors: float, every_s: float = EVERY_S) -> None:
        self.shares = Shares()
        self.failure: Exception | None = None
        self._states, self._processors, self._every_s = states, processors, every_s
        self._ended = False
        self._thread = threading.Thread(target=self._run, name=f"probe-{NAME}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Take no more samples."""
        self._ended = True
        if self._thread.is_alive():
            self._thread.join(_STOP_S)

    def _run(self) -> None:
        last_s = time.monotonic()
        try:
            while not self._ended:
                time.sleep(self._every_s)
                states, now_s = self._states.read(), time.monotonic()
                self.shares = self.shares.after(states, self._processors, now_s - last_s)
                last_s = now_s
        except Exception as error:  # a thread that dies in silence would leave figures that look whole
            self.failure = error


def processors_of(node: Node, pid: int, groups: Sequence[ControlGroup]) -> float:
    """How many processors a process' group may use at once: those that it may run on, within its groups' bounds."""
    most = float(os.cpu_count() or 1)
    with suppress(OSError):
        most = float(len(os.sched_getaffinity(pid)))
    for group in groups:
        names = ("cpu.cfs_quota_us", "cpu.cfs_period_us") if group.version == 1 else ("cpu.max",)
        with suppress(OSError, ValueError):
            quota, period = (word for name in names for word in node.read(group.directory / name).split())
            if quota not in {"max", "-1"}:
                most = min(most, int(quota) / int(period))
    return most


class BlockedTime(Sampled):
    """What the cluster's tasks did or waited for."""

    name = NAME

    def __init__(self, node: Node, open_states: Callable[[Path], StatesOfGroup] = StatesOfGroup) -> None:
        self._node = node
        self._open_states = open_states
        self._states: StatesOfGroup | None = None
        self._sampler: StateSampler | None = None
        self._counting: ControlGroup | None = None
        self._pressure: Path | None = None
        self._pressure_of = "machine"
        self._interval = Interval[Mapping[str, float]]()
        self._figures: dict[str, float] = {}
        self._doubts: list[Doubt] = []

    def attach(self, scene: Scene) -> None:
        pids = [process.pid for process in scene.processes if process.children == CONTAINERS]
        groups = entered_groups(self._node, pids[0]) if pids else []
        self._counting = next((group for group in groups if busy_s(self._node, group) is not None), None)
        reason = "the cluster has no control group of its own"
        for group in groups:
            try:
                self._states = self._open_readable(group.directory)
            except OSError as error:
                reason = f"{group.directory}: {error.strerror or error}"
            else:
                self._sampler = StateSampler(self._states, processors_of(self._node, pids[0], groups))
                self._sampler.start()
                break
        directories = [group.directory for group in groups if group.version == 2]
        for path, of in (
            *((directory / "io.pressure", "cluster") for directory in directories),
            (PRESSURE / "io", "machine"),
        ):
            with suppress(OSError):
                self._node.read(path)
                self._pressure, self._pressure_of = path, of
                break
        if self._sampler is None:
            if self._pressure is None:
                raise CannotMeasureError(
                    f"neither the states of the cluster's tasks can be read ({reason}) nor I/O pressure",
                    "how long tasks were blocked on storage is not known: only a zero-delay baseline tells its share",
                    "run as root on a kernel with CONFIG_TASKSTATS and CONFIG_CGROUPS, or with psi=1",
                )
            whose = {"cluster": "the cluster's", "machine": "the whole machine's"}[self._pressure_of]
            self._doubts.append(BLOCKED_BY_PRESSURE.doubt(f"blocked time is taken from {whose} I/O pressure: {reason}"))
        self._figures = self._read()

    def sample(self, now: Moment) -> Values:
        """Percent of the interval."""
        self._figures = figures = self._read()
        ended = self._interval.ended(now, figures)
        if ended is None:
            return {}
        interval_s, before = ended
        shares = [name for name in figures if name in _SHARES]
        gained_s = {name: figures[name] - before.get(name, 0.0) for name in shares}
        # States are not sampled at the interval's very ends: the time up to them is divided as the rest of it.
        whole_s = interval_s if self._sampler is None else sum(gained_s.values())
        if whole_s <= 0:
            return {}
        return {("", _percent(name)): round(100 * gained_s[name] / whole_s, 2) for name in shares}

    def totals(self) -> Mapping[Quantity, float]:
        """Seconds of the clock by what the tasks did; `running_s` and `processor_s` of processor time."""
        basis: Basis = "measured" if self._sampler is not None else "estimated"
        subjects = dict.fromkeys(("io_some_s", "io_full_s"), self._pressure_of)
        return {
            Quantity(subjects.get(name, "cluster"), name, basis=basis): value for name, value in self._figures.items()
        }

    def doubts(self) -> tuple[Doubt, ...]:
        if self._sampler is not None and self._sampler.failure is not None:
            loss = f"the states of the cluster's tasks could not be read any more: {self._sampler.failure}"
            return (*self._doubts, BLOCKED_TIME_INCOMPLETE.doubt(loss))
        return tuple(self._doubts)

    def close(self) -> None:
        if self._sampler is not None:
            self._sampler.stop()
        if self._states is not None:
            self._states.close()

    def _open_readable(self, group: Path) -> StatesOfGroup:
        """A group's states, read once. Raises OSError if they can't be read, and leaves nothing open then."""
        states = self._open_states(group)
        try:
            states.read()
        except BaseException:
            states.close()
            raise
        return states

    def _read(self) -> dict[str, float]:
        figures: dict[str, float] = {}
        if self._pressure is not None:
            with suppress(OSError):  # gone with the cluster
                stalls = stalls_us(self._node.read(self._pressure))
                figures = {f"io_{kind}_s": stall / 1e6 for kind, stall in stalls.items()}
        if self._counting is not None:
            ran_s = busy_s(self._node, self._counting)
            figures |= {} if ran_s is None else {"processor_s": ran_s}
        if self._sampler is not None:
            figures |= self._sampler.shares._asdict()
        elif "io_full_s" in figures:
            figures["blocked_s"] = figures["io_full_s"]
        return figures


_SHARES = ("computing_s", "blocked_s", "waiting_s", "idle_s")


def _percent(seconds: str) -> str:
    """The series of samples that tells how much of each interval went into a sum of seconds."""
    return f"{seconds.removesuffix('_s')}_percent"


BLOCKED_BY_PRESSURE = doubt_kind(
    "blocked-by-pressure", "cluster", instrument=NAME,
    when="the states of the cluster's tasks could not be read, so blocked time is taken from I/O pressure",
    why="this counts only the time in which no task could run, so storage's true share is likely to be greater",
    cure="run as root on a kernel with CONFIG_TASKSTATS, where a hierarchy of control groups can be mounted",
)  # fmt: skip
BLOCKED_TIME_INCOMPLETE = doubt_kind(
    "blocked-time-incomplete", "cluster", instrument=NAME,
    when="the states of the cluster's tasks could not be read until the end",
    why="blocked time is known only until then, so its total is too small",
    cure="don't touch the control groups named assay-... while a trial runs",
)  # fmt: skip

_SERIES = (
    ChartSeries("computing_percent", "computing", "slate"),
    ChartSeries("blocked_percent", "blocked on storage", "vermilion"),
    ChartSeries("waiting_percent", "waiting for a processor", "yellow"),
)
CLOCK = ChartPanel("what the cluster's tasks did, % of the clock", "%", "stack", _SERIES, greatest=100)
CHART = Chart("blocked time", (CLOCK,))


def _blocked_time(context: ProbeContext) -> BlockedTime | None:
    """Nodes on one machine share its processors: whether one was idle for a node's tasks can't be told."""
    return BlockedTime(context.node) if context.is_first and context.node.own_machine else None


SERIES = {
    **dict.fromkeys((*_SHARES, "io_some_s", "io_full_s"), Kind.CLOCK_TIME),
    **dict.fromkeys(("running_s", "processor_s"), Kind.PROCESSOR_TIME),
    **{_percent(name): Kind.LEVEL for name in _SHARES},
}
PROBES.add(NAME, ProbeKind(_blocked_time, (CHART,), series=SERIES), place=10)
