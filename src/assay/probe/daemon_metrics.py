"""What the daemons of an existing cluster count themselves, by their REST interfaces and `/jmx`, open to every user.

The store and the engine say which counters these are, and which master tells the use of each machine's processors and
memory (`assay.model.existing`). Processor time of the daemons is their JVM's (`ProcessCpuTime`).

Counters that `/jmx` shows are up to ten seconds old: Hadoop's metrics system keeps what it gave to one reader for the
next ones (MetricsSourceAdapter; the time is the `period` of hadoop-metrics2.properties, 10 s by default). So they are
read a little less often than that, and at the end of staging and of the jobs the trial waits until they are new. The
machines' use is read every few seconds. The ways there have bounds (`assay.host.http.Bounds`); where rounds would take
more than half of these, they come less often.
"""

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from assay.host.http import amount_at
from assay.model.doubt import Doubt, doubt_kind
from assay.model.errors import NoAnswerError, NoLoginError
from assay.model.existing import ExistingDaemon, WorkerUse
from assay.model.naming import first_few
from assay.model.probe import (
    Ask,
    CannotMeasureError,
    ForeignCluster,
    NodeColumn,
    NodeSourceKind,
    Quantity,
    Reading,
    SeriesTable,
    now,
)
from assay.model.quantity import Kind
from assay.model.record import Part
from assay.model.registry import NODE_SOURCES, SERVICES

NAME = "daemons"
EVERY_S = 5.0
KEPT_S = 10.5
"""Counters that are read so long after a moment are newer than it."""
AWAITED: tuple[Part, ...] = ("staging", "run")
"""The parts at whose ends new counters are waited for; those of other parts are estimates."""
AT_ONCE = 8
REQUESTS_PER_S = 25.0
"""Half of what the bounds allow."""
PATIENCE_S = 60.0
"""How long the end of a part waits for a round that is on its way."""
GIVEN_UP_AFTER = 3
"""A daemon that has been silent so often is asked at the ends of parts only."""
MOST_NAMED = 3

_SYSTEM = "java.lang:type=OperatingSystem"


TIMES = {"cpu_s": Kind.PROCESSOR_TIME, "busy_s": Kind.PROCESSOR_TIME}
"""The counters of time: of a daemon, and of a machine."""


class _Daemon:
    """A daemon that is asked, and how often it was silent."""

    def __init__(self, node: str, kind: ExistingDaemon, url: str, subject: str) -> None:
        self.node, self.kind, self.url, self.subject = node, kind, url, subject
        self.asked = self.silent = self.silent_in_turn = self.refused = 0
        self.reason = ""

    def heard(self, error: NoAnswerError | None = None) -> None:
        """Note that the daemon answered, or why it did not."""
        self.asked += 1
        self.refused += isinstance(error, NoLoginError)
        self.silent += error is not None
        self.silent_in_turn = 0 if error is None else self.silent_in_turn + 1
        self.reason = self.reason if error is None else error.reason


class _Read(NamedTuple):
    """What a daemon's counters were, and the use of all workers where it knows that."""

    time_ms: int
    counted: Mapping[Quantity, float]
    workers: Sequence[WorkerUse] = ()


