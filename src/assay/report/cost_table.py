"""Energy and the instrument's own cost by workload and placement, on a terminal."""

from collections.abc import Sequence
from statistics import median

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from assay.report.closeup import Closeup
from assay.report.cost import MIB, cost_of, middle
from assay.report.joules import TrialEnergy, energy_of
from assay.report.text import number_text
from assay.stats.summary import summarise, varying

NOTE = (
    "Medians of {count} trials, while their jobs ran. EDP: energy times seconds, lower is better. The probes' cost: "
    "% of one core, growth of Assay's memory (estimated), and their samples on disk."
)


def print_costs(closeups: Sequence[Closeup], console: Console) -> None:
    """One line for each combination of factors that was looked at; nothing where no probe left anything."""
    told = [one for one in closeups if one.record.amounts]
    if not told:
        return
    factors_told = told[0].record.trial.factors
    names = [name for name in varying(summarise([one.record for one in told])) if name in factors_told]
    grouped: dict[tuple[str, ...], list[Closeup]] = {}
    for one in told:
        factors = one.record.trial.factors
        key = (factors["workload"], *(factors[name] for name in names), factors["placement"])
        grouped.setdefault(key, []).append(one)
    table = Table(
        title="energy and the probes' own cost", title_justify="left", header_style="bold", box=SIMPLE_HEAD,
        padding=(0, 0), pad_edge=False,
    )  # fmt: skip
    for name in ("workload", *names, "placement"):
        table.add_column(name, no_wrap=True)
    for name in ("joules", "EDP (J s)"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("basis", no_wrap=True)
    for name in ("core %", "MiB", "MiB/h"):
        table.add_column(name, justify="right", no_wrap=True)
    for key, own in sorted(grouped.items()):
        table.add_row(*key, *_figures(own))
    console.print(table)
    console.print(NOTE.format(count=len(told)), style="dim", highlight=False)


def _figures(own: Sequence[Closeup]) -> list[str]:
    energies = [energy_of(one) for one in own]
    cost = middle([cost_of(one.record, one.samples_bytes) for one in own])
    return [
        *_energy(energies),
        number_text(cost.core_percent),
        number_text(None if cost.growth_bytes is None else cost.growth_bytes / MIB),
        number_text(None if cost.samples_bytes_per_hour is None else cost.samples_bytes_per_hour / MIB),
    ]


def _energy(energies: Sequence[TrialEnergy]) -> list[str]:
    """Joules, EDP and basis of the run part."""
    known = [one.whole for one in energies if one.whole]
    if not known:
        return ["-", "-", "missing"]
    bases = sorted({one.basis for one in known})
    return [
        number_text(median(one.energy_j for one in known)),
        number_text(median(one.edp_js for one in known)),
        ", ".join(bases),
    ]
