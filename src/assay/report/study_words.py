"""A run beside its study for a terminal and as markdown."""

from collections.abc import Sequence

from assay.report.study import StatementView, StudyView
from assay.report.study_chart import Cell

CONTRAST_HEADER = ("", "ratio of", "published", "measured", "direction")


def study_text(view: StudyView) -> str:
    """For a terminal: the summary, a line for each table, and the statements that were judged."""
    lines = [view.summary, view.tests, *([view.scaled] if view.scaled else []), f"Source: {view.source}.", ""]
    width = max((len(table.name) for table in view.tables), default=0)
    lines += [
        f"{table.name:<{width}}  directions {table.agreement}, {table.undecided} undecided"
        + (f"; ranks of {table.ranked}: Spearman {table.spearman}, Kendall {table.kendall}" if table.ranked else "")
        for table in view.tables
    ]
    for one in view.statements:
        lines += ["", f"{one.id} {one.verdict}: {one.claim}", *(f"    {finding}" for finding in one.shown)]
    lines += ["", f"{len(view.not_addressed)} statements are not addressed."]
    return "\n".join(lines)


def study_markdown(view: StudyView) -> str:
    """The whole part as markdown."""
    parts = [
        "## Beside the study",
        view.summary,
        view.tests,
        *([view.scaled] if view.scaled else []),
        f"Source: {view.source}.",
    ]
    for one in view.figures:
        parts += [f"### {one.title}", _rows(one.header, [(at, *map(_figure_cell, cells)) for at, cells in one.rows])]
    if view.tables:
        header = ("table", "directions agree", "undecided", "not measured", "Spearman", "Kendall")
        summary = [
            (table.name, table.agreement, table.undecided, table.missing, table.spearman, table.kendall)
            for table in view.tables
        ]
        parts.append(_rows(header, summary))
    parts += ["### What it says", *(_statement(one) for one in view.statements)]
    for table in view.tables:
        parts += [f"### {table.name}: {table.about}", _rows(CONTRAST_HEADER, table.contrasts)]
        if table.cells:
            parts.append(_rows(("", "published (s)", "measured (s)"), [one[:3] for one in table.cells]))
    parts += ["### Not addressed", "\n".join(f"- {one.id}: {one.claim} ({one.reason})" for one in view.not_addressed)]
    if view.passed_over:
        parts += ["### Trials left out", "\n".join(f"- {one}: {why}" for one, why in view.passed_over.items())]
    return "\n\n".join(parts) + "\n"


def _statement(one: StatementView) -> str:
    findings = [f"    - {finding}" for finding in one.shown]
    more = [f"    - and {len(one.rest)} more"] if one.rest else []
    return "\n".join([f"- **{one.verdict}** {one.id} (section {one.section}): {one.claim}", *findings, *more])


def _figure_cell(one: Cell) -> str:
    beside = "; ".join(part for part in (one.interval, one.published) if part)
    return f"{one.value} ({beside})" if beside else one.value


def _rows(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
