"""Tables: the same columns for the terminal, Markdown and pages."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from assay.report.words import phases_of, seconds_text, shown_level
from assay.stats.comparison import Comparison
from assay.stats.noise import ConfidenceInterval
from assay.stats.summary import PredictedRatio, Row, in_words

GAP = "  "
RATIO = "{:.2f}".format


class Column(NamedTuple):
    """One column: its head, its cells, whether it is a name (to the left) or a figure (to the right).

    `rank` is when a terminal leaves it out where there is no room: the highest first, 0 never, None always. `intervals`
    stand beside the cells; a cell without one has "". Pages set `words` to the left, sort by `values`, and give cells
    `classes` and `titles`.
    """

    head: str
    cells: Sequence[str]
    name: bool = False
    rank: int | None = 0
    unit: str = ""
    intervals: Sequence[str] = ()
    words: bool = False
    values: Sequence[float | None] = ()
    classes: Sequence[str] = ()
    titles: Sequence[str] = ()

    @property
    def title(self) -> str:
        """The head with its unit."""
        return f"{self.head} ({self.unit})" if self.unit else self.head

    @property
    def width(self) -> int:
        """Characters of the widest."""
        return max(len(self.head), *(len(cell) for cell in self.cells), 0)


def as_columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Column]:
    """The columns of rows of cells, of which the first has names."""
    return [Column(head, [row[place] for row in rows], name=place == 0) for place, head in enumerate(heads)]


def layout_table(columns: Sequence[Column], width: int) -> Iterator[str]:
    """The head and a line for each row, names first. Where even columns of rank 0 are too wide, names stand above."""
    shown = fitting(columns, width)
    stacked = _width(shown) > width
    for row in zip(*((column.head, *column.cells) for column in shown), strict=True):
        names = [f"{cell:{column.width}}" for column, cell in zip(shown, row, strict=True) if column.name]
        figures = [f"{cell:>{column.width}}" for column, cell in zip(shown, row, strict=True) if not column.name]
        if stacked:
            above = GAP + GAP.join(name.rstrip() for name in names)
            yield f"{above}\n{GAP}{GAP.join(['', *figures])}".rstrip()
        else:
            yield f"{GAP}{GAP.join([*names, *figures])}".rstrip()


def fitting(columns: Sequence[Column], width: int) -> list[Column]:
    """The columns that a terminal has room for."""
    shown = [column for column in columns if column.rank is not None]
    while _width(shown) > width and any(column.rank for column in shown):
        shown.remove(max(shown, key=lambda column: column.rank or 0))
    return shown


def _width(columns: Sequence[Column]) -> int:
    return sum(column.width + len(GAP) for column in columns)


def with_intervals(columns: Sequence[Column]) -> Iterator[Column]:
    """Intervals as columns of their own, as terminals have them; the first is left out first where there is no room."""
    rank = 5
    for column in columns:
        yield column
        if any(column.intervals):
            yield Column("interval", [interval or "-" for interval in column.intervals], rank=rank)
            rank -= 1


def grid(columns: Sequence[Column]) -> str:
    """A table in Markdown, intervals in brackets after their figures."""
    heads = [column.title for column in columns]
    rules = ["---" if column.name else "--:" for column in columns]
    cells = [
        [
            f"{cell} ({interval})" if interval else cell
            for cell, interval in zip(column.cells, column.intervals, strict=True)
        ]
        if column.intervals
        else column.cells
        for column in columns
    ]
    lines = ([escaped(cell) for cell in line] for line in zip(*cells, strict=True))
    return "\n".join("| " + " | ".join(line) + " |" for line in (heads, rules, *lines))


def escaped(text: str) -> str:
    """Within one cell and one line of Markdown."""
    return text.replace("|", "\\|").replace("\n", " ")


def interval_words(interval: ConfidenceInterval | None, as_text: Callable[[float], str]) -> str:
    """`60.1 to 63.0`, or nothing."""
    return f"{as_text(interval.low)} to {as_text(interval.high)}" if interval else ""


def name_columns(rows: Sequence[Row], factors: Sequence[str]) -> list[Column]:
    """What a combination is; a terminal has all but the placement above its table."""
    return [
        Column("workload", [row.group.workload for row in rows], name=True, rank=None),
        *(
            Column(name, [shown_level(name, str(getattr(row.group, name))) for row in rows], name=True, rank=None)
            for name in factors
        ),
        Column("placement", [row.placement for row in rows], name=True),
    ]


def time_columns(rows: Sequence[Row]) -> list[Column]:
    """How often a combination ran, its time, and where any is compared its ratio to the group's base."""
    compared = [row.comparison for row in rows]
    ratios = [row.comparison or row.predicted for row in rows]
    elapsed = Column(
        "elapsed",
        [elapsed_text(row) for row in rows],
        unit="s",
        intervals=[interval_words(row.elapsed.interval if row.elapsed else None, seconds_text) for row in rows],
        values=[row.elapsed_s for row in rows],
    )
    significant = Column(
        "significant",
        ["" if comparison is None else "yes" if comparison.significant else "no" for comparison in compared],
        rank=None,
        words=True,
        classes=["" if comparison is None else "sure" if comparison.significant else "open" for comparison in compared],
    )
    against = [ratio_column("ratio", ratios)] if any(ratios) else []
    against += [significant] if any(compared) else []
    runs = [
        f"{row.finished}{f' of {row.trials}' if row.finished != row.trials else ''}"
        + (f", {row.wrong} wrong" if row.wrong else "")
        + (f", {row.struck_out} excluded" if row.struck_out else "")
        if row.source != "predicted"
        else "-"
        for row in rows
    ]
    sources = [f"{row.source} by {row.predictor}" if row.predictor else row.source for row in rows]
    source = [Column("source", sources, words=True)] if any(row.source != "measured" for row in rows) else []
    return [Column("runs", runs, rank=1), elapsed, *source, *against]


def elapsed_text(row: Row) -> str:
    """A combination's time; between `~~` that of trials that are excluded, where none is left."""
    if row.elapsed_s is None and row.struck_s is not None:
        return f"~~{seconds_text(row.struck_s)}~~"
    return seconds_text(row.elapsed_s)


def ratio_column(head: str, compared: Sequence[Comparison | PredictedRatio | None]) -> Column:
    """Ratios of elapsed times; a dash for what is not compared."""
    return Column(
        head,
        ["-" if comparison is None else RATIO(comparison.ratio) for comparison in compared],
        intervals=[interval_words(comparison.shown_interval if comparison else None, RATIO) for comparison in compared],
        values=[comparison.ratio if comparison else None for comparison in compared],
        titles=[in_words(comparison) if isinstance(comparison, Comparison) else "" for comparison in compared],
    )


def output_column(rows: Sequence[Row]) -> Column:
    """Whether outputs were verified; a predicted row has none."""
    outcomes = [str(row.outcome or "-") for row in rows]
    return Column("output", outcomes, words=True, classes=outcomes)


def combination_columns(rows: Sequence[Row], factors: Sequence[str] = ()) -> list[Column]:
    """Of a run's combinations: names, time and ratio, the phases of an average task, the output."""
    phases = [
        Column(name, [seconds_text((row.phases or {}).get(name)) for row in rows], rank=2 + index, unit="s")
        for index, name in enumerate(phases_of(rows))
    ]
    return [*name_columns(rows, factors), *time_columns(rows), *phases, output_column(rows)]
