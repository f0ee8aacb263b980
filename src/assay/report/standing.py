"""Who leads among levels of one factor with all else equal: only what comparisons tell counts as won."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from assay.stats.comparison import Comparison
from assay.stats.wording import basis, untested

Belief = Literal["sure", "partly sure", "not proven"]


class Standing(NamedTuple):
    """The fastest level; which others it is told from (`beaten`), can't be (`level_with`), was not compared with.

    `base` is the level that all were compared with, `pairs` the comparisons of the fastest with each other level.
    """

    best: str
    base: str
    beaten: tuple[str, ...]
    level_with: tuple[str, ...]
    untested: tuple[str, ...]
    pairs: tuple[Comparison, ...]
    nearest: Comparison

    @property
    def won(self) -> bool:
        """Whether it is told from all others."""
        return not self.level_with and not self.untested


def standing(own: Sequence[Comparison]) -> Standing:
    """From comparisons of some levels' pairs, all else equal; the first one's base is the base of all."""
    base = own[0].base
    to_base = {one.level: one for one in own if one.base == base}
    best = min([base, *to_base], key=lambda level: to_base[level].ratio if level in to_base else 1.0)
    pairs = [one for one in own if best in {one.base, one.level}]
    met = {(one.base if one.level == best else one.level): one for one in pairs}
    beaten = [level for level, one in met.items() if one.significant and (one.ratio < 1) == (one.level == best)]
    return Standing(
        best=best,
        base=base,
        beaten=tuple(beaten),
        level_with=tuple(level for level in met if level not in beaten),
        untested=tuple(level for level in (base, *to_base) if level != best and level not in met),
        pairs=tuple(pairs),
        nearest=to_base.get(best) or min(to_base.values(), key=lambda one: one.ratio),
    )


def verdict_on(own: Sequence[Comparison]) -> tuple[str, Belief, str]:
    """Headline, how sure it is, and why, where everything else is equal."""
    found = standing(own)
    if found.won:
        return f"{found.best} wins: {took(found.nearest)}{_less(found)}", "sure", _chance(found.pairs)
    ahead = next((one for one in found.pairs if {one.base, one.level} & set(found.beaten)), None)
    if ahead is not None and found.level_with:
        leaders = _listed([found.best, *found.level_with])
        why = f"between {leaders} no difference can be told"
        return f"{leaders} lead before {_listed(found.beaten)}: {took(ahead)}", "partly sure", why
    if ahead is not None:
        why = f"{_chance([ahead])}; {_listed(found.untested)} {_were(found.untested)} compared with {found.base} only"
        return f"{found.best} is fastest: {took(ahead)}", "partly sure", why
    if found.nearest.p is None:
        ahead_of_several = f"{found.best} was fastest: " if len(found.pairs) + len(found.untested) > 1 else ""
        return f"{ahead_of_several}{took(found.nearest)}, but that may be chance", "not proven", untested(found.nearest)
    return f"no winner can be told: {took(found.nearest)}", "not proven", _unproven([found.nearest])


def verdict_over(groups: Sequence[Sequence[Comparison]]) -> tuple[str, Belief, str]:
    """The same over several combinations of what else varies: how often each level wins."""
    every = [standing(own) for own in groups]
    won: dict[str, list[Standing]] = {}
    for one in every:
        if one.won:
            won.setdefault(one.best, []).append(one)
    count, open_ = len(every), sum(not one.won for one in every)
    if not won:
        others = {one.nearest.level for one in every}
        who = others.pop() if len(others) == 1 else "the fastest other"
        why = _unproven([one for own in groups for one in own])
        return f"no winner can be told in any of {count} combinations: {who} took {_ratios(every)}", "not proven", why
    parts = [
        f"{level} wins in {len(own)} of {count} combinations" + (f" ({_ratios(own)})" if level != own[0].base else "")
        for level, own in sorted(won.items(), key=lambda one: -len(one[1]))
    ]
    rest = f"; in {open_} none can be told" if open_ else ""
    told = "each after correction for all comparisons together"
    return "; ".join(parts) + rest, "partly sure" if open_ else "sure", told


def _unproven(every: Sequence[Comparison]) -> str:
    """Why nothing is told: chance, or nothing to test it by."""
    if all(one.p is None for one in every):
        return untested(every[0])
    return "the difference may be chance" if len(every) == 1 else "the differences may be chance"


def took(one: Comparison) -> str:
    """`ssd took 0.62 times as long as hdd (0.58 to 0.66)`."""
    interval = f"{one.interval.low:.2f} to {one.interval.high:.2f}"
    return f"{one.level} took {one.ratio:.2f} times as long as {one.base} ({interval})"


def _ratios(every: Sequence[Standing]) -> str:
    """The nearest comparisons' ratios, where they have one base."""
    ratios = sorted(one.nearest.ratio for one in every)
    low, high = f"{ratios[0]:.2f}", f"{ratios[-1]:.2f}"
    return f"{low if low == high else f'{low} to {high}'} times as long as {every[0].base}"


def _less(found: Standing) -> str:
    one = found.nearest
    return f", {100 * (1 - one.ratio):.0f} % less time" if one.level == found.best else ""


def _chance(pairs: Sequence[Comparison]) -> str:
    """How seldom chance would do this, of the comparison that chance would do most often."""
    one = max(pairs, key=lambda each: each.p_adjusted or 0.0)
    p = one.p_adjusted or 0.0
    often = "less than 1 in 1000" if p < 0.001 else f"{100 * p:.1f} %"
    among = f", corrected for {one.comparisons} comparisons" if one.comparisons > 1 else ""
    return f"chance alone would do this in {often} of cases ({basis(one)}{among})"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _were(names: Sequence[str]) -> str:
    return "was" if len(names) == 1 else "were"
