"""A run's report as Markdown, for a message or a repository: the answers, the table, what to doubt."""

from collections.abc import Sequence

from assay.model.section import TrialTables
from assay.report.analysis import RunAnalysis, RunData, by_kind, levels_key, rows_shown
from assay.report.bias import bias_text
from assay.report.columns import Column, combination_columns, escaped, grid
from assay.report.first_screen import overview
from assay.report.medians import medians_note
from assay.report.next_steps import next_steps
from assay.report.nodes import (
    IMBALANCE_HEAD,
    PAIRS_HEAD,
    imbalance_columns,
    imbalance_words,
    nodes_in,
)
from assay.report.predicted import NOTE as PREDICTED_NOTE
from assay.report.predicted import predicted_words
from assay.report.shares import columns_of, notes_of
from assay.report.trial_detail import MIB, cost_of
from assay.report.typed import as_typed
from assay.report.words import number_text, shown_words
from assay.stats.estimate import known_median
from assay.stats.summary import Row, in_words, varying

MOST_OTHERS = 40


def markdown(run: RunData, analysis: RunAnalysis) -> str:
    """Write the whole report as Markdown."""
    rows, doubts = analysis.rows, analysis.doubts
    head = overview(run.plan, run.trials, run.damaged, doubts)
    parts = [f"# {escaped(run.plan.experiment)}", escaped(run.plan.description)]
    parts.append("\n".join(f"- {name}: {escaped(text)}" for name, text in head.compared))
    parts.append("; ".join(part for part in (head.checked, head.missing, head.doubted) if part) + ".")
    if analysis.shares is not None:
        parts += [grid(columns_of(analysis.shares, grouped=False)[0]), *map(escaped, notes_of(analysis.shares))]
    for words in (answer.words for answer in analysis.answers):
        lines = [["", "time", ""], ["---"] * 3, *([line.where, line.time, line.words] for line in words.lines)]
        table = "\n".join("| " + " | ".join(map(escaped, line)) + " |" for line in lines)
        parts.append(f"{escaped(words.subject)}: **{escaped(words.headline)}**\n\n{table}")
        parts += map(escaped, words.notes)
    parts.append("\n".join(f"- {escaped(in_words(other))}" for other in analysis.others[:MOST_OTHERS]))
    parts += [
        f"{'Then' if place else 'Next'}: {as_typed(escaped(step.words))}"
        + (f": `{step.command}`" if step.command else ".")
        for place, step in enumerate(next_steps(run, analysis.decisions))
    ]
    parts += [rows_table(rows), escaped(medians_note(analysis.decisions))]
    if predicted := predicted_words(rows_shown(rows), varying(rows)):
        parts += [f"{PREDICTED_NOTE}.", "\n".join(f"- {escaped(sentence)}" for sentence in predicted)]
    parts += [section.markdown() for section in analysis.sections.values()]
    parts += _nodes(run.detailed)
    parts.append(_costs(run.detailed))
    doubted = []
    for doubt, others, rest in by_kind(doubts):
        more = f" and {len(others) + rest} more of this kind" if others else ""
        reason, cure = f"{escaped(doubt.why)}.{bias_text(doubt.kind)}", as_typed(escaped(doubt.cure))
        doubted.append(f"- **{escaped(doubt.what)}** (`{doubt.kind}`){more}: {reason} Cure: {cure}.")
    parts.append("\n".join(doubted))
    parts.append("\n".join(f"- left out: {damage.folder.name}: {escaped(damage.reason)}" for damage in run.damaged))
    return "\n\n".join(part for part in parts if part)


def rows_table(rows: Sequence[Row]) -> str:
    """One line for each combination; of very many those that tell most, and how many there are."""
    shown = rows_shown(rows)
    table = grid(combination_columns(shown, varying(rows)))
    return table if len(shown) == len(rows) else f"{table}\n\n{shown_words(shown, rows)}."


def _nodes(detailed: Sequence[TrialTables]) -> list[str]:
    """Describe what the nodes did and exchanged in the first trial of each combination with several nodes."""
    firsts: dict[tuple[tuple[str, str], ...], TrialTables] = {}
    for tables in detailed:
        firsts.setdefault(levels_key(tables.record.trial.factors), tables)
    parts = []
    for tables in firsts.values():
        nodes = nodes_in(tables.record)
        if not nodes.uses:
            continue
        trial = tables.record.trial.id
        parts += [f"Nodes of {escaped(trial)}. {nodes.disks_note}.", grid(nodes.columns())]
        if nodes.imbalances:
            parts += [f"{IMBALANCE_HEAD}:", grid(imbalance_columns([(trial, nodes.imbalances)]))]
            parts += [f"{escaped(sentence)}." for sentence in imbalance_words([nodes.imbalances])]
        if nodes.transfers:
            parts += [f"{escaped(sentence)}." for sentence in nodes.network_lines()]
            parts += [f"{PAIRS_HEAD} of {escaped(trial)}:", grid(nodes.pair_columns())]
    return parts


def _costs(detailed: Sequence[TrialTables]) -> str:
    """The probes' own cost in the trials that were looked at, by workload and placement."""
    grouped: dict[tuple[str, str], list[TrialTables]] = {}
    for tables in detailed:
        if tables.record.amounts:
            grouped.setdefault((tables.record.trial.workload.name, tables.placement), []).append(tables)
    if not grouped:
        return ""
    cases = sorted(grouped.items())
    costs = [[cost_of(tables.record, tables.samples_bytes) for tables in case_tables] for _, case_tables in cases]
    cores = [known_median(cost.core_percent for cost in case_costs) for case_costs in costs]
    growths = [known_median(cost.growth_bytes for cost in case_costs) for case_costs in costs]
    return grid([
        Column("workload", [workload for (workload, _), _ in cases], name=True),
        Column("placement", [placement for (_, placement), _ in cases], name=True),
        Column("the probes' own cost (% of one core)", list(map(number_text, cores))),
        Column("(MiB)", [number_text(None if growth is None else growth / MIB) for growth in growths]),
    ])  # fmt: skip
