"""A run beside its study: published tables, and whether directions, ranks and statements agree with what was measured.

A verdict is strict on purpose: what is said of all cases falls with those that clearly speak against it, and stands
only if more than half clearly speak for it and none against. What is said of some case, and what falls, needs more of
them than chance alone would give: of many places one or two point somewhere by luck. What is said of some case is
never refuted: it may be one that the run does not have.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import comb
from statistics import median
from typing import Literal

from assay.model.base import Frozen
from assay.model.record import Record
from assay.model.trial import Plan
from assay_extras.studies import hpc, hybrid, storage, thesis
from assay_extras.studies.claims import Check, Observation, Quantifier
from assay_extras.studies.figures import StudyFigure, figures
from assay_extras.studies.measured import read
from assay_extras.studies.published import (
    Statement,
    StudyExperiment,
    StudyName,
    cells,
    contrasts,
    statements,
    study_experiment,
)
from assay_extras.studies.values import (
    LEAST_PAIRS,
    LEVEL,
    UNITS,
    Difference,
    Direction,
    Field,
    StudyPoint,
    StudyTable,
    Truth,
    least_change,
)

Agreement = Literal[
    "agrees", "differs", "undecided", "published tie", "too short", "follows from the set-up", "missing"
]
POSSIBLE: tuple[Agreement, ...] = ("agrees", "differs", "undecided")
"""Of comparisons that can show the study's direction; no repetition decides the others."""
LEAST_RANKED = 3


class CellBeside(Frozen):
    """One published value in its metric's unit, the measured median beside it (None where nothing was measured)."""

    point: StudyPoint
    published: float
    derived: bool
    measured: float | None
    repetitions: int


class ContrastBeside(Frozen):
    """Two levels of one field: the second over the first, as published and as measured.

    `agrees` and `differs` are of directions that both sides have; `undecided` where only the study has one. A
    `published tie` has none in the study. What is `too short` takes less than half a second on both sides, or would
    change by less than that if it changed as in the study, so that no number of repetitions shows it; so it is with 5 %
    of the input's bytes. What `follows from the set-up` would come out so on any drives, or at that size in any store.
    """

    field: Field
    first: StudyPoint
    second: StudyPoint
    published_ratio: float | None
    published_direction: Direction
    measured: Difference | None
    set_up: bool = False

    @property
    def agreement(self) -> Agreement:
        """Of the directions."""
        if self.measured is None:
            return "missing"
        if self.set_up:
            return "follows from the set-up"
        if not self.published_direction:
            return "published tie"
        if _too_short(self.measured, self.published_ratio):
            return "too short"
        if not self.measured.direction:
            return "undecided"
        return "agrees" if self.measured.direction == self.published_direction else "differs"


class Ranks(Frozen):
    """Rank correlation of published with measured `of` (times or amounts, or ratios where there are none), -1 to 1."""

    of: Literal["times", "amounts", "ratios"]
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
        return sum(contrast.agreement == agreement for contrast in self.contrasts)

    @property
    def decided(self) -> int:
        """Contrasts whose direction both sides tell."""
        return self.count("agrees") + self.count("differs")


def _too_short(measured: Difference, published_ratio: float | None) -> bool:
    """Whatever direction was found, or what is left out would depend on what came out."""
    if max(measured.first, measured.second) < measured.least:
        return True
    return published_ratio is not None and abs(published_ratio - 1) * measured.first < measured.least


def tables(study: StudyName, measured: StudyTable, *, scaled: bool = False) -> tuple[TableBeside, ...]:
    """The published tables and figures of which the run, perhaps a scaled one, has something, in the study's order."""
    names = dict.fromkeys([*(cell.table for cell in cells(study)), *(contrast.table for contrast in contrasts(study))])
    all_tables = (_table(study, name, measured, scaled=scaled) for name in names)
    return tuple(
        table
        for table in all_tables
        if any(cell.measured is not None for cell in table.cells) or any(pair.measured for pair in table.contrasts)
    )


def _table(study: StudyName, name: str, measured: StudyTable, *, scaled: bool) -> TableBeside:
    beside = []
    for cell in cells(study):
        if cell.table == name:
            values = measured.of(cell.point).values()
            beside.append(
                CellBeside(
                    point=cell.point, published=cell.value, derived=cell.derived,
                    measured=median(values) if values else None, repetitions=len(values),
                )
            )  # fmt: skip
    pairs = [
        ContrastBeside(
            field=contrast.field, first=contrast.first, second=contrast.second, published_ratio=contrast.ratio,
            published_direction=contrast.direction,
            set_up=contrast.set_up or (scaled and contrast.set_up_scaled),
            measured=measured.difference(contrast.first, contrast.second, least_change(contrast.second.metric)),
        )
        for contrast in contrasts(study)
        if contrast.table == name
    ]  # fmt: skip
    return TableBeside(name=name, cells=tuple(beside), contrasts=tuple(pairs), ranks=_ranks(beside, pairs))


