"""What a comparison says, in words that claim no more than its figures do."""

from collections.abc import Sequence

from assay.stats.comparison import Comparison
from assay.stats.noise import EFFECT, Noise

MOST_NAMED = 3


def first_few(words: Sequence[str], between: str = "; ", last: str = "; and") -> str:
    """The first three, and how many more there are."""
    more = f"{last} {len(words) - MOST_NAMED} more" if len(words) > MOST_NAMED else ""
    return between.join(words[:MOST_NAMED]) + more


def in_words(one: Comparison) -> str:
    """One sentence without its full stop: the ratio, its interval, and whether it is significant."""
    took = f"{one.level} took {one.ratio:.2f} times as long as {one.base}"
    if one.p is None:
        return f"{took}, not tested: {untested(one)}"
    interval = f"95 % interval {one.interval.low:.2f} to {one.interval.high:.2f}; {basis(one)}"
    return f"{took} ({interval})" if one.significant else f"{took}, not significant ({interval}{_remedy(one)})"


def untested(one: Comparison) -> str:
    """Why no test was made."""
    return "nothing ran twice" if one.noise.own_freedom < 1 else "both take less than half a second"


def basis(one: Comparison) -> str:
    """The trials that it comes from."""
    if one.pairs:
        return f"{one.pairs} pair{'' if one.pairs == 1 else 's'}"
    return f"{one.runs} against {one.base_runs} trials that took no turns"


def noise_words(noises: Sequence[Noise]) -> str:
    """A sentence: how much equal trials differ, and how much of that is borrowed from where; empty where none are."""
    if not noises:
        return ""
    prior = noises[0].prior
    percent = f"{100 * prior.deviation:.0f} %"
    where = (
        f"{prior.trials} earlier trials on this machine ({percent})"
        if prior.source == "history"
        else f"an assumption ({percent} on any machine)"
    )
    differ, borrowed = _percents([one.deviation for one in noises]), _percents([one.borrowed for one in noises])
    return f"Equal trials differ by about {differ}; {borrowed} of the weight of that figure is borrowed from {where}."


def _percents(shares: Sequence[float]) -> str:
    low, high = f"{100 * min(shares):.0f}", f"{100 * max(shares):.0f}"
    return f"{low} %" if low == high else f"{low} to {high} %"


def _remedy(one: Comparison) -> str:
    if one.needed is None:
        return "; too noisy for any number of repetitions that one would wait for"
    more = one.needed - one.repetitions
    return f"; {more} more repetition{'' if more == 1 else 's'} would find {100 * EFFECT:.0f} %" if more > 0 else ""
