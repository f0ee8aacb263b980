"""Ratios between the levels of a factor, all else equal: how large, how sure, and what to say of them.

Trials of one repetition ran close in time: where both levels have one, they are a pair, and what the machine did to
both drops out of their ratio. See docs/explanation/statistics.md for what is computed and why.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from assay.model.base import Frozen
from assay.model.signature import Array
from assay.stats.interval import LEAST_VALUES, Interval, medians
from assay.stats.pairing import Couple, couples_of
from assay.stats.planning import ALPHA, Noise, noise_of, repetitions_needed
from assay.stats.ranks import Shift, least_rank_sum_p, least_signed_rank_p, rank_sum, signed_rank
from assay.stats.sample import Levels, Sample

OWN_NOISE_FROM = 6
"""A comparison with so many pairs has its own noise; others share that of all of their workload and machine."""

Test = Literal["signed-rank", "rank-sum"]


class Comparison(Frozen):
    """One level of a factor against another, everything else (`others`) equal and on one kind of machine.

    `ratio` is the elapsed time of `level` over that of `base`, with its interval and `p` of one and the same method:
    from `pairs` pairs of the same repetition, or from all trials of both (`base_runs`, `runs`) where `pairs` is 0, as
    there are none or as so few can't tell anything (`unused_pairs`). `p` is how often chance alone gives one as far
    from 1, None where no test can be made; `p_corrected` is that after Holm's correction for `comparisons`, all that
    were tested together, or would be where this one was not. `told` says that it is at most 5 %, and that the interval
    leaves 1 out. `needed` are the repetitions in all that would tell a difference of 5 % with 9 chances of 10 (None:
    unknown or more than 200). `medians_overlap` says whether the intervals of both medians do.
    """

    factor: str
    base: str
    level: str
    others: Levels
    base_runs: int
    runs: int
    pairs: int
    unused_pairs: int
    ratio: float
    interval: Interval | None
    test: Test | None
    p: float | None
    p_corrected: float | None
    comparisons: int
    told: bool
    needed: int | None
    medians_overlap: bool | None

    @property
    def repetitions(self) -> int:
        """Pairs, or trials of the level with fewer where there are none."""
        return self.pairs or min(self.runs, self.base_runs)


def compare(
    found: Sequence[Sample], factors: Iterable[str], bases: Mapping[str, str] = {}, every: Collection[str] = ()
) -> list[Comparison]:
    """Each level of each of the factors against the base, in all that is equal otherwise; corrected for all together.

    A factor's base is the one of `bases`, or its first level; of the factors in `every` each level is compared with
    each other. A level that stands alone is not compared. Raises KeyError where a sample has no such factor.
    """
    couples = [
        couple for factor in factors for couple in couples_of(found, factor, bases.get(factor), every=factor in every)
    ]
    tests = _tests(couples)
    shifts = _shifts(couples, tests)
    chances = {place: float(shift.p[row]) for place, (shift, row) in enumerate(shifts) if tests[place] is not None}
    corrected = dict(zip(chances, holm(list(chances.values())), strict=True))
    noises = _noises(couples)
    overlaps = _overlaps(couples)
    return [
        _comparison(
            couple, shifts[place], tests[place],
            (chances.get(place), corrected.get(place), len(couples if tests[place] is None else chances)),
            noises[place], overlaps[place],
        )
        for place, couple in enumerate(couples)
    ]  # fmt: skip


def holm(chances: Sequence[float]) -> list[float]:
    """Corrected so that any false claim among all is as rare as one would be alone.

    Source: S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6
    (1979).
    """
    corrected = [0.0] * len(chances)
    greatest = 0.0
    for rank, place in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        greatest = max(greatest, min(1.0, (len(chances) - rank) * chances[place]))
        corrected[place] = greatest
    return corrected


def _tests(couples: Sequence[Couple]) -> list[Test | None]:
    """Which test each is judged by. That depends on how many trials there are and never on their times.

    The signed-rank test, where so many pairs can be told after correction at all; else the rank-sum test, which makes
    nothing of pairs but can tell with fewer; none below 3 trials of either level.
    """
    testable = [min(len(one.first), len(one.second)) >= LEAST_VALUES for one in couples]
    alpha = ALPHA / max(1, sum(testable))
    return [_test(one, alpha) if able else None for one, able in zip(couples, testable, strict=True)]


def _test(couple: Couple, alpha: float) -> Test:
    pairs = len(couple.differences)
    if not pairs:
        return "rank-sum"
    alone = least_rank_sum_p(len(couple.first), len(couple.second)) <= alpha < least_signed_rank_p(pairs)
    return "rank-sum" if alone else "signed-rank"


def _pairs(couple: Couple, test: Test | None) -> int:
    """The pairs that it is judged by; 0 where all trials of both levels are taken instead."""
    return 0 if test == "rank-sum" else len(couple.differences)


def _shifts(couples: Sequence[Couple], tests: Sequence[Test | None]) -> list[tuple[Shift, int]]:
    """Each couple's distance on the logarithmic scale, with its row in that: couples of one size together."""
    import numpy as np

    sizes: dict[tuple[int, ...], list[int]] = {}
    for place, (one, test) in enumerate(zip(couples, tests, strict=True)):
        paired = _pairs(one, test)
        sizes.setdefault((paired,) if paired else (len(one.first), len(one.second)), []).append(place)
    found: dict[int, tuple[Shift, int]] = {}
    for size, places in sizes.items():
        if len(size) == 1:
            shift = signed_rank(np.array([couples[place].differences for place in places]))
        else:
            shift = rank_sum(
                np.array([couples[place].first for place in places]),
                np.array([couples[place].second for place in places]),
            )
        found |= {place: (shift, row) for row, place in enumerate(places)}
    return [found[place] for place in range(len(couples))]


