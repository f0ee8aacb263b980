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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from assay.host.http import amount_at
from assay.model.doubt import Doubt, doubt_kind
from assay.model.errors import NoAnswerError, NoLoginError
from assay.model.existing import ExistingDaemon, WorkerUse
from assay.model.host_names import HostNames
from assay.model.naming import first_few
from assay.model.probe import (
    Ask,
    CannotMeasureError,
    Evaluated,
    Evaluation,
    ForeignCluster,
    NodeColumn,
    ProbeKind,
    Scene,
)
from assay.model.quantity import Kind
from assay.model.record import Amount, Part
from assay.model.registry import PROBES, SERVICES
from assay.model.trial import Landed
from assay.probe.counters import PartTimes, Readings, with_derived

NAME = "daemons"
EVERY_S = 5.0
KEPT_S = 10.5
"""Counters that are read so long after a moment are newer than it."""
AWAITED: tuple[Part | None, ...] = ("staging", "run")
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

    daemon: _Daemon
    time_ms: int
    counted: Mapping[str, float]
    workers: Sequence[WorkerUse] = ()


class DaemonMetrics(Evaluated):
    """An instrument: a thread asks all daemons every few seconds."""

    name = NAME

    def __init__(self, every_s: float = EVERY_S, kept_s: float = KEPT_S) -> None:
        self._every_s, self._kept_s = every_s, kept_s
        self._counted_s = 0.0
        self._daemons: list[_Daemon] = []
        self._names = HostNames()
        self._readings = Readings(NAME, TIMES)
        self._times = PartTimes()
        self._machines: dict[str, tuple[int, float]] = {}
        self._busy_s: dict[str, float] = {}
        self._away_states: dict[str, set[str]] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._cluster: ForeignCluster | None = None
        self._requests = 0
        self._request_counts: list[Amount] = []

    def attach(self, scene: Scene) -> None:
        """Ask for the first time. Raises CannotMeasureError where no daemon is known."""
        self._cluster = scene.foreign
        hosts = scene.foreign.hosts if scene.foreign else ()
        kinds = {daemon.role: daemon for daemon in (scene.foreign.daemons if scene.foreign else ()) if daemon.beans}
        self._daemons = [
            _Daemon(host.name, kinds[role], url, role if len(urls) == 1 else f"{role} {urlsplit(url).port}")
            for host in hosts
            for role, urls in host.web.items()
            if role in kinds
            for url in urls
        ]
        self._names = scene.foreign.names() if scene.foreign else HostNames()
        for daemon in self._daemons:
            self._names.add(urlsplit(daemon.url).hostname or "", daemon.node)
        if not self._daemons:
            why = "; ".join(scene.foreign.overlooked) if scene.foreign else "this is a cluster of Assay's own"
            raise CannotMeasureError(
                f"no daemon of the cluster is known: {why}", "nothing is known of its machines",
                "open the web interfaces of the cluster's masters to this machine",
            )  # fmt: skip
        self._thread = threading.Thread(target=self._keep_asking, name="probe-daemons", daemon=True)
        self._thread.start()

    def mark(self, part: Part | None) -> Sequence[Landed]:
        """Ask all daemons; one that is silent or slow costs its figures, and a few seconds.

        The trial waits for that, so nothing of it is counted between the end of the part and the answers.
        """
        alone = self._lock.acquire(timeout=PATIENCE_S)
        time_ms = int(time.time() * 1000)
        self._times.mark(part, time_ms)
        if part in AWAITED:
            time.sleep(self._kept_s)
        if alone:
            try:
                self._round(time_ms)
            finally:
                self._lock.release()
        if part is not None:
            self._request_counts.append(
                Amount(probe=NAME, subject="own", series="requests_count", part=part, value=self._requests)
            )
        self._requests = 0
        return ()

    def evaluate(self) -> Evaluation:
        self._end()
        with self._lock:
            amounts = [
                amount if amount.part in AWAITED else amount.model_copy(update={"basis": "estimated"})
                for amount in self._readings.amounts(self._times.parts)
            ]
            return Evaluation(samples=list(self._readings.samples()), amounts=[*amounts, *self._request_counts])

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
        doubts += self._readings.doubts(self._times.parts, DAEMON_RESTARTED, DAEMON_SILENT)
        for why in self._cluster.overlooked if self._cluster else ():
            doubts.append(MACHINES_OVERLOOKED.doubt(f"not all machines are known: {why}"))
        return tuple(doubts)

    def close(self) -> None:
        self._end()

    def _end(self) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join(PATIENCE_S)

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
        assert self._cluster is not None  # noqa: S101 - attached before it is asked
        ask = self._cluster.ask
        due_daemons = [
            daemon for daemon in self._daemons
            if whole or (daemon.silent_in_turn < GIVEN_UP_AFTER and (due or daemon.kind.uses))
        ]  # fmt: skip
        with ThreadPoolExecutor(min(AT_ONCE, max(1, len(due_daemons))), thread_name_prefix="probe-daemons") as threads:
            for daemon, answer in zip(
                due_daemons, threads.map(lambda daemon: _read(ask, daemon, whole=whole), due_daemons), strict=True
            ):
                self._requests += 1 + whole + (daemon.kind.uses is not None)
                if isinstance(answer, NoAnswerError):
                    daemon.heard(answer)
                    continue
                daemon.heard()
                time_ms = answer.time_ms if marked_ms is None else marked_ms
                for series, value in answer.counted.items():
                    self._readings.count(daemon.node, daemon.subject, series, time_ms, value)
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
        if memory_bytes is not None:
            self._readings.level(node, "machine", "memory_bytes", time_ms, memory_bytes)
        if containers := [use.containers for use in uses if use.containers is not None]:
            self._readings.level(node, "machine", "containers_count", time_ms, sum(containers))
        if cores is not None:
            self._readings.level(node, "machine", "busy_cores", time_ms, cores)
            before_ms, before = self._machines.get(node, (time_ms, cores))
            busy_s = self._busy_s.get(node, 0.0) + (before + cores) / 2 * (time_ms - before_ms) / 1000
            self._busy_s[node], self._machines[node] = busy_s, (time_ms, cores)
            self._readings.count(node, "machine", "busy_s", time_ms, busy_s, derived=True)


