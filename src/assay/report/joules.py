"""A trial's energy as a report tells it: by component and part, by phase, and against time."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from assay.model.energy import Efficiency, EnergyAccount, Phase, PowerModel, Spread
from assay.model.record import Basis, Part, Sample
from assay.report.closeup import Closeup
from assay.stats.binning import Pieces
from assay.stats.energy import (
    by_phase,
    efficiency,
    energy_account,
    node_spreads,
    phase_efficiency,
    power_over_time,
)

PARTS: tuple[Part, ...] = ("staging", "run", "write out", "collect")
PHASES: tuple[Phase, ...] = ("map", "shuffle", "merge", "reduce", "outside")
# All that the account of energy looks at: making a Sample of each of a long trial's would take seconds.
_PROBES = ("rapl", "redfish")
_SERIES = ("user_percent", "system_percent")


class ComponentEnergy(NamedTuple):
    """One component's joules by part; `run_share` is of all that is added up in the run part."""

    component: str
    basis: Basis
    energy_j: dict[Part, float]
    run_share: float | None
    within: str | None


class TrialEnergy(NamedTuple):
    """All that is known of one trial's energy.

    `power` is that of each node's components over the run and its writing out, `spreads` each node's over the run.
    """

    components: tuple[ComponentEnergy, ...]
    whole: Efficiency | None
    phases: dict[Phase, Efficiency]
    missing: tuple[str, ...]
    power: Mapping[tuple[str, str], Pieces]
    spreads: Mapping[str, Spread]


def energy_of(closeup: Closeup) -> TrialEnergy:
    """By the default model of power, where nothing measured."""
    account = energy_account(closeup.record, _samples(closeup), PowerModel())
    whole = efficiency(account)
    return TrialEnergy(
        components=_components(account, whole),
        whole=whole,
        phases=phase_efficiency(by_phase(account, closeup.attempts)),
        missing=account.missing,
        power=power_over_time(account, closeup.run) if closeup.run is not None else {},
        spreads=node_spreads(account),
    )


def _components(account: EnergyAccount, whole: Efficiency | None) -> tuple[ComponentEnergy, ...]:
    found: dict[tuple[str, str, Basis, str | None], dict[Part, float]] = {}
    for energy in account.energies:
        parts = found.setdefault((energy.node, energy.component, energy.basis, energy.within), {})
        parts[energy.part] = parts.get(energy.part, 0.0) + energy.energy_j
    nodes = {node for node, *_ in found}
    return tuple(
        ComponentEnergy(
            component=component if len(nodes) == 1 else f"{node}: {component}",
            basis=basis,
            energy_j=parts,
            run_share=parts["run"] / whole.energy_j if whole and whole.energy_j and "run" in parts else None,
            within=within,
        )
        for (node, component, basis, within), parts in found.items()
    )


def _samples(closeup: Closeup) -> Iterator[Sample]:
    for (probe, series), points in closeup.series.items():
        if probe in _PROBES or (probe == "cpu" and series in _SERIES) or series.endswith("/busy_percent"):
            for time_ms, value in zip(points.times_ms, points.values, strict=True):
                yield Sample.model_construct(probe=probe, series=series, time_ms=time_ms, value=value)
