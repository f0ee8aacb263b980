"""Energy: what each component of a node took, how it is known, and what it is set against.

EDP and ED2P are the energy-delay products of the HPC study (its equation 1: ED2P = EC x ET^2): lower is better.
"""

from typing import Literal

from assay.model.base import Frozen
from assay.model.record import Basis, Part

Phase = Literal["map", "shuffle", "merge", "reduce", "outside"]


class DiskPower(Frozen):
    """What a drive takes in its two states, as data sheets give them."""

    idle_watts: float
    active_watts: float


class PowerModel(Frozen):
    """Figures for what nothing measures: assumptions about a typical machine, to be replaced by one's own.

    A processor takes `cpu_idle_watts` per hardware thread, and with its use in proportion up to `cpu_busy_watts`: a
    straight line, as Fan, Weber and Barroso found for whole servers (ISCA 2007). Its defaults are the averages over
    SPECpower results of server processors that Cloud Carbon Footprint's methodology uses for Amazon's machines, as is
    the one for memory (0.392 W/GB). `hdd` is the thesis' WD10EZEX as its profile has it (a sibling drive's review);
    `ssd` is between the data sheets of the thesis' two.
    """

    cpu_idle_watts: float = 0.74
    cpu_busy_watts: float = 3.5
    memory_watts_per_gib: float = 0.42
    hdd: DiskPower = DiskPower(idle_watts=6.1, active_watts=6.8)
    ssd: DiskPower = DiskPower(idle_watts=0.1, active_watts=3.0)


class Span(Frozen):
    """A stretch of time, in milliseconds since the epoch."""

    begin_ms: int
    end_ms: int

    @property
    def seconds(self) -> float:
        """How long it is."""
        return (self.end_ms - self.begin_ms) / 1000


class PowerSeries(Frozen):
    """Power of a component over time: `watts[i]` from `edges_ms[i]` to `edges_ms[i + 1]`.

    `component` is `node` (all of it), `platform` (processor, memory and board), `cpu`, `memory` or a medium's name.
    """

    node: str
    component: str
    basis: Basis
    edges_ms: tuple[int, ...]
    watts: tuple[float, ...]


class Energy(Frozen):
    """Joules of one component in one part of a trial.

    `within` names the component that holds it already: such joules are told and not added up. `power` is how they
    were spread over time.
    """

    node: str
    component: str
    part: Part
    energy_j: float
    basis: Basis
    within: str | None = None
    power: PowerSeries | None = None


class EnergyAccount(Frozen):
    """All that is known of a trial's energy, the parts' spans, and what is missing, in words."""

    spans: dict[Part, Span] = {}
    energies: tuple[Energy, ...] = ()
    missing: tuple[str, ...] = ()


class PhaseEnergy(Frozen):
    """A component's joules in one phase of a part's jobs; `outside` is the time in which no task ran.

    `seconds` is how long at least one task was in this phase.
    """

    part: Part
    phase: Phase
    node: str
    component: str
    energy_j: float
    seconds: float
    basis: Basis
    within: str | None = None


class Efficiency(Frozen):
    """Energy set against time: EDP in joule seconds, ED2P in joule seconds squared; lower is better."""

    energy_j: float
    seconds: float
    basis: Basis

    @property
    def edp_js(self) -> float:
        """Energy times delay."""
        return self.energy_j * self.seconds

    @property
    def ed2p_js2(self) -> float:
        """Energy times delay squared."""
        return self.energy_j * self.seconds**2


class Spread(Frozen):
    """A node's power over a stretch of time, as a box plot shows it: quartiles between the least and the greatest."""

    node: str
    least_watts: float
    first_quartile_watts: float
    median_watts: float
    third_quartile_watts: float
    greatest_watts: float