def _read(ask: Ask, daemon: _Daemon, *, whole: bool) -> _Read | NoAnswerError:
    """What a daemon tells now, or why it does not."""
    beans, uses = daemon.kind.beans, daemon.kind.uses
    assert beans is not None  # noqa: S101 - no other daemon is read
    try:
        answer = ask(f"{daemon.url}/jmx", {"qry": beans.query})["beans"]
        time_ms = int(time.time() * 1000)
        counted = dict(_sums(answer, beans.series))
        if whole:
            (system,) = ask(f"{daemon.url}/jmx", {"qry": _SYSTEM})["beans"][:1] or ({},)
            if (taken_ns := amount_at(system, "ProcessCpuTime")) is not None:
                counted["cpu_s"] = taken_ns / 1e9
        workers = uses.read(ask(daemon.url + uses.page, {})) if uses is not None else ()
        return _Read(daemon, time_ms, counted, workers)
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
    when="a daemon of an existing cluster did not answer, too slowly, or with NaN",
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
DAEMON_RESTARTED = doubt_kind(
    "daemon-restarted", "cluster", instrument=NAME,
    when="a counter of an existing cluster's daemon fell to near nothing, or lost a part of its value",
    why="most likely the daemon has started anew: what it did between its last answer and its end is not counted",
    cure="run the trial again while no daemon is restarted",
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


def _kind() -> ProbeKind:
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
    levels = ("memory_bytes", "containers_count", "busy_cores")
    return ProbeKind(
        lambda _: DaemonMetrics(),
        foreign=True,
        adds="the daemons' own counters (REST and /jmx): processor and memory of each machine, and the bytes that each "
        "daemon served",
        columns=(NodeColumn("processor", "s", ("busy_s",), "machine"), *counted),
        series={**with_derived({**beans, **TIMES}, levels), "requests_count": Kind.COUNT},
    )


PROBES.add_late(NAME, _kind, place=20)
