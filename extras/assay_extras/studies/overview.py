"""All runs of the studies' experiments together: every comparison once, and how many are decided and agree.

Power: of Student's t of pairs, by the noncentral t distribution (Cohen, Statistical power analysis, 1988, chapter 2).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log, sqrt
from statistics import mean
from typing import Literal

from assay.model.base import Frozen
from assay_extras.studies.comparison import (
    ACROSS,
    CHECKS,
    NEVER,
    NEVER_SCALED,
    POSSIBLE,
    SCALE_DECIDES,
    TRUTHS,
    Agreement,
    ContrastBeside,
    Judged,
    TableBeside,
    Verdict,
    all_judged,
    tables,
)
from assay_extras.studies.kept import StudyRun
from assay_extras.studies.published import StudyName, contrasts, experiments, statements, study_experiment
from assay_extras.studies.score import Judgeable, Score, scored
from assay_extras.studies.values import LEAST_PAIRS, Difference, StudyPoint, StudyTable, Truth, level_text, student

GOAL_DECIDED, GOAL_AGREED = 0.7, 0.9
"""Shares of the comparisons that can be decided, and of those decided."""
MOST_REPETITIONS = 30
LEAST_DEVIATION = 0.01


class Compared(Judgeable):
    """One comparison: its experiment, table and place, and what was published and measured.

    `deviation` is the standard deviation of a pair's log ratio, with `borrowed` degrees of freedom from the run's other
    pairs; None where the measured ratio has no interval.
    """

    experiment: str
    table: str
    place: str
    of: str
    low: float | None
    high: float | None
    pairs: int
    deviation: float | None
    borrowed: float
    agreement: Agreement

    @property
    def decided(self) -> bool:
        """Whether both sides have a direction."""
        return self.agreement in {"agrees", "differs"}

    @property
    def tested(self) -> bool:
        """Whether it is scored: long enough, with enough pairs for a direction, and no matter of the set-up."""
        return self.agreement in {*POSSIBLE, "published tie"} and self.pairs >= LEAST_PAIRS

    @property
    def smaller(self) -> bool:
        """Whether no direction was found, and an effect as large as the study's is ruled out by the interval."""
        return self.agreement == "undecided" and self.alike is False

    @property
    def alike(self) -> bool | None:
        """Whether the study's ratio lies within the run's interval; None where there is no ratio or interval."""
        if self.published_ratio is None or self.low is None or self.high is None:
            return None
        return self.low <= self.published_ratio <= self.high


class ExperimentGroup(Frozen):
    """The comparisons of one experiment. `repetitions` are those that would decide 70 % (None: more than 30).

    `smaller` are the undecided that rule out an effect as large as the study's, `alike` the agreeing whose interval
    has the study's ratio. Of ties and of what is too short some have a direction in the run all the same; of the
    latter some have the study's.
    """

    name: str
    possible: int
    decided: int
    agreed: int
    alike: int
    smaller: int
    ties: int
    ties_decided: int
    too_short: int
    too_short_decided: int
    too_short_agreed: int
    set_up: int
    pairs: int
    deviation: float | None
    repetitions: int | None


class StatementVerdicts(Frozen):
    """What runs say of a statement: the experiments by whose runs it is confirmed, refuted or undecided.

    `places` counts by truth what all runs show of it, `ratios` are the least and the most of single pairs there; None
    where it is seen by no ratio. `scale` says which choice of the scaled experiments decides it; empty for none known.
    """

    id: str
    study: StudyName
    claim: str
    confirmed: tuple[str, ...]
    refuted: tuple[str, ...]
    undecided: tuple[str, ...]
    places: Mapping[Truth, int]
    ratios: tuple[float, float] | None
    scale: str

    @property
    def verdict(self) -> Verdict:
        """By its clearest runs; undecided where they contradict each other."""
        if bool(self.confirmed) == bool(self.refuted):
            return "undecided"
        return "confirmed" if self.confirmed else "refuted"


