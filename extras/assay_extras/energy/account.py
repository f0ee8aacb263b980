"""Energy of a trial by part, component and phase, set against time; and power over time.

What is measured comes before what is modelled, and nothing is counted twice: this machine's whole power (Redfish, if a
controller is named as this host is) holds that of its processor, memory and disks; the platform's (RAPL psys) holds all
that too. Emulated drives are in none of them, since they are not there: their joules are always added.

Of a scale model the nodes that are stood for are modelled instead of this machine: each one's processor by the time
that its own processes took and the cores that it has, its memory by the bound.

With real drives there would be no emulator, so its processor time is taken off the modelled processor's. A meter has
counted it: what it took at most lowers the lower end of what the meter tells.

Joules follow from the parts' totals, their course over time from samples. A phase gets, at each moment, the share of
the power that its running tasks are of all running tasks: two phases that overlap share what was taken. So the phases,
with `outside` for the time in which no task ran, add up to the whole.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy

from assay.model.host_names import HostNames, same_host
from assay.model.installed import kind_of
from assay.model.record import INSTRUMENTS, JOBS, REMOTE_NODES, Basis, Part, Record, Series, SeriesKey, Span
from assay.model.scale import DEFAULT_CPUS
from assay.model.signature import OUTSIDE
from assay.model.task import TaskAttempt
from assay.stats.nodes import node_uses, shares_machine
from assay.stats.timeline import SAMPLE_MS, Pieces, added, running, spans
from assay_extras.energy.model import (
    DiskPower,
    Efficiency,
    Energy,
    EnergyAccount,
    PowerModel,
    PowerSeries,
    PowerSpread,
    Ranged,
    give_or_take,
)

GIB = 2**30

NODE = "node"
COMPONENTS = frozenset({"platform", "cpu", "memory"})
"""What meters within this machine call what they measure; any other subject of `energy_j` and `power_w` is a node."""

WORK_SERIES = ("user_percent", "system_percent")
"""Of groups of processes, in percent of all of this machine's processors."""

Points = list[tuple[int, float]]


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


def _series(points: Points, begin_ms: int | None = None) -> PowerSeries:
    """Make a series in which each value is for the time since the last; values whose time stands still are left out."""
    edges = [begin_ms if begin_ms is not None else points[0][0] - SAMPLE_MS] if points else []
    watts: list[float] = []
    for time_ms, value in points:
        if time_ms > edges[-1]:
            edges.append(time_ms)
            watts.append(value)
    return PowerSeries(edges_ms=tuple(edges), watts=tuple(watts))


def _constant(span: Span, watts: float) -> PowerSeries:
    return PowerSeries(edges_ms=(span.begin_ms, span.end_ms), watts=(watts,))


NO_ENERGY = Ranged(value=0.0, low=0.0, high=0.0)


def energy_account(
    record: Record, series: Mapping[SeriesKey, Series] = {}, model: PowerModel | None = None
) -> EnergyAccount:
    """What is known of a trial's energy: measured where it was, else modelled, else named as missing.

    Without series of samples its joules are the same, and nothing is known of power over time. `model` is the default
    one where none is given.
    """
    trial = _Components(record, series, model or PowerModel())
    energies: list[Energy] = []
    missing: list[str] = []
    silent: list[str] = []
    reporting = [medium.name for medium in record.trial.media if kind_of(medium).energy == "reported"]
    emulated = [] if record.trial.zero_delay else reporting
    for part, span in record.spans.items():
        # Neither meters nor models of this machine tell of the nodes that a scale model stands for.
        measured = [] if record.modelled else list(trial.measured(part))
        nodes = [energy for energy in measured if energy.component == NODE]
        parts_of_it = [energy for energy in measured if energy.component != NODE]
        machine = list(trial.stood_for(part, span) if record.modelled else trial.machine(part, span, parts_of_it))
        # Another node's meter knows nothing of this machine.
        metered = any(same_host(energy.node, trial.home) for energy in nodes)
        held_by = {"within": NODE} if metered else {}
        energies += nodes + [
            energy.model_copy(update=held_by if energy.within is None and energy.node == trial.home else {})
            for energy in machine
        ]
        drives = list(trial.emulated(part, span))
        energies += drives
        known = {energy.component for energy in (*machine, *drives) if record.modelled or energy.node == trial.home}
        if not metered and "platform" not in known:
            missing += [f"{name} in {part}" for name in ("cpu", "memory", *trial.drives) if name not in known]
        silent += [f"{name} in {part}" for name in emulated if name not in known]
    return EnergyAccount(spans=record.spans, energies=tuple(energies), missing=(*missing, *silent))


