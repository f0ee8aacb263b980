"""The part of a report that puts a run beside the study whose experiment it is: as text, for the page, as markdown."""

from collections.abc import Sequence
from typing import NamedTuple

from assay.model.record import Record
from assay.model.trial import Plan
from assay.report.text import number_text
from assay.study.agreement import Agreement, CellBeside, ContrastBeside, TableBeside
from assay.study.check import TRUTHS, Judged, Verdict
from assay.study.comparison import StudyComparison, compare
from assay.study.point import Point, level_text

STUDY_CLASSES: dict[Verdict | Agreement, str] = {
    "confirmed": "pass", "refuted": "fail", "undecided": "unknown", "agrees": "pass", "differs": "fail",
}  # fmt: skip
JUDGED: tuple[Verdict, ...] = ("confirmed", "refuted", "undecided")
CONTRAST_HEADER = ("", "ratio of", "published", "measured", "direction")
FINDINGS_SHOWN = 4
SCALED = (
    "This is the scaled form: sizes are smaller, so times are not the study's, but ratios and directions can be held "
    "against it. What is confirmed or refuted is so at these sizes and on these media, not on the study's machines. "
    "Data, blocks and buffers of the hybrid study are named by the sizes that they stand for."
)


class ContrastLine(NamedTuple):
    """One comparison as a row: the place, what is over what, both ratios, and whether directions agree."""

    place: str
    ratio: str
    published: str
    measured: str
    agreement: Agreement


class CellLine(NamedTuple):
    """One published value as a row, the measured one beside it."""

    place: str
    published: str
    measured: str
    repetitions: int


class TableView(NamedTuple):
    """One published table; `missing` counts the comparisons of which nothing was measured."""

    name: str
    about: str
    agreement: str
    undecided: int
    missing: int
    spearman: str
    kendall: str
    ranked: str
    contrasts: list[ContrastLine]
    cells: list[CellLine]


class StatementView(NamedTuple):
    """One statement; its findings counted, then those that speak most clearly."""

    id: str
    section: str
    claim: str
    support: str
    verdict: Verdict
    shown: list[str]
    rest: list[str]
    reason: str


class StudyView(NamedTuple):
    """All that the part shows, as text."""

    summary: str
    source: str
    scaled: str
    tables: list[TableView]
    statements: list[StatementView]
    not_addressed: list[StatementView]
    passed_over: dict[str, str]


def study_view(plan: Plan, records: Sequence[Record]) -> StudyView | None:
    """A run beside its study; None for an experiment that is no study's."""
    found = compare(plan, records)
    return None if found is None else _view(found)


def study_text(view: StudyView) -> str:
    """For a terminal: the summary, a line for each table, and the statements that were judged."""
    lines = [view.summary, *([view.scaled] if view.scaled else []), f"Source: {view.source}.", ""]
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
    parts = ["## Beside the study", view.summary, *([view.scaled] if view.scaled else []), f"Source: {view.source}."]
    if view.tables:
        header = ("table", "directions agree", "undecided", "not measured", "Spearman", "Kendall")
        summary = [
            (one.name, one.agreement, str(one.undecided), str(one.missing), one.spearman, one.kendall)
            for one in view.tables
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


def _view(found: StudyComparison) -> StudyView:
    statements = [_statement_view(one) for one in found.statements]
    return StudyView(
        summary=_summary(found),
        source=found.source,
        scaled=SCALED if found.experiment.scaled else "",
        tables=[_table_view(table) for table in found.tables],
        statements=[one for verdict in JUDGED for one in statements if one.verdict == verdict],
        not_addressed=[one for one in statements if one.verdict == "not addressed"],
        passed_over=dict(found.passed_over),
    )


def _summary(found: StudyComparison) -> str:
    counts = ", ".join(f"{len(found.of(verdict))} {verdict}" for verdict in JUDGED)
    judged = f"Of its {len(found.statements)} statements {counts}."
    if not found.tables:
        return f"The study gives no numbers for what was measured. {judged}"
    return (
        f"{found.agreed} of {found.decided} comparisons have the direction that the study has; "
        f"in {found.undecided} more one side shows no difference beyond noise. {judged}"
    )


def _table_view(table: TableBeside) -> TableView:
    ranks = table.ranks
    return TableView(
        name=table.name,
        about=_about([*(one.point for one in table.cells), *(one.second for one in table.contrasts)]),
        agreement=f"{table.count('agrees')} of {table.decided}",
        undecided=table.count("undecided"),
        missing=table.count("missing"),
        spearman=f"{ranks.spearman:.2f}" if ranks else "-",
        kendall=f"{ranks.kendall:.2f}" if ranks else "-",
        ranked=f"{ranks.values} {ranks.of}" if ranks else "",
        contrasts=[_contrast_line(one) for one in table.contrasts if one.measured is not None],
        cells=[_cell_line(one) for one in table.cells if one.measured_s is not None],
    )


def _about(points: Sequence[Point]) -> str:
    """What all points of a table have in common, its metric apart."""
    first = points[0]
    shared = first
    for name, level in first._asdict().items():
        if name == "metric" or any(getattr(point, name) != level for point in points):
            shared = Point(**{**shared._asdict(), name: "" if isinstance(level, str) else 0})
    return shared.told()


def _contrast_line(one: ContrastBeside) -> ContrastLine:
    second, first = (level_text(one.field, getattr(point, one.field)) for point in (one.second, one.first))
    return ContrastLine(
        place=one.second.told("workload", "job", one.field),
        ratio=f"{second} / {first}",
        published="-" if one.published_ratio is None else f"{one.published_ratio:.2f}",
        measured="-" if one.measured is None else one.measured.words,
        agreement=one.agreement,
    )


def _cell_line(one: CellBeside) -> CellLine:
    mark = " (derived)" if one.derived else ""
    return CellLine(
        place=one.point.told("workload", "job"),
        published=f"{one.published_s:g}{mark}",
        measured=number_text(one.measured_s),
        repetitions=one.repetitions,
    )


def _statement_view(one: Judged) -> StatementView:
    clear_first = sorted(one.findings, key=lambda finding: ("no", "yes", "unclear").index(finding.truth))
    told = [f"{finding.text} - {_spoken(finding.truth)}" for finding in clear_first]
    statement = one.statement
    return StatementView(
        id=statement.id, section=statement.section, claim=statement.claim,
        support=statement.support.replace("_", " "), verdict=one.verdict, shown=[*_places(one), *told[:FINDINGS_SHOWN]],
        rest=told[FINDINGS_SHOWN:], reason=one.reason,
    )  # fmt: skip


def _places(one: Judged) -> list[str]:
    """Of how many places what speaks; nothing where there is one."""
    counts = [f"{one.places[truth]} {_spoken(truth)}" for truth in TRUTHS if one.places.get(truth)]
    return [f"{sum(one.places.values())} places: {', '.join(counts)}"] if len(one.findings) > 1 else []


def _spoken(truth: str) -> str:
    return {"yes": "for it", "no": "against it"}.get(truth, "can't be told")


def _statement(one: StatementView) -> str:
    findings = [f"    - {finding}" for finding in one.shown]
    more = [f"    - and {len(one.rest)} more"] if one.rest else []
    return "\n".join([f"- **{one.verdict}** {one.id} (section {one.section}): {one.claim}", *findings, *more])


def _rows(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
