"""Joules that the processor's own counters tell: RAPL, by the kernel's powercap tree.

Source: Documentation/power/powercap/powercap.rst and drivers/powercap/intel_rapl_common.c. Each zone has a `name`, a
counter `energy_uj` in microjoules that begins anew at 0 after `max_energy_range_uj`, and the processor brings it up to
date about once a millisecond. AMD's processors appear under the same names. Only root may read the counters (Linux
5.10 and newer).

Zones contain each other: `psys` is the whole platform; a package holds its `core` and `uncore`; memory (`dram`) lies in
the tree below a package, but is counted beside it. So `psys` is shown, or packages and memory; never both, never
cores. `intel-rapl-mmio` is another way to the same package counters, and is used only where `intel-rapl` is not there.
"""

import math
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from assay.model.doubt import Doubt, doubt_kind
from assay.model.node import Node
from assay.model.probe import CannotMeasureError, Moment, Quantity, Scene, Values
from assay.model.quantity import Wrap
from assay.probe.counters import step

POWERCAP = Path("/sys/class/powercap")

COMPONENTS = {"psys": "platform", "package": "cpu", "dram": "memory"}
"""The names of the zones of a kind. `platform` holds the other two."""

MOST_WATTS = 1000.0
"""No zone takes more for long: between readings so near that this much wraps no counter, none has wrapped twice."""

LOOK_S = 0.05
"""How long `psys` is watched before it is trusted: on some boards it is there and stands still."""

_ZONE = re.compile(r"(intel-rapl(?:-mmio)?):\d+(?::\d+)?")
_TREES = ("intel-rapl", "intel-rapl-mmio")


class Zone(NamedTuple):
    """A zone that is counted: its component, where its counter is and where that begins anew."""

    component: str
    energy: Path
    range_uj: int


def has_zones(node: Node) -> bool:
    """Whether a node has such counters at all: virtual machines mostly have none."""
    with suppress(OSError):
        return any(map(_ZONE.fullmatch, node.names(POWERCAP)))
    return False


class Rapl:
    """An instrument: energy of the processor packages and their memory, or of the whole platform."""

    name = "rapl"

    def __init__(self, node: Node, look_s: float = LOOK_S) -> None:
        self._node = node
        self._look_s = look_s
        self._counters: list[_Counter] = []
        self._clock_s: float | None = None
        self._doubts: list[Doubt] = []

    def attach(self, scene: Scene) -> None:  # noqa: ARG002 - the counters are the machine's, whatever is watched
        """Open the counters. Raises CannotMeasureError where there are none, or none that may be read."""
        rapl_zones = tuple(zones(self._node))
        if not rapl_zones:
            raise _cannot(
                f"there are no RAPL zones in {POWERCAP}",
                "run on a machine that is not virtual, and load the module intel_rapl_msr",
            )
        try:
            for zone in rapl_zones:
                self._counters.append(_Counter(zone, self._node))
        except PermissionError as error:
            cure = "run Assay as root: since Linux 5.10 only root may"
            raise _cannot(f"{error.filename} can't be read", cure) from None
        platform = [counter for counter in self._counters if counter.component == "platform"]
        others = [counter for counter in self._counters if counter.component != "platform"]
        if platform and others:
            time.sleep(self._look_s)
        moved = [counter.read() > 0 for counter in platform]
        # The platform's counters if there are any and they move; else all the others.
        self._counters, left = (platform, others) if platform and (any(moved) or not others) else (others, platform)
        for counter in left:
            counter.close()

    def sample(self, now: Moment) -> Values:
        """The power of each component."""
        joules: dict[str, float] = {}
        for counter in self._counters:
            most_uj = MOST_WATTS * 1e6 * max(1.0, now.clock_s - (self._clock_s or 0.0))
            joules[counter.component] = joules.get(counter.component, 0.0) + counter.read(most_uj) / 1e6
        before, self._clock_s = self._clock_s, now.clock_s
        if before is None or now.clock_s <= before:
            return {}
        gone_s = now.clock_s - before
        if any(gone_s * MOST_WATTS * 1e6 > counter.range_uj for counter in self._counters):
            problem = f"the RAPL counters were not read for {gone_s:.0f} s, long enough for one to wrap unnoticed"
            self._doubts.append(ENERGY_COUNTER_MAY_HAVE_WRAPPED.doubt(problem))
        return {(component, "power_w"): round(value / gone_s, 3) for component, value in joules.items()}

    def totals(self) -> Mapping[Quantity, float]:
        """The energy of each component."""
        sums: dict[Quantity, float] = {}
        for counter in self._counters:
            quantity = Quantity(counter.component, "energy_j")
            sums[quantity] = sums.get(quantity, 0.0) + counter.counted_uj / 1e6
        return sums

    def doubts(self) -> tuple[Doubt, ...]:
        """Doubt counters that may have wrapped unseen."""
        return tuple(self._doubts[:1])

    def close(self) -> None:
        """Close the counters' files."""
        for counter in self._counters:
            counter.close()
        self._counters = []


class _Counter:
    """A counter kept open, and what it has counted since."""

    def __init__(self, zone: Zone, node: Node) -> None:
        self.component = zone.component
        self.counted_uj = 0
        self.range_uj = zone.range_uj
        self._file = node.open(zone.energy)
        self.close = self._file.close
        self._last_uj = int(self._file.read())

    def read(self, most_uj: float = math.inf) -> int:
        """Microjoules since the last reading; since it began anew where that would be more than `most_uj`.

        So it does at 0 after its range, and after the machine slept. It loses a part of its value for no other reason.
        """
        now_uj = int(self._file.read())
        done = step(self._last_uj, now_uj, wrap=Wrap(self.range_uj, most_uj))
        if done.fell:
            done = step(self._last_uj, now_uj, rebooted=True)
        self._last_uj = int(done.highest)
        self.counted_uj += int(done.gained)
        return int(done.gained)


def zones(node: Node) -> Iterator[Zone]:
    """The zones of a powercap tree that may be counted; none contains another but `platform`, which contains all."""
    names = sorted(node.names(POWERCAP)) if has_zones(node) else []
    trees = [[name for name in names if (zone := _ZONE.fullmatch(name)) and zone[1] == tree] for tree in _TREES]
    for name in next((tree for tree in trees if tree), []):
        component = COMPONENTS.get(node.read(POWERCAP / name / "name").strip().partition("-")[0])
        if component is not None:
            range_uj = int(node.read(POWERCAP / name / "max_energy_range_uj"))
            yield Zone(component, POWERCAP / name / "energy_uj", range_uj)


def _cannot(problem: str, cure: str) -> CannotMeasureError:
    return CannotMeasureError(problem, "the energy of processor and memory can only be modelled from their use", cure)


ENERGY_COUNTER_MAY_HAVE_WRAPPED = doubt_kind(
    "energy-counter-may-have-wrapped", "machine", instrument="rapl",
    when="RAPL's counters were not read for so long that one may have wrapped",
    why="the energy of that time may be too small by the counter's whole range",
    cure="leave Assay a share of a core, and don't suspend the machine while a trial runs",
)  # fmt: skip
