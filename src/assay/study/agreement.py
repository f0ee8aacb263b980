"""Published tables beside measured ones: value by value, ratio by ratio, and whether directions and ranks agree."""

from collections.abc import Callable, Sequence
from statistics import median
from typing import Literal

from assay.model.base import Frozen
from assay.study.difference import LEAST_S, Difference, Direction, difference
from assay.study.point import Field, Measured, Point
from assay.study.published import StudyName, cells, contrasts

Agreement = Literal["agrees", "differs", "undecided", "missing"]
LEAST_RANKED = 3


class CellBeside(Frozen):
    """One published time in seconds, the measured median beside it (None where nothing was measured)."""

    point: Point
    published_s: float
    derived: bool
    measured_s: float | None
    repetitions: int


class ContrastBeside(Frozen):
    """Two levels of one field: the second over the first, as published and as measured.

    `agrees` and `differs` are of directions that both sides tell; `undecided` where one of them tells none.
    """

    field: Field
    first: Point
    second: Point
    published_ratio: float | None
    published_direction: Direction
    measured: Difference | None

    @property
    def agreement(self) -> Agreement:
        """Of the directions."""
        if self.measured is None:
            return "missing"
        if 0 in (self.measured.direction, self.published_direction):
            return "undecided"
        return "agrees" if self.measured.direction == self.published_direction else "differs"


class Ranks(Frozen):
    """Rank correlation of published with measured `of` (times, or ratios where no times are published), -1 to 1."""

    of: Literal["times", "ratios"]
    values: int
    spearman: float
    kendall: float


class TableBeside(Frozen):
    """One published table or figure. `ranks` is None for fewer than 3 values, or where all of one side are the same."""

    name: str
    cells: tuple[CellBeside, ...]
    contrasts: tuple[ContrastBeside, ...]
    ranks: Ranks | None

    def count(self, agreement: Agreement) -> int:
        """How many contrasts came out so."""
        return sum(one.agreement == agreement for one in self.contrasts)

    @property
    def decided(self) -> int:
        """Contrasts whose direction both sides tell."""
        return self.count("agrees") + self.count("differs")


def tables(study: StudyName, measured: Measured) -> tuple[TableBeside, ...]:
    """The published tables and figures of which the run has something, in the study's order."""
    names = dict.fromkeys([*(cell.table for cell in cells(study)), *(one.table for one in contrasts(study))])
    found = (_table(study, name, measured) for name in names)
    return tuple(
        one
        for one in found
        if any(cell.measured_s is not None for cell in one.cells) or any(pair.measured for pair in one.contrasts)
    )


def _table(study: StudyName, name: str, measured: Measured) -> TableBeside:
    beside = []
    for cell in cells(study):
        if cell.table == name:
            values = measured.of(cell.point).values()
            beside.append(
                CellBeside(
                    point=cell.point, published_s=cell.seconds, derived=cell.derived,
                    measured_s=median(values) if values else None, repetitions=len(values),
                )
            )  # fmt: skip
    pairs = [
        ContrastBeside(
            field=one.field, first=one.first, second=one.second, published_ratio=one.ratio,
            published_direction=one.direction,
            measured=difference(measured.of(one.first), measured.of(one.second), least=LEAST_S),
        )
        for one in contrasts(study)
        if one.table == name
    ]  # fmt: skip
    return TableBeside(name=name, cells=tuple(beside), contrasts=tuple(pairs), ranks=_ranks(beside, pairs))


def _ranks(beside: Sequence[CellBeside], pairs: Sequence[ContrastBeside]) -> Ranks | None:
    of: Literal["times", "ratios"] = "times" if beside else "ratios"
    times = [(one.published_s, one.measured_s) for one in beside if one.measured_s is not None]
    ratios = [
        (one.published_ratio, one.measured.ratio)
        for one in pairs
        if one.published_ratio is not None and one.measured is not None and one.measured.ratio is not None
    ]
    both = times if beside else ratios
    published, own = [one for one, _ in both], [other for _, other in both]
    if len(both) < LEAST_RANKED or len(set(published)) == 1 or len(set(own)) == 1:
        return None
    from scipy import stats

    spearman, kendall = (_statistic(test, published, own) for test in (stats.spearmanr, stats.kendalltau))
    return Ranks(of=of, values=len(both), spearman=spearman, kendall=kendall)


def _statistic(test: Callable[..., object], published: list[float], own: list[float]) -> float:
    return round(float(test(published, own).statistic), 3)  # type: ignore[attr-defined]
