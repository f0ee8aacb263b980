"""What a Prometheus knows of an existing cluster's machines, from the node_exporter on each.

It is asked when the trial is over, for the time of the trial, with a few `query_range` requests for all machines
together (Prometheus: HTTP API). A value of such a range is that of the last scrape before each step, so the times of
the scrapes are asked for too (`timestamp()`): between two of them a counter lies on a straight line. Several jobs that
scrape the same machine are counted once (`max by`). Prometheus' clock may differ from this machine's: the difference is
measured when it is asked, and taken off.

Devices that stand for others (partitions, device mapper, software RAID, bridges, bonds, VLANs, virtual pairs) are left
out: their bytes are those of the devices below them. Which these are, a machine's other devices tell
(`node.devices`), the exporter's members of bonds, and indexes of the interfaces below others.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, NamedTuple
from urllib.parse import urlsplit

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from assay.model.doubt import Doubt, doubt_kind
from assay.model.errors import BadInputError, NoAnswerError
from assay.model.naming import first_few
from assay.model.probe import Ask, CannotMeasureError, ForeignCluster, NodeColumn, NodeSourceKind, Reading
from assay.model.record import Part
from assay.model.registry import NODE_SOURCES
from assay.node.devices import INFINIBAND, Choice, devices_by_name, drives_by_name, interfaces_by_name
from assay.probe.prometheus_server import BOOT_TIME, GROUPS, SERIES, PrometheusServer, QuerySteps, TargetGroup

NAME = "prometheus"
MOST_POINTS = 20_000
"""About so many steps of all machines together are asked for at once."""
MOST_STEPS = 11_000
"""A Prometheus refuses more points of a series."""
WAIT_S, POLL_S = 30.0, 1.0
"""How long the scrapes after the jobs' end are waited for."""
CLOCK_QUESTIONS = 3

_ABOVE_OTHERS = '{__name__=~"node_bonding_slaves|node_network_iface_link|node_network_iface_id",$instances}'
_OWN = BOOT_TIME + "{$instances}"


def _address(value: str) -> str:
    """Shown in messages and kept in records: it must hold no password."""
    try:
        parts = urlsplit(value)
        known = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        known = False
    if not known:
        raise PydanticCustomError("address", "Must be an http or https address, such as http://prometheus:9090")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise PydanticCustomError(
            "address", "Must be an address without user, password or query: records would show them"
        )
    return value.rstrip("/")