def counted(energies: Iterable[Energy]) -> list[Energy]:
    """Choose the energies that may be added up: none is contained in another."""
    return [energy for energy in energies if energy.within is None]


def efficiency(account: EnergyAccount) -> Efficiency | None:
    """Relate the joules of the jobs' parts to their time, as in the HPC study; None if nothing is known of them."""
    jobs_energies = [energy for energy in counted(account.energies) if energy.part in JOBS]
    if not jobs_energies:
        return None
    seconds = sum(span.seconds for part, span in account.spans.items() if part in JOBS)
    return Efficiency(
        energy_j=sum((energy.energy_j for energy in jobs_energies), NO_ENERGY),
        seconds=seconds,
        basis=weakest(jobs_energies),
    )


def phase_efficiency(account: EnergyAccount, attempts: Sequence[TaskAttempt]) -> dict[str, Efficiency]:
    """Relate the joules of each phase of the jobs' parts to the time in which a task was in it.

    Over the phases, with `outside` for the time in which no task ran, they add up to the parts' own.
    """
    every = [span for attempt in attempts for span in spans(attempt)]
    edges_ms, phases, counts = running(every, [span.phase for span in every])
    energies: dict[str, list[Energy]] = {}
    seconds: dict[str, float] = {}
    for part, span in account.spans.items():
        part_energies = [energy for energy in counted(account.energies) if energy.part == part]
        if part not in JOBS or not part_energies:
            continue
        inside = edges_ms[(edges_ms > span.begin_ms) & (edges_ms < span.end_ms)]
        times = numpy.unique([span.begin_ms, *inside, span.end_ms])
        tasks = counts[numpy.searchsorted(edges_ms, times[:-1], side="right")]
        none = tasks.sum(axis=1, keepdims=True) == 0
        shares = numpy.append(tasks, none, axis=1) / (tasks.sum(axis=1, keepdims=True) + none)
        lengths_s = numpy.diff(times) / 1000
        for index, phase in enumerate((*phases, OUTSIDE)):
            if shares[:, index].any() or (phase == OUTSIDE and not len(lengths_s)):
                seconds[phase] = seconds.get(phase, 0.0) + float(lengths_s @ (shares[:, index] > 0))
                for energy in part_energies:
                    taken = lengths_s  # by time alone where the component's power over time is not known
                    if energy.power is not None and joules(energy.power, span) > 0:
                        taken = numpy.diff(numpy.interp(times, energy.power.edges_ms, cumulated(energy.power)))
                    share = float(taken @ shares[:, index] / taken.sum()) if len(taken) else 1.0
                    in_phase = energy.model_copy(update={"energy_j": energy.energy_j.times(share)})
                    energies.setdefault(phase, []).append(in_phase)
    return {
        phase: Efficiency(
            energy_j=sum((energy.energy_j for energy in phase_energies), NO_ENERGY),
            seconds=seconds[phase],
            basis=weakest(phase_energies),
        )
        for phase, phase_energies in energies.items()
    }


def power_over_time(account: EnergyAccount, span: Span) -> dict[tuple[str, str], Pieces]:
    """Watts of each node's components over a span, as the mean of each half second; only those that may be added up."""
    pieces_by_component: dict[tuple[str, str], list[Pieces]] = {}
    for energy in counted(account.energies):
        part = account.spans[energy.part]
        begin, end = max(part.begin_ms, span.begin_ms), min(part.end_ms, span.end_ms)
        if energy.power is not None and begin < end:
            pieces = by_half_second(energy.power, Span(begin_ms=begin, end_ms=end))
            pieces_by_component.setdefault((energy.node, energy.label), []).append(pieces)
    return {
        of: Pieces(*(numpy.concatenate(column) for column in zip(*pieces, strict=True)))
        for of, pieces in pieces_by_component.items()
    }


def node_spreads(account: EnergyAccount) -> dict[str, PowerSpread]:
    """How each node's power, of all that may be added up, was spread over the half seconds of the run."""
    span = account.spans.get("run")
    components: dict[str, list[Pieces]] = {}
    for (node, _), pieces in (power_over_time(account, span) if span is not None else {}).items():
        components.setdefault(node, []).append(pieces)
    watts = {node: added(pieces).values for node, pieces in components.items()}
    # Quartiles are linear between neighbours.
    return {
        node: PowerSpread(node, *map(float, numpy.percentile(samples, [0, 25, 50, 75, 100])))
        for node, samples in watts.items()
        if samples.size
    }


