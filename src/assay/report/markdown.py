"""A run's report as Markdown, for a message or a repository: the answers, the table, what to doubt."""

from collections.abc import Callable, Sequence

from assay.model.doubt import Doubt
from assay.report.analysis import RunAnalysis, RunData, TrialTables, by_kind, rows_shown
from assay.report.answer import Answer
from assay.report.first_screen import overview
from assay.report.next_steps import next_steps
from assay.report.trial_detail import MIB, cost_of, middle
from assay.report.values import ENERGY_HEAD, energy_cells, energy_of, energy_values
from assay.report.words import counted_text, number_text, phases_of, ratio_text, seconds_text
from assay.stats.noise import Interval
from assay.stats.summary import Row, in_words, varying

MOST_OTHERS = 40


def markdown(run: RunData, analysis: RunAnalysis) -> str:
    """All of it."""
    rows, doubts = analysis.rows, analysis.doubts
    seen = overview(run.plan, run.records, run.damaged, doubts)
    parts = [f"# {escaped(run.plan.experiment)}", escaped(run.plan.description)]
    parts.append("\n".join(f"- {name}: {escaped(words)}" for name, words in seen.compared))
    parts.append("; ".join(part for part in (seen.checked, seen.missing, seen.doubted) if part) + ".")
    parts += map(_answer, analysis.answers)
    parts.append("\n".join(f"- {escaped(in_words(one))}" for one in analysis.others[:MOST_OTHERS]))
    parts += [
        f"Next: {escaped(step.words)}" + (f": `{step.command}`" if step.command else ".")
        for step in next_steps(run, analysis.decisions)
    ]
    parts.append(rows_table(rows))
    parts += [section.markdown() for section in analysis.sections.values()]
    parts.append(_costs(run.detailed))
    parts.append("\n".join(_doubt(*one) for one in by_kind(doubts)))
    parts.append("\n".join(f"- left out: {one.folder.name}: {escaped(one.reason)}" for one in run.damaged))
    return "\n\n".join(part for part in parts if part)


def rows_table(rows: Sequence[Row]) -> str:
    """One line for each combination; of very many those that tell most, and how many there are."""
    shown = rows_shown(rows)
    factors, phases = varying(rows), phases_of(rows)
    head = ["workload", *factors, "placement", "runs", "elapsed (s)"]
    head += [*(f"{name} (s)" for name in phases), "ratio", "significant", "output"]
    lines = [
        [
            row.group.workload, *(str(getattr(row.group, name)) for name in factors), row.placement,
            counted_text(row),
            elapsed_cell(row),
            *(seconds_text((row.phases or {}).get(name)) for name in phases),
            ratio_cell(row),
            "" if row.comparison is None else "yes" if row.comparison.significant else "no", str(row.outcome),
        ]
        for row in shown
    ]  # fmt: skip
    if len(shown) == len(rows):
        return grid(head, lines, len(factors) + 2)
    return grid(head, lines, len(factors) + 2) + f"\n\n{len(shown)} of {len(rows)} combinations: what tells most."


def grid(head: Sequence[str], lines: Sequence[Sequence[str]], names: int) -> str:
    """A table whose first columns are names and whose others are figures."""
    rule = ["---"] * names + ["--:"] * (len(head) - names)
    return "\n".join(
        "| " + " | ".join(cells) + " |" for cells in (head, rule, *([escaped(one) for one in line] for line in lines))
    )


def escaped(words: str) -> str:
    """Within one cell and one line."""
    return words.replace("|", "\\|").replace("\n", " ")


def elapsed_cell(row: Row) -> str:
    """The median in seconds with its interval."""
    return seconds_text(row.elapsed_s) + spread(row.elapsed.interval if row.elapsed else None, seconds_text)


def ratio_cell(row: Row) -> str:
    """The ratio to the group's base with its interval."""
    return ratio_text(row) + spread(row.comparison.interval if row.comparison else None, "{:.2f}".format)


def spread(interval: Interval | None, as_text: Callable[[float], str]) -> str:
    """` (60.1 to 63.0)`, or nothing."""
    return f" ({as_text(interval.low)} to {as_text(interval.high)})" if interval else ""


def _answer(one: Answer) -> str:
    """The headline, a table of its lines, and what limits it."""
    lines = [[line.where, line.time, line.words] for line in one.lines]
    table = "\n".join("| " + " | ".join(map(escaped, line)) + " |" for line in [["", "time", ""], ["---"] * 3, *lines])
    notes = "".join(f"\n\n{escaped(note)}" for note in one.notes)
    return f"{escaped(one.subject)}: **{escaped(one.headline)}**\n\n{table}{notes}"


def _doubt(one: Doubt, others: Sequence[Doubt], rest: int) -> str:
    more = f" and {len(others) + rest} more of this kind" if others else ""
    return f"- **{escaped(one.what)}** (`{one.kind}`){more}: {escaped(one.why)}. Cure: {escaped(one.cure)}."


def _costs(detailed: Sequence[TrialTables]) -> str:
    """Energy and the probes' own cost of the trials that were looked at, by workload and placement."""
    grouped: dict[tuple[str, str], list[TrialTables]] = {}
    for one in detailed:
        if one.record.amounts:
            grouped.setdefault((one.record.trial.workload.name, one.placement), []).append(one)
    if not grouped:
        return ""
    lines = []
    for key, own in sorted(grouped.items()):
        cost = middle([cost_of(one.record, one.samples_bytes) for one in own])
        lines.append(
            [
                *key, *energy_cells(energy_values([energy_of(one).whole for one in own])),
                number_text(cost.core_percent),
                number_text(None if cost.growth_bytes is None else cost.growth_bytes / MIB),
            ]
        )  # fmt: skip
    head = ["workload", "placement", *ENERGY_HEAD, "the probes' own cost (% of one core)", "(MiB)"]
    return grid(head, lines, 2)
