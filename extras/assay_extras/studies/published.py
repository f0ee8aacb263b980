"""The published figures and statements, and which experiments repeat them; `data/README.md` describes the columns."""

import csv
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Literal

from assay.model.base import Frozen
from assay_extras.studies.values import PUBLISHED_SHARE, Direction, Field, Level, StudyPoint, published_direction

StudyName = Literal["thesis", "hybrid", "hpc", "storage"]
BASES = (
    ("defaults", "containers"), ("defaults", "customs"), ("containers", "customs"),
    ("containers", "single-sort-factor"), ("containers", "single-file-buffer"),
)  # fmt: skip
"""Which settings are set against which."""


class PublishedCell(Frozen):
    """One published value, in seconds or its metric's unit. `derived`: computed from printed ones."""

    table: str
    point: StudyPoint
    value: float
    derived: bool = False


class PublishedContrast(Frozen):
    """Two published values, or how they relate: `second` over `first` at two levels of one field.

    `set_up`: whatever was measured, its direction follows from how the experiment is set up, so that it is no evidence;
    `set_up_scaled`: so it is in the experiment's scaled form.
    """

    table: str
    field: Field
    first: StudyPoint
    second: StudyPoint
    ratio: float | None
    direction: Direction
    set_up: bool = False
    set_up_scaled: bool = False


class Statement(Frozen):
    """What a study says, in our words; `support` is what its own numbers say of it (see the data's README)."""

    id: str
    study: StudyName
    section: str
    claim: str
    support: str


@cache
def cells(study: StudyName) -> tuple[PublishedCell, ...]:
    """All published values; the hybrid and the HPC study give changes alone."""
    if study == "storage":
        return tuple(map(_storage_cell, _rows("storage_values.csv")))
    if study != "thesis":
        return ()
    return tuple(
        PublishedCell(
            table=f"Table {row['table']}",
            point=StudyPoint(
                row["workload"], row["job"], row["settings"], row["dataset"], row["medium"], row["metric"]
            ),
            value=float(row["seconds"]),
            derived=row["kind"] == "derived",
        )
        for row in _rows("thesis_times.csv")
    )


@cache
def contrasts(study: StudyName) -> tuple[PublishedContrast, ...]:
    """Every comparison of two levels of one field that differ in nothing else, in the order of the tables."""
    if study == "hybrid":
        return tuple(_hybrid_change(row) for row in _rows("hybrid_changes.csv"))
    if study == "hpc":
        return tuple(_hpc_change(row) for row in _rows("hpc_changes.csv"))
    if study == "storage":
        return _storage_contrasts()
    by_point = {cell.point: cell for cell in cells(study)}
    all_contrasts = []
    for second in cells(study):
        all_contrasts += [_contrast(by_point, second, "medium", name) for name in _media_before(second.point.medium)]
        all_contrasts += [_contrast(by_point, second, "settings", a) for a, b in BASES if b == second.point.settings]
    return (
        *(contrast for contrast in all_contrasts if contrast is not None),
        *map(_thesis_change, _rows("thesis_changes.csv")),
    )


@cache
def statements(study: StudyName) -> tuple[Statement, ...]:
    """In the study's order."""
    return tuple(Statement.model_validate(row) for row in _rows("statements.csv") if row["study"] == study)


@cache
def experiments(study: StudyName) -> tuple[str, ...]:
    """The names of the study's experiments, without `-scaled`."""
    return tuple(row["experiment"] for row in _rows("experiments.csv") if row["study"] == study)


@cache
def dataset_names() -> Mapping[str, str]:
    """The thesis' names of its graphs, by the names that experiments use."""
    return {row["name"]: row["dataset"] for row in _rows("thesis_datasets.csv")}


def _media_before(medium: str) -> tuple[str, ...]:
    media = ("hdd", "ssd1", "ssd2")
    return media[: media.index(medium)]


def _contrast(
    by_point: Mapping[StudyPoint, PublishedCell], second: PublishedCell, field: Field, level: Level
) -> PublishedContrast | None:
    first = by_point.get(second.point.at(field, level))
    if first is None:
        return None
    a, b = first.value, second.value
    return PublishedContrast(
        table=second.table, field=field, first=first.point, second=second.point,
        ratio=b / a if a and b else None, direction=published_direction(a, b),
    )  # fmt: skip


def _thesis_change(row: Mapping[str, str]) -> PublishedContrast:
    point = StudyPoint(row["workload"], row["job"], row["to_settings"], row["dataset"], row["medium"], row["metric"])
    first = point.at("settings", row["from_settings"])
    return _change(f"Table {row['table']}", "settings", first, point, float(row["percent"]))


def _hybrid_change(row: Mapping[str, str]) -> PublishedContrast:
    size, block, buffer, streams = (float(row[name]) for name in ("data_gb", "block_mb", "buffer_mb", "streams"))
    point = StudyPoint(
        "sort", "sort", medium=row["to_share_percent"], size=size, block=block, buffer=buffer, streams=streams
    )
    first = point.at("medium", row["from_share_percent"])
    return _change(f"Figure {row['figure']}", "medium", first, point, float(row["percent"]))