def node_energies(record: Record) -> dict[str, Efficiency]:
    """Each node's joules: its own meter's and drives', and of a machine that nodes share a part; none of one node.

    That is an equal part of what its processors take when idle and of all else, but for what they take on top when
    busy: of that a part by the node's processor time.
    """
    busy_s = {use.node: use.processor_s for use in node_uses(record)}
    if not busy_s:
        return {}
    account = energy_account(record)
    energies = [energy for energy in counted(account.energies) if energy.part in JOBS]
    total_s = sum(seconds or 0.0 for seconds in busy_s.values())
    by_node: dict[str, list[Energy]] = {}
    names = HostNames(busy_s)  # a controller's owner may write a node's name otherwise
    for energy in energies:
        owner = energy.worker
        holder = owner if owner in busy_s else names.find([energy.node])
        if holder is not None:
            by_node.setdefault(holder, []).append(energy)
        elif shares_machine(record):
            idle = 1.0
            if energy.component in {"cpu", "platform", NODE} and energy.energy_j.value > 0 and total_s > 0:
                watts = PowerModel().cpu_idle_watts.value * record.machine.cores
                idle = min(1.0, watts * account.spans[energy.part].seconds / energy.energy_j.value)
            for node, seconds in busy_s.items():
                share = idle / len(busy_s) + (1 - idle) * ((seconds or 0.0) / total_s if total_s else 0.0)
                part = energy.model_copy(update={"energy_j": energy.energy_j.times(share), "basis": "modelled"})
                by_node.setdefault(node, []).append(part)
    whole_s = sum(span.seconds for part, span in account.spans.items() if part in JOBS)
    return {
        node: Efficiency(
            energy_j=sum((part.energy_j for part in parts), NO_ENERGY), seconds=whole_s, basis=weakest(parts)
        )
        for node, parts in by_node.items()
    }


def weakest(figures: Iterable[Energy]) -> Basis:
    """The basis of a sum: measured only if all of it is."""
    bases = {figure.basis for figure in figures}
    return next((basis for basis in ("modelled", "estimated") if basis in bases), "measured")


def _totals(record: Record, first: str | None) -> dict[tuple[str, str, str, Part], float]:
    """What was counted on this machine, by probe, subject, series and part; of several nodes that of the first one."""
    shared = shares_machine(record)
    totals: dict[tuple[str, str, str, Part], float] = {}
    for amount in record.amounts:
        if shared or amount.node in {None, first}:
            totals.setdefault((amount.probe, amount.subject, amount.series, amount.part), amount.value)
    return totals


