"""Power over time from samples: as it was measured, and as a model has it where nothing measures."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy

from assay.model.energy import DiskPower, PowerModel, PowerSeries, Span, Spread
from assay.model.record import Basis, Part, Record, Sample, Step
from assay.stats.binning import SAMPLE_MS, Pieces

GIB = 2**30

Points = list[tuple[int, float]]


class Power:
    """All power of a trial over time."""

    def __init__(self, record: Record, samples: Iterable[Sample], model: PowerModel) -> None:
        self._record = record
        self._model = model
        self._points: dict[tuple[str, str], Points] = {}
        for sample in samples:
            self._points.setdefault((sample.probe, sample.series), []).append((sample.time_ms, sample.value))

    @property
    def home(self) -> str:
        """What this machine is called: its processor's and disks' power is told under that name."""
        return self._record.facts.get("host", "this machine")

    def measured(self, probe: str) -> dict[str, PowerSeries]:
        """What a probe measured, by subject: a component (`rapl`), or a node (`redfish`)."""
        found = {}
        for (of, series), points in self._points.items():
            subject, _, unit = series.rpartition("/")
            if of == probe and unit == "power_w":
                steps = _around(points) if probe == "redfish" else points
                node, component = (subject, "node") if probe == "redfish" else (self.home, subject)
                found[subject] = _series(node, component, "measured", steps, points[0][0] - SAMPLE_MS)
        return found

    def cpu(self) -> PowerSeries | None:
        """By its use but for the emulator's: user and system time of all hardware threads; None without samples."""
        users, systems, emulator = (
            dict(self._points.get(of, ()))
            for of in (("cpu", "user_percent"), ("cpu", "system_percent"), ("processes", "emulator/user_percent"))
        )
        emulator_system = dict(self._points.get(("processes", "emulator/system_percent"), ()))
        threads = threads_of(self._record)
        if not users or not threads:
            return None
        idle, most = self._model.cpu_idle_watts.value * threads, self._model.cpu_busy_watts.value * threads
        watts = []
        for time_ms, user in users.items():
            own = emulator.get(time_ms, 0.0) + emulator_system.get(time_ms, 0.0)
            busy = max(0.0, user + systems.get(time_ms, 0.0) - own) / 100
            watts.append((time_ms, idle + (most - idle) * busy))
        return _series(self.home, "cpu", "modelled", watts)

    def memory(self, span: Span) -> PowerSeries | None:
        """By the memory that the trial may use alone."""
        watts = self._model.memory_watts_per_gib.value * memory_bytes_of(self._record) / GIB
        return _constant(self.home, "memory", span, watts) if watts else None

    def disk(self, medium: str, drive: DiskPower) -> PowerSeries | None:
        """A real drive's by its busy time; None without samples."""
        busy = self._points.get(("disk", f"{medium}/busy_percent"))
        if not busy:
            return None
        idle = drive.idle_watts.value
        watts = [(time_ms, idle + (drive.active_watts.value - idle) * percent / 100) for time_ms, percent in busy]
        return _series(self.home, medium, "modelled", watts)

    def emulated(self, medium: str, span: Span, idle_j: float, rest_j: float) -> PowerSeries:
        """An emulated drive's joules over a part: those of idling all the time, the rest as it was busy."""
        busy = self._points.get(("disk", f"{medium}/busy_percent"), [])
        share = _series(self.home, medium, "modelled", busy)
        total = joules(share, span)
        if total <= 0:
            return _constant(self.home, medium, span, (idle_j + rest_j) / max(span.seconds, 1e-9))
        base = idle_j / max(span.seconds, 1e-9)
        return share.model_copy(update={"watts": tuple(base + rest_j * one / total for one in share.watts)})


def threads_of(record: Record) -> int:
    """How many hardware threads the machine has; 0 where the record does not say."""
    return int(record.facts.get("cores", "0"))


def memory_bytes_of(record: Record) -> int:
    """The memory that a trial may use: its bound, where it has one, else the machine's; 0 where nothing tells."""
    machine = int(record.facts.get("memory_bytes", "0"))
    bound = record.trial.cluster.limit_memory_bytes
    return min(machine, bound) if bound is not None else machine


def real_drives(record: Record, model: PowerModel) -> dict[str, DiskPower]:
    """The drives below a trial's directories, each once, whatever media lie on it, by the first medium on it."""
    found: dict[str, DiskPower] = {}
    seen: set[str] = set()
    for spec in record.trial.media:
        device = record.facts.get(f"medium.{spec.name}.device", spec.name)
        if spec.kind == "directory" and device not in seen:
            seen.add(device)
            rotates = record.facts.get(f"medium.{spec.name}.rotational") == "yes"
            found[spec.name] = model.hdd if rotates else model.ssd
    return found