class Coverage(Frozen):
    """How much of a study runs cover.

    `directional` are its comparisons with a direction, each once, that do not follow from the set-up, `printed` those
    with the ones that two tables have. Of the `measured` some are `too_short` and some have `few_pairs`. `never` are
    statements that no (scaled) run can speak to, `judged` those that a run does, and `by_scale` the confirmed and
    refuted whose verdict a choice of the scaled experiments decides.
    """

    study: StudyName | Literal["all"]
    experiments: int
    run: tuple[str, ...]
    not_run: tuple[str, ...]
    directional: int
    printed: int
    measured: int
    too_short: int
    few_pairs: int
    decided: int
    agree: int
    statements: int
    never: int
    judged: int
    confirmed: int
    refuted: int
    by_scale: int


class StudiesOverview(Frozen):
    """All comparisons, each once, by the run with most pairs; the counts of each experiment and of all; and statements.

    `score` is None where nothing can be scored. `coverage` has a row for each study, and one for all.

    Each run judges statements by its own trials. Those that no run addresses are left out.
    """

    comparisons: tuple[Compared, ...]
    groups: tuple[ExperimentGroup, ...]
    all: ExperimentGroup
    statements: tuple[StatementVerdicts, ...] = ()
    score: Score | None = None
    coverage: tuple[Coverage, ...] = ()


def overview(runs: Iterable[StudyRun]) -> StudiesOverview | None:
    """Of all runs that have a comparison of a study's, or speak of a statement; None where none does."""
    runs = tuple(runs)
    comparisons: dict[tuple[StudyPoint, StudyPoint], Compared] = {}
    for run in runs:
        experiment = study_experiment(run.experiment)
        if experiment is not None:
            beside = tables(experiment.study, run.measured, scaled=experiment.scaled)
            for key, comparison in _comparisons(run.experiment, beside, run.inputs):
                known = comparisons.get(key)
                if known is None or comparison.pairs > known.pairs:
                    comparisons[key] = comparison
    verdicts = _statements(runs)
    if not comparisons and not verdicts:
        return None
    every = tuple(comparisons.values())
    names = dict.fromkeys(comparison.experiment for comparison in every)
    groups = tuple(
        _group(name, [comparison for comparison in every if comparison.experiment == name]) for name in names
    )
    return StudiesOverview(
        comparisons=every, groups=groups, all=_group("all", every), statements=verdicts,
        score=scored(
            [comparison for comparison in every if comparison.tested],
            [comparison for comparison in every if comparison.agreement in POSSIBLE],
        ),
        coverage=_coverage(runs, every, verdicts),
    )  # fmt: skip


def judged_by_runs(runs: Iterable[StudyRun]) -> dict[str, list[tuple[str, Judged]]]:
    """By statement what each run says of it, with the run's experiment; all that speak of it together of some."""
    verdicts: dict[str, list[tuple[StudyRun, Judged]]] = {}
    for run in runs:
        experiment = study_experiment(run.experiment)
        for judged in all_judged(experiment, run.measured) if experiment is not None else ():
            verdicts.setdefault(judged.statement.id, []).append((run, judged))
    for statement_id in ACROSS & verdicts.keys():
        verdicts[statement_id] = _together(verdicts[statement_id])
    return {name: [(run.experiment, judged) for run, judged in by_run] for name, by_run in verdicts.items()}


def _together(by_run: Sequence[tuple[StudyRun, Judged]]) -> list[tuple[StudyRun, Judged]]:
    """Judge a statement by the trials of all runs that speak of it, and of no other: its set-up may differ."""
    speaking = [(run, judged) for run, judged in by_run if judged.verdict != "not addressed"]
    experiment = study_experiment(speaking[0][0].experiment) if speaking else None
    if experiment is None:
        return list(by_run[:1])
    every = (values for run, _ in speaking for values in run.values)
    # Of a place in several runs the most repeated counts.
    by_repetitions = sorted(every, key=lambda values: len(values.repetitions))
    measured = StudyTable({values.point: values.repetitions for values in by_repetitions})
    statement_id = speaking[0][1].statement.id
    (joint,) = (judged for judged in all_judged(experiment, measured) if judged.statement.id == statement_id)
    return [(run, joint) for run, _ in speaking]


