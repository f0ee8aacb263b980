"""Energy: what each component of a node took, how it is known, and what it is set against.

EDP and ED2P are the energy-delay products of the HPC study (its equation 1: ED2P = EC x ET^2): lower is better.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from assay.model.base import Frozen
from assay.model.record import Basis, Part, Span


class Ranged(Frozen):
    """A quantity with the ends between which it is believed to lie; its unit is that of its name.

    Sums and products are of value with value and end with end, as if all inputs were wrong in the same direction: the
    widest range that the inputs allow, wider than chance would make it.
    """

    value: float
    low: float
    high: float

    def __add__(self, other: "Ranged") -> "Ranged":
        return Ranged(value=self.value + other.value, low=self.low + other.low, high=self.high + other.high)

    def times(self, factor: float) -> "Ranged":
        """Multiply value and range by a factor of at least 0."""
        return Ranged(value=self.value * factor, low=self.low * factor, high=self.high * factor)

    def lowered(self, by: float) -> "Ranged":
        """Lower the lower end by so much, but not below 0."""
        return self.model_copy(update={"low": max(0.0, self.low - by)})


def give_or_take(value: float, share: float) -> Ranged:
    """A value that may be off by a share of itself to either side."""
    return Ranged(value=value, low=value * (1 - share), high=value * (1 + share))


class PowerFigure(Ranged):
    """One input of the model of power: its range, whether that was published or is assumed, and where it is from."""

    basis: Literal["published", "assumption"]
    source: str


class DiskPower(Frozen):
    """What a drive takes in its two states."""

    idle_watts: Ranged
    active_watts: Ranged


_CARBON = "Cloud Carbon Footprint's coefficients (SPECpower_ssj2008 results by hardware thread)"
_SHEETS = "data sheets and reviews of such drives"


class PowerModel(Frozen):
    """Figures for what nothing measures: those of a typical machine, to be replaced by one's own.

    A processor takes `cpu_idle_watts` per hardware thread, and with its use in proportion up to `cpu_busy_watts`: a
    straight line, as Fan, Weber and Barroso found for whole servers (ISCA 2007). `hdd` is the thesis' WD10EZEX as its
    profile has it (a sibling drive's review); `ssd` is between the data sheets of the thesis' two.

    `emulated_share` is by how much an emulated drive's joules may be off, whose watts are its profile's, and
    `measured_share` by how much a meter's may be.
    """

    cpu_idle_watts: Ranged = PowerFigure(
        value=0.74, low=0.40, high=1.7, basis="published",
        source=f"{_CARBON}: the mean over Amazon's machines; from EPYC of 2019 to Coffee Lake",
    )  # fmt: skip
    cpu_busy_watts: Ranged = PowerFigure(
        value=3.5, low=1.7, high=7.8, basis="published",
        source=f"{_CARBON}: the mean over Amazon's machines; from EPYC of 2019 to Coffee Lake",
    )  # fmt: skip
    memory_watts_per_gib: Ranged = PowerFigure(
        value=0.42, low=0.21, high=0.63, basis="assumption",
        source="0.392 W/GB as Cloud Carbon Footprint has it from two makers of memory; half of it to either side",
    )  # fmt: skip
    hdd: DiskPower = DiskPower(
        idle_watts=PowerFigure(value=6.1, low=3.5, high=8.0, basis="assumption", source=_SHEETS),
        active_watts=PowerFigure(value=6.8, low=5.0, high=10.0, basis="assumption", source=_SHEETS),
    )
    ssd: DiskPower = DiskPower(
        idle_watts=PowerFigure(value=0.1, low=0.03, high=1.0, basis="assumption", source=_SHEETS),
        active_watts=PowerFigure(value=3.0, low=1.5, high=5.0, basis="assumption", source=_SHEETS),
    )
    emulated_share: float = 0.3
    measured_share: float = 0.05


class PowerSeries(Frozen):
    """Power of a component over time: `watts[i]` from `edges_ms[i]` to `edges_ms[i + 1]`."""

    edges_ms: tuple[int, ...]
    watts: tuple[float, ...]


class Energy(Frozen):
    """Joules of one component in one part of a trial.

    `component` is `node` (all of it), `platform` (processor, memory and board), `cpu`, `memory` or a medium's name.
    `worker` is the cluster's node whose medium that is, where several share the machine `node`. `within` names the
    component that holds it already: such joules are shown and not added up. `power` is how they were spread over time.
    """

    node: str
    component: str
    worker: Annotated[str | None, Field(exclude_if=lambda worker: worker is None)] = None
    part: Part
    energy_j: Ranged
    basis: Basis
    within: str | None = None
    power: PowerSeries | None = None

    @property
    def label(self) -> str:
        """The component, with the worker whose it is before it: `hdd`, `worker-1/hdd`."""
        return f"{self.worker}/{self.component}" if self.worker else self.component


class EnergyAccount(Frozen):
    """All that is known of a trial's energy, the parts' spans, and what is missing, in words."""

    spans: Mapping[Part, Span] = {}
    energies: tuple[Energy, ...] = ()
    missing: tuple[str, ...] = ()


class Efficiency(Frozen):
    """Energy set against time: EDP in joule seconds, ED2P in joule seconds squared; lower is better."""

    energy_j: Ranged
    seconds: float
    basis: Basis

    @property
    def edp_js(self) -> Ranged:
        """Energy times delay."""
        return self.energy_j.times(self.seconds)

    @property
    def ed2p_js2(self) -> Ranged:
        """Energy times delay squared."""
        return self.energy_j.times(self.seconds**2)


class PowerSpread(NamedTuple):
    """A node's power over a stretch of time, as a box plot shows it: quartiles between the least and the greatest."""

    node: str
    least_watts: float
    first_quartile_watts: float
    median_watts: float
    third_quartile_watts: float
    greatest_watts: float
