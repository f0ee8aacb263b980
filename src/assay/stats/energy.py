"""Energy of a trial by part, component and phase, and set against time.

What is measured comes before what is modelled, and nothing is counted twice: this machine's whole power (Redfish, if a
controller is named as this host is) holds that of its processor, memory and disks; the platform's (RAPL psys) holds all
that too. Emulated drives are in none of them, since they are not there: their joules are always added. What carries
them out is (the emulator's processor time): that is part of the machine's.

A phase gets, at each moment, the share of the power that its running tasks are of all running tasks: two phases that
overlap share what was taken. So the phases, with `outside` for the time in which no task ran, add up to the whole.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy

from assay.model.energy import (
    Efficiency,
    Energy,
    EnergyAccount,
    Phase,
    PhaseEnergy,
    PowerModel,
    PowerSeries,
    Span,
    Spread,
)
from assay.model.record import Basis, Part, Record, Sample, TaskAttempt
from assay.stats.binning import Pieces, added
from assay.stats.power import (
    COVERED,
    Power,
    by_half_second,
    covered,
    cumulated,
    joules,
    part_spans,
    report_joules,
    spread,
)
from assay.stats.timeline import spans

Shares = Mapping[Phase, float]


def energy_account(record: Record, samples: Iterable[Sample], model: PowerModel) -> EnergyAccount:
    """What is known of a trial's energy: measured where it was, else modelled, else named as missing."""
    parts = part_spans(record.steps)
    power = Power(record, samples, model)
    found: list[Energy] = []
    missing: list[str] = []
    silent: list[str] = []
    emulated = [medium.name for medium in record.trial.media if medium.kind == "emulated"]
    for part, span in parts.items():
        nodes = list(_measured(record, power, "redfish", part))
        machine = list(_machine(record, power, part, span))
        # Another node's meter knows nothing of this machine.
        metered = any(energy.node.casefold() == power.home.casefold() for energy in nodes)
        within = "node" if metered else None
        found += nodes + [energy.model_copy(update={"within": energy.within or within}) for energy in machine]
        drives = list(_emulated(record, power, part, span))
        found += drives
        told = {energy.component for energy in (*machine, *drives)}
        if not metered and "platform" not in told:
            missing += [f"{name} in {part}" for name in ("cpu", "memory", *power.disks()) if name not in told]
        silent += [f"{name} in {part}" for name in emulated if name not in told]
    return EnergyAccount(spans=parts, energies=tuple(found), missing=(*missing, *silent))


def counted(energies: Iterable[Energy]) -> list[Energy]:
    """Those that may be added up: none lies within another."""
    return [energy for energy in energies if energy.within is None]


def by_phase(account: EnergyAccount, attempts: Sequence[TaskAttempt]) -> tuple[PhaseEnergy, ...]:
    """Each component's joules by phase; over the phases of a part they add up to the component's own."""
    found = []
    for part, span in account.spans.items():
        stretches = list(_stretches(attempts, span))
        seconds = _seconds(stretches)
        for energy in (one for one in account.energies if one.part == part):
            shares = _shares(energy.power, stretches, span)
            found += [
                PhaseEnergy(
                    part=part, phase=phase, node=energy.node, component=energy.component, within=energy.within,
                    energy_j=energy.energy_j * share, seconds=seconds.get(phase, 0.0), basis=energy.basis,
                )
                for phase, share in shares.items()
            ]  # fmt: skip
    return tuple(found)


def efficiency(account: EnergyAccount, part: Part = "run") -> Efficiency | None:
    """All joules of a part against its time, as the HPC study has it; None when nothing is known of it."""
    own = [energy for energy in counted(account.energies) if energy.part == part]
    if not own:
        return None
    total = sum(energy.energy_j for energy in own)
    return Efficiency(energy_j=total, seconds=account.spans[part].seconds, basis=weakest(own))


def phase_efficiency(phases: Iterable[PhaseEnergy], part: Part = "run") -> dict[Phase, Efficiency]:
    """All joules of each phase of a part against the time in which a task was in it."""
    rows: dict[Phase, list[PhaseEnergy]] = {}
    for row in phases:
        if row.part == part and row.within is None:
            rows.setdefault(row.phase, []).append(row)
    return {
        phase: Efficiency(energy_j=sum(row.energy_j for row in own), seconds=own[0].seconds, basis=weakest(own))
        for phase, own in rows.items()
    }


def power_over_time(account: EnergyAccount, span: Span) -> dict[tuple[str, str], Pieces]:
    """Watts of each node's components over a span, as the mean of each half second; only those that may be added up."""
    found: dict[tuple[str, str], list[Pieces]] = {}
    for energy in counted(account.energies):
        part = account.spans[energy.part]
        begin, end = max(part.begin_ms, span.begin_ms), min(part.end_ms, span.end_ms)
        if energy.power is not None and begin < end:
            own = by_half_second(energy.power, Span(begin_ms=begin, end_ms=end))
            found.setdefault((energy.node, energy.component), []).append(own)
    return {of: Pieces(*(numpy.concatenate(column) for column in zip(*own, strict=True))) for of, own in found.items()}