class Prometheus:
    """A `NodeSource` that remembers when the trial's parts were, and asks at the end."""

    def __init__(
        self, url: str, cluster: ForeignCluster, wait_s: float = WAIT_S, clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:  # fmt: skip
        """`clock` tells seconds since the epoch, and `sleep` waits by it."""
        self._wait_s = wait_s
        self._clock, self._sleep = clock, sleep
        self._server, self._cluster = PrometheusServer(url, cluster.ask), cluster
        self._receive: Callable[[Reading], None] = lambda _: None
        self._offset_s = 0.0
        self._marks: list[tuple[Part | None, int]] = []
        self._doubts: list[Doubt] = []

    def begin(self, receive: Callable[[Reading], None]) -> None:
        """Find the cluster's machines among its instances. Raises CannotMeasureError where none of them is there."""
        self._receive, hosts = receive, self._cluster.hosts
        try:
            self._server.find(self._cluster.names())
        except NoAnswerError as error:
            raise _cannot(
                f"the Prometheus that `prometheus` names can't be asked: {error}",
                "look whether it is up and reachable from here, or name another address in `prometheus` of `cluster`",
            ) from None
        known = sorted(set(self._server.nodes.values()))
        if not known:
            names = first_few([host.name for host in hosts])
            raise _cannot(
                f"{self._server.url} has no instance with {BOOT_TIME} that is called as one of the cluster's machines "
                f"({names})",
                "let it scrape the node_exporters by the machines' host names or addresses",
            )
        missing = [host.name for host in hosts if host.name not in known]
        if missing:
            problem = f"{self._server.url} knows {len(known)} of {len(hosts)} machines, and not {first_few(missing)}"
            self._doubts.append(SERIES_MISSING.doubt(problem))

    def mark(self, part: Part | None) -> int:
        time_ms = int(self._clock() * 1000)
        self._marks.append((part, time_ms))
        return time_ms

    def end(self) -> None:
        """Read all series for the trial's time; what can't be had is a doubt."""
        times_ms = [time_ms for part, time_ms in self._marks if part != "collect"]
        if len(self._marks) < 2:
            return
        lost: dict[str, list[str]] = {}
        with _noting(lost, ""):
            self._offset_s = self._clock_offset_s()
            self._wait_for(times_ms[-1] / 1000)
            scrapes = self._scrapes(times_ms[0] / 1000, self._clock())
            for group in GROUPS:
                with _noting(lost, group.lost):
                    self._take(group, scrapes)
        for why, questions in lost.items():
            if questions == [""]:
                doubt = PROMETHEUS_SILENT.doubt(f"{self._server.url} did not answer at the trial's end: {why}")
            else:
                doubt = ANSWERS_LOST.doubt(
                    f"{self._server.url} gave no whole answer about {'; '.join(questions)}: {why}"
                )
            self._doubts.append(doubt)

    def doubts(self) -> tuple[Doubt, ...]:
        return tuple(self._doubts)

    def close(self) -> None:
        """It holds nothing."""
        return

    def _clock_offset_s(self) -> float:
        """By how much Prometheus' clock is ahead: the quickest of some answers tells best."""
        offsets = []
        for _ in range(CLOCK_QUESTIONS):
            began_s = self._clock()
            server_s = float(self._server.query("time()")[1])
            ended_s = self._clock()
            offsets.append((ended_s - began_s, server_s - (began_s + ended_s) / 2))
        return min(offsets)[1]

    def _wait_for(self, end_s: float) -> None:
        """Until every machine has been scraped after that time, or for a bounded time."""
        deadline_s = self._clock() + self._wait_s
        while self._clock() < deadline_s:
            scraped_s = self._server.by_node(f"timestamp({_OWN})").values()
            if min(scraped_s, default=0.0) - self._offset_s >= end_s:
                return
            self._sleep(POLL_S)

    def _scrapes(self, begin_s: float, end_s: float) -> "_Scrapes":
        each = min(MOST_STEPS, MOST_POINTS / max(1, len(self._server.query(_OWN))))
        step_s = max(1, math.ceil((end_s - begin_s) / each))
        begin_s = end_s - step_s * math.ceil((end_s - begin_s) / step_s)  # so that the last step is the end
        steps = QuerySteps(begin_s + self._offset_s, end_s + self._offset_s, step_s)
        times_s, boots_s = (self._server.at_steps(query, steps) for query in (f"timestamp({_OWN})", _OWN))
        return _Scrapes(steps, times_s, boots_s)

    def _take(self, group: TargetGroup, scrapes: "_Scrapes") -> None:
        seen: set[str] = set()
        devices = self._devices(group) if group.devices else None
        for series in group.series:
            for instance, quantity, values in self._server.exported(series, scrapes.steps, devices):
                node = self._server.nodes[instance]
                seen.add(node)
                times_s, boots_s = scrapes.times_s.get(instance, {}), scrapes.boots_s.get(instance, {})
                for at_s, value in values:
                    if at_s in times_s:
                        here_s = times_s[at_s] - self._offset_s
                        self._receive(Reading(node, here_s, {quantity: value}, boots_s.get(at_s, 0.0)))
        if missing := sorted(set(self._server.nodes.values()) - seen):
            of = "any machine" if not seen else first_few(missing)
            problem = f"{self._server.url} has no {group.needs} of {of}: not known is {group.lost}"
            self._doubts.append(SERIES_MISSING.doubt(problem))

    def _devices(self, group: TargetGroup) -> Mapping[str, frozenset[str]]:
        """What of each instance counts for itself among the devices that were ever in use."""
        used = self._server.devices_in_use(group.series)
        if group.devices == "drives":
            choices = {instance: drives_by_name(names) for instance, names in used.items()}
        else:
            above = self._above_others()
            choices = {instance: interfaces_by_name(names, above.get(instance, ())) for instance, names in used.items()}
        if not choices:  # no machine has any series of the group, as is said of the group
            return {}
        everywhere = Choice(*(frozenset().union(*names) for names in zip(*choices.values(), strict=True)))
        self._doubts += devices_by_name(group.devices, everywhere, NAME)
        return {instance: choice.counted for instance, choice in choices.items()}

    def _above_others(self) -> Mapping[str, set[str]]:
        """By instance, bonds that have members, and interfaces that say which of the machine's others is below."""
        above: dict[str, set[str]] = {}
        own_index: dict[str, dict[str, float]] = {}
        below: dict[str, dict[str, float]] = {}
        for result in self._server.query(_ABOVE_OTHERS):
            labels, value = result["metric"], float(result["value"][1])
            instance, metric = labels.get("instance", ""), labels.get("__name__")
            if metric == "node_bonding_slaves" and value > 0:
                above.setdefault(instance, set()).add(labels.get("master", ""))
            elif metric in {"node_network_iface_id", "node_network_iface_link"}:
                indexes = own_index if metric == "node_network_iface_id" else below
                indexes.setdefault(instance, {})[labels.get("device", "")] = value
        for instance, links in below.items():
            indexes_here = own_index.get(instance, {})
            others = {name: set(indexes_here.values()) - {indexes_here.get(name)} for name in links}
            above.setdefault(instance, set()).update(
                name for name, link in links.items()
                if name in indexes_here and link in others[name] and not name.startswith(INFINIBAND)
            )  # fmt: skip
        return above


@contextmanager
def _noting(lost: dict[str, list[str]], question: str) -> Iterator[None]:
    """What can't be had in this scope is lost: by the reason."""
    try:
        yield
    except NoAnswerError as error:
        lost.setdefault(error.reason, []).append(question)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        lost.setdefault(f"an answer is incomplete or malformed: {error}", []).append(question)


class _Scrapes(NamedTuple):
    """The steps that are asked for, and when each instance had been scraped last at each."""

    steps: QuerySteps
    times_s: Mapping[str, Mapping[float, float]]
    boots_s: Mapping[str, Mapping[float, float]]
    """When the machine had been started, as it said then."""


def _cannot(problem: str, cure: str) -> CannotMeasureError:
    why = "bytes of drives and networks, memory and pressure of the machines are missing"
    return CannotMeasureError(problem, why, cure)


SERIES_MISSING = doubt_kind(
    "prometheus-series-missing", "cluster", instrument=NAME,
    when="a Prometheus lacks a machine of an existing cluster, or some of its series",
    why="the figures of these machines are missing or not whole; those of the others hold",
    cure="let it scrape a node_exporter with its default collectors on every machine",
)  # fmt: skip
PROMETHEUS_SILENT = doubt_kind(
    "prometheus-silent", "cluster", instrument=NAME,
    when="a Prometheus did not answer at the end of a trial",
    why="bytes of drives and networks, memory and pressure of the machines are missing",
    cure="look whether it is up, and run the trial again",
)  # fmt: skip
ANSWERS_LOST = doubt_kind(
    "prometheus-answer-lost", "cluster", instrument=NAME,
    when="a Prometheus answered at the end of a trial, but not all questions: an answer was too large or too slow, or "
    "it refused",
    why="the figures that the doubt names are missing, or some of them; the others hold",
    cure="where an answer was too large or too slow, name a Prometheus with fewer machines, or read the nodes by "
    "`ssh`; else run the trial again",
)  # fmt: skip


def _columns() -> Iterator[NodeColumn]:
    busy = tuple(f"{mode}_s" for mode in ("user", "nice", "system", "irq", "softirq"))
    yield NodeColumn("processor", "s", busy, "processor")
    yield NodeColumn("waited for drives", "s", ("io_some_s",), "pressure")
    for title, series in (
        ("drives read", "read_bytes"), ("drives wrote", "written_bytes"),
        ("received", "received_bytes"), ("sent", "sent_bytes"),
    ):  # fmt: skip
        yield NodeColumn(title, "bytes", (series,))


def _check(url: str, _environment: Mapping[str, str], ask: Ask) -> None:
    """Raises BadInputError where no Prometheus answers."""
    try:
        answer = ask(f"{url}/api/v1/query", {"query": "1"})
        good = isinstance(answer, dict) and answer.get("status") == "success"
        why = "" if good else "no Prometheus answers there"
    except NoAnswerError as error:
        why = error.reason
    if why:
        raise BadInputError(
            f"cluster: prometheus {url} can't be asked: {why}; look whether it is up, name the address at "
            "which this machine reaches it, or leave prometheus out",
            "prometheus",
        )


NODE_SOURCES.add(
    NAME,
    NodeSourceKind(
        lambda url, context: Prometheus(url, context.cluster),
        options=Annotated[str, AfterValidator(_address)],
        about="The address of a Prometheus that scrapes a node_exporter on the cluster's machines, such as "
        "`http://prom:9090` ([measure a cluster](../how-to/measure-a-cluster.md)). Existing only.",
        check=_check,
        adds="node_exporter's counters from Prometheus: bytes of each drive and network interface, processor time by "
        "state, memory and page cache, and how long tasks waited",
        columns=tuple(_columns()),
        series=SERIES,
    ),
)