def _meters(series: Mapping[SeriesKey, Series]) -> dict[tuple[str, str], PowerSeries]:
    """Power over time by what a meter measures and the node that it is on (empty: the only or the first one)."""
    points_by_meter: dict[tuple[str, str], Points] = {}
    for key, samples in series.items():
        if key.series == "power_w":
            points_by_meter.setdefault((key.subject, key.node), []).extend(zip(*samples, strict=True))
    meters = {}
    for (subject, node), points in points_by_meter.items():
        halfway = points
        if subject not in COMPONENTS:
            # Readings of a moment, each for the time halfway to its neighbours: the joules of straight lines.
            times_ms = [(time_ms + after_ms) // 2 for (time_ms, _), (after_ms, _) in pairwise(points)]
            halfway = [*zip(times_ms, (value for _, value in points), strict=False), points[-1]]
        meters[subject, node] = _series(halfway, points[0][0] - SAMPLE_MS)
    return meters


def _drives(record: Record, model: PowerModel) -> dict[str, DiskPower]:
    """The drives below the trial's directories, each once, whatever media lie on it, by the first medium on it."""
    devices: dict[str, str] = {}
    for medium in record.trial.media:
        if kind_of(medium).energy == "by busy time":
            devices.setdefault(str(record.facts_of(medium.name).get("device", medium.name)), medium.name)
    return {
        medium: model.hdd if record.facts_of(medium).get("rotational") is True else model.ssd
        for medium in devices.values()
    }


def _memory_gib(record: Record) -> float:
    """The memory that the trial's nodes may use, at most this machine's; the master has the same bound as a worker."""
    bound_bytes, machine_bytes = record.trial.cluster.limit_memory_bytes, record.machine.memory_bytes
    nodes = 1 + len(record.trial.cluster.workers)
    return (machine_bytes if bound_bytes is None else min(machine_bytes, bound_bytes * nodes)) / GIB


class _Components:
    """A trial's components: their joules in each part, and their power over time.

    Models are of this machine, the only one whose facts the record has: what was counted on other machines is not
    theirs. Nodes that share it have its processors counted once, of no node.
    """

    def __init__(self, record: Record, series: Mapping[SeriesKey, Series], model: PowerModel) -> None:
        self._record, self._model, self._series = record, model, series
        afar = {None, *(amount.node for amount in record.amounts if amount.probe == REMOTE_NODES)}
        self._first = next((amount.node for amount in record.amounts if amount.node not in afar), None)
        self._totals = _totals(record, self._first)
        self.home = record.machine.host or "this machine"
        self._threads = record.machine.cores
        self._memory_gib = _memory_gib(record)
        self._meters = {
            self._metered(subject, node or None): power for (subject, node), power in _meters(series).items()
        }
        self.drives = _drives(record, model)
        self._cpu_power = self._power_of_cpu()

    def _points(self, probe: str, subject: str, name: str, node: str = "") -> Points:
        """The samples of a series; none where it was not measured."""
        samples = self._series.get(SeriesKey(probe, subject, name, node))
        return [] if samples is None else list(zip(*samples, strict=True))

    def _metered(self, subject: str, node: str | None) -> tuple[str, str]:
        """The node and component that a meter's figures are of."""
        if subject not in COMPONENTS:
            return subject, NODE
        return (self.home if node in {None, self._first} else str(node)), subject

    def measured(self, part: Part) -> Iterator[Energy]:
        """What probes counted in a part."""
        for amount in self._record.amounts:
            if amount.part == part and amount.series == "energy_j":
                node, component = self._metered(amount.subject, amount.node)
                energy_j = give_or_take(amount.value, self._model.measured_share)
                if same_host(node, self.home) and component in {NODE, "platform", "cpu"}:
                    most_watts = self._model.cpu_busy_watts.high - self._model.cpu_idle_watts.low
                    energy_j = energy_j.lowered(self._emulator_s(part) * most_watts)
                yield Energy(
                    node=node, component=component, part=part, energy_j=energy_j, basis=amount.basis,
                    power=self._meters.get((node, component)),
                )  # fmt: skip

    def machine(self, part: Part, span: Span, metered: Sequence[Energy]) -> Iterator[Energy]:
        """This machine's components: what was measured, and models for the rest."""
        yield from metered
        known = {energy.component for energy in metered if energy.node == self.home}
        models = {"cpu": self._cpu(part, span)}
        if self._memory_gib:  # by the memory that the trial may use alone
            watts = self._model.memory_watts_per_gib
            power = _constant(span, watts.value * self._memory_gib)
            models["memory"] = watts.times(self._memory_gib * span.seconds), power
        models |= {medium: self._drive(medium, drive, part, span) for medium, drive in self.drives.items()}
        for component, modelled in models.items():
            if component not in known and modelled is not None:
                yield Energy(
                    node=self.home, component=component, part=part, energy_j=modelled[0], basis="modelled",
                    within="platform" if "platform" in known else None, power=modelled[1],
                )  # fmt: skip

    def stood_for(self, part: Part, span: Span) -> Iterator[Energy]:
        """Processor and memory of each node of a scale model; no memory where it has no bound."""
        spec = self._record.trial.cluster
        threads, watts = spec.limit_cpus or DEFAULT_CPUS, self._model.memory_watts_per_gib
        busy_s: dict[str, float] = {}
        for amount in self._record.amounts:
            is_work = (amount.probe, amount.part) == ("processes", part) and amount.subject not in INSTRUMENTS
            if is_work and amount.node is not None and amount.series in {"user_s", "system_s"}:
                busy_s[amount.node] = busy_s.get(amount.node, 0.0) + amount.value
        for node, seconds in busy_s.items():
            thread_s = span.seconds * threads
            models = {"cpu": (self._at_work(min(seconds, thread_s), thread_s), self._power_of_node(node, threads))}
            if spec.limit_memory_bytes is not None:
                gib = spec.limit_memory_bytes / GIB
                models["memory"] = watts.times(gib * span.seconds), _constant(span, watts.value * gib)
            for component, (energy_j, power) in models.items():
                yield Energy(
                    node=node, component=component, part=part, energy_j=energy_j, basis="modelled", power=power
                )

    def _power_of_node(self, node: str, threads: float) -> PowerSeries | None:
        """By what its own processes took of this machine's processors, which is so much more of the model's."""
        percent_at: dict[int, float] = {}
        for key, samples in self._series.items():
            if key.probe == "processes" and key.series in WORK_SERIES and (key.node or self._first or "") == node:
                for time_ms, value in zip(*samples, strict=True):
                    work = 0.0 if key.subject in INSTRUMENTS else value
                    percent_at[time_ms] = percent_at.get(time_ms, 0.0) + work
        if not percent_at:
            return None
        idle, most = self._model.cpu_idle_watts.value, self._model.cpu_busy_watts.value
        cores = self._threads * self._record.times_slower / 100
        return _series([
            (time_ms, idle * threads + (most - idle) * min(threads, percent * cores))
            for time_ms, percent in sorted(percent_at.items())
        ])  # fmt: skip

    def emulated(self, part: Part, span: Span) -> Iterator[Energy]:
        """What the emulated drives would have taken, by their own reports.

        A report may cover more than the part (the drive is there before staging begins): idling beyond it is left out.
        The zero-delay baseline is no drive and takes nothing.
        """
        if self._record.trial.zero_delay:
            return
        for device in self._record.devices:
            drive, report = device.medium, device.reports.get(part)
            known = (report.joules or {}) if report is not None else {}
            if report is None or not report.elapsed_seconds or not {"idle", "total"} <= known.keys():
                continue
            idle_j = known["idle"] * min(1.0, span.seconds / report.elapsed_seconds)
            rest_j = known["total"] - known["idle"]
            # Idling takes its joules all the time, the rest goes with how busy the drive was.
            at_node = "" if device.node in {None, self._first} else str(device.node)
            busy = _series(self._points("disk", drive, "busy_percent", at_node))
            total, seconds = joules(busy, span), max(span.seconds, 1e-9)
            power = _constant(span, (idle_j + rest_j) / seconds)
            if total > 0:
                watts = tuple(idle_j / seconds + rest_j * percent / total for percent in busy.watts)
                power = PowerSeries(edges_ms=busy.edges_ms, watts=watts)
            of_model = device.node if self._record.modelled else None  # a node of its own, which shares no machine
            yield Energy(
                node=of_model or self.home, component=drive, worker=None if of_model else device.node, part=part,
                basis="modelled",
                energy_j=give_or_take(idle_j + rest_j, self._model.emulated_share), power=power,
            )  # fmt: skip

    def _cpu(self, part: Part, span: Span) -> tuple[Ranged, PowerSeries | None] | None:
        """Model the processor's energy by its busy time without the emulator's; None where that was not counted."""
        states = [
            self._totals.get(("cpu", "machine", f"{state}_s", part)) for state in ("user", "system", "irq", "softirq")
        ]
        if not self._threads or states[0] is None:
            return None
        thread_s = span.seconds * self._threads
        busy_s = max(0.0, sum(seconds or 0.0 for seconds in states) - self._emulator_s(part))
        return self._at_work(min(busy_s, thread_s), thread_s), self._cpu_power

    def _at_work(self, busy_s: float, thread_s: float) -> Ranged:
        """Joules of hardware threads that were busy for so much of their time."""
        return self._model.cpu_idle_watts.times(thread_s - busy_s) + self._model.cpu_busy_watts.times(busy_s)

    def _power_of_cpu(self) -> PowerSeries | None:
        """Model the processor's power by user and system time without the emulator's; None without samples."""
        users, systems, emulator, emulator_system = (
            dict(self._points(probe, subject, name))
            for probe, subject in (("cpu", ""), ("processes", "emulator"))
            for name in WORK_SERIES
        )  # fmt: skip
        if not users or not self._threads:
            return None
        idle, most = (watts.value * self._threads for watts in (self._model.cpu_idle_watts, self._model.cpu_busy_watts))
        watts = []
        for time_ms, user in users.items():
            instruments_share = emulator.get(time_ms, 0.0) + emulator_system.get(time_ms, 0.0)
            watts.append(
                (time_ms, idle + (most - idle) * max(0.0, user + systems.get(time_ms, 0.0) - instruments_share) / 100)
            )
        return _series(watts)

    def _drive(self, medium: str, drive: DiskPower, part: Part, span: Span) -> tuple[Ranged, PowerSeries | None] | None:
        """A real drive's, by its busy time; None where that was not counted."""
        busy_s = self._totals.get(("disk", medium, "busy_s", part))
        if busy_s is None:
            return None
        busy_s = min(busy_s, span.seconds)
        idle, active = drive.idle_watts, drive.active_watts
        points = self._points("disk", medium, "busy_percent")
        watts = [(time_ms, idle.value + (active.value - idle.value) * percent / 100) for time_ms, percent in points]
        return idle.times(span.seconds - busy_s) + active.times(busy_s), _series(watts) if watts else None

    def _emulator_s(self, part: Part) -> float:
        """Seconds of processor time that went into emulating drives."""
        return sum(self._totals.get(("processes", "emulator", f"{state}_s", part), 0.0) for state in ("user", "system"))
