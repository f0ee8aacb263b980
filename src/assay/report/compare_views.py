"""Several runs side by side: on a terminal, as one self-contained page and as Markdown."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

from rich.console import Console

from assay.report.analysis import MOST_BARS, Filter, by_kind, filters_of, label_factors, label_of, levels_of, marks_of
from assay.report.charts.elapsed import ChartRow, elapsed_charts
from assay.report.compare_runs import (
    ComparedRow,
    ComparedRuns,
    agreements,
    compared_values,
    differing_facts,
    shown_rows,
)
from assay.report.markdown import elapsed_cell, escaped, grid, ratio_cell, spread
from assay.report.page import MOST_CARRIED, MOST_DETAILS, data_of, levels_key, template, times_by_levels, with_contents
from assay.report.values import ENERGY_HEAD, energy_cells
from assay.report.words import Column, base_text, fitted, print_line, print_text, ratio_text, seconds_text
from assay.stats.comparison import Comparison
from assay.stats.noise import Interval
from assay.stats.sample import MACHINE, RUN
from assay.stats.summary import in_words, varying

WIDEST = 8
"""Runs whose differing facts fit beside one another."""
ENERGY_NOTE = (
    "Energy of the jobs, with what was written out after them: medians and their ranges, to two significant digits. A "
    "range is the uncertainty of the inputs, which all lines share: lines may differ although their ranges overlap."
)
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
    carried = [compared_values(row) for row in compared.rows] if len(compared.rows) <= MOST_CARRIED else []
    return with_contents(
        template("comparison.html.j2").render(
            name="comparison",
            runs=_runs(compared),
            filters=filters,
            agreements=agreements(compared, names),
            rows=[(row, marks_of(filters, {**levels_of(row.combination), RUN: row.run})) for row in rows],
            all_rows=len(compared.rows),
            factors=names,
            machines=len({machine for own in compared.machines.values() for machine in own}),
            charts=elapsed_charts(_panels(compared, rows[:MOST_BARS], filters, names)),
            ratio_text=ratio_text,
            base=base_text([row.combination for row in compared.rows]),
            in_words=in_words,
            energy_head=ENERGY_HEAD,
            energy_cells=energy_cells,
            energy_note=ENERGY_NOTE,
            facts=differing_facts(compared.runs) if len(compared.runs) <= WIDEST else {},
            doubts=by_kind(compared.doubts),
            damaged=[one for run in compared.runs.values() for one in run.damaged],
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
            "read": len(run.records),
            "planned": len(run.plan.trials),
            "passed": sum(record.outcome == "pass" for record in run.records),
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
    times = {place: times_by_levels(records) for place, records in compared.apart.items()}
    label = [name for name in label_factors([row.combination for row in compared.rows]) if name != MACHINE]
    panels: dict[str, list[ChartRow]] = {}
    for row in rows:
        group = row.combination.group
        levels = levels_of(row.combination)
        title = f"{group.workload} on {group.dataset}" if "dataset" in names else group.workload
        own = times[row.run, row.machine].get(levels_key(levels), [])
        words = ", ".join(part for part in (label_of(row.combination, label), row.run) if part)
        if len(compared.machines[row.run]) > 1:
            words += f" on {_letter(row)}"
        marks = marks_of(filters, {**levels, RUN: row.run})
        panels.setdefault(title, []).append(ChartRow(row.combination, words, row.run, own, marks))
    return panels


def _letter(row: ComparedRow) -> str:
    """Of its machine."""
    return row.machine.partition(" ")[0]


def comparison_markdown(compared: ComparedRuns) -> str:
    """Runs, what they agree on, and the tables."""
    names = _varying(compared)
    agreed = [
        f"- {escaped(one.title)}: **{escaped(one.headline)}** (significant in {one.significant})"
        for one in agreements(compared, names)
    ]
    doubts = [
        f"- **{escaped(one.what)}** (`{one.kind}`): {escaped(one.why)}." for one, _, _ in by_kind(compared.doubts)
    ]
    left_out = [
        f"- left out: {one.folder}: {escaped(one.reason)}" for run in compared.runs.values() for one in run.damaged
    ]
    parts = [
        "# Runs side by side",
        "\n".join(f"- {escaped(words)}" for words in _run_words(compared)),
        "\n".join(agreed),
        comparison_table(compared, names),
        _energy_table(compared, names),
        "\n".join(doubts),
        "\n".join(left_out),
    ]
    return "\n\n".join(part for part in parts if part)


def comparison_table(compared: ComparedRuns, names: Sequence[str]) -> str:
    """One line per combination and run."""
    figures = ["trials", "elapsed (s)", "ratio", "to the first run", "verdict"]
    lines = [
        [
            *_names_of(row, names), row.machine, str(row.combination.finished), elapsed_cell(row.combination),
            ratio_cell(row.combination), _against(row), str(row.combination.outcome),
        ]
        for row in shown_rows(compared)
    ]  # fmt: skip
    return grid(["workload", *names, "placement", "run", "machine", *figures], lines, len(names) + 4)


def _names_of(row: ComparedRow, names: Sequence[str]) -> list[str]:
    group = row.combination.group
    return [group.workload, *(str(getattr(group, name)) for name in names), row.combination.placement, row.run]


def _energy_table(compared: ComparedRuns, names: Sequence[str]) -> str:
    """What the jobs of each combination took in each run; nothing where no record tells."""
    rows = [row for row in shown_rows(compared) if row.energy["energy_basis"]]
    if not rows:
        return ""
    lines = [[*_names_of(row, names), *energy_cells(row.energy)] for row in rows]
    return f"{grid(['workload', *names, 'placement', 'run', *ENERGY_HEAD], lines, len(names) + 3)}\n\n{ENERGY_NOTE}"


def _against(row: ComparedRow) -> str:
    one = row.against
    return "-" if one is None else f"{one.ratio:.2f}" + spread(one.interval, "{:.2f}".format)


def print_comparison(compared: ComparedRuns, console: Console) -> None:
    """Runs, agreements, a table for each combination with all its runs, energy, and doubts; the page has all of it."""
    names = _varying(compared)
    rows = shown_rows(compared)
    print_text(console, "Runs side by side", "bold")
    for words in _run_words(compared):
        print_text(console, words)
    for one in agreements(compared, names):
        print_text(console, f"{one.title}: {one.headline} (significant in {one.significant})")
    for lines in (_times(rows, names, console.width), _energies(rows, names, console.width)):
        for line in lines:
            print_line(console, line)
    print_text(console, NOTE.format(base=base_text([row.combination for row in compared.rows])))
    if any(row.energy["energy_basis"] for row in rows):
        print_text(console, ENERGY_NOTE)
    for doubt, _, _ in by_kind(compared.doubts):
        print_text(console, f"Doubt: {doubt.what} ({doubt.kind}): {doubt.why}.")
    for run in compared.runs.values():
        for left_out in run.damaged:
            print_text(console, f"left out: {left_out.folder}: {left_out.reason}")


def _times(rows: Sequence[ComparedRow], names: Sequence[str], width: int) -> Iterator[str]:
    for title, group in _groups(rows, names):
        own = [row.combination for row in group]
        elapsed = [_interval(one.elapsed.interval if one.elapsed else None, seconds_text) for one in own]
        yield from ("", title)
        yield from fitted(
            [
                Column("placement", [one.placement for one in own], name=True),
                Column("run", [row.run for row in group], name=True),
                Column("machine", list(map(_letter, group)), name=True, rank=2),
                Column("trials", [str(one.finished) for one in own], rank=1),
                Column("elapsed", [seconds_text(one.elapsed_s) for one in own]),
                Column("interval", elapsed, rank=5),
                Column("ratio", list(map(ratio_text, own))),
                Column("interval", [_ratio_interval(one.comparison) for one in own], rank=4),
                Column("to first", [f"{row.against.ratio:.2f}" if row.against else "-" for row in group]),
                Column("interval", [_ratio_interval(row.against) for row in group], rank=3),
                Column("output", [str(one.outcome) for one in own]),
            ],
            width,
        )


def _interval(interval: Interval | None, as_text: Callable[[float], str]) -> str:
    """`60.1 to 63.0`, or a dash."""
    return f"{as_text(interval.low)} to {as_text(interval.high)}" if interval else "-"


def _ratio_interval(one: Comparison | None) -> str:
    return _interval(one.interval if one else None, "{:.2f}".format)


def _energies(rows: Sequence[ComparedRow], names: Sequence[str], width: int) -> Iterator[str]:
    for title, own in _groups([row for row in rows if row.energy["energy_basis"]], names):
        energy_j, edp_js, ed2p_js2, basis = zip(*(energy_cells(row.energy) for row in own), strict=True)
        yield from ("", f"{title}: energy of the jobs")
        yield from fitted(
            [
                Column("placement", [row.combination.placement for row in own], name=True),
                Column("run", [row.run for row in own], name=True),
                Column(ENERGY_HEAD[0], energy_j),
                Column(ENERGY_HEAD[1], edp_js, rank=1),
                Column(ENERGY_HEAD[2], ed2p_js2, rank=2),
                Column(ENERGY_HEAD[3], basis),
            ],
            width,
        )


def _groups(rows: Sequence[ComparedRow], names: Sequence[str]) -> Iterator[tuple[str, list[ComparedRow]]]:
    """Rows of one workload and the same levels of all that varies but the placement, with these in words."""

    def title(row: ComparedRow) -> str:
        group = row.combination.group
        levels = (f"{name} {getattr(group, name)}" for name in names if getattr(group, name))
        return ", ".join([group.workload, *levels])

    return ((words, list(own)) for words, own in groupby(rows, title))
