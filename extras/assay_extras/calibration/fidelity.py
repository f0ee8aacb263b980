"""A calibration's named figures, and how near an emulated drive comes to its profile.

The names are those of a profile's `expected`; a bound is the share by which a figure may differ.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from assay_extras.calibration.calibration import AccessPoint, Calibration

MIB = 1 << 20
STREAMS = (2, 4, 8)
BOUNDS: Mapping[str, float] = {
    "sequential_read_mb_s": 0.05,
    "sequential_write_mb_s": 0.05,
    "random_read_4k_iops_depth1": 0.10,
    "random_write_4k_iops_depth1": 0.10,
    "random_read_4k_iops_depth32": 0.15,
    "random_write_4k_iops_depth32": 0.15,
    **{f"streams_{streams}_read_mb_s": 0.20 for streams in STREAMS},
    "write_cache_knee_bytes": 0.10,
    "sequential_write_beyond_cache_mb_s": 0.05,
}

REACHABLE = 0.95
"""Of a ceiling: what is nearer leaves a drive's model no time of its own."""

Judgement = Literal["pass", "fail", "beyond this machine", "not measured"]


class FidelityCheck(NamedTuple):
    """One named figure: measured, as the profile has it, and the most that this machine can show."""

    name: str
    measured: float | None
    expected: float
    ceiling: float | None
    bound: float
    basis: str

    @property
    def error(self) -> float | None:
        """Measured over expected, less one."""
        return None if self.measured is None else self.measured / self.expected - 1

    @property
    def judgement(self) -> Judgement:
        """Within the bound or not; unless the machine itself, without any drive model, hardly reaches the figure."""
        if self.error is not None and abs(self.error) <= self.bound:
            return "pass"
        if self.ceiling is not None and self.expected > REACHABLE * self.ceiling:
            return "beyond this machine"
        return "not measured" if self.error is None else "fail"


def named_figures(calibration: Calibration) -> dict[str, float]:
    """Those of the named figures that the calibration has."""
    points = calibration.points
    figures: dict[str, float | None] = {
        "sequential_read_mb_s": _sequential_mb_s(points, "read"),
        "sequential_write_mb_s": _sequential_mb_s(points, "write"),
    }
    for direction in ("read", "write"):
        for depth in (1, 32):
            figures[f"random_{direction}_4k_iops_depth{depth}"] = _random_iops(points, direction, depth)
    for streams in STREAMS:
        figures[f"streams_{streams}_read_mb_s"] = _streams_mb_s(points, streams)
    if calibration.knee:
        figures["write_cache_knee_bytes"] = float(calibration.knee.knee_bytes)
        figures["sequential_write_beyond_cache_mb_s"] = calibration.knee.beyond_mb_s
    return {name: value for name, value in figures.items() if value is not None}


def compare(calibration: Calibration, ceilings: Mapping[str, float] | None = None) -> list[FidelityCheck]:
    """Every figure that the profile expects, in the order of `BOUNDS`. `ceilings` are a null drive's figures."""
    measured = named_figures(calibration)
    return [
        FidelityCheck(
            name=name,
            measured=measured.get(name),
            expected=calibration.expected[name].value,
            ceiling=(ceilings or {}).get(name),
            bound=bound,
            basis=calibration.expected[name].basis,
        )
        for name, bound in BOUNDS.items()
        if name in calibration.expected
    ]


def _sequential_mb_s(points: tuple[AccessPoint, ...], direction: str) -> float | None:
    """1 MiB direct at depth 8 at the beginning: on a rotating disk, its outer tracks. The device before a file."""
    rates = {
        point.span: point.mb_s
        for point in points
        if (point.direction, point.pattern, point.block_bytes, point.depth) == (direction, "sequential", MIB, 8)
        and not point.buffered
        and not point.start_share
    }
    return rates.get("device", rates.get("file"))


def _random_iops(points: tuple[AccessPoint, ...], direction: str, depth: int) -> float | None:
    """4 KiB direct; over the whole device where that was measured, else over the test file."""
    iops = {
        point.span: point.iops
        for point in points
        if (point.direction, point.pattern, point.block_bytes, point.depth) == (direction, "random", 4096, depth)
        and not point.buffered
    }
    return iops.get("device", iops.get("file"))


def _streams_mb_s(points: tuple[AccessPoint, ...], streams: int) -> float | None:
    """Buffered sequential readers, all together."""
    rates = [
        point.mb_s
        for point in points
        if (point.direction, point.pattern, point.streams) == ("read", "sequential", streams) and point.buffered
    ]
    return rates[0] if rates else None
