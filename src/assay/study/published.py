"""The studies' figures and statements, from the package's data; `data/README.md` says what their columns are."""

import csv
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

from assay.model.base import Frozen
from assay.study.difference import PUBLISHED_SHARE, Direction, published_direction
from assay.study.point import Field, Level, Point

StudyName = Literal["thesis", "hybrid"]
BASES = (
    ("defaults", "containers"), ("defaults", "customs"), ("containers", "customs"),
    ("containers", "single-sort-factor"), ("containers", "single-file-buffer"),
)  # fmt: skip
"""Which settings are set against which."""


class Cell(Frozen):
    """One published time, in seconds. `derived`: computed from printed ones."""

    table: str
    point: Point
    seconds: float
    derived: bool = False


class Contrast(Frozen):
    """Two published values, or how they relate: `second` over `first` at two levels of one field."""

    table: str
    field: Field
    first: Point
    second: Point
    ratio: float | None
    direction: Direction


class Statement(Frozen):
    """What a study says, in our words; `support` is what its own numbers say of it (see the data's README)."""

    id: str
    study: StudyName
    section: str
    claim: str
    support: str


@cache
def cells(study: StudyName) -> tuple[Cell, ...]:
    """All published times; the hybrid study gives none."""
    if study == "hybrid":
        return ()
    return tuple(
        Cell(
            table=f"Table {row['table']}",
            point=Point(row["workload"], row["job"], row["settings"], row["dataset"], row["medium"], row["metric"]),
            seconds=float(row["seconds"]),
            derived=row["kind"] == "derived",
        )
        for row in _rows("thesis_times.csv")
    )


@cache
def contrasts(study: StudyName) -> tuple[Contrast, ...]:
    """Every comparison of two media or two settings that differ in nothing else, in the order of the tables."""
    if study == "hybrid":
        return tuple(_hybrid_change(row) for row in _rows("hybrid_changes.csv"))
    by_point = {cell.point: cell for cell in cells(study)}
    found = []
    for second in cells(study):
        found += [_contrast(by_point, second, "medium", name) for name in _media_before(second.point.medium)]
        found += [_contrast(by_point, second, "settings", a) for a, b in BASES if b == second.point.settings]
    return (*(one for one in found if one is not None), *map(_thesis_change, _rows("thesis_changes.csv")))


@cache
def statements(study: StudyName) -> tuple[Statement, ...]:
    """In the study's order."""
    return tuple(Statement.model_validate(row) for row in _rows("statements.csv") if row["study"] == study)


@cache
def dataset_names() -> Mapping[str, str]:
    """The thesis' names of its graphs, by the names that experiments use."""
    return {row["name"]: row["dataset"] for row in _rows("thesis_datasets.csv")}


def _media_before(medium: str) -> tuple[str, ...]:
    media = ("hdd", "ssd1", "ssd2")
    return media[: media.index(medium)]


def _contrast(by_point: Mapping[Point, Cell], second: Cell, field: Field, level: Level) -> Contrast | None:
    first = by_point.get(second.point.at(field, level))
    if first is None:
        return None
    a, b = first.seconds, second.seconds
    return Contrast(
        table=second.table, field=field, first=first.point, second=second.point,
        ratio=b / a if a and b else None, direction=published_direction(a, b),
    )  # fmt: skip


def _thesis_change(row: Mapping[str, str]) -> Contrast:
    point = Point(row["workload"], row["job"], row["to_settings"], row["dataset"], row["medium"], row["metric"])
    first = point.at("settings", row["from_settings"])
    return _change(f"Table {row['table']}", "settings", first, point, float(row["percent"]))


def _hybrid_change(row: Mapping[str, str]) -> Contrast:
    size, block, buffer, streams = (float(row[name]) for name in ("data_gb", "block_mb", "buffer_mb", "streams"))
    point = Point(
        "sort", "sort", medium=row["to_share_percent"], size=size, block=block, buffer=buffer, streams=streams
    )
    first = point.at("medium", row["from_share_percent"])
    return _change(f"Figure {row['figure']}", "medium", first, point, float(row["percent"]))


def _change(table: str, field: Field, first: Point, second: Point, percent: float) -> Contrast:
    ratio = 1 + percent / 100
    direction: Direction = 0 if abs(ratio - 1) <= PUBLISHED_SHARE else -1 if ratio < 1 else 1
    return Contrast(table=table, field=field, first=first, second=second, ratio=ratio, direction=direction)


def _rows(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(files("assay.study").joinpath("data", name).read_text().splitlines()))
