"""Drive profiles: the figures that an emulated drive is built from, and what is to be measured of it."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator

from assay.model.base import Frozen, Number
from assay.model.naming import MOST_NAME_CHARACTERS

ParameterBasis = Literal["data-sheet", "review", "assumption", "calibration", "not stated"]
Evidence = Literal["published", "measured", "assumed"]
ASSUMED, PARAMETERS = "assumed_parameters", "parameters"
"""The facts of an emulated drive that say how many of its parameters are assumed, and how many there are."""

ASSUMED_TIMES: Mapping[str, float] = {"slower": 1.25, "faster": 0.8}
"""By what the times of a drive are multiplied where all that is assumed of its speed is a fifth worse, or better."""
VISIT, SEGMENT = "stream_visit_bytes", "read_segment_bytes"
ASSUMED_VISITS: Mapping[str, float] = {"slower": 0.25, "faster": 2.0}
"""By what a hard disk's visits to one of several streams are multiplied there: sources say little of more than two
(docs/reference/media.md)."""
_TIMES, _RATES = ("_ms", "_us"), ("_mb_s", "_per_s", "_iops", "_rpm")

_INSIDE = "channel_mb_s"
"""A rate inside a drive, which shapes the latency of a request; the link bounds what all requests get."""
_DIVIDED_BYTES = ("buffer_bytes", "slc_cache_bytes", "slc_cache_dynamic_bytes", "erased_bytes", "fast_write_bytes")
"""What a drive holds of what is written to it, for all that write."""

EVIDENCE: Mapping[ParameterBasis, Evidence] = {
    "data-sheet": "published",
    "review": "published",
    "calibration": "measured",
}
"""How far a figure can be trusted, by its basis; any other is assumed."""


EXPECTED = (
    "sequential_read_mb_s", "sequential_write_mb_s", "random_read_4k_iops_depth1", "random_read_4k_iops_depth32",
    "random_write_4k_iops_depth1", "random_write_4k_iops_depth32", "streams_2_read_mb_s", "streams_4_read_mb_s",
    "streams_8_read_mb_s", "write_cache_knee_bytes", "sequential_write_beyond_cache_mb_s",
)  # fmt: skip
"""What published measurements may be given of, by the names under which calibration measures it."""


SHORT_NAMES: Mapping[str, str] = {
    "hdd": "seagate-constellation-es3-4tb", "ssd": "intel-s4500-960gb", "nvme": "intel-p4500-1tb",
}  # fmt: skip
"""What commands call the usual drives of servers."""
PROFILE_FILES = frozenset({".yaml", ".yml"})
"""What the names of files that hold a profile end with."""


def varied_name(name: str, way: str) -> str:
    """What a medium calls the profile of that name whose assumed figures are `slower`, or `faster`."""
    return f"{name}:{way}"


def way_of(profile: str) -> tuple[str, str]:
    """A profile's own name, and `slower` or `faster` where a medium calls its variation; else an empty word."""
    name, _, way = profile.rpartition(":")
    return (name, way) if name and way in ASSUMED_TIMES else (profile, "")


class Figure(Frozen):
    """One figure of a drive; its unit is in its name. `basis` and `source` tell how far it can be trusted."""

    value: Number
    basis: ParameterBasis = "not stated"
    source: str = ""

    @property
    def evidence(self) -> Evidence:
        """The evidence that the basis gives."""
        return EVIDENCE.get(self.basis, "assumed")


class QueueSettings(Frozen):
    """How the kernel treats a drive, as its files in /sys/block/DEVICE/queue say; what is None is not known.

    `nr_requests` wait in the scheduler or the driver at most, and `wbt_lat_usec` is the read latency that write-back is
    slowed down for.
    """

    rotational: bool
    scheduler: str = "none"
    nr_requests: int | None = Field(default=None, ge=1, le=1 << 20)
    read_ahead_kb: int = Field(default=128, ge=0, le=1 << 20)
    max_sectors_kb: int | None = Field(default=None, ge=4, le=1 << 20)
    wbt_lat_usec: int | None = Field(default=None, ge=0, le=1 << 30)


