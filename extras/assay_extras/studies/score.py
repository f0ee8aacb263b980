"""How well runs foretell what a study published, beside two guesses that need no run.

A comparison is of one of three classes, on either side: the second is faster, slower, or no difference. A guess that
is always the same is the least that a run has to beat. Agreement beyond chance: J. Cohen, A coefficient of agreement
for nominal scales, Educational and Psychological Measurement 20 (1960); its standard error: J. Fleiss, J. Cohen, B.
Everitt, Large sample standard errors of kappa and weighted kappa, Psychological Bulletin 72 (1969).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from math import exp, log, sqrt
from operator import mul
from statistics import median

from assay.model.base import Frozen
from assay.stats.comparison import benjamini_hochberg, holm
from assay_extras.studies.values import LEVEL, Direction, Field

CLASSES: tuple[Direction, ...] = (-1, 0, 1)
CLASS_WORDS = ("faster", "no difference", "slower")
RUNS, SECOND_FASTER, NO_EFFECT = "the runs", 'always "the second is faster"', 'always "no difference"'
KINDS: tuple[tuple[str, tuple[Field, ...]], ...] = (
    ("drives", ("medium",)), ("settings", ("settings",)), ("networks", ("network",)),
)  # fmt: skip
"""What a comparison is of, by the field in which its two sides differ."""
LEAST_RANKED = 3
NORMAL_QUANTILE = 1.96


class Judgeable(Frozen):
    """What is scored of a comparison: both sides' directions and ratios.

    `sign` is which way the measured ratio points, whatever the noise; `chance` is its p-value with the variance of its
    job and phase lent to it, `own_chance` with the pairs' own variance alone.
    """

    field: Field
    published_direction: Direction
    measured_direction: Direction
    published_ratio: float | None
    measured_ratio: float | None
    chance: float | None
    own_chance: float | None
    sign: Direction


class Agreed(Frozen):
    """Of one forecast: `counts` of comparisons, a row for each published class, a column for each forecast one.

    `decided_agree` counts those of the directions that the runs decide in which the forecast is right. `kappa` is 1 if
    all agree and 0 if no more do than by chance; `low` and `high` are its interval as if comparisons were independent,
    None where the forecast is always the same: its kappa is 0 whatever is true.
    """

    name: str
    counts: tuple[tuple[int, ...], ...]
    decided_agree: int
    kappa: float
    low: float | None
    high: float | None

    @property
    def agree(self) -> int:
        """How many have the published class."""
        return sum(row[index] for index, row in enumerate(self.counts))

    @property
    def of(self) -> int:
        """How many there are."""
        return sum(map(sum, self.counts))

    @property
    def directions_agree(self) -> int:
        """How many of those with a published direction have it."""
        return self.agree - self.counts[1][1]


class RatioError(Frozen):
    """How far measured ratios are from the published: the median factor, and what it is for the ratio 1 instead.

    `spearman` is None for fewer than three comparisons.
    """

    kind: str
    comparisons: int
    factor: float
    null_factor: float
    spearman: float | None


class Corrected(Frozen):
    """How many comparisons are decided, agree, and how many published ties get a direction, by one rule.

    Each correction is made over the comparisons with a published direction, and over the ties. `own`: by the pairs' own
    variance alone.
    """

    rule: str
    own: bool
    decided: int
    agree: int
    ties: int


class Score(Frozen):
    """Of all comparisons with at least three pairs that are long enough and do not follow from the set-up.

    `directions` are those in which the study has one, `ties` the others; `decided` are those of `directions` that
    the runs decide. `errors` are of all with a published direction and both ratios, those with fewer pairs too.
    """

    directions: int
    ties: int
    decided: int
    forecasts: tuple[Agreed, ...]
    errors: tuple[RatioError, ...]
    corrections: tuple[Corrected, ...]


def scored(tested: Sequence[Judgeable], directional: Sequence[Judgeable]) -> Score | None:
    """The score of what was tested, and the errors of all that have a published direction; None where nothing was."""
    if not tested:
        return None
    directions = [comparison for comparison in tested if comparison.published_direction]
    ties = [comparison for comparison in tested if not comparison.published_direction]
    forecasts: dict[str, Forecast] = {
        RUNS: lambda comparison: comparison.measured_direction, SECOND_FASTER: lambda _: -1, NO_EFFECT: lambda _: 0,
    }  # fmt: skip
    decided = [comparison for comparison in directions if comparison.measured_direction]
    return Score(
        directions=len(directions),
        ties=len(ties),
        decided=len(decided),
        forecasts=tuple(_agreed(name, forecast, tested, decided) for name, forecast in forecasts.items()),
        errors=_errors(directional),
        corrections=_corrections(directions, ties),
    )


Forecast = Callable[[Judgeable], Direction]


def _agreed(name: str, forecast: Forecast, tested: Iterable[Judgeable], decided: Iterable[Judgeable]) -> Agreed:
    pairs = [(comparison.published_direction, forecast(comparison)) for comparison in tested]
    counts = tuple(tuple(pairs.count((row, column)) for column in CLASSES) for row in CLASSES)
    kappa, error = cohens_kappa(counts)
    return Agreed(
        name=name, counts=counts, kappa=kappa,
        decided_agree=sum(forecast(comparison) == comparison.published_direction for comparison in decided),
        low=None if error is None else max(-1.0, kappa - NORMAL_QUANTILE * error),
        high=None if error is None else min(1.0, kappa + NORMAL_QUANTILE * error),
    )  # fmt: skip


def cohens_kappa(counts: Sequence[Sequence[int]]) -> tuple[float, float | None]:
    """Kappa and its standard error for large samples; 0 and None where one side has a single class."""
    total = sum(map(sum, counts))
    places = range(len(counts))
    share = [[count / total for count in row] for row in counts]
    rows = [sum(row) for row in share]
    columns = [sum(row[index] for row in share) for index in places]
    same, by_chance = sum(share[index][index] for index in places), sum(map(mul, rows, columns))
    if max(*rows, *columns) == 1.0:
        return 0.0, None
    kappa = (same - by_chance) / (1 - by_chance)
    on_diagonal = sum(share[at][at] * (1 - (rows[at] + columns[at]) * (1 - kappa)) ** 2 for at in places)
    off_diagonal = (1 - kappa) ** 2 * sum(
        share[row][column] * (columns[row] + rows[column]) ** 2
        for row, column in product(places, places)
        if row != column
    )
    rest = (kappa - by_chance * (1 - kappa)) ** 2
    variance = (on_diagonal + off_diagonal - rest) / ((1 - by_chance) ** 2 * total)
    return kappa, sqrt(max(variance, 0.0))


def _errors(directional: Sequence[Judgeable]) -> tuple[RatioError, ...]:
    groups = [("all", [*directional])]
    groups += [
        (kind, [comparison for comparison in directional if comparison.field in fields]) for kind, fields in KINDS
    ]
    return tuple(error for kind, group in groups if (error := ratio_error(kind, group)) is not None)


def ratio_error(kind: str, comparisons: Iterable[Judgeable]) -> RatioError | None:
    """Of those that have both ratios; None where none has."""
    logs = [
        (log(comparison.published_ratio), log(comparison.measured_ratio))
        for comparison in comparisons
        if comparison.published_ratio and comparison.measured_ratio
    ]
    if not logs:
        return None
    return RatioError(
        kind=kind,
        comparisons=len(logs),
        factor=exp(median(abs(measured - published) for published, measured in logs)),
        null_factor=exp(median(abs(published) for published, _ in logs)),
        spearman=_spearman(logs),
    )


def _spearman(logs: Sequence[tuple[float, float]]) -> float | None:
    if len(logs) < LEAST_RANKED or any(len(set(side)) == 1 for side in zip(*logs, strict=True)):
        return None
    from scipy.stats import spearmanr

    return float(spearmanr(*zip(*logs, strict=True)).statistic)


Correction = Callable[[Sequence[float]], list[float]]
RULES: Mapping[str, Correction] = {
    "each by itself": list, "Benjamini-Hochberg": benjamini_hochberg, "Holm": holm,
}  # fmt: skip


def _corrections(directions: Sequence[Judgeable], ties: Sequence[Judgeable]) -> tuple[Corrected, ...]:
    corrections = []
    for own, (rule, correct) in product((False, True), RULES.items()):
        decided, undirected = (_decided(group, correct, own=own) for group in (directions, ties))
        agree = sum(comparison.sign == comparison.published_direction for comparison in decided)
        corrections.append(Corrected(rule=rule, own=own, decided=len(decided), agree=agree, ties=len(undirected)))
    return tuple(corrections)


def _decided(comparisons: Sequence[Judgeable], correct: Correction, *, own: bool) -> list[Judgeable]:
    """Those whose change counts, and whose corrected chance is small."""
    chances = [(comparison, comparison.own_chance if own else comparison.chance) for comparison in comparisons]
    known = [(comparison, chance) for comparison, chance in chances if chance is not None]
    corrected = correct([chance for _, chance in known])
    return [
        comparison
        for (comparison, _), chance in zip(known, corrected, strict=True)
        if comparison.sign and chance < 1 - LEVEL
    ]
