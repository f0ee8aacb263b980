"""All runs of the studies' experiments together: every comparison once, and how many are decided and agree.

Power: of Student's t of pairs, by the noncentral t distribution (Cohen, Statistical power analysis, 1988, chapter 2).
"""

from collections.abc import Iterable, Sequence
from math import log, sqrt
from statistics import mean

from assay.model.base import Frozen
from assay.model.record import Record
from assay.model.trial import Plan
from assay_extras.studies.comparison import POSSIBLE, Agreement, ContrastBeside, StudyComparison, compare
from assay_extras.studies.values import LEAST_PAIRS, Difference, Point, level_text, student

GOAL_DECIDED, GOAL_AGREED = 0.7, 0.9
"""Shares of the comparisons that can be decided, and of those decided."""
MOST_REPETITIONS = 30
LEAST_DEVIATION = 0.01


class Compared(Frozen):
    """One comparison: its experiment, table and place, and what was published and measured.

    `deviation` is the standard deviation of a pair's log ratio; None where the measured ratio has no interval.
    """

    experiment: str
    table: str
    place: str
    of: str
    published_ratio: float | None
    measured_ratio: float | None
    low: float | None
    high: float | None
    pairs: int
    deviation: float | None
    agreement: Agreement

    @property
    def decided(self) -> bool:
        """Whether both sides have a direction."""
        return self.agreement in {"agrees", "differs"}


class Group(Frozen):
    """The comparisons of one experiment. `repetitions` are those that would decide 70 % (None: more than 30)."""

    name: str
    possible: int
    decided: int
    agreed: int
    ties: int
    too_short: int
    pairs: int
    deviation: float | None
    repetitions: int | None


class Overview(Frozen):
    """All comparisons, each once, by the run with most pairs; and the counts of each experiment and of all."""

    comparisons: tuple[Compared, ...]
    groups: tuple[Group, ...]
    all: Group


def overview(runs: Iterable[tuple[Plan, Sequence[Record]]]) -> Overview | None:
    """Of all runs that belong to a study; None where none does."""
    by_experiment: dict[str, list[Sequence[Record]]] = {}
    plans: dict[str, Plan] = {}
    for plan, records in runs:
        by_experiment.setdefault(plan.experiment, []).append(records)
        plans[plan.experiment] = plan
    comparisons: dict[tuple[Point, Point], Compared] = {}
    for name, several in by_experiment.items():
        for records in several:
            study = compare(plans[name], records)
            if study is not None:
                for key, compared in _comparisons(name, study):
                    known = comparisons.get(key)
                    if known is None or compared.pairs > known.pairs:
                        comparisons[key] = compared
    if not comparisons:
        return None
    every = tuple(comparisons.values())
    names = dict.fromkeys(compared.experiment for compared in every)
    groups = tuple(_group(name, [compared for compared in every if compared.experiment == name]) for name in names)
    return Overview(comparisons=every, groups=groups, all=_group("all", every))


def _comparisons(experiment: str, study: StudyComparison) -> list[tuple[tuple[Point, Point], Compared]]:
    """What was measured; a pair that two tables have is one comparison, of the first table."""
    comparisons: dict[tuple[Point, Point], Compared] = {}
    for table in study.tables:
        for contrast in table.contrasts:
            pair = (contrast.first, contrast.second)
            if contrast.measured is not None and pair not in comparisons:
                comparisons[pair] = _compared(experiment, table.name, contrast, contrast.measured)
    return list(comparisons.items())


def _compared(experiment: str, table: str, contrast: ContrastBeside, measured: Difference) -> Compared:
    field = contrast.field
    second, first = (level_text(field, getattr(point, field)) for point in (contrast.second, contrast.first))
    deviation = None
    if measured.low is not None and measured.high is not None and measured.pairs >= LEAST_PAIRS:
        half = log(measured.high / measured.low) / 2
        deviation = half * sqrt(measured.pairs) / student(measured.pairs - 1, 1)
    return Compared(
        experiment=experiment,
        table=table,
        place=contrast.second.told(field),
        of=f"{second} / {first}",
        published_ratio=contrast.published_ratio,
        measured_ratio=measured.ratio,
        low=measured.low,
        high=measured.high,
        pairs=measured.pairs,
        deviation=deviation,
        agreement=contrast.agreement,
    )


def _group(name: str, every: Sequence[Compared]) -> Group:
    possible = [compared for compared in every if compared.agreement in POSSIBLE]
    known = [compared.deviation**2 for compared in possible if compared.deviation is not None]
    return Group(
        name=name,
        possible=len(possible),
        decided=sum(compared.decided for compared in possible),
        agreed=sum(compared.agreement == "agrees" for compared in possible),
        ties=sum(compared.agreement == "published tie" for compared in every),
        too_short=sum(compared.agreement == "too short" for compared in every),
        pairs=min((compared.pairs for compared in possible), default=0),
        deviation=sqrt(mean(known)) if known else None,
        repetitions=_enough(possible),
    )


def _enough(possible: Sequence[Compared]) -> int | None:
    """The fewest repetitions with which the goal's share is decided, if the measured ratios are the true ones.

    Each comparison keeps its own deviation, but at least half of all: of few pairs some seem to have almost none.
    """
    known = [
        (log(compared.measured_ratio), compared.deviation)
        for compared in possible
        if compared.measured_ratio and compared.deviation
    ]
    if not known:
        return None
    typical = sqrt(mean(deviation**2 for _, deviation in known))
    for count in range(LEAST_PAIRS, MOST_REPETITIONS + 1):
        powers = [power(effect, max(deviation, typical / 2, LEAST_DEVIATION), count) for effect, deviation in known]
        if sum(powers) >= GOAL_DECIDED * len(possible):
            return count
    return None


def power(effect: float, deviation: float, pairs: int) -> float:
    """The chance that so many pairs show the direction of a ratio, whose logarithm is `effect`."""
    from scipy.special import nctdtr

    limit = student(pairs - 1, 1)
    shift = min(abs(effect) / deviation * sqrt(pairs), 30.0)  # beyond it the chance is 1 and the function overflows
    return 1 - float(nctdtr(pairs - 1, shift, limit))
