"""How long the nodes' drives were busy while jobs ran, and how many processors a node has: by a site's Prometheus.

A few `query_range` requests (Prometheus: HTTP API) fetch the counters of node_exporter for the time in which any job
ran. The times of single scrapes are not asked for, so a stage gets a step more at both ends.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import ceil
from typing import NamedTuple

from assay.engine.past.job import PastJob, StageSums
from assay.model.errors import BadInputError, NoAnswerError
from assay.model.host_names import HostNames
from assay.model.naming import bytes_text
from assay.model.probe import Ask, Reading
from assay.node.devices import drives_by_name
from assay.probe.counters import PartSpan, Readings
from assay.probe.prometheus_server import DRIVES, SERIES, PrometheusServer, QuerySteps
from assay.report.words import seconds_text
from assay.triage.bounds import Busy, busy_at_once, tasks_at_once

_BUSY = "node_disk_io_time_seconds_total"
_STEP_S = 15
"""The shortest step: most sites scrape as often or less."""
_MOST_POINTS, _MOST_STEPS, _POINTS_AT_ONCE = 2_000_000, 10_000, 150_000
"""Of all answers, of one answer's series, and of one answer."""
_APART_S = 600
"""Jobs further apart are asked for one by one."""
_PLAUSIBLE_SHARE = 0.1
"""Drives that moved less of what jobs count, and what the page cache can't have kept from them, are other drives."""
_FASTEST = 20e9
"""Bytes a second that no drive moves: one that does so by its counters does not count its busy time."""
_WRITTEN_BACK_S = 60
"""The kernel writes pages to drives half a minute after they became dirty, and looks for them every five seconds."""


class _NodeUse(NamedTuple):
    """What a node's drives did in a stage: how long they kept tasks waiting, one worked at most, all did; and bytes."""

    seconds: float
    busiest_s: float
    busy_s: float
    read: float
    written: float


class _Moved(NamedTuple):
    """Bytes that jobs count and no page cache can have kept from drives, and those that drives count, in stages."""

    read: float = 0.0
    written: float = 0.0
    drives_read: float = 0.0
    drives_written: float = 0.0
    busy_s: float = 0.0
    unflushed: float = 0.0
    """Output that the page cache may have kept until after a stage, and no longer."""

    def plus(self, other: "_Moved") -> "_Moved":
        return _Moved(*map(sum, zip(self, other, strict=True)))

    def refutes(self, cache_bytes: float) -> bool:
        """Whether other drives must have moved it: a page cache of so many bytes may have served what was read."""
        return (
            self.drives_read < _PLAUSIBLE_SHARE * (self.read - cache_bytes)
            or self.drives_written < _PLAUSIBLE_SHARE * self.written
            or self.busy_s * _FASTEST < self.drives_read + self.drives_written
        )

    @property
    def words(self) -> str:
        """Both, in a clause."""
        if self.busy_s * _FASTEST < self.drives_read + self.drives_written:
            moved = bytes_text(self.drives_read + self.drives_written)
            return f"these drives moved {moved} and count {seconds_text(self.busy_s)} s of work"
        return (
            f"jobs read {bytes_text(self.read)} and wrote {bytes_text(self.written)} there, and these drives read "
            f"{bytes_text(self.drives_read)} and wrote {bytes_text(self.drives_written)}"
        )


