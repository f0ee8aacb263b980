"""Several runs beside one another, as one self-contained page and as Markdown."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from assay.report.analysis import MOST_BARS, Filter, by_kind, filters_of, label_factors, label_of, levels_of, marks_of
from assay.report.charts.elapsed import Line, elapsed_charts
from assay.report.compare_runs import Beside, Side, agreements, differing_facts, side_values, sides_shown
from assay.report.markdown import elapsed_told, escaped, grid, ratio_told, spread
from assay.report.page import MOST_CARRIED, MOST_DETAILS, levels_key, template, times_by_levels, with_contents
from assay.report.values import ENERGY_HEAD, csv_lines, energy_cells
from assay.report.words import base_text, ratio_text
from assay.stats.sample import MACHINE, RUN
from assay.stats.summary import in_words, varying

WIDEST = 8
"""Runs whose differing facts fit beside one another."""

ENERGY_NOTE = (
    "Energy of the jobs and of what was written out after them: medians to two significant digits, with the range over "
    "the uncertainty of the inputs. Lines share their inputs, so they differ by more than their ranges suggest."
)


def beside_page(beside: Beside) -> str:
    """The page's HTML."""
    sides = sides_shown(beside)
    filters = filters_of([side.row for side in sides])
    filters.append(Filter(len(filters), RUN, tuple(beside.runs)))
    names = [name for name in varying([side.row for side in beside.sides]) if name != MACHINE]
    return with_contents(
        template("beside.html.j2").render(
            name="comparison",
            runs=_runs(beside),
            filters=filters,
            agreements=agreements(beside, names),
            sides=[(side, marks_of(filters, {**levels_of(side.row), RUN: side.run})) for side in sides],
            all_sides=len(beside.sides),
            factors=names,
            machines=len({machine for own in beside.machines.values() for machine in own}),
            charts=elapsed_charts(_panels(beside, sides[:MOST_BARS], filters, names)),
            ratio_text=ratio_text,
            base=base_text([side.row for side in beside.sides]),
            in_words=in_words,
            energy_head=ENERGY_HEAD,
            energy_cells=energy_cells,
            energy_note=ENERGY_NOTE,
            facts=differing_facts(beside.runs) if len(beside.runs) <= WIDEST else {},
            doubts=by_kind(beside.doubts),
            damaged=[one for run in beside.runs.values() for one in run.damaged],
            most_details=MOST_DETAILS,
            data=_data(beside),
        )
    )


def _runs(beside: Beside) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "experiment": run.plan.experiment,
            "machines": ", ".join(beside.machines[name]) or "-",
            "read": len(run.records),
            "planned": len(run.plan.trials),
            "passed": sum(record.outcome == "pass" for record in run.records),
        }
        for name, run in beside.runs.items()
    ]


def _panels(
    beside: Beside, sides: Sequence[Side], filters: Sequence[Filter], names: Sequence[str]
) -> Mapping[str, list[Line]]:
    """A panel per workload and data set; lines of one combination follow one another, a colour for each run."""
    times = {place: times_by_levels(records) for place, records in beside.apart.items()}
    label = [name for name in label_factors([side.row for side in beside.sides]) if name != MACHINE]
    panels: dict[str, list[Line]] = {}
    for side in sides:
        group = side.row.group
        levels = levels_of(side.row)
        title = f"{group.workload} on {group.dataset}" if "dataset" in names else group.workload
        own = times[side.run, side.machine].get(levels_key(levels), [])
        words = ", ".join(part for part in (label_of(side.row, label), side.run) if part)
        if len(beside.machines[side.run]) > 1:
            words += f" on {side.machine.partition(' ')[0]}"
        marks = marks_of(filters, {**levels, RUN: side.run})
        panels.setdefault(title, []).append(Line(side.row, words, side.run, own, marks))
    return panels


def _data(beside: Beside) -> str:
    if len(beside.sides) > MOST_CARRIED:
        return ""
    text = "\n".join(csv_lines([side_values(side) for side in beside.sides])) + "\n"
    return json.dumps({"combinations": text}).replace("<", "\\u003c")


def beside_markdown(beside: Beside) -> str:
    """Runs, what they agree on, and the table."""
    names = [name for name in varying([side.row for side in beside.sides]) if name != MACHINE]
    runs = [
        f"- {escaped(run['name'])}: {escaped(run['experiment'])} on machine {escaped(run['machines'])}, "
        f"{run['read']} of {run['planned']} trials, {run['passed']} outputs right"
        for run in _runs(beside)
    ]
    told = [
        f"- {escaped(one.title)}: **{escaped(one.headline)}** (significant {one.significant})"
        for one in agreements(beside, names)
    ]
    doubts = [f"- **{escaped(one.what)}** (`{one.kind}`): {escaped(one.why)}." for one, _, _ in by_kind(beside.doubts)]
    left_out = [
        f"- left out: {one.folder}: {escaped(one.reason)}" for run in beside.runs.values() for one in run.damaged
    ]
    parts = [
        "# Runs side by side",
        *map("\n".join, (runs, told)),
        beside_table(beside, names),
        _energy_table(beside, names),
        *map("\n".join, (doubts, left_out)),
    ]
    return "\n\n".join(part for part in parts if part)


def beside_table(beside: Beside, names: Sequence[str]) -> str:
    """One line per combination and run."""
    lines = [
        [
            side.row.group.workload, *(str(getattr(side.row.group, name)) for name in names), side.row.placement,
            side.run, side.machine, str(side.row.finished),
            elapsed_told(side.row), ratio_told(side.row), _against(side),
            str(side.row.outcome),
        ]
        for side in sides_shown(beside)
    ]  # fmt: skip
    head = [
        "workload",
        *names,
        "placement",
        "run",
        "machine",
        "trials",
        "elapsed (s)",
        "ratio",
        "to the first run",
        "verdict",
    ]
    return grid(head, lines, len(names) + 4)


def _energy_table(beside: Beside, names: Sequence[str]) -> str:
    """What the jobs of each combination took in each run; nothing where no record tells."""
    sides = [side for side in sides_shown(beside) if side.energy["energy_basis"]]
    if not sides:
        return ""
    lines = [
        [
            side.row.group.workload, *(str(getattr(side.row.group, name)) for name in names), side.row.placement,
            side.run, *energy_cells(side.energy),
        ]
        for side in sides
    ]  # fmt: skip
    head = ["workload", *names, "placement", "run", *ENERGY_HEAD]
    return f"{grid(head, lines, len(names) + 3)}\n\n{ENERGY_NOTE}"


def _against(side: Side) -> str:
    one = side.against
    return "-" if one is None else f"{one.ratio:.2f}" + spread(one.interval, "{:.2f}".format)
