"""Room temperature: a toy kind of probe, added from outside the package."""

from collections.abc import Mapping

from assay.model.doubt import Doubt, doubt_kind
from assay.model.probe import Chart, ChartPanel, ChartSeries, Moment, ProbeKind, Quantity, Scene, Values
from assay.model.quantity import Kind
from assay.model.registry import PROBES

DRAUGHT = doubt_kind(
    "draught", "instrument", when="always", why="the air is not the drives'", cure="close the window",
    instrument="temperature",
)  # fmt: skip


class Temperature:
    """Warms up with each look."""

    name = "temperature"

    def __init__(self) -> None:
        self._looks = 0

    def attach(self, scene: Scene) -> None:
        pass

    def sample(self, now: Moment) -> Values:
        self._looks += 1
        return {("", "room_celsius"): 20.0 + self._looks}

    def totals(self) -> Mapping[Quantity, float]:
        return {Quantity("room", "looks_count"): self._looks}

    def doubts(self) -> tuple[Doubt, ...]:
        return (DRAUGHT.doubt("the window was open"),)

    def close(self) -> None:
        pass


CHART = Chart(
    "temperature",
    (ChartPanel("temperature of the room, °C", "°C", "lines", (ChartSeries("room_celsius", "room", "green"),)),),
)
SERIES = {"room_celsius": Kind.LEVEL, "looks_count": Kind.COUNT}
PROBES.add("temperature", ProbeKind(lambda _: Temperature(), (CHART,), series=SERIES))
