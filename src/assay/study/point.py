"""What a value is of, whether published or measured: the same names on both sides."""

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

Level = str | float
Field = Literal["workload", "job", "settings", "dataset", "medium", "metric", "size", "block", "buffer", "streams"]
PHASES = ("map", "shuffle", "merge", "reduce")
Repeated = Mapping[int, float]
"""A value of each repetition, by its number."""


class Point(NamedTuple):
    """The place of one value. A field that does not apply is empty or 0.

    `medium` is `hdd`, `ssd1` or `ssd2` in the thesis, the SSD's share in percent (`0` to `100`) in the hybrid study.
    `metric` is a phase or task time, `elapsed` or `total` (the four phases added) in seconds, `throughput` in MiB/s,
    `busy` or `iowait` in percent of the processor's time.
    `size` is in GB: of a file in the thesis, of the data set in the hybrid study; `block` and `buffer` are in MB.
    """

    workload: str
    job: str = ""
    settings: str = ""
    dataset: str = ""
    medium: str = ""
    metric: str = "elapsed"
    size: float = 0
    block: float = 0
    buffer: float = 0
    streams: float = 0

    def at(self, field: Field, level: Level) -> "Point":
        """The same place but for one field."""
        return Point(**{**self._asdict(), field: level})

    def told(self, *but: Field) -> str:
        """In words, without some fields: `closing, customs, YouTube, merge`."""
        return ", ".join(_word(field, level) for field, level in self._asdict().items() if level and field not in but)


def level_text(field: Field, level: Level) -> str:
    """A level as tables show it: `customs`, `25 % SSD`, `64 MB`."""
    if field == "medium" and str(level).isdigit():
        return {"0": "hard disk", "100": "SSD"}.get(str(level), f"{level} % SSD")
    return _word(field, level)


def _word(field: str, level: Level) -> str:
    if isinstance(level, str):
        return f"{level} % SSD" if field == "medium" and level.isdigit() else level
    unit = {"size": "GB", "block": "MB blocks", "buffer": "MB buffer", "streams": "streams"}[field]
    return f"{level:g} {unit}"


class Measured:
    """Values by point and repetition. Of a point that comes twice in one repetition the first value stays."""

    def __init__(self, values: Mapping[Point, Repeated]) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def of(self, point: Point) -> Repeated:
        """The values of a point; none where nothing was measured."""
        return self._values.get(point, {})

    def where(self, conditions: "Mapping[Field, Level | tuple[Level, ...]]") -> Iterator[Point]:
        """The points that meet all conditions: a level, or one of several; in the order of measuring."""
        for point in self._values:
            if all(_is_one(getattr(point, field), wanted) for field, wanted in conditions.items()):
                yield point


def _is_one(level: Level, wanted: Level | tuple[Level, ...]) -> bool:
    return level in wanted if isinstance(wanted, tuple) else level == wanted
