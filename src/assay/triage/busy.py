"""How long the nodes' drives were busy while jobs ran, and how many processors a node has: by a site's Prometheus.

A few `query_range` requests (Prometheus: HTTP API) fetch the counters of node_exporter for the time in which any job
ran. The times of single scrapes are not asked for, so a stage gets a step more at both ends.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil
from typing import Any, NamedTuple

from assay.engine.past.job import PastJob, StageSums
from assay.model.errors import BadInputError, NoAnswerError
from assay.model.host_names import HostNames, host_of, is_loopback
from assay.model.probe import Ask
from assay.node.devices import drives_by_name
from assay.probe.counters import PartTime, Readings
from assay.probe.prometheus import COUNTERS
from assay.triage.bounds import busy_at_once, tasks_at_once

_BUSY, _READ = "node_disk_io_time_seconds_total", "node_disk_read_bytes_total"
_STEP_S = 15
"""The shortest step: most sites scrape as often or less."""
_MOST_POINTS, _MOST_STEPS, _POINTS_AT_ONCE = 2_000_000, 10_000, 150_000
"""Of all answers, of one answer's series, and of one answer."""
_APART_S = 600
"""Jobs further apart are asked for one by one."""


class Busy(NamedTuple):
    """What drives did during a job: by stage, how long those of the busiest node worked; and bytes that they read.

    `seconds` lacks stages of which the Prometheus does not know enough.
    """

    seconds: Mapping[str, float]
    read_bytes: float