class DaemonMetrics:
    """A `NodeSource`: a thread asks all daemons every few seconds."""

    def __init__(self, cluster: ForeignCluster, every_s: float = EVERY_S, kept_s: float = KEPT_S) -> None:
        self._cluster = cluster
        self._every_s, self._kept_s = every_s, kept_s
        self._counted_s = 0.0
        self._daemons: list[_Daemon] = []
        self._names = cluster.names()
        self._receive: Callable[[Reading], None] = lambda _: None
        self._machines: dict[str, tuple[int, float]] = {}
        self._busy_s: dict[str, float] = {}
        self._away_states: dict[str, set[str]] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, receive: Callable[[Reading], None]) -> None:
        """Raises CannotMeasureError where no daemon is known."""
        self._receive = receive
        kinds = {daemon.role: daemon for daemon in self._cluster.daemons if daemon.beans}
        self._daemons = [
            _Daemon(host.name, kinds[role], url, role if len(urls) == 1 else f"{role} {urlsplit(url).port}")
            for host in self._cluster.hosts
            for role, urls in host.web.items()
            if role in kinds
            for url in urls
        ]
        for daemon in self._daemons:
            self._names.add(urlsplit(daemon.url).hostname or "", daemon.node)
        if not self._daemons:
            raise CannotMeasureError(
                f"no daemon of the cluster is known: {'; '.join(self._cluster.overlooked)}",
                "nothing is known of its machines",
                "open the web interfaces of the cluster's masters to this machine",
            )
        self._thread = threading.Thread(target=self._keep_asking, name="probe-daemons", daemon=True)
        self._thread.start()

    def mark(self, part: Part | None) -> int:
        """Ask all daemons; one that is silent or slow costs its figures, and a few seconds.

        The trial waits for that, so nothing of it is counted between the end of the part and the answers.
        """
        alone = self._lock.acquire(timeout=PATIENCE_S)
        time_ms = now().time_ms
        if part in AWAITED:
            time.sleep(self._kept_s)
        if alone:
            try:
                self._round(time_ms)
            finally:
                self._lock.release()
        return time_ms

    def end(self) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join(PATIENCE_S)
        self._receive = lambda _: None

    def doubts(self) -> tuple[Doubt, ...]:
        """Doubt each silent daemon; of many daemons, doubt the first few apart and the rest together."""
        doubts: list[Doubt] = []
        silent = [daemon for daemon in self._daemons if daemon.silent > daemon.refused]
        if refused := [daemon for daemon in self._daemons if daemon.refused]:
            where = first_few(sorted({daemon.node for daemon in refused}))
            times = sum(daemon.refused for daemon in refused)
            refusal = f"{len(refused)} daemons on {where} were not read {times} times together: {refused[-1].reason}"
            doubts.append(LOGIN_LOST.doubt(refusal))
        doubts += [
            DAEMON_SILENT.doubt(
                f"the {daemon.kind.name} of {daemon.node} gave no answer {daemon.silent} of {daemon.asked} times "
                f"({daemon.url}: {daemon.reason})",
                daemon.node,
            )
            for daemon in silent[:MOST_NAMED]
        ]
        if others := silent[MOST_NAMED:]:
            nodes = sorted({daemon.node for daemon in others})
            doubts.append(DAEMON_SILENT.doubt(f"{len(others)} more daemons gave no answer, on {first_few(nodes)}"))
        if away := sorted(node for node, states in self._away_states.items() if states):
            states = ", ".join(sorted(set().union(*(self._away_states[node] for node in away))))
            master = " and ".join(dict.fromkeys(daemon.kind.name for daemon in self._daemons if daemon.kind.uses))
            doubts.append(MACHINES_CHANGED.doubt(f"the {master} had {first_few(away)} as {states} for a time"))
        known = {daemon.node for daemon in self._daemons if daemon.kind.runs_tasks}
        if joined := sorted(set(self._away_states) - known) if known else []:
            doubts.append(MACHINES_CHANGED.doubt(f"{first_few(joined)} joined the cluster while the trial ran"))
        for why in self._cluster.overlooked:
            doubts.append(MACHINES_OVERLOOKED.doubt(f"not all machines are known: {why}"))
        return tuple(doubts)

    def close(self) -> None:
        self.end()

    def _keep_asking(self) -> None:
        every_s = max(self._every_s, len(self._daemons) / REQUESTS_PER_S)
        while not self._ended.wait(every_s):
            with self._lock:
                self._round()

    def _round(self, marked_ms: int | None = None) -> None:
        """Ask all daemons, their counters only if new ones are due; at a mark their JVMs too, and those given up."""
        whole = marked_ms is not None
        due = whole or time.monotonic() - self._counted_s >= self._kept_s
        if due:
            self._counted_s = time.monotonic()
        ask = self._cluster.ask
        due_daemons = [
            daemon for daemon in self._daemons
            if whole or (daemon.silent_in_turn < GIVEN_UP_AFTER and (due or daemon.kind.uses))
        ]  # fmt: skip
        with ThreadPoolExecutor(min(AT_ONCE, max(1, len(due_daemons))), thread_name_prefix="probe-daemons") as threads:
            for daemon, answer in zip(
                due_daemons, threads.map(lambda daemon: _read(ask, daemon, whole=whole), due_daemons), strict=True
            ):
                if isinstance(answer, NoAnswerError):
                    daemon.heard(answer)
                    continue
                daemon.heard()
                time_ms = answer.time_ms if marked_ms is None else marked_ms
                self._receive(Reading(daemon.node, time_ms / 1000, answer.counted))
                workers: dict[str, list[WorkerUse]] = {}
                for worker in answer.workers:
                    workers.setdefault(self._names.find([worker.host]) or worker.host, []).append(worker)
                for node, of_node in workers.items():
                    self._take_machine(time_ms, node, of_node)

    def _take_machine(self, time_ms: int, node: str, uses: Sequence[WorkerUse]) -> None:
        """A machine's use as a master tells it, once for each daemon there; what is not known is left out.

        Each tells the use of the whole machine, and its own containers.
        """
        self._away_states.setdefault(node, set()).update(use.state for use in uses if not use.runs)
        uses = [use for use in uses if use.runs]
        if not uses:
            self._machines.pop(node, None)
            return
        cores = max((use.busy_cores for use in uses if use.busy_cores is not None), default=None)
        memory_bytes = max((use.memory_bytes for use in uses if use.memory_bytes is not None), default=None)
        values: dict[Quantity, float] = {}
        if memory_bytes is not None:
            values[_level("memory_bytes")] = memory_bytes
        if containers := [use.containers for use in uses if use.containers is not None]:
            values[_level("containers_count")] = sum(containers)
        if cores is not None:
            values[_level("busy_cores")] = cores
            before_ms, before = self._machines.get(node, (time_ms, cores))
            busy_s = self._busy_s.get(node, 0.0) + (before + cores) / 2 * (time_ms - before_ms) / 1000
            self._busy_s[node], self._machines[node] = busy_s, (time_ms, cores)
            values[Quantity("machine", "busy_s", basis="estimated")] = busy_s
        self._receive(Reading(node, time_ms / 1000, values))


