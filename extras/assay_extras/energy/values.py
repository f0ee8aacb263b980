"""A trial's energy as plain values, the same for CSV, JSON, Markdown and pages."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from assay.model.fact import Value
from assay.model.record import JOBS, Basis, Part, Record
from assay.model.section import TrialTables
from assay.report.columns import Column
from assay.report.words import significant_text
from assay.stats.timeline import Pieces
from assay_extras.energy.account import (
    NO_ENERGY,
    efficiency,
    energy_account,
    node_energies,
    node_spreads,
    phase_efficiency,
    power_over_time,
)
from assay_extras.energy.model import Efficiency, EnergyAccount, PowerSpread, Ranged

PARTS: tuple[Part, ...] = ("staging", "run", "write out", "collect")
_PRODUCTS: tuple[tuple[str, str, Callable[[Efficiency], Ranged]], ...] = (
    ("energy", "j", lambda account: account.energy_j),
    ("edp", "js", lambda account: account.edp_js),
    ("ed2p", "js2", lambda account: account.ed2p_js2),
)
_ENDS = {"value": "", "low": "_low", "high": "_high"}


class ComponentEnergy(NamedTuple):
    """One component's joules by part; `jobs_share` is of all that is added up in the jobs' own parts."""

    component: str
    basis: Basis
    energy_j: dict[Part, Ranged]
    jobs_share: float | None
    within: str | None


class TrialEnergy(NamedTuple):
    """All that is known of one trial's energy; `whole` is of its jobs with what was written out after them.

    `nodes` are the same of each of several nodes. `power` is that of each node's components over the run and its
    writing out, `spreads` each node's over the run.
    """

    components: tuple[ComponentEnergy, ...]
    whole: Efficiency | None
    nodes: Mapping[str, Efficiency]
    phases: dict[str, Efficiency]
    missing: tuple[str, ...]
    power: Mapping[tuple[str, str], Pieces]
    spreads: Mapping[str, PowerSpread]


def energy_of(tables: TrialTables) -> TrialEnergy:
    """By the default model of power, where nothing measured."""
    account = energy_account(tables.record, tables.series)
    whole = efficiency(account)
    return TrialEnergy(
        components=_components(account, whole),
        whole=whole,
        nodes=node_energies(tables.record),
        phases=phase_efficiency(account, tables.attempts),
        missing=account.missing,
        power=power_over_time(account, tables.run) if tables.run is not None else {},
        spreads=node_spreads(account),
    )


def ranged_text(figure: Ranged) -> str:
    """Two significant digits and the range: `1,200 (800 to 1,900)`."""
    low, high = significant_text(figure.low), significant_text(figure.high)
    return f"{significant_text(figure.value)} ({low} to {high})"


def energy_values(known: Efficiency | None) -> dict[str, Value]:
    """Joules, EDP and ED2P with their ranges, units in the names, and how they are known; None where they are not."""
    values: dict[str, Value] = {}
    for name, unit, of in _PRODUCTS:
        for end, key in _ENDS.items():
            values[f"{name}{key}_{unit}"] = getattr(of(known), end) if known else None
    values["energy_seconds"] = known.seconds if known else None
    values["energy_basis"] = known.basis if known else None
    return values


def energy_columns(values: Sequence[Mapping[str, Value]]) -> list[Column]:
    """Some `energy_values`, or medians of them, as people read them."""
    heads = (("energy", "J", 0), ("EDP", "J s", 1), ("ED2P", "J s^2", 2))
    columns = []
    for (head, words, rank), (name, unit, _) in zip(heads, _PRODUCTS, strict=True):
        ends = [{end: row_values[f"{name}{key}_{unit}"] for end, key in _ENDS.items()} for row_values in values]
        cells = [
            "-" if end_values["value"] is None else ranged_text(Ranged.model_validate(end_values))
            for end_values in ends
        ]
        columns.append(Column(f"{head} ({words})", cells, rank=rank))
    return [*columns, Column("basis", [str(value["energy_basis"] or "missing") for value in values], words=True)]


def record_values(record: Record) -> dict[str, Value]:
    """What a trial's jobs took."""
    return energy_values(efficiency(energy_account(record)))


def record_json(record: Record) -> dict[str, object]:
    """A trial's energy as JSON holds it: by part and component, what its jobs took in all, and each of its nodes."""
    account = energy_account(record)
    nodes = {node: energy_values(known) for node, known in node_energies(record).items()}
    return {
        "components": [energy.model_dump(exclude={"power"}) for energy in account.energies],
        "missing": list(account.missing),
        "jobs": energy_values(efficiency(account)),
        **({"nodes": nodes} if nodes else {}),
    }


def _components(account: EnergyAccount, whole: Efficiency | None) -> tuple[ComponentEnergy, ...]:
    by_component: dict[tuple[str, str, Basis, str | None], dict[Part, Ranged]] = {}
    for energy in account.energies:
        parts = by_component.setdefault((energy.node, energy.label, energy.basis, energy.within), {})
        parts[energy.part] = parts.get(energy.part, NO_ENERGY) + energy.energy_j
    several = len({node for node, *_ in by_component}) > 1
    components = []
    for (node, component, basis, within), parts in by_component.items():
        jobs_j = [energy.value for part, energy in parts.items() if part in JOBS]
        components.append(
            ComponentEnergy(
                component=f"{node}: {component}" if several else component,
                basis=basis,
                energy_j=parts,
                jobs_share=sum(jobs_j) / whole.energy_j.value if jobs_j and whole and whole.energy_j.value else None,
                within=within,
            )
        )
    return tuple(components)
