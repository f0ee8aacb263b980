"""A run of a study's experiment beside the study: the one entry for reports."""

from collections.abc import Mapping, Sequence

from assay.model.base import Frozen
from assay.model.record import Record
from assay.model.trial import Plan
from assay.study.agreement import TableBeside, tables
from assay.study.check import Check, Judged, Verdict, judge
from assay.study.checks import components, friends, hybrid, triangles
from assay.study.difference import LEAST_PAIRS
from assay.study.experiment import StudyExperiment, study_experiment
from assay.study.figure import Figure, figures
from assay.study.measured import read
from assay.study.published import StudyName, statements

CHECKS: Mapping[StudyName, Mapping[str, Check]] = {
    "thesis": {**friends.CHECKS, **triangles.CHECKS, **components.CHECKS},
    "hybrid": hybrid.CHECKS,
}
NEVER: Mapping[StudyName, Mapping[str, str]] = {"thesis": components.NEVER, "hybrid": hybrid.NEVER}
NEVER_SCALED: Mapping[StudyName, Mapping[str, str]] = {"thesis": components.SCALED, "hybrid": hybrid.SCALED}
SOURCES: Mapping[StudyName, str] = {
    "thesis": "M. Bakratsas, Hadoop-MapReduce performance on SSD for Complex Network analysis, master's thesis, "
    "University of Thessaly, 2015",
    "hybrid": "D. Wu, W. Xie, X. Ji, W. Luo, J. He, D. Wu, Understanding the Impacts of Solid-State Storage on the "
    "Hadoop Performance, International Conference on Advanced Cloud and Big Data, 2013",
}


class StudyComparison(Frozen):
    """Everything that a run says of its study. `passed_over` has, by trial, why it says nothing."""

    experiment: StudyExperiment
    source: str
    values: int
    figures: tuple[Figure, ...]
    tables: tuple[TableBeside, ...]
    statements: tuple[Judged, ...]
    passed_over: Mapping[str, str]

    @property
    def agreed(self) -> int:
        """Comparisons whose direction is the published one."""
        return sum(table.count("agrees") for table in self.tables)

    @property
    def decided(self) -> int:
        """Comparisons whose direction both sides tell."""
        return sum(table.decided for table in self.tables)

    @property
    def undecided(self) -> int:
        """Comparisons in which one side tells no direction."""
        return sum(table.count("undecided") for table in self.tables)

    @property
    def even(self) -> int:
        """Those of the undecided in which the study shows no difference: repetitions tell nothing more of them."""
        every = (one for table in self.tables for one in table.contrasts)
        return sum(one.agreement == "undecided" and not one.published_direction for one in every)

    @property
    def tested(self) -> int:
        """Comparisons in which the study has a direction, with enough pairs for one, whether it was told or not."""
        every = (one for table in self.tables for one in table.contrasts if one.published_direction)
        return sum(one.measured is not None and one.measured.pairs >= LEAST_PAIRS for one in every)

    @property
    def confirmed_everywhere(self) -> int:
        """Confirmed statements for which every place speaks clearly."""
        return sum(one.places["yes"] == sum(one.places.values()) for one in self.of("confirmed"))

    def of(self, verdict: Verdict) -> tuple[Judged, ...]:
        """The statements that came out so."""
        return tuple(one for one in self.statements if one.verdict == verdict)


def compare(plan: Plan, records: Sequence[Record]) -> StudyComparison | None:
    """What a run says of the study whose experiment it is; None when it is no study's."""
    experiment = study_experiment(plan.experiment)
    if experiment is None:
        return None
    study = experiment.study
    reading = read(records, experiment)
    never = {**NEVER[study], **(NEVER_SCALED[study] if experiment.scaled else {})}
    return StudyComparison(
        experiment=experiment,
        source=SOURCES[study],
        values=len(reading.measured),
        figures=figures(experiment, reading.measured),
        tables=tables(study, reading.measured),
        statements=judge(statements(study), CHECKS[study], never, reading.measured),
        passed_over=reading.passed_over,
    )
