"""A run beside the study whose experiment it is, in words: for the page, the terminal and Markdown."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from markupsafe import escape

from assay.report.templates import template
from assay.report.words import number_text
from assay_extras.studies.comparison import (
    TRUTHS,
    Agreement,
    CellBeside,
    ContrastBeside,
    Judged,
    StudyComparison,
    TableBeside,
    Verdict,
)
from assay_extras.studies.figures import FigureCell, FigureView, figure_view
from assay_extras.studies.published import StudyExperiment
from assay_extras.studies.values import LEAST_INPUT, LEVEL, UNITS, StudyPoint, level_text

STUDY_CLASSES: dict[Verdict | Agreement, str] = {
    "confirmed": "pass", "refuted": "fail", "undecided": "note", "agrees": "pass", "differs": "unknown",
    "missing": "note", "not addressed": "note", "published tie": "note", "too short": "note",
    "follows from the set-up": "note",
}  # fmt: skip
JUDGED: tuple[Verdict, ...] = ("confirmed", "refuted", "undecided")
FINDINGS_SHOWN = 4
CONTRAST_HEADER = ("", "ratio of", "published", "measured", "direction")
SCALED = (
    "This is the scaled form: sizes are smaller, so times are not the study's, but ratios and directions can be held "
    "against it. What is confirmed or refuted is so at these sizes and on these media, not on the study's machines. "
    "Data, blocks and buffers of the hybrid study are named by the sizes that they stand for."
)
SCALED_CLUSTERS = (
    " So are the networks of the HPC study, by their rates, and the points of the storage subsystem study."
)


TWO_TESTS = (
    "Each comparison with the study is judged by itself, by Student's t of pairs; the answers above share the noise of "
    "a workload and are corrected for their number. An answer that is not known yet does not contradict a direction "
    "here."
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
    unit: str
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
    """The section of a run beside its study: a `SectionView`, all of it as text."""

    compared: StudyComparison
    summary: str
    scaled: str
    figures: list[FigureView]
    tables: list[TableView]
    statements: list[StatementView]
    not_addressed: list[StatementView]

    def summary_html(self) -> str:
        """What came out, and why the answers may differ."""
        link = '<a href="#study">Compared with the study</a>'
        return f'{link}: {escape(self.summary)} <span class="note">{escape(TWO_TESTS)}</span>'

    def html(self) -> str:
        """All of it."""
        section = template("study.html.j2", "assay_extras.studies")
        return str(section.render(study=self, tests=TWO_TESTS, study_classes=STUDY_CLASSES))

    def text(self) -> str:
        """For a terminal: the summary, a line for each table, and the statements that were judged."""
        lines = [
            self.summary,
            TWO_TESTS,
            *([self.scaled] if self.scaled else []),
            f"Source: {self.compared.source}.",
            "",
        ]
        width = max((len(table.name) for table in self.tables), default=0)
        lines += [
            f"{table.name:<{width}}  directions {table.agreement}, {table.undecided} undecided"
            + (f"; ranks of {table.ranked}: Spearman {table.spearman}, Kendall {table.kendall}" if table.ranked else "")
            for table in self.tables
        ]
        for statement in self.statements:
            lines += [
                "",
                f"{statement.id} {statement.verdict}: {statement.claim}",
                *(f"    {finding}" for finding in statement.shown),
            ]
        lines += ["", f"{len(self.not_addressed)} statements are not addressed."]
        return "\n".join(lines)

    def markdown(self) -> str:
        """The whole part as markdown."""
        parts = [
            "## Compared with the study",
            self.summary,
            TWO_TESTS,
            *([self.scaled] if self.scaled else []),
            f"Source: {self.compared.source}.",
        ]
        for figure in self.figures:
            parts += [
                f"### {figure.title}",
                _rows(figure.header, [(at, *map(_figure_cell, cells)) for at, cells in figure.rows]),
            ]
        if self.tables:
            header = ("table", "directions agree", "undecided", "not measured", "Spearman", "Kendall")
            summary = [
                (table.name, table.agreement, table.undecided, table.missing, table.spearman, table.kendall)
                for table in self.tables
            ]
            parts.append(_rows(header, summary))
        parts += ["### What it says", *(_statement(statement) for statement in self.statements)]
        for table in self.tables:
            parts += [f"### {table.name}: {table.about}", _rows(CONTRAST_HEADER, table.contrasts)]
            if table.cells:
                heads = ("", f"published ({table.unit})", f"measured ({table.unit})")
                parts.append(_rows(heads, [cell[:3] for cell in table.cells]))
        parts += [
            "### Not addressed",
            "\n".join(f"- {statement.id}: {statement.claim} ({statement.reason})" for statement in self.not_addressed),
        ]
        if self.compared.passed_over:
            parts += [
                "### Trials left out",
                "\n".join(f"- {reason_}: {why}" for reason_, why in self.compared.passed_over.items()),
            ]
        return "\n\n".join(parts) + "\n"

    def json(self) -> str:
        """The comparison itself."""
        return self.compared.model_dump_json()


def study_view(comparison: StudyComparison) -> StudyView:
    """A run beside its study, in words."""
    statements = [_statement_view(statement) for statement in comparison.statements]
    return StudyView(
        compared=comparison,
        summary=_summary(comparison),
        scaled=_scaled(comparison.experiment) if comparison.experiment.scaled else "",
        figures=[figure_view(figure) for figure in comparison.figures],
        tables=[_table_view(table, comparison.inputs) for table in comparison.tables],
        statements=[statement for verdict in JUDGED for statement in statements if statement.verdict == verdict],
        not_addressed=[statement for statement in statements if statement.verdict == "not addressed"],
    )


def _scaled(experiment: StudyExperiment) -> str:
    return SCALED + (SCALED_CLUSTERS if experiment.study in {"hpc", "storage"} else "")


def _summary(comparison: StudyComparison) -> str:
    counts = ", ".join(_counted(comparison, verdict) for verdict in JUDGED)
    statements = f"Of its {len(comparison.statements)} statements: {counts}."
    if comparison.passed_over:
        count = len(comparison.passed_over)
        statements += f" {count} {'trial is' if count == 1 else 'trials are'} left out."
    if not comparison.tables:
        return f"The study gives no numbers for what was measured. {statements}"
    decided = "None of the study's comparisons can be decided here"
    if comparison.possible:
        share = 100 * comparison.decided / comparison.possible
        decided = f"{comparison.decided} of {comparison.possible} comparisons are decided ({share:.0f} %)"
        decided += f", {comparison.agreed} of them as in the study"
    least_bytes = f" or {100 * LEAST_INPUT:g} % of the input" if comparison.experiment.study == "storage" else ""
    out = [
        (comparison.count("published tie"), "in which the study shows no difference"),
        (comparison.count("too short"), f"of less than half a second{least_bytes}"),
        (comparison.count("follows from the set-up"), "which follow from the set-up"),
    ]
    left = " and ".join(f"{count} {reason}" for count, reason in out if count)
    more = f" Left out: {left}." if left else ""
    return f"{decided}.{more}{_by_chance(comparison.tested)} {statements}"


def _counted(comparison: StudyComparison, verdict: Verdict) -> str:
    """`5 confirmed (2 of them clearly at every place)`."""
    count = len(comparison.of(verdict))
    if verdict != "confirmed" or not count:
        return f"{count} {verdict}"
    return f"{count} {verdict} ({comparison.confirmed_everywhere or 'none'} clearly at every place)"


def _by_chance(tested: int) -> str:
    """How many directions there would be if nothing made any difference; nothing for hardly any."""
    expected = round((1 - LEVEL) * tested)
    if not expected:
        return ""
    return f" If nothing made any difference, chance would decide about {expected} of these {tested}."


def _table_view(table: TableBeside, names: Mapping[str, str]) -> TableView:
    ranks = table.ranks
    return TableView(
        name=table.name,
        about=_about([*(line.point for line in table.cells), *(line.second for line in table.contrasts)], names),
        agreement=f"{table.count('agrees')} of {table.decided}",
        undecided=table.count("undecided"),
        missing=table.count("missing"),
        spearman=f"{ranks.spearman:.2f}" if ranks else "-",
        kendall=f"{ranks.kendall:.2f}" if ranks else "-",
        ranked=f"{ranks.values} {ranks.of}" if ranks else "",
        unit=next((UNITS.get(cell.point.metric, "s") for cell in table.cells), ""),
        contrasts=[_contrast_line(contrast, names) for contrast in table.contrasts if contrast.measured is not None],
        cells=[_cell_line(cell, names) for cell in table.cells if cell.measured is not None],
    )


def _about(points: Sequence[StudyPoint], names: Mapping[str, str]) -> str:
    """What all points of a table have in common, its metric apart."""
    first = points[0]
    shared = first
    for name, level in first._asdict().items():
        if name == "metric" or any(getattr(point, name) != level for point in points):
            shared = StudyPoint(**{**shared._asdict(), name: "" if isinstance(level, str) else 0})
    return shared.label(names=names)


def _contrast_line(line: ContrastBeside, names: Mapping[str, str]) -> ContrastLine:
    second, first = (level_text(line.field, getattr(point, line.field)) for point in (line.second, line.first))
    return ContrastLine(
        place=line.second.label("workload", "job", line.field, names=names),
        ratio=f"{second} / {first}",
        published="-" if line.published_ratio is None else f"{line.published_ratio:.2f}",
        measured="-" if line.measured is None else line.measured.words,
        agreement=line.agreement,
    )


def _cell_line(line: CellBeside, names: Mapping[str, str]) -> CellLine:
    mark = " (derived)" if line.derived else ""
    return CellLine(
        place=line.point.label("workload", "job", names=names),
        published=f"{line.published:g}{mark}",
        measured=number_text(line.measured),
        repetitions=line.repetitions,
    )


def _statement_view(judged: Judged) -> StatementView:
    clear_first = sorted(judged.findings, key=lambda finding: ("no", "yes", "unclear").index(finding.truth))
    findings = [f"{finding.text} - {_spoken(finding.truth)}" for finding in clear_first]
    statement = judged.statement
    return StatementView(
        id=statement.id, section=statement.section, claim=statement.claim,
        support=statement.support.replace("_", " "), verdict=judged.verdict,
        shown=[*_places(judged), *findings[:FINDINGS_SHOWN]],
        rest=findings[FINDINGS_SHOWN:], reason=judged.reason,
    )  # fmt: skip


def _places(judged: Judged) -> list[str]:
    """Of how many places what speaks; nothing where there is one."""
    counts = [f"{judged.places[truth]} {_spoken(truth)}" for truth in TRUTHS if judged.places.get(truth)]
    return [f"{sum(judged.places.values())} places: {', '.join(counts)}"] if len(judged.findings) > 1 else []


def _spoken(truth: str) -> str:
    return {"yes": "for it", "no": "against it"}.get(truth, "unclear")


def _statement(statement: StatementView) -> str:
    findings = [f"    - {finding}" for finding in statement.shown]
    more = [f"    - and {len(statement.rest)} more"] if statement.rest else []
    head = f"- **{statement.verdict}** {statement.id} (section {statement.section}): {statement.claim}"
    return "\n".join([head, *findings, *more])


def _figure_cell(cell: FigureCell) -> str:
    beside = "; ".join(part for part in (cell.interval, cell.published) if part)
    return f"{cell.value} ({beside})" if beside else cell.value


def _rows(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