def node_spreads(account: EnergyAccount, part: Part = "run") -> dict[str, Spread]:
    """How each node's power, of all that may be added up, was spread over the half seconds of a part."""
    span = account.spans.get(part)
    components: dict[str, list[Pieces]] = {}
    for (node, _), own in (power_over_time(account, span) if span is not None else {}).items():
        components.setdefault(node, []).append(own)
    spreads = {node: spread(node, added(own).values) for node, own in components.items()}
    return {node: found for node, found in spreads.items() if found is not None}


def weakest(figures: Iterable[Energy] | Iterable[PhaseEnergy]) -> Basis:
    """The basis of a sum: measured only if all of it is."""
    bases = {figure.basis for figure in figures}
    return next((basis for basis in ("modelled", "estimated") if basis in bases), "measured")


def _machine(record: Record, power: Power, part: Part, span: Span) -> Iterator[Energy]:
    """This machine's components: what RAPL measured, and models for the rest."""
    measured = {energy.component: energy for energy in _measured(record, power, "rapl", part)}
    yield from measured.values()
    models: dict[str, PowerSeries | None] = {"cpu": power.cpu(), "memory": power.memory(span), **power.disks()}
    holder = "platform" if "platform" in measured else None
    for component, series in models.items():
        if component not in measured and series is not None and covered(series, span) >= COVERED:
            yield _modelled(series, part, span, holder)


def _modelled(series: PowerSeries, part: Part, span: Span, within: str | None) -> Energy:
    """A model's joules; what no sample covers is taken to be like the rest."""
    return Energy(
        node=series.node, component=series.component, part=part, basis="modelled", within=within, power=series,
        energy_j=joules(series, span) / covered(series, span),
    )  # fmt: skip


def _measured(record: Record, power: Power, probe: str, part: Part) -> Iterator[Energy]:
    """What a probe counted in a part."""
    series = power.measured(probe)
    for amount in record.amounts:
        if amount.probe == probe and amount.part == part and amount.series == "energy_j":
            node, component = (amount.subject, "node") if probe == "redfish" else (power.home, amount.subject)
            yield Energy(
                node=node, component=component, part=part, energy_j=amount.value, basis=amount.basis,
                power=series.get(amount.subject),
            )  # fmt: skip


def _emulated(record: Record, power: Power, part: Part, span: Span) -> Iterator[Energy]:
    """What the emulated drives would have taken, by their own reports.

    A report may cover more than the part (the drive is there before staging begins): idling beyond it is left out.
    """
    for medium, reports in record.devices.items():
        report = reports.get(part)
        told = report_joules(report) if isinstance(report, Mapping) else None
        if told is not None:
            idle_j, rest_j, seconds = told
            idle_j *= min(1.0, span.seconds / seconds)
            series = power.emulated(medium, span, idle_j, rest_j)
            yield Energy(
                node=power.home, component=medium, part=part, energy_j=idle_j + rest_j, basis="modelled", power=series
            )


def _stretches(attempts: Iterable[TaskAttempt], span: Span) -> Iterator[tuple[int, int, Shares]]:
    """The span in pieces within which the same tasks run, and each phase's share of them."""
    changes: dict[int, dict[Phase, int]] = {span.begin_ms: {}, span.end_ms: {}}
    for attempt in attempts:
        for own in spans(attempt):
            begin, end = max(own.began_ms, span.begin_ms), min(own.ended_ms, span.end_ms)
            if begin < end:
                for at, by in ((begin, 1), (end, -1)):
                    change = changes.setdefault(at, {})
                    change[own.phase] = change.get(own.phase, 0) + by
    running: dict[Phase, int] = {}
    times = sorted(changes)
    for begin, end in pairwise(times):
        for phase, by in changes[begin].items():
            running[phase] = running.get(phase, 0) + by
        tasks = sum(running.values())
        yield begin, end, {phase: n / tasks for phase, n in running.items() if n} if tasks else {"outside": 1.0}


def _seconds(stretches: Iterable[tuple[int, int, Shares]]) -> dict[Phase, float]:
    found: dict[Phase, float] = {}
    for begin, end, shares in stretches:
        for phase in shares:
            found[phase] = found.get(phase, 0.0) + (end - begin) / 1000
    return found


def _shares(power: PowerSeries | None, stretches: Sequence[tuple[int, int, Shares]], span: Span) -> dict[Phase, float]:
    """Which share of a component's joules each phase took; by time alone where its power over time is not known."""
    if not stretches:
        return {"outside": 1.0}
    times = [stretches[0][0], *(end for _, end, _ in stretches)]
    taken = numpy.diff(numpy.asarray(times, dtype=float))
    if power is not None and joules(power, span) > 0:
        taken = numpy.diff(numpy.interp(times, power.edges_ms, cumulated(power)))
    found: dict[Phase, float] = {}
    for piece, (_, _, shares) in zip(taken.tolist(), stretches, strict=True):
        for phase, share in shares.items():
            found[phase] = found.get(phase, 0.0) + piece * share
    total = sum(found.values())
    return {phase: value / total for phase, value in found.items()}