def part_spans(steps: Sequence[Step]) -> dict[Part, Span]:
    """When each part of a trial began and ended, by its steps: one part begins where the one before it ends.

    A part that was not reached has no span.
    """
    begun = {step.name: step.started_ms for step in steps}
    ended = {step.name: step.started_ms + round(step.seconds * 1000) for step in steps}
    if "stage" not in begun:
        return {}
    spans: dict[Part, Span] = {}
    at = begun["stage"]
    bounds: tuple[tuple[Part, int | None], ...] = (
        ("staging", begun.get("run")),
        ("run", ended.get("run")),
        ("write out", ended.get("write out")),
        ("collect", ended.get("verify")),
    )
    for part, end_ms in bounds:
        if end_ms is not None and end_ms >= at:
            spans[part] = Span(begin_ms=at, end_ms=end_ms)
            at = end_ms
    return spans


def joules(series: PowerSeries, span: Span) -> float:
    """Energy of a series within a span; none where it tells nothing."""
    if len(series.edges_ms) < 2:
        return 0.0
    begin, end = numpy.interp([span.begin_ms, span.end_ms], series.edges_ms, cumulated(series))
    return float(end - begin)


def cumulated(series: PowerSeries) -> numpy.ndarray:
    """Joules since the series' beginning at each of its edges."""
    lengths_s = numpy.diff(numpy.asarray(series.edges_ms, dtype=float)) / 1000
    return numpy.concatenate(([0.0], numpy.cumsum(lengths_s * numpy.asarray(series.watts))))


def by_half_second(series: PowerSeries, span: Span) -> Pieces:
    """The mean watts of each half second of a span, the last one as long as is left; nothing where it tells nothing."""
    edges = numpy.unique(numpy.append(numpy.arange(span.begin_ms, span.end_ms, SAMPLE_MS), span.end_ms))
    edges = edges[(edges >= series.edges_ms[0]) & (edges <= series.edges_ms[-1])] if series.watts else edges[:0]
    taken = numpy.diff(numpy.interp(edges, series.edges_ms, cumulated(series))) if len(edges) else numpy.zeros(0)
    return Pieces(edges[:-1], edges[1:], taken / numpy.diff(edges) * 1000)


def spread(node: str, watts: numpy.ndarray) -> Spread | None:
    """A node's quartiles of some watts (linear between neighbours); None without any."""
    if not watts.size:
        return None
    least, first, middle, third, greatest = (float(one) for one in numpy.percentile(watts, [0, 25, 50, 75, 100]))
    return Spread(
        node=node, least_watts=least, first_quartile_watts=first, median_watts=middle,
        third_quartile_watts=third, greatest_watts=greatest,
    )  # fmt: skip


def _series(node: str, component: str, basis: Basis, points: Points, begin_ms: int | None = None) -> PowerSeries:
    """Each value is of the time since the one before it; values whose time does not go on are left out."""
    edges = [begin_ms if begin_ms is not None else points[0][0] - SAMPLE_MS] if points else []
    watts: list[float] = []
    for time_ms, value in points:
        if time_ms > edges[-1]:
            edges.append(time_ms)
            watts.append(value)
    return PowerSeries(node=node, component=component, basis=basis, edges_ms=tuple(edges), watts=tuple(watts))


def _around(points: Points) -> Points:
    """Readings of a moment, each for the time halfway to its neighbours: as many joules as straight lines give."""
    halfway = [((time_ms + after_ms) // 2, value) for (time_ms, value), (after_ms, _) in pairwise(points)]
    return [*halfway, *points[-1:]]


def _constant(node: str, component: str, span: Span, watts: float) -> PowerSeries:
    return PowerSeries(
        node=node, component=component, basis="modelled", edges_ms=(span.begin_ms, span.end_ms), watts=(watts,)
    )


def report_joules(report: Mapping[str, object]) -> tuple[float, float, float] | None:
    """An emulator's report in joules: (idle, all else, seconds it covers); None when it tells none."""
    told, seconds = report.get("joules"), report.get("elapsed_seconds")
    if not isinstance(told, Mapping) or not isinstance(seconds, int | float) or seconds <= 0:
        return None
    idle, total = told.get("idle"), told.get("total")
    if not isinstance(idle, int | float) or not isinstance(total, int | float):
        return None
    return float(idle), float(total) - float(idle), float(seconds)