class DriveTimes:
    """The counters of all drives of the nodes on which some jobs ran."""

    def __init__(
        self, url: str, ask: Ask, jobs: Sequence[PastJob], progressed: Callable[[int, int], object],
        drives_named: int = 0,
    ) -> None:  # fmt: skip
        """Asks for all of them; `progressed` is told how many requests of how many are answered.

        `drives_named` are the drives that each node has, by who knows; 0 where nobody says so.

        Raises BadInputError where there is no Prometheus, or none of the nodes, or of their drives, is known to it.
        """
        self._server = PrometheusServer(url, ask)
        try:
            self._server.find(HostNames(node for job in jobs for node in job.nodes))
            self._names = HostNames(self._server.nodes.values())
            if not self._server.nodes:
                known = ", ".join(sorted({node for job in jobs for node in job.nodes})[:3])
                raise BadInputError(
                    f"--prometheus {url} has no {_BUSY} of the nodes on which the jobs ran ({known}); let it scrape "
                    "the node_exporters by these names, or leave --prometheus out"
                )
            used = self._server.devices_in_use(series for series in DRIVES.series if _BUSY in series.query)
            self._drives_at = {instance: drives_by_name(names).counted for instance, names in used.items()}
            self.drives = {self._server.nodes[instance]: drives for instance, drives in self._drives_at.items()}
            if not any(self.drives.values()):
                raise BadInputError(
                    f"--prometheus {url} has no {_BUSY} of any drive of the nodes on which the jobs ran; let it scrape "
                    "node_exporters of version 0.16 or newer that leave out no drive, or leave --prometheus out"
                )
            counts = self._server.by_node('count by (instance) (node_cpu_seconds_total{mode="idle"})')
            self.cores = max(map(int, counts.values()), default=None)
            self._readings: dict[str, Readings] = {}
            self.step_s = _STEP_S
            self._memory = self._server.by_node("max by (instance) (node_memory_MemTotal_bytes)")
            self.node_memory = min(map(int, self._memory.values()), default=None)
            self._fetch(list(windows(jobs)), progressed)
        except NoAnswerError as error:
            raise BadInputError(
                f"--prometheus {url} can't be asked: {error.reason}; look whether it is up, or leave it out"
            ) from None
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise BadInputError(f"--prometheus {url} gave an answer that is incomplete or malformed: {error}") from None
        self._busy = {_key(job): self._measure(job) for job in jobs}
        self._refuted = self._refute(jobs) | self._too_few(drives_named)

    def of(self, job: PastJob) -> Busy:
        """What the drives of its nodes did during the job, which is one of those that were given."""
        refuted = next((self._refuted[node] for node in job.nodes if node in self._refuted), "")
        if refuted or not job.nodes:
            return Busy({}, 0.0, refuted=refuted)
        return self._busy[_key(job)][0]._replace(confirmed=self._confirmed)

    def _refute(self, jobs: Sequence[PastJob]) -> dict[str, str]:
        """The jobs' nodes of which the Prometheus sees other drives than those that the jobs used, each with why.

        Jobs are compared one by one, and all together: the page cache may have served any of them, but not all.
        """
        moved = [self._busy[_key(job)][1] for job in jobs]
        together = _sum(moved)
        on_drives, counted = together.drives_read + together.drives_written, together.read + together.written
        counted += together.unflushed
        self._confirmed = counted >= _PLAUSIBLE_SHARE * on_drives > 0 and on_drives >= _PLAUSIBLE_SHARE * counted
        together = together._replace(written=together.written + together.unflushed)
        if together.refutes(sum(self._memory.values())):
            return {node: together.words for job in jobs for node in job.nodes}
        refuted: dict[str, str] = {}
        for job, of_job in zip(jobs, moved, strict=True):
            if of_job.refutes(sum(self._memory.get(self._known(node) or "", 0.0) for node in job.nodes)):
                refuted |= dict.fromkeys(job.nodes, of_job.words)
        return refuted

    def _too_few(self, named: int) -> dict[str, str]:
        """The nodes that have more drives than the Prometheus sees, each with how many."""
        return {
            node: f"--drives names {named} of each node, and it sees {len(drives)} of one"
            for node in self.drives.keys() & self._server.nodes.values()
            if len(drives := self.drives[node]) < named
        }

    def _measure(self, job: PastJob) -> tuple[Busy, _Moved]:
        seconds: dict[str, float] = {}
        busiest_s: dict[str, float] = {}
        moved = _Moved()
        for stage in job.stages:
            nodes = [self._on(self._known(node), stage, len(job.nodes)) for node in job.nodes]
            uses = [use for use in nodes if use is not None]
            if not uses or len(uses) < len(nodes):
                continue
            seconds[stage.name] = max(use.seconds for use in uses)
            busiest_s[stage.name] = max(use.busiest_s for use in uses)
            work, length_s = stage.whole, max(1e-3, stage.elapsed_ms / 1000)
            on_drives = max(0.0, 1 - _WRITTEN_BACK_S / length_s)
            moved = moved.plus(_Moved(
                work.store_read + work.local_read + work.fetched, on_drives * (work.store_written + work.local_written),
                sum(use.read for use in uses), sum(use.written for use in uses), sum(use.busy_s for use in uses),
                (1 - on_drives) * work.store_written,
            ))  # fmt: skip
        return Busy(seconds, moved.drives_read, busiest_s), moved

    def _known(self, node: str) -> str | None:
        return self._names.find([node])

    def _on(self, node: str | None, stage: StageSums, nodes: int) -> _NodeUse | None:
        """What that node's drives did in a stage; None if not known."""
        readings = None if node is None else self._readings.get(node)
        if readings is None or node is None:
            return None
        step_ms = self.step_s * 1000
        part = PartSpan("run", stage.begin_ms - step_ms, stage.end_ms + step_ms)
        by_series: dict[str, list[float]] = {"busy_s": [], "read_bytes": [], "written_bytes": []}
        for amount in readings.amounts([part]):
            by_series[amount.series].append(amount.value)
        busy = by_series["busy_s"]
        if not busy or len(busy) < len(self.drives.get(node, ())):
            return None
        seconds = max(*busy, sum(busy) / busy_at_once(len(busy), tasks_at_once(stage, max(1, nodes))))
        return _NodeUse(seconds, max(busy), sum(busy), sum(by_series["read_bytes"]), sum(by_series["written_bytes"]))

    def _fetch(self, periods: Sequence[tuple[float, float]], progressed: Callable[[int, int], object]) -> None:
        series = max(1, sum(map(len, self.drives.values())))
        total_s = sum(end_s - begin_s for begin_s, end_s in periods)
        self.step_s = max(_STEP_S, ceil(3 * total_s * series / _MOST_POINTS))
        steps = max(2, min(_MOST_STEPS, _POINTS_AT_ONCE // series))
        ranges = [piece for window in periods for piece in _pieces(*window, self.step_s, steps)]
        for number, (begin_s, end_s) in enumerate(ranges):
            times = QuerySteps(round(begin_s), round(end_s), self.step_s)
            for exported in DRIVES.series:
                for instance, quantity, values in self._server.exported(exported, times, self._drives_at):
                    node = self._server.nodes[instance]
                    readings = self._readings.setdefault(node, Readings("prometheus", SERIES))
                    for at_s, value in values:
                        readings.add(Reading(node, at_s, {quantity: value}))
            progressed(number + 1, len(ranges))


def _key(job: PastJob) -> tuple[str, str, int]:
    return job.id, job.source, job.started_ms


def _sum(each: Iterable[_Moved]) -> _Moved:
    total = _Moved()
    for moved in each:
        total = total.plus(moved)
    return total


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