def _ranks(beside: Sequence[CellBeside], pairs: Sequence[ContrastBeside]) -> Ranks | None:
    timed = all(cell.point.metric not in UNITS for cell in beside)
    of: Literal["times", "amounts", "ratios"] = "ratios" if not beside else "times" if timed else "amounts"
    times = [(cell.published, cell.measured) for cell in beside if cell.measured is not None]
    ratios = [
        (pair.published_ratio, pair.measured.ratio)
        for pair in pairs
        if pair.published_ratio is not None and pair.measured is not None and pair.measured.ratio is not None
    ]
    both = times if beside else ratios
    published, measured_values = [published_value for published_value, _ in both], [other for _, other in both]
    if len(both) < LEAST_RANKED or len(set(published)) == 1 or len(set(measured_values)) == 1:
        return None
    from scipy import stats

    spearman, kendall = (_statistic(test, published, measured_values) for test in (stats.spearmanr, stats.kendalltau))
    return Ranks(of=of, values=len(both), spearman=spearman, kendall=kendall)


def _statistic(test: Callable[..., object], published: list[float], measured_values: list[float]) -> float:
    return round(float(test(published, measured_values).statistic), 3)  # type: ignore[attr-defined]


Verdict = Literal["confirmed", "refuted", "undecided", "not addressed"]

TRUTHS: tuple[Truth, ...] = ("yes", "no", "unclear")


class Judged(Frozen):
    """A statement, what became of it, and the evidence; `reason` says why it is not addressed.

    `places` counts, by truth, all places that were looked at; where one place is enough, `findings` are only those
    that are.
    """

    statement: Statement
    verdict: Verdict
    findings: tuple[Observation, ...] = ()
    places: Mapping[Truth, int] = {}
    reason: str = ""


def judge(
    statements: Sequence[Statement], checks: Mapping[str, Check], never: Mapping[str, str], measured: StudyTable
) -> tuple[Judged, ...]:
    """Every statement, in order; `never` says of which no run can speak, and why."""
    return tuple(
        _judge_statement(statement, checks.get(statement.id, ()), never.get(statement.id, ""), measured)
        for statement in statements
    )


def _judge_statement(statement: Statement, check: Check, reason: str, measured: StudyTable) -> Judged:
    check = () if reason else check
    findings_by_part = [[finding for claim in part.claims for finding in claim.findings(measured)] for part in check]
    findings = tuple(
        finding
        for part, part_findings in zip(check, findings_by_part, strict=True)
        for finding in _evidence(part.quantifier, part_findings)
    )
    if not findings:
        why = reason or "this experiment measures nothing that it speaks of"
        return Judged(statement=statement, verdict="not addressed", reason=why)
    verdicts = {
        _held(part.quantifier, part_findings) for part, part_findings in zip(check, findings_by_part, strict=True)
    }
    verdict: Verdict = "refuted" if "refuted" in verdicts else "confirmed" if verdicts == {"confirmed"} else "undecided"
    every_place = [finding for part_findings in findings_by_part for finding in part_findings]
    places = {truth: _count(every_place, truth) for truth in TRUTHS}
    return Judged(statement=statement, verdict=verdict, findings=findings, places=places)


def _evidence(quantifier: Quantifier, findings: Sequence[Observation]) -> Sequence[Observation]:
    """Where one place is enough, only the places that are."""
    enough = [finding for finding in findings if finding.truth == "yes"]
    return enough if quantifier == "some" and enough else findings


def _held(quantifier: Quantifier, findings: Sequence[Observation]) -> Verdict:
    speaks_for, against = (_count(findings, truth) for truth in ("yes", "no"))
    enough = beyond_chance(len(findings))
    if quantifier == "some":
        return "confirmed" if speaks_for >= enough else "undecided"
    if quantifier == "every" and against:
        return "refuted" if against >= enough else "undecided"
    if 2 * speaks_for > len(findings):
        return "confirmed"
    return "refuted" if 2 * against > len(findings) else "undecided"


def _count(findings: Sequence[Observation], truth: Truth) -> int:
    return sum(finding.truth == truth for finding in findings)


@cache
def beyond_chance(places: int) -> int:
    """The least number of places that chance seldom makes point one way, where in truth none does.

    Each place does so in half of the cases that its interval misses; that so many do together is to be as rare as an
    interval's miss.
    """
    by_luck = (1 - LEVEL) / 2
    fewer = 0.0
    for count in range(places + 1):
        if 1 - fewer <= 1 - LEVEL:
            return count
        fewer += comb(places, count) * by_luck**count * (1 - by_luck) ** (places - count)
    return places + 1