def _statements(runs: Iterable[StudyRun]) -> tuple[StatementVerdicts, ...]:
    """In the order of the studies."""
    verdicts: dict[tuple[str, Verdict], dict[str, None]] = {}
    evidence: dict[str, list[Judged]] = {}
    for statement_id, told in judged_by_runs(runs).items():
        for name, judged_statement in told:
            verdicts.setdefault((statement_id, judged_statement.verdict), {})[name] = None
        evidence[statement_id] = list({id(one): one for _, one in told}.values())
    shown: tuple[Verdict, ...] = ("confirmed", "refuted", "undecided")
    return tuple(
        StatementVerdicts(
            id=statement.id, study=statement.study, claim=statement.claim, confirmed=tuple(runs_by_verdict[0]),
            refuted=tuple(runs_by_verdict[1]), undecided=tuple(runs_by_verdict[2]),
            places=_places(evidence[statement.id]), ratios=_spread(evidence[statement.id]),
            scale=SCALE_DECIDES[study].get(statement.id, ""),
        )
        for study in CHECKS
        for statement in statements(study)
        if any(runs_by_verdict := [verdicts.get((statement.id, verdict), {}) for verdict in shown])
    )  # fmt: skip


def _places(every: Iterable[Judged]) -> dict[Truth, int]:
    counted = Counter[Truth]()
    for judged_statement in every:
        counted.update(judged_statement.places)
    return {truth: counted[truth] for truth in TRUTHS}


def _spread(every: Iterable[Judged]) -> tuple[float, float] | None:
    ratios = [
        finding.ratios
        for judged_statement in every
        for finding in judged_statement.findings
        if finding.ratios is not None
    ]
    return (min(least for least, _ in ratios), max(most for _, most in ratios)) if ratios else None


def _coverage(
    runs: Iterable[StudyRun], every: Sequence[Compared], verdicts: Sequence[StatementVerdicts]
) -> tuple[Coverage, ...]:
    ran = {experiment.name for run in runs if (experiment := study_experiment(run.experiment)) is not None}
    return tuple(_covered(study, ran, every, verdicts) for study in CHECKS)


def _covered(
    study: StudyName, ran: Collection[str], every: Sequence[Compared], verdicts: Sequence[StatementVerdicts]
) -> Coverage:
    shown = {
        (contrast.first, contrast.second) for contrast in contrasts(study) if contrast.direction and not contrast.set_up
    }
    named = experiments(study)
    study_comparisons = [
        comparison for comparison in every if _study(comparison.experiment) == study and comparison.published_direction
    ]
    study_statements = [statement for statement in verdicts if statement.study == study]
    agreements = Counter(comparison.agreement for comparison in study_comparisons)
    verdict = Counter(statement.verdict for statement in study_statements)
    return Coverage(
        study=study,
        experiments=len(named),
        run=tuple(name for name in named if name in ran),
        not_run=tuple(name for name in named if name not in ran),
        directional=len(shown),
        printed=sum(contrast.direction != 0 and not contrast.set_up for contrast in contrasts(study)),
        measured=len(study_comparisons) - agreements["follows from the set-up"],
        too_short=agreements["too short"],
        few_pairs=sum(comparison.agreement in POSSIBLE and not comparison.tested for comparison in study_comparisons),
        decided=agreements["agrees"] + agreements["differs"],
        agree=agreements["agrees"],
        statements=len(statements(study)),
        never=len({**NEVER[study], **NEVER_SCALED[study]}),
        judged=len(study_statements),
        confirmed=verdict["confirmed"],
        refuted=verdict["refuted"],
        by_scale=sum(bool(statement.scale) and statement.verdict != "undecided" for statement in study_statements),
    )


def _study(name: str) -> StudyName | None:
    experiment = study_experiment(name)
    return None if experiment is None else experiment.study