def _level(series: str) -> Quantity:
    return Quantity("machine", series, level=True)


def _read(ask: Ask, daemon: _Daemon, *, whole: bool) -> _Read | NoAnswerError:
    """What a daemon tells now, or why it does not."""
    beans, uses = daemon.kind.beans, daemon.kind.uses
    assert beans is not None  # noqa: S101 - no other daemon is read
    try:
        answer = ask(f"{daemon.url}/jmx", {"qry": beans.query})["beans"]
        time_ms = int(time.time() * 1000)
        counted = {Quantity(daemon.subject, series): value for series, value in _sums(answer, beans.series)}
        if whole:
            (system,) = ask(f"{daemon.url}/jmx", {"qry": _SYSTEM})["beans"][:1] or ({},)
            if (taken_ns := amount_at(system, "ProcessCpuTime")) is not None:
                counted[Quantity(daemon.subject, "cpu_s")] = taken_ns / 1e9
        workers = uses.read(ask(daemon.url + uses.page, {})) if uses is not None else ()
        return _Read(time_ms, counted, workers)
    except NoAnswerError as error:
        return error
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        return NoAnswerError(daemon.url, f"its answer is incomplete or malformed: {error}")


def _sums(beans: Iterable[Mapping[str, Any]], names: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    beans = list(beans)
    for name, series in names.items():
        values = [value for bean in beans if (value := bean.get(name)) is not None]
        if values:  # NaN stands in them as a text, and with one the sum is none either
            whole = all(isinstance(value, int | float) for value in values)
            yield series, float(sum(values)) if whole else math.nan


DAEMON_SILENT = doubt_kind(
    "daemon-silent", "cluster", instrument=NAME,
    when="a daemon of an existing cluster did not answer, or too slowly",
    why="its counters of that time lie on a straight line between the answers around it; at the end of a part they are "
    "missing",
    cure="look whether it is up and this machine reaches its web address",
)  # fmt: skip
LOGIN_LOST = doubt_kind(
    "login-lost", "cluster", instrument=NAME,
    when="daemons of an existing cluster refused to answer because the login there had ended, or was not good for them",
    why="their counters of that time lie on a straight line between the answers around it; at the end of a part they "
    "are missing",
    cure="renew the ticket in time (`kinit -R`), or name a keytab in `kerberos`",
)  # fmt: skip
MACHINES_CHANGED = doubt_kind(
    "machines-changed", "cluster", instrument=NAME,
    when="a machine of an existing cluster joined or went away while a trial ran",
    why="its figures are of a part of the trial, and the jobs had fewer or more machines for a time",
    cure="run the trial again while the cluster stays as it is",
)  # fmt: skip
MACHINES_OVERLOOKED = doubt_kind(
    "machines-overlooked", "cluster", instrument=NAME,
    when="a master of an existing cluster did not list its machines",
    why="the figures are those of the machines that another master knows",
    cure="open the web interfaces of all masters to this machine",
)  # fmt: skip


def _kind() -> NodeSourceKind:
    """Make the kind, with a column for each series that the daemons of a service give a title."""
    counted = [
        NodeColumn(title, "bytes", (series,), daemon.role)
        for service in SERVICES.values()
        for daemon in service.existing
        if daemon.beans is not None
        for series, title in daemon.beans.titles.items()
    ]
    beans = {
        series: daemon.beans.kind
        for service in SERVICES.values()
        for daemon in service.existing
        if daemon.beans is not None
        for series in daemon.beans.series.values()
    }
    return NodeSourceKind(
        lambda _, context: DaemonMetrics(context.cluster),
        adds="the daemons' own counters (REST and /jmx): processor and memory of each machine, and the bytes that each "
        "daemon served",
        columns=(NodeColumn("processor", "s", ("busy_s",), "machine"), *counted),
        series=SeriesTable({**beans, **TIMES}, ("memory_bytes", "containers_count", "busy_cores")),
        sure_parts=AWAITED,
    )


NODE_SOURCES.add_late(NAME, _kind)