CHECKS: Mapping[StudyName, Mapping[str, Check]] = {
    "thesis": thesis.CHECKS, "hybrid": hybrid.CHECKS, "hpc": hpc.CHECKS, "storage": storage.CHECKS,
}  # fmt: skip
NEVER: Mapping[StudyName, Mapping[str, str]] = {
    "thesis": thesis.NEVER, "hybrid": hybrid.NEVER, "hpc": hpc.NEVER, "storage": storage.NEVER,
}  # fmt: skip
NEVER_SCALED: Mapping[StudyName, Mapping[str, str]] = {
    "thesis": thesis.SCALED, "hybrid": hybrid.SCALED, "hpc": hpc.SCALED, "storage": storage.SCALED,
}  # fmt: skip
SCALE_DECIDES: Mapping[StudyName, Mapping[str, str]] = {
    "thesis": thesis.SCALE_DECIDES, "hybrid": {}, "hpc": {}, "storage": storage.SCALE_DECIDES,
}  # fmt: skip
"""By statement, which choice of the scaled experiments its verdict depends on."""
ACROSS = storage.ACROSS
"""Statements that all runs of a study judge together, as no experiment alone has all that they speak of."""
SOURCES: Mapping[StudyName, str] = {
    "thesis": "M. Bakratsas, Hadoop-MapReduce performance on SSD for Complex Network analysis, master's thesis, "
    "University of Thessaly, 2015",
    "hybrid": "D. Wu, W. Xie, X. Ji, W. Luo, J. He, D. Wu, Understanding the Impacts of Solid-State Storage on the "
    "Hadoop Performance, International Conference on Advanced Cloud and Big Data, 2013",
    "hpc": "J. Veiga, R. R. Expósito, G. L. Taboada, J. Touriño, Analysis and evaluation of MapReduce solutions on an "
    "HPC cluster, Computers & Electrical Engineering 50, 2016",
    "storage": "H. Koneru, Implications of storage subsystem interactions on processing efficiency in data intensive "
    "computing, master's thesis, Colorado State University, 2015",
}


class StudyComparison(Frozen):
    """Everything that a run says of its study. `passed_over` has, by trial, why it says nothing."""

    experiment: StudyExperiment
    source: str
    values: int
    figures: tuple[StudyFigure, ...]
    tables: tuple[TableBeside, ...]
    statements: tuple[Judged, ...]
    passed_over: Mapping[str, str]
    inputs: Mapping[str, str] = {}

    @property
    def agreed(self) -> int:
        """Comparisons whose direction is the published one."""
        return sum(table.count("agrees") for table in self.tables)

    @property
    def decided(self) -> int:
        """Comparisons whose direction both sides tell."""
        return sum(table.decided for table in self.tables)

    def count(self, agreement: Agreement) -> int:
        """How many comparisons came out so."""
        return sum(table.count(agreement) for table in self.tables)

    @property
    def possible(self) -> int:
        """Comparisons that can show the study's direction."""
        return sum(self.count(agreement) for agreement in POSSIBLE)

    @property
    def tested(self) -> int:
        """Those of them with enough pairs for a direction, whether there is one or not."""
        every = (contrast for table in self.tables for contrast in table.contrasts if contrast.agreement in POSSIBLE)
        return sum(pair.measured is not None and pair.measured.pairs >= LEAST_PAIRS for pair in every)

    @property
    def confirmed_everywhere(self) -> int:
        """Confirmed statements for which every place speaks clearly."""
        return sum(statement.places["yes"] == sum(statement.places.values()) for statement in self.of("confirmed"))

    def of(self, verdict: Verdict) -> tuple[Judged, ...]:
        """The statements that came out so."""
        return tuple(statement for statement in self.statements if statement.verdict == verdict)


def all_judged(experiment: StudyExperiment, measured: StudyTable) -> tuple[Judged, ...]:
    """All statements of an experiment's study, by what it measured."""
    study = experiment.study
    never = {**NEVER[study], **(NEVER_SCALED[study] if experiment.scaled else {})}
    return judge(statements(study), CHECKS[study], never, measured)


def compare(plan: Plan, records: Sequence[Record]) -> StudyComparison | None:
    """What a run says of the study whose experiment it is; None when it is no study's."""
    experiment = study_experiment(plan.experiment)
    if experiment is None:
        return None
    study = experiment.study
    reading = read(records, experiment)
    return StudyComparison(
        experiment=experiment,
        source=SOURCES[study],
        values=len(reading.measured),
        figures=figures(experiment, reading.measured),
        tables=tables(study, reading.measured, scaled=experiment.scaled),
        statements=all_judged(experiment, reading.measured),
        passed_over=reading.passed_over,
        inputs=reading.measured.names,
    )
