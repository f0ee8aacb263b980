"""All runs of the studies' experiments together: every comparison once, and how many are decided and agree.

Power: of Student's t of pairs, by the noncentral t distribution (Cohen, Statistical power analysis, 1988, chapter 2).
"""

from collections.abc import Iterable, Sequence
from math import log, sqrt
from statistics import mean

from assay.model.base import Frozen
from assay_extras.studies.comparison import (
    CHECKS,
    POSSIBLE,
    Agreement,
    ContrastBeside,
    TableBeside,
    Verdict,
    all_judged,
    tables,
)
from assay_extras.studies.kept import StudyRun
from assay_extras.studies.published import StudyName, statements, study_experiment
from assay_extras.studies.values import LEAST_PAIRS, Difference, Direction, Point, level_text, student

GOAL_DECIDED, GOAL_AGREED = 0.7, 0.9
"""Shares of the comparisons that can be decided, and of those decided."""
MOST_REPETITIONS = 30
LEAST_DEVIATION = 0.01


class Compared(Frozen):
    """One comparison: its experiment, table and place, and what was published and measured.

    `deviation` is the standard deviation of a pair's log ratio, with `borrowed` degrees of freedom from the run's other
    pairs; None where the measured ratio has no interval.
    """

    experiment: str
    table: str
    place: str
    of: str
    published_ratio: float | None
    measured_ratio: float | None
    published_direction: Direction
    measured_direction: Direction
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
    def smaller(self) -> bool:
        """Whether no direction was found, and an effect as large as the study's is ruled out by the interval."""
        return self.agreement == "undecided" and self.alike is False

    @property
    def alike(self) -> bool | None:
        """Whether the study's ratio lies within the run's interval; None where there is no ratio or interval."""
        if self.published_ratio is None or self.low is None or self.high is None:
            return None
        return self.low <= self.published_ratio <= self.high


class Group(Frozen):
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
    pairs: int
    deviation: float | None
    repetitions: int | None


class StatementVerdicts(Frozen):
    """What runs say of a statement: the experiments by whose runs it is confirmed, refuted or undecided."""

    id: str
    study: StudyName
    claim: str
    confirmed: tuple[str, ...]
    refuted: tuple[str, ...]
    undecided: tuple[str, ...]


class Overview(Frozen):
    """All comparisons, each once, by the run with most pairs; the counts of each experiment and of all; and statements.

    Each run judges statements by its own trials. Those that no run addresses are left out.
    """

    comparisons: tuple[Compared, ...]
    groups: tuple[Group, ...]
    all: Group
    statements: tuple[StatementVerdicts, ...] = ()


def overview(runs: Iterable[StudyRun]) -> Overview | None:
    """Of all runs that have a comparison of a study's, or speak of a statement; None where none does."""
    runs = tuple(runs)
    found: dict[tuple[Point, Point], Compared] = {}
    for run in runs:
        experiment = study_experiment(run.experiment)
        if experiment is not None:
            for key, one in _comparisons(run.experiment, tables(experiment.study, run.measured)):
                known = found.get(key)
                if known is None or one.pairs > known.pairs:
                    found[key] = one
    verdicts = _statements(runs)
    if not found and not verdicts:
        return None
    every = tuple(found.values())
    names = dict.fromkeys(one.experiment for one in every)
    groups = tuple(_group(name, [one for one in every if one.experiment == name]) for name in names)
    return Overview(comparisons=every, groups=groups, all=_group("all", every), statements=verdicts)


def _statements(runs: Iterable[StudyRun]) -> tuple[StatementVerdicts, ...]:
    """In the order of the studies."""
    verdicts: dict[tuple[str, Verdict], dict[str, None]] = {}
    for run in runs:
        experiment = study_experiment(run.experiment)
        for one in all_judged(experiment, run.measured) if experiment is not None else ():
            verdicts.setdefault((one.statement.id, one.verdict), {})[run.experiment] = None
    return tuple(
        StatementVerdicts(
            id=one.id, study=one.study, claim=one.claim, confirmed=tuple(own[0]), refuted=tuple(own[1]),
            undecided=tuple(own[2]),
        )
        for study in CHECKS
        for one in statements(study)
        if any(own := [verdicts.get((one.id, verdict), {}) for verdict in ("confirmed", "refuted", "undecided")])
    )  # fmt: skip


def _comparisons(experiment: str, beside: Sequence[TableBeside]) -> list[tuple[tuple[Point, Point], Compared]]:
    """What was measured; a pair that two tables have is one comparison, of the first table."""
    found: dict[tuple[Point, Point], Compared] = {}
    for table in beside:
        for one in table.contrasts:
            if one.measured is not None and (one.first, one.second) not in found:
                found[one.first, one.second] = _compared(experiment, table.name, one, one.measured)
    return list(found.items())


def _compared(experiment: str, table: str, one: ContrastBeside, measured: Difference) -> Compared:
    second, first = (level_text(one.field, getattr(point, one.field)) for point in (one.second, one.first))
    return Compared(
        experiment=experiment,
        table=table,
        place=one.second.label(one.field),
        of=f"{second} / {first}",
        published_ratio=one.published_ratio,
        measured_ratio=measured.ratio,
        published_direction=one.published_direction,
        measured_direction=measured.direction,
        low=measured.low,
        high=measured.high,
        pairs=measured.pairs,
        deviation=measured.deviation,
        borrowed=measured.borrowed,
        agreement=one.agreement,
    )


def _group(name: str, every: Sequence[Compared]) -> Group:
    possible = [one for one in every if one.agreement in POSSIBLE]
    ties, too_short = ([one for one in every if one.agreement == kind] for kind in ("published tie", "too short"))
    known = [one.deviation**2 for one in possible if one.deviation is not None]
    return Group(
        name=name,
        possible=len(possible),
        decided=sum(one.decided for one in possible),
        agreed=sum(one.agreement == "agrees" for one in possible),
        alike=sum(one.agreement == "agrees" and one.alike is True for one in possible),
        smaller=sum(one.smaller for one in possible),
        ties=len(ties),
        ties_decided=sum(one.measured_direction != 0 for one in ties),
        too_short=len(too_short),
        too_short_decided=sum(one.measured_direction != 0 for one in too_short),
        too_short_agreed=sum(one.measured_direction == one.published_direction for one in too_short),
        pairs=min((one.pairs for one in possible), default=0),
        deviation=sqrt(mean(known)) if known else None,
        repetitions=_enough(possible),
    )


def _enough(possible: Sequence[Compared]) -> int | None:
    """The fewest repetitions with which the goal's share is decided, if the measured ratios are the true ones.

    Each comparison keeps its own deviation, but at least half of all: of few pairs some seem to have almost none.
    """
    known = [
        (log(one.measured_ratio), one.deviation, one.borrowed)
        for one in possible
        if one.measured_ratio and one.deviation
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
