"""What a value is of, whether published or measured, and how two sets of values differ.

Source of the interval: Student, The probable error of a mean, Biometrika 6 (1908), on the logarithms of the ratios
within repetitions. It takes these to be about normal, in exchange for which three pairs can tell something: by ranks
alone three tell nothing at this level. A few pairs say little of their own variance, so that it is moderated by that of
all the run's pairs, as `assay.stats.noise` does for whole trials (Smyth 2004).
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import combinations
from math import exp, inf, log, sqrt
from statistics import mean, median, stdev
from types import MappingProxyType
from typing import Literal, NamedTuple

from assay.model.base import Frozen
from assay.model.trial import NoisePrior
from assay.stats.noise import Residual, averaged, fit_prior

Level = str | float
Field = Literal[
    "workload", "job", "settings", "dataset", "medium", "metric", "size", "block", "buffer", "streams", "network",
    "nodes", "store",
]  # fmt: skip
PHASES = ("map", "shuffle", "merge", "reduce")
Repeated = Mapping[int, float]
"""A value of each repetition, by its number."""


NO_NAMES: Mapping[str, str] = MappingProxyType({})


class StudyPoint(NamedTuple):
    """The place of one value. A field that does not apply is empty or 0.

    `medium` is `hdd`, `ssd1` or `ssd2` in the thesis, the SSD's share in percent (`0` to `100`) in the hybrid study,
    `hdd` or `ssd` in the HPC study, whose `network` is `GbE` or `IPoIB` and whose `nodes` include the master.
    `metric` is a phase or task time, `elapsed` or `total` (the four phases added) in seconds, or one of `UNITS`.
    `store` is where the storage subsystem study's input and output lie: `hdfs`, `hbase`, or `hbase-to-hdfs`.
    `size` is in GB: of a file in the thesis, of the data set in the hybrid study; `block` and `buffer` are in MB.
    """

    workload: str
    job: str = ""
    settings: str = ""
    dataset: str = ""
    medium: str = ""
    metric: str = "elapsed"
    size: float = 0
    block: float = 0
    buffer: float = 0
    streams: float = 0
    network: str = ""
    nodes: float = 0
    store: str = ""

    def at(self, field: Field, level: Level) -> "StudyPoint":
        """The same place but for one field."""
        return StudyPoint(**{**self._asdict(), field: level})

    def label(self, *but: Field, names: Mapping[str, str] = NO_NAMES) -> str:
        """In words, without some fields: `closing, customs, Orkut, merge`; `names` has what a word here stands for."""
        phrases = [_word(field, level) for field, level in self._asdict().items() if level and field not in but]
        return ", ".join(names.get(word, word) for word in phrases)


def level_text(field: Field, level: Level) -> str:
    """A level as tables show it: `customs`, `25 % SSD`, `64 MB`."""
    if field == "medium" and str(level).isdigit():
        return {"0": "hard disk", "100": "SSD"}.get(str(level), f"{level} % SSD")
    return _word(field, level)


_FIELD_UNITS = {
    "size": "GB", "block": "MB blocks", "buffer": "MB buffer", "streams": "streams", "nodes": "nodes",
}  # fmt: skip


def _word(field: str, level: Level) -> str:
    if isinstance(level, str):
        return f"{level} % SSD" if field == "medium" and level.isdigit() else level
    unit = _FIELD_UNITS[field]
    return f"{level:g} {unit}"


class StudyTable:
    """Values by point and repetition. Of a point that comes twice in one repetition the first value stays.

    `names` has, by the study's word for an input, what stood for it: `generated at 0.006 of YouTube's size`.
    """

    def __init__(self, values: Mapping[StudyPoint, Repeated], names: Mapping[str, str] = NO_NAMES) -> None:
        self._values = values
        self.names = names

    def label(self, point: StudyPoint, *but: Field) -> str:
        """A point in words, its inputs by what was measured."""
        return point.label(*but, names=self.names)

    def level_text(self, field: Field, level: Level) -> str:
        """A level in words, likewise."""
        word = level_text(field, level)
        return self.names.get(word, word)

    def noise(self, of: StudyPoint) -> NoisePrior | None:
        """Of the logarithm of a ratio within one repetition, by the pairs of one job and metric, in seconds.

        It counts no more degrees of freedom than an analysis of variance of the same values would have beside a
        pair's own. None where fewer than three pairs that differ in one field come with three repetitions.
        """
        return self._noises.get((of.workload, of.job, of.metric))

    @cached_property
    def _noises(self) -> dict[tuple[str, str, str], NoisePrior]:
        groups: dict[tuple[str, str, str], list[StudyPoint]] = {}
        for point, values in self._values.items():
            if point.metric not in UNITS and len(values) >= LEAST_PAIRS and median(values.values()) >= LEAST_S:
                groups.setdefault((point.workload, point.job, point.metric), []).append(point)
        priors = {key: self._prior(points) for key, points in groups.items()}
        return {key: prior for key, prior in priors.items() if prior is not None}

    def _prior(self, points: Sequence[StudyPoint]) -> NoisePrior | None:
        pairs = [
            log_ratios(self._values[first], self._values[second])
            for first, second in combinations(points, 2)
            if sum(level != other for level, other in zip(first, second, strict=True)) == 1
        ]
        known = [
            Residual((len(logs) - 1) * stdev(logs) ** 2, len(logs) - 1, len(logs))
            for logs in pairs
            if len(logs) >= LEAST_PAIRS
        ]
        prior = fit_prior(known)
        if prior.source != "history":
            return None
        others = (len(points) - 2) * min(spread.freedom for spread in known)
        return prior.model_copy(update={"freedom": min(prior.freedom, float(others))})

    def difference(
        self, first: StudyPoint, second: StudyPoint, least: float = 0.0, tests: int = 1
    ) -> "Difference | None":
        """`difference` of what was measured at two points, with the noise of the run."""
        return difference(self.of(first), self.of(second), least, tests, self.noise(first))

    def __len__(self) -> int:
        return len(self._values)

    def of(self, point: StudyPoint) -> Repeated:
        """The values of a point; none where nothing was measured."""
        return self._values.get(point, {})

    def where(self, conditions: "Mapping[Field, Level | tuple[Level, ...]]") -> Iterator[StudyPoint]:
        """The points that meet all conditions: a level, or one of several; in the order of measuring."""
        for point in self._values:
            if all(_is_one(getattr(point, field), level_s) for field, level_s in conditions.items()):
                yield point


def _is_one(level: Level, levels: Level | tuple[Level, ...]) -> bool:
    return level in levels if isinstance(levels, tuple) else level == levels


LEVEL = 0.95
LEAST_PAIRS = 3
"""Fewer say nothing: no direction, and no verdict."""
FAR_APART = 2.0
"""Pairs whose ratios differ by more than this factor are no repetitions of one ratio: their spread is shown."""
SAME_SHARE = 0.1
"""What is called the same may differ by so much."""
LEAST_S = 0.5
"""Seconds that differ by less say nothing: a task's start alone varies by as much."""
UNITS: Mapping[str, str] = {
    "throughput": "MiB/s", "busy": "%", "iowait": "%", "ed2p": "J s^2",
    **dict.fromkeys(("mean power", "least power", "most power", "master's power"), "W"),
    **dict.fromkeys(
        ("input", "disk read", "disk write", "mean disk read", "most disk read", "mean disk write", "most disk write",
         "mean disk", "network"), "x input"
    ),
}  # fmt: skip
"""Of metrics that are no times. Bytes are in multiples of the input's; power is a node's on average over the jobs."""
LEAST_INPUT = 0.05
"""Bytes that differ by less than this share of the input's say nothing: programs' own files and logs are as large."""
LEAST_OF: Mapping[str, float] = {
    "busy": 1.0, "iowait": 1.0, **{metric: LEAST_INPUT for metric, unit in UNITS.items() if unit == "x input"}
}  # fmt: skip
"""What changes of a metric count, in its own unit, where that is not all of them."""
PUBLISHED_S, PUBLISHED_SHARE = 1.0, 0.05
"""Published seconds are whole, and nobody knows how often they were measured: a smaller difference can be none."""

Direction = Literal[-1, 0, 1]
Truth = Literal["yes", "no", "unclear"]


def least_change(metric: str) -> float:
    """The smallest change of a metric that counts, in its own unit."""
    return LEAST_OF.get(metric, 0.0 if metric in UNITS else LEAST_S)


class Difference(Frozen):
    """The second of two sets of values relative to the first.

    `ratio` is the geometric mean of the ratios within repetitions (None where a value is not above 0); `low`, `high`
    its interval, None for fewer than 3 pairs. `direction` is -1 where the second is less, 1 where it is more, 0 where
    no difference can be told. `least` is the smallest change of the medians that counts, in the values' unit.
    `deviation` is the standard deviation of a pair's log ratio, to which the run's noise lent `borrowed` degrees of
    freedom; None where there is no interval. `chance` is the two-sided p-value of the t statistic whose interval that
    is, `own_chance` that of the pairs' own variance alone. `least_ratio` and `most_ratio` are those of single pairs.
    """

    first: float
    second: float
    ratio: float | None
    low: float | None = None
    high: float | None = None
    pairs: int
    direction: Direction = 0
    least: float = 0.0
    deviation: float | None = None
    borrowed: float = 0.0
    chance: float | None = None
    own_chance: float | None = None
    least_ratio: float | None = None
    most_ratio: float | None = None

    @property
    def sign(self) -> Direction:
        """Which way it points, whatever the noise; 0 for a change too small to count."""
        if abs(self.change) < self.least:
            return 0
        above = self.change if self.ratio is None else self.ratio - 1
        return 1 if above > 0 else -1 if above < 0 else 0

    @property
    def ratios(self) -> tuple[float, float] | None:
        """The least and the most of single pairs."""
        return (self.least_ratio, self.most_ratio) if self.least_ratio and self.most_ratio else None

    @property
    def change(self) -> float:
        """Of the medians."""
        return self.second - self.first

    @property
    def bounds(self) -> tuple[float, float]:
        """The ratio's interval; everything where there is none."""
        return (0.0, inf) if self.low is None or self.high is None else (self.low, self.high)

    def within(self, share: float) -> Truth:
        """Whether the two are the same but for a share."""
        if self.pairs < LEAST_PAIRS:
            return "unclear"
        if self.ratio is None:
            return "yes" if self.first == self.second == 0 else "no" if self.direction else "unclear"
        low, high = self.bounds
        if 1 - share <= low and high <= 1 + share:
            return "yes"
        return "no" if (high < 1 - share or low > 1 + share) and abs(self.change) >= self.least else "unclear"

    @property
    def words(self) -> str:
        """`0.52 (0.48 to 0.55, 3 pairs)`, or the values where they have no ratio.

        Of pairs that are far apart also the least and the most: `0.33 (0.01 to 16.99, 3 pairs from 0.05 to 0.85)`.
        """
        count = f"{self.pairs} {'pair' if self.pairs == 1 else 'pairs'}"
        if self.pairs < LEAST_PAIRS:
            count += ", too few to tell"
        if self.ratio is None:
            return f"{self.second:.4g} against {self.first:.4g} ({count})"
        if self.low is None or self.high is None:
            return f"{self.ratio:.2f} ({count})"
        if self.ratios and self.ratios[1] > FAR_APART * self.ratios[0]:
            count += f" from {self.ratios[0]:.2f} to {self.ratios[1]:.2f}"
        return f"{self.ratio:.2f} ({self.low:.2f} to {self.high:.2f}, {count})"


def difference(
    first: Repeated, second: Repeated, least: float = 0.0, tests: int = 1, noise: NoisePrior | None = None
) -> Difference | None:
    """By the repetitions that both have; None where there is none.

    `tests`: how many such differences this one was picked from; its interval is the wider for it (Bonferroni).
    `noise`: of the log ratios of pairs like these, which moderates their own.
    """
    shared = sorted(first.keys() & second.keys())
    if not shared:
        return None
    pairs = [(first[repetition], second[repetition]) for repetition in shared]
    compared = Difference(
        first=median(first_value for first_value, _ in pairs), second=median(other for _, other in pairs), ratio=None,
        pairs=len(pairs), least=least,
    )  # fmt: skip
    logs = log_ratios(first, second)
    if not logs:
        changes = [other - before for before, other in pairs]
        low, high = interval(changes, tests)
        known = len(changes) >= LEAST_PAIRS
        chance = _chance(changes, stdev(changes), len(changes) - 1) if known else None
        chances = {"chance": chance, "own_chance": chance}
        return compared.model_copy(update={"direction": _direction(compared, low, high), **chances})
    compared = compared.model_copy(
        update={"ratio": exp(mean(logs)), "least_ratio": exp(min(logs)), "most_ratio": exp(max(logs))}
    )
    if len(logs) < LEAST_PAIRS:
        return compared
    low, high = interval(logs, tests, noise)
    deviation, freedom = _noise(logs, noise)
    return compared.model_copy(
        update={
            "direction": _direction(compared, low, high), "low": exp(low), "high": exp(high), "deviation": deviation,
            "borrowed": noise.freedom if noise else 0.0, "chance": _chance(logs, deviation, freedom),
            "own_chance": _chance(logs, stdev(logs), len(logs) - 1),
        },
    )  # fmt: skip


def log_ratios(first: Repeated, second: Repeated) -> list[float]:
    """Of the second to the first, by the repetitions that both have; none where one of them is not above 0."""
    pairs = [(first[shared], second[shared]) for shared in sorted(first.keys() & second.keys())]
    return [] if any(min(pair) <= 0 for pair in pairs) else [log(other / before) for before, other in pairs]


def interval(values: Sequence[float], tests: int = 1, noise: NoisePrior | None = None) -> tuple[float, float]:
    """What the mean of such values lies between, in 95 % of cases; everything for fewer than 3 values."""
    count = len(values)
    if count < LEAST_PAIRS:
        return -inf, inf
    deviation, freedom = _noise(values, noise)
    middle, off = mean(values), student(freedom, tests) * deviation / sqrt(count)
    return middle - off, middle + off


def _chance(values: Sequence[float], deviation: float, freedom: float) -> float:
    """Of a mean so far from 0 without any difference."""
    from scipy.special import stdtr

    off = abs(mean(values)) * sqrt(len(values))
    return 2 * float(stdtr(freedom, -off / deviation)) if deviation else float(not off)


def _noise(values: Sequence[float], noise: NoisePrior | None) -> tuple[float, float]:
    """Standard deviation and degrees of freedom."""
    freedom = len(values) - 1
    if noise is None:
        return stdev(values), freedom
    moderated_noise = averaged(freedom * stdev(values) ** 2, freedom, noise)
    return moderated_noise.deviation, moderated_noise.freedom


def published_direction(first: float, second: float) -> Direction:
    """Of two published values of whole seconds."""
    change = second - first
    if abs(change) <= max(PUBLISHED_S, PUBLISHED_SHARE * abs(first)):
        return 0
    return -1 if change < 0 else 1


@lru_cache
def student(freedom: float, tests: int) -> float:
    """The quantile of Student's t that bounds an interval; the wider for so many `tests` (Bonferroni)."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 1 - (1 - LEVEL) / (2 * tests)))


def _direction(compared: Difference, low: float, high: float) -> Direction:
    """By an interval of differences, or of logarithms of ratios."""
    if abs(compared.change) < compared.least:
        return 0
    return -1 if high < 0 else 1 if low > 0 else 0