def _hpc_change(row: Mapping[str, str]) -> PublishedContrast:
    """Of the network where that differs, else of the medium."""
    second = StudyPoint(row["workload"], medium=row["to_medium"], network=row["to_network"], nodes=float(row["nodes"]))
    field: Field = "network" if row["from_network"] != row["to_network"] else "medium"
    first = second.at(field, row[f"from_{field}"])
    return _change(f"Figure {row['figure']}", field, first, second, float(row["percent"]))


def _storage_cell(row: Mapping[str, str]) -> PublishedCell:
    point = StudyPoint(row["workload"], row["job"], row["settings"], row["dataset"], metric=row["metric"])
    point = point.at("store", row["store"])
    return PublishedCell(table=row["place"], point=point, value=float(row["value"]), derived=row["kind"] == "derived")


SET_UP = (("staging", "disk write"), ("staging", "network"), ("count", "disk write"), ("count", "network"))
"""Job and metric of which the set-up alone tells that HBase has more.

What it is given, input or output, it writes to its log and to its table, and both go to all copies' nodes.
"""
SET_UP_SCALED = (("staging", "elapsed"), ("staging and count", "elapsed"))
"""Job and metric that a scaled run can't show: making the text and the programs' starts take most of that time."""


def _storage_contrasts() -> tuple[PublishedContrast, ...]:
    """HBase beside HDFS; and of HDFS what was written beside what was read, and what the job did beside its staging.

    The latter follow from the set-up: staging writes each block as often as `replication` says and reads nothing, the
    job reads its input once and writes a small count.
    """
    by_point = {cell.point: cell for cell in cells("storage")}
    storage_contrasts = []
    fields: tuple[tuple[Field, Level], ...] = (("store", "hdfs"), ("metric", "disk read"), ("job", "staging"))
    for second, (field, level) in product(cells("storage"), fields):
        point = second.point
        first = by_point.get(point.at(field, level))
        if first is None or first == second:
            continue
        of_disks = point.store == "hdfs" and point.metric in {"disk read", "disk write"}
        if field == "store" or of_disks:
            change = _change(second.table, field, first.point, point, 100 * (second.value / first.value - 1))
            place = (point.job, point.metric)
            set_up = {"set_up": field != "store" or place in SET_UP, "set_up_scaled": place in SET_UP_SCALED}
            storage_contrasts.append(change.model_copy(update=set_up))
    return tuple(storage_contrasts)


def _change(table: str, field: Field, first: StudyPoint, second: StudyPoint, percent: float) -> PublishedContrast:
    ratio = 1 + percent / 100
    direction: Direction = 0 if abs(ratio - 1) <= PUBLISHED_SHARE else -1 if ratio < 1 else 1
    return PublishedContrast(table=table, field=field, first=first, second=second, ratio=ratio, direction=direction)


def _rows(name: str) -> list[dict[str, str]]:
    return list(
        csv.DictReader(files("assay_extras.studies").joinpath("data", name).read_text(encoding="utf-8").splitlines())
    )


SCALED = "-scaled"
_NAME = re.compile(r"(thesis|hybrid|hpc|storage)-(?:tables?|figures?|statement)-[0-9a-z]+(?:[.-][0-9a-z]+)*")
DATA_GB = 50.0
"""The hybrid study's data set in all figures but the one that varies it."""
DATA_FIGURE = "hybrid-figure-3a"
DATA_SCALE = 1000 / 13.3
"""In the scaled form 13.3 MB stand for 1 GB of data."""
POINTS_SCALE = 10
"""In the scaled form of the storage study's k-means one point stands for 10."""
BLOCK_FIGURES, BLOCK_SCALE = ("hybrid-figure-3b", "hybrid-figure-5a"), 4.0
"""Where blocks are varied, 1 MB of a block or of the sort buffer stands for 4 MB in the scaled form."""


class StudyExperiment(Frozen):
    """A study's experiment: its study, its name without `-scaled`, and whether it is the scaled form."""

    study: StudyName
    name: str
    scaled: bool

    def is_or_copies(self, name: str) -> bool:
        """Whether this is the experiment of that name, or one called after it: `hybrid-figure-3a-mine`."""
        return f"{self.name}-".startswith(f"{name}-")

    def data_gb(self, size_bytes: int) -> float:
        """How many GB of the hybrid study's data a size stands for."""
        if not self.scaled:
            return size_bytes / 1e9
        return round(size_bytes / 1e9 * DATA_SCALE, 3) if self.is_or_copies(DATA_FIGURE) else DATA_GB

    def points(self, count: int) -> int:
        """How many of the storage study's points some stand for."""
        return count * POINTS_SCALE if self.scaled else count

    def block_mb(self, mib: float) -> float:
        """How many MB of the hybrid study's blocks or buffers a size stands for."""
        return mib * BLOCK_SCALE if self.scaled and any(map(self.is_or_copies, BLOCK_FIGURES)) else mib


def study_experiment(name: str) -> StudyExperiment | None:
    """The study's experiment of this name; None for any other."""
    plain = f"{name}-".replace(f"{SCALED}-", "-").removesuffix("-")
    match = _NAME.fullmatch(plain)
    if match is None:
        return None
    return StudyExperiment.model_validate({"study": match[1], "name": plain, "scaled": plain != name})