class DriveProfile(Frozen):
    """A drive as a profile file describes it.

    `title` names the drive in full, `model` in short, as answers name it. `figures` are what its emulation is built
    from, and all that it does takes `slowdown` times as long; `expected` are what published measurements show of such a
    drive, against which calibration holds the emulated one. `queue` is how the kernel treats the drive; without it as
    is usual for such drives. `lines` are where the figures stand in the file.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=MOST_NAME_CHARACTERS)
    kind: str
    title: str = ""
    model: str = ""
    figures: Mapping[str, Figure]
    slowdown: int = 1
    expected: Mapping[str, Figure] = {}
    queue: QueueSettings | None = None
    file: Path
    lines: Mapping[str, int] = {}

    @field_validator("figures", "expected", mode="before")
    @classmethod
    def _plain_values(cls, value: Any) -> Any:
        """A plain value is a figure without a source."""
        if not isinstance(value, dict):
            return value
        return {name: figure if isinstance(figure, dict) else {"value": figure} for name, figure in value.items()}

    @property
    def values(self) -> dict[str, float]:
        """The figures alone."""
        return {name: figure.value for name, figure in self.figures.items()}

    @property
    def assumed(self) -> int:
        """How many of its parameters are assumed."""
        return sum(figure.evidence == "assumed" for figure in self.figures.values())

    @property
    def speed_is_assumed(self) -> bool:
        """Whether any of its times and rates is assumed."""
        return self.varied("slower").values != self.values

    def varied(self, way: str) -> "DriveProfile":
        """Return the drive with its assumed times and rates `slower` or `faster`, by `ASSUMED_TIMES`.

        Sizes, counts and power are no speeds, and stay, but for how long the arm stays with one of several streams.
        """
        factor = ASSUMED_TIMES[way]
        figures = {}
        for name, figure in self.figures.items():
            times = factor if name.endswith(_TIMES) else 1 / factor if name.endswith(_RATES) else 1
            varies = figure.evidence == "assumed" and times != 1
            figures[name] = figure.model_copy(update={"value": figure.value * times}) if varies else figure
        if VISIT in figures and figures[VISIT].evidence == "assumed" and SEGMENT in figures:
            visit_bytes = min(figures[VISIT].value * ASSUMED_VISITS[way], figures[SEGMENT].value)
            figures[VISIT] = figures[VISIT].model_copy(update={"value": visit_bytes})
        labels = {key: f"{value}, assumed figures {way}" for key in ("title", "model") if (value := getattr(self, key))}
        return self.model_copy(update={"figures": figures, **labels})

    def shared(self, by: float) -> "DriveProfile":
        """Return the part of the drive that one of `by` equal users of it has, while all of them are busy.

        Each has that part of its rates and of its buffers, at the latencies of the drive alone. Raises ValueError for a
        hard disk: its users wait for one arm, so that it is slower in all that it does.
        """
        if self.kind == "hdd":
            raise ValueError("a hard disk with several users is slower in all that it does; say `slowdown`")
        rates = {name for name in self.figures if name.endswith(_RATES)} - {_INSIDE}
        measured = {name for name in self.expected if name.endswith((*_RATES, "_depth32"))}
        figures, expected = (
            {
                name: figure.model_copy(update={"value": figure.value / by}) if name in divided else figure
                for name, figure in values.items()
            }
            for values, divided in ((self.figures, rates | {*_DIVIDED_BYTES}), (self.expected, measured))
        )
        labels = {key: f"1/{by:g} of {value}" for key in ("title", "model") if (value := getattr(self, key))}
        return self.model_copy(update={"figures": figures, "expected": expected, **labels})

    @property
    def expected_values(self) -> dict[str, float]:
        """What is to be measured, alone."""
        return {name: figure.value for name, figure in self.expected.items()}

    @property
    def for_emulator(self) -> str:
        """The profile in the emulator's form: JSON with plain values."""
        slowdown = {"slowdown": self.slowdown} if self.slowdown != 1 else {}
        return json.dumps({"name": self.name, "kind": self.kind, "figures": self.values, **slowdown}, sort_keys=True)

    @property
    def digest(self) -> str:
        """Tells two versions of a profile apart: the start of a SHA-256 of what the emulator and the kernel get."""
        queue = self.queue.model_dump_json() if self.queue else ""
        return hashlib.sha256(f"{self.for_emulator}{queue}".encode()).hexdigest()[:16]

    def where(self, figure: str | None) -> str:
        """File and line of a figure, for errors; of the figures' heading when the figure is not in the file."""
        line = self.lines.get(figure or "", self.lines.get("figures"))
        return f"{self.file}, line {line}" if line else str(self.file)