def _comparisons(
    experiment: str, beside: Sequence[TableBeside], names: Mapping[str, str]
) -> list[tuple[tuple[StudyPoint, StudyPoint], Compared]]:
    """What was measured; a pair that two tables have is one comparison, of the first table."""
    comparisons: dict[tuple[StudyPoint, StudyPoint], Compared] = {}
    for table in beside:
        for contrast in table.contrasts:
            if contrast.measured is not None and (contrast.first, contrast.second) not in comparisons:
                comparisons[contrast.first, contrast.second] = _compared(
                    experiment, table.name, contrast, contrast.measured, names
                )
    return list(comparisons.items())


def _compared(
    experiment: str, table: str, contrast: ContrastBeside, measured: Difference, names: Mapping[str, str]
) -> Compared:
    second, first = (
        level_text(contrast.field, getattr(point, contrast.field)) for point in (contrast.second, contrast.first)
    )
    return Compared(
        experiment=experiment,
        table=table,
        place=contrast.second.label(contrast.field, names=names),
        field=contrast.field,
        of=f"{second} / {first}",
        published_ratio=contrast.published_ratio,
        measured_ratio=measured.ratio,
        published_direction=contrast.published_direction,
        measured_direction=measured.direction,
        chance=measured.chance,
        own_chance=measured.own_chance,
        sign=measured.sign,
        low=measured.low,
        high=measured.high,
        pairs=measured.pairs,
        deviation=measured.deviation,
        borrowed=measured.borrowed,
        agreement=contrast.agreement,
    )


def _group(name: str, every: Sequence[Compared]) -> ExperimentGroup:
    possible = [comparison for comparison in every if comparison.agreement in POSSIBLE]
    ties, too_short = (
        [comparison for comparison in every if comparison.agreement == kind] for kind in ("published tie", "too short")
    )
    known = [comparison.deviation**2 for comparison in possible if comparison.deviation is not None]
    return ExperimentGroup(
        name=name,
        possible=len(possible),
        decided=sum(comparison.decided for comparison in possible),
        agreed=sum(comparison.agreement == "agrees" for comparison in possible),
        alike=sum(comparison.agreement == "agrees" and comparison.alike is True for comparison in possible),
        smaller=sum(comparison.smaller for comparison in possible),
        ties=len(ties),
        ties_decided=sum(comparison.measured_direction != 0 for comparison in ties),
        too_short=len(too_short),
        too_short_decided=sum(comparison.measured_direction != 0 for comparison in too_short),
        too_short_agreed=sum(
            comparison.measured_direction == comparison.published_direction for comparison in too_short
        ),
        set_up=sum(comparison.agreement == "follows from the set-up" for comparison in every),
        pairs=min((comparison.pairs for comparison in possible), default=0),
        deviation=sqrt(mean(known)) if known else None,
        repetitions=_enough(possible),
    )


def _enough(possible: Sequence[Compared]) -> int | None:
    """The fewest repetitions with which the goal's share is decided, if the measured ratios are the true ones.

    Each comparison keeps its own deviation, but at least half of all: of few pairs some seem to have almost none.
    """
    known = [
        (log(comparison.measured_ratio), comparison.deviation, comparison.borrowed)
        for comparison in possible
        if comparison.measured_ratio and comparison.deviation
    ]
    if not known:
        return None
    typical = sqrt(mean(deviation**2 for _, deviation, _ in known))
    for count in range(LEAST_PAIRS, MOST_REPETITIONS + 1):
        powers = [
            power(effect, max(deviation, typical / 2, LEAST_DEVIATION), count, borrowed)
            for effect, deviation, borrowed in known
        ]
        if sum(powers) >= GOAL_DECIDED * len(possible):
            return count
    return None


def power(effect: float, deviation: float, pairs: int, borrowed: float = 0.0) -> float:
    """The chance that so many pairs show the direction of a ratio, whose logarithm is `effect`."""
    from scipy.special import nctdtr

    freedom = pairs - 1 + borrowed
    shift = min(abs(effect) / deviation * sqrt(pairs), 30.0)  # beyond it the chance is 1 and the function overflows
    return 1 - float(nctdtr(freedom, shift, student(freedom, 1)))
