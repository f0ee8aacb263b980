"""Several runs side by side: on a terminal, as one self-contained page and as Markdown."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from rich.console import Console

from assay.report.analysis import (
    MOST_BARS,
    Filter,
    by_combination,
    by_kind,
    filters_of,
    label_factors,
    label_of,
    levels_key,
    levels_of,
    marks_of,
)
from assay.report.charts.elapsed import ChartRow, elapsed_charts
from assay.report.columns import (
    Column,
    escaped,
    grid,
    layout_table,
    name_columns,
    output_column,
    ratio_column,
    time_columns,
    with_intervals,
)
from assay.report.compare_runs import (
    ComparedRow,
    ComparedRuns,
    agreements,
    compared_values,
    differing_facts,
    shown_rows,
)
from assay.report.evidence import MOST_DETAILS
from assay.report.figures import FIGURES, FiguresKind
from assay.report.page import MOST_CARRIED, data_of
from assay.report.templates import template, with_contents
from assay.report.words import base_text, print_line, print_text, shown_level
from assay.stats.sample import MACHINE, RUN
from assay.stats.summary import in_words, varying

WIDEST = 8
"""Runs whose differing facts fit beside one another."""
NOTE = (
    "elapsed: seconds of the jobs, added up; ratio: elapsed time divided by that on {base} in the same run; "
    "to first: divided by that of the first run with the same configuration on the same machine."
)


def comparison_page(compared: ComparedRuns) -> str:
    """The page's HTML."""
    rows = shown_rows(compared)
    filters = filters_of([row.combination for row in rows])
    filters.append(Filter(len(filters), RUN, tuple(compared.runs)))
    names = _varying(compared)

    def marked(row: ComparedRow) -> tuple[str, object]:
        return marks_of(filters, {**levels_of(row.combination), RUN: row.run}), row.key

    carried = [compared_values(row) for row in compared.rows] if len(compared.rows) <= MOST_CARRIED else []
    return with_contents(
        template("comparison.html.j2").render(
            name="comparison",
            runs=_runs(compared),
            filters=filters,
            agreements=agreements(compared, names),
            times=_times(rows, names),
            marked=list(map(marked, rows)),
            figures=[
                (kind.title, columns, list(map(marked, known)), kind.note)
                for kind, columns, known in _figures(rows, names)
            ],
            all_rows=len(compared.rows),
            machines=len({machine for names in compared.machines.values() for machine in names}),
            charts=elapsed_charts(_panels(compared, rows[:MOST_BARS], filters, names)),
            base=base_text([row.combination for row in compared.rows]),
            in_words=in_words,
            facts=differing_facts(compared.runs) if len(compared.runs) <= WIDEST else {},
            doubts=by_kind(compared.doubts),
            damaged=[damage for run in compared.runs.values() for damage in run.damaged],
            most_details=MOST_DETAILS,
            data=data_of(combinations=carried) if carried else "",
        )
    )


def _varying(compared: ComparedRuns) -> list[str]:
    return [name for name in varying([row.combination for row in compared.rows]) if name != MACHINE]


def _runs(compared: ComparedRuns) -> list[dict[str, str | int]]:
    return [
        {
            "name": name,
            "experiment": run.plan.experiment,
            "machines": ", ".join(compared.machines[name]) or "-",
            "read": len(run.trials),
            "planned": len(run.plan.trials),
            "passed": sum(summary.outcome == "pass" for summary in run.trials),
        }
        for name, run in compared.runs.items()
    ]


def _run_words(compared: ComparedRuns) -> list[str]:
    return [
        f"{run['name']}: {run['experiment']} on machine {run['machines']}, {run['read']} of {run['planned']} trials, "
        f"{run['passed']} with correct outputs"
        for run in _runs(compared)
    ]


def _panels(
    compared: ComparedRuns, rows: Sequence[ComparedRow], filters: Sequence[Filter], names: Sequence[str]
) -> Mapping[str, list[ChartRow]]:
    """A panel per workload and data set; lines of one combination follow one another, a colour for each run."""
    combined = {key: by_combination(summaries) for key, summaries in compared.apart.items()}
    label = [name for name in label_factors([row.combination for row in compared.rows]) if name != MACHINE]
    panels: dict[str, list[ChartRow]] = {}
    for row in rows:
        group = row.combination.group
        levels = levels_of(row.combination)
        title = f"{group.workload} on {group.dataset}" if "dataset" in names else group.workload
        of_row = combined[row.run, row.machine].get(levels_key(levels), [])
        label_text = ", ".join(part for part in (label_of(row.combination, label), _short(compared, row)) if part)
        if len(compared.machines[row.run]) > 1:
            label_text += f" on {_letter(row)}"
        marks = marks_of(filters, {**levels, RUN: row.run})
        panels.setdefault(title, []).append(ChartRow(row.combination, label_text, row.run, of_row, marks))
    return panels


