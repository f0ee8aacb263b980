"""What a comparison says, in words that claim no more than its figures do."""

from collections.abc import Sequence
from math import ceil

from assay.stats.comparison import Comparison
from assay.stats.interval import LEAST_VALUES, LEVEL, Interval
from assay.stats.planning import ALPHA, EFFECT, least_repetitions
from assay.stats.ranks import least_rank_sum_p, least_signed_rank_p

MOST_NAMED = 3


def first_few(words: Sequence[str], between: str = "; ", last: str = "; and") -> str:
    """The first three, and how many more there are."""
    more = f"{last} {len(words) - MOST_NAMED} more" if len(words) > MOST_NAMED else ""
    return between.join(words[:MOST_NAMED]) + more


def in_words(one: Comparison) -> str:
    """One sentence without its full stop: the difference, or that none can be told and what would."""
    if one.test is None or one.interval is None:
        return f"{_few(one)} can't tell a difference of {one.level} from {one.base}{_remedy(one)}"
    if one.told:
        return f"{one.level} took {one.ratio:.2f} times as long as {one.base} ({_range(one.interval)}; {_basis(one)})"
    why = f"{_range(one.interval)}; {_reasons(one)}"
    return f"no difference of {one.level} from {one.base} can be told ({why}){_remedy(one)}"


def _few(one: Comparison) -> str:
    count = one.repetitions
    return f"{count} {'pair' if one.pairs else 'trial of one of them'}{'s' if one.pairs > 1 else ''}"


def _range(interval: Interval) -> str:
    sure = "" if interval.level >= LEVEL else f", which is {100 * interval.level:.0f} % sure at best"
    return f"{interval.low:.2f} to {interval.high:.2f} times as long{sure}"


def level_text(interval: Interval) -> str:
    """`, 75 % sure`, of an interval that is less sure than usual."""
    return "" if interval.level >= LEVEL else f", {100 * interval.level:.0f} % sure"


def _basis(one: Comparison) -> str:
    """What the figures come from, and what is amiss with that."""
    if one.unused_pairs:
        return (
            f"{one.runs} against {one.base_runs} trials, as {one.unused_pairs} pairs are too few, so drift of the "
            "machine is not taken out"
        )
    if not one.pairs:
        return f"{one.runs} against {one.base_runs} trials without pairs, so drift of the machine is not taken out"
    alone = one.runs + one.base_runs - 2 * one.pairs
    return f"{one.pairs} pairs" + (
        f", {alone} trial{'s' if alone > 1 else ''} without a pair left out" if alone else ""
    )


def _reasons(one: Comparison) -> str:
    reasons = [_basis(one)]
    if one.medians_overlap:
        reasons.append("the medians' intervals overlap")
    if one.interval is not None and 1 not in one.interval and one.p is not None and one.p <= ALPHA:
        reasons.append(f"among {one.comparisons} comparisons chance gives such a one too often")
    if can_never_tell(one):
        reasons.append("so few can't tell even the largest difference" + _among(one))
    return "; ".join(reasons)


def can_never_tell(one: Comparison) -> bool:
    """Whether so few repetitions among so many comparisons could not tell any difference, however large."""
    least = least_rank_sum_p(one.runs, one.base_runs)
    if one.pairs:
        least = min(least, least_signed_rank_p(one.pairs))
    return one.test is None or least > ALPHA / one.comparisons


def _among(one: Comparison) -> str:
    return f" among {one.comparisons} comparisons" if one.comparisons > 1 else ""


def _remedy(one: Comparison) -> str:
    """How small any difference is, where that is known; else how many more repetitions would tell 5 %."""
    have, most = one.repetitions, _most(one)
    if one.needed is None and have < LEAST_VALUES:
        return f"; at least {least_repetitions(one.comparisons)} of each are needed"
    if most is not None and (most <= EFFECT or (one.needed is not None and one.needed <= have)):
        return f"; if there is one, it is below {max(1, ceil(100 * most))} %"
    if one.needed is None:
        return "; the machine's noise is too large for any number of repetitions that one would wait for"
    more = max(1, one.needed - have)
    return f"; {more} more repetition{'s' if more > 1 else ''} would tell {100 * EFFECT:.0f} %"


def _most(one: Comparison) -> float | None:
    """The largest difference, either way, that the interval leaves open; None where that is not sure enough."""
    if one.interval is None or one.interval.level < LEVEL:
        return None
    return max(one.interval.high, 1 / one.interval.low) - 1
