"""A trial's energy as reports show it: by component and part, by phase, and against time."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from assay.model.energy import Efficiency, EnergyAccount, Phase, Ranged, Spread
from assay.model.record import Basis, Part, Record, Sample
from assay.record.folder import RunFolder
from assay.report.closeup import Closeup
from assay.report.figures import Value
from assay.report.gathered import WHOLE_UP_TO, Gathered
from assay.report.levels import levels_of
from assay.report.text import significant_text
from assay.stats.binning import Pieces
from assay.stats.energy import (
    JOBS,
    NO_ENERGY,
    by_phase,
    efficiency,
    energy_account,
    node_spreads,
    phase_efficiency,
    power_over_time,
)
from assay.stats.machine_kind import machine_kinds
from assay.stats.sample import MACHINE, counts
from assay.stats.summary import Row

Levels = tuple[tuple[str, str], ...]
PARTS: tuple[Part, ...] = ("staging", "run", "write out", "collect")
PHASES: tuple[Phase, ...] = ("map", "shuffle", "merge", "reduce", "outside")
# All that the account of energy looks at: making a Sample of each of a long trial's would take seconds.
_PROBES = ("rapl", "redfish")
_SERIES = (
    ("cpu", "user_percent"), ("cpu", "system_percent"),
    ("processes", "emulator/user_percent"), ("processes", "emulator/system_percent"),
)  # fmt: skip
_PRODUCTS: tuple[tuple[str, str, Callable[[Efficiency], Ranged]], ...] = (
    ("energy", "j", lambda one: one.energy_j),
    ("edp", "js", lambda one: one.edp_js),
    ("ed2p", "js2", lambda one: one.ed2p_js2),
)


class ComponentEnergy(NamedTuple):
    """One component's joules by part; `jobs_share` is of all that is added up in the jobs' own parts."""

    component: str
    basis: Basis
    energy_j: dict[Part, Ranged]
    jobs_share: float | None
    within: str | None


class TrialEnergy(NamedTuple):
    """All that is known of one trial's energy; `whole` is of its jobs with what was written out after them.

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
    account = energy_account(closeup.record, _samples(closeup))
    whole = efficiency(account)
    return TrialEnergy(
        components=_components(account, whole),
        whole=whole,
        phases=phase_efficiency(by_phase(account, closeup.attempts)),
        missing=account.missing,
        power=power_over_time(account, closeup.run) if closeup.run is not None else {},
        spreads=node_spreads(account),
    )


def ranged_text(figure: Ranged) -> str:
    """Two significant digits and the range: `1,200 (800 to 1,900)`."""
    low, high = significant_text(figure.low), significant_text(figure.high)
    return f"{significant_text(figure.value)} ({low} to {high})"


def energy_values(found: Sequence[Efficiency | None]) -> dict[str, Value]:
    """Medians over trials, with units in the names: joules, EDP and ED2P with their ranges, and how they are known."""
    known = [one for one in found if one is not None]
    values: dict[str, Value] = {}
    for name, unit, of in _PRODUCTS:
        ranges = [of(one) for one in known]
        values[f"{name}_{unit}"] = median(one.value for one in ranges) if known else None
        values[f"{name}_low_{unit}"] = median(one.low for one in ranges) if known else None
        values[f"{name}_high_{unit}"] = median(one.high for one in ranges) if known else None
    values["energy_seconds"] = median(one.seconds for one in known) if known else None
    values["energy_basis"] = ", ".join(sorted({one.basis for one in known})) or None
    return values


ENERGY_HEAD = ("energy (J)", "EDP (J s)", "ED2P (J s^2)", "basis")


def energy_cells(values: Mapping[str, Value]) -> list[str]:
    """Some `energy_values` as people read them, below ENERGY_HEAD."""
    if values["energy_basis"] is None:
        return ["-", "-", "-", "missing"]
    return [*(ranged_text(_ranged(values, name, unit)) for name, unit, _ in _PRODUCTS), str(values["energy_basis"])]


def _ranged(values: Mapping[str, Value], name: str, unit: str) -> Ranged:
    """One of `energy_values` with its ends."""
    value, low, high = (values[f"{name}{end}_{unit}"] for end in ("", "_low", "_high"))
    return Ranged.model_validate({"value": value, "low": low, "high": high})


def efficiencies(run: Gathered) -> dict[str, Efficiency | None]:
    """What each trial's jobs took, by trial; of a run whose outlines alone were read, from its records once more."""
    records: Iterable[object] = run.records
    if run.folder is not None and len(run.records) + len(run.damaged) > WHOLE_UP_TO:
        records = RunFolder(run.folder).each(run.plan)
    return {record.trial.id: efficiency(energy_account(record)) for record in records if isinstance(record, Record)}


def row_energies(
    rows: Sequence[Row], records: Sequence[Record], known: Mapping[str, Efficiency | None]
) -> list[dict[str, Value]]:
    """`energy_values` of the trials that count for each combination; the records are those that the rows are of."""
    of_levels: dict[Levels, list[Efficiency | None]] = {}
    for record, machine in zip(records, machine_kinds(records), strict=True):
        if counts(record):
            levels = {**record.trial.factors, MACHINE: machine}
            of_levels.setdefault(tuple(sorted(levels.items())), []).append(known.get(record.trial.id))
    return [energy_values(of_levels.get(tuple(sorted(levels_of(row).items())), [])) for row in rows]


def energy_json(record: Record) -> dict[str, object]:
    """A trial's energy as JSON holds it: by part and component, and what its jobs took in all."""
    account = energy_account(record)
    return {
        "components": [energy.model_dump(exclude={"power"}) for energy in account.energies],
        "missing": list(account.missing),
        "jobs": energy_values([efficiency(account)]),
    }


def _components(account: EnergyAccount, whole: Efficiency | None) -> tuple[ComponentEnergy, ...]:
    found: dict[tuple[str, str, Basis, str | None], dict[Part, Ranged]] = {}
    for energy in account.energies:
        parts = found.setdefault((energy.node, energy.component, energy.basis, energy.within), {})
        parts[energy.part] = parts.get(energy.part, NO_ENERGY) + energy.energy_j
    nodes = {node for node, *_ in found}
    return tuple(
        ComponentEnergy(
            component=component if len(nodes) == 1 else f"{node}: {component}",
            basis=basis,
            energy_j=parts,
            jobs_share=_jobs_share(parts, whole),
            within=within,
        )
        for (node, component, basis, within), parts in found.items()
    )


def _jobs_share(parts: Mapping[Part, Ranged], whole: Efficiency | None) -> float | None:
    own = [energy.value for part, energy in parts.items() if part in JOBS]
    return sum(own) / whole.energy_j.value if own and whole and whole.energy_j.value else None


def _samples(closeup: Closeup) -> Iterator[Sample]:
    for (probe, series), points in closeup.series.items():
        if probe in _PROBES or (probe, series) in _SERIES or series.endswith("/busy_percent"):
            for time_ms, value in zip(points.times_ms, points.values, strict=True):
                yield Sample.model_construct(probe=probe, series=series, time_ms=time_ms, value=value)