def _noises(couples: Sequence[Couple]) -> list[Noise | None]:
    """Of a pair's ratio: each couple's own where it has many pairs, else that of all of its workload and machine."""
    kinds: dict[tuple[str | None, ...], list[Array]] = {}
    for one in couples:
        kinds.setdefault(_kind(one), []).extend(_spreads(one))
    shared = {kind: noise_of(spreads) for kind, spreads in kinds.items()}
    return [noise_of(_spreads(one)) if one.repetitions >= OWN_NOISE_FROM else shared[_kind(one)] for one in couples]


def _kind(couple: Couple) -> tuple[str | None, ...]:
    others = dict(couple.others)
    return others.get("workload"), others.get("machine")


def _spreads(couple: Couple) -> list[Array]:
    """What differs within a couple by chance alone: two independent times differ by the root of 2 more than one."""
    return [couple.differences] if len(couple.differences) else [2**0.5 * couple.first, 2**0.5 * couple.second]


def _overlaps(couples: Sequence[Couple]) -> list[bool | None]:
    """Whether both medians' intervals have a value in common; None where there is no interval."""
    times = [tuple(float(value) for value in side) for one in couples for side in (one.first, one.second)]
    distinct = sorted(set(times))
    known = dict(zip(distinct, medians(tuple(distinct)), strict=True))
    found = [known[one].interval for one in times]
    return [
        None if first is None or second is None else first.low <= second.high and second.low <= first.high
        for first, second in zip(found[::2], found[1::2], strict=True)
    ]


def _comparison(
    couple: Couple,
    shift: tuple[Shift, int],
    test: Test | None,
    chances: tuple[float | None, float | None, int],
    noise: Noise | None,
    overlap: bool | None,  # noqa: FBT001 - a finding, not a switch
) -> Comparison:
    from math import exp

    (found, row), (p, corrected, comparisons) = shift, chances
    pairs = _pairs(couple, test)
    interval = None
    if couple.repetitions >= LEAST_VALUES:
        low, high = exp(found.low[row]), exp(found.high[row])
        interval = Interval(low=low, high=high, level=found.level, method="signed-rank" if pairs else "rank-sum")
    return Comparison(
        factor=couple.factor, base=couple.base, level=couple.level, others=couple.others,
        base_runs=len(couple.first), runs=len(couple.second), pairs=pairs,
        unused_pairs=len(couple.differences) - pairs,
        ratio=exp(found.middle[row]), interval=interval, test=test, p=p, p_corrected=corrected,
        comparisons=comparisons, told=_told(corrected, interval),
        needed=None if noise is None else repetitions_needed(noise, comparisons=comparisons),
        medians_overlap=overlap,
    )  # fmt: skip


def _told(corrected: float | None, interval: Interval | None) -> bool:
    """Of equal times, test and interval go by other laws; nothing is told unless both agree."""
    return corrected is not None and corrected <= ALPHA and interval is not None and 1 not in interval