class DriveTimes:
    """The counters of all drives of the nodes on which some jobs ran."""

    def __init__(self, url: str, ask: Ask, jobs: Sequence[PastJob], progressed: Callable[[int, int], object]) -> None:
        """Asks for all of them; `progressed` is told how many requests of how many are answered.

        Raises BadInputError where there is no Prometheus, or none of the nodes is known to it.
        """
        self._url, self._ask = url.rstrip("/"), ask
        hosts = HostNames(node for job in jobs for node in job.nodes)
        try:
            self._nodes = self._find(hosts)
            if not self._nodes:
                known = ", ".join(sorted({node for job in jobs for node in job.nodes})[:3])
                raise BadInputError(
                    f"--prometheus {url} has no {_BUSY} of the nodes on which the jobs ran ({known}); let it scrape "
                    "the node_exporters by these names, or leave --prometheus out"
                )
            self.drives = self._drives()
            self.cores = self._cores()
            self._readings: dict[str, Readings] = {}
            self.step_s = _STEP_S
            self._fetch(list(windows(jobs)), progressed)
        except NoAnswerError as error:
            raise BadInputError(
                f"--prometheus {url} can't be asked: {error.reason}; look whether it is up, or leave it out"
            ) from None
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise BadInputError(f"--prometheus {url} gave an answer that lacks or garbles {error}") from None

    def of(self, job: PastJob) -> Busy:
        """What the drives of its nodes did during the job."""
        seconds: dict[str, float] = {}
        read = 0.0
        for stage in job.stages:
            nodes = [self._on(self._known(node), stage, len(job.nodes)) for node in job.nodes]
            whole = [uses for uses in nodes if uses is not None]
            if len(whole) == len(nodes) and whole:
                seconds[stage.name] = max(busy_s for busy_s, _ in whole)
            read += sum(read_bytes for _, read_bytes in whole)
        return Busy(seconds, read)

    def _known(self, node: str) -> str | None:
        return self._names.find([node])

    def _on(self, node: str | None, stage: StageSums, nodes: int) -> tuple[float, float] | None:
        """How long that node's drives kept tasks waiting at most in a stage, and what they read; None if not known."""
        readings = None if node is None else self._readings.get(node)
        if readings is None or node is None:
            return None
        step_ms = self.step_s * 1000
        part = PartTime("run", stage.begin_ms - step_ms, stage.end_ms + step_ms)
        amounts = list(readings.amounts([part]))
        busy = [amount.value for amount in amounts if amount.series == "busy_s"]
        if not busy or len(busy) < len(self.drives.get(node, ())):
            return None
        tasks = tasks_at_once(stage, max(1, nodes))
        read = sum(amount.value for amount in amounts if amount.series == "read_bytes")
        return max(*busy, sum(busy) / busy_at_once(len(busy), tasks)), read

    def _find(self, hosts: HostNames) -> dict[str, str]:
        """The job's node that an instance is of: by its host, or by what uname(2) says there."""
        called: dict[str, set[str]] = {}
        for metric in ("node_boot_time_seconds", "node_uname_info"):
            for series in self._query(metric):
                labels = series["metric"]
                host = host_of(labels["instance"])
                called.setdefault(labels["instance"], set()).update({host, labels.get("nodename", host)})
        named = {instance: hosts.find(sorted(names, key=is_loopback)) for instance, names in called.items()}
        nodes = {instance: node for instance, node in named.items() if node is not None}
        self._names = HostNames(nodes.values())
        return nodes

    def _drives(self) -> dict[str, frozenset[str]]:
        """By node, the drives that count for themselves among those that were ever in use."""
        used: dict[str, set[str]] = {}
        for series in self._query(f"max by (instance, device) ({_BUSY})"):
            node = self._nodes.get(series["metric"].get("instance", ""))
            if node is not None and float(series["value"][1]) > 0:
                used.setdefault(node, set()).add(series["metric"].get("device", ""))
        return {node: drives_by_name(names).counted for node, names in used.items()}

    def _cores(self) -> int | None:
        """The most that a node of the jobs' has; None where that is not known."""
        counts = [
            int(float(series["value"][1]))
            for series in self._query('count by (instance) (node_cpu_seconds_total{mode="idle"})')
            if series["metric"].get("instance") in self._nodes
        ]
        return max(counts, default=None)

    def _fetch(self, periods: Sequence[tuple[float, float]], progressed: Callable[[int, int], object]) -> None:
        series = max(1, sum(map(len, self.drives.values())))
        total_s = sum(end_s - begin_s for begin_s, end_s in periods)
        self.step_s = max(_STEP_S, ceil(2 * total_s * series / _MOST_POINTS))
        steps = max(2, min(_MOST_STEPS, _POINTS_AT_ONCE // series))
        ranges = [piece for window in periods for piece in _pieces(*window, self.step_s, steps)]
        for number, (begin_s, end_s) in enumerate(ranges):
            for metric, name in ((_BUSY, "busy_s"), (_READ, "read_bytes")):
                self._take(metric, name, begin_s, end_s)
            progressed(number + 1, len(ranges))

    def _take(self, metric: str, name: str, begin_s: float, end_s: float) -> None:
        times = {"start": f"{begin_s:.0f}", "end": f"{end_s:.0f}", "step": f"{self.step_s}"}
        answer = self._result("query_range", {"query": f"max by (instance, device) ({metric})", **times})
        for series in answer:
            node = self._nodes.get(series["metric"].get("instance", ""))
            device = series["metric"].get("device", "")
            if node is None or device not in self.drives.get(node, ()):
                continue
            readings = self._readings.setdefault(node, Readings("prometheus", COUNTERS))
            for at_s, value in series["values"]:
                readings.count(node, f"disk {device}", name, round(1000 * float(at_s)), float(value))

    def _query(self, query: str) -> Any:
        """What is there now: nodes that are gone are not known."""
        return self._result("query", {"query": query})

    def _result(self, page: str, parameters: Mapping[str, str]) -> Any:
        return self._ask(f"{self._url}/api/v1/{page}", parameters)["data"]["result"]


def windows(jobs: Sequence[PastJob]) -> Iterator[tuple[float, float]]:
    """The times in which any job ran, in seconds since the epoch; near ones are one."""
    times = sorted((stage.begin_ms / 1000, stage.end_ms / 1000) for job in jobs for stage in job.stages)
    begin_s = end_s = 0.0
    for begin, end in times:
        if end_s and begin > end_s + _APART_S:
            yield begin_s, end_s
            begin_s = end_s = 0.0
        begin_s, end_s = begin_s or begin, max(end_s, end)
    if end_s:
        yield begin_s, end_s


def _pieces(begin_s: float, end_s: float, step_s: int, steps: int) -> Iterator[tuple[float, float]]:
    """A time in pieces of so many steps, each beginning where the one before ends."""
    begin_s, end_s = begin_s - 2 * step_s, end_s + 2 * step_s  # as much as a stage gets more, and a scrape around it
    while begin_s < end_s:
        yield begin_s, min(end_s, begin_s + steps * step_s)
        begin_s += steps * step_s
