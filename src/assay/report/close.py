"""The part of the page that says where time, bytes and joules went: some trials seen closely, beside one another."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assay.model.doubt import Doubt
from assay.model.record import Record
from assay.report.accesses import AccessLine, Flow, UseLine, access_lines, flow_picture, flows, use_lines
from assay.report.closeup import Closeup
from assay.report.cost import Cost, cost_of
from assay.report.joules import TrialEnergy, energy_of
from assay.report.paths import KINDS, JobPath, job_paths, path_bars
from assay.report.power import power_boxes
from assay.report.scale import Scale, most_watts, scale_of
from assay.report.timeline import timeline

TOO_SHORT = 4
"""A trial so many times shorter than the longest beside it gets a time axis of its own: it could not be read."""
PROBE_KINDS = (
    "probe", "probes", "clock", "cluster", "cpu", "disk", "energy", "history", "network", "redfish", "samples", "task",
    "trace", "watched",
)  # fmt: skip
"""How the kinds of doubts begin that say what an instrument could not see."""


class Seen(NamedTuple):
    """One trial, drawn and told. `own_scale` says that its time axis is not that of the trials beside it."""

    closeup: Closeup
    name: str
    timeline: str
    own_scale: bool
    paths: list[JobPath]
    flow_picture: str
    accesses: list[AccessLine]
    uses: list[UseLine]
    energy: TrialEnergy
    cost: Cost
    missing: tuple[str, ...]


class Comparison(NamedTuple):
    """Trials that differ in their placement only; `others` are their repetitions."""

    title: str
    path_bars: str
    power_boxes: str
    firsts: list[Seen]
    others: list[Seen]

    @property
    def all(self) -> list[Seen]:
        """Those of each placement, and their repetitions."""
        return [*self.firsts, *self.others]

    @property
    def rows(self) -> int:
        """Lines of the table by job."""
        return sum(len(one.paths) for one in self.all)

    @property
    def kinds(self) -> list[str]:
        """What any job's path has, in the order in which it happens."""
        return [kind for kind in KINDS if any(kind in path.seconds for one in self.all for path in one.paths)]

    @property
    def has_energy(self) -> bool:
        """Whether anything is known of it."""
        return any(one.energy.components for one in self.all)


def comparisons(closeups: Sequence[Closeup], names: Sequence[str]) -> list[Comparison]:
    """One for each combination of factors but the placement, in the order of the trials.

    `names` are the factors to tell.
    """
    grouped: dict[tuple[tuple[str, str], ...], list[Closeup]] = {}
    for closeup in closeups:
        grouped.setdefault(_kind(closeup.record), []).append(closeup)
    return [_comparison(dict(kind), own, names) for kind, own in grouped.items()]


def _kind(record: Record) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, value) for name, value in record.trial.factors.items() if name != "placement"))


def _comparison(factors: Mapping[str, str], closeups: Sequence[Closeup], names: Sequence[str]) -> Comparison:
    energies = {closeup.record.trial.id: energy_of(closeup) for closeup in closeups}
    scale = scale_of(closeups)._replace(watts=most_watts(energy.power for energy in energies.values()))
    found = {
        closeup.record.trial.id: flows(closeup.signature, closeup.record) for closeup in closeups if closeup.signature
    }
    most_bytes = max((flow.bytes for own in found.values() for flow in own), default=0.0)
    ordered = sorted(closeups, key=lambda one: (one.placement, one.record.trial.id))
    names_of = _names(ordered)
    seen = [
        _seen(
            one, names_of[one.record.trial.id], scale, found.get(one.record.trial.id, []), most_bytes,
            energies[one.record.trial.id],
        )
        for one in ordered
    ]  # fmt: skip
    firsts = list({one.closeup.placement: one for one in reversed(seen)}.values())[::-1]
    return Comparison(
        title=", ".join([factors["workload"], *(factors[name] for name in names if name in factors)]),
        path_bars=path_bars([(one.name, one.closeup, one.paths) for one in seen]),
        power_boxes=power_boxes([(one.name, spread) for one in seen for spread in one.energy.spreads.values()]),
        firsts=firsts,
        others=[one for one in seen if one not in firsts],
    )


def _names(closeups: Sequence[Closeup]) -> dict[str, str]:
    """What each trial is called beside the others, by its id: as little as tells them apart."""
    trials = [one.record.trial for one in closeups]
    placements = Counter(trial.placement.name for trial in trials)
    turns = Counter((trial.placement.name, trial.repetition) for trial in trials)
    names = {}
    for trial in trials:
        placement = trial.placement.name
        name = f"{placement}, repetition {trial.repetition}" if placements[placement] > 1 else placement
        # In the mirrored order a placement has two trials in each repetition.
        number = trial.id.partition("-")[0].lstrip("0")
        names[trial.id] = f"{name}, trial {number}" if turns[placement, trial.repetition] > 1 else name
    return names


def _seen(
    closeup: Closeup, name: str, scale: Scale, own_flows: Sequence[Flow], most_bytes: float, energy: TrialEnergy
) -> Seen:
    record, span = closeup.record, closeup.run
    own_scale = span is not None and TOO_SHORT * (span.end_ms - span.begin_ms) < scale.length_ms
    if own_scale:
        scale = scale._replace(length_ms=scale_of([closeup]).length_ms)
    signature = closeup.signature
    return Seen(
        closeup=closeup,
        name=name,
        timeline=timeline(closeup, scale, energy.power, energy.whole.basis if energy.whole else None),
        own_scale=own_scale,
        paths=job_paths(closeup),
        flow_picture=flow_picture(own_flows, most_bytes, f"{record.trial.id}: bytes by phase, role and direction"),
        accesses=access_lines(signature, record) if signature else [],
        uses=use_lines(signature, record) if signature else [],
        energy=energy,
        cost=cost_of(record, closeup.samples_bytes),
        missing=(*closeup.unreadable, *(f"{doubt.what}; {doubt.why}" for doubt in probe_doubts(record))),
    )


def probe_doubts(record: Record) -> list[Doubt]:
    """Those that say what the instruments could not see."""
    return [doubt for doubt in record.doubts if doubt.kind.partition("-")[0] in PROBE_KINDS]