def _short(compared: ComparedRuns, row: ComparedRow) -> str:
    """A run's name without that of the experiment, where all are of one: the rest tells them apart."""
    experiment, *others = {run.plan.experiment for run in compared.runs.values()}
    return row.run if others else row.run.removeprefix(f"{experiment}-")


def _letter(row: ComparedRow) -> str:
    return row.machine.partition(" ")[0]


def comparison_markdown(compared: ComparedRuns) -> str:
    """Runs, what they agree on, and the tables."""
    names, rows = _varying(compared), shown_rows(compared)
    agreed = [
        f"- {escaped(agreement.title)}: **{escaped(agreement.headline)}**" for agreement in agreements(compared, names)
    ]
    doubts = [
        f"- **{escaped(doubt.what)}** (`{doubt.kind}`): {escaped(doubt.why)}."
        for doubt, _, _ in by_kind(compared.doubts)
    ]
    left_out = [
        f"- left out: {damage.folder}: {escaped(damage.reason)}"
        for run in compared.runs.values()
        for damage in run.damaged
    ]
    parts = [
        "# Runs side by side",
        "\n".join(f"- {escaped(sentence)}" for sentence in _run_words(compared)),
        "\n".join(agreed),
        grid(_times(rows, names)),
        *(text for kind, columns, _ in _figures(rows, names) for text in (grid(columns), kind.note)),
        "\n".join(doubts),
        "\n".join(left_out),
    ]
    return "\n\n".join(part for part in parts if part)


def print_comparison(compared: ComparedRuns, console: Console) -> None:
    """Runs, agreements, a table for each combination with all its runs, figures, and doubts; the page has all of it."""
    names = _varying(compared)
    rows = shown_rows(compared)
    print_text(console, "Runs side by side", "bold")
    for sentence in _run_words(compared):
        print_text(console, sentence)
    for agreement in agreements(compared, names):
        print_text(console, f"{agreement.title}: {agreement.headline}")
    for title, group in _groups(rows, names):
        _print_table(console, title, with_intervals(_times(group)))
    notes = []
    for title, group in _groups(rows, names):
        for kind, columns, _ in _figures(group):
            _print_table(console, f"{title}: {kind.title.lower()}", columns)
            notes.append(kind.note)
    print_text(console, NOTE.format(base=base_text([row.combination for row in compared.rows])))
    for note in dict.fromkeys(notes):
        print_text(console, note)
    for doubt, _, _ in by_kind(compared.doubts):
        print_text(console, f"Doubt: {doubt.what} ({doubt.kind}): {doubt.why}.")
    for run in compared.runs.values():
        for left_out in run.damaged:
            print_text(console, f"left out: {left_out.folder}: {left_out.reason}")


def _print_table(console: Console, title: str, columns: Iterable[Column]) -> None:
    for line in ("", title, *layout_table(list(columns), console.width)):
        print_line(console, line)


def _identity(rows: Sequence[ComparedRow], names: Sequence[str]) -> list[Column]:
    run = Column("run", [row.run for row in rows], name=True)
    return [*name_columns([row.combination for row in rows], names), run]


def _times(rows: Sequence[ComparedRow], names: Sequence[str] = ()) -> list[Column]:
    combined_rows = [row.combination for row in rows]
    return [
        *_identity(rows, names),
        Column("machine", list(map(_letter, rows)), name=True, rank=2),
        *time_columns(combined_rows),
        ratio_column("to first", [row.against for row in rows]),
        output_column(combined_rows),
    ]


def _figures(
    rows: Sequence[ComparedRow], names: Sequence[str] = ()
) -> Iterator[tuple[FiguresKind, list[Column], list[ComparedRow]]]:
    """Each sort of figures that has a table: its columns, and the rows of which any figure is known."""
    for name, kind in FIGURES.items():
        known = [row for row in rows if any(value is not None for value in row.figures.get(name, {}).values())]
        if kind.table is not None and known:
            yield kind, [*_identity(known, names), *kind.table([row.figures[name] for row in known])], known


def _groups(rows: Sequence[ComparedRow], names: Sequence[str]) -> Iterator[tuple[str, list[ComparedRow]]]:
    """Rows of one workload and the same levels of all that varies but the placement, with these in words."""

    def title(row: ComparedRow) -> str:
        group = row.combination.group
        levels = (f"{name} {shown_level(name, level)}" for name in names if (level := str(getattr(group, name) or "")))
        return ", ".join([group.workload, *levels])

    return ((heading, list(group_rows)) for heading, group_rows in groupby(rows, title))
